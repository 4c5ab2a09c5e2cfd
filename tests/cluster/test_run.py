"""Whole runs whose sessions are done by workers: the same end as on one machine, and nothing paid or landed twice."""

from __future__ import annotations

import json
import os
import random
import re
import signal
import subprocess
import sys
import time
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path

from agent_fox.session.infrastructure import Infrastructure
from agent_fox.session.order import EndKind, StopSignal
from agent_fox.session.runners import attended
from agent_fox.system import git
from agent_fox.testing.cluster import Cluster, cluster, free_port, runner_at
from agent_fox.testing.runners import WAITS, Stage
from agent_fox.testing.worlds import Req, World, commit_all, rows, run_cli, wait_until


def run_there(root: Path, cluster: Cluster, *words: str) -> tuple[int, str]:
    done = run_cli(root, "run", "--engine", cluster.address, *words, **cluster.variables())  # type: ignore[arg-type]
    return done.returncode, done.stdout + done.stderr


def end_state(root: Path) -> list[tuple[object, ...]]:
    """What a run came to, without times and names of launches."""
    return [
        *rows(root, "SELECT id, status, outcome, attempt, reading FROM plan_nodes ORDER BY id"),
        *rows(root, "SELECT node_id, attempt, reading, end_kind FROM sessions ORDER BY node_id, attempt, reading"),
        *rows(root, "SELECT kind, count(*) FROM decisions GROUP BY kind ORDER BY kind"),
    ]


def test_a_fail_is_repaired_and_proven_by_workers_as_on_one_machine(shared: Cluster, tmp_path: Path) -> None:
    story = World({"01_a": [Req("01-REQ-1.1"), Req("01-REQ-1.2", right_at=2)]})
    here, there = story.build(tmp_path / "here"), story.build(tmp_path / "there")
    assert run_cli(here, "run").returncode == 0
    code, said = run_there(there, shared)
    assert code == 0, said + shared.logs()
    assert end_state(there) == end_state(here)
    ((environment,),) = rows(there, "SELECT DISTINCT environment FROM sessions WHERE archetype = 'verifier'")
    assert rows(here, "SELECT DISTINCT environment FROM sessions WHERE archetype = 'verifier'") != [(environment,)]
    assert {name for (name,) in rows(there, "SELECT DISTINCT runner FROM launches")} == {f"{shared.address}/default"}
    assert run_cli(there, "status").stdout.startswith("PROVEN"), "what workers have proven is what the run said"
    assert "proven, and it counts now" in run_cli(there, "ledger", "show", "01_a/01-REQ-1.1").stdout


def test_doctor_says_who_serves_what_and_what_nobody_serves(shared: Cluster, tmp_path: Path) -> None:
    root = World({"01_a": [Req("01-REQ-1.1")]}, settings="[places.gpu]\nspecs = ['09_*']\n").build(tmp_path)
    done = run_cli(root, "doctor", "--engine", shared.address, "--json")
    checks = {check["name"]: (check["state"], check["what"]) for check in json.loads(done.stdout)["checks"]}
    assert checks["engine"][0] == "ok"
    assert "server 1." in checks["engine"][1]
    assert checks["workers of coder"][0] == "ok"
    assert checks["workers of gpu"] == ("warning", "none")


def test_an_engine_that_does_not_answer_is_said_by_doctor_and_pauses_a_run(tmp_path: Path) -> None:
    settings = "[infrastructure]\npatience = 1.0\n"
    root = World({"01_a": [Req("01-REQ-1.1")]}, settings=settings).build(tmp_path)
    address = f"temporal://127.0.0.1:{free_port()}"
    done = run_cli(root, "doctor", "--engine", address)
    assert done.returncode == 1
    assert "does not answer" in done.stdout
    done = run_cli(root, "run", "--engine", address)
    assert done.returncode == 4, done.stdout + done.stderr
    assert "does not answer" in done.stderr
    assert rows(root, "SELECT status FROM launches") == [("running",)]


def test_a_run_that_nobody_serves_says_so_with_the_tag_and_goes_on_when_somebody_does(
    shared: Cluster, tmp_path: Path
) -> None:
    settings = "[places.gpu]\narchetypes = ['coder']\n"
    root = World({"01_a": [Req("01-REQ-1.1")]}, settings=settings).build(tmp_path)
    with (tmp_path / "said").open("wb") as log:
        argv = [sys.executable, "-m", "agent_fox.cli.main", "run", "--engine", shared.address]
        run = subprocess.Popen(argv, cwd=root, env={**os.environ, **shared.variables()}, stdout=log, stderr=log)
    wait_until(lambda: "nobody serves 'gpu'" in (tmp_path / "said").read_text(), "it was said", 60)
    shared.start_worker("gpu=1")
    assert run.wait(60) == 0, (tmp_path / "said").read_text()


def test_a_run_begun_here_goes_on_there_and_back(shared: Cluster, tmp_path: Path) -> None:
    root = World({"01_a": [Req("01-REQ-1.1", right_at=2)], "02_b": [Req("02-REQ-1.1")]}).build(tmp_path)
    for words in ((), ("--engine", shared.address), ()):
        run_cli(root, "run", "--max-cost", "1.1", *words, **shared.variables())  # type: ignore[arg-type]
    done = run_cli(root, "run", "--max-cost", "50", "--engine", shared.address, **shared.variables())  # type: ignore[arg-type]
    assert done.returncode == 0, done.stdout + done.stderr
    assert rows(root, "SELECT count(*) FROM launches WHERE status <> 'ended'") == [(0,)]


