from __future__ import annotations

from pathlib import Path

import pytest

from agent_fox.core.verdicts.verdict import Word
from agent_fox.verifier.ground.order import CheckOrder
from agent_fox.verifier.judging.checks import run_checks
from agent_fox.verifier.running.planned_commands import planned_lines
from tests.verifier.made_projects import OWN_PATH, PYPROJECT, write

TEST = 'from cart import total\n\n\ndef test_total():\n    """01-REQ-1.1"""\n    assert total([1, 2]) == 3\n'


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PATH", OWN_PATH)
    cart = "def total(prices):\n    return sum(prices)\n"
    return write(tmp_path, {"pyproject.toml": PYPROJECT, "cart.py": cart, "tests/test_cart.py": TEST})


def order(project: Path) -> CheckOrder:
    return CheckOrder({"01-REQ-1.1": "it sums"}, workspace=str(project))


def test_a_spec_that_names_no_command_is_judged_by_the_projects_own_tests(project: Path) -> None:
    report = run_checks(order(project))
    assert [run.line.split()[1:] for run in report.runs] == [["-m", "pytest"]]
    assert report.overall is Word.PASS


def test_and_fails_by_them(project: Path) -> None:
    write(project, {"cart.py": "def total(prices):\n    return 0\n"})
    assert run_checks(order(project)).overall is Word.FAIL


def test_a_folder_without_a_project_leaves_it_unknown(tmp_path: Path) -> None:
    report = run_checks(order(tmp_path))
    assert report.overall is Word.UNKNOWN
    assert "add its Test Commands" in report.findings[0].verdict.evidence


def test_each_build_system_in_the_root_has_its_line(project: Path) -> None:
    write(project, {"go.mod": "module example.com/x\n\ngo 1.19\n", "x.go": "package x\n"})
    lines = planned_lines(project)
    assert any(line.endswith("-m pytest") for line in lines)
    assert "go test ./..." in lines or len(lines) == 1  # where there is no go, it has no line
