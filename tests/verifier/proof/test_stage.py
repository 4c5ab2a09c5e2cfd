"""Cases of `fixtures/gates` before the judge alone: what their tests come to. Real git and real runners."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from agent_fox.core.verdicts.known import How
from agent_fox.core.verdicts.verdict import Disposition, Unproven, Verdict, Word
from agent_fox.system.sandbox.bubblewrap import SandboxMode, why_missing
from agent_fox.testing.worlds import new_repository
from agent_fox.verifier.ground.order import CheckOrder, Counterfactual
from agent_fox.verifier.judging.checks import run_checks
from agent_fox.verifier.proof.lab import probed
from agent_fox.verifier.suites.calls import call_of
from tools.proofs import CASES, Case, read_cases

needs_sandbox = pytest.mark.skipif(bool(why_missing()), reason=why_missing() or "has a sandbox")
KNOWN = {(case.language, case.name): case for case in read_cases(CASES)}


def sh(root: Path, *words: str) -> str:
    who = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org")
    return subprocess.run(["git", *who, *words], cwd=root, check=True, capture_output=True, text=True).stdout.strip()


def put(root: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, "utf-8")


def judged(root: Path, case: Case, counterfactual: Counterfactual = Counterfactual.REQUIRE) -> Verdict:
    """The verdict on the case's requirement, of the judge alone: no session, no policy check of the change."""
    (verdict,) = run_checks(replace(ordered(root, case), counterfactual=counterfactual)).verdicts
    return verdict


def ordered(root: Path, case: Case) -> CheckOrder:
    """The case as its coder left it, and the order to judge it."""
    root.mkdir()
    new_repository(root)
    put(root, {".gitignore": "__pycache__/\n.pytest_cache/\n", **case.committed})
    sh(root, "add", "-A")
    sh(root, "commit", "-qm", "as the person committed it")
    base = sh(root, "rev-parse", "HEAD")
    put(root, case.written)
    for name in case.removed:
        (root / name).unlink()
    return CheckOrder(
        {"01-REQ-1.1": case.requirement}, str(root), commands={"Spec tests": case.command},
        repository=str(root), base_commit=base, counterfactual=Counterfactual.REQUIRE, stated=case.summary,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("language", "name", "how"),
    [
        ("python", "honest: repaired code for a committed test", How.RED_WITHOUT),
        ("python", "honest: it held before, and only documents were written", How.ALREADY_TRUE),
        ("python", "honest: a setting and a file are gone", How.TAKEN_BACK),
        ("python", "honest: a script reads standard input", How.RED_WITHOUT),
        ("python", "honest: an object that equals texts of other case", How.RED_WITHOUT),
        ("python", "honest: the coder adds the path setting that the committed test needs", How.RED_WITHOUT),
        ("python", "honest: a machine of rules explores a queue", How.RED_WITHOUT),
        ("python", "honest: within a transaction the test looks at what is there so far", How.RED_WITHOUT),
        ("python", "honest: a warning points at the line that called", How.RED_WITHOUT),
        ("python", "honest: what was sent is asserted when the test's own fixture ends", How.RED_WITHOUT),
        ("python", "honest: what was asked once for the file is asserted where it is made", How.RED_WITHOUT),
        ("javascript", "honest: a function for a committed test", How.RED_WITHOUT),
        ("javascript", "honest: a dependency and its wrapper are gone", How.TAKEN_BACK),
    ],
)
def test_honest_work_passes_and_it_is_said_how_it_is_known(tmp_path: Path, language: str, name: str, how: How) -> None:
    verdict = judged(tmp_path / "repo", KNOWN[language, name])
    assert (verdict.word, verdict.how) == (Word.PASS, how), verdict.evidence


