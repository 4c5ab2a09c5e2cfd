"""Which arm is chosen, case by case; the numbers are worked out by hand."""

from __future__ import annotations

from dataclasses import dataclass, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_fox.core.policy import Start
from agent_fox.core.retry.arms import (
    Arm,
    ByWorth,
    Case,
    Chances,
    Choice,
    Cost,
    History,
    Stage,
    Try,
    choose,
    expected_of,
    posterior,
    stage_of,
    weighed,
)

CHANCES = Chances(4.0, (0.10, 0.05), (0.25, 0.20), {Start.BEST: 1.2})
WEAK, STRONG, FOREIGN = "claude:small", "codex:large", "gemini:other"
TIP, BEST, ONSET = Start.TIP, Start.BEST, Start.BEFORE_ONSET
SAME_COST = {WEAK: Cost(1.0, 3), STRONG: Cost(1.0, 3)}
TWO = Case((WEAK, STRONG), (WEAK,), 20.0)


def seen(agent: str, passed: int, tried: int, stage: Stage, start: Start = TIP) -> tuple[Try, ...]:
    return tuple(Try(agent, start, stage, number < passed) for number in range(tried))


NEW, ONCE, TWICE = Stage(True, 1), Stage(False, 1), Stage(False, 2)


@dataclass(frozen=True)
class Example:
    """What is known, and the arm that must come of it, where the ladder would take `ladder`."""

    case: Case
    history: History
    chosen: tuple[int, Start]
    ladder: tuple[int, Start] = (1, TIP)


EXAMPLES = {
    "no history: the prior says another agent": Example(TWO, History(), (1, TIP), ladder=(0, TIP)),
    "one arm tried 50 times without a success": Example(
        TWO, History(seen(STRONG, 0, 50, NEW), SAME_COST), (0, TIP)
    ),
    "an unknown cost counts as the worst known": Example(
        Case((WEAK, STRONG), (WEAK,), 20.0), History((), {WEAK: Cost(0.5, 9)}), (1, TIP)
    ),
    "no cost is known: the chance decides": Example(replace(TWO, assumed_usd=7.0), History(), (1, TIP)),
    "the dear agent is not worth it": Example(
        TWO, History((), {WEAK: Cost(0.1, 9), STRONG: Cost(3.2, 9)}), (0, TIP)
    ),
    "the dear agent is worth it where more is at stake": Example(
        replace(TWO, stake_usd=60.0), History((), {WEAK: Cost(0.1, 9), STRONG: Cost(3.2, 9)}), (1, TIP)
    ),
    "the ladder has one rung": Example(Case((WEAK,), (WEAK,), 20.0), History(), (0, TIP), ladder=(0, TIP)),
    "one rung, two starts": Example(
        Case((WEAK,), (WEAK,), 20.0, (TIP, ONSET)), History(seen(WEAK, 0, 3, ONCE), SAME_COST), (0, ONSET),
        ladder=(0, TIP),
    ),
    "a tie is the ladder's": Example(
        Case((WEAK, WEAK, WEAK), (WEAK,), 20.0), History((), SAME_COST), (2, TIP), ladder=(2, TIP)
    ),
    "a tie without the ladder is the cheaper, then the lower": Example(
        Case((WEAK, STRONG, FOREIGN), (WEAK,), 20.0), History((), dict.fromkeys((WEAK, STRONG, FOREIGN), Cost(1.0, 1))),
        (1, TIP), ladder=(0, TIP),
    ),
    "history of another agent does not count": Example(
        TWO, History(seen(FOREIGN, 0, 50, NEW), {**SAME_COST, FOREIGN: Cost(99.0, 9)}), (1, TIP)
    ),
    "history of another stage does not count": Example(TWO, History(seen(STRONG, 0, 50, TWICE), SAME_COST), (1, TIP)),
    "a forbidden arm is not taken": Example(
        replace(TWO, left_usd=2.0), History((), {WEAK: Cost(1.0, 3), STRONG: Cost(2.5, 3)}), (0, TIP)
    ),
    "all are forbidden: the ladder's": Example(replace(TWO, left_usd=0.0), History((), SAME_COST), (1, TIP)),
    "n is huge": Example(
        TWO, History(seen(WEAK, 4_000, 10_000, ONCE) + seen(STRONG, 3_900, 10_000, NEW), SAME_COST), (0, TIP)
    ),
    "own figures contradict the prior": Example(
        TWO, History(seen(WEAK, 9, 12, ONCE) + seen(STRONG, 1, 12, NEW), SAME_COST), (0, TIP)
    ),
    "the prior prefers the best tree": Example(
        Case((WEAK,), (WEAK,), 20.0, (TIP, BEST)), History((), SAME_COST), (0, BEST), ladder=(0, TIP)
    ),
    "a third attempt: both have failed once, the ladder stays": Example(
        replace(TWO, failed=(WEAK, STRONG)), History((), SAME_COST), (1, TIP)
    ),
    "nothing is worth its cost: the least loss": Example(
        TWO, History((), {WEAK: Cost(50.0, 1), STRONG: Cost(60.0, 1)}), (0, TIP)
    ),
}  # fmt: skip


