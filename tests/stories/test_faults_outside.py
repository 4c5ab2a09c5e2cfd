"""Git fails now and then, or for good: the run ends as the calm one does, or pauses and does so later."""

from __future__ import annotations

import json
import shutil
import sqlite3
import stat
import subprocess
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

import pytest

from agent_fox.testing.worlds import Req, World, environment, program, run_cli

LOCK = "fatal: Unable to create '/x/HEAD.lock': File exists."
FULL = "fatal: write error: No space left on device"
UNFORESEEN = "fatal: nobody foresaw this"
STORY = World(
    {"01_bell": [Req("01-REQ-1.1", right_at=2)], "02_top": [Req("02-REQ-1.1")]}, depends={"02_top": "01_bell"}
)  # fmt: skip
PROGRAM = """#!/bin/sh
exec 9>{folder}/lock
flock 9
n=$(($(cat {folder}/count) + 1))
echo $n > {folder}/count
exec 9>&-
if {when}; then echo "{said}" >&2; exit 128; fi
exec {git} "$@"
"""
STANDINGS = "SELECT id, status, outcome, attempt, reading FROM plan_nodes ORDER BY position"


def wrapped(tmp_path: Path, when: str, said: str) -> dict[str, str]:
    """A PATH on which git is a program that fails where this shell condition over its number `$n` holds."""
    folder = tmp_path / "bin"
    folder.mkdir(exist_ok=True)
    (folder / "count").write_text("0")
    program = folder / "git"
    program.write_text(PROGRAM.format(folder=folder, when=when, said=said, git=shutil.which("git")))
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    return {"PATH": f"{folder}:/usr/local/bin:/usr/bin:/bin"}


def end_state(root: Path) -> list[tuple[object, ...]]:
    """Where every node stands: attempts and readings too, for nothing is charged to a coder that git has failed."""
    with closing(sqlite3.connect(root / ".agent-fox/state.db")) as db:
        return db.execute(STANDINGS).fetchall()


class Calm(NamedTuple):
    """Where every node stands after a run that nothing was in the way of, and how often it started git."""

    standings: list[tuple[object, ...]]
    calls: int

    def number(self, place: int) -> int:
        """Which call stands at a place of PLACES, the first and the last included."""
        return 1 + round(place * (self.calls - 1) / (PLACES - 1))


PLACES = 15


@pytest.fixture(scope="module")
def calm(tmp_path_factory: pytest.TempPathFactory) -> Calm:
    folder = tmp_path_factory.mktemp("calm")
    root = STORY.build(folder / "world")
    done = run_cli(root, "run", "--parallel", "1", timeout=120, data=None, **wrapped(folder, "false", ""))
    assert done.returncode == 0
    return Calm(end_state(root), int((folder / "bin/count").read_text()))


def proven(root: Path) -> bool:
    told = json.loads(run_cli(root, "status", "--json").stdout)
    return bool(told["requirements"] == {"proven": 2, "not_proven": 0, "waived": 0})


def test_one_error_in_twelve_calls_changes_nothing(tmp_path: Path, calm: Calm) -> None:
    root = STORY.build(tmp_path / "world")
    done = run_cli(
        root, "run", "--parallel", "1", timeout=120, data=None, **wrapped(tmp_path, "[ $((n % 12)) -eq 0 ]", LOCK)
    )
    assert done.returncode == 0, done
    calls = int((tmp_path / "bin/count").read_text())
    assert (end_state(root), proven(root), calls > 36) == (calm.standings, True, True)


@pytest.mark.parametrize("said", [LOCK, FULL, UNFORESEEN, ""])
@pytest.mark.parametrize("place", [0, 3, 7, 10, PLACES - 1])
def test_a_git_that_stays_broken_pauses_the_run_and_a_calm_one_ends_it_as_ever(
    tmp_path: Path, calm: Calm, place: int, said: str
) -> None:
    """From a call on, the first to the last of a run. Exit 1 only before anything was begun."""
    root, number = STORY.build(tmp_path / "world"), calm.number(place)
    done = run_cli(
        root, "run", "--parallel", "1", timeout=120, data=None, **wrapped(tmp_path, f"[ $n -ge {number} ]", said)
    )
    assert done.returncode in (1, 4), done
    assert "Traceback" not in done.stderr
    assert "internal error" not in done.stderr
    again = run_cli(root, "run", "--parallel", "1")
    assert again.returncode == 0, again
    assert (end_state(root), proven(root)) == (calm.standings, True)


@pytest.mark.parametrize("place", range(PLACES))
def test_a_failure_at_any_call_is_not_seen(tmp_path: Path, calm: Calm, place: int) -> None:
    root, number = STORY.build(tmp_path / "world"), calm.number(place)
    said = (LOCK, FULL, UNFORESEEN, "")[place % 4]
    done = run_cli(
        root, "run", "--parallel", "1", timeout=120, data=None, **wrapped(tmp_path, f"[ $n -eq {number} ]", said)
    )
    assert (done.returncode, end_state(root), proven(root)) == (0, calm.standings, True), done


@pytest.mark.parametrize("blocks", [100, 400, 700, 1100])
def test_a_disk_that_takes_no_more_pauses_the_run(tmp_path: Path, calm: Calm, blocks: int) -> None:
    """No file may grow beyond so many half kilobytes."""
    root = STORY.build(tmp_path / "world")
    limited = ["sh", "-c", f'ulimit -f {blocks}; exec "$@"', "sh", *program("run", "--parallel", "1")]
    done = subprocess.run(limited, cwd=root, env=environment(), capture_output=True, text=True, timeout=120)
    assert (done.returncode, len(done.stderr.splitlines())) == (4, 1), done
    assert run_cli(root, "run", "--parallel", "1").returncode == 0
    assert (end_state(root), proven(root)) == (calm.standings, True)


def test_a_state_that_another_program_holds_pauses_the_run(tmp_path: Path) -> None:
    root = STORY.build(tmp_path / "world")
    assert run_cli(root, "run", "--max-cost", "0", "--parallel", "1").returncode == 3
    with closing(sqlite3.connect(root / ".agent-fox/state.db", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        done = run_cli(root, "run", "--parallel", "1")
    assert (done.returncode, len(done.stderr.splitlines())) == (4, 1), done
    assert "another program holds the file: close it, then run again" in done.stderr
    assert run_cli(root, "run", "--parallel", "1").returncode == 0
