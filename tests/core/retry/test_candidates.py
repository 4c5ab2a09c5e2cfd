"""Which of several tries may land, the best first, and what is told of them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from agent_fox.core.retry.candidates import Candidate, Choice, Contest, made_from
from agent_fox.core.verdicts.verdict import Word

LETTERS = {"P": Word.PASS, "F": Word.FAIL, "U": Word.UNKNOWN}
NOTHING: frozenset[str] = frozenset()


def read(number: int, words: str, change: int = 1, same_as: int = 0) -> Candidate:
    """`PF`: a passes, b fails."""
    counted = dict(zip("abc", (LETTERS[word] for word in words), strict=False))
    return Candidate(
        number, f"l{number}", f"c{number}", f"t{number}", f"r{number}", change=change, same_as=same_as, words=counted
    )


def unread(number: int) -> Candidate:
    return Candidate(number, f"l{number}", f"c{number}", f"t{number}", f"r{number}", change=1)


def failed(number: int, why: str = "failed: exit 1", *, is_last: bool = False) -> Candidate:
    return Candidate(number, f"l{number}", failure=why, is_last=is_last)


def unchanged(number: int) -> Candidate:
    return Candidate(number, f"l{number}", "c0", "t0", is_unchanged=True)


def ranking(*made: Candidate, before: frozenset[str] = NOTHING) -> list[int]:
    return [each.number for each in Contest(3, made).ranking(before)]


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        ((read(1, "PF"), read(2, "PP")), [2, 1]),
        ((read(1, "PF"), read(2, "PU")), [1, 2]),
        ((read(1, "PF", 5), read(2, "PF", 4)), [2, 1]),
        ((read(1, "PF"), read(2, "PF")), [1, 2]),
        ((unchanged(1), unread(2), read(3, "FF")), [3, 2, 1]),
        ((failed(1), read(2, "FF"), failed(3)), [2]),
        ((failed(1), failed(2)), []),
    ],
    ids=["passes", "fewer unknown", "smaller", "earlier", "read, unread, unchanged", "able", "none"],
)
def test_the_best_comes_first(made: tuple[Candidate, ...], expected: list[int]) -> None:
    assert ranking(*made) == expected


def test_a_regression_of_what_was_proven_before_weighs_most() -> None:
    assert ranking(read(1, "FPP"), read(2, "PFF"), before=frozenset("a")) == [2, 1]


def test_each_is_read_once_and_before_the_next_is_made() -> None:
    assert Contest(3, (read(1, "P"), unread(2))).to_read == unread(2)
    assert not Contest(2, (read(1, "P"), unread(2))).is_complete
    assert Contest(2, (read(1, "P"), read(2, "F"))).is_complete
    assert Contest(3, (read(1, "P"), failed(2), unchanged(3))).is_complete
    assert not Contest(3, (read(1, "P"), read(2, "P"))).is_complete


def test_after_a_failure_that_would_come_again_no_other_is_made() -> None:
    contest = Contest(3, (read(1, "P"), failed(2, "context too long: x", is_last=True)))
    assert contest.is_complete
    assert contest.why_no_more == "after the failure of 2 the same again would fail, too"
    assert Contest(3, (read(1, "P"), failed(2))).why_no_more == ""


def test_whether_one_may_land_is_told() -> None:
    assert not Contest(3).has_any
    assert not Contest(3, (failed(1),)).has_any
    assert Contest(3, (failed(1), unchanged(2))).has_any


def test_the_same_files_are_known_by_their_tree() -> None:
    contest = Contest(3, (failed(1), read(2, "P"), read(3, "F")))
    assert contest.twin_of("t3") == read(3, "F")
    assert contest.twin_of("t1") is None
    assert contest.of_launch("l2") == read(2, "P")
    assert contest.of_launch("another") is None


def test_a_reading_takes_the_place_of_what_it_read() -> None:
    assert made_from([unread(2), failed(1)], {"l2": read(2, "PF")}) == (failed(1), read(2, "PF"))


def test_why_a_candidate_was_not_read_is_told() -> None:
    assert replace(unread(1), note="the ceiling is reached").result == "was not read: the ceiling is reached"


def test_what_is_told_names_each_and_where_the_others_are_kept() -> None:
    made = (read(1, "PF"), read(2, "PP"), read(3, "PP", same_as=2), failed(4), unchanged(5), unread(6))
    assert Choice(6, made, 2, landed=True).in_words == (
        "candidate 2 of 6 is taken; 1: 1 of 2 requirements pass (r1); 2: 2 of 2 requirements pass; "
        "3: 2 of 2 requirements pass, the same files as 2, read once (r3); 4: failed: exit 1; 5: changed nothing; "
        "6: was not read (r6)"
    )


def test_what_is_in_the_way_of_a_better_one_and_why_there_are_fewer_is_told() -> None:
    made, obstacle = (read(1, "PP"), read(2, "PF")), "it conflicts with the branch in a.py"
    assert Choice(3, made, 2, True, {1: obstacle}, "ceiling: $3").in_words == (
        "candidate 2 of 2 is taken; 2 of 3 were made: ceiling: $3; "
        "1: 2 of 2 requirements pass, but it conflicts with the branch in a.py (r1); 2: 1 of 2 requirements pass"
    )


def test_where_none_lands_it_is_said_why() -> None:
    alike = Choice(2, (failed(1), failed(2)), 1, landed=False)
    assert alike.failure == "all 2 candidates failed alike: failed: exit 1"
    assert alike.in_words == "all 2 candidates failed alike; 1: failed: exit 1; 2: failed: exit 1"
    apart = Choice(2, (failed(1), failed(2, "timed out: 60 s")), 1, landed=False)
    assert apart.failure == "all 2 candidates failed: failed: exit 1; timed out: 60 s"
    assert Choice(2, (failed(1),), 1, landed=False).failure == "all 1 candidate failed: failed: exit 1"
    stuck = Choice(1, (read(1, "P"),), 1, False, {1: "its commit is gone"})
    assert stuck.in_words == "none of 1 candidate can land; 1: 1 of 1 requirement pass, but its commit is gone (r1)"


def test_an_unreadable_reading_is_told_with_its_reason() -> None:
    noted = Candidate(1, "l1", "c1", "t1", words={"a": Word.UNKNOWN}, note="not readable: exit 3")
    assert noted.result == "0 of 1 requirement pass (not readable: exit 3)"
