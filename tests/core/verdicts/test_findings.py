"""What a reviewer printed."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from agent_fox.core.verdicts.findings import CRITICAL, MILD, UNREADABLE, Finding, Review, read_review


def answer(*findings: object, **more: object) -> str:
    return json.dumps({"findings": list(findings), **more})


def test_an_empty_list_of_findings_is_an_approval() -> None:
    assert read_review(answer(summary="fine")) == Review((), "fine")


@pytest.mark.parametrize("word", sorted(CRITICAL))
def test_critical_words_hold_the_plan(word: str) -> None:
    review = read_review(answer({"severity": f" {word.upper()} ", "description": "no test for 01-REQ-1.1"}))
    assert review.critical == (Finding(word, "no test for 01-REQ-1.1"),)


@pytest.mark.parametrize("word", sorted(MILD))
def test_other_known_words_do_not(word: str) -> None:
    review = read_review(answer({"severity": word, "text": "a remark", "requirement_id": "01-REQ-1.1"}))
    assert (review.critical, review.findings) == ((), (Finding(word, "a remark", "01-REQ-1.1"),))


@pytest.mark.parametrize("finding", [{"severity": "blocker!"}, {"description": "x"}, {"severity": None}, "text", 7])
def test_a_finding_without_a_known_severity_makes_the_review_unreadable(finding: object) -> None:
    assert read_review(answer({"severity": "minor"}, finding)) == UNREADABLE


@pytest.mark.parametrize("text", ["", "looks good to me", '{"findings": "none"}', '{"summary": "fine"}', "[]"])
def test_prose_and_other_answers_are_no_review(text: str) -> None:
    assert read_review(text) == UNREADABLE


def test_the_last_answer_counts_unless_a_broken_one_follows() -> None:
    first, second = answer({"severity": "critical"}), answer()
    assert read_review(f"{first}\nOn reflection:\n{second}") == Review()
    assert read_review(f"{second}\n{second[:12]}") == UNREADABLE


def test_the_words_of_a_finding_are_found_under_any_usual_key() -> None:
    keys = ("description", "finding", "text", "message")
    review = read_review(answer(*({"severity": "minor", key: key} for key in keys)))
    assert [finding.text for finding in review.findings] == list(keys)


def test_a_finding_that_says_nothing_has_an_empty_text() -> None:
    assert read_review(answer({"severity": "minor"})) == Review((Finding("minor", "", ""),), "", is_readable=True)


def test_the_words_that_hold_a_plan_are_these() -> None:
    assert {"critical", "blocker", "blocking"} == CRITICAL


@pytest.mark.parametrize(
    "text",
    [
        '{"findings": [{"severity": "critical"}], "findings": []}',
        '{"findings": [{"severity": "critical", "severity": "minor"}]}',
        '{"findings": []}\n\n{"severity": "critical", "requirement_id": "01-REQ-1.1"}',
        '{"findings": []}\n\n[{"severity": "critical", "requirement_id": "01-REQ-1.1"}]',
    ],
)
def test_a_finding_that_another_word_would_hide_makes_the_review_unreadable(text: str) -> None:
    assert read_review(text) == UNREADABLE


@pytest.mark.parametrize(
    ("rows", "agreed"),
    [
        ([{"requirement_id": " R1 ", "agree": True}, {"requirement_id": "R2", "agree": False}], {"R1"}),
        ([{"requirement_id": "R1", "agree": True}, {"requirement_id": "R1", "agree": False}], set()),
        ([{"requirement_id": "R1", "agree": "true"}, {"requirement_id": "R2"}, "R3", {"agree": True}], set()),
        ({"requirement_id": "R1", "agree": True}, set()),
        (None, set()),
    ],
)
def test_a_changed_expectation_is_agreed_to_only_in_so_many_words(rows: object, agreed: set[str]) -> None:
    assert read_review(answer(summary="fine", expectations=rows)) == Review((), "fine", agreed=frozenset(agreed))


def test_a_list_that_only_holds_the_word_severity_hides_no_finding() -> None:
    assert read_review(f'{answer()} [{{"id": "R1"}}, "severity: low"]') == Review()


def test_each_changed_expectation_that_is_not_agreed_to_is_a_critical_finding() -> None:
    review = Review((Finding("minor", "a remark"),), "fine", agreed=frozenset({"R1"}))
    refused = Finding("critical", "R2: the change of t.py::test_b is not agreed to", "R2")
    found = review.with_refusals([("R1", "t.py::test_a"), ("R2", "t.py::test_b")])
    assert found == replace(review, findings=(*review.findings, refused))
