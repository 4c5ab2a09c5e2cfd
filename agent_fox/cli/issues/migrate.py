"""`agent-fox issues migrate`: open issues of a former tracker go on in the present one. Moving is the engine's."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING

import click

from agent_fox.cli.errors import UserError
from agent_fox.cli.exits import Exit
from agent_fox.cli.issues.sync import deliver
from agent_fox.cli.issues.tracker_place import Workplace, in_words, seated, workplace
from agent_fox.cli.opening import state_file
from agent_fox.cli.place import near
from agent_fox.cli.screen import plain, print_json
from agent_fox.core.values import dataclass
from agent_fox.engine.issues.courier import desk_of
from agent_fox.engine.issues.effects import home_of
from agent_fox.engine.issues.moving import (
    Former,
    elsewhere,
    is_same_issue,
    leave,
    note_of,
    noted,
    sight_of,
    unnoted,
    why_stays,
)
from agent_fox.engine.planning.extensions import tracker_of
from agent_fox.plugins import PluginError, load_plugins
from agent_fox.store.state import open_state, read_state
from agent_fox.system import clock
from agent_fox.trackers.issue_file import parse_issue_file
from agent_fox.trackers.local import LocalTracker
from agent_fox.trackers.protocol import Done, Held, Moot, Remote, StateReason, Tracker

if TYPE_CHECKING:
    from sqlite_utils import Database

    from agent_fox.engine.record.watch import RunEvent
    from agent_fox.store.issue_view import IssueView


@dataclass(slots=True)
class Moving:
    """One migration: lines as they come, and what is left to be done."""

    place: Workplace
    db: Database
    as_json: bool
    moved: list[str] = field(default_factory=list)
    told: list[str] = field(default_factory=list)
    left: list[str] = field(default_factory=list)

    @property
    def home(self) -> str:
        return home_of(self.place.tracker)

    def tell(self, line: str) -> None:
        self.told.append(near(self.place.root, line))
        if not self.as_json:
            click.echo(plain(self.told[-1]))

    def watch(self, event: RunEvent) -> None:
        self.tell(event.text)

    def leave_all(self) -> None:
        for issue, former in list(elsewhere(self.db, self.home)):
            why = why_stays(issue, self.sight(issue, former))
            if not why:
                why = leave(self.db, issue, former, self.home, clock.now())
                self.moved += [issue.fingerprint] if not why else []
            if why and issue.standing.is_open:
                self.stays(issue, former, why)

    def stays(self, issue: IssueView, former: str, why: str) -> None:
        kind = former.partition(" ")[0]
        closing_waits = issue.state == "closed"
        remedy = f"; `agent-fox issues sync --tracker {kind}` delivers it there" if closing_waits else ""
        line = f"not moved: issue {issue.number} of {former}: {why}{remedy}"
        self.left += [line] if closing_waits else []
        self.tell(line)

    def sight(self, issue: IssueView, former: str) -> Remote | None:
        """How the issue stands in the former tracker, where that can be asked."""
        try:
            tracker = self.tracker(former)
            if isinstance(tracker, LocalTracker):
                return in_file(tracker, issue.fingerprint)
            with self.seat(tracker) as there:
                return sight_of(there, issue.fingerprint, issue.number)
        except (UserError, PluginError, OSError):
            return None

    def tracker(self, home: str) -> Tracker:
        """The former tracker, made from the present settings. Raises UserError, PluginError."""
        kind, _, where = home.partition(" ")
        tracker = self.place.settings.tracker.model_copy(update={"kind": kind})
        if where:
            tracker = tracker.model_copy(update={"repository": "/".join(where.split("/")[-2:])})
        settings = self.place.settings.model_copy(update={"tracker": tracker})
        made = tracker_of(load_plugins(), settings, self.place.root, os.environ)
        if home_of(made) != home:
            raise UserError(
                f"{home} cannot be reached with these settings, which lead to {home_of(made) or kind}; "
                "restore the settings of the former tracker for this command"
            )
        return made

    @contextmanager
    def seat(self, tracker: Tracker) -> Iterator[Tracker]:
        """The tracker at its desk, which is left at the end."""
        desk = desk_of(self.db, tracker, self.place.settings.tracker)
        try:
            yield seated(tracker, desk)
        finally:
            if desk is not None:
                desk.leave()

    def note_all(self) -> None:
        for former, url in list(unnoted(self.db)):
            try:
                why = self.note(former, url)
            except (UserError, PluginError) as trouble:
                why = str(trouble)
            if why:
                line = f"issue {former.number} of {former.home} has no note yet that it continues in {url}: {why}"
                self.left.append(line)
                self.tell(line)
            else:
                noted(self.db, former)

    def note(self, former: Former, url: str) -> str:
        """Say on the old issue where its cause goes on. Gives why that waits; empty where nothing is left to say."""
        with self.seat(self.tracker(former.home)) as there:
            if is_same_issue(there, former, url):
                return ""
            match there.deliver(note_of(former, url, clock.now())):
                case Done(_, _, _, more):
                    news = f"moved: issue {former.number} of {former.home} continues in {url}"
                    self.tell(f"{news}; {more}" if more else news)
                case Moot(reason):
                    self.tell(f"issue {former.number} of {former.home} needs no note: {reason}")
                case Held(reason, remedy):
                    return f"{reason}; {remedy}"
                case trouble:
                    return trouble.reason
        return ""


def in_file(tracker: LocalTracker, fingerprint: str) -> Remote | None:
    """A person's no, as it stands in the file of an issue. Raises OSError."""
    for path in sorted(tracker.folder.glob("*.md")):
        issue = parse_issue_file(path.read_text(encoding="utf-8", errors="replace"))
        if issue is not None and issue.value("fingerprint") == fingerprint:
            is_refused = not issue.is_open and issue.value("state_reason") == StateReason.NOT_PLANNED
            return Remote.REFUSED if is_refused else Remote.OPEN if issue.is_open else Remote.FINISHED
    return None


def migrate(root: Path, kind: str | None, *, as_json: bool) -> Exit:
    """Move, deliver, note, and print what came of it. Raises StateError, ConfigError, PluginError, UserError."""
    read_state(state_file(root)).close()
    place = workplace(root, kind)
    with closing(open_state(state_file(root))) as db:
        moving = Moving(place, db, as_json)
        moving.leave_all()
        done = deliver(place, 0.0, moving.watch)
        moving.note_all()
        left = [*moving.left, *([done.why_stopped] if done.why_stopped else [])]
    if as_json:
        document = {"tracker": in_words(place.tracker), "moved": moving.moved, "told": moving.told, "left": left}
        print_json({**document, "waiting": done.waiting})
    elif not moving.told and not left:
        click.echo(f"nothing to move: every open issue is in {plain(in_words(place.tracker))}")
    elif done.waiting:
        click.echo(
            f"{done.waiting} still to be delivered" + (plain(f": {done.why_stopped}") if done.why_stopped else "")
        )
    return Exit.UNPROVEN if left or done.waiting else Exit.DONE
