"""What a person or a machine may put before a run: each gets one clear error or UNKNOWN, and nothing is half-done."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import replace
from pathlib import Path

import pytest

from agent_fox.testing.worlds import PLAYERS, Req, World, agent_table, commit_all, git, log, rows, run_cli
from tests.stories.scene import CANNOT_GO_ON, PROVEN, REFUSED, causes, coders, decisions, run

WORLD = World({"01_calc": [Req("01-REQ-1.1", 1)]})

RUDE = {
    "100 MB": "chunk = b'x' * 1_000_000 + b'\\n'\nfor _ in range(100): sys.stdout.buffer.write(chunk)",
    "bytes that are no text": "sys.stdout.buffer.write(bytes(range(128, 256)) * 50)",
    "nothing": "pass",
    "its own prompt": "print(open(os.environ['AGENT_FOX_BRIEF']).read())",
    "its prompt, then half an answer": "print(open(os.environ['AGENT_FOX_BRIEF']).read()); print('{\"verdicts\": [{')",
    "deep nesting": "print('[' * 100_000)",
}


JUDGE = """
import os, runpy, sys
if os.environ["AGENT_FOX_READING"] == "1":
    exec({code!r})
else:
    sys.argv = ["players", "verifier"]
    runpy.run_path({players!r}, run_name="__main__")
