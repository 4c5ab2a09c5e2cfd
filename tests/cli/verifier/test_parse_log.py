"""`agent-fox parse-log` reads a log that exists already, for people and for programs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.program import said, start

LOG = """m.c: In function ‘main’:
/workspace/app/m.c:11:12: error: ‘x’ undeclared (first use in this function)
/workspace/app/m.c:9:9: warning: unused variable ‘y’ [-Wunused-variable]
"""
REPORT = """<testsuite name="pytest"><testcase classname="test_a" name="test_x"><failure message="assert 0">
test_a.py:3: AssertionError</failure></testcase><testcase classname="test_a" name="test_y"/></testsuite>"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "log.txt").write_text(LOG, encoding="utf-8")
    (tmp_path / "junit.xml").write_text(REPORT, encoding="utf-8")
    return tmp_path


def test_programs_get_one_document(folder: Path) -> None:
    done = start(
        folder, "parse-log", "--tool", "gcc", "--root", "/workspace/app", "--exit-code", "1", "log.txt", "--json"
    )
    assert (done.returncode, done.stderr) == (0, "")
    found = json.loads(done.stdout)
    assert (found["status"], found["testSummary"]) == ("failed", None)
    assert [(f["kind"], f["file"], f["line"], f["column"]) for f in found["failures"]] == [
        ("compile_error", "m.c", 11, 12)
    ]
    assert [(w["file"], w["line"]) for w in found["warnings"]] == [("m.c", 9)]
    assert set(found["failures"][0]) >= {"message", "symbol", "testName", "code", "evidence"}


def test_people_get_a_line_for_each_failure(folder: Path) -> None:
    done = start(
        folder, "parse-log", "--tool", "pytest", "--root", ".", "--report", "junit.xml", "--exit-code", "1", "log.txt"
    )
    assert done.stdout.splitlines() == [
        "failed (2 tests: 1 passed, 1 failed, 0 broken, 0 skipped)",
        "test_a.py:3: test_failure: assert 0 [test_a.py::test_x]",
    ]


def test_a_run_that_was_stopped_timed_out(folder: Path) -> None:
    done = start(folder, "parse-log", "--tool", "pytest", "--exit-code", "-1", "--timed-out", "log.txt", "--json")
    found = json.loads(done.stdout)
    assert (found["status"], [f["kind"] for f in found["failures"]]) == ("timed_out", ["timeout"])


def test_without_an_exit_code_nothing_is_shown_to_have_passed(folder: Path) -> None:
    (folder / "empty").write_text("all good\n", encoding="utf-8")
    assert start(folder, "parse-log", "--tool", "make", "empty").stdout.startswith("errored\n")


def test_a_tool_that_exited_with_0_and_reports_no_failure_has_passed(folder: Path) -> None:
    (folder / "empty").write_text("all good\n", encoding="utf-8")
    assert start(folder, "parse-log", "--tool", "make", "--exit-code", "0", "empty").stdout.startswith("passed")


def test_an_unknown_tool_is_told_the_nearest(folder: Path) -> None:
    done = start(folder, "parse-log", "--tool", "pytets", "log.txt")
    assert done.returncode == 1
    assert said(done) == "agent-fox: there is no parser for the tool 'pytets'; did you mean pytest?"


def test_a_file_that_is_not_there_is_an_error(folder: Path) -> None:
    done = start(folder, "parse-log", "--tool", "gcc", "--report", "absent.xml", "log.txt")
    assert done.returncode == 1
    assert "absent.xml" in said(done)


def test_text_of_a_log_cannot_steer_the_terminal(folder: Path) -> None:
    report = REPORT.replace("assert 0", "&#x9b;31m red")
    (folder / "junit.xml").write_text(report, encoding="utf-8")
    done = start(folder, "parse-log", "--tool", "pytest", "--exit-code", "1", "--report", "junit.xml", "log.txt")
    assert "\x9b" not in done.stdout
