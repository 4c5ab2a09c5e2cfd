"""Reading a reviewer's answer: its findings, and when there is no review at all."""

from __future__ import annotations

import json

import pytest

from agent_fox.core.findings import CRITICAL, UNREADABLE, Finding, Review, read_review


def answer(*rows: object, **more: object) -> str:
    return json.dumps({"findings": list(rows), **more})


CLEAN = answer(summary="nothing to add")
ONE = {"severity": "critical", "description": "no test of the edge case", "requirement_id": "05-REQ-1.E1"}


def test_a_review_as_asked_for_is_read_whole() -> None:
    found = read_review(answer(ONE, {"severity": "minor", "description": "a typo"}, summary="two things"))
    critical = Finding("critical", "no test of the edge case", "05-REQ-1.E1")
    assert found == Review((critical, Finding("minor", "a typo")), "two things", is_readable=True)
    assert found.critical == (critical,)


def test_a_review_without_findings_is_readable_and_clean() -> None:
    assert read_review(CLEAN) == Review((), "nothing to add", is_readable=True)


@pytest.mark.parametrize("key", ["description", "finding", "text", "message"])
def test_the_text_of_a_finding_may_stand_under_any_of_its_keys(key: str) -> None:
    assert read_review(answer({"severity": "minor", key: "what"})).findings == (Finding("minor", "what"),)


def test_the_first_text_that_says_anything_counts() -> None:
    row = {"severity": "minor", "message": "last", "description": "", "finding": ["x"], "text": "third"}
    assert read_review(answer(row)).findings == (Finding("minor", "third"),)


@pytest.mark.parametrize("severity", [" Critical ", "BLOCKER", "blocking"])
def test_case_and_space_of_a_severity_are_forgiven(severity: str) -> None:
    (found,) = read_review(answer({"severity": severity})).findings
    assert found == Finding(severity.strip().lower(), "", "")
    assert found.is_critical


@pytest.mark.parametrize("severity", ["major", "criticality", "", None, True])
def test_every_other_severity_holds_nothing(severity: object) -> None:
    (found,) = read_review(answer({"severity": severity, "requirement_id": None})).findings
    assert found == Finding(severity if isinstance(severity, str) else "", "", "")
    assert not found.is_critical


@pytest.mark.parametrize(
    "text",
    ["", "looks good", json.dumps({"summary": "fine"}), '{"findings": "none"}', '{"findings": {}}', CLEAN[:-3]],
)
def test_what_is_no_complete_review_is_none(text: str) -> None:
    assert read_review(text) == UNREADABLE == Review((), "", is_readable=False)


def test_a_review_with_anything_but_findings_in_its_list_is_none() -> None:
    assert read_review(answer(ONE, "and more")) == UNREADABLE


def test_the_last_complete_review_counts() -> None:
    assert read_review(f"{answer(ONE)}\nno, rather:\n{CLEAN}") == read_review(CLEAN)
    assert read_review(f'{answer(ONE)}\n{{"id": 3, "status": "done"}}') == read_review(answer(ONE))


def test_a_review_that_is_cut_off_takes_the_one_before_away() -> None:
    assert read_review(f"{CLEAN}\n{answer(ONE)[:-4]}") == UNREADABLE


def test_a_broken_review_before_a_complete_one_is_forgotten() -> None:
    assert read_review(f"{answer(ONE).replace(':', ';', 2)}\n{CLEAN}") == read_review(CLEAN)


def test_the_words_that_hold_a_plan_are_these() -> None:
    assert {"critical", "blocker", "blocking"} == CRITICAL
