"""How sessions of the real Claude Code end, well or in a broken world. Fake: the model."""

from __future__ import annotations

import signal
import threading
from dataclasses import replace
from typing import Any

import pytest

from agent_fox.session.agents.claude.adapter import CLAUDE
from agent_fox.session.agents.events import (
    Called,
    Finished,
    Tokens,
    Trouble,
    Used,
)
from agent_fox.session.agents.task import Door, Role
from agent_fox.session.infrastructure import Infrastructure
from agent_fox.testing.model_server import ModelServer
from tests.agents.claude_world import LIMITS, MARKS, SECONDS, world
from tests.agents.mcp_tools import tools
from tests.agents.world import SCHEMA, WORD, World, error, offered, run, script, set_at, work

__all__ = ["tools", "world"]

pytestmark = MARKS

# --- how a session ends ---


def test_an_answer_by_schema_is_structured(world: World) -> None:
    with ModelServer(script({"answer": {"word": "yes"}})) as server:
        ran = world.run(server, role=Role.VERIFIER, schema=SCHEMA)
    assert (ran.status, ran.finished.structured, ran.finished.is_error) == (0, {"word": "yes"}, False)
    assert all(CLAUDE.may(Role.VERIFIER, call.tool) for call in ran.of(Called))


def test_plain_words_in_place_of_a_structured_answer_are_not_taken_for_one(world: World) -> None:
    with ModelServer(script(*[{"say": "yes"}] * 8)) as server:
        ran = world.run(server, role=Role.VERIFIER, schema=SCHEMA)
    assert ran.finished.structured is None


def test_a_session_is_asked_again_without_tools_and_its_cost_is_not_counted_twice(world: World) -> None:
    actions = ({"say": "it is fine"}, {"answer": {"word": "yes"}})
    with ModelServer(script(*actions, input_tokens=1000, output_tokens=10)) as server:
        first = world.run(server, role=Role.VERIFIER)
        task = replace(world.task, role=Role.VERIFIER, schema=SCHEMA, ask_again="Say it again, as JSON.")
        again = run(task, CLAUDE.again(task, Door(server.url, WORD), first.finished.session))
        requests = work(server)
    assert again.finished.structured == {"word": "yes"}
    assert again.finished.session == first.finished.session
    assert "it is fine" in str(requests[-1].body)
    assert "Say it again, as JSON." in str(requests[-1].body)
    assert "You are the coder of this test." in str(requests[-1].body)
    assert offered(requests[-1]) == {"StructuredOutput"}
    assert first.finished.tokens == Tokens(input=1000, output=10)
    assert again.finished.tokens == Tokens(input=1000 * len(requests), output=10 * len(requests))
    assert first.finished.cost_usd is not None
    assert again.finished.cost_usd == pytest.approx(first.finished.cost_usd * len(requests))


def test_turns_that_are_spent_are_an_error_with_a_reason(world: World) -> None:
    with ModelServer(script(*[{"run": ["true"]}] * 5, {"say": "done"})) as server:
        ran = world.run(server, limits=replace(LIMITS, turns=2))
    assert (ran.status != 0, ran.finished.is_error, ran.finished.reason) == (True, True, "max_turns")


def test_dollars_that_are_spent_are_an_error_with_a_reason(world: World) -> None:
    steps = script(*[{"run": ["true"]}] * 5, {"say": "done"}, input_tokens=100_000, output_tokens=1000)
    with ModelServer(steps) as server:
        ran = world.run(server, limits=replace(LIMITS, cost_usd=0.01))
    assert (ran.finished.is_error, ran.finished.reason) == (True, "budget_exhausted")


@pytest.mark.parametrize(
    ("number", "is_told"), [(signal.SIGINT, True), (signal.SIGTERM, False), (signal.SIGKILL, False)]
)
def test_an_interrupted_session_tells_its_cost_and_a_killed_one_its_tokens_so_far(
    world: World, number: signal.Signals, is_told: bool
) -> None:
    ready = threading.Event()
    steps = script({"run": ["true"]}, {"hang": 60, "stage": "before"}, input_tokens=1000, output_tokens=10)
    with ModelServer(steps) as server:
        door = Door(server.url, WORD)
        CLAUDE.prepare(world.task, door)
        threading.Thread(target=set_at, args=(server, 2, ready), daemon=True).start()
        ran = run(world.task, CLAUDE.start(world.task, door), number, ready)
    assert ran.seconds < SECONDS / 2
    assert {use.message: use.tokens for use in ran.of(Used)} == {ran.of(Used)[0].message: Tokens(1000, 10)}
    assert bool(ran.of(Finished)) == is_told
    if is_told:
        assert (ran.finished.is_error, ran.finished.tokens) == (True, Tokens(1000, 10))


# --- a broken world ---

NETWORK, AUTHENTICATION = Infrastructure.NETWORK, Infrastructure.AUTHENTICATION
BROKEN = [
    pytest.param(error(404, "not_found_error"), Infrastructure.UNKNOWN_MODEL, id="404-model"),
    pytest.param(error(400, "invalid_request_error"), None, id="400"),
    pytest.param({"hang": 300, "stage": "before"}, NETWORK, id="hang-before"),
    pytest.param({"hang": 300, "stage": "stream"}, NETWORK, id="hang-stream"),
]


@pytest.mark.parametrize(("action", "kind"), BROKEN)
def test_a_broken_world_is_named_and_the_program_gives_up_soon(
    world: World, action: dict[str, Any], kind: Infrastructure | None
) -> None:
    with ModelServer(script(action)) as server:
        ran = world.run(server, limits=replace(LIMITS, idle=30))
    last = ran.of(Trouble)[-1]
    assert (last.kind, last.is_final) == (kind, True), last
    assert {trouble.kind for trouble in ran.of(Trouble)} == {kind}
    assert (ran.status, ran.finished.is_error, ran.finished.reason) == (1, True, "api_error")
    assert ran.seconds < 60


def test_no_credentials_at_all_are_a_matter_of_authentication(world: World) -> None:
    door = Door("http://127.0.0.1:9", "")
    CLAUDE.prepare(world.task, door)
    ran = run(world.task, CLAUDE.start(world.task, door))
    assert (ran.of(Trouble)[-1].kind, ran.finished.is_error) == (AUTHENTICATION, True)
