"""Gates and standings are folds of the same decisions: whatever happens, they never contradict each other."""

from __future__ import annotations

import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from agent_fox.core.ids import Archetype
from agent_fox.core.ledger.gates import Gate
from agent_fox.core.policy import Policy
from agent_fox.core.retry.standing import Status
from agent_fox.engine.handlers.final_review import review_again, review_of, verifier_of
from agent_fox.engine.handlers.reset import NothingToReset, reset
from agent_fox.engine.record.docket import Docket
from agent_fox.store.plan import PlannedNode
from agent_fox.store.state import transaction
from tests.engine.desk import Desk
from tests.engine.handlers.test_reviewer_handler import ONE, REVIEW, SHAPE, VERIFIER, A, B, C, said
from tests.stories.scene import STANDS, disagreement

NODES = ("01_a:1", "01_a:2", VERIFIER, REVIEW)
verdicts = st.fixed_dictionaries(dict.fromkeys((A, B, C), st.sampled_from(["PASS", "PASS", "PASS", "FAIL", "?"])))
findings = st.sampled_from([said(), said(), said(A), said(C), said(A, C), said(""), "cannot be read"])
reopenings = st.sampled_from(["", "", "", *NODES])


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.tuples(verdicts, findings, st.booleans(), reopenings), min_size=4, max_size=16),
    st.sampled_from(["reviewed", "proved"]),
)
def test_whatever_sessions_say_and_persons_reset_gates_and_standings_agree(
    acts: list[tuple[dict[str, str], str, bool, str]], required: str
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        desk = Desk.open(Path(folder), [ONE], Policy(required_state=Gate(required)), SHAPE)
        for report, review, is_failing, node in acts:
            act(desk, report, review, is_failing=is_failing)
            agree(desk)
            start_again(desk, node)
            agree(desk)
        desk.db.close()


def act(desk: Desk, report: dict[str, str], review: str, *, is_failing: bool) -> None:
    """The node that the board has next ends its session; nothing where all are settled."""
    planned = desk.board().take()
    if planned is None:
        return
    match planned.node.archetype:
        case Archetype.CODER:
            desk.end(planned.node.id, failure="exit 7" if is_failing else "")
        case Archetype.VERIFIER:
            desk.report(planned.node.id, report)
        case Archetype.REVIEWER:
            desk.end(planned.node.id, output=review)


def start_again(desk: Desk, node: str) -> None:
    """A person resets a node, or, for a proven verifier, the final check opens it."""
    if not node:
        return
    planned = desk.node(node)
    with transaction(desk.db):
        docket = desk.docket()
        try:
            reset(docket, node)
        except NothingToReset:
            assert planned.standing.status in {Status.PENDING, Status.RUNNING, Status.BLOCKED}


def agree(desk: Desk) -> None:
    for row in desk.rows(STANDS):
        assert disagreement(*row) == ""
    verifier, review = verifier_of(desk.db, "01_a"), review_of(desk.db, "01_a")
    assert verifier is not None
    assert review is not None
    assert is_in_order(desk.docket(), verifier, review)


def is_in_order(docket: Docket, verifier: PlannedNode, review: PlannedNode) -> bool:
    """No review stands whose verifier is open: they go back together."""
    is_open = verifier.standing.status in {Status.PENDING, Status.RUNNING}
    return not is_open or review_again(docket, "01_a") == []
