"""The gate of the stop hook, asked by the real hook as a process of its own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from agent_fox.session.agents.runner import stop_hook
from agent_fox.session.agents.runner.stop_gate import StopGate, served


def ask(command: tuple[str, ...]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, input='{"hook": "Stop"}', capture_output=True, text=True, check=False, timeout=60)


def test_who_changed_nothing_may_stop(tmp_path: Path) -> None:
    with served(StopGate(tmp_path)) as command:
        ended = ask(command)
    assert (ended.returncode, ended.stderr) == (0, "")


def test_who_changed_files_and_ran_no_tests_is_held_back(tmp_path: Path) -> None:
    gate = StopGate(tmp_path)
    with served(gate) as command:
        (tmp_path / "a.py").write_text("x = 1\n")
        ended = ask(command)
    assert ended.returncode == 2
    assert "a.py" in ended.stderr
    assert "run_unit_tests" in ended.stderr
    assert gate.blocks == 1


def test_tests_that_ran_after_the_last_change_open_the_gate(tmp_path: Path) -> None:
    gate = StopGate(tmp_path)
    (tmp_path / "a.py").write_text("x = 1\n")
    gate.note_check()
    assert gate.why_not() == ""
    (tmp_path / "a.py").write_text("x = 2\n")
    assert "a.py" in gate.why_not()


def test_what_a_build_leaves_behind_is_no_change(tmp_path: Path) -> None:
    gate = StopGate(tmp_path)
    for product in ("__pycache__/a.pyc", "node_modules/x/index.js", ".git/index", "target/x.o", "sub/.pytest_cache/y"):
        (tmp_path / product).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / product).write_text("made")
    assert gate.why_not() == ""


def test_a_session_is_let_go_in_the_end(tmp_path: Path) -> None:
    gate = StopGate(tmp_path, most_blocks=2)
    (tmp_path / "a.py").write_text("x = 1\n")
    assert [bool(gate.why_not()) for _ in range(4)] == [True, True, False, False]
    assert gate.blocks == 2


def test_a_workspace_that_is_gone_holds_nobody(tmp_path: Path) -> None:
    gate = StopGate(tmp_path / "gone")
    assert gate.why_not() == ""


def test_a_wrong_word_learns_nothing_and_blocks(tmp_path: Path) -> None:
    with served(StopGate(tmp_path)) as command:
        *words, url = command
        ended = ask((*words, url.rpartition("/")[0] + "/guess"))
    assert ended.returncode == 2


def test_who_cannot_be_asked_has_not_agreed() -> None:
    ended = ask((sys.executable, "-I", "-S", stop_hook.__file__, "http://127.0.0.1:9/x"))
    assert ended.returncode == 2
    assert "cannot be asked" in ended.stderr
