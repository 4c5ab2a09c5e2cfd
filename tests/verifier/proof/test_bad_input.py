"""Repositories and tests to which the rules can hardly be applied: none is accused falsely, and the word says so.

Real git and real pytest, in the sandbox where there is one. What is random or away is played by a test that knows in
which folder it runs: the reading's own, and no copy.
"""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

import pytest

from agent_fox.core.verdicts.known import How
from agent_fox.core.verdicts.proof import Place
from agent_fox.core.verdicts.verdict import Unproven, Verdict, Word
from agent_fox.system.sandbox.bubblewrap import SandboxMode
from agent_fox.verifier.ground.order import CheckOrder
from agent_fox.verifier.judging.checks import run_checks
from agent_fox.verifier.proof.stage import _compatible
from agent_fox.verifier.proof.standing import Claim, Standing
from agent_fox.verifier.suites.suite import SuiteRun
from tests.verifier.proof.test_stage import SCRIPT, ordered

WHERE = 'import pathlib\nIS_READING = pathlib.Path.cwd().name == "repo"\n'
GREET = 'def greet(name):\n    return f"Hello, {name}!"\n'
TEST = 'def test_it():\n    """01-REQ-1.1"""\n'


def verdict_of(root: Path, committed: dict[str, str], written: dict[str, str], timeout: float = 60.0) -> Verdict:
    files = {"conftest.py": "", **committed}
    case = replace(SCRIPT, committed=files, written=written, requirement="It SHALL do what its task says.")
    order = replace(ordered(root, case), sandbox=SandboxMode.AUTO, timeout=timeout)
    (verdict,) = run_checks(order).verdicts
    return verdict


def tried(verdict: Verdict) -> list[tuple[str, str]]:
    return [(one.how, one.effect) for one in verdict.trials.tried] if verdict.trials else []


def test_a_base_that_does_not_build_leaves_red_before_open_and_it_is_said(tmp_path: Path) -> None:
    test = f'from greeting import greet\n\n\n{TEST}    assert greet("Ada") == "Hello, Ada!"\n'
    verdict = verdict_of(
        tmp_path / "repo", {"greeting.py": "def greet(:\n", "tests/test_a.py": test}, {"greeting.py": GREET}
    )
    assert (verdict.word, verdict.how) == (Word.PASS, How.RED_WITHOUT), verdict.evidence
    assert ("before the work", "not known") in tried(verdict)


@pytest.mark.parametrize(
    ("body", "word", "said"),
    [
        pytest.param("assert greet('Ada') and IS_READING", Word.UNKNOWN, "did not in a copy", id="random"),
        pytest.param(
            "import pytest\n    if not IS_READING:\n        pytest.skip('away')\n    assert greet('A') == 'Hello, A!'",
            Word.UNKNOWN, "did not in a copy", id="needs a service",
        ),
        pytest.param(
            "import socket\n    with socket.socket() as one:\n        one.bind(('127.0.0.1', 43117))\n"
            "    assert greet('A') == 'Hello, A!'",
            Word.PASS, "red without", id="takes a port for itself",
        ),
        pytest.param(
            "pathlib.Path('greeting.txt').write_text(greet('A'))\n    pathlib.Path('greeting.py').touch()\n"
            "    assert pathlib.Path('greeting.txt').read_text() == 'Hello, A!'",
            Word.PASS, "red without", id="changes files",
        ),
        pytest.param(
            "assert 'a false ' + 'assertion' not in pathlib.Path(__file__).read_text()\n"
            "    assert pathlib.Path(__file__).read_text().count('assert') == 5\n    assert greet('A') == 'Hello, A!'",
            Word.PASS, "no false twin could be made", id="reads its own source",
        ),
    ],
)  # fmt: skip
def test_tests_of_a_difficult_kind_are_undecided_or_decided_rightly(
    tmp_path: Path, body: str, word: Word, said: str
) -> None:
    test = f"from greeting import greet\n{WHERE}\n\n{TEST}    {body}\n"
    verdict = verdict_of(tmp_path / "repo", {"tests/test_a.py": test}, {"greeting.py": GREET})
    assert (verdict.word, said in verdict.evidence) == (word, True), verdict.evidence


def test_a_test_that_passes_only_behind_another_is_undecided(tmp_path: Path) -> None:
    test = (
        "from greeting import greet\nSEEN = []\n\n\ndef test_before():\n    SEEN.append(greet('A'))\n\n\n"
        f"{TEST}    assert SEEN == ['Hello, A!']\n"
    )
    verdict = verdict_of(tmp_path / "repo", {"tests/test_a.py": test}, {"greeting.py": GREET})
    assert (verdict.word, "did not in a copy" in verdict.evidence) == (Word.UNKNOWN, True), verdict.evidence


