"""The real opencode, started by its adapter, against the scripted model server.

Fake: the model. Real: the program, its tools, the MCP server, the files.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from agent_fox.session.agents.events import (
    Answered,
    Began,
    Called,
    Tokens,
    Trouble,
    Turn,
    Unreadable,
)
from agent_fox.session.agents.opencode.adapter import OPENCODE
from agent_fox.session.agents.task import Door, Limits, Provider, Role
from agent_fox.session.infrastructure import Infrastructure
from agent_fox.testing.model_server import ModelServer
from tests.agents.mcp_tools import Tools, served
from tests.agents.programs import VARIABLE, program
from tests.agents.world import (
    PROMPT,
    WORD,
    World,
    error,
    offered,
    run,
    script,
    text_of,
    world_of,
)

FOUND = program("opencode")
pytestmark = [
    pytest.mark.agents,
    pytest.mark.skipif(FOUND is None, reason=f"opencode is not below the folder that {VARIABLE} names"),
]

LIMITS = Limits(wall=600, idle=60, answer=60)
SECONDS = 90.0


@pytest.fixture
def world(tmp_path: Path) -> World:
    return world_at(tmp_path)


def world_at(root: Path) -> World:
    return world_of(root, "opencode", FOUND, Provider.ANTHROPIC, limits=LIMITS, model="anthropic/claude-sonnet-4-5")


# --- what a session does ---


def test_a_coder_edits_runs_and_its_events_tell_everything(world: World) -> None:
    target = world.workspace / "hello.txt"
    actions = (
        {"tool": "write", "arguments": {"filePath": str(target), "content": "hello\n"}},
        {"tool": "bash", "arguments": {"command": "cat hello.txt", "description": "Shows it"}},
        {"tool": "webfetch", "arguments": {"url": "http://127.0.0.1:9/", "format": "text"}},
        {"say": "done"},
    )
    with ModelServer(script(*actions, input_tokens=1000, output_tokens=30)) as server:
        ran = world.run(server)
        requests = server.requests
    assert (ran.status, target.read_text(), ran.complaints) == (0, "hello\n", "")
    assert [call.tool for call in ran.of(Called)] == ["write", "bash", "webfetch"]
    assert [(answer.is_error, answer.is_refused) for answer in ran.of(Answered)] == [
        (False, False),
        (False, False),
        (True, True),
    ]
    assert ran.of(Called)[1].arguments["command"] == "cat hello.txt"
    assert ran.of(Answered)[1].text == "hello\n"
    assert [call.call for call in ran.of(Called)] == [answer.call for answer in ran.of(Answered)]
    assert (len(ran.of(Turn)), len(requests), ran.used()) == (4, 4, Tokens(input=4000, output=120))
    assert not ran.of(Unreadable)
    finished = ran.finished
    assert (finished.text, finished.is_error, finished.reason) == ("done", False, "completed")
    assert (finished.tokens, finished.model) == (Tokens(input=4000, output=120), "anthropic/claude-sonnet-4-5")
    assert finished.cost_usd is not None
    assert finished.cost_usd > 0
    assert finished.session == ran.of(Began)[0].session != ""


def test_the_request_carries_the_rules_the_prompt_the_model_and_the_word_of_the_launch(world: World) -> None:
    with ModelServer(script({"say": "done"})) as server:
        ran = world.run(server, effort="high")
        (request,) = server.requests
    body = request.body
    assert isinstance(body, dict)
    assert "You are the coder of this test." in str(body["system"])
    assert "Write the file." in str(body["messages"])
    assert (body["model"], request.path.partition("?")[0]) == ("claude-sonnet-4-5", "/v1/messages")
    assert "budget_tokens" in str(body["thinking"])
    assert request.headers["x-api-key"] == WORD
    assert [began.model for began in ran.of(Began)][-1] == "anthropic/claude-sonnet-4-5"


@pytest.mark.parametrize(
    ("provider", "model", "path", "header"),
    [
        (Provider.ANTHROPIC, "anthropic/a-model-nobody-knows", "/v1/messages", "x-api-key"),
        (Provider.OPENAI, "openai/gpt-5.1", "/v1/responses", "authorization"),
        (Provider.OPENAI, "openai/a-model-nobody-knows", "/v1/responses", "authorization"),
        (Provider.GEMINI, "google/gemini-2.5-pro", "/v1beta/models/gemini-2.5-pro:", "x-goog-api-key"),
    ],
)
def test_each_provider_is_asked_where_the_door_is(
    world: World, provider: Provider, model: str, path: str, header: str
) -> None:
    actions = ({"run": ["sh", "-c", "echo made > made.txt"]}, {"say": "done"})
    with ModelServer(script(*actions, input_tokens=1000, output_tokens=30)) as server:
        ran = world.run(server, provider=provider, model=model)
        requests = server.requests
    assert [request.path.startswith(path) for request in requests] == [True, True]
    assert [WORD in request.headers[header] for request in requests] == [True, True]
    assert (world.workspace / "made.txt").read_text() == "made\n"
    assert (ran.finished.text, ran.finished.is_error, ran.finished.model) == ("done", False, model)
    assert ran.finished.tokens == Tokens(input=2000, output=60)
    assert not ran.of(Trouble)


def test_a_prompt_of_megabytes_arrives_whole_and_mentions_attach_nothing(world: World) -> None:
    world.plant("tree/workspace/secret.txt", "CONTENT-OF-A-MENTIONED-FILE")
    prompt = PROMPT + "@secret.txt @/etc/hostname !`touch canary`\n" + "x" * 400_000 + "\nTHE-END"
    with ModelServer(script({"say": "done"})) as server:
        ran = world.run(server, prompt=prompt)
        (request,) = server.requests
    assert ran.status == 0
    assert "THE-END" in str(request.body)
    assert "CONTENT-OF-A-MENTIONED-FILE" not in str(request.body)
    assert not (world.workspace / "canary").exists()


# --- what a role may do ---


def searcher(world: World) -> dict[str, str]:
    """A search program on PATH, without which glob and grep are not offered. Fake: it finds the one note."""
    found = world.plant("bin/rg", f"#!/bin/sh\necho called >> {world.root}/searched\nexit 1\n")
    found.chmod(0o755)
    return {**world.task.environment, "PATH": f"{found.parent}:{os.environ['PATH']}"}


@pytest.mark.parametrize("role", [Role.VERIFIER, Role.REVIEWER])
def test_who_judges_is_offered_reading_alone_and_what_it_tries_is_told(world: World, role: Role) -> None:
    outside = world.plant("tree/outside.txt", "CONTENT-OUTSIDE")
    target = str(world.workspace / "planted.txt")
    actions = (
        {"tool": "read", "arguments": {"filePath": str(world.workspace / "notes.txt")}},
        {"tool": "bash", "arguments": {"command": f"touch {target}", "description": "x"}},
        {"tool": "write", "arguments": {"filePath": target, "content": "x"}},
        {"tool": "edit", "arguments": {"filePath": target, "oldString": "", "newString": "x"}},
        {"tool": "task", "arguments": {"description": "x", "prompt": "x", "subagent_type": "general"}},
        {"tool": "read", "arguments": {"filePath": str(outside)}},
        {"tool": "grep", "arguments": {"pattern": "CONTENT", "path": str(outside.parent)}},
        {"say": "done"},
    )
    with ModelServer(script(*actions)) as server:
        ran = world.run(server, role=role, environment=searcher(world))
        requests = server.requests
    assert ran.finished.text == "done"
    assert offered(requests[0]) == {"read", "grep", "glob"}
    assert [call.tool for call in ran.of(Called)] == [str(action["tool"]) for action in actions[:-1]]
    assert [call.tool for call in ran.of(Called) if not OPENCODE.may(role, call.tool)] == [
        *("bash", "write", "edit", "task")
    ]
    refused = [answer.is_refused for answer in ran.of(Answered)]
    assert refused == [False, True, True, True, True, True, True], [a.text for a in ran.of(Answered)]
    assert "an old note" in ran.of(Answered)[0].text
    assert "CONTENT-OUTSIDE" not in text_of(requests)
    assert sorted(path.name for path in world.workspace.iterdir()) == [".git", "notes.txt"]


def test_without_a_search_program_nothing_is_fetched_and_searching_is_not_offered(world: World) -> None:
    places = [folder for folder in os.environ["PATH"].split(":") if not Path(folder, "rg").exists()]
    with ModelServer(script({"say": "done"})) as server:
        world.run(server, environment={**world.task.environment, "PATH": ":".join(places)})
        (request,) = server.requests
    assert offered(request) == {"read", "write", "edit", "bash", "todowrite"}


@pytest.fixture
def tools(tmp_path: Path) -> Iterator[Tools]:
    with served(tmp_path, "rich") as found:
        yield found


@pytest.mark.parametrize("role", [Role.CODER, Role.VERIFIER])
def test_the_tools_of_the_verifier_run_without_a_question_and_no_others_of_it(
    world: World, tools: Tools, role: Role
) -> None:
    actions = (
        {"tool": "verifier_run_unit_tests", "arguments": {"scope": "one"}},
        {"tool": "verifier_erase_everything"},
        {"tool": "read_mcp_resource", "arguments": {"server": "verifier", "uri": "notes://all"}},
        {"say": "done"},
    )
    with ModelServer(script(*actions)) as server:
        ran = world.run(server, role=role, tools=("run_unit_tests",), mcp_url=tools.url, mcp_token=tools.token)
        requests = server.requests
    assert tools.called == ["run_unit_tests one"]
    assert [name for name in offered(requests[0]) if name.startswith("verifier_")] == ["verifier_run_unit_tests"]
    assert [call.tool for call in ran.of(Called)] == [str(action["tool"]) for action in actions[:-1]]
    assert ran.of(Called)[0].arguments == {"scope": "one"}
    assert [answer.is_refused for answer in ran.of(Answered)] == [False, True, True]
    assert "3 passed" in ran.of(Answered)[0].text
    start = OPENCODE.start(world.task, Door(server.url, WORD, tools.url, tools.token))
    assert tools.token not in " ".join((*start.argv, *start.environment.values()))


def test_a_reviewer_gets_no_tools_of_the_verifier(world: World, tools: Tools) -> None:
    with ModelServer(script({"say": "done"})) as server:
        world.run(server, role=Role.REVIEWER, tools=("run_unit_tests",), mcp_url=tools.url, mcp_token=tools.token)
        (request,) = server.requests
    assert (offered(request) - {"read", "glob", "grep"}, tools.called) == (set(), [])


# --- how a session ends ---


def test_a_session_is_asked_again_without_tools_and_counts_only_what_is_new(world: World) -> None:
    actions = ({"tool": "read", "arguments": {"filePath": "notes.txt"}}, {"say": "it is fine"}, {"say": "YES"})
    with ModelServer(script(*actions, input_tokens=1000, output_tokens=10)) as server:
        first = world.run(server, role=Role.VERIFIER)
        task = replace(world.task, role=Role.VERIFIER, ask_again="Say it again, as JSON.")
        again = run(task, OPENCODE.again(task, Door(server.url, WORD), first.finished.session))
        requests = server.requests
    assert (again.finished.text, again.finished.is_error) == ("YES", False)
    assert again.finished.session == first.finished.session
    assert "it is fine" in str(requests[-1].body)
    assert "Say it again, as JSON." in str(requests[-1].body)
    assert "You are the coder of this test." in str(requests[-1].body)
    assert offered(requests[-1]) - {"_noop"} == set()
    assert (first.finished.tokens, again.finished.tokens) == (Tokens(2000, 20), Tokens(1000, 10))


# --- a broken world ---

NETWORK, RATE_LIMIT = Infrastructure.NETWORK, Infrastructure.RATE_LIMIT
BROKEN = [
    pytest.param(error(404, "not_found_error"), Infrastructure.UNKNOWN_MODEL, 1, id="404-model"),
    pytest.param(error(400, "invalid_request_error"), None, 1, id="400"),
    pytest.param({"hang": 300, "stage": "before"}, NETWORK, 2, id="hang-before"),
    pytest.param({"hang": 300, "stage": "stream"}, NETWORK, 2, id="hang-stream"),
]


@pytest.mark.parametrize(("action", "kind", "asked"), BROKEN)
def test_a_broken_world_is_named_and_the_program_gives_up_soon(
    world: World, action: dict[str, Any], kind: Infrastructure | None, asked: int
) -> None:
    with ModelServer(script(action)) as server:
        ran = world.run(server, limits=replace(LIMITS, idle=20))
        requests = server.requests
    assert len(requests) == asked
    assert (ran.finished.is_error, ran.of(Trouble)[-1].kind, ran.of(Trouble)[-1].is_final) == (True, kind, True)
    assert {trouble.kind for trouble in ran.of(Trouble)} == {kind}
    assert ran.seconds < SECONDS


class Busy(BaseHTTPRequestHandler):
    """A server that asks for two minutes."""

    def do_POST(self) -> None:
        body = b'{"type": "error", "error": {"type": "rate_limit_error", "message": "later"}}'
        self.send_response(429)
        self.send_header("retry-after", "120")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def test_a_long_wait_is_not_waited_for(world: World) -> None:
    with ThreadingHTTPServer(("127.0.0.1", 0), Busy) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        door = Door(f"http://127.0.0.1:{server.server_port}", WORD)
        OPENCODE.prepare(world.task, door)
        ran = run(world.task, OPENCODE.start(world.task, door))
        server.shutdown()
    last = ran.of(Trouble)[-1]
    assert (ran.finished.is_error, last.kind, last.is_final, last.retry_after) == (True, RATE_LIMIT, True, 120)
    assert ran.seconds < SECONDS
