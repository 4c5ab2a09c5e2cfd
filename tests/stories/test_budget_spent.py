"""A requirement that is never met: a record, one issue, exit 2, and nothing more is paid for."""

from __future__ import annotations

from pathlib import Path

from agent_fox.testing.worlds import NEVER, Req, World, issue_files, log, rows
from tests.stories.scene import NOT_PROVEN, causes, coders, configure, outcomes, run

PATIENT = "[retry]\nattempts = 3\nstop_without_progress = false\n"
HOPELESS = World({"01_calc": [Req("01-REQ-1.1", 1, NEVER), Req("01-REQ-1.2", 1, NEVER)]}, settings=PATIENT)


def test_spent_attempts_leave_a_record_and_the_verifier_escalated(tmp_path: Path) -> None:
    root = HOPELESS.build(tmp_path)
    run(root, ends=NOT_PROVEN)
    assert coders(root) == {"01_calc:1": 3}
    assert outcomes(root) == {"01_calc:2": "escalated"}
    assert causes(root) == [("01_calc:2", "attempts spent")]


def test_one_cause_makes_one_issue_that_a_person_can_act_on(tmp_path: Path) -> None:
    root = HOPELESS.build(tmp_path)
    run(root, ends=NOT_PROVEN)
    (issue,) = issue_files(root)
    text = issue.read_text()
    for word in ("01-REQ-1.1", "01-REQ-1.2", "wrong at attempt 3", "its proof is read", "agent-fox reset"):
        assert word in text, (word, text)


def test_the_three_questions_of_an_operator_tell_the_truth(tmp_path: Path) -> None:
    root = HOPELESS.build(tmp_path)
    run(root, ends=NOT_PROVEN)
    assert rows(root, "SELECT DISTINCT archetype FROM blocking_history") == [("verifier",)]
    verifiers = "SELECT id, status FROM plan_nodes WHERE archetype = 'verifier'"
    assert rows(root, verifiers) == [("01_calc:2", "completed")]
    counts = "SELECT spec_name, verdict, count(*) FROM verification_results WHERE superseded_by IS NULL GROUP BY spec_name, verdict"
    assert rows(root, counts) == [("01_calc", "FAIL", 2)]


def test_another_run_starts_nothing_even_with_a_higher_limit(tmp_path: Path) -> None:
    root = HOPELESS.build(tmp_path)
    run(root, ends=NOT_PROVEN)
    before = log(root)
    configure(root, "attempts = 3", "attempts = 9")
    run(root, ends=NOT_PROVEN)
    assert log(root) == before
    assert len(issue_files(root)) == 1
    assert len(causes(root)) == 1


def test_what_passes_beside_the_failure_stays_passed(tmp_path: Path) -> None:
    reqs = [Req("01-REQ-1.1", 1, NEVER), Req("01-REQ-1.2", 1)]
    root = World({"01_calc": reqs}, settings="[retry]\nattempts = 2\n").build(tmp_path)
    run(root, ends=NOT_PROVEN)
    words = "SELECT requirement_id, verdict FROM verification_results WHERE superseded_by IS NULL ORDER BY 1"
    assert rows(root, words) == [("01-REQ-1.1", "FAIL"), ("01-REQ-1.2", "PASS")]
