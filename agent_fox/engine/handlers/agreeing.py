"""What a person's agreement to a changed expectation does to the plan: the verifier that it held reads again.

Whether an agreement counts is asked of its signed envelope each time (`evidence.waivers`); what it makes of a test that
fails is decided when the test is read (`core.expectations`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from agent_fox.core.ledger.waivers import SHOWN_ID, AboutExpectation
from agent_fox.core.retry.standing import Outcome, Status, Step
from agent_fox.core.verdicts.verdict import Word
from agent_fox.core.words import quote
from agent_fox.engine.handlers.final_review import review_again, review_of, verifier_of
from agent_fox.engine.record.blocking_history import freed_by
from agent_fox.engine.record.docket import Docket, Handled, Move
from agent_fox.evidence import granting, waivers
from agent_fox.evidence.granting import WaiverRefused
from agent_fox.store import waivers as stored
from agent_fox.store.plan import StoredPart, load_parts
from agent_fox.store.records import ReadExpectation, read_expectations

if TYPE_CHECKING:
    from sqlite_utils import Database

    from agent_fox.evidence.waivers import Grounds, Held


def agreeable(tx: Docket, grounds: Grounds, part: StoredPart) -> tuple[AboutExpectation, ReadExpectation]:
    """What a person can agree to about a requirement, as it was last read. Raises WaiverRefused."""
    address = f"{part.spec_name}/{part.id}"
    read = {each.requirement: each for each in read_expectations(tx.db, part.spec_name)}.get(part.id)
    if read is None or not is_open(read):
        raise WaiverRefused(
            f"{address}: the last reading found no committed test that was changed; "
            f"`agent-fox explain {quote(part.spec_name)}`"
        )
    if read.version != part.version:
        raise WaiverRefused(f"{address}: its text has changed since it was read; `agent-fox run` reads it again")
    subject = AboutExpectation(
        part.spec_name, part.id, part.version, read.expectation.test, read.expectation.committed,
        read.expectation.changed,
    )  # fmt: skip
    for held in agreements(tx.db, grounds, tx.at, part.spec_name):
        if not held.why_not and held.statement.subject == subject:
            already = f"{held.statement.signer} has agreed already ({held.short_id})"
            raise WaiverRefused(f"{address}: {already}; `agent-fox run` reads it again")
    return subject, read


def is_open(read: ReadExpectation) -> bool:
    """Whether a person's word on it would change anything."""
    return read.word is not Word.PASS or read.expectation.is_asked


def agreements(db: Database, grounds: Grounds, at: str, spec_name: str | None = None) -> list[Held]:
    """Every agreement of a spec, or of all, that was signed, with why it does not count, if so."""
    rows = [row for row in stored.waivers_of(db, "finding", spec_name) if row.columns.spec_name]
    return [waiver for waiver in waivers.held(db, grounds, at, rows) if is_agreement(waiver)]


def is_agreement(held: Held) -> bool:
    statement = held.waiver.statement
    return statement is not None and isinstance(statement.subject, AboutExpectation)


def grant(tx: Docket, grounds: Grounds, envelope: str) -> tuple[Held, list[Handled]]:
    """Keep a signed agreement; the verifier that was blocked reads again. Raises WaiverRefused."""
    held = granting.keep(tx.db, grounds, waivers.time_of(tx.db, tx.at, grounds), envelope)
    subject = held.statement.subject
    assert isinstance(subject, AboutExpectation)
    note = f"{held.statement.signer} agreed to the change of {subject.test}, of {subject.requirement}"
    is_last = not left(tx, grounds, subject.spec)
    outcome = Outcome.VERIFIED if is_review_blocked(tx, subject.spec) else Outcome.ESCALATED
    return held, list(read_again(tx, subject.spec, outcome, note)) if is_last else []


def is_review_blocked(tx: Docket, spec_name: str) -> bool:
    """Whether the final review did not agree, so that what it read waits for a person."""
    review = review_of(tx.db, spec_name)
    return review is not None and review.standing.status is Status.BLOCKED


def left(tx: Docket, grounds: Grounds, spec_name: str) -> tuple[str, ...]:
    """The requirements of a spec whose changed expectation nobody has agreed to yet, as they were last read."""
    agreed = {
        (each.requirement, each.committed, each.changed)
        for each in waivers.agreements(tx.db, grounds, tx.at, spec_name)
    }
    versions = {part.id: part.version for part in load_parts(tx.db, spec_name)}
    return tuple(
        each.requirement
        for each in read_expectations(tx.db, spec_name)
        if (each.word is Word.UNKNOWN or each.expectation.is_asked)
        and versions.get(each.requirement) == each.version
        and (each.requirement, each.expectation.committed, each.expectation.changed) not in agreed
    )


def read_again(tx: Docket, spec_name: str, outcome: Outcome, note: str) -> Iterator[Handled]:
    """Open the spec's verifier that ended so, with its review and what it held back; nothing else is run again."""
    planned = verifier_of(tx.db, spec_name)
    if planned is None or (planned.standing.status, planned.standing.outcome) != (Status.COMPLETED, outcome):
        return
    moves = [Move(planned, Step.REOPEN), *review_again(tx, spec_name, is_reset=True)]
    number, moved = tx.record(planned, "Reopen", [*moves, *freed_by(tx, [planned])], note=note)
    yield Handled(None, number, moved)


def take_back(tx: Docket, grounds: Grounds) -> Iterator[Handled]:
    """A spec that was proven by an agreement that does not count any more is read again."""
    held = agreements(tx.db, grounds, tx.at)
    if grounds.why_unusable(tx.db):
        return
    for spec_name in sorted({agreement.waiver.columns.spec_name for agreement in held if agreement.why_not}):
        counting = {_key(agreement) for agreement in held if not agreement.why_not}
        over = {_key(agreement): agreement for agreement in held if agreement.why_not}
        for read in read_expectations(tx.db, spec_name):
            key = (spec_name, read.requirement, read.expectation.committed, read.expectation.changed)
            if read.word is Word.PASS and key in over and key not in counting:
                why = f"the agreement {over[key].waiver.id[:SHOWN_ID]} does not count any more: {over[key].why_not}"
                yield from read_again(tx, spec_name, Outcome.VERIFIED, why)
                yield from read_again(tx, spec_name, Outcome.WAIVED, why)


def _key(held: Held) -> tuple[str, str, str, str]:
    subject = held.statement.subject
    assert isinstance(subject, AboutExpectation)
    return subject.spec, subject.requirement, subject.committed, subject.changed