"""


@pytest.mark.parametrize("code", RUDE.values(), ids=RUDE)
def test_a_verifier_that_answers_so_is_read_again_and_the_coder_is_not_charged(tmp_path: Path, code: str) -> None:
    judge = tmp_path / "judge.py"
    judge.write_text(JUDGE.format(code=code, players=str(PLAYERS)))
    table = agent_table("verifier", json.dumps(str(tmp_path / "world" / "tools" / "story.json")))
    command = f"command = {json.dumps([sys.executable, str(judge)])}"
    told = [command if line.startswith("command") else line for line in table.splitlines()]
    root = replace(WORLD, settings="\n".join([*told, ""])).build(tmp_path / "world")
    run(root, ends=PROVEN)
    assert coders(root) == {"01_calc:1": 1}
    assert decisions(root, "01_calc:2") == ["Reread", "Accept"]


def test_a_setting_that_is_not_known_is_named_with_the_nearest_one(tmp_path: Path) -> None:
    root = replace(WORLD, settings="[retyr]\nattempts = 2\n").build(tmp_path)
    done = run(root, ends=REFUSED)
    assert "retyr" in done.stderr
    assert "retry" in done.stderr


def test_a_backend_that_nobody_knows_is_named(tmp_path: Path) -> None:
    root = WORLD.build(tmp_path)
    done = run(root, ends=REFUSED, AGENT_FOX__AGENTS__CODER__BACKEND="comand")
    assert "comand" in done.stderr
    assert "command" in done.stderr


def test_no_specs_no_repository_and_no_commit_are_refused(tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    assert "spec" in run(empty, ends=REFUSED).stderr + run_cli(empty, "plan").stderr
    git(empty, "init", "-q")
    assert run(empty, ends=REFUSED).stderr.strip() != ""
    root = WORLD.build(tmp_path / "world")
    (root / ".git").rename(tmp_path / "gone")
    assert "git" in run(root, ends=REFUSED).stderr
    assert log(root) == []


def test_an_empty_specs_folder_is_refused(tmp_path: Path) -> None:
    root = WORLD.build(tmp_path)
    (root / ".agent-fox" / "specs" / "01_calc").rename(tmp_path / "gone")
    assert "spec" in run(root, ends=REFUSED).stderr


def test_without_a_git_identity_work_lands_under_a_name_of_its_own(tmp_path: Path) -> None:
    root = WORLD.build(tmp_path / "world")
    home = tmp_path / "home"
    home.mkdir()
    run(root, ends=PROVEN, HOME=str(home), XDG_CONFIG_HOME=str(home), GIT_CONFIG_NOSYSTEM="1")
    assert git(root, "log", "-1", "--format=%cn", "agent-fox/integration") != ""


def test_a_huge_spec_file_is_refused_by_name_before_anything_starts(tmp_path: Path) -> None:
    root = WORLD.build(tmp_path)
    (root / ".agent-fox" / "specs" / "01_calc" / "requirements.md").write_text(
        "THE proof SHALL be right.\n" * 2_000_000
    )
    done = run(root, ends=REFUSED)
    assert "requirements.md" in done.stderr
    assert log(root) == []


def test_a_binary_file_beside_the_spec_does_not_matter(tmp_path: Path) -> None:
    root = WORLD.build(tmp_path)
    (root / ".agent-fox" / "specs" / "01_calc" / "picture.png").write_bytes(bytes(range(256)) * 100)
    commit_all(root, "a picture")
    run(root, ends=PROVEN)


def test_a_state_from_a_newer_version_is_left_alone(tmp_path: Path) -> None:
    root = WORLD.build(tmp_path)
    run(root, ends=PROVEN)
    state = root / ".agent-fox" / "state.db"
    with closing(sqlite3.connect(state)) as db:
        (version,) = db.execute("PRAGMA user_version").fetchone()
        db.execute(f"PRAGMA user_version = {version + 1}")
    before = state.read_bytes()
    done = run(root, ends=REFUSED)
    assert "newer" in done.stderr
    assert state.read_bytes() == before


@pytest.mark.parametrize("damage", [b"this is not a database at all\n" * 400, None], ids=["other bytes", "cut off"])
def test_a_corrupt_state_is_named_and_not_replaced(tmp_path: Path, damage: bytes | None) -> None:
    root = WORLD.build(tmp_path)
    run(root, ends=PROVEN)
    state = root / ".agent-fox" / "state.db"
    with closing(sqlite3.connect(state)) as db:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    whole = state.read_bytes()
    broken = damage or whole[: len(whole) // 2]
    state.write_bytes(broken)
    done = run(root, ends=REFUSED)
    assert "state.db" in done.stderr
    assert state.read_bytes() == broken


@contextmanager
def small_disk(folder: Path, size: str) -> Iterator[Path]:
    """A file system of that size at `folder`. Skips the test where this process may not mount one."""
    folder.mkdir(parents=True, exist_ok=True)
    if os.geteuid() != 0 or mount("-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)).returncode:
        pytest.skip("mounting a small file system needs root")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True, capture_output=True)


def mount(*arguments: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(["mount", *arguments], check=False, capture_output=True)


def fill(path: Path) -> None:
    """Write until nothing more goes on the disk."""
    with path.open("wb", buffering=0) as file, suppress(OSError):
        while True:
            file.write(b"x" * 4096)


QUICK = "[infrastructure]\nfirst_wait = 0.05\nattempts = 2\n"


def test_a_full_disk_under_the_workspaces_pauses_the_run_and_blocks_nothing(tmp_path: Path) -> None:
    root = replace(WORLD, settings=QUICK).build(tmp_path / "world")
    with small_disk(tmp_path / "world" / "state", "40k") as disk:
        run(root, ends=CANNOT_GO_ON)
        assert causes(root) == []
        assert mount("-o", "remount,size=50m", str(disk)).returncode == 0
        run(root, ends=PROVEN)
    assert coders(root) == {"01_calc:1": 1}
    assert rows(root, "SELECT count(*) FROM runs") == [(1,)]


def test_a_full_disk_under_the_state_is_one_clear_line_and_nothing_is_half_done(tmp_path: Path) -> None:
    root = replace(WORLD, settings=QUICK).build(tmp_path / "world")
    ours = tmp_path / "copy"
    (root / ".agent-fox").rename(ours)
    with small_disk(root / ".agent-fox", "500k") as disk:
        subprocess.run(["cp", "-a", f"{ours}/.", str(disk)], check=True)
        filler = disk / "filler"
        fill(filler)
        done = run_cli(root, "run")
        assert (done.returncode in (REFUSED, CANNOT_GO_ON), "Traceback" in done.stderr) == (True, False), done.stderr
        assert "full" in done.stderr or "No space" in done.stderr
        filler.unlink()
        assert mount("-o", "remount,size=50m", str(disk)).returncode == 0
        run(root, ends=PROVEN)
        assert coders(root) == {"01_calc:1": 1}
