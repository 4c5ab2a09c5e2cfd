"""What several commands say together: one that fails is not covered by another that passes."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent_fox.verifier.ground.order import Untested
from tests.verifier.workspace import PYTEST, checked, words

ONE = "04-REQ-1.1"
TWO = "04-REQ-1.2"

_PASSES = {"tests/test_a.py": "def test_04_req_1_1(): pass\n"}


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("false", "`false`: exit 1"),
        ("sh -c 'echo line too long; exit 3'", "line too long"),
        ("nosuchtool --strict", "can't be started"),
        ("sh -c 'echo gone; exit 127'", "a tool is missing (exit 127)"),
        ("sh -c 'exit 126'", "a tool is missing (exit 126)"),
        ("sh -c 'exit 137'", "was killed"),
        ("sh -c 'kill -9 $$'", "was killed"),
        ("make lint && make build", "needs a shell"),
        ("python -m pytest --no-such-option", "no report"),
    ],
)
@pytest.mark.parametrize("is_first", [True, False])
def test_a_configured_command_that_fails_without_a_report_leaves_nothing_proven(
    tmp_path: Path, line: str, reason: str, is_first: bool
) -> None:
    lines = (line, f"{PYTEST} tests") if is_first else (f"{PYTEST} tests", line)
    report = checked(tmp_path, _PASSES, ONE, configured=lines)
    assert words(report) == {ONE: "UNKNOWN"}
    finding = report.findings[0]
    assert reason in finding.verdict.evidence
    assert line in finding.verdict.evidence
    assert (finding.command, finding.check) == (line, line)


def test_the_last_lines_of_a_command_that_failed_are_evidence(tmp_path: Path) -> None:
    line = "python -c \"for n in range(400): print('line', n)\nraise SystemExit(2)\""
    evidence = checked(tmp_path, _PASSES, ONE, configured=(f"{PYTEST} tests", line)).verdicts[0].evidence
    assert evidence.endswith("line 398\nline 399")
    assert "line 300\n" not in evidence


def test_a_test_that_failed_is_a_fail_whatever_other_commands_did(tmp_path: Path) -> None:
    tests = "def test_04_req_1_1(): assert 0\ndef test_04_req_1_2(): pass\n"
    report = checked(tmp_path, {"test_a.py": tests}, ONE, TWO, configured=(PYTEST, "false"))
    assert words(report) == {ONE: "FAIL", TWO: "UNKNOWN"}


def test_a_configured_command_without_reports_that_passes_takes_nothing_away_and_proves_nothing(
    tmp_path: Path,
) -> None:
    both = ("true", f"{PYTEST} tests")
    assert words(checked(tmp_path, _PASSES, ONE, TWO, configured=both)) == {ONE: "PASS", TWO: "FAIL"}
    unknown = checked(tmp_path, _PASSES, ONE, TWO, configured=both, untested=Untested.UNKNOWN)
    assert words(unknown) == {ONE: "PASS", TWO: "UNKNOWN"}
    assert words(checked(tmp_path, _PASSES, ONE, configured=("true", "true"))) == {ONE: "UNKNOWN"}


def test_a_report_that_is_not_believed_leaves_nothing_proven_by_other_commands(tmp_path: Path) -> None:
    files = {
        "b/conftest.py": "def pytest_sessionfinish(session):\n    session.exitstatus = 1\n",
        "b/test_b.py": "def test_04_req_1_2(): pass\n",
    }
    configured = (f"{PYTEST} tests", f"{PYTEST} b")
    report = checked(tmp_path, {**_PASSES, **files}, ONE, TWO, configured=configured)
    assert words(report) == {ONE: "UNKNOWN", TWO: "UNKNOWN"}


@pytest.mark.parametrize(
    ("files", "line", "reason"),
    [
        ({"b/conftest.py": "import gone\n"}, f"{PYTEST} b", "No module named 'gone'"),
        ({}, f"{PYTEST} test_gone.py", "test_gone.py is not there"),
    ],
)
def test_a_configured_command_that_a_collection_error_keeps_from_running_is_a_fail(
    tmp_path: Path, files: dict[str, str], line: str, reason: str
) -> None:
    report = checked(tmp_path, {**_PASSES, **files}, ONE, configured=(f"{PYTEST} tests", line))
    assert words(report) == {ONE: "FAIL"}
    assert reason in report.verdicts[0].evidence


def test_a_suite_of_the_spec_that_could_not_run_leaves_nothing_proven_by_all_tests(tmp_path: Path) -> None:
    commands = {"Spec tests": "nosuchtool", "All tests": f"{PYTEST} tests"}
    report = checked(tmp_path, _PASSES, ONE, commands=commands)
    assert (words(report), len(report.runs)) == ({ONE: "UNKNOWN"}, 2)
    commands = {"Spec tests": f"{PYTEST} tests", "All tests": "nosuchtool"}
    report = checked(tmp_path, _PASSES, ONE, commands=commands)
    assert (words(report), len(report.runs)) == ({ONE: "PASS"}, 1)
