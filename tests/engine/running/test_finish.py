"""What a run may claim at its end."""

from __future__ import annotations

import pytest

from agent_fox.core.ids import Archetype
from agent_fox.core.ledger.gates import Gate
from agent_fox.core.retry.standing import Outcome, Standing, Status
from agent_fox.engine.record.board import Board
from agent_fox.engine.record.ending import RunExit
from agent_fox.engine.running.finish import Shortfall, claim
from tests.engine.record.test_board import edge, planned

DONE = Standing("a:1", Status.COMPLETED, Outcome.LANDED)


def board_of(outcome: Outcome | None, status: Status = Status.COMPLETED) -> Board:
    board = Board([planned("a:1", 0), planned("a:v", 1, Archetype.VERIFIER)], [edge("a:1", "a:v")])
    board.stand("a:1", DONE)
    board.stand("a:v", Standing("a:v", status, outcome))
    return board


@pytest.mark.parametrize("outcome", [Outcome.VERIFIED, Outcome.WAIVED])
def test_a_run_is_proven_when_every_verifier_is_verified_or_waived(outcome: Outcome) -> None:
    assert claim(board_of(outcome), ()).exit is RunExit.PROVEN


def test_an_escalated_or_blocked_verifier_is_not_proven_and_is_named() -> None:
    for board in (board_of(Outcome.ESCALATED), board_of(None, Status.BLOCKED)):
        stop = claim(board, ())
        assert (stop.exit, stop.reason) == (RunExit.NOT_PROVEN, "not proven: a")


def test_a_spec_that_was_left_out_counts_as_not_proven() -> None:
    stop = claim(board_of(Outcome.VERIFIED), ("b",))
    assert (stop.exit, stop.reason) == (RunExit.NOT_PROVEN, "not proven: b")


def test_what_is_verified_and_not_more_is_named_with_its_gate_and_what_was_asked_for() -> None:
    short = (Shortfall("a", "1", Gate.TESTED), Shortfall("a", "2", Gate.TESTED), Shortfall("a", "3", Gate.REJECTED))
    stop = claim(board_of(Outcome.VERIFIED), (), short, Gate.REVIEWED)
    said = "not proven: a; a is tested, not reviewed, in 1, 2; a is rejected, not reviewed, in 3"
    assert (stop.exit, stop.reason) == (RunExit.NOT_PROVEN, said)


def test_what_is_not_proved_is_named_with_the_reason_and_what_to_do() -> None:
    short = tuple(Shortfall("a", str(number), Gate.REVIEWED, "no contract") for number in range(1, 8))
    reason = claim(board_of(Outcome.VERIFIED), (), short, Gate.PROVED).reason
    assert "1 (no contract), 2 (no contract)" in reason
    assert "5 (no contract) and 2 more" in reason
    assert reason.endswith("correct the code or the contract, waive the requirement, or lower [policy] required_state")


def test_without_a_verifier_nothing_is_proven() -> None:
    board = Board([planned("a:1", 0)], [])
    board.stand("a:1", DONE)
    assert claim(board, ()).exit is RunExit.NOT_PROVEN


def test_a_stalled_run_cannot_go_on_and_names_what_waits() -> None:
    board = Board([planned("a:1", 0), planned("a:2", 1), planned("a:v", 2, Archetype.VERIFIER)], [edge("a:1", "a:2")])
    board.stand("a:1", Standing("a:1", Status.BLOCKED))
    board.stand("a:v", Standing("a:v", Status.COMPLETED, Outcome.VERIFIED))
    stop = claim(board, ())
    assert (stop.exit, stop.reason) == (
        RunExit.CANNOT_GO_ON,
        "stalled: nothing runs, but 1 node(s) wait, such as a:2",
    )
