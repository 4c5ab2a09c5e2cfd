"""`agent-fox issues sync`: deliver what waits, and tell what came of it. Delivering is the engine's."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import click

from agent_fox.cli.errors import UserError
from agent_fox.cli.exits import Exit
from agent_fox.cli.issues.lines import counts_told, issue_counts_line
from agent_fox.cli.issues.tracker_place import Workplace, in_words, seated, workplace
from agent_fox.cli.opening import reading, state_file
from agent_fox.cli.place import near
from agent_fox.cli.screen import plain, print_json
from agent_fox.cli.story import issue_words
from agent_fox.core.words import counted
from agent_fox.engine.account.document import counts_document
from agent_fox.engine.handlers.dockets import with_waivers
from agent_fox.engine.issues.courier import Synced, desk_of, nap
from agent_fox.engine.issues.effects import Delivering, note_limit
from agent_fox.engine.issues.kept_commands import keep_new
from agent_fox.engine.issues.upkeep import look_and_sweep, words
from agent_fox.engine.planning.from_settings import policy_of
from agent_fox.engine.record.docket import Docket, SpecShelf
from agent_fox.engine.record.watch import RunEvent
from agent_fox.engine.reports.on_github import is_asked_for, tell_github
from agent_fox.engine.running import commands
from agent_fox.evidence import witness
from agent_fox.evidence.waivers import Grounds, grounds_of
from agent_fox.store import outbox
from agent_fox.store.desk import LAST_KIND, recall, remember
from agent_fox.store.issue_view import IssueCounts, read_issue_counts
from agent_fox.store.sessions import open_run
from agent_fox.store.state import LockHeld, open_state, read_state, single_writer, transaction
from agent_fox.system import clock
from agent_fox.system.state_folders import LOCK

if TYPE_CHECKING:
    from sqlite_utils import Database

    from agent_fox.engine.record.watch import Watch
    from agent_fox.trackers.desk import Desk


def synchronise(root: Path, wait: float, kind: str | None, *, as_json: bool) -> Exit:
    """Deliver, and print what came of it. Raises StateError, ConfigError, PluginError, UserError."""
    read_state(state_file(root)).close()
    place = workplace(root, kind)
    if kind is None:
        with closing(open_state(state_file(root))) as db:
            same_kind(recall(db, *LAST_KIND) if outbox.waiting(db) else "", place.settings.tracker.kind)
    lines: list[str] = []

    def watch(event: RunEvent) -> None:
        lines.append(near(root, issue_words(event.text) if event.kind == "issue" else event.text))
        if not as_json:
            click.echo(plain(lines[-1]))

    done = deliver(place, wait, watch)
    with reading(root) as db:
        counts = read_issue_counts(db, clock.now())
    if as_json:
        document = {"delivered": done.delivered, "waiting": done.waiting, "why_stopped": done.why_stopped}
        print_json(
            {**document, "tracker": in_words(place.tracker), "told": lines, "issue_counts": counts_document(counts)}
        )
    else:
        click.echo("\n".join(plain(line) for line in end_lines(done, counts)))
    return Exit.UNPROVEN if done.waiting or done.why_stopped else Exit.DONE


def same_kind(last: str, now: str) -> None:
    """What `run --tracker github` has left is not filed elsewhere by a command that does not say so. Raises
    UserError."""
    if last not in ("", now):
        raise UserError(
            f"what waits is from a run that files at `{last}`, and `[tracker] kind` is `{now}`: run "
            f"`agent-fox issues sync --tracker {last}`, or with `--tracker {now}` to file it there"
        )


def end_lines(done: Synced, counts: IssueCounts) -> Iterator[str]:
    """Leaves out a reason that the line about the stop gives already."""
    if not done.why_stopped:
        yield issue_counts_line(counts) or "no issues"
        return
    yield f"stopped: {done.why_stopped}"
    waits = f"{done.waiting} {'waits' if done.waiting == 1 else 'wait'} to be delivered" if done.waiting else ""
    yield f"issues: {'; '.join(filter(None, (counts_told(counts), waits))) or 'none'}"


def do_what_is_asked(place: Workplace, db: Database, watch: Watch, desk: Desk | None) -> str:
    """Carry out what people ask for in comments, and say anew how the last run stands; a run does both while it is on.

    Gives why comments could not be read; empty where they were.
    """
    if desk is None:
        return ""
    count, trouble = keep_new(db, desk.place, seated(place.tracker, desk))
    note_limit(desk, trouble)
    if count or is_asked_for(place.settings):
        try:
            with single_writer(place.root / LOCK):
                carry_out_all(place, db, desk.place, watch)
        except LockHeld:
            if count:
                watch(RunEvent("note", text=f"the run that is on does what {counted(count, 'comment')} asked for"))
    return words(trouble)


def carry_out_all(place: Workplace, db: Database, where: str, watch: Watch) -> None:
    settings, root = place.settings, place.root

    def grounds() -> Grounds:
        return grounds_of(root, settings, os.environ)

    def docket_at(db: Database) -> Docket:
        return with_waivers(Docket(db, clock.now(), policy_of(settings), SpecShelf(), open_run(db)), grounds)

    why = witness.why_unbelieved(db, witness.path_of(os.environ, root))
    if why:  # nothing is decided over a history that does not hold together; what was decided is delivered
        watch(RunEvent("note", text=why))
        return
    for done in commands.carry_out(db, where, docket_at, grounds):
        watch(RunEvent("note", text=done.line))
    with transaction(db):
        tell_github(docket_at(db), settings, root, grounds)
    witness.advance(db, witness.path_of(os.environ, root))


def deliver(place: Workplace, wait: float, watch: Watch) -> Synced:
    """Look how issues stand; then pass after pass until nothing waits, or `wait` seconds are over. What was held is
    tried once."""
    end, delivered = clock.monotonic() + wait, 0
    with closing(open_state(state_file(place.root))) as db:
        desk = desk_of(db, place.tracker, place.settings.tracker)
        with transaction(db):
            remember(db, *LAST_KIND, place.settings.tracker.kind)
            outbox.wake(db, clock.now())
        try:
            unseen = Delivering(db, place.tracker, watch, desk=desk).why_closed()
            unseen = unseen or look_and_sweep(db, seated(place.tracker, desk), watch, clock.now(), desk)
            unseen = unseen or do_what_is_asked(place, db, watch, desk)
            while True:
                passed = Delivering(db, place.tracker, watch, desk=desk).go()
                delivered += passed.delivered
                waiting, left = outbox.waiting(db), end - clock.monotonic()
                if left <= 0 or waiting == len(outbox.held(db)):
                    return Synced(delivered, waiting, passed.why_stopped or unseen)
                time.sleep(min(left, nap(db)))
        finally:
            if desk is not None:
                desk.leave()
