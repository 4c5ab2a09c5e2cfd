"""Which trials are made, in which order, and what they come to. Every small world of effects is tried."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product

import pytest

from agent_fox.core.verdicts.known import How
from agent_fox.core.verdicts.proof import (
    LONGEST_TOLD,
    MOST_FUNCTIONS,
    MOST_TRIED,
    Before,
    Effect,
    Place,
    Shown,
    Trial,
    Trials,
    Tried,
    bounded,
    killed_by,
    next_trial,
    shown,
    shown_by_data,
    shown_untried,
    takes_any_error,
)

K, U, C, V = Effect.KILLED, Effect.UNNOTICED, Effect.CRASHED, Effect.VOID


def value(number: int, file: str = "a.py", *, is_changed: bool = False) -> Place:
    return Place(file, number, f"f{number}", number, is_value=True, is_changed=is_changed)


def spot(number: int, file: str = "a.py") -> Place:
    return Place(file, number, "f", number)


def played(places: Sequence[Place], answer: Callable[[tuple[Place, ...]], Effect]) -> list[Trial]:
    """All trials, where a group does what `answer` says."""
    trials: list[Trial] = []
    while group := next_trial(places, trials):
        assert group not in [trial.places for trial in trials], "a trial is made once"
        trials.append(Trial(group, answer(group)))
    return trials


def by_one(effects: dict[Place, Effect]) -> Callable[[tuple[Place, ...]], Effect]:
    """A group is as loud as its loudest: what is broken together with other things is no quieter."""
    return lambda group: max((effects[place] for place in group), key=[U, V, C, K].index)


def test_what_a_function_of_the_change_returns_is_changed_first() -> None:
    places = [spot(0), value(1), value(2, is_changed=True)]
    assert next_trial(places, []) == (places[2],)


def test_at_most_three_functions_are_tried_by_themselves_and_then_all_that_is_left() -> None:
    places = [value(number) for number in range(6)]
    trials = played(places, lambda _: U)
    assert [len(trial.places) for trial in trials] == [1] * MOST_FUNCTIONS + [3]
    assert shown(Before.GREEN, places, trials) is Shown.VACUOUS


def test_files_are_broken_one_after_the_other() -> None:
    places = [spot(0, "a.py"), spot(1, "b.py"), spot(2, "a.py")]
    assert [trial.places for trial in played(places, lambda _: U)] == [(places[0], places[2]), (places[1],)]


def test_a_group_that_is_noticed_is_halved_until_one_place_is_killed() -> None:
    places = [spot(number) for number in range(16)]
    trials = played(places, lambda group: K if places[11] in group else U)
    assert [len(trial.places) for trial in trials] == [16, 8, 8, 4, 2, 2, 1, 1]
    killed = killed_by(trials)
    assert killed is not None
    assert killed.places == (places[11],)


def test_one_kill_is_enough_and_ends_it() -> None:
    places = [value(0), value(1), spot(2)]
    trials = played(places, lambda group: K if group == (places[0],) else U)
    assert len(trials) == 1
    assert shown(Before.RED, places, trials) is Shown.DISCRIMINATES
    assert shown(Before.GREEN, places, trials) is Shown.ALREADY_TRUE
    assert shown(Before.UNKNOWN, places, trials) is Shown.DISCRIMINATES


@pytest.mark.parametrize("count", [1, 2, 3, 4])
def test_every_small_world_of_effects_ends_with_its_word(count: int) -> None:
    places = [spot(number) for number in range(count)]
    for effects in product([K, U, C, V], repeat=count):
        trials = played(places, by_one(dict(zip(places, effects, strict=True))))
        word = shown(Before.RED, places, trials)
        if K in effects:
            assert word is Shown.DISCRIMINATES, effects
        elif V in effects:
            assert word is Shown.UNDECIDED, effects
        else:
            assert word is Shown.VACUOUS, effects


ONLY = Place("a.py", 0, "f", 1, is_only_error=True)
OTHER = Place("a.py", 1, "f", 1, is_other_error=True)
OF_ANOTHER = Place("a.py", 2, "g", 5, is_other_error=True)


@pytest.mark.parametrize(
    ("only", "other", "word"),
    [
        (K, K, Shown.DISCRIMINATES),
        (K, C, Shown.DISCRIMINATES),
        (K, U, Shown.UNDECIDED),
        (K, V, Shown.UNDECIDED),
        (U, K, Shown.DISCRIMINATES),
        (C, C, Shown.VACUOUS),
        (U, C, Shown.VACUOUS),
        (V, C, Shown.UNDECIDED),
        (U, U, Shown.VACUOUS),
    ],
)
def test_who_misses_the_only_error_must_tell_it_from_another(only: Effect, other: Effect, word: Shown) -> None:
    for places in ([ONLY, OTHER], [OTHER, ONLY]):
        trials = played(places, by_one({ONLY: only, OTHER: other}))
        assert shown(Before.RED, places, trials) is word
        assert takes_any_error(trials) is (word not in (Shown.DISCRIMINATES,) and only is K)


def test_another_error_of_another_function_tells_nothing_of_this_one() -> None:
    places = [ONLY, OTHER, OF_ANOTHER]
    trials = played(places, by_one({ONLY: K, OTHER: U, OF_ANOTHER: C}))
    assert shown(Before.RED, places, trials) is Shown.UNDECIDED


def test_an_only_error_for_which_no_other_is_known_shows_nothing_by_itself() -> None:
    trials = played([ONLY], lambda _: K)
    assert shown(Before.RED, [ONLY], trials) is Shown.UNDECIDED
    assert killed_by(trials) is None


def test_two_thousand_places_of_which_none_is_noticed_cost_one_run() -> None:
    places = [spot(number) for number in range(2000)]
    assert len(played(places, lambda _: U)) == 1


def test_where_every_group_shows_nothing_it_ends_undecided() -> None:
    places = [spot(number) for number in range(2000)]
    trials = played(places, lambda _: V)
    assert len(trials) <= 40
    assert shown(Before.RED, places, trials) is Shown.UNDECIDED


def test_a_word_before_the_last_trial_is_a_mistake_of_the_caller() -> None:
    with pytest.raises(ValueError, match=r"^not decided yet$"):
        shown(Before.RED, [spot(0)], [])


@pytest.mark.parametrize(
    ("before", "without", "emptied", "word"),
    [
        (Before.RED, K, K, Shown.TAKEN_BACK),
        (Before.RED, K, U, Shown.PRESENCE_ONLY),
        (Before.RED, None, None, Shown.TAKEN_BACK),
        (Before.UNKNOWN, K, K, Shown.TAKEN_BACK),
        (Before.RED, U, U, Shown.TAKEN_BACK),
        (Before.GREEN, K, K, Shown.ALREADY_TRUE),
        (Before.GREEN, K, U, Shown.PRESENCE_ONLY),
        (Before.GREEN, U, U, Shown.VACUOUS),
        (Before.GREEN, None, None, Shown.VACUOUS),
        (Before.UNKNOWN, V, V, Shown.UNDECIDED),
        (Before.GREEN, V, V, Shown.UNDECIDED),
    ],
)
def test_a_test_that_reads_a_file_must_miss_it(
    before: Before, without: Effect | None, emptied: Effect | None, word: Shown
) -> None:
    assert shown_by_data(before, without, emptied) is word


def test_the_words_that_let_a_pass_stand_are_ways_to_know_and_the_others_are_none() -> None:
    assert {word: word.how for word in Shown} == {
        Shown.DISCRIMINATES: How.RED_WITHOUT,
        Shown.ALREADY_TRUE: How.ALREADY_TRUE,
        Shown.NOT_SHOWN: How.NOT_SHOWN,
        Shown.PRESENCE_ONLY: How.PRESENCE_ONLY,
        Shown.TAKEN_BACK: How.TAKEN_BACK,
        Shown.VACUOUS: None,
        Shown.UNDECIDED: None,
    }


def test_where_nothing_can_be_broken_what_it_was_before_decides() -> None:
    assert {before: shown_untried(before) for before in Before} == {
        Before.RED: Shown.TAKEN_BACK,
        Before.GREEN: Shown.NOT_SHOWN,
        Before.UNKNOWN: Shown.UNDECIDED,
    }


def test_the_place_that_was_broken_alone_and_noticed_is_the_first_that_has_a_line() -> None:
    unnoticed, no_line = Tried("broken", "unnoticed", line=3), Tried("false twin", "killed")
    killed = Tried("broken", "killed", "the value", "a.py", 4, "t")
    trials = Trials(
        "discriminates", "red", "b", 5, False, (unnoticed, no_line, killed, Tried("broken", "killed", line=9))
    )
    assert trials.killed == killed
    assert Trials("vacuous", "red", "b", 5, False, (unnoticed, no_line)).killed is None


@pytest.mark.parametrize(("count", "left_out"), [(0, 0), (1, 0), (MOST_TRIED - 1, 0), (MOST_TRIED, 0), (40, 10)])
def test_of_many_trials_the_first_are_kept_and_the_last_which_decided_it(count: int, left_out: int) -> None:
    tried = [Tried("broken", "unnoticed", line=number) for number in range(count)]
    kept = tried if not left_out else [*tried[: MOST_TRIED - 1], tried[-1]]
    assert bounded(tried) == (tuple(kept), left_out)


def test_a_trial_is_kept_with_its_texts_cut() -> None:
    most, cut = "x" * LONGEST_TOLD, "x" * (LONGEST_TOLD - 1) + "\N{HORIZONTAL ELLIPSIS}"
    assert bounded([Tried("broken", "killed", f"{most}y", most, 7, f"{most}yy")]) == (
        (Tried("broken", "killed", cut, most, 7, cut),),
        0,
    )
