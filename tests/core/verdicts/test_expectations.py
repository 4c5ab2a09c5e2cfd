"""What a committed test that fails amounts to: every small world of settings, reasons, ages and agreements."""

from __future__ import annotations

import itertools

import pytest

from agent_fox.core.verdicts.expectations import Agreed, Expectation, Seal, Sealed, agreed_by, seal_of

STATED = Expectation("tests/test_a.py::test_a", ("tests/test_a.py",), "0" * 64, "1" * 64, reason="it was wrong")
UNSTATED = Expectation(STATED.test, STATED.files, STATED.committed, STATED.changed)


@pytest.mark.parametrize(
    ("expectation", "sealed", "is_older", "by", "seal"),
    [
        (UNSTATED, Sealed.REVIEW, False, "", Seal.WEAKENED),
        (STATED, Sealed.REVIEW, False, "", Seal.CHANGED),
        (STATED, Sealed.REVIEW, True, "", Seal.OLDER),
        (UNSTATED, Sealed.REVIEW, True, "", Seal.WEAKENED),
        (STATED, Sealed.REVIEW, False, "ada", Seal.AGREED),
        (UNSTATED, Sealed.REVIEW, False, "ada", Seal.AGREED),
    ],
)
def test_review_asks_for_a_reason_and_then_for_age_or_a_person(
    expectation: Expectation, sealed: Sealed, is_older: bool, by: str, seal: Seal
) -> None:
    assert seal_of(expectation, sealed, is_older=is_older, by=by) is seal


def test_a_change_with_a_reason_is_open_where_the_final_review_is_asked_about_it() -> None:
    def seal(expectation: Expectation) -> Seal:
        return seal_of(expectation, Sealed.REVIEW, is_older=False, by="", is_reviewed=True)

    assert (seal(STATED), seal(UNSTATED)) == (Seal.ASKED, Seal.WEAKENED)


@pytest.mark.parametrize(
    ("expectation", "is_older", "by"), [*itertools.product((STATED, UNSTATED), (0, 1), ("", "ada"))]
)
def test_refuse_allows_no_changed_expectation_and_report_takes_nothing_away(
    expectation: Expectation, is_older: int, by: str
) -> None:
    assert seal_of(expectation, Sealed.REFUSE, is_older=bool(is_older), by=by) is Seal.WEAKENED
    assert seal_of(expectation, Sealed.REPORT, is_older=bool(is_older), by=by) is Seal.REPORTED


def test_only_a_weakened_test_and_an_unagreed_change_take_a_pass_away() -> None:
    assert [seal for seal in Seal if not seal.is_open] == [Seal.WEAKENED, Seal.CHANGED]


def test_an_agreement_is_about_one_requirement_and_both_versions() -> None:
    agreed = Agreed("R1", STATED.committed, STATED.changed, "ada")
    assert agreed_by(STATED, "R1", [agreed]) == "ada"
    assert agreed_by(STATED, "R2", [agreed]) == ""
    for other in (Agreed("R1", "2" * 64, STATED.changed, "ada"), Agreed("R1", STATED.committed, "2" * 64, "ada")):
        assert agreed_by(STATED, "R1", [other]) == ""
