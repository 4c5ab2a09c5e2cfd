"""`agent-fox hook`: the words around the stop hook, and the door that keeps it fast."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from agent_fox.cli import door
from agent_fox.cli.main import run
from agent_fox.testing import prefork
from tests.cli.program import PROGRAM, SOURCE, said, start

DOOR = [sys.executable, "-m", "agent_fox.cli.door"]


def through(program: list[str], where: Path, *words: str, given: str = "") -> subprocess.CompletedProcess[str]:
    environment = {"PATH": os.environ["PATH"], "HOME": str(where), "PYTHONPATH": str(SOURCE)}
    return prefork.run(words, cwd=where, env=environment, data=given.encode(), module=program[2])


def asked(where: Path) -> str:
    (where / "t.jsonl").write_text('{"type":"user"}\n')
    return json.dumps({"transcript_path": str(where / "t.jsonl"), "cwd": str(where), "session_id": "one"})


@pytest.mark.parametrize("program", [DOOR, PROGRAM], ids=["the door", "the whole program"])
def test_the_hook_answers_the_same_through_the_door_and_through_the_whole_program(
    program: list[str], tmp_path: Path
) -> None:
    let_go = through(program, tmp_path, "hook", "stop", given=asked(tmp_path))
    assert (let_go.returncode, let_go.stdout, let_go.stderr) == (0, "", "")
    held = through(program, tmp_path, "hook", "stop", given="{}")
    assert (held.returncode, held.stderr.startswith("BLOCKED: the client names no transcript")) == (2, True)
    for words in (["--nonsense"], ["--state"], ["--seconds", "x"], ["more"]):
        assert through(program, tmp_path, "hook", "stop", *words, given=asked(tmp_path)).returncode == 2
    assert through(DOOR, tmp_path, "hook", "stop", "--state", given=asked(tmp_path)).returncode == 2


@pytest.mark.parametrize("words", [["--version"], ["hook", "stop", "--help"], ["hook", "--help"], ["nonsense"], []])
def test_everything_else_is_the_program_that_it_was(words: list[str], tmp_path: Path) -> None:
    one, other = through(DOOR, tmp_path, *words), through(PROGRAM, tmp_path, *words)
    assert (one.returncode, one.stdout, one.stderr) == (other.returncode, other.stdout, other.stderr)


def test_a_failure_that_nobody_foresaw_is_a_block_and_no_traceback(tmp_path: Path) -> None:
    (tmp_path / "sqlite3.py").write_text("raise RuntimeError('a broken module: hunter2')\n")
    done = subprocess.run(
        [sys.executable, "-c", "from agent_fox.cli import door; door.main()", "hook", "stop"],
        cwd=tmp_path,
        env={"PYTHONPATH": f"{tmp_path}:{SOURCE}"},
        input="{}",
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "BLOCKED: the stop hook failed (RuntimeError); run `agent-fox doctor`\n"


def test_any_exception_within_the_hook_is_a_block() -> None:
    class Word(str):
        __slots__ = ()

        def __eq__(self, other: object) -> bool:
            raise MemoryError

        __hash__ = None  # type: ignore[assignment]

    assert door.stop_hook([Word("--state")])[0] == 2


def test_install_writes_shows_and_takes_out_again(tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    home = {"HOME": str(tmp_path)}
    tried = start(project, "hook", "install", "--claude", "--dry-run", **home)
    assert (tried.returncode, tried.stdout.count("would be written:")) == (0, 2)
    assert "+  " in tried.stdout
    assert list(project.iterdir()) == []
    done = start(project, "hook", "install", "--claude", "--codex", **home)
    assert (done.returncode, done.stdout.count("written:")) == (0, 4)
    assert "trusted" in done.stdout
    shown = json.loads(start(project, "hook", "show", "--json", **home).stdout)
    assert [(row["program"], row["scope"], row["is_installed"], row["trouble"]) for row in shown] == [
        ("claude", "project", True, ""),
        ("claude", "user", False, ""),
        ("codex", "project", True, ""),
        ("codex", "user", False, ""),
    ]
    assert start(project, "hook", "show", **home).stdout.count(": installed") == 2
    again = json.loads(start(project, "hook", "install", "--claude", "--json", **home).stdout)
    assert [row["change"] for row in again["files"]] == ["none", "none"]
    out = json.loads(start(project, "hook", "uninstall", "--json", **home).stdout)
    assert [row["change"] for row in out["files"]] == ["removed"] * 4
    assert [path for path in project.rglob("*") if path.is_file()] == []


def test_the_installed_command_is_the_hook(tmp_path: Path) -> None:
    start(tmp_path, "hook", "install", "--codex")
    hooks = json.loads((tmp_path / ".codex/hooks.json").read_text())
    command = hooks["hooks"]["Stop"][0]["hooks"][0]["command"]
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(SOURCE)}
    shell = ["sh", "-c", command]
    done = subprocess.run(
        shell, cwd=tmp_path, env=environment, input=asked(tmp_path), capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    done = subprocess.run(shell, cwd=tmp_path, env=environment, input="{}", capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "names no transcript" in done.stderr


def test_for_a_user_the_server_of_claude_is_told_as_a_command(tmp_path: Path) -> None:
    done = start(tmp_path, "hook", "install", "--claude", "--user")
    assert "claude mcp add --scope user agent-fox-review -- " in done.stdout
    assert (tmp_path / ".claude/settings.json").exists()


def test_what_cannot_be_done_is_said_in_one_line(tmp_path: Path) -> None:
    (tmp_path / ".mcp.json").write_text("{")
    done = start(tmp_path, "hook", "install", "--claude")
    assert done.returncode == 1
    assert said(done).startswith(f"agent-fox: {tmp_path}/.mcp.json: line 1, column 2: this is not JSON")
    both = start(tmp_path, "hook", "install", "--claude", "--user", "--project")
    assert (both.returncode, "exclude each other" in said(both)) == (1, True)
    none = start(tmp_path, "hook", "install", PATH="/nowhere")
    assert (none.returncode, "--claude or --codex" in said(none)) == (1, True)


def test_the_help_of_the_group_says_that_it_is_no_barrier(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["hook", "--help"]) == 0
    assert "no barrier" in " ".join(capsys.readouterr().out.split())
