"""Whole sessions of the real Claude Code under the runner: proxy, verifier, stop gate, sandbox, ends.

Fake: the model, and with it the key. Real: the runner, the program, the verifier's server, the workspace.
"""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from agent_fox.session.agents.report import CostSource, Ending
from agent_fox.session.agents.task import Role
from agent_fox.session.infrastructure import Infrastructure
from agent_fox.testing.model_server import ModelServer
from tests.agents.claude_world import LIMITS, MARKS, SECONDS, world
from tests.agents.held import REAL_KEY, SANDBOXES, hold, left_over, with_verifier
from tests.agents.world import World, error, script, text_of, work

__all__ = ["world"]

pytestmark = MARKS

LOOK_FOR_THE_KEY = (
    "echo in its own environment: $(env | grep -c 'of-a-perso[n]'); "
    "echo in those of all processes: $(cat /proc/[0-9]*/environ 2>/dev/null | tr '\\0' '\\n' | grep -c 'of-a-perso[n]')"
)


def stopped_when_asked_twice(server: ModelServer) -> Callable[[subprocess.Popen[str]], None]:
    def stop(runner: subprocess.Popen[str]) -> None:
        assert server.wait_for(lambda exchanges: len(exchanges) >= 2, SECONDS)
        runner.send_signal(signal.SIGTERM)

    return stop


@pytest.mark.parametrize("sandbox", SANDBOXES)
def test_a_coder_works_and_never_sees_the_key(world: World, sandbox: str) -> None:
    actions = (
        {"write": "hello.txt", "text": "hello\n"},
        {"tool": "Bash", "arguments": {"command": LOOK_FOR_THE_KEY}},
        {"say": "done"},
    )
    with ModelServer(script(*actions, input_tokens=1000, output_tokens=10)) as server:
        held = hold(world.task, server, sandbox=sandbox)
        requests = work(server)
    report = held.report
    assert (held.status, report.ending, report.cost_source) == (0, Ending.ENDED, CostSource.REPORTED), held.log
    assert (world.workspace / "hello.txt").read_text(encoding="utf-8") == "hello\n"
    assert {request.headers["x-api-key"] for request in requests} == {REAL_KEY}
    assert "in its own environment: 0" in text_of(requests)
    if sandbox == "require" or os.geteuid() != 0:  # root may read every process that it sees
        assert "in those of all processes: 0" in text_of(requests)
    assert (report.turns, report.forbidden) == (len(requests), ())
    assert report.tokens is not None
    assert report.tokens.input == 1000 * len(requests)
    assert left_over(world.task.environment["AGENT_FOX_LAUNCH"]) == []


@pytest.mark.parametrize("sandbox", SANDBOXES)
def test_a_coder_may_not_stop_before_it_has_run_the_verifiers_tests(world: World, sandbox: str) -> None:
    world.plant("tree/workspace/pyproject.toml", '[project]\nname = "x"\nversion = "1"\n')
    world.plant("tree/workspace/tests/test_x.py", "def test_it() -> None:\n    assert True\n")
    actions = ({"write": "hello.txt", "text": "x"}, {"say": "done"}, {"mcp": "run_unit_tests"}, {"say": "really done"})
    with ModelServer(script(*actions)) as server:
        held = hold(with_verifier(world.task), server, stop_gate=True, sandbox=sandbox)
        requests = work(server)
    assert (held.report.ending, held.report.attempts_to_stop) == (Ending.ENDED, 1), held.log
    assert held.report.tools["mcp__verifier__run_unit_tests"] == 1
    assert held.report.forbidden == ()
    assert "run_unit_tests" in str(requests[-2].body)
    assert held.report.summary == "really done"


def test_who_judges_is_asked_again_and_its_cost_counts_once(world: World) -> None:
    actions: list[dict[str, Any]] = [
        {"tool": "Bash", "arguments": {"command": "id"}},
        {"say": "All is well."},
        {"answer": {"verdicts": []}},
    ]
    with ModelServer(script(*actions, input_tokens=1000, output_tokens=10)) as server:
        held = hold(world.task, server, role=Role.VERIFIER, ask_again="Say it as JSON.")
        requests = work(server)
    report = held.report
    assert (report.ending, report.is_asked_again) == (Ending.ENDED, True), held.log
    assert len(report.forbidden) == 1
    assert "Bash" in report.forbidden[0]
    assert report.tokens is not None
    assert report.tokens.input == 1000 * len(requests)


def test_a_key_that_is_refused_ends_the_session_at_once(world: World) -> None:
    with ModelServer(script(error(401, "authentication_error"))) as server:
        held = hold(world.task, server)
    assert (held.status, held.report.ending) == (1, Ending.INFRASTRUCTURE), held.log
    assert held.report.infrastructure is Infrastructure.AUTHENTICATION
    assert held.seconds < 20


@pytest.mark.parametrize("sandbox", SANDBOXES)
def test_a_session_that_is_stopped_leaves_nobody_and_tells_its_cost(world: World, sandbox: str) -> None:
    actions = ({"run": ["true"]}, {"hang": 60, "stage": "before"})
    with ModelServer(script(*actions, input_tokens=1000, output_tokens=10)) as server:
        held = hold(world.task, server, stopped_when_asked_twice(server), sandbox=sandbox)
    assert (held.status, held.report.ending) == (1, Ending.STOPPED), held.log
    assert held.report.tokens is not None
    assert held.report.tokens.input == 1000
    assert held.report.cost_usd is not None
    assert held.seconds < SECONDS / 2
    assert left_over(world.task.environment["AGENT_FOX_LAUNCH"]) == []


def test_a_command_that_never_ends_is_ended_by_the_clock(world: World) -> None:
    with ModelServer(script({"run": ["sleep", "300"]}, {"say": "done"})) as server:
        held = hold(world.task, server, limits=replace(LIMITS, wall=8))
    assert (held.status, held.report.ending) == (1, Ending.TIMED_OUT), held.log
    assert held.seconds < 30
    assert left_over(world.task.environment["AGENT_FOX_LAUNCH"]) == []


def test_the_dollars_of_a_session_are_a_ceiling(world: World) -> None:
    steps = script(*[{"run": ["true"]}] * 8, {"say": "done"}, input_tokens=100_000, output_tokens=1000)
    with ModelServer(steps) as server:
        held = hold(world.task, server, limits=replace(LIMITS, cost_usd=0.5))
        requests = work(server)
    assert held.report.ending is Ending.FAILED, held.log
    assert len(requests) < 5