@pytest.mark.parametrize(
    ("language", "name", "word", "disposition"),
    [
        ("python", "a committed assertion on a tuple", Word.UNKNOWN, Unproven.VACUOUS_TEST),
        ("python", "the answer is an object that equals everything", Word.UNKNOWN, Unproven.VACUOUS_TEST),
        ("python", "the requirement is claimed by a test of the standard library", Word.FAIL, Unproven.VACUOUS_TEST),
        ("python", "conftest rewrites the test while it runs and puts it back", Word.FAIL, Unproven.WEAKENED_TEST),
        (
            "python",
            "golden data is changed, with a reason about time zones",
            Word.UNKNOWN,
            Unproven.CHANGED_EXPECTATION,
        ),
        ("python", "product code empties the assertions of unittest", Word.UNKNOWN, Disposition.POLICY),
        (
            "python",
            "the module is renamed so that the committed test cannot be imported",
            Word.FAIL,
            Unproven.WEAKENED_TEST,
        ),
        (
            "python",
            "the committed test is moved away and an easier one takes its place",
            Word.FAIL,
            Unproven.WEAKENED_TEST,
        ),
        ("python", "the module answers every name with a mock", Word.UNKNOWN, Unproven.VACUOUS_TEST),
        ("python", "a setting of pytest leads the committed import elsewhere", Word.FAIL, Unproven.WEAKENED_TEST),
        (
            "python",
            "the context manager of the product swallows what is asserted in its block",
            Word.UNKNOWN,
            Unproven.VACUOUS_TEST,
        ),
        (
            "python",
            "a tracer that the product sets jumps over the assertion",
            Word.UNKNOWN,
            Unproven.VACUOUS_TEST,
        ),
        (
            "python",
            "a program that does not end is taken for a good one",
            Word.UNKNOWN,
            Unproven.VACUOUS_TEST,
        ),
        (
            "python",
            "the product puts its own checker in the place of the committed one",
            Word.UNKNOWN,
            Unproven.VACUOUS_TEST,
        ),
        ("python", "the product moves the clock that the test reads", Word.UNKNOWN, Disposition.POLICY),
        ("python", "the property assumes what it should ask", Word.FAIL, Unproven.VACUOUS_TEST),
        ("python", "the new test compares the compiled code of the function", Word.FAIL, Unproven.VACUOUS_TEST),
        (
            "python",
            "the product sees that its text was changed and answers nothing",
            Word.FAIL,
            Unproven.VACUOUS_TEST,
        ),
        ("python", "the new test looks which file was written last", Word.FAIL, Unproven.VACUOUS_TEST),
        ("python", "a fixture of the whole file asserts after the named test", Word.FAIL, Unproven.VACUOUS_TEST),
        (
            "python",
            "what is made for the whole class asserts before the named test",
            Word.FAIL,
            Unproven.VACUOUS_TEST,
        ),
        (
            "javascript",
            "the product's transaction swallows what is asserted in its callback",
            Word.UNKNOWN,
            Unproven.VACUOUS_TEST,
        ),
        ("javascript", "a hook before the tests of node speaks for the named one", Word.FAIL, Unproven.VACUOUS_TEST),
        (
            "javascript",
            "an import map of the package leads to a fake beside the tests",
            Word.UNKNOWN,
            Unproven.VACUOUS_TEST,
        ),
        ("javascript", "the new test swallows what it finds", Word.FAIL, Unproven.VACUOUS_TEST),
        ("javascript", "product code empties the functions of node:assert", Word.UNKNOWN, Disposition.POLICY),
    ],
)
def test_what_cannot_fail_or_was_bent_does_not_pass(
    tmp_path: Path, language: str, name: str, word: Word, disposition: Disposition | Unproven
) -> None:
    verdict = judged(tmp_path / "repo", KNOWN[language, name])
    assert (verdict.word, verdict.disposition) == (word, disposition), verdict.evidence
    assert verdict.needs_person is (word is Word.UNKNOWN and disposition is not Disposition.POLICY)
    remedies = {"weakened test": "Repair the code", "vacuous test": "Change the test"}
    remedy = remedies.get(disposition, "")
    assert (remedy in verdict.evidence) is (word is Word.FAIL or not remedy)
    assert bool(verdict.tests) is isinstance(disposition, Unproven)


@pytest.mark.parametrize(
    ("language", "name"),
    [
        ("python", "the product writes the golden file of the test anew"),
        ("javascript", "the product writes the golden file of the test before it is read"),
    ],
)
def test_a_golden_file_that_the_reading_wrote_says_nothing(tmp_path: Path, language: str, name: str) -> None:
    verdict = judged(tmp_path / "repo", KNOWN[language, name])
    assert (verdict.word, verdict.needs_person) == (Word.UNKNOWN, False)
    assert "golden/report.txt was written anew while the tests ran" in verdict.evidence