def chosen(example: Example) -> Choice:
    return choose(example.case, weighed(example.case, CHANCES, example.history), *example.ladder)


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_arm_of_most_worth_is_chosen(name: str) -> None:
    choice = chosen(EXAMPLES[name])
    assert (choice.arm.rung, choice.arm.start) == EXAMPLES[name].chosen


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_same_history_gives_the_same_choice(name: str) -> None:
    example = EXAMPLES[name]
    shuffled = History(tuple(reversed(example.history.tries)), example.history.costs)
    assert chosen(example) == chosen(replace(example, history=shuffled))


def test_a_chance_is_the_mean_of_a_beta_posterior() -> None:
    history = History(seen(STRONG, 3, 8, NEW), SAME_COST)
    arm = weighed(TWO, CHANCES, history)[1]
    assert arm == Arm(1, TIP, STRONG, 0.25, (4 * 0.25 + 3) / (4 + 8), 3, 8, 0, 0, 1.0, 3, round(20 / 3 - 1, 6))


def test_attempts_from_another_start_move_the_prior_and_count_no_further() -> None:
    case = replace(TWO, starts=(TIP, ONSET))
    history = History(seen(STRONG, 0, 1_000, NEW, ONSET), SAME_COST)
    tip, onset = (arm for arm in weighed(case, CHANCES, history) if arm.rung == 1)
    start = (tip, onset)[0] if tip.start is TIP else onset
    assert (start.start, start.tried, start.elsewhere) == (TIP, 0, 1_000)
    assert start.chance == pytest.approx(4 * 0.25 / 504)
    assert posterior(start.chance, [True], 4.0) > 0.2


def test_an_unknown_cost_is_shown_as_such() -> None:
    known, unknown = weighed(TWO, CHANCES, History((), {WEAK: Cost(0.5, 9)}))
    assert (known.cost_usd, known.cost_sessions, unknown.cost_usd, unknown.cost_sessions) == (0.5, 9, 0.5, 0)
    neither = weighed(replace(TWO, assumed_usd=7.0), CHANCES, History())
    assert [(arm.cost_usd, arm.cost_sessions) for arm in neither] == [(7.0, 0), (7.0, 0)]


def test_a_spec_has_its_own_ladder_or_that_of_all() -> None:
    every, own = (WEAK,), (WEAK, STRONG)
    by_worth = ByWorth(20.0, CHANCES, {"": every, "01_calc": own}, {"": 1.0, "01_calc": 2.0})
    assert (by_worth.agents_of("01_calc"), by_worth.assumed_of("01_calc")) == (own, 2.0)
    assert (by_worth.agents_of("02_other"), by_worth.assumed_of("02_other")) == (every, 1.0)


def test_a_choice_holds_all_that_was_weighed_and_for_how_much() -> None:
    arms = weighed(TWO, CHANCES, History((), SAME_COST))
    assert choose(TWO, arms, 0, TIP) == Choice(arms[1], 0, TIP, 20.0, arms)


def test_what_a_ceiling_just_leaves_may_be_spent() -> None:
    exactly = weighed(replace(TWO, left_usd=1.0), CHANCES, History((), SAME_COST))
    assert {arm.forbidden for arm in exactly} == {""}


def test_a_forbidden_arm_says_why() -> None:
    dear = weighed(replace(TWO, left_usd=0.4), CHANCES, History((), SAME_COST))
    assert {arm.forbidden for arm in dear} == {"it would pass a ceiling, which leaves $0.40"}


