"""Tests of our own stand around those of a run: a report that is wrong about them is not believed. Real runners."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from agent_fox.core.verdicts.verdict import Disposition, Unproven, Word
from agent_fox.verifier.ground.cases import Case, Outcome
from agent_fox.verifier.ground.order import CheckOrder
from agent_fox.verifier.judging.checks import run_checks
from agent_fox.verifier.suites.calls import call_of
from agent_fox.verifier.suites.controls import Controls, with_controls

TEST = 'from app import f\n\ndef test_it():\n    """01-REQ-1.1"""\n    assert f() == 1\n'
PATCHED_REPORT = """
import sys
def f(): return None
reports = sys.modules.get("_pytest.reports")
if reports:
    made = reports.TestReport.from_item_and_call.__func__
    def good(cls, item, call):
        report = made(cls, item, call)
        report.outcome = "passed"
        return report
    reports.TestReport.from_item_and_call = classmethod(good)
"""
NODE_TEST = """
const test = require("node:test"), assert = require("node:assert"), { f } = require("../app.cjs");
test("01-REQ-1.1 it", () => assert.strictEqual(f(), 1));
"""
UNITTEST = """
import unittest
from app import f

class A(unittest.TestCase):
    def test_it(self):
        '01-REQ-1.1'
        self.assertEqual(f(), 1)
"""
PYTEST, NODE = f"{sys.executable} -m pytest tests", "node --test tests"
UNIT = f"{sys.executable} -m unittest discover -s tests -t ."


def judged(root: Path, command: str, files: dict[str, str]) -> tuple[Word, str, Disposition | Unproven]:
    for name, text in {"tests/__init__.py": "", **files}.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    found = run_checks(CheckOrder({"01-REQ-1.1": "It SHALL be 1."}, str(root), configured=(command,)))
    (finding,) = found.findings
    return finding.verdict.word, finding.verdict.evidence, finding.verdict.disposition


RIGHT, WRONG = {"app.py": "def f(): return 1\n"}, {"app.py": "def f(): return None\n"}
CURIOUS = """
import pytest
@pytest.fixture(autouse=True)
def x(request):
    assert request.function.__doc__
    yield
def pytest_runtest_setup(item):
    item.function, item.fixturenames, item.funcargs, item.module
"""
FROZEN = "import time\ntime.monotonic = lambda: 7.0\n"
SKIPPED = "import pytest\npytestmark = pytest.mark.skip\ndef test_x(): pass\n"
NAMED = 'import test from "node:test"; test("01-REQ-1.1", async () => { await 1; });'
HONEST: dict[str, tuple[str, dict[str, str]]] = {
    "pytest": (PYTEST, {"tests/test_a.py": TEST, **RIGHT}),
    "a file without tests": (PYTEST, {"tests/test_a.py": TEST, "tests/test_b.py": "", **RIGHT}),
    "a module whose tests are all skipped": (PYTEST, {"tests/test_a.py": SKIPPED, "tests/test_b.py": TEST, **RIGHT}),
    "fixtures and hooks that ask a lot": (PYTEST, {"tests/conftest.py": CURIOUS, "tests/test_a.py": TEST, **RIGHT}),
    "tests that stop the clock": (PYTEST, {"tests/conftest.py": FROZEN, "tests/test_a.py": TEST, **RIGHT}),
    "a name of the language from the product, by import": (
        PYTEST,
        {
            "tests/test_a.py": TEST.replace("import f", "import f, sum"),
            "app.py": "def f(): return 1\ndef sum(x): return x\n",
        },
    ),
    "a name of the language that the test gives something to": (
        PYTEST,
        {"tests/test_a.py": f"import app\nround = app.f\n{TEST}", **RIGHT},
    ),
    "node's tests that stop the clock": (
        NODE,
        {"tests/a.test.cjs": f"Date.now = () => 7;\n{NODE_TEST}", "app.cjs": "exports.f = () => 1;\n"},
    ),
    "a path of its own": (f"env PYTHONPATH=src {PYTEST}", {"tests/test_a.py": TEST, "src/app.py": RIGHT["app.py"]}),
    "several workers": (f"{PYTEST} -n 2", {"tests/test_a.py": TEST, **RIGHT}),
    "-x": (PYTEST, {"tests/test_a.py": TEST, "pytest.ini": "[pytest]\naddopts = -x\n", **RIGHT}),
    "unittest": (UNIT, {"tests/test_a.py": UNITTEST, **RIGHT}),
    "node": (NODE, {"tests/a.test.cjs": NODE_TEST, "app.cjs": "exports.f = () => 1;\n"}),
    "node, one name, and a module without tests": (
        "node --test --test-name-pattern=REQ tests",
        {"tests/a.test.mjs": NAMED, "tests/b.test.mjs": "setTimeout(() => {}, 20);\n"},
    ),
}


@pytest.mark.parametrize("case", HONEST)
def test_an_honest_report_is_believed_and_shows_nothing_of_ours(tmp_path: Path, case: str) -> None:
    word, evidence, _ = judged(tmp_path, *HONEST[case])
    assert (word, "afx" in evidence) == (Word.PASS, False), evidence


AT_THE_FIRST_CALL = "def f():\n" + "".join(f"    {line}\n" for line in PATCHED_REPORT.splitlines()[2:])
FORGIVING = """
import unittest
unittest.TestCase.fail = unittest.TestCase.assertEqual = unittest.TestCase.assertFalse = lambda *given: None
def f(): return None
"""
FORGETFUL = """
import sys
sys.modules["__main__"].Recording.addFailure = lambda self, test, err: self.addSuccess(test)
def f(): return None
"""
SUMMING = """
import builtins
builtins.sum = lambda values: 2
def f(): return 2
"""
MOVING = """
import time
time.monotonic = lambda: 7.0
def f(): return 1
"""
ANSWERING = """
import pathlib
pathlib.Path.read_text = lambda self, *how, **more: "1"
def f(): return 1
"""
PUT = """
import sys
def f():
    sys._getframe(1).f_globals["sum"] = lambda values: 0
    return 1