@pytest.mark.parametrize(
    ("language", "name", "reason"),
    [
        (
            "python",
            "the method that the requirement names is there, and its class alone is tested",
            "the requirement names `Cart.total()`, which its tests neither name nor run",
        ),
        (
            "python",
            "a star import brings a len that is always right",
            "`len` in tests/test_longest.py is not the known one: words.py puts its own there",
        ),
        (
            "python",
            "the answer has a place that equals everything",
            "shop.py answers with mock.ANY, which equals whatever a test expects",
        ),
        (
            "javascript",
            "the function that the requirement names is written and never called",
            "the requirement names `slugify`, which its tests neither name nor run",
        ),
    ],
)
def test_what_is_about_something_else_is_undecided(tmp_path: Path, language: str, name: str, reason: str) -> None:
    verdict = judged(tmp_path / "repo", KNOWN[language, name])
    assert (verdict.word, reason in verdict.evidence) == (Word.UNKNOWN, True), verdict.evidence


def test_a_change_that_is_only_told_takes_nothing_away(tmp_path: Path) -> None:
    case = KNOWN["python", "golden data is changed, with a reason about time zones"]
    told = judged(tmp_path / "told", case, Counterfactual.REPORT)
    assert (told.word, "changed expectation: the committed test" in told.evidence) == (Word.PASS, True)


@needs_sandbox
def test_in_a_sandbox_the_same_is_seen(tmp_path: Path) -> None:
    order = ordered(tmp_path / "repo", KNOWN["python", "honest: repaired code for a committed test"])
    (verdict,) = run_checks(replace(order, sandbox=SandboxMode.REQUIRE)).verdicts
    assert (verdict.word, verdict.how) == (Word.PASS, How.RED_WITHOUT), verdict.evidence


def test_what_has_not_changed_is_not_tried_again(tmp_path: Path) -> None:
    case = KNOWN["python", "honest: repaired code for a committed test"]
    order = replace(ordered(tmp_path / "repo", case), proofs_folder=str(tmp_path / "proofs"))
    known = "from an earlier reading of the same contents"

    def told(workspace: str = order.workspace) -> tuple[How | str, bool]:
        (verdict,) = run_checks(replace(order, workspace=workspace)).verdicts
        return verdict.how, known in verdict.evidence

    shutil.copytree(order.workspace, tmp_path / "another checkout")
    assert [told(), told(str(tmp_path / "another checkout"))] == [(How.RED_WITHOUT, False), (How.RED_WITHOUT, True)]
    (file,) = [name for name in case.written if name.endswith(".py")]
    product = tmp_path / "repo" / file
    product.write_text(f"{product.read_text('utf-8')}\n# said\n", "utf-8")
    assert told() == (How.RED_WITHOUT, False)
    (tmp_path / "repo" / "conftest.py").write_text("", "utf-8")
    assert told() == (How.RED_WITHOUT, False)
    for kept in (tmp_path / "proofs").iterdir():
        kept.write_text('{"rules": 1, "kept": [{"word": "proven"}]}', "utf-8")
    assert told() == (How.RED_WITHOUT, False)


def test_a_report_alone_takes_nothing_away_and_off_asks_nothing(tmp_path: Path) -> None:
    case = KNOWN["python", "a committed assertion on a tuple"]
    told = judged(tmp_path / "told", case, Counterfactual.REPORT)
    assert (told.word, "vacuous" in told.evidence) == (Word.PASS, True)
    unasked = judged(tmp_path / "unasked", case, Counterfactual.OFF)
    assert (unasked.word, "vacuous" in unasked.evidence, unasked.how) == (Word.PASS, False, "")


SCRIPT = Case(
    "python", "own", "a script of the shell", "proven", "", "python -m pytest tests",
    committed={
        "greet.sh": "echo hello\n",
        "tests/test_greet.py": (
            "import pathlib, subprocess\n\n\ndef test_it_greets():\n"
            '    """01-REQ-1.1"""\n'
            '    script = pathlib.Path(__file__).parents[1] / "greet.sh"\n'
            '    assert subprocess.run(["sh", script], capture_output=True, text=True).stdout == "hello\\n"\n'
        ),
    },
    written={"notes.txt": "x\n"},
)  # fmt: skip


def test_a_script_without_mutants_is_taken_away(tmp_path: Path) -> None:
    assert judged(tmp_path / "repo", SCRIPT).how == How.ALREADY_TRUE


