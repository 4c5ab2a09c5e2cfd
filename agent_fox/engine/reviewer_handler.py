"""A reviewer's end: without critical findings the plan goes on; critical ones hold it or send the tests back."""

from __future__ import annotations

from dataclasses import dataclass

from agent_fox.core.decision import (
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
from agent_fox.core.findings import Review, read_review
from agent_fox.core.ids import Archetype, Mode, Ticket
from agent_fox.core.standing import Step
from agent_fox.engine import blocking_history
from agent_fox.engine.docket import Docket, Handled, Move
from agent_fox.engine.escalation import file_node_issue
from agent_fox.engine.lateness import ignored
from agent_fox.engine.result_handler import round_edges
from agent_fox.store.plan import PlannedNode, add_retry_edges, node_by_uid


@dataclass(frozen=True, slots=True)
class ReviewerResult:
    """The end of a reviewer's session. `failure` says why there is no review; it is a spent reading."""

    ticket: Ticket
    commit: str | None
    output: str = ""
    failure: str = ""
    session_id: int | None = None


class ReviewerHandler:
    """Handles the end of a reviewer's session. Holds no state."""

    archetype = Archetype.REVIEWER

    def handle(self, docket: Docket, result: ReviewerResult, pinned: str | None) -> Handled:
        """Decide and record. Raises KeyError for a node that is not in the plan."""
        planned = node_by_uid(docket.db, result.ticket.node_uid)
        late = ignored(docket, planned, result.ticket, result.commit, pinned)
        if late is not None:
            return late
        review = Review(is_readable=False) if result.failure else read_review(result.output)
        return self.decided(docket, planned, result, review)

    def decided(self, docket: Docket, planned: PlannedNode, result: ReviewerResult, review: Review) -> Handled:
        blamed = self.blamed(docket, planned)
        budget = Budget(docket.policy.readings, planned.standing.readings_spent)
        decision = decide_review(review.is_readable, bool(review.critical), blamed, budget)
        facts = self.facts(docket, result, review)
        match decision:
            case Accept():
                return self.move(docket, planned, result, decision, "Accept", [Move(planned, Step.REVIEW)], facts)
            case Reread():
                return self.move(docket, planned, result, decision, "Reread", [docket.reread(planned)], facts)
            case SendBack(uids):
                return self.send_back(docket, planned, result, decision, uids, facts)
            case Block(cause):
                return self.block(docket, planned, result, cause, review, facts)
            case Ignore(why):
                raise AssertionError(why)

    def blamed(self, docket: Docket, planned: PlannedNode) -> tuple[Suspect, ...]:
        """An audit-review judges the tests of its group; the others judge the spec, which no coder can change."""
        if planned.node.mode is not Mode.AUDIT_REVIEW:
            return ()
        coder = docket.coders(planned.node.spec_name).get(planned.node.group)
        if coder is None:
            return ()
        suspect = docket.suspect(coder, attempts=docket.policy.review_attempts)
        sent_back = planned.standing.attempts_spent
        return (Suspect(suspect.uid, suspect.attempts, sent_back, suspect.retry_predecessor, suspect.rung),)

    def facts(self, docket: Docket, result: ReviewerResult, review: Review) -> dict[str, object]:
        rows = [[f.severity, f.text, f.requirement_id] for f in review.findings]
        limits = {"review_attempts": docket.policy.review_attempts, "readings": docket.policy.readings}
        return {"findings": rows, "summary": review.summary, "failure": result.failure, "limits": limits}

    def move(
        self, docket: Docket, planned: PlannedNode, result: ReviewerResult, decision: Accept | Reread, kind: str,
        moves: list[Move], facts: dict[str, object],
    ) -> Handled:  # fmt: skip
        number, moved = docket.record(
            planned, kind, moves, session_id=result.session_id, commit=result.commit, facts=facts
        )
        return Handled(decision, number, moved)

    def send_back(
        self, docket: Docket, planned: PlannedNode, result: ReviewerResult, decision: SendBack,
        uids: tuple[str, ...], facts: dict[str, object],
    ) -> Handled:  # fmt: skip
        coders = [node_by_uid(docket.db, uid) for uid in uids]
        moves = [Move(planned, Step.RECODE), *(Move(coder, Step.SEND_BACK) for coder in coders)]
        number, moved = docket.record(
            planned, "SendBack", moves, session_id=result.session_id, commit=result.commit,
            facts={**facts, "blamed": list(uids)},
        )  # fmt: skip
        waits = round_edges(uids, planned.node.uid)
        add_retry_edges(docket.db, waits, number)
        return Handled(decision, number, moved, waits=waits)

    def block(
        self, docket: Docket, planned: PlannedNode, result: ReviewerResult, cause: Cause, review: Review,
        facts: dict[str, object],
    ) -> Handled:  # fmt: skip
        said = "; ".join(finding.text for finding in review.critical) or result.failure or "no readable review"
        reason = f"{cause}: {said}"
        number, moved = blocking_history.block(
            docket, planned, Step.BLOCK, cause, reason, session_id=result.session_id, commit=result.commit,
            facts=facts,
        )  # fmt: skip
        effects = file_node_issue(docket, planned, number, cause, reason, result.commit, moved)
        return Handled(Block(cause), number, moved, effects)
