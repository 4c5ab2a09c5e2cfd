"""Where a node stands, as the fold of what was decided about it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_fox.core.ids import Ticket, parse_node_name
from agent_fox.core.retry.standing import (
    LEGAL,
    TRANSITIONS,
    IllegalTransition,
    Outcome,
    Standing,
    Status,
    Step,
    evolve,
    first_standing,
    fold,
)

FIRST = first_standing("n")


def test_a_node_begins_at_its_first_attempt_and_reading() -> None:
    assert FIRST.ticket == Ticket("n", 1, 1)
    assert (FIRST.attempts_spent, FIRST.readings_spent, FIRST.is_settled) == (1, 1, False)


def test_a_ticked_group_has_tried_nothing_and_a_fail_launches_it_for_the_first_time() -> None:
    ticked = first_standing("n", is_ticked=True)
    assert (ticked.status, ticked.outcome, ticked.attempts_spent) == (Status.COMPLETED, Outcome.TICKED, 0)
    assert evolve(ticked, Step.RECODE, 0).ticket == Ticket("n", 1, 1)


def test_a_recode_is_a_new_attempt_with_a_first_reading() -> None:
    standing = fold(FIRST, [(Step.REREAD, None), (Step.RECODE, 1)])
    assert (standing.ticket, standing.readings_spent, standing.rung) == (Ticket("n", 2, 1), 1, 1)


def test_a_reread_is_another_reading_of_the_same_attempt() -> None:
    standing = evolve(FIRST, Step.REREAD)
    assert (standing.ticket, standing.attempts_spent, standing.readings_spent) == (Ticket("n", 1, 2), 1, 2)
    assert (standing.rung, evolve(FIRST, Step.REREAD, 2).rung) == (0, 2)


def test_reopening_counts_readings_on_and_renews_their_budget() -> None:
    standing = fold(FIRST, [(Step.REREAD, None), (Step.ACCEPT, None), (Step.REOPEN, None)])
    assert (standing.ticket, standing.readings_spent, standing.attempts_spent) == (Ticket("n", 1, 3), 1, 1)


def test_a_reset_is_a_new_attempt_on_a_new_budget() -> None:
    standing = fold(FIRST, [(Step.RETRY, 0), (Step.RETRY, 0), (Step.BLOCK, None), (Step.RESET, None)])
    assert (standing.attempt, standing.attempts_spent, standing.status) == (4, 1, Status.PENDING)


def test_a_reviewers_finding_gives_a_new_attempt_without_charging_the_coder() -> None:
    standing = fold(FIRST, [(Step.LAND, None), (Step.SEND_BACK, None)])
    assert (standing.attempt, standing.attempts_spent, standing.status) == (2, 1, Status.PENDING)


def test_a_node_enters_the_plan_as_pending_under_its_uid() -> None:
    assert first_standing("n") == Standing("n", Status.PENDING, None, 1, 1, 0, 0, 0)


def test_whoever_goes_back_begins_with_a_first_reading_on_a_whole_budget() -> None:
    read_again = Standing("n", Status.COMPLETED, Outcome.LANDED, attempt=2, reading=4, reading_base=3, rung=1)
    assert evolve(read_again, Step.RECODE) == Standing("n", attempt=3, reading=1, reading_base=0, rung=1)
    assert evolve(read_again, Step.SEND_BACK) == Standing("n", attempt=3, attempt_base=1, reading=1, rung=1)


def test_a_reset_goes_back_to_the_first_rung() -> None:
    climbed = Standing("n", Status.BLOCKED, attempt=3, reading=4, reading_base=3, rung=2)
    assert evolve(climbed, Step.RESET) == Standing("n", attempt=4, attempt_base=3, rung=0)


def test_renewing_changes_the_budget_and_nothing_else() -> None:
    landed = fold(FIRST, [(Step.RETRY, 2), (Step.LAND, None)])
    renewed = evolve(landed, Step.RENEW)
    assert (renewed.attempts_spent, renewed.status, renewed.outcome, renewed.rung) == (
        0,
        Status.COMPLETED,
        Outcome.LANDED,
        2,
    )


def test_a_lifted_block_waits_for_the_same_ticket() -> None:
    standing = fold(FIRST, [(Step.BLOCK, None), (Step.LIFT, None)])
    assert standing == FIRST


@pytest.mark.parametrize("step", [Step.LAND, Step.ACCEPT, Step.ESCALATE, Step.RETRY, Step.REREAD, Step.BLOCK])
def test_what_is_settled_cannot_be_settled_again(step: Step) -> None:
    for settled in (evolve(FIRST, Step.LAND), evolve(FIRST, Step.BLOCK), evolve(FIRST, Step.WITHDRAW)):
        with pytest.raises(IllegalTransition, match="is not possible while"):
            evolve(settled, step)


def test_a_block_is_lifted_or_reset_or_sent_back_and_never_completed() -> None:
    leaves = {end for start, end in LEGAL if start is Status.BLOCKED}
    assert leaves == {Status.PENDING, Status.WITHDRAWN}


def test_every_step_but_renew_has_its_row() -> None:
    assert set(TRANSITIONS) == set(Step) - {Step.RENEW}


def test_verified_and_waived_are_proven_and_escalated_is_not() -> None:
    proven = {outcome for outcome in Outcome if Standing("n", Status.COMPLETED, outcome).is_proven}
    assert proven == {Outcome.VERIFIED, Outcome.WAIVED}


@given(st.lists(st.sampled_from(list(Step)), max_size=12))
def test_tickets_never_go_back_and_never_repeat(steps: list[Step]) -> None:
    standing = FIRST
    seen = [standing.ticket]
    for step in steps:
        try:
            standing = evolve(standing, step)
        except IllegalTransition:
            continue
        assert standing.ticket >= seen[-1]
        seen.append(standing.ticket)
        assert (standing.outcome is not None) == (standing.status is Status.COMPLETED)


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("04_gateway:3", "04_gateway:3"),
        ("04_gateway:0:reviewer:pre-review", "04_gateway:0:reviewer:pre-review"),
        ("04_gateway:2:auditor", "04_gateway:2:reviewer:audit-review"),
        (" 04_gateway:0:verifier ", "04_gateway:0:verifier"),
    ],
)
def test_node_names_are_read_and_written(text: str, written: str) -> None:
    assert str(parse_node_name(text)) == written


@pytest.mark.parametrize("text", ["", "04_gateway", "04_gateway:x", "a:1:b:c:d", ":1"])
def test_what_is_no_node_name_is_refused_with_the_form(text: str) -> None:
    with pytest.raises(ValueError, match="SPEC:GROUP"):
        parse_node_name(text)
