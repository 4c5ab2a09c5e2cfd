"""Which tree is the best, and when a later one is strictly worse."""

from __future__ import annotations

from itertools import product

import pytest

from agent_fox.core.retry.best import ReadTree, best_of, is_worse, lost, shortfall
from agent_fox.core.verdicts.verdict import Word

LETTERS = {"P": Word.PASS, "F": Word.FAIL, "U": Word.UNKNOWN}
NOTHING: frozenset[str] = frozenset()


def tree(words: str, order: int = 1, change: int = 0) -> ReadTree:
    """`PFU`: a passes, b fails, c is UNKNOWN."""
    return ReadTree(order, dict(zip("abcd", (LETTERS[word] for word in words), strict=False)), change)


def test_a_regression_of_what_was_proven_before_weighs_more_than_passes() -> None:
    kept, regressed = tree("PFFF", 1), tree("FPPP", 2)
    assert best_of([regressed, kept], frozenset("a")) == kept
    assert best_of([regressed, kept], NOTHING) == regressed


@pytest.mark.parametrize(
    ("better", "worse"),
    [
        (tree("PPF", 2), tree("PFF", 1)),
        (tree("PFF", 2), tree("PFU", 1)),
        (tree("PFF", 2, change=3), tree("PFF", 1, change=4)),
        (tree("PFF", 1, change=3), tree("PFF", 2, change=3)),
    ],
    ids=["more pass", "fewer are unknown", "the smaller change", "the earlier one"],
)
def test_then_in_this_order(better: ReadTree, worse: ReadTree) -> None:
    assert best_of([worse, better], NOTHING) == better


def test_a_tree_that_lost_a_pass_is_worse_and_names_it() -> None:
    assert is_worse(tree("FPF"), tree("PPF"), NOTHING)
    assert lost(tree("FPF"), tree("PPF")) == ("a",)


def test_one_for_another_is_a_tie_however_large_the_change() -> None:
    assert not is_worse(tree("FPF", change=99), tree("PFF"), NOTHING)


def test_what_is_only_less_certain_has_lost_nothing() -> None:
    assert not is_worse(tree("PFU"), tree("PFF"), NOTHING)


def test_an_id_that_is_not_expected_any_more_is_no_regression() -> None:
    assert shortfall(tree("PP"), frozenset({"a", "gone"})) == (0, 0, 0)


def test_of_all_small_worlds_none_is_worse_than_itself_and_none_better_than_the_best() -> None:
    worlds = [tree("".join(words), order) for order, words in enumerate(product("PFU", repeat=3))]
    for before in (NOTHING, frozenset("a"), frozenset("abc")):
        best = best_of(worlds, before)
        assert best == worlds[0]
        assert not any(is_worse(world, world, before) for world in worlds)
        for one, other in product(worlds, repeat=2):
            assert not (is_worse(one, other, before) and is_worse(other, one, before))


def test_of_no_trees_there_is_no_best() -> None:
    assert best_of([], NOTHING) is None
