"""What holds for every real agent's program, started by its adapter: it works beside others, it overcomes what passes,
it names what is broken, and an end that is no success is none.

Fake: the model. Real: the programs, their tools, the files.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from agent_fox.session.agents.events import Began, Finished, Tokens, Trouble
from agent_fox.session.agents.report import Ending
from agent_fox.session.agents.task import AgentTask, Door
from agent_fox.session.infrastructure import Infrastructure
from agent_fox.testing.model_server import ModelServer
from tests.agents import claude_world, gemini_world, test_codex, test_mini, test_opencode
from tests.agents.programs import program
from tests.agents.world import PATHS, WORD, nobody, opened, script, set_at

pytestmark = pytest.mark.agents

AGENTS: Mapping[str, Callable[[Path], AgentTask]] = {
    "claude": lambda root: claude_world.world_at(root).task,
    "codex": lambda root: test_codex.world_at(root).task,
    "gemini": lambda root: gemini_world.made(root, Path(program("gemini") or "")).task(),
    "opencode": lambda root: test_opencode.world_at(root).task,
    "mini": test_mini.made,
    "mini with a model of Anthropic's": lambda root: test_mini.made(root, test_mini.MODELS[1]),
}
EVERY = [name for name in AGENTS if " " not in name]
ALWAYS = {"times": "always"}
NETWORK, OVERLOAD = Infrastructure.NETWORK, Infrastructure.OVERLOAD
BROKEN: Mapping[str, tuple[dict[str, Any] | None, Infrastructure | None]] = {
    "401": ({"status": 401, **ALWAYS}, Infrastructure.AUTHENTICATION),
    "403": ({"status": 403, **ALWAYS}, Infrastructure.AUTHENTICATION),
    "429": ({"status": 429, **ALWAYS}, Infrastructure.RATE_LIMIT),
    "503": ({"status": 503, **ALWAYS}, OVERLOAD),
    "529": ({"status": 529, **ALWAYS}, OVERLOAD),
    "cut": ({"drop": True, **ALWAYS}, NETWORK),
    "garbage": ({"garbage": "<html>busy</html>", **ALWAYS}, NETWORK),
    "refused": (None, NETWORK),
}
MOST_SECONDS = 120.0


def made(agent: str, root: Path) -> AgentTask:
    task = AGENTS[agent](root)
    if program(task.cli) is None:
        pytest.skip(f"{task.cli} is not there; see `make test-agents`")
    return replace(task, limits=replace(task.limits, idle=30))


def door_of(task: AgentTask, url: str) -> Door:
    return Door(f"{url}{PATHS.get(task.cli, '')}", WORD)


@pytest.mark.parametrize("agent", EVERY)
def test_sessions_at_once_neither_mix_nor_wait(agent: str, tmp_path: Path) -> None:
    tasks = [made(agent, tmp_path / name) for name in ("a", "b", "c")]
    played = script({"run": ["sh", "-c", "pwd > where.txt"]}, {"say": "done"})
    with ModelServer(played) as server, ThreadPoolExecutor(len(tasks)) as pool:
        rans = list(pool.map(lambda task: opened(task, door_of(task, server.url)), tasks))
    assert [ran.outcome.ending for ran in rans] == [Ending.ENDED] * 3
    for task in tasks:
        assert (task.workspace / "where.txt").read_text().strip() == str(task.workspace)
    sessions = {ran.of(Began)[0].session for ran in rans}
    assert len(sessions) == 3 or sessions == {""}


@pytest.mark.parametrize("agent", EVERY)
def test_what_passes_is_overcome(agent: str, tmp_path: Path) -> None:
    task = made(agent, tmp_path)
    cut = () if agent == "gemini" else ({"drop": True, "times": 1},)  # gemini gives up where its connection is cut
    with ModelServer(script({"status": 529, "times": 1}, *cut, {"say": "done"})) as server:
        ran = opened(task, door_of(task, server.url))
    assert (ran.outcome.ending, ran.finished.text) == (Ending.ENDED, "done"), ran.complaints
    assert not any(trouble.is_final for trouble in ran.of(Trouble))


@pytest.mark.parametrize(
    ("agent", "name"),
    [
        *((agent, name) for agent in EVERY for name in BROKEN),
        *(("mini with a model of Anthropic's", name) for name in ("401", "529", "cut")),
    ],
)
def test_what_is_broken_outside_is_named_soon(agent: str, name: str, tmp_path: Path) -> None:
    task, (obstacle, kind) = made(agent, tmp_path), BROKEN[name]
    with ModelServer(script(obstacle or {"say": "never"})) as server:
        ran = opened(task, door_of(task, server.url if obstacle else nobody()))
        requests = len(server.requests)
    assert (ran.outcome.ending, ran.outcome.infrastructure) == (Ending.INFRASTRUCTURE, kind), ran.complaints
    assert all(finished.is_error for finished in ran.of(Finished))
    assert ran.seconds < MOST_SECONDS
    if task.cli in ("opencode", "mini"):  # how often these ask is ours to set
        assert requests == (0 if obstacle is None else 1 if kind is Infrastructure.AUTHENTICATION else 3)


@pytest.mark.parametrize(
    ("agent", "number"),
    [
        (agent, number)
        for agent in EVERY
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL)
        if (agent, number) != ("codex", signal.SIGKILL)  # it kills the script that has started codex, and not codex
    ],
)
def test_a_session_that_is_ended_is_no_success_and_its_tokens_are_known(
    agent: str, number: signal.Signals, tmp_path: Path
) -> None:
    task, ready = made(agent, tmp_path), threading.Event()
    steps = script({"run": ["true"]}, {"hang": 300, "stage": "before"}, input_tokens=1000, output_tokens=10)
    with ModelServer(steps) as server:
        threading.Thread(target=set_at, args=(server, 2, ready), daemon=True).start()
        ran = opened(task, door_of(task, server.url), number, ready)
    assert (ran.outcome.ending, ran.used()) == (Ending.FAILED, Tokens(1000, 10))
    assert all(finished.is_error for finished in ran.of(Finished))
    assert ran.seconds < MOST_SECONDS