def test_what_a_worker_signed_counts_once_its_key_is_trusted_and_the_ledger_knows_it(tmp_path: Path) -> None:
    root = World({"01_a": [Req("01-REQ-1.1")]}).build(tmp_path)
    there, here = tmp_path / "keys-there", tmp_path / "keys-here"
    run_cli(tmp_path, "keys", "new", "worker", "--no-passphrase", AGENT_FOX_KEYS=str(there))
    with cluster(tmp_path / "cluster", workers=0) as own:
        own.start_worker(AGENT_FOX_KEYS=str(there))
        variables = {**own.variables(), "AGENT_FOX_KEYS": str(here)}
        done = run_cli(root, "run", "--engine", own.address, **variables)  # type: ignore[arg-type]
        assert done.returncode == 4, done.stdout + done.stderr + own.logs()
        assert "a key that you do not trust" in done.stderr
        run_cli(tmp_path, "keys", "trust", str(there / "worker.pub"), "--for", "worker", AGENT_FOX_KEYS=str(here))
        done = run_cli(root, "run", "--engine", own.address, **variables)  # type: ignore[arg-type]
        assert done.returncode == 0, done.stdout + done.stderr + own.logs()
    assert rows(root, "SELECT count(*), count(DISTINCT session_id) FROM launches") == [(2, 2)]
    sound = run_cli(root, "ledger", "verify", AGENT_FOX_KEYS=str(here))
    assert sound.returncode == 0, sound.stdout + sound.stderr
    (here / "allowed_signers").write_text("")
    doubted = run_cli(root, "ledger", "verify", AGENT_FOX_KEYS=str(here))
    assert "nobody is known here whose worker counts" in doubted.stdout
    assert doubted.returncode == 2
    run_cli(tmp_path, "keys", "new", "other", "--no-passphrase", AGENT_FOX_KEYS=str(here))
    run_cli(tmp_path, "keys", "trust", "other", "--for", "worker", AGENT_FOX_KEYS=str(here))
    forged = run_cli(root, "ledger", "verify", AGENT_FOX_KEYS=str(here))
    assert "signed by no key that is trusted for workers" in forged.stdout


def test_a_worker_of_another_version_refuses_with_its_name_and_both_versions(shared: Cluster, tmp_path: Path) -> None:
    runner = replace(runner_at(shared.address), version="0.0.9")
    end = attended(runner, Stage.made(tmp_path).order("true", f"{tmp_path.name}-old"), StopSignal())
    assert end.infrastructure is Infrastructure.BROKEN_PROGRAM
    assert re.search(r"agent-fox/\S+ \S+ \d+ refused it: it is agent-fox \S+, and the run 0\.0\.9", end.reason)


def test_a_repository_and_work_of_more_than_the_server_takes_at_once_go_there_and_back(
    shared: Cluster, tmp_path: Path
) -> None:
    stage = Stage.made(tmp_path)
    (stage.repo / "large.bin").write_bytes(random.Random(1).randbytes(2_500_000))
    commit_all(stage.repo, "large")
    script = "head -c 2500000 /dev/urandom > more.bin; cksum more.bin"
    end = attended(runner_at(shared.address), stage.order(script, f"{tmp_path.name}-large"), StopSignal())
    assert end.work is not None, end.reason
    assert len(git.show(stage.repo, end.work.commit, "more.bin") or b"") == 2_500_000
    assert git.show(stage.repo, end.work.commit, "large.bin") == (stage.repo / "large.bin").read_bytes()


def test_a_worker_that_is_asked_to_end_waits_for_its_sessions_and_a_second_time_leaves_them_to_others(
    tmp_path: Path,
) -> None:
    stage, go = Stage.made(tmp_path), tmp_path / "marks" / "go"
    with cluster(tmp_path / "cluster") as own:
        runner, (first,) = runner_at(own.address), own.workers
        job = runner.start(stage.order(WAITS, f"{tmp_path.name}-drain"))
        stage.wait_for("began")
        first.send_signal(signal.SIGTERM)
        wait_until(lambda: "no more sessions are taken" in own.logs(), "it said so", 30)
        assert not runner.poll(job, 0.5)
        go.touch()
        assert first.wait(60) == 0, own.logs()
        assert runner.collect(job).kind is EndKind.ENDED
        go.unlink()
        second = own.start_worker()
        job = runner.start(stage.order(WAITS, f"{tmp_path.name}-leave"))
        wait_until(lambda: len(stage.lines("began")) == 2, "it was at work", 60)
        for _ in range(2):
            second.send_signal(signal.SIGTERM)
            time.sleep(0.5)
        assert second.wait(60) == 0, own.logs()
        go.touch()
        own.start_worker()
        end = runner.collect(job)
        assert end.kind is EndKind.ENDED, end.reason
        assert end.agents[0]["delivery"] == 2
        assert len(stage.lines("began")) == 3


def test_agents_are_looked_for_on_the_worker_and_files_that_git_does_not_hold_are_refused(
    shared: Cluster, tmp_path: Path
) -> None:
    absent = '[agents.reviewer]\nbackend = "claude"\nprogram = "no-such-claude"\n'
    review = "[plan]\npre_review = true\naudit_review = false\n"
    root = World({"01_a": [Req("01-REQ-1.1")]}, settings=absent + review).build(tmp_path)
    assert "no-such-claude" in run_cli(root, "run").stderr
    code, said = run_there(root, shared)
    assert code == 4, said
    assert "no-such-claude" in said
    assert f"agent-fox/{version('agent-fox')}" in said
    settings = root / ".agent-fox" / "config.toml"
    settings.write_text(settings.read_text().replace("[workspace]\n", "[workspace]\nlink = ['node_modules']\n"))
    (root / "node_modules").mkdir()
    code, said = run_there(root, shared)
    assert code == 1, said
    assert "'node_modules' is not in git" in said
