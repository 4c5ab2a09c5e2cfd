"""`agent-fox gate --task-id afx-...`: a review task is closed where a reviewer said OK to the files as they are."""

from __future__ import annotations

import json
import threading
from dataclasses import replace
from pathlib import Path

import pytest
from sqlite_utils import Database

from agent_fox.engine.reviewing import Desk
from agent_fox.evidence.witness import path_of
from agent_fox.review.clearing import set_password
from tests.cli.program import start
from tests.review.worlds import OK, TASK, desk, program, repository, saying

PASSED, BLOCKED = 0, 2


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return repository(tmp_path / "project", **{".gitignore": "outputs/\n"})


def registered(root: Path, reviewer: Path) -> tuple[Desk, str]:
    at = desk(root, reviewer)
    return at, at.register(TASK, (), "")


def worked(at: Desk, task: str, text: str = "n = 1\n") -> None:
    (at.here / "new.py").write_text(text)
    at.review(task, threading.Event())


def gate(root: Path, task: str, ends: int) -> list[str]:
    """The checks that were found."""
    done = start(root, "gate", "--task-id", task, "--json", HOME=str(root.parent))
    assert done.returncode == ends, done
    return [str(one["check"]) for one in json.loads(done.stdout)["findings"]]


def test_a_verified_task_passes_until_its_files_change(root: Path, tmp_path: Path) -> None:
    at, task = registered(root, saying(tmp_path / "bin", OK))
    assert gate(root, task, BLOCKED) == ["review_registered"]
    worked(at, task)
    assert gate(root, task, PASSED) == []
    (root / "new.py").write_text("n = 2\n")
    assert gate(root, task, BLOCKED) == ["review_changed"]


def test_judging_a_task_does_not_change_the_files_that_were_reviewed(tmp_path: Path) -> None:
    root = repository(tmp_path / "project")
    at, task = registered(root, saying(tmp_path / "bin", OK))
    worked(at, task)
    for _ in range(3):
        assert gate(root, task, PASSED) == []
    assert not (root / "outputs").exists()


def test_a_rejected_and_a_failed_task_are_blocked(root: Path, tmp_path: Path) -> None:
    body = "print('{\"status\": \"NOK\"}' if 'n = 1' in prompt else 'prose')"
    at, task = registered(root, program(tmp_path / "bin", body))
    worked(at, task)
    assert gate(root, task, BLOCKED) == ["review_rejected"]
    worked(at, task, "n = 2\n")
    assert gate(root, task, BLOCKED) == ["review_failed"]


def test_clearing_satisfies_no_gate(root: Path, tmp_path: Path) -> None:
    at, task = registered(root, saying(tmp_path / "bin", OK))
    worked(at, task)
    set_password(at.password, "open sesame")
    at.clear([task], "open sesame")
    assert gate(root, task, BLOCKED) == ["review_cleared"]


def test_a_task_that_nobody_knows_is_blocked(root: Path, tmp_path: Path) -> None:
    assert gate(root, "afx-000000000000", BLOCKED) == ["review_unknown"]
    registered(root, saying(tmp_path / "bin", OK))
    assert gate(root, "afx-000000000001", BLOCKED) == ["review_unknown"]


def test_a_repository_that_is_gone_is_blocked(root: Path, tmp_path: Path) -> None:
    at, task = registered(root, saying(tmp_path / "bin", OK))
    worked(at, task)
    (root / ".git").rename(tmp_path / "elsewhere")
    assert gate(root, task, BLOCKED) == ["review_changed"]


def test_the_ledger_of_reviewed_tasks_is_whole_and_says_so_when_it_is_not(root: Path, tmp_path: Path) -> None:
    own = desk(root, saying(tmp_path / "bin", '{"status": "NOK", "feedback": "no"}'))
    at = replace(own, witness=path_of({"HOME": str(root.parent)}, root))
    task = at.register(TASK, (), "")
    worked(at, task)
    whole = start(root, "ledger", "verify", "--json", HOME=str(root.parent))
    assert whole.returncode == PASSED, whole
    db = Database(str(at.state))
    for name in ("review_events_no_update", "ledger_no_update"):
        db.execute(f"DROP TRIGGER {name}")
    db.execute("UPDATE review_events SET kind = 'verified' WHERE kind = 'rejected'")
    db.execute("UPDATE ledger SET content = replace(content, 'rejected', 'verified')")
    db.conn.commit()
    db.close()
    assert gate(root, task, BLOCKED) == ["review_damaged"]
    assert start(root, "ledger", "verify", HOME=str(root.parent)).returncode == BLOCKED
