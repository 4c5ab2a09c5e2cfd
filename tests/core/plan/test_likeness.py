"""Which texts are near enough to each other that a pairing needs no person."""

from __future__ import annotations

import pytest

from agent_fox.core.plan.likeness import MARGIN, Near, by_place, common_words, likenesses, words_of

WORDS = [f"w{number}" for number in range(40)]


def text(shared: int) -> frozenset[str]:
    """Forty words, so many of which are those of WORDS."""
    return frozenset((*WORDS[:shared], *(f"other{shared}-{number}" for number in range(40 - shared))))


@pytest.mark.parametrize(("shared", "is_rival"), [(39, True), (38, False), (37, False)])
def test_a_text_is_a_rival_only_where_it_is_nearer_than_the_margin(shared: int, is_rival: bool) -> None:
    assert MARGIN == 0.05  # two words of forty, to the last bit
    pairs, doubts = Near({"new": text(40)}, {"same": text(40), "near": text(shared)}, 0.5).pairs()
    assert (pairs, doubts) == (({}, {"new": ("same", "near")}) if is_rival else ({"new": "same"}, {}))


def first(count: int) -> frozenset[str]:
    """The first words of WORDS, so many."""
    return frozenset(WORDS[:count])


def test_a_text_that_is_just_like_enough_is_paired() -> None:
    assert Near({"new": text(40)}, {"half": text(20)}, 0.5).pairs() == ({"new": "half"}, {})


def test_what_is_paired_is_passed_over_and_what_follows_is_paired_too() -> None:
    """`x` is the nearest to both `a` and `b`, and goes to `a`; `c` and `z` are less alike than any of these."""
    new = {"a": first(10), "b": first(6), "c": frozenset("pqr")}
    assert Near(new, {"x": first(10), "z": frozenset("pstuv")}, 0.2).pairs() == ({"a": "x", "c": "z"}, {})


def test_a_doubt_keeps_what_it_was_about() -> None:
    """`a` is as near to `x` as to `y`, and less to `z`; `b` is nearest to `x`, which is nearer to `a`."""
    ten, nine = first(10), first(9)
    new = {"a": ten, "b": frozenset((*WORDS[3:10], "x1", "x2"))}
    known = {"x": nine | {"x1"}, "y": nine | {"y1"}, "z": first(5)}
    assert Near(new, known, 0.5).pairs() == ({}, {"a": ("x", "y"), "b": ("x",)})


@pytest.mark.parametrize(
    ("new", "known", "found"),
    [
        ("paqb", "PxQy", {"a": "x", "b": "y"}),
        ("paq", "xQP", {}),
        ("qap", "PQx", {}),
    ],
)
def test_only_what_stands_between_the_same_neighbours_is_paired_by_place(
    new: str, known: str, found: dict[str, str]
) -> None:
    assert by_place(new, known, {"p": "P", "q": "Q"}) == found


def test_what_more_than_half_of_enough_texts_say_is_common() -> None:
    texts = [frozenset(words.split()) for words in ("most half", "most half", "most half", "most", "few", "other")]
    assert common_words(texts) == {"most"}
    assert common_words(texts[:5]) == frozenset()


def test_texts_are_held_against_each_other_in_the_order_of_both_sides() -> None:
    same = frozenset(("word",))
    found = list(likenesses({"n": same, "m": same}, {"z": same, "a": same, "k": same}))
    assert found == [(1.0, one, other) for one in "nm" for other in "zak"]


def test_words_are_told_from_each_other_by_their_small_letters() -> None:
    assert words_of("Die Straße") == {"die", "straße", "die straße"}


def test_among_very_many_texts_only_those_that_share_a_rarer_word_are_compared() -> None:
    texts = {f"text{number}": frozenset(("common", f"own{number}")) for number in range(1001)}
    assert list(likenesses(texts, texts)) == [(1.0, name, name) for name in texts]
