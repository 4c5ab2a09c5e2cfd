"""How filed issues stand in the tracker now, noted in the state: what people did there, and what was doubled.

It asks trackers that are far away (`KeepsOrder`), and delivers nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from agent_fox.engine.issues.effects import note_limit
from agent_fox.engine.record.watch import RunEvent, Watch
from agent_fox.store import outbox
from agent_fox.store.state import transaction
from agent_fox.trackers.protocol import Held, Remote, Tracker
from agent_fox.trackers.upkeep import KeepsOrder, Known, Observation, Seeing, Trouble

if TYPE_CHECKING:
    from sqlite_utils import Database

    from agent_fox.trackers.desk import Desk


def look_and_sweep(db: Database, tracker: Tracker, watch: Watch, at: str, desk: Desk | None = None) -> str:
    """Ask how every filed issue stands, close what was doubled, note both and tell what is new at the time `at`.

    Gives why not everything could be looked at; empty where it was, or where there is nothing to ask. The tracker is
    one that sits at its `desk`, where it is noted if it asked to wait.
    """
    if not isinstance(tracker, KeepsOrder):
        return ""
    known = tuple(known_issues(db))
    if not known:
        return ""
    seen = tracker.look(known)
    swept = tracker.sweep() if seen.trouble is None else Seeing()
    before = {issue.fingerprint: issue for issue in known}
    for line in note(db, before, (*seen.observations, *swept.observations), at):
        watch(RunEvent("note", text=line))
    note_limit(desk, seen.trouble or swept.trouble)
    return words(seen.trouble or swept.trouble)


def known_issues(db: Database) -> Iterator[Known]:
    for fingerprint, number, remote in outbox.named_issues(db):
        yield Known(fingerprint, number, Remote(remote) if remote else None)


def note(db: Database, before: dict[str, Known], seen: Iterable[Observation], at: str) -> list[str]:
    """Keep what was seen of issues that are known; a line for each that stands otherwise than was known."""
    lines = []
    with transaction(db):
        for observation in seen:
            known = before.get(observation.fingerprint)
            if known is None:
                continue
            if observation.number == known.number:
                outbox.note_remote(db, observation.fingerprint, observation.remote, at)
            else:
                outbox.name_issue(
                    db, observation.fingerprint, observation.number, observation.url, observation.remote, at
                )
                lines.append(f"issue #{observation.number} stands for #{known.number} now")
            if known.remote not in (None, observation.remote):
                lines.append(f"issue #{observation.number} is {observation.remote} now")
    return lines


def words(trouble: Trouble | None) -> str:
    match trouble:
        case None:
            return ""
        case Held(reason, remedy):
            return f"{reason}; {remedy}"
        case _:
            return trouble.reason
