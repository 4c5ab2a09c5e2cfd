"""What happens around a run: its state file is removed, nobody called `init`, its lock file names somebody else."""

from __future__ import annotations

import json
import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from agent_fox.config import load
from agent_fox.engine.planning.workplace import RunOptions
from agent_fox.engine.record.watch import RunEvent
from agent_fox.engine.running.run import Engine
from agent_fox.engine.running.scheduler import Orders
from agent_fox.plugins import load_plugins
from agent_fox.store.state import NoState, StateError, StateGone, read_state
from agent_fox.testing import prefork
from agent_fox.testing.worlds import Req, World, environment, git, run_cli

LIMIT = 60.0


@contextmanager
def under_way(tmp_path: Path) -> Iterator[tuple[Path, prefork.Call, Path]]:
    """A run whose only coder waits: its repository, its process, and the file that its standard error goes to."""
    go = tmp_path / "go"
    root = World({"01_bell": [Req("01-REQ-1.1")]}, coder_does={"01_bell:1/1": f"wait {go}"}).build(tmp_path / "world")
    said = tmp_path / "said"
    with Path(os.devnull).open("rb") as given, tempfile.TemporaryFile() as out, said.open("wb") as err:
        call = prefork.begin(["run"], cwd=root, env=environment(), streams=(given, out, err))
        assert isinstance(call, prefork.Call)
        try:
            wait_for_launch(root)
            yield root, call, said
        finally:
            go.write_text("")
            call.wait(LIMIT)


def wait_for_launch(root: Path) -> None:
    until = time.monotonic() + LIMIT
    while time.monotonic() < until:
        try:
            with closing(read_state(root / ".agent-fox/state.db")) as db:
                if db.execute("SELECT 1 FROM launches WHERE status = 'running'").fetchone():
                    return
        except (NoState, StateError):
            pass
        time.sleep(0.05)
    raise AssertionError("nothing was launched")


def test_a_state_file_that_is_removed_while_a_run_goes_on_ends_it_with_what_happened(tmp_path: Path) -> None:
    with under_way(tmp_path) as (root, call, said):
        for path in root.glob(".agent-fox/state.db*"):
            path.unlink()
        assert call.wait(LIMIT) == 4
    (line,) = said.read_text().splitlines()
    assert "state.db: removed or replaced while the run went on" in line
    assert "run again, which begins a new history" in line


def test_a_screen_that_misses_the_removed_state_file_first_tells_the_same(tmp_path: Path) -> None:
    root = World({"01_bell": [Req("01-REQ-1.1")]}).build(tmp_path / "world")
    state = root / ".agent-fox/state.db"

    def look(event: RunEvent) -> None:
        if event.kind == "launched":
            state.unlink()
            read_state(state)

    with pytest.raises(StateGone, match="removed or replaced while the run went on"):
        Engine(root, load(root, {}), load_plugins(), look).run(RunOptions(), Orders())


def test_status_believes_the_lock_and_not_a_process_id(tmp_path: Path) -> None:
    with under_way(tmp_path) as (root, call, _):
        assert json.loads(run_cli(root, "status", "--json").stdout)["is_alive"] is True
        call.kill()
        call.wait(LIMIT)
        (root / ".agent-fox/run.lock").write_text(str(os.getpid()))  # as if another had the number by now
        told = json.loads(run_cli(root, "status", "--json").stdout)
        assert (told["status"], told["is_alive"], told["running"]) == ("running", False, [])
        assert [
            (one["node"], told["nodes"], spec["standing"])
            for one, spec in zip(told["left"], told["specs"], strict=True)
        ] == [("01_bell:1", {"pending": 2}, "waiting")]
        assert "not running" in run_cli(root, "status").stdout


def test_a_run_without_init_leaves_no_trace_in_git_status_and_init_takes_its_place(tmp_path: Path) -> None:
    root = World({"01_bell": [Req("01-REQ-1.1")]}).build(tmp_path / "world")
    own = root / ".agent-fox/.gitignore"
    git(root, "rm", "-q", str(own))
    git(root, "-c", "user.name=A", "-c", "user.email=a@example.org", "commit", "-qm", "no list")
    assert run_cli(root, "run").returncode == 0
    assert git(root, "status", "--porcelain") == ""
    (root / ".agent-fox/issues").mkdir()
    assert run_cli(root, "init").returncode == 0
    assert own.read_text() == "state.db*\nlogs/\ncrash.log\nrun.lock\nreport.html\n"
    assert git(root, "status", "--porcelain") == "?? .agent-fox/.gitignore"


def test_the_summary_of_a_run_that_ended_says_how(tmp_path: Path) -> None:
    root = World({"01_bell": [Req("01-REQ-1.1")]}).build(tmp_path / "world")
    done = run_cli(root, "run", "--json")
    summary = json.loads(done.stdout.splitlines()[-1])
    assert (summary["kind"], summary["status"], summary["exit_code"], summary["running"]) == ("summary", "ended", 0, [])
