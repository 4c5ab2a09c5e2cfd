"""`agent-fox issues adopt`: an issue that is there becomes the one of a cause, in the tracker and in the state."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, assert_never

import click

from agent_fox.cli.errors import UserError
from agent_fox.cli.exits import Exit
from agent_fox.cli.issues.local import LocalAdopter
from agent_fox.cli.issues.tracker_place import Workplace, in_words, seated, workplace
from agent_fox.cli.opening import state_file
from agent_fox.cli.place import near
from agent_fox.cli.screen import plain, print_json
from agent_fox.core.retry.clusters import fingerprint_of
from agent_fox.core.values import dataclass
from agent_fox.core.words import did_you_mean
from agent_fox.engine.issues.courier import desk_of
from agent_fox.engine.issues.effects import home_of
from agent_fox.engine.issues.heading import WHOLE_SPEC
from agent_fox.store import outbox
from agent_fox.store.desk import HOME, remember
from agent_fox.store.issue_view import IssueStanding, IssueView, named, read_issues
from agent_fox.store.plan import spec_names
from agent_fox.store.state import open_state, read_state, transaction
from agent_fox.system import clock
from agent_fox.trackers.local import LocalTracker
from agent_fox.trackers.protocol import Delivery, Done, Held, Moot, Placed, Retry, Tracker, Unsure
from agent_fox.trackers.upkeep import KeepsOrder

if TYPE_CHECKING:
    from sqlite_utils import Database

LONGEST_NUMBER = 9
LOST = frozenset({IssueStanding.MOVED, IssueStanding.GONE})


@dataclass(frozen=True, slots=True)
class Wanted:
    """The cause that gets an issue. `is_new`: nothing of it is in the state yet."""

    fingerprint: str
    title: str
    cause: str
    spec: str
    is_new: bool = False


def adopt(root: Path, number: str, cause: str, kind: str | None, *, as_json: bool) -> Exit:
    """Raises UserError for what is refused; StateError, ConfigError, PluginError."""
    wanted_number = number_of(number)
    read_state(state_file(root)).close()
    place = workplace(root, kind)
    refuse_elsewhere(number, place.tracker)
    with closing(open_state(state_file(root))) as db:
        wanted = wanted_for(db, cause, str(wanted_number))
        done = ask(place, db, wanted, wanted_number)
        with transaction(db):
            note(db, wanted, done)
            remember(db, "", f"{HOME}{wanted.fingerprint}", home_of(place.tracker))
        waiting = outbox.waiting(db)
    document = {"number": done.number, "where": near(root, done.url), "fingerprint": wanted.fingerprint}
    if as_json:
        print_json({**document, "spec": wanted.spec, "cause": wanted.cause, "note": done.note})
    else:
        click.echo(plain(f"issue {done.number} is the one of {wanted.title} ({wanted.fingerprint})"))
        click.echo(plain("next: agent-fox issues sync" if waiting else f"see: agent-fox issues show {done.number}"))
    return Exit.DONE


def number_of(text: str) -> int:
    """`7`, `#7`, `0007`, or an issue's address. Raises UserError."""
    name = text.strip().rstrip("/")
    digits = (name.rpartition("/")[2] if "://" in name else name).lstrip("#")
    if not (digits.isascii() and digits.isdigit() and len(digits) <= LONGEST_NUMBER and int(digits)):
        raise UserError(f"{text}: no number of an issue; give one such as 7, #7 or the issue's address")
    return int(digits)


def refuse_elsewhere(text: str, tracker: Tracker) -> None:
    """Raises UserError for the address of an issue in another place: its number is another issue's here."""
    address = text.strip().lower().partition("://")[2].removeprefix("www.")
    if address and isinstance(tracker, Placed) and not address.startswith(f"{tracker.place}/issues/"):
        raise UserError(f"{text}: not an issue of {in_words(tracker)}, which issues are filed in")


def wanted_for(db: Database, name: str, number: str) -> Wanted:
    """The cause that a person names. Raises UserError where it, or the issue, is taken."""
    issues = read_issues(db)
    wanted = known(named(issues, name), name) or unknown(db, name)
    other = next(
        (issue for issue in issues if issue.number == number and issue.fingerprint != wanted.fingerprint), None
    )
    if other is not None:
        raise UserError(f"issue {number} is that of another cause: {other.title} ({other.fingerprint})")
    own = next((candidate for candidate in issues if candidate.fingerprint == wanted.fingerprint), None)
    if own is not None and own.number not in ("", number) and own.standing not in LOST:
        raise UserError(
            f"{name} has issue {own.number} already ({own.standing}); see `agent-fox issues show {own.number}`"
        )
    return wanted


def known(found: tuple[IssueView, ...], name: str) -> Wanted | None:
    if len(found) > 1:
        which = "; ".join(f"{candidate.fingerprint} ({candidate.title})" for candidate in found)
        raise UserError(f"{name}: {len(found)} causes are meant: {which}; name one by its fingerprint")
    return next(
        (
            Wanted(candidate.fingerprint, candidate.title, candidate.cause, next(iter(candidate.specs), ""))
            for candidate in found
        ),
        None,
    )


def unknown(db: Database, name: str) -> Wanted:
    """The cause of a spec as a whole, before anything was filed about it."""
    names = spec_names(db)
    if name in names:
        return Wanted(fingerprint_of(None, name), name, "adopted", name, is_new=True)
    hint = did_you_mean(name, names, "; `agent-fox status` lists specs, `agent-fox issues list` causes")
    raise UserError(f"--for {name}: there is no such spec or cause{hint}")


def ask(place: Workplace, db: Database, wanted: Wanted, number: int) -> Done:
    """Let the tracker do it. Raises UserError with its reason and the remedy."""
    delivery = _asked(place, db, wanted, number)
    match delivery:
        case Done():
            return delivery
        case Held(reason, remedy):
            raise UserError(f"{reason}; {remedy}")
        case Moot(reason):
            raise UserError(reason)
        case Retry(reason) | Unsure(reason):
            raise UserError(f"{reason}; run it again later", Exit.UNPROVEN)
        case _:
            assert_never(delivery)


def _asked(place: Workplace, db: Database, wanted: Wanted, number: int) -> Delivery:
    tracker = place.tracker
    if isinstance(tracker, LocalTracker):
        return LocalAdopter(tracker.folder, wanted.cause, wanted.spec).adopt(number, wanted.fingerprint)
    desk = desk_of(db, tracker, place.settings.tracker)
    try:
        keeper = seated(tracker, desk)
        if isinstance(keeper, KeepsOrder):
            return keeper.adopt(number, wanted.fingerprint)
        raise UserError(f"the tracker {tracker.name} cannot adopt issues; file a new one: agent-fox issues sync")
    finally:
        if desk is not None:
            desk.leave()


def note(db: Database, wanted: Wanted, done: Done) -> None:
    """Keep it in the open transaction."""
    at = clock.now()
    if wanted.is_new:
        outbox.open_issue(db, wanted.fingerprint, wanted.title, wanted.cause, wanted.spec, [WHOLE_SPEC], at)
    outbox.name_issue(db, wanted.fingerprint, done.number, done.url, at=at)
    outbox.note_remote(db, wanted.fingerprint, done.remote or "", at)
