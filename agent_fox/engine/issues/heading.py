"""What the top of an issue says: its title and how each of its requirements stands now. Decides and sends nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent_fox.core.markdown import one_line
from agent_fox.core.verdicts.verdict import Word
from agent_fox.core.words import counted
from agent_fox.engine.account.overview import quoted
from agent_fox.store import desk, outbox
from agent_fox.store.account import open_parts, spent
from agent_fox.store.issue_view import told_members
from agent_fox.store.plan import load_parts
from agent_fox.store.records import current_verdicts
from agent_fox.trackers.facts import IssueStatus, StatusPart

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from agent_fox.engine.record.docket import Docket

WHOLE_SPEC = ""
DIGEST = "digest of "
"""What the names begin with under which is kept that a cause is told in a digest, and in which."""

LONGEST_NAME = 60
LONGEST_TITLE = 200

_OPEN = {Word.FAIL: "fails", Word.UNKNOWN: "no clear verdict", Word.PASS: "passes, to be confirmed"}
_VERBS = {
    "fails": ("fails", "fail"),
    "no clear verdict": ("has no clear verdict", "have no clear verdict"),
    "passes, to be confirmed": ("passes, to be confirmed", "pass, to be confirmed"),
}


def status_of(transaction: Docket, fingerprint: str, headline: str, commit: str | None, title: str = "") -> IssueStatus:
    """How an issue stands by what is recorded now; its title is noted. Without a `title` it says what is open, and
    stays where nothing is."""
    parts = tuple(_parts(transaction, fingerprint))
    is_open = [part for part in parts if part.is_open]
    is_digest = desk.is_remembered(transaction.db, "", DIGEST, fingerprint)
    specs = dict.fromkeys(part.spec for part in parts)
    if not title and is_open:
        title = title_of_digest(is_open) if is_digest else title_of_open(is_open)
    title = one_line(title, LONGEST_TITLE) or outbox.title_of(transaction.db, fingerprint)
    outbox.retitle(transaction.db, fingerprint, title)
    run, spent = str(transaction.run_id or ""), spent_on(transaction, specs)
    return IssueStatus(title, headline, parts, commit or "", run, spent, transaction.at, is_digest)


def _parts(transaction: Docket, fingerprint: str) -> Iterable[StatusPart]:
    """Texts are read anew: while the plan changes, nothing of it may be kept."""
    members = told_members(outbox.members_of(transaction.db, fingerprint))
    specs = {spec for spec, _, _ in members}
    texts = {(spec, part.id): part.text for spec in specs for part in load_parts(transaction.db, spec)}
    seen = {
        (spec, row[0]): next(iter(quoted(row[3])), "") for spec in specs for row in open_parts(transaction.db, spec)
    }
    for spec, part, is_open in members:
        state = _state(transaction, spec, part, is_open=is_open)
        text, first = texts.get((spec, part), ""), seen.get((spec, part), "") if is_open else ""
        yield StatusPart(spec, part, text, state, is_open, first)


def _state(transaction: Docket, spec: str, part: str, *, is_open: bool) -> str:
    if not part:
        return "stopped" if is_open else "settled"
    verdict = current_verdicts(transaction.db, spec).get(part)
    if is_open:
        return _OPEN[verdict[1]] if verdict else "not verified"
    if part in transaction.waived(spec):
        return "waived"
    return "passes" if verdict and verdict[1] is Word.PASS else "not asked for any more"


def title_of_open(parts: Sequence[StatusPart]) -> str:
    """`04_gate: 04-REQ-1.1 and 2 more fail: WHEN a car enters, ...`."""
    first, others = parts[0], len(parts) - 1
    states = {part.state for part in parts}
    singular, plural = _VERBS.get(first.state, ("is not proven", "are not proven"))
    verb = (plural if others else singular) if len(states) == 1 else "are not proven"
    name = one_line(first.requirement or "the whole spec", LONGEST_NAME)
    more = f" and {others} more" if others else ""
    text = f": {first.text}" if first.text else ""
    return one_line(f"{one_line(first.spec, LONGEST_NAME)}: {name}{more} {verb}{text}", LONGEST_TITLE)


def title_of_digest(parts: Sequence[StatusPart]) -> str:
    specs = {part.spec for part in parts}
    verb = "is" if len(parts) == 1 else "are"
    return f"{counted(len(parts), 'more requirement')} of {counted(len(specs), 'spec')} {verb} not proven"


def spent_on(transaction: Docket, specs: Iterable[str]) -> str:
    """What the sessions of these specs have cost over all runs, in words."""
    by_spec = spent(transaction.db)
    known, assumed = (sum(by_spec[spec][place] for spec in specs if spec in by_spec) for place in (0, 1))
    return f"{known:.2f} USD" + (f" and {assumed:.2f} USD assumed" if assumed else "") if known or assumed else ""
