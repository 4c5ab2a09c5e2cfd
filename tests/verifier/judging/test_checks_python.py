"""The verdicts of `checks` on unittest, with real projects: a pass, a failure, a broken file, a missing module."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent_fox.core.spec import Trace
from agent_fox.core.verdicts.verdict import Disposition
from tests.verifier.workspace import checked, words

ONE = "04-REQ-1.1"
TWO = "04-REQ-1.2"

UNITTEST = {"Spec tests": "python -m unittest"}
TESTS = """
import unittest

class TestCart(unittest.TestCase):
    def test_04_req_1_1_adds(self):
        print("FAILED tests/test_a.py::TestCart::test_04_req_1_1_adds")

    def test_total(self):
        '''04-REQ-1.2'''
        with self.subTest("empty"):
            self.assertEqual(1, 2)
"""


def test_unittest_has_each_test_judged_by_its_own_outcome(tmp_path: Path) -> None:
    report = checked(tmp_path, {"test_a.py": TESTS}, ONE, TWO, commands=UNITTEST)
    assert words(report) == {ONE: "PASS", TWO: "FAIL"}
    failed = report.findings[1]
    assert failed.command == "python -m unittest -k '*TestCart.test_total'"
    assert failed.verdict.signal is not None
    assert failed.verdict.signal.first_error == "AssertionError: # != #"
    assert failed.verdict.evidence.startswith("`python -m unittest` (exit 1): AssertionError: 1 != 2")


def test_a_file_that_unittest_cant_import_fails_what_it_keeps_back(tmp_path: Path) -> None:
    passing = "import unittest\nclass T(unittest.TestCase):\n    def test_04_req_1_1_adds(self): pass\n"
    files = {"test_a.py": passing, "test_b.py": "import gone\n"}
    rows = (Trace(ONE, tests=("test_a.py::test_04_req_1_1_adds",)), Trace(TWO, tests=("test_b.py",)))
    report = checked(tmp_path, files, ONE, TWO, commands=UNITTEST, traceability=rows)
    assert words(report) == {ONE: "PASS", TWO: "FAIL"}
    assert "No module named 'gone'" in report.verdicts[1].evidence


def test_what_unittest_skips_or_expects_to_fail_proves_nothing(tmp_path: Path) -> None:
    tests = (
        "import unittest\nclass T(unittest.TestCase):\n"
        "    @unittest.skip('later')\n    def test_04_req_1_1(self): pass\n"
        "    @unittest.expectedFailure\n    def test_04_req_1_2(self): self.fail()\n"
    )
    assert words(checked(tmp_path, {"test_a.py": tests}, ONE, TWO, commands=UNITTEST)) == {ONE: "FAIL", TWO: "FAIL"}


def test_no_failure_of_unittest_hides_the_next(tmp_path: Path) -> None:
    tests = (
        "import unittest\nclass T(unittest.TestCase):\n"
        "    def test_04_req_1_1(self): self.fail()\n    def test_04_req_1_2(self): pass\n"
    )
    commands = {"Spec tests": "python -m unittest --failfast"}
    assert words(checked(tmp_path, {"test_a.py": tests}, ONE, TWO, commands=commands)) == {ONE: "FAIL", TWO: "PASS"}


def test_a_process_that_ends_before_its_report_is_not_believed(tmp_path: Path) -> None:
    tests = "import os, unittest\nclass T(unittest.TestCase):\n    def test_04_req_1_1(self): os._exit(0)\n"
    assert words(checked(tmp_path, {"test_a.py": tests}, ONE, commands=UNITTEST)) == {ONE: "UNKNOWN"}


@pytest.mark.parametrize("line", ["no-such-python -m unittest", "python -m no_such_module"])
def test_a_missing_interpreter_or_module_is_unknown(tmp_path: Path, line: str) -> None:
    report = checked(tmp_path, {"test_a.py": TESTS}, ONE, commands={"Spec tests": line})
    assert words(report) == {ONE: "UNKNOWN"}


def test_a_linter_that_finds_something_fails_what_its_tests_would_prove(tmp_path: Path) -> None:
    files = {"test_a.py": "import os\ndef test_04_req_1_1(): pass\n"}
    configured = ("python -m pytest -q", "python -m ruff check --isolated .")
    report = checked(tmp_path, files, ONE, configured=configured)
    assert words(report) == {ONE: "FAIL"}
    assert "`os` imported but unused" in report.verdicts[0].evidence
    assert report.verdicts[0].disposition is Disposition.REPAIRABLE


def test_a_requirement_that_is_only_a_number_is_shown_by_a_test_that_calls_it_so(tmp_path: Path) -> None:
    """A number in a name is no requirement; what was missing is said with what to write."""
    tests = (
        "import unittest\nclass T(unittest.TestCase):\n"
        "    def test_adds(self):\n        '''Feature: cart. Requirement 1.1'''\n    def test_1_2(self): pass\n"
    )
    report = checked(tmp_path, {"test_a.py": tests}, "1.1", "1.2", commands=UNITTEST, spec="cart")
    assert words(report) == {"1.1": "PASS", "1.2": "FAIL"}
    assert "a test names it by `Requirement 1.2` and `Feature: cart`" in report.verdicts[1].evidence