def test_a_stage_tells_who_is_new_from_who_failed() -> None:
    failed = (WEAK, WEAK, STRONG)
    assert stage_of(WEAK, failed, 4) == Stage(False, 2)
    assert stage_of(STRONG, failed, 4) == Stage(False, 1)
    assert stage_of(FOREIGN, failed, 4) == Stage(True, 3)
    assert stage_of(FOREIGN, failed, 2) == Stage(True, 2)
    assert stage_of(FOREIGN, (), 4) == Stage(True, 1)


def test_the_last_number_of_the_prior_holds_for_all_further_failures() -> None:
    assert CHANCES.stages == 2
    assert CHANCES.of(Stage(False, 2), TIP) == CHANCES.of(Stage(False, 9), TIP) == 0.05
    assert Chances(1.0, (0.9,), (0.9,), {BEST: 2.0}).of(ONCE, BEST) == 0.95


agents = st.lists(st.sampled_from((WEAK, STRONG, FOREIGN)), min_size=1, max_size=3)
attempts = st.builds(
    Try, st.sampled_from((WEAK, STRONG, FOREIGN)), st.sampled_from(Start),
    st.builds(Stage, st.booleans(), st.integers(1, 2)), st.booleans(),
)  # fmt: skip
costs = st.builds(Cost, st.floats(0, 50), st.integers(1, 9))


@given(
    agents, agents, st.lists(attempts, max_size=12), st.dictionaries(st.sampled_from((WEAK, STRONG)), costs),
    st.none() | st.floats(0, 50), st.sets(st.sampled_from(Start), min_size=1), st.floats(0, 100),
)  # fmt: skip
def test_none_that_is_allowed_is_worth_more_and_none_that_is_not_is_taken(
    ladder: list[str], failed: list[str], tries: list[Try], known: dict[str, Cost], left: float | None,
    starts: set[Start], stake: float,
) -> None:  # fmt: skip
    case = Case(tuple(ladder), tuple(failed), stake, tuple(starts), 1.0, left)
    arms = weighed(case, CHANCES, History(tuple(tries), known))
    start = min(starts)
    choice = choose(case, arms, 0, start)
    allowed = [arm for arm in arms if not arm.forbidden]
    assert {(arm.rung, arm.start) for arm in arms} == {(rung, each) for rung in range(len(ladder)) for each in starts}
    assert all(0 < arm.chance < 1 for arm in arms)
    if allowed:
        assert choice.arm.expected_usd == max(arm.expected_usd for arm in allowed)
        assert not choice.arm.forbidden
    else:
        assert choice.is_ladder


def test_of_a_round_all_attempts_must_pass_and_all_are_paid() -> None:
    choice = choose(TWO, weighed(TWO, CHANCES, History((), SAME_COST)), 1, TIP)
    assert expected_of([choice, choice], 20.0) == pytest.approx(0.25 * 0.25 * 20 - 2)


def test_an_arm_is_told_with_attempts_from_elsewhere_and_with_what_forbids_it() -> None:
    case = replace(TWO, starts=(TIP, ONSET), left_usd=0.4)
    history = History(seen(STRONG, 3, 8, NEW) + seen(STRONG, 1, 2, NEW, ONSET), SAME_COST)
    arm = next(arm for arm in weighed(case, CHANCES, history) if (arm.rung, arm.start) == (1, ONSET))
    assert arm.in_words == (
        f"rung 1 from before the onset, chance {arm.chance:.2f} (4 of n = 10 like it passed), "
        "cost $1.00 by 3 sessions; "
        "not allowed: it would pass a ceiling, which leaves $0.40"
    )


def test_it_is_told_in_words_with_its_n() -> None:
    history = History(seen(STRONG, 3, 8, NEW), SAME_COST)
    choice = choose(TWO, weighed(TWO, CHANCES, history), 0, TIP)
    assert choice.in_words == (
        "chosen by worth: rung 1 from the tip, chance 0.33 (3 of n = 8 like it passed), cost $1.00 by 3 sessions "
        "(the ladder: rung 0 from the tip)"
    )
    first = choose(TWO, weighed(replace(TWO, assumed_usd=1.0), CHANCES, History()), 1, TIP)
    assert first.in_words == (
        "chosen by worth: rung 1 from the tip, chance 0.25 (n = 0), cost $1.00 assumed (as the ladder)"
    )
