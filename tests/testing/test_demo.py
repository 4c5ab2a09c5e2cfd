"""The demonstration shows what it promises: scripted coders write real code, the checks find its mistakes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from agent_fox.core.spec import Severity, Spec
from agent_fox.testing.demo import main, make_demo
from agent_fox.testing.scripted import agent as scripted_agent
from agent_fox.testing.scripted.script import Step, read_script
from agent_fox.verifier.ground.order import order_of, read_order
from agent_fox.verifier.judging.checks import run_checks
from tests.specs.worlds import built_in

FIXTURES = Path(__file__).parents[2] / "fixtures" / "demo"
NAMES = ("01_money", "02_cart", "03_split", "04_receipt", "05_settle")


@pytest.fixture
def demo(tmp_path: Path) -> Path:
    return make_demo(tmp_path / "shop", FIXTURES)


def test_the_demonstration_is_a_clean_repository_with_one_commit(demo: Path) -> None:
    assert _git(demo, "status", "--porcelain") == ""
    assert _git(demo, "rev-list", "--count", "--all").strip() == "1"
    assert "{path}" not in (demo / ".agent-fox" / "config.toml").read_text()


def test_its_specs_are_read_without_a_problem_and_ask_for_ten_to_twenty_things(demo: Path) -> None:
    specs = [_spec(demo, name) for name in NAMES]
    assert sum(len(spec.expected) for spec in specs) == 19
    assert [len(spec.groups) for spec in specs] == [2, 3, 2, 2, 2]
    assert [[(row.spec, row.from_group) for row in spec.dependencies] for spec in specs] == [
        [],
        [("01_money", 2)],
        [],
        [("01_money", 2)],
        [("03_split", 2)],
    ]


def test_every_implementing_group_owns_what_it_implements(demo: Path) -> None:
    cart = _spec(demo, "02_cart")
    assert cart.groups[2].requirements == ("02-REQ-2.1", "02-REQ-2.2")
    assert [group.writes_tests_only for group in cart.groups] == [True, False, False]


def test_money_is_proven_at_the_first_attempt(demo: Path) -> None:
    _play(demo, "01_money:1")
    assert _words(demo, "01_money") == {"FAIL"}
    _play(demo, "01_money:2")
    assert _words(demo, "01_money") == {"PASS"}


def test_the_cart_fails_on_one_requirement_and_is_proven_at_the_second_attempt(demo: Path) -> None:
    for node in ("02_cart:1", "02_cart:2", "02_cart:3"):
        _play(demo, node)
    assert _failing(demo, "02_cart") == {"02-REQ-2.1"}
    _play(demo, "02_cart:3", attempt=2)
    assert _words(demo, "02_cart") == {"PASS"}


def test_splitting_gets_better_three_times_and_never_right(demo: Path) -> None:
    _play(demo, "03_split:1")
    failing = []
    for attempt in (1, 2, 3):
        _play(demo, "03_split:2", attempt)
        failing.append(_failing(demo, "03_split"))
    assert failing == [
        {"03-REQ-1.1", "03-REQ-1.3", "03-REQ-1.E1", "03-REQ-2.1"},
        {"03-REQ-1.3", "03-REQ-2.1"},
        {"03-REQ-2.1"},
    ]


def test_after_a_reset_splitting_and_what_depends_on_it_are_proven(demo: Path) -> None:
    for node, attempt in (
        ("03_split:1", 1),
        ("03_split:2", 3),
        ("03_split:2", 4),
        ("05_settle:1", 1),
        ("05_settle:2", 1),
    ):
        _play(demo, node, attempt)
    assert _words(demo, "03_split") == {"PASS"}
    assert _words(demo, "05_settle") == {"PASS"}


def test_the_verifier_of_the_receipt_babbles_once_and_then_runs_the_checks(demo: Path) -> None:
    for node in ("01_money:2", "04_receipt:1", "04_receipt:2"):
        _play(demo, node)
    assert "{" not in _play(demo, "04_receipt:3", reading=1)
    for reading in (2, 3):
        answer = json.loads(_play(demo, "04_receipt:3", reading=reading))
        assert {row["requirement_id"]: row["verdict"] for row in answer["verdicts"]} == {
            id: "PASS" for id in _spec(demo, "04_receipt").expected
        }


def test_the_order_of_the_receipts_verifier_is_what_its_spec_asks_for(demo: Path) -> None:
    given = read_order((demo / ".agent-fox" / "04_receipt.checks.json").read_bytes())
    wanted = order_of(_spec(demo, "04_receipt"))
    assert given.expected == wanted.expected
    assert given.commands["Spec tests"] in wanted.commands.values()
    assert [(row.requirement, row.tests) for row in given.traceability] == [
        (row.requirement, row.tests) for row in wanted.traceability
    ]


def test_a_folder_that_is_in_use_and_fixtures_that_are_not_there_are_told_in_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "mine.txt").touch()
    assert main([str(tmp_path), "--fixtures", str(FIXTURES)]) == 1
    assert main([str(tmp_path / "new"), "--fixtures", str(tmp_path)]) == 1
    told = capsys.readouterr().err.splitlines()
    assert len(told) == 2
    assert "is not empty" in told[0]
    assert "the demonstration is not at" in told[1]


def _play(demo: Path, node: str, attempt: int = 1, reading: int = 1) -> str:
    """Play a session of the script as the scripted backend does; what it printed."""
    fitting = read_script(demo / ".agent-fox" / "agents.toml", Step).fitting(node, attempt, reading)
    assert fitting is not None, f"no step for {node}, attempt {attempt}"
    document = demo.parent / "document.json"
    document.write_text(json.dumps({"step": fitting[1].document(), "node": node}))
    argv = [sys.executable, scripted_agent.__file__, str(document)]
    return subprocess.run(argv, cwd=demo, env=_environment(), check=True, capture_output=True, text=True).stdout


def _environment() -> dict[str, str]:
    return {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}


def _spec(demo: Path, name: str) -> Spec:
    spec, problems = built_in("agent-fox").read(demo / ".agent-fox" / "specs" / name, demo)
    assert [problem for problem in problems if problem.severity is Severity.ERROR] == []
    assert problems == ()
    assert spec is not None
    return spec


def _verdicts(demo: Path, name: str) -> dict[str, str]:
    environment = {"PATH": _environment()["PATH"]}
    order = replace(order_of(_spec(demo, name)), workspace=str(demo), environment=environment)
    return {verdict.requirement_id: verdict.word.value for verdict in run_checks(order).verdicts}


def _failing(demo: Path, name: str) -> set[str]:
    return {id for id, word in _verdicts(demo, name).items() if word != "PASS"}


def _words(demo: Path, name: str) -> set[str]:
    return set(_verdicts(demo, name).values())


def _git(demo: Path, *arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=demo, check=True, capture_output=True, text=True).stdout
