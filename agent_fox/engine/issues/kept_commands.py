"""Commands from comments, kept in the state from when they are read until they are carried out. Does none of them."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING

from agent_fox.engine.issues.upkeep import known_issues
from agent_fox.store.desk import all_remembered, recall, remember
from agent_fox.store.state import transaction
from agent_fox.trackers.upkeep import Command, ReadsCommands, Trouble

if TYPE_CHECKING:
    from sqlite_utils import Database

    from agent_fox.trackers.protocol import Tracker

KEPT, DONE = "command ", "done"


def keep_new(db: Database, place: str, tracker: Tracker) -> tuple[int, Trouble | None]:
    """Read what is new, and keep it until it is carried out. Gives how many are kept now, and why that is not all.

    The tracker sits at its desk. A crash before the commit leaves all of it to be read again.
    """
    if not isinstance(tracker, ReadsCommands):
        return 0, None
    read = tracker.commands(tuple(known_issues(db)))
    with transaction(db):
        for command in read.commands:
            if not recall(db, place, f"{KEPT}{command.id}"):
                remember(db, place, f"{KEPT}{command.id}", json.dumps(asdict(command)))
        for name, value in read.seen:
            remember(db, place, name, value)
    return len(kept(db, place)), read.trouble


def kept(db: Database, place: str) -> tuple[Command, ...]:
    """Commands that wait to be carried out, the oldest first."""
    waiting = (value for _, value in all_remembered(db, place, KEPT) if value != DONE)
    commands = [Command(**{**(row := json.loads(value)), "words": tuple(row["words"])}) for value in waiting]
    return tuple(sorted(commands, key=lambda command: int(command.id)))


def note_done(db: Database, place: str, command: Command) -> None:
    """It is never carried out again; in the open transaction."""
    remember(db, place, f"{KEPT}{command.id}", DONE)
