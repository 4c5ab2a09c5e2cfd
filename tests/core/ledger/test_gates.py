"""The table of promotion gates: every pair of states with every role, and what the roles can never do."""

from __future__ import annotations

from itertools import product

import pytest

from agent_fox.core.ledger.gates import ENOUGH, HIGHEST, TRANSITIONS, Forbidden, Gate, Role, is_enough, step, ways

G, R = Gate, Role
EVERYTHING = tuple(product(Gate, Gate, Role))
PIPELINE = {
    (G.PROPOSED, G.TESTED),
    (G.TESTED, G.REVIEWED),
    (G.REVIEWED, G.PROVED),
    (G.REVIEWED, G.REJECTED),
    (G.PROVED, G.ACCEPTED),
    (G.REJECTED, G.PROPOSED),
    (G.TESTED, G.REJECTED),
    (G.PROVED, G.WAIVED),
    (G.WAIVED, G.ACCEPTED),
}
"""The pipeline as it was first drawn."""
BEYOND_TESTED = {G.REVIEWED, G.PROVED, G.ACCEPTED}


def moves(role: Role) -> set[tuple[Gate, Gate]]:
    return {pair for pair, roles in TRANSITIONS.items() if role in roles}


def test_every_pair_of_states_and_every_role_is_either_in_the_table_or_forbidden() -> None:
    allowed = {(start, finish, role) for (start, finish), roles in TRANSITIONS.items() for role in roles}
    assert {one for one in EVERYTHING if is_taken(*one)} == allowed


def is_taken(start: Gate, finish: Gate, role: Role) -> bool:
    try:
        return step(start, finish, role) is finish
    except Forbidden:
        return False


def test_the_pipeline_as_it_was_drawn_is_in_the_table() -> None:
    assert set(TRANSITIONS) >= PIPELINE


def test_a_builder_never_takes_a_gate_beyond_proposed() -> None:
    assert moves(R.BUILDER) == {(G.REJECTED, G.PROPOSED)}


def test_an_evaluator_never_takes_a_gate_beyond_tested() -> None:
    assert {finish for _, finish in moves(R.EVALUATOR)} == {G.TESTED, G.REJECTED}


def test_only_a_reviewer_or_the_formal_lane_goes_beyond_tested_save_where_a_waiver_was_signed() -> None:
    for (start, finish), roles in TRANSITIONS.items():
        if finish in BEYOND_TESTED and start is not G.WAIVED:
            assert set(roles) <= {R.REVIEWER, R.FORMAL}


def test_only_the_formal_lane_proves_and_only_what_was_reviewed() -> None:
    found = {start: roles for (start, finish), roles in TRANSITIONS.items() if finish is G.PROVED}
    assert G.REVIEWED in found
    assert set(found) <= {G.REVIEWED, G.ACCEPTED}
    assert set(found.values()) == {(R.FORMAL,)}


def test_only_a_person_waives_and_may_do_it_before_a_gate_is_accepted() -> None:
    found = {start: roles for (start, finish), roles in TRANSITIONS.items() if finish is G.WAIVED}
    assert found == dict.fromkeys((G.PROPOSED, G.TESTED, G.REVIEWED, G.PROVED, G.REJECTED), (R.PERSON,))


def test_the_engine_takes_no_gate_further_than_a_waiver_allows() -> None:
    back = {(gate, G.PROPOSED) for gate in (G.WAIVED, G.ACCEPTED, G.REJECTED)}
    assert moves(R.ENGINE) == {(G.WAIVED, G.ACCEPTED), *back}


def test_rejection_returns_to_proposed_and_is_no_sink() -> None:
    assert set(ways(G.REJECTED)) == {G.PROPOSED, G.WAIVED}
    assert all(ways(gate) for gate in Gate)


def test_no_change_leads_to_where_it_began() -> None:
    assert [pair for pair in TRANSITIONS if pair[0] is pair[1]] == []


def test_what_a_role_can_never_pass_agrees_with_the_table() -> None:
    for role, highest in HIGHEST.items():
        assert {finish for _, finish in moves(role)} <= set(highest)


def test_the_higher_the_demand_the_fewer_gates_satisfy_it() -> None:
    assert ENOUGH[G.PROVED] < ENOUGH[G.REVIEWED] < ENOUGH[G.TESTED]
    assert not ENOUGH[G.TESTED] & {G.PROPOSED, G.REJECTED}


def test_a_gate_is_enough_where_it_came_to_what_is_required() -> None:
    for required, state in product(ENOUGH, Gate):
        expected = state in ENOUGH[required]
        assert is_enough(required, state, was_proved=True) is expected
        is_short = (required, state) == (G.PROVED, G.ACCEPTED)
        assert is_enough(required, state, was_proved=False) is (expected and not is_short)


@pytest.mark.parametrize(
    ("start", "finish", "role", "why"),
    [
        (
            *(G.PROPOSED, G.ACCEPTED, R.REVIEWER),
            "a gate cannot go from proposed to accepted; from proposed it can go to tested, waived",
        ),
        (
            *(G.TESTED, G.REJECTED, R.BUILDER),
            "tested to rejected is not for a builder: evaluator or reviewer moves it",
        ),
        (*(G.PROPOSED, G.TESTED, R.BUILDER), "proposed to tested is not for a builder: evaluator moves it"),
    ],
)
def test_what_is_forbidden_says_what_is_possible(start: Gate, finish: Gate, role: Role, why: str) -> None:
    with pytest.raises(Forbidden) as said:
        step(start, finish, role)
    assert str(said.value) == why
