"""Stories of a world that breaks: keys, overload, silence, Ctrl-C and kill -9 in the middle of real agents' sessions.

Fake: the models, and what goes wrong with them. Signals and processes are real.
"""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent_fox.cli.run.signals import FIRST
from agent_fox.session.agents.report import read_report
from agent_fox.testing.worlds import wait_until
from tests.agents.programs import program
from tests.agents.story_world import (
    AGENT,
    CODER,
    DONE,
    GOOD,
    KEY,
    OTHER_KEY,
    RIGHT,
    SECONDS,
    TESTS,
    WRONG,
    Action,
    Cli,
    Scene,
    Stage,
    processes_of,
    settings,
    staged,
    step,
    write,
)

pytestmark = [
    pytest.mark.agents,
    pytest.mark.skipif(not (program("claude") and program("codex")), reason="needs claude and codex"),
]
CLIS = ["claude", "codex"]
IDLE = "idle_timeout = 20.0\n"
HANG: Action = {"hang": 600, "times": 1}
STILL: Action = {"hang": 600, "times": 3}
"""For as long as an agent repeats a request by itself."""


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Stage]:
    yield from staged(tmp_path)


@pytest.mark.landing
@pytest.mark.parametrize("cli", CLIS)
def test_a_refused_key_pauses_at_once_and_the_next_run_goes_on_with_the_same_ticket(stage: Stage, cli: Cli) -> None:
    scene = stage.scene(settings(AGENT[cli]), step({"fail": "authentication"}, *GOOD))
    said = scene.run(ends=4)
    assert "login or key is not accepted" in said
    assert len(scene.server.requests) <= 3
    assert scene.rows("SELECT count(*) FROM sessions WHERE status = 'completed'") == [(0,)]
    assert scene.decisions() == []
    assert scene.document("status")["cost"]["total_usd"] == 0
    assert not any(key in scene.logs() for key in (KEY, OTHER_KEY))
    after = stage.again(scene, step(*GOOD))
    after.run(ends=0)
    (session,) = after.sessions()
    assert (session["attempt"], session["reading"]) == (1, 1)
    assert after.explain()["budgets"][0]["spent"] == 1


@pytest.mark.parametrize("cli", CLIS)
def test_each_trouble_that_passes_is_waited_for_and_charged_to_nobody(stage: Stage, cli: Cli) -> None:
    """One ticket meets them all: what was met stays met when the session is launched again."""
    limited: Action = {"status": 429, "times": 3}
    overload: Action = {"status": 529 if cli == "claude" else 503, "times": 3}
    dropped: Action = {"drop": True, "times": 3}
    in_stream: Action = {**STILL, "stage": "stream"}
    scene = stage.scene(
        settings(AGENT[cli] + IDLE, more="attempts = 12\n"),
        step(limited, overload, dropped, STILL, write(RIGHT), in_stream, TESTS, DONE),
    )
    scene.run(ends=0)
    assert scene.decisions() == ["Land"]
    assert len(scene.sessions()) == 1
    assert scene.explain()["budgets"][0]["spent"] == 1
    launches = scene.rows("SELECT status, reason FROM launches WHERE session_id = 1 ORDER BY number")
    assert {status for status, _ in launches[:-1]} == {"infrastructure"}, launches
    assert len(launches) >= 5, launches
    met = {one for exchange in scene.server.requests for one in exchange.obstacles}
    assert met == {"status", "drop", "hang"}


@pytest.mark.parametrize(("cli", "trouble"), [("claude", "overload"), ("codex", "overload"), ("codex", "rate limit")])
def test_trouble_that_stays_pauses_the_run_on_a_budget_of_its_own(stage: Stage, cli: Cli, trouble: str) -> None:
    scene = stage.scene(settings(AGENT[cli], more="attempts = 2\n"), step({"fail": trouble}, *GOOD))
    said = scene.run(ends=4)
    assert "lost 2 times to infrastructure" in said
    assert scene.decisions() == []
    assert scene.explain()["budgets"][0]["spent"] == 0
    assert scene.rows("SELECT status FROM launches") == [("infrastructure",)] * 2
    assert all(trouble in str(reason) for (reason,) in scene.rows("SELECT reason FROM launches"))
    assert trouble in scene.fox("status").stdout
    assert f"launched again: {trouble}" in scene.told()
    assert scene.explain()["status"] == "pending"