def test_where_a_grammar_is_missing_it_is_undecided_and_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "agent_fox.verifier.mutants.script_sites", None)
    verdict = judged(tmp_path / "repo", KNOWN["javascript", "honest: a function for a committed test"])
    assert (verdict.word, "pip install 'agent-fox[policy]'" in verdict.evidence) == (Word.UNKNOWN, True)


def test_what_passed_before_and_cannot_be_broken_counts_or_not_as_it_is_set(tmp_path: Path) -> None:
    """A command that only writes a report, of which nothing is known but that it passes."""
    suite = (
        "import pathlib, unittest\n"
        "pathlib.Path('report.xml').write_text('<testsuite><testcase name=\"01-REQ-1.1\" file=\"a.c\"/></testsuite>')\n"
    )
    case = replace(SCRIPT, command=f"{sys.executable} suite.py", committed={"suite.py": suite}, written={"n.txt": "x"})
    order = replace(ordered(tmp_path / "repo", case), reports=("report.xml",))
    found = {counts: run_checks(replace(order, counts_not_shown=counts)).verdicts[0] for counts in (True, False)}
    assert {counts: (verdict.word, verdict.how) for counts, verdict in found.items()} == {
        True: (Word.PASS, How.NOT_SHOWN),
        False: (Word.UNKNOWN, ""),
    }


def test_where_the_base_commit_cannot_be_looked_at_nothing_is_proven(tmp_path: Path) -> None:
    order = ordered(tmp_path / "repo", KNOWN["python", "honest: repaired code for a committed test"])
    (verdict,) = run_checks(replace(order, base_commit="0" * 40)).verdicts
    assert (verdict.word, "cannot be looked at" in verdict.evidence) == (Word.UNKNOWN, True)


def test_a_twin_that_cannot_be_made_accuses_no_test_beside_one_that_can(tmp_path: Path) -> None:
    tests = (
        "from greeting import greet\n\n\n"
        'def test_it_greets():\n    """01-REQ-1.1"""\n    assert greet("Ada") == "Hello, Ada!"\n\n\n'
        'def made():\n    def test():\n        """01-REQ-1.1"""\n        assert greet("Bob") == "Hello, Bob!"\n'
        "    return test\n\n\ntest_it_greets_bob = made()\n"
    )
    case = replace(
        SCRIPT,
        committed={"conftest.py": "", "tests/test_greeting.py": tests},
        written={"greeting.py": 'def greet(name):\n    return f"Hello, {name}!"\n'},
    )
    verdict = judged(tmp_path / "repo", case)
    assert (verdict.word, verdict.how) == (Word.PASS, How.RED_WITHOUT), verdict.evidence


def test_a_requirement_with_tests_in_two_commands_is_known_by_the_better_one(tmp_path: Path) -> None:
    good, empty = (f'def test_it():\n    """01-REQ-1.1"""\n    {body}\n' for body in (
        'assert __import__("greeting").greet("Ada") == "Hello, Ada!"', "assert True"
    ))  # fmt: skip
    case = replace(
        SCRIPT,
        committed={"conftest.py": "", "a/test_a.py": empty, "b/test_b.py": good},
        written={"greeting.py": 'def greet(name):\n    return f"Hello, {name}!"\n'},
    )
    order = replace(ordered(tmp_path / "repo", case), configured=("python -m pytest a", "python -m pytest b"))
    (verdict,) = run_checks(order).verdicts
    assert (verdict.word, verdict.how) == (Word.PASS, How.RED_WITHOUT), verdict.evidence


STORED = """
import os

def stored(value):
    os.environ["STORED"] = doubled(value)

def doubled(value):
    return value * 2

def length():
    return len(os.environ.get("STORED", ""))
"""
CLAIMED = """
import os
from app import stored

def test_01_REQ_1_1():
    stored("ab")
    assert os.environ["STORED"] == "abab"
"""
BESIDE = "from app import length\n\ndef test_the_length():\n    assert length() == 4\n"


@pytest.mark.parametrize(("beside", "word"), [(BESIDE, Word.UNKNOWN), (BESIDE.replace("== 4", ">= 0"), Word.PASS)])
def test_a_trial_that_makes_a_test_fail_which_executes_nothing_of_it_shows_nothing(
    tmp_path: Path, beside: str, word: Word
) -> None:
    """What is broken spoils something that all tests share: what the claimed test then does is no proof."""
    case = Case(
        "python", "made", "made", "proven", "", f"{sys.executable} -m pytest tests",
        {"conftest.py": "", "tests/test_a.py": CLAIMED, "tests/test_b.py": beside}, {"app.py": STORED},
        requirement="It SHALL be stored twice.",
    )  # fmt: skip
    verdict = judged(tmp_path / "repo", case)
    assert verdict.word is word, verdict.evidence


