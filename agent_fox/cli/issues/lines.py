"""Issues in words and as JSON: lists, one line for status screens, what waits and why. Imports little."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path

from agent_fox.cli.place import near
from agent_fox.cli.screen import link, plain, shown_time
from agent_fox.core.values import to_object
from agent_fox.core.words import counted, listed
from agent_fox.store.issue_view import EffectView, IssueCounts, IssueStanding, IssueView, Waiting, Waits

SYNC = "agent-fox issues sync"
LIST = "agent-fox issues list"
LONGEST_REASON = 400
DAY = 86_400

_COUNTED = {
    IssueStanding.WAITING: "not filed yet",
    IssueStanding.REFUSED: "refused",
    IssueStanding.KEPT: "kept open by a person",
}


def issue_counts_line(counts: IssueCounts) -> str:
    """`issues: 3 open, 1 closed; 2 wait to be delivered (no token; set ..., then agent-fox issues sync)`; empty where
    nothing was ever filed."""
    text = "; ".join(filter(None, (counts_told(counts), waits_told(counts.waiting))))
    return f"issues: {text}" if text else ""


def counts_told(counts: IssueCounts) -> str:
    """`3 open, 1 closed`; empty where there are no issues."""
    return ", ".join(f"{count} {_COUNTED.get(name, name)}" for name, count in counts.standings.items())


def waits_told(waiting: tuple[Waiting, ...]) -> str:
    """How much waits to be delivered, and why; empty where nothing does."""
    count = sum(group.count for group in waiting)
    return f"{count} {'waits' if count == 1 else 'wait'} to be delivered ({_reasons(waiting)})" if count else ""


def _reasons(waiting: tuple[Waiting, ...]) -> str:
    first, *rest = waiting
    others = [group for group in rest if group.note]
    more = f"; and {counted(len(others), 'other reason')}: {LIST}" if others else ""
    return f"{_why(first)}{more}"


def _why(group: Waiting) -> str:
    reason = shortened(group.note)
    match group.why:
        case Waits.HELD:
            return reason if SYNC in group.note else f"{reason or 'held back'}; then: {SYNC}"
        case Waits.DOUBT:
            return f"possibly already sent, {SYNC} will check" + (f": {reason}" if reason else "")
        case Waits.LATER:
            return f"{reason or 'to be tried again'}, not before {shown_time(group.until)}"
        case Waits.DUE:
            return f"{reason}; {SYNC}" if reason else SYNC


def shortened(text: str) -> str:
    return text if len(text) <= LONGEST_REASON else f"{text[:LONGEST_REASON].rstrip()}…"


def waiting_lines(waiting: Iterable[Waiting]) -> Iterator[str]:
    """One line for each reason that something is not delivered, with what to do."""
    for group in waiting:
        verb = "waits" if group.count == 1 else "wait"
        yield plain(f"{group.count} {verb} to be delivered: {_why(group)}")


def issue_lines(root: Path, issue: IssueView, parents: dict[str, str]) -> Iterator[str]:
    """An issue in two lines: number, standing, title; then what it is about, since when, and where it is."""
    number = f"{issue.number or '-':>5}"
    yield plain(f"{number}  {issue.standing:<19}  {issue.title}")
    parent = [f"part of #{parents.get(issue.part_of) or '-'}"] if issue.part_of else []
    about = "; ".join([issue.cause, *parent, *_members(issue), age(issue.since)])
    yield plain(f"{'':7}{about}")
    where = near(root, issue.where) or issue.fingerprint
    waits = f"; {issue.waits} to be delivered" if issue.waits and issue.number else ""
    yield f"{'':7}{link(where, issue.where)}{waits}"


def _members(issue: IssueView) -> Iterator[str]:
    """Its specs, and the requirements that are still open."""
    ids = [member.requirement for member in issue.members if member.is_open and member.requirement]
    if issue.specs:
        yield f"{listed(issue.specs)}: {listed(ids)}" if ids else listed(issue.specs)


def age(at: str) -> str:
    """How long ago, in the one unit that says most."""
    seconds = int((datetime.now(UTC) - datetime.fromisoformat(at)).total_seconds())
    for unit, length in (("day", DAY), ("hour", 3600), ("minute", 60)):
        if seconds >= length:
            return f"{counted(seconds // length, unit)} ago"
    return "just now"


def issue_document(root: Path, issue: IssueView) -> dict[str, object]:
    """An issue as one JSON object. `number` is null for one that has none yet."""
    shown = {"number": issue.number or None, "where": near(root, issue.where)}
    return {**to_object(issue), **shown, **to_object(issue, only=("standing", "specs", "open_ids"))}


def detail_lines(issue: IssueView, effects: Iterable[EffectView]) -> Iterator[str]:
    """What stands beside the text of an issue: members, everything that was to be done to it, earlier issues."""
    yield "about"
    for member in issue.members:
        yield plain(
            f"  {member.spec}/{member.requirement}".rstrip("/") + f"  {'open' if member.is_open else 'settled'}"
        )
    yield "effects"
    for effect in effects:
        yield plain(f"  {effect.at}  {effect.kind:<7}  {_effect(effect)}")
    if issue.earlier:
        yield "earlier issues of this cause"
        yield from (plain(f"  #{past.number}  until {past.ended_at}  {past.url}") for past in issue.earlier)


def effect_document(effect: EffectView) -> dict[str, object]:
    """Without its text, which is part of the issue's."""
    return {**to_object(effect, only=("id", "kind", "spec", "at", "state", "tries", "note", "not_before"))}


def _effect(effect: EffectView) -> str:
    tries = f", {effect.tries} tries" if effect.tries > 1 else ""
    until = f", not before {effect.not_before}" if effect.not_before and not effect.is_settled else ""
    note = f": {effect.note}" if effect.note else ""
    return f"{effect.state}{tries}{until}{note}"
