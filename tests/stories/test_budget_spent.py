"""A requirement that is never met: a record, one issue, exit 2, and nothing more is paid for."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent_fox.testing.worlds import NEVER, Req, World, issue_files, log, rows
from tests.stories.scene import NOT_PROVEN, causes, coders, configure, outcomes, run, verdicts

PATIENT = "[retry]\nattempts = 3\nstop_without_progress = false\n"
HOPELESS = [Req("01-REQ-1.1", 1, NEVER), Req("01-REQ-1.2", 1, NEVER), Req("01-REQ-1.3", 1)]


@pytest.fixture(scope="module")
def escalated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run whose coder never gets two requirements right. The tests only look at it."""
    root = World({"01_calc": HOPELESS}, settings=PATIENT).build(tmp_path_factory.mktemp("hopeless"))
    run(root, ends=NOT_PROVEN)
    return root


def test_spent_attempts_leave_a_record_and_the_verifier_escalated(escalated: Path) -> None:
    assert coders(escalated) == {"01_calc:1": 3}
    assert outcomes(escalated) == {"01_calc:2": "escalated"}
    assert causes(escalated) == [("01_calc:2", "attempts spent")]


def test_one_cause_makes_one_issue_that_a_person_can_act_on(escalated: Path) -> None:
    (issue,) = issue_files(escalated)
    text = issue.read_text()
    for word in ("01-REQ-1.1", "01-REQ-1.2", "wrong at attempt 3", "its proof is read", "agent-fox reset"):
        assert word in text, (word, text)


def test_the_three_questions_of_an_operator_tell_the_truth(escalated: Path) -> None:
    assert rows(escalated, "SELECT DISTINCT archetype FROM blocking_history") == [("verifier",)]
    verifiers = "SELECT id, status FROM plan_nodes WHERE archetype = 'verifier'"
    assert rows(escalated, verifiers) == [("01_calc:2", "completed")]
    counts = (
        "SELECT spec_name, verdict, count(*) FROM verification_results WHERE superseded_by IS NULL "
        "GROUP BY spec_name, verdict"
    )
    assert rows(escalated, counts) == [("01_calc", "FAIL", 2), ("01_calc", "PASS", 1)]


def test_what_passes_beside_the_failures_stays_passed(escalated: Path) -> None:
    assert verdicts(escalated) == {"01-REQ-1.1": "FAIL", "01-REQ-1.2": "FAIL", "01-REQ-1.3": "PASS"}


def test_another_run_starts_nothing_even_with_a_higher_limit(tmp_path: Path) -> None:
    root = World({"01_calc": HOPELESS}, settings="[retry]\nattempts = 1\n").build(tmp_path)
    run(root, ends=NOT_PROVEN)
    before = log(root)
    configure(root, "attempts = 1", "attempts = 9")
    run(root, ends=NOT_PROVEN)
    assert log(root) == before
    assert len(issue_files(root)) == 1
    assert len(causes(root)) == 1
