"""What passes is waited for, and what lasts pauses the run: a full disk on a worker, a cut network, a server away.
Nothing of it is charged to a coder.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from agent_fox.testing.cluster import TIMEOUT, Cluster, cluster
from agent_fox.testing.worlds import Req, World, rows, run_cli, wait_until
from bench.cluster_kills import Case
from bench.namespaces import network, why_not
from tests.cluster.test_run import end_state

needs_root = pytest.mark.skipif(os.getuid() != 0, reason="only root mounts a small disk")
STORY = World({"01_a": [Req("01-REQ-1.1"), Req("01-REQ-1.2", right_at=2)]})
SLOW_STORY = World({"01_a": [Req("01-REQ-1.1")]}, seconds=1.5)
BRIEF = {"AGENT_FOX__INFRASTRUCTURE__PATIENCE": "2", "AGENT_FOX__INFRASTRUCTURE__FIRST_WAIT": "0.5"}


@contextmanager
def small_disk(folder: Path, kib: int) -> Iterator[Path]:
    folder.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={kib}k", "none", str(folder)], check=True)
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


@needs_root
def test_a_full_disk_on_a_worker_is_waited_for_then_pauses_the_run_and_is_charged_to_nobody(tmp_path: Path) -> None:
    here, there = STORY.build(tmp_path / "here"), STORY.build(tmp_path / "there")
    assert run_cli(here, "run").returncode == 0
    with small_disk(tmp_path / "disk", 8192) as disk, cluster(tmp_path / "cluster", workers=0) as own:
        own.start_worker(XDG_STATE_HOME=str(disk))
        wait_until(lambda: (disk / "agent-fox/worker/histories").is_dir(), "the worker was there", 60)
        fill(disk / "ballast")
        variables = {**own.variables(), **BRIEF}
        done = run_cli(there, "run", "--engine", own.address, **variables)  # type: ignore[arg-type]
        assert done.returncode == 4, done.stdout + done.stderr + own.logs()
        assert "No space left on device" in done.stderr
        assert rows(there, "SELECT count(*) FROM sessions WHERE status = 'ended' AND attempt > 1") == [(0,)]
        (disk / "ballast").unlink()
        done = run_cli(there, "run", "--engine", own.address, **variables)  # type: ignore[arg-type]
        assert done.returncode == 0, done.stdout + done.stderr + own.logs()
    assert end_state(there) == end_state(here)


def fill(file: Path) -> None:
    """Write until nothing more fits."""
    with file.open("wb", buffering=0) as ballast:
        try:
            while True:
                ballast.write(b"x" * 4096)
        except OSError:
            return


def begun(root: Path, own: Cluster, **more: str) -> subprocess.Popen[bytes]:
    argv = [sys.executable, "-m", "agent_fox.cli.main", "run", "--engine", own.address]
    with (root.parent / "said").open("ab") as said:
        return subprocess.Popen(argv, cwd=root, stdout=said, stderr=said, env={**os.environ, **own.variables(), **more})


def test_an_engine_that_goes_away_for_longer_than_patience_pauses_the_run_and_costs_no_attempt(tmp_path: Path) -> None:
    here, there = SLOW_STORY.build(tmp_path / "here"), SLOW_STORY.build(tmp_path / "there")
    assert run_cli(here, "run").returncode == 0
    with cluster(tmp_path / "cluster") as own:
        assert own.server is not None
        run = begun(there, own, **BRIEF)
        wait_until(lambda: bool(own.shims(0)), "a session ran", 60)
        own.server.send_signal(signal.SIGSTOP)
        assert run.wait(120) == 4, (tmp_path / "there/../said").read_text()
        own.server.send_signal(signal.SIGCONT)
        run = begun(there, own)
        assert run.wait(120) == 0, (there.parent / "said").read_text() + own.logs()
    assert end_state(there) == end_state(here)


@pytest.mark.skipif(bool(why_not()), reason=why_not() or "there is none")
def test_a_worker_whose_cable_is_pulled_ends_its_session_and_another_does_it(tmp_path: Path) -> None:
    here, there = SLOW_STORY.build(tmp_path / "here"), SLOW_STORY.build(tmp_path / "there")
    assert run_cli(here, "run").returncode == 0
    with network() as wires:
        case = Case("kill worker at coder at work", 1, tmp_path, network=wires)
        own = case.cluster
        (tmp_path / "cluster").mkdir()
        try:
            own.start_server()
            own.start_worker(), own.start_worker()
            run = begun(there, own)
            wait_until(lambda: bool(case.at_work()), "a session ran", 60)
            cut, agent = case.at_work()[0]
            number = [worker.pid for worker in own.workers].index(cut)
            wires.cut(number)
            wait_until(lambda: not Path(f"/proc/{agent}").exists(), "its session had ended", 10 * TIMEOUT)
            said = "is ended and left to another worker: the engine has not answered"
            wait_until(lambda: said in own.logs(), "the worker said why", 10 * TIMEOUT)
            assert run.wait(120) == 0, (there.parent / "said").read_text() + own.logs()
            wires.cut(number, is_cut=False)
        finally:
            own.stop()
    assert end_state(there) == end_state(here)
    again = "SELECT max(json_extract(a.value, '$.delivery')) FROM sessions AS s, json_each(s.agents) AS a"
    ((delivery,),) = rows(there, again)
    assert isinstance(delivery, int)
    assert delivery > 1, "the worker that was cut off had it first"
