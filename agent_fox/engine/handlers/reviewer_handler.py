"""A reviewer's end: without critical findings the plan goes on; critical ones hold it or send work back.

What is the final review's alone is in `final_review`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from agent_fox.core.ids import Archetype, Mode, Ticket
from agent_fox.core.retry.decision import (
    Accept,
    Block,
    Budget,
    Cause,
    Ignore,
    Reread,
    SendBack,
    Suspect,
    decide_review,
)
from agent_fox.core.retry.standing import Step
from agent_fox.core.values import dataclass
from agent_fox.core.verdicts.findings import Review, read_review
from agent_fox.engine.handlers import final_review
from agent_fox.engine.issues.escalation import file_node_issue
from agent_fox.engine.issues.settling import settle_issues
from agent_fox.engine.record import blocking_history
from agent_fox.engine.record.docket import Docket, Handled, Move, Transition, ignored, round_edges
from agent_fox.store import sessions
from agent_fox.store.plan import PlannedNode, add_retry_edges, node_by_uid

if TYPE_CHECKING:
    from agent_fox.store.records import ReadExpectation


@dataclass(frozen=True, slots=True)
class ReviewerResult:
    """The end of a reviewer's session. `failure` says why there is no review; it is a spent reading.

    `tree` is that of `commit`, where the caller knows it.
    """

    ticket: Ticket
    commit: str | None
    output: str = ""
    failure: str = ""
    session_id: int | None = None
    tree: str | None = None


class ReviewerHandler:
    """Handles the end of a reviewer's session. Holds no state."""

    archetype = Archetype.REVIEWER

    def handle(self, tx: Docket, result: ReviewerResult, pinned: str | None) -> Handled:
        """Decide and record. Raises KeyError for a node that is not in the plan."""
        planned = node_by_uid(tx.db, result.ticket.node_uid)
        late = ignored(tx, planned, result.ticket, result.commit, pinned)
        if late is not None:
            return late
        if final_review.is_final(planned) and not result.failure:
            result = replace(result, failure=final_review.why_stale(tx, planned, result.commit))
        review = Review(is_readable=False) if result.failure else read_review(result.output)
        return self.decided(tx, planned, result, review)

    def decided(self, tx: Docket, planned: PlannedNode, result: ReviewerResult, answer: Review) -> Handled:
        is_final = final_review.is_final(planned)
        review = final_review.without_waived(tx, planned.node.spec_name, answer) if is_final else answer
        blamed = self.blamed(tx, planned, review)
        budget = Budget(tx.policy.readings, planned.standing.readings_spent)
        ceiling = self.ceiling(tx, planned, blamed) if is_final else None
        asked = final_review.asked_about(tx, planned.node.spec_name) if is_final and review.is_readable else ()
        is_agreed = all(question.requirement in review.agreed for question in asked)
        decision = decide_review(
            review.is_readable, bool(review.critical), blamed, budget, ceiling, is_agreed=is_agreed
        )  # fmt: skip
        review = review.with_refusals((question.requirement, question.expectation.test) for question in asked)
        facts = self.facts(tx, result, answer)
        match decision:
            case Accept():
                note = final_review.agreement_note(asked, *self.names(tx, planned, result))
                return self.accept(tx, planned, result, decision, facts, note)
            case Reread():
                number, moved = self.record(tx, planned, result, "Reread", [tx.reread(planned)], facts)
                return Handled(decision, number, moved)
            case SendBack(uids):
                return self.send_back(tx, planned, result, decision, uids, review, facts)
            case Block(cause):
                return self.block(tx, planned, result, cause, review, facts, asked)
            case Ignore(why):
                raise AssertionError(why)

    def names(self, tx: Docket, planned: PlannedNode, result: ReviewerResult) -> tuple[str, str]:
        """Who reviewed, and who coded, by the backends that their sessions name."""
        rows = sessions.sessions_where(tx.db, "spec_name = ?", [planned.node.spec_name])
        reviewer = next((row.backend for row in rows if row.id == result.session_id), "the final review")
        coders = dict.fromkeys(row.backend for row in rows if row.archetype is Archetype.CODER and row.backend)
        return reviewer, ", ".join(coders) or "the coder"

    def blamed(self, tx: Docket, planned: PlannedNode, review: Review) -> tuple[Suspect, ...]:
        """An audit-review judges the tests of its group, a final review the work of all; the others judge the spec,
        which no coder can change."""
        if final_review.is_final(planned):
            return final_review.suspects(tx, planned, review)
        coder = tx.coders(planned.node.spec_name).get(planned.node.group)
        if planned.node.mode is not Mode.AUDIT_REVIEW or coder is None:
            return ()
        return (Suspect(coder.node.uid, tx.policy.review_attempts, planned.standing.attempts_spent),)

    def ceiling(self, tx: Docket, planned: PlannedNode, blamed: tuple[Suspect, ...]) -> str | None:
        reached = (tx.ceiling(planned.node.spec_name, suspect.uid) for suspect in blamed)
        return next((ceiling for ceiling in reached if ceiling is not None), None)

    def facts(self, tx: Docket, result: ReviewerResult, review: Review) -> dict[str, object]:
        rows = [[f.severity, f.text, f.requirement_id] for f in review.findings]
        limits = {"review_attempts": tx.policy.review_attempts, "readings": tx.policy.readings}
        return {"findings": rows, "summary": review.summary, "failure": result.failure, "limits": limits}

    def record(
        self, tx: Docket, planned: PlannedNode, result: ReviewerResult, kind: str, moves: list[Move],
        facts: dict[str, object], note: str = "",
    ) -> tuple[int, tuple[Transition, ...]]:  # fmt: skip
        return tx.record(
            planned, kind, moves, session_id=result.session_id, commit=result.commit, facts=facts, note=note
        )  # fmt: skip

    def accept(
        self, tx: Docket, planned: PlannedNode, result: ReviewerResult, decision: Accept,
        facts: dict[str, object], note: str,
    ) -> Handled:  # fmt: skip
        """Nothing critical; after a final review the spec is done, and open issues about it are closed."""
        number, moved = self.record(tx, planned, result, "Accept", [Move(planned, Step.REVIEW)], facts, note)
        if not final_review.is_final(planned):
            return Handled(decision, number, moved)
        final_review.accepted(tx, planned, number, result.commit, result.tree)
        expected = tx.file_of(planned.node.spec_name).expected
        return Handled(decision, number, moved, settle_issues(tx, planned, number, result.commit, expected))

    def send_back(
        self, tx: Docket, planned: PlannedNode, result: ReviewerResult, decision: SendBack,
        uids: tuple[str, ...], review: Review, facts: dict[str, object],
    ) -> Handled:  # fmt: skip
        """The blamed coders and the reviewer go back to pending; after a final review the verifier reads between."""
        coders = [node_by_uid(tx.db, uid) for uid in uids]
        between = final_review.verifier_again(tx, planned.node.spec_name) if final_review.is_final(planned) else []
        moves = [Move(planned, Step.RECODE), *(Move(coder, Step.SEND_BACK) for coder in coders), *between]
        facts = {**facts, "blamed": list(uids)}
        number, moved = self.record(tx, planned, result, "SendBack", moves, facts)
        if final_review.is_final(planned):
            final_review.rejected(tx, planned, number, review)
        waits = round_edges(uids, between[0].planned.node.uid if between else planned.node.uid)
        add_retry_edges(tx.db, waits, number)
        return Handled(decision, number, moved, waits=waits)

    def block(
        self, tx: Docket, planned: PlannedNode, result: ReviewerResult, cause: Cause, review: Review,
        facts: dict[str, object], asked: tuple[ReadExpectation, ...],
    ) -> Handled:  # fmt: skip
        words = "; ".join(finding.text for finding in review.critical) or result.failure or "no readable review"
        reason = f"{cause}: {words}"
        number, moved = blocking_history.block(
            tx, planned, Step.BLOCK, cause, reason, session_id=result.session_id, commit=result.commit,
            facts=facts,
        )  # fmt: skip
        if final_review.is_final(planned):
            final_review.rejected(tx, planned, number, review)
        open_ones = [
            (question.requirement, question.expectation)
            for question in asked
            if question.requirement not in review.agreed
        ]
        effects = file_node_issue(tx, planned, number, cause, reason, result.commit, moved, open_ones)
        return Handled(Block(cause), number, moved, effects)
