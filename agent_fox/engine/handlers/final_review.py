"""The final review of a spec: whom it may send back, which requirements it is about, what its end does to the gates.

It reads what the verifier found to hold, on the very commit. Reading its answer is in `core.findings`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from agent_fox.core.ids import Archetype, Mode
from agent_fox.core.ledger.gates import Gate
from agent_fox.core.plan.blame import blame
from agent_fox.core.retry.standing import Status, Step
from agent_fox.core.verdicts.verdict import Word
from agent_fox.engine.issues.settling import settle_issues
from agent_fox.engine.record import promotion
from agent_fox.engine.record.docket import Docket, Move, SpecFile
from agent_fox.store.plan import PlannedNode, nodes_of_spec, verified_commit
from agent_fox.store.records import ReadExpectation, read_expectations

if TYPE_CHECKING:
    from sqlite_utils import Database

    from agent_fox.core.retry.decision import Suspect
    from agent_fox.core.verdicts.findings import Finding, Review

STALE = "the review is not about the commit that was verified"


def is_final(planned: PlannedNode) -> bool:
    return planned.node.mode is Mode.FINAL_REVIEW


def review_of(db: Database, spec_name: str) -> PlannedNode | None:
    """The spec's final review, where the plan has one."""
    return next((planned for planned in nodes_of_spec(db, spec_name) if is_final(planned)), None)


def verifier_of(db: Database, spec_name: str) -> PlannedNode | None:
    """The spec's own verifier: the last one, since a task group may be a verifier's too."""
    nodes = reversed(nodes_of_spec(db, spec_name))
    return next((planned for planned in nodes if planned.node.archetype is Archetype.VERIFIER), None)


def commit_to_read(db: Database, planned: PlannedNode, tip: str) -> str:
    """What a session of the node is launched on: a final review on what was verified, all others on the tip."""
    return (verified_commit(db, planned.node.spec_name) or tip) if is_final(planned) else tip


def why_stale(tx: Docket, planned: PlannedNode, commit: str | None) -> str:
    """Why a review of this commit says nothing about what was verified; empty where it does."""
    is_about_it = commit is not None and commit == verified_commit(tx.db, planned.node.spec_name)
    return "" if is_about_it else STALE


def without_waived(tx: Docket, spec_name: str, review: Review) -> Review:
    """The findings that count: what a person has waived is nobody's task, so that it sends nobody back."""
    file, waived = tx.file_of(spec_name), tx.waived(spec_name)
    counted = (
        finding for finding in review.findings if not finding.requirement_id or not is_waived(file, finding, waived)
    )
    return replace(review, findings=tuple(counted))


def is_waived(file: SpecFile, finding: Finding, waived: frozenset[str]) -> bool:
    named = parts_named(file, [finding])
    return bool(named) and set(named) <= waived


def asked_about(tx: Docket, spec_name: str) -> tuple[ReadExpectation, ...]:
    """The changed expectations that the review is asked about: those of the verdicts that stand, and are not waived."""
    waived = tx.waived(spec_name)
    return tuple(question for question in asked_in(tx.db, spec_name) if question.requirement not in waived)


def asked_in(db: Database, spec_name: str) -> Iterator[ReadExpectation]:
    read = read_expectations(db, spec_name)
    return (reading for reading in read if reading.word is Word.PASS and reading.expectation.is_asked)


def agreement_note(asked: Iterable[ReadExpectation], reviewer: str, coders: str) -> str:
    """Who agreed to which changed expectation, and who stated its reason."""
    names = f"agreed to by {reviewer}, its reason stated by {coders}"
    return "; ".join(
        f"{question.requirement}: the change of {question.expectation.test} is {names}" for question in asked
    )


def parts_named(file: SpecFile, findings: Iterable[Finding]) -> tuple[str, ...]:
    """The expected ids that findings name, in the order of the spec; a requirement stands for all its criteria."""
    named = {finding.requirement_id.strip() for finding in findings}
    return tuple(part.id for part in file.parts if part.id in named or part.requirement_id in named)


def suspects(tx: Docket, planned: PlannedNode, review: Review) -> tuple[Suspect, ...]:
    """The coders that critical findings send back, in plan order: the owners of what they name, else the last group's.

    The reviewer's own attempts pay for it.
    """
    coders = tx.coders(planned.node.spec_name)
    file, spent = tx.file_of(planned.node.spec_name), planned.standing.attempts_spent
    owners = {number for finding in review.critical for number in owners_of(file, finding)} & coders.keys()
    numbers = sorted(owners) or sorted(coders)[-1:]
    known = (tx.suspect(coders[number], attempts=tx.policy.review_attempts) for number in numbers)
    return tuple(replace(suspect, spent=spent) for suspect in known)


def owners_of(file: SpecFile, finding: Finding) -> tuple[int, ...]:
    """The groups that a finding is for; one about the whole is for the last."""
    return blame(parts_named(file, [finding]), file.ownership) or file.ownership.fallback


def verifier_again(tx: Docket, spec_name: str) -> list[Move]:
    """Work that changes after its verdict is read again: the verifier goes back with the coders."""
    verifier = verifier_of(tx.db, spec_name)
    is_accepted = verifier is not None and verifier.standing.status is Status.COMPLETED
    return [Move(verifier, Step.REOPEN)] if verifier is not None and is_accepted else []


def review_again(tx: Docket, spec_name: str, *, is_reset: bool = False) -> list[Move]:
    """What was reviewed is to be verified again, and so it is reviewed again. `is_reset`: a blocked review too."""
    review = review_of(tx.db, spec_name)
    if review is None:
        return []
    match review.standing.status:
        case Status.COMPLETED:
            return [Move(review, Step.REOPEN)]
        case Status.BLOCKED if is_reset:
            return [Move(review, Step.RESET)]
        case _:
            return []


def withdrawn(tx: Docket, planned: PlannedNode, decision_id: int) -> None:
    """No review is asked for any more: what only waited for it is proven, and open issues about it are closed."""
    spec_name = planned.node.spec_name
    verifier = verifier_of(tx.db, spec_name)
    if is_final(planned) and verifier is not None and verifier.standing.is_proven:
        proven = tx.file_of(spec_name).expected
        settle_issues(tx, verifier, decision_id, verified_commit(tx.db, spec_name), proven)


def accepted(tx: Docket, planned: PlannedNode, decision_id: int, commit: str | None, tree: str | None) -> None:
    """No critical finding: what was tested is reviewed, and accepted where no proof is required."""
    promotion.reviewed(
        tx, planned.node.spec_name, decision_id, commit or "", tree or "",
        needs_proof=tx.policy.required_state is Gate.PROVED,
    )  # fmt: skip


def rejected(tx: Docket, planned: PlannedNode, decision_id: int, review: Review) -> None:
    """Critical findings: the requirements that they name are rejected."""
    named = parts_named(tx.file_of(planned.node.spec_name), review.critical)
    promotion.changes_requested(tx, planned.node.spec_name, named, decision_id, "a critical finding of the review")
