"""One run from its files: log and reports together, whichever format they are in."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent_fox.verifier.ground.results import FailureKind, Status, TestSummary
from agent_fox.verifier.logs.reading import Run, read_run
from agent_fox.verifier.logs.registry import BUILT_IN
from agent_fox.verifier.logs.status import Ending, Outcome
from tests.verifier.logs.at_hand import DATA, workspace

JUNIT = """<testsuite name="pytest"><testcase classname="test_a" name="test_x"><failure message="assert 0">
test_a.py:3: AssertionError</failure></testcase></testsuite>"""


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "log.txt"
    path.write_text("nothing to see\n", encoding="utf-8")
    return path


def read(log: Path, *reports: Path, tool: str = "pytest", code: int | None = 1, root: str = "/workspace") -> Outcome:
    return read_run(Run(Ending(tool, code), log, reports), workspace(root), BUILT_IN)


def test_a_report_explains_a_log_that_says_nothing(log: Path, tmp_path: Path) -> None:
    report = tmp_path / "junit.xml"
    report.write_text(JUNIT, encoding="utf-8")
    outcome = read(log, report, report)
    assert outcome.status is Status.FAILED
    assert [(f.file, f.line) for f in outcome.parsed.failures] == [("test_a.py", 3)]
    assert outcome.parsed.summary == TestSummary(tests=1, failures=1)


def test_a_report_with_failures_makes_a_run_fail_that_exited_with_0(log: Path, tmp_path: Path) -> None:
    report = tmp_path / "junit.xml"
    report.write_text(JUNIT, encoding="utf-8")
    assert read(log, report, code=0).status is Status.FAILED


@pytest.mark.parametrize("text", ["<testsuite><testcase", "", "words", '<!DOCTYPE a [<!ENTITY b "c">]><a/>', "{"])
def test_a_report_that_cannot_be_read_leaves_the_exit_code_to_decide(log: Path, tmp_path: Path, text: str) -> None:
    report = tmp_path / "report"
    report.write_text(text, encoding="utf-8")
    assert read(log, report, code=0).status is Status.PASSED
    failed = read(log, report, code=1)
    assert (failed.status, [f.kind for f in failed.parsed.failures]) == (Status.FAILED, [FailureKind.UNKNOWN])


def test_a_report_below_a_modules_build_folder_is_about_that_module(log: Path, tmp_path: Path) -> None:
    folder = tmp_path / "shop" / "build" / "test-results" / "test"
    folder.mkdir(parents=True)
    (folder / "TEST-a.xml").write_bytes((DATA / "gradle.xml").read_bytes())
    outcome = read(log, folder / "TEST-a.xml", tool="gradle", root=str(tmp_path))
    assert [f.file for f in outcome.parsed.failures] == ["shop/src/test/kotlin/com/acme/CartTest.kt"]


def test_the_log_may_be_the_report(log: Path) -> None:
    log.write_text("\n> lint\n> eslint -f json .\n\n[]\n", encoding="utf-8")
    assert read(log, tool="npm", code=0).status is Status.PASSED
    log.write_bytes((DATA / "node24.junit").read_bytes())
    outcome = read(log, tool="node-test", root="/workspace/node/demo")
    assert (outcome.status, len(outcome.parsed.failures)) == (Status.FAILED, 6)


def test_a_report_without_places_takes_them_from_the_log(log: Path) -> None:
    log.write_bytes((DATA / "node24.spec").read_bytes())
    outcome = read(log, DATA / "node24.junit", tool="node-test", root="/workspace/node/demo")
    found = {f.test_name: (f.kind, f.line) for f in outcome.parsed.failures}
    assert found["times out"] == (FailureKind.TEST_FAILURE, 25)
    assert found["test/broken.test.mjs"] == (FailureKind.COMPILE_ERROR, 3)


def test_what_a_passing_run_prints_changes_nothing(log: Path) -> None:
    log.write_text("1 passed\nFAILED tests/x.py::test_fake - boom\n<testsuite><testcase/></testsuite>\n")
    outcome = read(log, code=0)
    assert (outcome.status, outcome.parsed.failures) == (Status.PASSED, ())


def test_a_missing_tool_is_told_by_whatever_the_shell_said(log: Path) -> None:
    log.write_text("\n> test\n> jest\n\nsh: 1: jest: not found\n", encoding="utf-8")
    outcome = read(log, tool="jest", code=1)
    assert (outcome.status, outcome.parsed.failures[0].kind) == (Status.ERRORED, FailureKind.ENVIRONMENT_FAILURE)


def test_an_empty_log_of_a_failed_run_is_one_vague_failure(log: Path) -> None:
    log.write_bytes(b"")
    outcome = read(log)
    assert [(f.kind, f.evidence) for f in outcome.parsed.failures] == [(FailureKind.UNKNOWN, "")]
