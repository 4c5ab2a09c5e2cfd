"""Hidden checks beside the tests of a tree, judged by real pytest: what counts, and that nothing is left behind."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pytest

from agent_fox.core.spec import Trace
from agent_fox.core.verdicts.hidden import Reveal
from agent_fox.core.verdicts.verdict import Verdict, Word
from agent_fox.verifier.ground.order import CheckOrder
from agent_fox.verifier.ground.sources import LARGEST_SOURCE
from agent_fox.verifier.judging.checks import answer, run_checks
from agent_fox.verifier.judging.hidden_files import LARGEST_READ, unread
from tests.verifier.proof.test_stage import put

A, B = "01-REQ-1.1", "01-REQ-1.2"
SEEN = f"from cart import total\n\n\ndef test_seen():\n    '{A}'\n    assert total([1, 2]) == 3\n"
OTHER = f"def test_other():\n    '{B}'\n    assert True\n"
HIDDEN = f"from cart import total\n\n\ndef test_secret():\n    '{A}'\n    assert total([17, 25]) == 42\n"
RIGHT = "def total(prices):\n    return sum(prices)\n"
FAKED = "def total(prices):\n    return 3\n"


@pytest.fixture
def order(tmp_path: Path) -> CheckOrder:
    put(tmp_path / "tree", {"cart.py": RIGHT, "tests/test_seen.py": SEEN, "tests/test_other.py": OTHER})
    put(tmp_path / "tree", {"pytest.ini": "[pytest]\npythonpath = .\n"})
    put(tmp_path / "hidden", {"tests/test_kept.py": HIDDEN})
    return CheckOrder(
        {A: "the sum", B: "something else"}, str(tmp_path / "tree"),
        commands={"Spec tests": f"{sys.executable} -m pytest -q tests"},
        traceability=(Trace(A, tests=("tests/test_seen.py::test_seen",)),), hidden=str(tmp_path / "hidden"),
    )  # fmt: skip


def judged(order: CheckOrder) -> dict[str, Verdict]:
    return {one.requirement_id: one for one in run_checks(order).verdicts}


def test_they_count_for_what_they_name_and_nothing_of_them_stays(order: CheckOrder, tmp_path: Path) -> None:
    found = judged(order)
    assert [(found[one].word, found[one].how) for one in (A, B)] == [(Word.PASS, "hidden"), (Word.PASS, "")]
    assert not (tmp_path / "tree" / "tests" / "test_kept.py").exists()


def test_a_failing_one_is_told_by_criterion_and_kind_in_the_whole_answer(order: CheckOrder, tmp_path: Path) -> None:
    put(tmp_path / "tree", {"cart.py": FAKED})
    report = run_checks(order)
    told = {one.requirement_id: one.word for one in report.verdicts}
    assert told == {A: Word.FAIL, B: Word.PASS}
    assert not [word for word in ("secret", "test_kept", "[17, 25]") if word in str(answer(report))]
    live = tmp_path / "live"
    shown = judged(replace(order, reveal=Reveal.TEST, live=str(live)))[A]
    assert "$ " in live.read_text()
    assert not [word for word in ("secret", "test_kept", "[17, 25]") if word in live.read_text()]
    assert "test_secret" in shown.evidence


def test_one_that_does_not_run_proves_nothing(order: CheckOrder, tmp_path: Path) -> None:
    (tmp_path / "hidden" / "tests" / "test_kept.py").rename(tmp_path / "hidden" / "kept_elsewhere.py")
    found = judged(order)
    assert (found[A].word, found[B].word) == (Word.UNKNOWN, Word.PASS)
    assert "did not run" in found[A].evidence


def test_a_requirement_that_only_they_test_is_proven_by_them(order: CheckOrder, tmp_path: Path) -> None:
    (tmp_path / "tree" / "tests" / "test_seen.py").unlink()
    found = judged(replace(order, traceability=()))
    assert (found[A].word, found[A].how) == (Word.PASS, "hidden")


def test_what_cannot_be_read_leaves_open_what_no_other_check_names_and_is_listed(
    order: CheckOrder, tmp_path: Path
) -> None:
    put(tmp_path / "hidden", {"tests/test_large.py": "#" * (LARGEST_SOURCE + 1)})
    (tmp_path / "hidden" / "tests" / "test_linked.py").symlink_to(tmp_path / "elsewhere.py")
    found = judged(order)
    assert (found[A].word, found[B].word) == (Word.PASS, Word.UNKNOWN)
    assert "2 hidden checks could not be read (a symbolic link, larger than 2 MB)" in found[B].evidence
    assert "test_large" not in found[B].evidence
    assert unread(tmp_path / "hidden") == {
        "tests/test_large.py": "larger than 2 MB",
        "tests/test_linked.py": "a symbolic link",
    }
    assert LARGEST_READ == LARGEST_SOURCE
