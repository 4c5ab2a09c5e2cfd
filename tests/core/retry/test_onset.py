"""Where a test began to fail: the search by halves, over every small world."""

from __future__ import annotations

from itertools import product

import pytest

from agent_fox.core.retry.onset import Onset, Search, Seen, look, most_runs, narrowed, searched

P, S, F, X = Seen.PASSED, Seen.SAME, Seen.OTHER, Seen.SKIPPED


def found(world: str) -> tuple[Search, int]:
    """What the search comes to in a world, a letter a state, and how many runs it took beside skipped ones."""
    kinds = {"p": P, "s": S, "o": F, "x": X}
    search, seen = searched(len(world) - 1, lambda state: kinds[world[state]])
    return search, sum(what is not X for what in seen.values())


@pytest.mark.parametrize(
    ("world", "onset", "first_bad", "skipped"),
    [
        ("pppsss", Onset.FOUND, 3, ()),
        ("oooss", Onset.FOUND, 3, ()),  # before its code was written it failed otherwise
        ("xxxss", Onset.FOUND, 3, (1, 2)),  # it could not even be collected
        ("opps", Onset.FOUND, 3, ()),
        ("ppxs", Onset.FOUND, 3, (2,)),
        ("psss", Onset.FOUND, 1, ()),
        ("ppos", Onset.FOUND, 2, ()),  # it had passed: failing otherwise is failing too
        ("ssss", Onset.FROM_START, None, ()),
        ("s", Onset.FROM_START, None, ()),
        ("pp", Onset.ELSEWHERE, None, ()),
        ("po", Onset.ELSEWHERE, None, ()),
        ("px", Onset.ELSEWHERE, None, ()),
    ],
)
def test_the_onset_is_the_first_state_that_fails_as_the_last_one_does(
    world: str, onset: Onset, first_bad: int | None, skipped: tuple[int, ...]
) -> None:
    search, _ = found(world)
    assert (search.onset, search.first_bad, search.skipped, search.next) == (onset, first_bad, skipped, None)


def test_in_every_small_world_with_one_break_it_is_exact_within_the_runs_that_are_promised() -> None:
    for length in range(2, 40):
        for at in range(1, length):
            for before in "po":
                search, runs = found(before * at + "s" * (length - at))
                assert (search.first_bad, search.skipped) == (at, ())
                assert runs <= most_runs(length - 1)


def test_the_runs_that_are_promised_are_those_of_halving_and_two() -> None:
    assert [most_runs(last) for last in (0, 1, 2, 3, 4, 5, 8, 9, 100)] == [1, 2, 3, 4, 4, 5, 5, 6, 9]


def test_states_that_cannot_be_run_cost_no_promised_run_and_never_hide_that_the_onset_is_unsure() -> None:
    for states in product("px", repeat=4):
        for bad in product("sx", repeat=3):
            world = "p" + "".join(states) + "".join(bad) + "s"
            search, runs = found(world)
            assert search.onset is Onset.FOUND
            assert runs <= most_runs(len(world) - 1)
            true = len(states) + 1
            assert search.first_bad == true or true in search.skipped


def test_every_world_of_five_states_is_decided_and_names_a_state_that_fails() -> None:
    for world in map("".join, product("psox", repeat=5)):
        search, _ = found(world)
        assert search.next is None
        if search.onset is Onset.FOUND:
            assert world[search.first_bad or 0] in "so"
            assert world[-1] == "s"
            assert world[0] != "s"


@pytest.mark.parametrize(
    ("alone", "first_bad", "skipped"),
    [
        ("ps", 4, ()),
        ("sp", 3, ()),
        ("pp", 5, ()),
        ("xp", 5, (3,)),
        ("xs", 4, ()),
        ("oo", 5, ()),
        ("", 5, (3, 4)),
    ],
)
def test_what_skipped_steps_do_alone_over_the_last_good_state_tells_them_apart(
    alone: str, first_bad: int, skipped: tuple[int, ...]
) -> None:
    search, _ = found("pppxxs")
    kinds = {"p": P, "s": S, "o": F, "x": X}
    decided = narrowed(search, {3 + place: kinds[letter] for place, letter in enumerate(alone)})
    assert (decided.first_bad, decided.skipped) == (first_bad, skipped)


def test_a_search_that_may_not_run_more_is_left_undecided() -> None:
    search, seen = searched(8, lambda state: P if state < 5 else S, most=3)
    assert (search.onset, search.next, len(seen)) == (None, 6, 3)


def test_the_last_state_is_asked_first_and_an_answer_that_is_known_is_not_asked_for() -> None:
    assert look(4, {}).next == 4
    assert look(4, {4: S}).next == 0
    assert look(4, {4: S, 0: P}).next == 2
    assert look(0, {}).next == 0