@pytest.mark.parametrize("how", ["interrupt", "kill"])
@pytest.mark.parametrize("cli", CLIS)
def test_a_run_that_is_ended_in_mid_session_leaves_nothing_behind(stage: Stage, cli: Cli, how: str) -> None:
    """The model falls silent after the first edit; then comes Ctrl-C twice, or SIGKILL for `agent-fox` alone."""
    scene = stage.scene(settings(AGENT[cli]), step(write(RIGHT), HANG, TESTS, DONE))
    running = scene.begin()
    try:
        wait_for_the_second_turn(scene, running)
        wait_until(lambda: has_reported(scene), "the session under way had reported what its first turn cost")
        assert any(cli in words for words in processes_of(scene.base))
        before = scene.tip()
        end(scene, running, how)
    finally:
        running.kill()
    assert scene.leftovers() == []
    assert scene.tip() == before
    assert scene.landed("cart.py") is None
    assert scene.is_sane()
    assert scene.decisions() == []
    scene.run(ends=0)
    assert scene.landed("cart.py") == RIGHT
    assert len(scene.sessions()) == 1
    assert scene.explain()["budgets"][0]["spent"] == 1
    tell_costs(scene)


def wait_for_the_second_turn(scene: Scene, running: subprocess.Popen[bytes]) -> None:
    def has_come() -> bool:
        assert running.poll() is None, scene.logs()
        return any(one.turn == 1 for one in scene.server.requests)

    wait_until(has_come, "the model was asked for its second turn", SECONDS)


def has_reported(scene: Scene) -> bool:
    """Whether the session under way has written a report since its second turn began."""
    began = min(one.began for one in scene.server.requests if one.turn == 1)
    files = [file for file in scene.base.glob("state/**/report.json") if file.stat().st_mtime > began]
    return any(found.cost_usd for file in files if (found := read_report(file)))


def end(scene: Scene, running: subprocess.Popen[bytes], how: str) -> None:
    if how == "kill":
        os.kill(running.pid, signal.SIGKILL)
        assert running.wait(10) == -signal.SIGKILL
        return
    running.send_signal(signal.SIGINT)
    wait_until(lambda: FIRST in scene.complaints.read_text(), "the run had seen the first Ctrl-C")
    running.send_signal(signal.SIGINT)
    assert running.wait(30) == 130


def tell_costs(scene: Scene) -> None:
    """What the ended launch had heard of its spending is in `status` and `explain`, with that of the one after it."""
    (session,) = scene.sessions()
    asked = f"SELECT cost_usd FROM launches WHERE session_id = {session['id']} ORDER BY number"
    ended, again = (float(str(cost)) for (cost,) in scene.rows(asked))
    assert ended > again * 0.2, (ended, again)
    for whole in (scene.document("status")["cost"]["known_usd"], session["cost_usd"]):
        assert abs(whole - ended - again) < 1e-9, (whole, ended, again)


@pytest.mark.parametrize("cli", CLIS)
def test_an_agent_that_is_killed_in_mid_stream_has_failed_and_tries_again(stage: Stage, cli: Cli) -> None:
    scene = stage.scene(settings(AGENT[cli]), step(write(WRONG), HANG, DONE, attempt=1), step(*GOOD, attempt=2))
    running = scene.begin()
    try:
        wait_for_the_second_turn(scene, running)
        kill_agent(scene, cli)
        assert running.wait(SECONDS) == 0
    finally:
        running.kill()
    assert scene.decisions(CODER) == ["Retry", "Land"]
    first, _ = scene.sessions()
    assert first["end"] == "failed"
    assert "killed by signal 9" in first["reason"] or "exit 137" in first["reason"], first
    assert first["cost_usd"] > 0


def kill_agent(scene: Scene, cli: Cli) -> None:
    """Kill the agent's own process, whatever stands around it."""
    for words in processes_of(scene.base):
        pid = int(words.split()[0])
        name = Path(f"/proc/{pid}/comm").read_text().strip()
        if name == cli:
            os.kill(pid, signal.SIGKILL)
            return
    raise AssertionError(processes_of(scene.base))
