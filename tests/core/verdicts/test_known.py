"""Which word stands beside a requirement: every small world of facts, and what no other judge can say of itself."""

from __future__ import annotations

from itertools import product

import pytest

from agent_fox.core.verdicts.known import (
    TOLD_BY_TESTS,
    Facts,
    How,
    added,
    counts_in_words,
    counts_of,
    grouped,
    how_known,
    strongest,
    told_apart,
    word_of_pass,
)

CLAIMS = (*How, "agreed by Ada", "agreed by ", "waived by Eve", "certain", "")


@pytest.mark.parametrize("said", CLAIMS)
def test_what_a_model_says_of_its_own_pass_is_not_believed(said: str) -> None:
    assert word_of_pass(said, is_by_tests=False, is_ours=False) == How.JUDGED


@pytest.mark.parametrize("said", CLAIMS)
def test_only_the_judge_of_tests_tells_a_word_of_the_proof_and_without_one_its_tests_passed(said: str) -> None:
    believed = said in TOLD_BY_TESTS or said == "agreed by Ada"
    assert word_of_pass(said, is_by_tests=True, is_ours=True) == (said if believed else How.TESTS_PASSED)
    assert word_of_pass(said, is_by_tests=False, is_ours=True) == How.TESTS_PASSED


def test_every_small_world_has_the_word_of_the_list_and_what_fails_has_none_but_its_waiver() -> None:
    told = ("", *TOLD_BY_TESTS, How.TESTS_PASSED, How.JUDGED, "agreed by Ada")
    for passes, word, by_tests, proved, waived in product(
        [True, False], told, [True, False], [True, False], ["", "Eve"]
    ):
        found = how_known(Facts(passes, str(word), by_tests, proved, waived))
        if not passes:
            assert found == ("waived by Eve" if waived else "")
        elif word == "agreed by Ada":
            assert found == "agreed by Ada"
        elif proved:
            assert found == How.PROVED
        else:
            assert found == (word or (How.TESTS_PASSED if by_tests else How.JUDGED))


def test_of_several_judges_the_one_that_ran_something_names_the_word() -> None:
    assert strongest([How.JUDGED, How.RED_WITHOUT, How.TESTS_PASSED]) == How.RED_WITHOUT
    assert strongest([How.JUDGED, How.TESTS_PASSED]) == How.TESTS_PASSED
    assert strongest([How.JUDGED]) == How.JUDGED
    assert strongest([]) == ""


def test_a_name_may_hold_any_words() -> None:
    name = "agreed by Ada by night"
    assert word_of_pass(name, is_by_tests=True, is_ours=True) == name
    assert counts_of(["judged", name]) == {"judged": 1, name: 1}


def test_counts_stand_in_the_order_of_the_list_with_names_after_the_words() -> None:
    counts = counts_of(["waived by Ada", "judged", "red without", "", "red without", "agreed by Bo"])
    assert counts_in_words(counts) == "2 red without, 1 judged, 1 agreed by Bo, 1 waived by Ada"
    assert list(counts_of(["made up", "waived by Ada", "judged"])) == ["judged", "waived by Ada", "made up"]
    assert added([counts, {"already true": 1, "judged": 2}]) == {
        "red without": 2, "already true": 1, "judged": 3, "agreed by Bo": 1, "waived by Ada": 1,
    }  # fmt: skip


def test_what_shows_less_is_named_and_not_only_counted() -> None:
    words = {"R1": "red without", "R2": "already true", "R3": "judged", "R4": "already true"}
    assert told_apart(words) == {"already true": ["R2", "R4"], "judged": ["R3"]}
    assert grouped(words) == {"red without": ["R1"], "already true": ["R2", "R4"], "judged": ["R3"]}