"""
FORGED: dict[str, tuple[str, dict[str, str]]] = {
    "a sum of the product's among the names of the test": (PYTEST, {"tests/test_a.py": TEST, "app.py": PUT}),
    "and of unittest's": (UNIT, {"tests/test_a.py": UNITTEST, "app.py": PUT}),
    "node's clock is the product's own": (
        NODE,
        {"tests/a.test.cjs": NODE_TEST, "app.cjs": "Date.now = () => 1234567;\nexports.f = () => 1;\n"},
    ),
    "every report says that it passed": (PYTEST, {"tests/test_a.py": TEST, "app.py": PATCHED_REPORT}),
    "from the first call on": (PYTEST, {"tests/test_a.py": TEST, "app.py": f"import sys\n{AT_THE_FIRST_CALL}"}),
    "unittest's assertions hold": (UNIT, {"tests/test_a.py": UNITTEST, "app.py": FORGIVING}),
    "unittest's results forget failures": (UNIT, {"tests/test_a.py": UNITTEST, "app.py": FORGETFUL}),
    "what tests add up by is the product's own": (PYTEST, {"tests/test_a.py": TEST, "app.py": SUMMING}),
    "unittest's tests add up by it too": (UNIT, {"tests/test_a.py": UNITTEST, "app.py": SUMMING}),
    "the clock is the product's own": (PYTEST, {"tests/test_a.py": TEST, "app.py": MOVING}),
    "what files say is the product's own": (UNIT, {"tests/test_a.py": UNITTEST, "app.py": ANSWERING}),
    "every text of node's tests includes every other": (
        NODE,
        {
            "tests/a.test.cjs": NODE_TEST.replace("strictEqual(f(), 1)", "ok('a'.includes('b'))"),
            "app.cjs": "String.prototype.includes = () => true;\nexports.f = () => 2;\n",
        },
    ),
    "node's assertions hold": (
        NODE,
        {
            "tests/a.test.cjs": NODE_TEST,
            "app.cjs": 'require("node:assert").strictEqual = () => {};\nexports.f = () => 2;\n',
        },
    ),
}


@pytest.mark.parametrize("case", FORGED)
def test_a_runner_that_was_tampered_with_is_not_believed(tmp_path: Path, case: str) -> None:
    word, evidence, disposition = judged(tmp_path, *FORGED[case])
    assert (word, disposition) == (Word.UNKNOWN, Disposition.POLICY), evidence
    assert "the runner is not believed" in evidence


def test_tests_of_a_process_that_left_before_its_end_prove_nothing(tmp_path: Path) -> None:
    files = {
        "tests/a.test.cjs": f'{NODE_TEST}test("then it leaves", () => process.exit(0));',
        "app.cjs": "exports.f = () => 1;",
    }
    word, _, _ = judged(tmp_path, NODE, files)
    assert word is not Word.PASS


def test_a_failing_test_is_told_as_before(tmp_path: Path) -> None:
    for command, files in (HONEST["pytest"], HONEST["unittest"], HONEST["node"]):
        wrong = {name: text.replace("1", "2") if name.startswith("app") else text for name, text in files.items()}
        word, evidence, _ = judged(tmp_path, command, wrong)
        assert (word, "afx" in evidence, "(exit 1)" in evidence) == (Word.FAIL, False, True), evidence


def test_an_interpreter_that_would_not_find_them_carries_none(tmp_path: Path) -> None:
    call = call_of(("python", "-I", "-m", "pytest"))
    assert call is not None
    assert with_controls(call, tmp_path, tmp_path) == (call, None)


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ("", ""),
        ("after_fails", "not told of: after fails"),
        ("before_passes after_passes", "not told of: after passes, before passes"),
    ],
)
def test_what_is_missing_is_named(words: str, why: str) -> None:
    ends = {"passes": Outcome.PASSED, "fails": Outcome.FAILED}
    told = [Case((), f"n_{when}_{end}", outcome=ends[end]) for when in ("before", "after") for end in ends]
    left = [case for case in told if case.name.removeprefix("n_") not in words.split()]
    others, said = Controls("n").taken_out([Case((), "test_it", "t.py"), *left])
    assert [case.name for case in others] == ["test_it"]
    assert said.endswith(why)
    assert bool(said) is bool(why)
