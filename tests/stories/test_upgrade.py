"""A state that version 0.1.0 left, and the version that finds it: nothing is lost, and what is known is said as it is.

`fixtures/upgrade` is the demonstration as version 0.1.0 ran it, on another machine: its repository, and its state file
as SQL. The verifier's tests are real; the scripted agents have nothing left to do.
"""

from __future__ import annotations

import gzip
import os
import re
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from agent_fox.testing.worlds import SOURCE, git, rows, run_cli
from tests.stories.scene import NOT_PROVEN

LEFT = SOURCE / "fixtures" / "upgrade"
PROVEN_THEN = {"01_money": "4 tests passed", "02_cart": "5 tests passed", "04_receipt": "3 judged"}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """The repository with the state in it, and the settings with this machine's PATH."""
    root = tmp_path / "repo"
    git(tmp_path, "clone", "-q", str(LEFT / "repository.bundle"), str(root))
    git(root, "update-ref", "refs/heads/agent-fox/integration", "refs/remotes/origin/agent-fox/integration")
    with closing(sqlite3.connect(root / ".agent-fox" / "state.db")) as db:
        db.executescript(gzip.decompress((LEFT / "state-0.1.0.sql.gz").read_bytes()).decode())
    settings = root / ".agent-fox" / "config.toml"
    settings.write_text(re.sub(r'PATH = "[^"]*"', f'PATH = "{os.environ["PATH"]}"', settings.read_text()))
    return root


def test_who_only_looks_is_told_what_brings_it_up_to_date(root: Path) -> None:
    before = (root / ".agent-fox" / "state.db").read_bytes()
    seen = run_cli(root, "status")
    assert seen.returncode == 1
    assert "written by an older agent-fox; `agent-fox run` brings it up to date" in seen.stderr
    assert (root / ".agent-fox" / "state.db").read_bytes() == before


def test_a_run_keeps_what_was_proven_pays_nothing_and_its_ledger_is_sound(root: Path) -> None:
    sql = "SELECT id, status, coalesce(outcome, ''), attempt FROM plan_nodes ORDER BY id"
    before, history = rows(root, sql), rows(root, "SELECT id, requirement_id, verdict FROM verification_results")
    done = run_cli(root, "run")
    assert done.returncode == NOT_PROVEN, done.stderr
    assert rows(root, sql) == before
    assert rows(root, "SELECT id, requirement_id, verdict FROM verification_results") == history
    assert "$0.00 spent" in done.stdout
    for name, how in PROVEN_THEN.items():
        assert re.search(rf"✓ {name} .* proven .*{how}", done.stdout), done.stdout
    checked = run_cli(root, "ledger", "verify")
    assert checked.returncode == 0, checked.stdout
    assert "this ledger is of version 0.1, or begins with it" in checked.stdout
    assert "03-REQ-2.1" in run_cli(root, "explain", "03_split:3").stdout


def test_what_is_proven_by_passing_tests_is_read_again_by_the_new_rule_at_one_word(root: Path) -> None:
    done = run_cli(root, "run", "--reprove", timeout=300)
    assert done.returncode == NOT_PROVEN, done.stderr
    assert "how it is known: 9 red without, 3 judged" in done.stdout
    assert run_cli(root, "ledger", "verify").returncode == 0