def test_a_mutant_that_deletes_its_folder_takes_nothing_else_along(tmp_path: Path) -> None:
    tidy = (
        "import pathlib, shutil\n\n\ndef tidy(folder):\n    for path in pathlib.Path(folder).iterdir():\n"
        "        if path.name == 'junk':\n            shutil.rmtree(path, ignore_errors=True)\n"
    )
    test = (
        f"import pathlib\nfrom tidying import tidy\n\n\n{TEST}    pathlib.Path('junk').mkdir(exist_ok=True)\n"
        "    tidy('.')\n    assert not pathlib.Path('junk').exists()\n"
    )
    root = tmp_path / "repo"
    verdict = verdict_of(root, {"tests/test_a.py": test, "kept/a.txt": "a"}, {"tidying.py": tidy})
    assert (verdict.word, verdict.how) == (Word.PASS, How.RED_WITHOUT), verdict.evidence
    assert ((root / "tidying.py").read_text(), (root / "kept" / "a.txt").read_text()) == (tidy, "a")


def test_a_mutant_that_hangs_shows_nothing_and_accuses_nobody(tmp_path: Path) -> None:
    step = "def step(n):\n    return n - 1\n"
    test = f"from steps import step\n\n\n{TEST}    n = 5\n    while n > 0:\n        n = step(n)\n    assert n == 0\n"
    verdict = verdict_of(tmp_path / "repo", {"tests/test_a.py": test}, {"steps.py": step}, timeout=10.0)
    assert (verdict.word is Word.FAIL, ("broken", "void") in tried(verdict)) == (False, True), verdict.evidence


def test_a_repository_without_tests_is_untested_and_nothing_is_tried(tmp_path: Path) -> None:
    verdict = verdict_of(tmp_path / "repo", {"tests/README.md": "# None yet\n"}, {"greeting.py": GREET})
    assert (verdict.evidence, verdict.trials) == ("no test that ran names 01-REQ-1.1", None)
    assert not isinstance(verdict.disposition, Unproven)


def test_generated_code_is_a_subject_like_other_code(tmp_path: Path) -> None:
    rows = ",".join(f"{number}:({number},{number * 7 % 11})" for number in range(4000))
    code = f"# Generated. DO NOT EDIT.\nTABLE={{{rows}}}\n" + "".join(
        f"def rule_{number}(x):return TABLE[x+{number}][1]\n" for number in range(400)
    )
    test = f"from tables import rule_7\n\n\n{TEST}    assert rule_7(3) == {10 * 7 % 11}\n"
    verdict = verdict_of(tmp_path / "repo", {"tests/test_a.py": test}, {"tables.py": code})
    assert (verdict.word, verdict.how) == (Word.PASS, How.RED_WITHOUT), verdict.evidence


def test_a_script_that_a_test_starts_runs_as_it_would_alone(tmp_path: Path) -> None:
    """What records it must not be what makes it fail: then any such test would seem to notice what is broken."""
    test = (
        f"import subprocess, sys\n\n\n{TEST}    assert subprocess.run([sys.executable, 'script.py']).returncode == 0\n"
    )
    script = "def words():\n    return 'hello'\n\n\nprint(words())\n"
    verdict = verdict_of(tmp_path / "repo", {"tests/test_a.py": test}, {"script.py": script})
    assert (verdict.disposition, verdict.word) == (Unproven.VACUOUS_TEST, Word.UNKNOWN), verdict.evidence


def test_two_thousand_requirements_on_one_test_file_share_a_few_runs(tmp_path: Path) -> None:
    ids = [f"01-REQ-1.{number}" for number in range(1, 2001)]
    code = "\n\n".join(f"def tax_{n}(price):\n    return price + {n}\n" for n in range(2000))
    tests = "".join(f'def test_{n}():\n    """{id}"""\n    assert tax_{n}(1) == {n + 1}\n' for n, id in enumerate(ids))
    root = tmp_path / "repo"
    case = replace(
        SCRIPT,
        committed={"conftest.py": ""},
        written={"shop.py": code, "tests/test_shop.py": f"from shop import *\n{tests}"},
    )
    order: CheckOrder = replace(
        ordered(root, case),
        expected=dict.fromkeys(ids, "it SHALL add the tax"),
        sandbox=SandboxMode.AUTO,
        timeout=300.0,
    )
    found = run_checks(order).verdicts
    assert {(one.word, one.how) for one in found} == {(Word.PASS, How.RED_WITHOUT)}
    assert max(one.trials.runs for one in found if one.trials) <= 5


def test_of_more_trials_than_may_be_made_the_first_are_and_the_others_wait() -> None:
    body = tuple(Place("shop.py", number) for number in range(500))
    run = SuiteRun("pytest")
    asked = []
    for place in body:
        one = Standing(Claim(f"R{place.number}", run, ()), executed=frozenset({("shop.py", 0)}), places=body)
        asked.append((one, (place,)))
    begin = time.monotonic()
    groups = list(_compatible(asked, 10))
    assert [len(group) for group in groups] == [1] * 10
    assert time.monotonic() - begin < 120
