"""Defects seen elsewhere in how verdicts are heard: silence that passes, failures that nobody acts on."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agent_fox.testing.worlds import NEVER, Req, World, rows
from tests.stories.scene import CEILING, NOT_PROVEN, PROVEN, coders, decisions, report, run, verdicts


def test_a_verifier_that_ends_with_fails_resets_the_coder_in_the_same_transaction(tmp_path: Path) -> None:
    """Elsewhere the session had ended, so the node was "completed", whatever its report said, and nobody retried."""
    root = World({"01_calc": [Req("01-REQ-1.1", 1, right_at=2)]}, settings="[limits]\nsessions = 2\n").build(tmp_path)
    run(root, ends=CEILING)
    ((number, steps),) = rows(root, "SELECT id, steps FROM decisions WHERE kind = 'Recode'")
    assert {step["uid"] for step in json.loads(str(steps))} == {"01_calc:coder:1", "01_calc:verifier"}
    nodes = "SELECT id, status, attempt, decision_id FROM plan_nodes ORDER BY id"
    assert rows(root, nodes) == [("01_calc:1", "pending", 2, number), ("01_calc:2", "pending", 2, number)]
    assert rows(root, "SELECT verdict, decision_id FROM verification_results") == [("FAIL", number)]


def test_a_crashed_verifier_is_read_again_and_a_fail_runs_the_coder_again(tmp_path: Path) -> None:
    """Elsewhere it was the other way round: a crash re-ran the coder, and FAIL rows, stored under group 0, nobody."""
    world = World({"01_calc": [Req("01-REQ-1.1", 1, right_at=2)]}, verifier_says={"01_calc/1/1": "crash"})
    root = world.build(tmp_path)
    run(root, ends=PROVEN)
    assert decisions(root, "01_calc:2") == ["Reread", "Recode", "Accept"]
    assert coders(root) == {"01_calc:1": 2}


@pytest.mark.parametrize("said", ["nothing", "Everything works.", '{"verdicts": [], "overall_verdict": "FAIL"}'])
def test_output_without_verdicts_is_unknown(tmp_path: Path, said: str) -> None:
    """Elsewhere unreadable or empty output was a success, and so was an overall FAIL without rows."""
    says = {f"01_calc/1/{n}": said for n in (1, 2)}
    root = World({"01_calc": [Req("01-REQ-1.1", 1)]}, verifier_says=says).build(tmp_path)
    run(root, ends=NOT_PROVEN)
    assert decisions(root, "01_calc:2") == ["Reread", "Block"]
    assert verdicts(root) == {"01-REQ-1.1": "UNKNOWN"}


def test_a_partial_report_closes_only_what_it_says_passes(tmp_path: Path) -> None:
    """Elsewhere a re-check of one requirement superseded all verdicts, and a FAIL was retired once a coder saw it."""
    reqs = [Req(f"01-REQ-1.{n}", 1, NEVER) for n in (1, 2, 3)]
    says = {
        "01_calc/1/1": report({"01-REQ-1.1": "FAIL", "01-REQ-1.2": "PASS", "01-REQ-1.3": "FAIL"}),
        "01_calc/2/1": report({"01-REQ-1.1": "PASS"}),
    }
    root = World({"01_calc": reqs}, verifier_says=says, settings="[retry]\nreadings = 1\n").build(tmp_path)
    run(root, ends=NOT_PROVEN)
    assert verdicts(root) == {"01-REQ-1.1": "PASS", "01-REQ-1.2": "UNKNOWN", "01-REQ-1.3": "FAIL"}


def test_the_last_complete_answer_counts_and_not_an_example_that_is_echoed(tmp_path: Path) -> None:
    """Elsewhere the first JSON array in the output won, so the example of the prompt overrode the answer."""
    said = f"You asked for {report({'01-REQ-1.1': 'PASS'})}. My report: {report({'01-REQ-1.1': 'FAIL'})}"
    world = World({"01_calc": [Req("01-REQ-1.1", 1)]}, verifier_says={"01_calc/1/1": said})
    root = world.build(tmp_path)
    run(root, ends=NOT_PROVEN, AGENT_FOX__RETRY__ATTEMPTS="1")
    assert verdicts(root) == {"01-REQ-1.1": "FAIL"}


def test_what_is_told_at_the_end_counts_what_is_not_proven(tmp_path: Path) -> None:
    """Elsewhere "fully implemented and merged" was posted although requirements were unmet."""
    reqs = [Req("01-REQ-1.1", 1), Req("01-REQ-1.2", 1, NEVER), Req("01-REQ-1.3", 1, NEVER)]
    root = World({"01_calc": reqs}, settings="[retry]\nattempts = 1\n").build(tmp_path)
    done = run(root, ends=NOT_PROVEN)
    assert "2 requirements fail; 1 of 3 proven" in done.stdout
    assert "01-REQ-1.2, 01-REQ-1.3" in done.stdout
