"""What `make run` shows, run as it stands: scripted agents (a fake), real code, real git, real pytest."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from agent_fox.testing.demo import make_demo
from agent_fox.testing.worlds import rows, run_cli

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = make_demo(tmp_path_factory.mktemp("demo") / "demo", ROOT / "fixtures" / "demo")
    done = run_cli(root, "run", "--parallel", "3")
    assert done.returncode == 2, done.stderr
    return root


def outcome(root: Path, spec: str) -> tuple[object, ...]:
    (found,) = rows(
        root, f"SELECT status, outcome FROM plan_nodes WHERE archetype = 'verifier' AND spec_name = '{spec}'"
    )
    return tuple(found)


def decisions(root: Path, spec: str) -> list[str]:
    sql = f"SELECT kind FROM decisions WHERE spec_name = '{spec}' AND node_uid LIKE '%verifier' ORDER BY id"
    return [str(kind) for (kind,) in rows(root, sql) if kind != "Reopen"]


def test_one_spec_is_proven_at_the_first_attempt(demo: Path) -> None:
    assert outcome(demo, "01_money") == ("completed", "verified")
    assert set(decisions(demo, "01_money")) == {"Accept"}


def test_one_spec_is_sent_back_and_proven_at_the_second_attempt(demo: Path) -> None:
    assert outcome(demo, "02_cart") == ("completed", "verified")
    assert decisions(demo, "02_cart")[:2] == ["Recode", "Accept"]


def test_one_spec_spends_its_budget_and_leaves_history_and_one_issue(demo: Path) -> None:
    assert outcome(demo, "03_split") == ("completed", "escalated")
    assert rows(demo, "SELECT cause FROM blocking_history WHERE spec_name = '03_split'") == [("attempts spent",)]
    (issue,) = (demo / ".agent-fox" / "issues").glob("*.md")
    assert "03-REQ-2.1" in issue.read_text(encoding="utf-8")


def test_one_verifier_answers_gibberish_and_its_coders_pay_nothing(demo: Path) -> None:
    assert decisions(demo, "04_receipt")[:2] == ["Reread", "Accept"]
    assert rows(demo, "SELECT max(attempt) FROM sessions WHERE spec_name = '04_receipt'") == [(1,)]


def test_one_spec_is_held_back_because_it_depends_on_the_unproven_one(demo: Path) -> None:
    assert rows(demo, "SELECT DISTINCT root_node FROM blocking_history WHERE spec_name = '05_settle'") == [
        ("03_split:3",)
    ]
    assert rows(demo, "SELECT count(*) FROM sessions WHERE spec_name = '05_settle'") == [(0,)]


@pytest.mark.parametrize(("code", "ends_well"), [(2, True), (0, False), (1, False), (4, False)])
def test_make_run_ends_well_only_where_the_demonstration_does(tmp_path: Path, code: int, ends_well: bool) -> None:
    """The environment is a fake one whose `agent-fox` only exits with `code`; the demonstration's files are real."""
    binaries = tmp_path / "venv" / "bin"
    binaries.mkdir(parents=True)
    (binaries / "agent-fox").write_text(f"#!/bin/sh\nexit {code}\n")
    (binaries / "agent-fox").chmod(0o755)
    ready = binaries.parent / ".ready"
    ready.touch()
    os.utime(ready, (time.time() + 60, time.time() + 60))
    where = [f"VENV={binaries.parent}", "BIN=venv/bin", f"PYTHON={sys.executable}", f"CURDIR={tmp_path}"]
    words = ["make", "run", *where, f"DEMO={tmp_path / 'demo'}"]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(words, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=60)
    assert (done.returncode == 0) == ends_well, done.stdout + done.stderr
