"""`agent-fox review`: what stands with review tasks, and the password that a person types."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import threading
from pathlib import Path

import pytest

from agent_fox.engine.doors.reviewing import Desk
from agent_fox.review.clearing import FILE, MOST_TRIES, ClearingOff, is_right
from tests.cli.program import PROGRAM, SOURCE, said, start
from tests.review.worlds import OK, TASK, desk, repository, saying


@pytest.fixture
def at(tmp_path: Path) -> Desk:
    return desk(repository(tmp_path / "project"), saying(tmp_path / "bin", OK))


def typed(where: Path, home: Path, *answers: str) -> tuple[int, str]:
    """Run `agent-fox review password` at a terminal, and type an answer whenever it asks."""
    ours, theirs = pty.openpty()
    environment = {"PATH": os.environ["PATH"], "HOME": str(home), "PYTHONPATH": str(SOURCE)}
    process = subprocess.Popen(
        [*PROGRAM, "review", "password"], cwd=where, env=environment, stdin=theirs, stdout=theirs, stderr=theirs,
        start_new_session=True,
    )  # fmt: skip
    os.close(theirs)
    shown, left = "", list(answers)
    while piece := _read(ours):
        shown += piece
        if left and shown.endswith(": "):
            os.write(ours, f"{left.pop(0)}\n".encode())
    os.close(ours)
    return process.wait(60), shown


def _read(terminal: int) -> str:
    try:
        return os.read(terminal, 4096).decode()
    except OSError:  # the program has closed it
        return ""


def test_tasks_are_listed_with_where_they_stand(at: Desk) -> None:
    root = at.here
    none = start(root, "review", "tasks")
    assert (none.returncode, "no task was ever registered here" in said(none)) == (1, True)
    task = at.register(TASK, (), "")
    listed = start(root, "review", "tasks")
    assert listed.returncode == 2
    assert f"{task}  registered  Add a greeting" in listed.stdout
    (root / "new.py").write_text("n = 1\n")
    at.review(task, threading.Event())
    assert start(root, "review", "tasks", task).returncode == 0
    (root / "new.py").write_text("n = 2\n")
    changed = start(root, "review", "tasks", "--json")
    assert changed.returncode == 2
    (row,) = json.loads(changed.stdout)
    assert (row["task_id"], row["standing"]) == (task, "changed")
    assert str(root) in row["reason"]


def test_a_task_that_is_not_there_is_said(at: Desk) -> None:
    at.register(TASK, (), "")
    refused = start(at.here, "review", "tasks", "afx-000000000000")
    assert refused.returncode == 1
    assert "no review task afx-000000000000" in said(refused)


def test_a_password_is_typed_at_a_terminal_and_never_shown(at: Desk, tmp_path: Path) -> None:
    code, shown = typed(at.here, tmp_path, "open sesame", "open sesame")
    assert code == 0, shown
    file = tmp_path / ".config" / "agent-fox" / FILE
    assert is_right(file, "open sesame")
    assert str(file) in shown.replace("\r\n", "")


def test_setting_it_again_unlocks_it(at: Desk, tmp_path: Path) -> None:
    typed(at.here, tmp_path, "open sesame", "open sesame")
    file = tmp_path / ".config" / "agent-fox" / FILE
    for _ in range(MOST_TRIES):
        assert not is_right(file, "wrong")
    with pytest.raises(ClearingOff, match="locked"):
        is_right(file, "open sesame")
    assert typed(at.here, tmp_path, "another one", "another one")[0] == 0
    assert is_right(file, "another one")


def test_a_password_is_not_taken_from_a_pipe_or_an_argument(at: Desk) -> None:
    refused = start(at.here, "review", "password")
    assert refused.returncode == 1
    assert "typed by a person" in said(refused)
    assert start(at.here, "review", "password", "open sesame").returncode == 1


def test_a_password_that_is_too_short_is_refused(at: Desk, tmp_path: Path) -> None:
    code, shown = typed(at.here, tmp_path, "short", "short")
    assert code == 1
    assert "8 to 1024 characters" in shown


def test_a_password_inside_of_the_workspace_is_refused(at: Desk) -> None:
    code, shown = typed(at.here, at.here, "open sesame", "open sesame")
    assert code == 1
    assert "lies in the workspace" in shown
