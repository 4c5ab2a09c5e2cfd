"""Sessions of the real opencode as the engine has them: our runner, the metering proxy, the verifier's own MCP server.

Fake: the model. The workspace holds a Python project with one test.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agent_fox.session.agents.report import CostSource, Ending
from agent_fox.session.agents.task import Role
from agent_fox.session.infrastructure import Infrastructure
from agent_fox.testing.model_server import ModelServer
from tests.agents.held import REAL_KEY, SANDBOXES, hold, with_verifier
from tests.agents.programs import VARIABLE
from tests.agents.test_opencode import FOUND, world_at
from tests.agents.world import World, error, script, text_of

pytestmark = [
    pytest.mark.agents,
    pytest.mark.skipif(FOUND is None, reason=f"opencode is not below the folder that {VARIABLE} names"),
]

CHECK = {"tool": "verifier_run_unit_tests", "arguments": {}}


@pytest.fixture
def world(tmp_path: Path) -> World:
    world = world_at(tmp_path)
    world.plant("tree/workspace/test_it.py", "def test_it() -> None:\n    assert 1 + 1 == 2\n")
    return world


@pytest.mark.parametrize("sandbox", SANDBOXES)
def test_a_coders_work_is_held_and_told(sandbox: str, world: World) -> None:
    show = {"tool": "bash", "arguments": {"command": "env; cat b.txt", "description": "x"}}
    actions = ({"write": "b.txt", "text": "new\n"}, show, CHECK, {"say": "Done."})
    with ModelServer(script(*actions, input_tokens=1000, output_tokens=70)) as server:
        held = hold(with_verifier(world.task), server, sandbox=sandbox)
    report = held.report
    assert (report.ending, held.status) == (Ending.ENDED, 0), held.log
    assert (world.workspace / "b.txt").read_text() == "new\n"
    assert dict(report.tools) == {"write": 1, "bash": 1, "verifier_run_unit_tests": 1}
    assert report.tokens is not None
    assert (report.tokens.all_input, report.tokens.output, report.turns) == (4000, 280, 4)
    assert (report.cost_source, report.forbidden, report.summary) == (CostSource.REPORTED, (), "Done.")
    assert report.cost_usd == pytest.approx((4000 * 3 + 280 * 15) / 1e6)
    assert {exchange.headers["x-api-key"] for exchange in server.requests} == {REAL_KEY}
    assert REAL_KEY not in held.log + text_of(server.requests)


def test_a_verifier_is_asked_again_for_the_form_of_its_answer_and_what_it_tries_is_told(world: World) -> None:
    answer = json.dumps({"verdicts": [{"requirement": "01-REQ-1.1", "verdict": "PASS", "evidence": "1 passed"}]})
    tried = {"tool": "bash", "arguments": {"command": "touch ran.txt", "description": "x"}}
    actions = (CHECK, tried, {"say": "All is well."}, {"say": answer})
    with ModelServer(script(*actions, input_tokens=1000, output_tokens=10)) as server:
        held = hold(with_verifier(world.task), server, role=Role.VERIFIER, ask_again="Say it as JSON.")
    report = held.report
    assert (report.ending, report.is_asked_again) == (Ending.ENDED, True), held.log
    assert "01-REQ-1.1" in held.answer
    assert ["bash" in told for told in report.forbidden] == [True]
    assert not (world.workspace / "ran.txt").exists()
    assert report.tokens is not None
    assert (report.tokens.input, report.tokens.output) == (4000, 40)


@pytest.mark.parametrize(
    ("action", "kind"),
    [
        (error(401, "authentication_error"), Infrastructure.AUTHENTICATION),
        (error(529, "overloaded_error"), Infrastructure.OVERLOAD),
    ],
)
def test_a_broken_world_is_named(world: World, action: dict[str, object], kind: Infrastructure) -> None:
    with ModelServer(script(action)) as server:
        held = hold(world.task, server)
    assert (held.report.ending, held.report.infrastructure) == (Ending.INFRASTRUCTURE, kind), held.log
