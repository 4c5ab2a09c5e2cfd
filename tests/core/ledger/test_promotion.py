"""What an event does to the gates of a spec, in every small world."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import pytest

from agent_fox.core.ledger.gates import HIGHEST, TRANSITIONS, Gate, Role
from agent_fox.core.ledger.promotion import (
    PASSED_TESTS,
    Promotion,
    changes_requested,
    failed,
    proved,
    proven,
    resubmitted,
    reviewed,
)

WORLDS = [dict(zip(("A", "B"), both, strict=True)) for both in product(Gate, Gate)]


def after(gates: dict[str, Gate], moves: tuple[Promotion, ...]) -> dict[str, Gate]:
    """The gates once the moves are made, each from where the gate then stands."""
    found = dict(gates)
    for move in moves:
        assert move.start is found.get(move.requirement_id)
        assert move.role in TRANSITIONS[move.start, move.finish]
        found[move.requirement_id] = move.finish
    return found


def test_a_sound_report_leaves_what_passed_at_tested_or_beyond() -> None:
    found = [after(gates, proven(gates, ["A"])) for gates in WORLDS]
    assert found == [{**gates, "A": gates["A"] if gates["A"] in PASSED_TESTS else Gate.TESTED} for gates in WORLDS]


def test_a_failing_reading_rejects_what_had_been_tested_and_nothing_else() -> None:
    found = [after(gates, failed(gates, ["A"], "no")) for gates in WORLDS]
    assert found == [{**gates, "A": Gate.REJECTED if gates["A"] in PASSED_TESTS else gates["A"]} for gates in WORLDS]


@pytest.mark.parametrize("role", [Role.BUILDER, Role.PERSON])
def test_what_is_handed_in_again_is_proposed_and_no_more(role: Role) -> None:
    for gates in WORLDS:
        moves = resubmitted(gates, role, "again")
        assert {move.finish for move in moves} <= set(HIGHEST[Role.BUILDER]), gates
        assert Gate.REJECTED not in after(gates, moves).values(), gates
        rejected = {part for part, at in gates.items() if at is Gate.REJECTED}
        assert {move.requirement_id for move in moves} == rejected, gates


@pytest.mark.parametrize("needs_proof", [False, True])
def test_a_review_takes_further_what_was_tested_and_accepts_only_without_need_of_a_proof(needs_proof: bool) -> None:
    found = [after(gates, reviewed(gates, needs_proof=needs_proof)) for gates in WORLDS]
    end = Gate.REVIEWED if needs_proof else Gate.ACCEPTED
    taken = {Gate.TESTED, Gate.REVIEWED} if needs_proof else {Gate.TESTED, Gate.REVIEWED, Gate.WAIVED}
    assert found == [{part: end if was in taken else was for part, was in gates.items()} for gates in WORLDS]


@pytest.mark.parametrize("required", [Gate.TESTED, Gate.REVIEWED, Gate.PROVED])
def test_a_waiver_of_a_review_or_a_proof_outlives_tests_that_pass(required: Gate) -> None:
    found = after({"A": Gate.WAIVED}, proven({"A": Gate.WAIVED}, ["A"], required))
    assert found == {"A": Gate.TESTED if required is Gate.TESTED else Gate.WAIVED}


def test_findings_reject_what_they_name() -> None:
    found = [after(gates, changes_requested(gates, ["A", "elsewhere"], "why")) for gates in WORLDS]
    assert found == [{**gates, "A": Gate.REJECTED if gates["A"] in PASSED_TESTS else gates["A"]} for gates in WORLDS]


def test_only_what_was_reviewed_can_be_proved() -> None:
    found = [after(gates, proved(gates, ["A", "B"], "by a solver")) for gates in WORLDS]
    taken = {Gate.REVIEWED, Gate.ACCEPTED}
    assert found == [{part: Gate.ACCEPTED if was in taken else was for part, was in gates.items()} for gates in WORLDS]


def moved(start: Gate, finish: Gate, role: Role, reason: str) -> Promotion:
    return Promotion("A", start, finish, role, reason)


TESTED = "everything that its spec expects passed or is waived"


@pytest.mark.parametrize(
    ("moves", "told"),
    [
        (lambda: proven({"A": Gate.PROPOSED}, ["A"]), (moved(Gate.PROPOSED, Gate.TESTED, Role.EVALUATOR, TESTED),)),
        (
            lambda: proven({"A": Gate.WAIVED}, ["A"]),
            (
                moved(Gate.WAIVED, Gate.PROPOSED, Role.ENGINE, "it passes, so that its waiver is over"),
                moved(Gate.PROPOSED, Gate.TESTED, Role.EVALUATOR, TESTED),
            ),
        ),
        (
            lambda: proven({"A": Gate.REJECTED}, ["A"]),
            (
                moved(Gate.REJECTED, Gate.PROPOSED, Role.ENGINE, "it was read again, and passes"),
                moved(Gate.PROPOSED, Gate.TESTED, Role.EVALUATOR, TESTED),
            ),
        ),
        (
            lambda: failed({"A": Gate.TESTED}, ["A"], "it fails"),
            (moved(Gate.TESTED, Gate.REJECTED, Role.EVALUATOR, "it fails"),),
        ),
        (
            lambda: resubmitted({"A": Gate.REJECTED}, Role.BUILDER, "new work"),
            (moved(Gate.REJECTED, Gate.PROPOSED, Role.BUILDER, "new work"),),
        ),
        (
            lambda: reviewed({"A": Gate.TESTED}, needs_proof=False),
            (
                moved(Gate.TESTED, Gate.REVIEWED, Role.REVIEWER, "the final reviewer found nothing critical"),
                moved(Gate.REVIEWED, Gate.ACCEPTED, Role.REVIEWER, "no proof is required"),
            ),
        ),
        (
            lambda: reviewed({"A": Gate.WAIVED}, needs_proof=False),
            (moved(Gate.WAIVED, Gate.ACCEPTED, Role.ENGINE, "its spec was accepted, with its waiver"),),
        ),
        (
            lambda: changes_requested({"A": Gate.REVIEWED}, ["A"], "no test"),
            (moved(Gate.REVIEWED, Gate.REJECTED, Role.REVIEWER, "no test"),),
        ),
        (
            lambda: proved({"A": Gate.REVIEWED}, ["A"], "by z3"),
            (
                moved(Gate.REVIEWED, Gate.PROVED, Role.FORMAL, "by z3"),
                moved(Gate.PROVED, Gate.ACCEPTED, Role.FORMAL, "what was required is proved"),
            ),
        ),
    ],
)
def test_every_move_says_who_made_it_and_why(
    moves: Callable[[], tuple[Promotion, ...]], told: tuple[Promotion, ...]
) -> None:
    assert moves() == told