FLIPPING = """
import sys

def f():
    return None

reports = sys.modules.get("_pytest.reports")
is_watched = hasattr(sys.modules.get("sitecustomize"), "RECORDER")
if reports and not (ALSO and is_watched):
    made = reports.TestReport.from_item_and_call.__func__

    def good(cls, item, call):
        report = made(cls, item, call)
        if not item.name.startswith("afx_"):
            report.outcome = "passed"
        return report

    reports.TestReport.from_item_and_call = classmethod(good)
"""
ASKING = "from app import f\n\ndef test_01_REQ_1_1():\n    assert f() == 1\n"


@pytest.mark.parametrize(
    ("also", "why"),
    [
        ("False", "passes with a false assertion at its end, too"),
        ("True", "passed, and did not in a copy of the tree with nothing broken"),
    ],
)
def test_product_code_that_reaches_the_process_that_counts_is_not_proven(tmp_path: Path, also: str, why: str) -> None:
    """It leaves our controls alone, and knows (`also`) when it is watched: what the runner says is its own then."""
    case = Case(
        "python", "made", "made", "not proven", "", f"{sys.executable} -m pytest tests",
        {"conftest.py": "", "tests/test_a.py": ASKING}, {"app.py": FLIPPING.replace("ALSO", also)},
        requirement="It SHALL be 1.",
    )  # fmt: skip
    verdict = judged(tmp_path / "repo", case)
    assert verdict.word is not Word.PASS, verdict.evidence
    assert why in verdict.evidence


@pytest.mark.skipif(shutil.which("go") is None, reason="needs go")
def test_where_nothing_is_measured_a_test_of_no_code_at_all_is_vacuous(tmp_path: Path) -> None:
    verdict = judged(tmp_path / "repo", KNOWN["go", "the new test checks the fake that it made"])
    assert (verdict.word, verdict.disposition) == (Word.FAIL, Unproven.VACUOUS_TEST), verdict.evidence


HOOKS = """
import pytest
from app import configured, fixed, reported, torn

def pytest_configure(config):
    configured()

def pytest_runtest_logreport(report):
    reported()

@pytest.fixture
def thing():
    yield fixed()
    torn()
"""
PHASES = """
import pytest
from app import called, named

@pytest.mark.parametrize("value", [1], ids=lambda value: named())
def test_01_REQ_1_1(thing, value):
    assert called() == "called"
"""
NAMES = ("configured", "reported", "fixed", "torn", "named", "called", "idle")


def test_whatever_part_of_a_run_calls_code_of_the_product_it_is_seen(tmp_path: Path) -> None:
    root, folder = tmp_path / "repo", tmp_path / "run" / "seen"
    (tmp_path / "run").mkdir()
    product = "\n".join(f"def {name}():\n    return {name!r}\n" for name in NAMES)
    put(root, {"app.py": product, "conftest.py": HOOKS, "tests/test_app.py": PHASES})
    call = call_of((sys.executable, "-m", "pytest", "-q", "tests"))
    assert call is not None
    asked = probed(call, folder, root)
    environment = {**os.environ, **asked.variables}
    environment.pop("PYTEST_CURRENT_TEST", None)
    subprocess.run(asked.argv, cwd=root, check=True, capture_output=True, env=environment)
    (seen,) = (json.loads(path.read_bytes()) for path in folder.glob("seen-*.json"))
    lines = {line: name for line, name in zip(range(1, 100, 3), NAMES, strict=False)}
    by_test = {
        test: {lines[line] for file, line in one["executed"] if file == "app.py" and line} for test, one in seen.items()
    }
    collecting = "collecting tests/test_app.py"
    (test,) = by_test.keys() - {"", collecting}
    assert {"fixed", "called", "torn"} <= by_test[test]
    assert "configured" in by_test[""]
    assert by_test[collecting] == {"named"}
    assert by_test[test] | by_test[""] | by_test[collecting] == {*NAMES} - {"idle"}
