"""Sessions of the real Codex CLI as the engine has them: our runner, the metering proxy, the verifier's own MCP server.

Fake: the model. The workspace holds a Python project with one test.
"""

from __future__ import annotations

import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from agent_fox.session.agents.report import CostSource, Ending
from agent_fox.session.agents.task import Limits, Role
from agent_fox.session.infrastructure import Infrastructure
from agent_fox.testing.model_server import ModelServer
from tests.agents.held import REAL_KEY, SANDBOXES, hold, left_over, with_verifier
from tests.agents.programs import VARIABLE
from tests.agents.test_codex import FOUND, SECONDS, shell, world_at
from tests.agents.world import SCHEMA, World, script, text_of, work

pytestmark = [
    pytest.mark.agents,
    pytest.mark.skipif(FOUND is None, reason=f"codex is not below the folder that {VARIABLE} names"),
]

TOOLS = ("run_unit_tests", "run_lint")


@pytest.fixture
def world(tmp_path: Path) -> World:
    found = world_at(tmp_path)
    (found.workspace / "test_it.py").write_text("def test_it() -> None:\n    assert 1 + 1 == 2\n", encoding="utf-8")
    return found


@pytest.mark.parametrize("where", SANDBOXES)
def test_a_coder_works_is_held_back_until_it_has_run_the_tests_and_is_counted(world: World, where: str) -> None:
    actions = (
        shell("echo 'x = 1' > new.py; env"),
        {"say": "I am done."},
        {"mcp": "run_unit_tests"},
        {"say": "Now I am done."},
    )
    with ModelServer(script(*actions, input_tokens=1000, output_tokens=20)) as server:
        held = hold(with_verifier(world.task, *TOOLS), server, sandbox=where, stop_gate=True)
        keys = {exchange.headers["authorization"] for exchange in work(server)}
        said = text_of(server.requests)
    report = held.report
    assert (held.status, report.ending, report.attempts_to_stop) == (0, Ending.ENDED, 1), held.log
    assert report.tools == {"exec_command": 1, "mcp__verifier__run_unit_tests": 1}
    assert (report.forbidden, report.summary) == ((), "Now I am done.")
    assert keys == {f"Bearer {REAL_KEY}"}
    assert REAL_KEY not in said
    assert REAL_KEY not in held.log
    assert report.tokens is not None
    assert (report.tokens.all_input, report.tokens.output, report.turns) == (4000, 80, 4)
    assert (report.cli, report.version, report.model) == ("codex", "0.169.0", "scripted-model")


@pytest.mark.parametrize("where", SANDBOXES)
def test_a_verifier_runs_the_tests_by_its_tool_alone_and_its_answer_is_read(world: World, where: str) -> None:
    actions = (shell("python3 -m pytest"), {"mcp": "run_unit_tests"}, {"answer": {"word": "yes"}})
    with ModelServer(script(*actions)) as server:
        task = with_verifier(world.task, *TOOLS)
        held = hold(task, server, role=Role.VERIFIER, schema=SCHEMA, sandbox=where, ask_again="")
    assert (held.status, held.report.ending, held.answer) == (0, Ending.ENDED, '{"word": "yes"}\n'), held.log
    assert "1 tool calls were refused" in held.report.notes
    assert held.report.tools["mcp__verifier__run_unit_tests"] == 1


def test_a_verifier_that_nobody_can_read_is_asked_once_more(world: World) -> None:
    with ModelServer(script({"say": "it is fine"}, {"say": "it is really fine"})) as server:
        held = hold(world.task, server, role=Role.VERIFIER)
        asked = len(work(server))
    assert (held.report.is_asked_again, held.answer, asked) == (True, "it is really fine\n", 2)


def test_what_a_model_costs_is_counted_by_the_price_list(world: World, tmp_path: Path) -> None:
    prices = tmp_path / "prices.toml"
    prices.write_text('as_of = "2026-11-01"\n[models.scripted-model]\ninput = 2.0\noutput = 10.0\n', encoding="utf-8")
    with ModelServer(script({"say": "done"}, input_tokens=1_000_000, output_tokens=100_000)) as server:
        report = hold(world.task, server, prices=prices).report
    assert report.cost_usd == pytest.approx(3.0)
    assert report.cost_source in {CostSource.METERED, CostSource.PRICED}


@pytest.mark.parametrize(
    ("action", "kind", "seconds"),
    [
        ({"fail": "authentication"}, Infrastructure.AUTHENTICATION, 30),
        ({"fail": "rate limit"}, Infrastructure.RATE_LIMIT, 60),
        ({"fail": "overload"}, Infrastructure.OVERLOAD, 60),
        ({"fail": "network"}, Infrastructure.NETWORK, 60),
        ({"hang": 100, "stage": "before"}, Infrastructure.NETWORK, 60),
        ({"hang": 100, "stage": "stream"}, Infrastructure.NETWORK, 60),
    ],
    ids=str,
)
def test_what_is_broken_is_no_failure_of_the_work(
    world: World, action: dict[str, Any], kind: Infrastructure, seconds: float
) -> None:
    with ModelServer(script(action)) as server:
        report = hold(world.task, server, limits=Limits(120, 15, 30)).report
    assert (report.ending, report.infrastructure) == (Ending.INFRASTRUCTURE, kind), report.reason
    assert report.seconds < seconds


def test_a_session_that_we_end_has_cost_what_it_had_used_and_leaves_no_process(world: World) -> None:
    with ModelServer(script(shell("sleep 77"), {"say": "done"}, input_tokens=1000, output_tokens=10)) as server:
        held = hold(world.task, server, lambda runner: _end_when_sleeping(world, runner))
    assert (held.report.ending, held.status) == (Ending.STOPPED, 1), held.log
    assert held.report.tokens is not None
    assert (held.report.tokens.all_input, held.report.tokens.output) == (1000, 10)
    assert _of_launch(world) == []


def _end_when_sleeping(world: World, runner: subprocess.Popen[str]) -> None:
    give_up = time.monotonic() + SECONDS
    while not any("sleep\x0077" in line for line in _of_launch(world)) and time.monotonic() < give_up:
        time.sleep(0.05)
    runner.send_signal(signal.SIGTERM)


def _of_launch(world: World) -> list[str]:
    return left_over(world.task.environment["AGENT_FOX_LAUNCH"])


def test_turns_are_a_ceiling(world: World) -> None:
    with ModelServer(script(*[shell("sleep 0.3")] * 40)) as server:
        report = hold(world.task, server, limits=Limits(120, 30, 30, turns=3)).report
        asked = len(server.requests)
    assert (report.ending, "turns" in report.reason) == (Ending.FAILED, True)
    assert asked < 12
