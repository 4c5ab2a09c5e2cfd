"""What a session of the real Claude Code does, and what its role lets it do. Fake: the model."""

from __future__ import annotations

import socket
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from agent_fox.session.agents.claude.adapter import CLAUDE
from agent_fox.session.agents.events import (
    Answered,
    Began,
    Called,
    Tokens,
    Turn,
    Unreadable,
    Used,
)
from agent_fox.session.agents.task import Door, Role
from agent_fox.testing.model_server import ModelServer
from tests.agents.claude_world import MARKS, world
from tests.agents.mcp_tools import Tools, tools
from tests.agents.world import PROMPT, WORD, World, offered, run, script, text_of, work

__all__ = ["tools", "world"]

pytestmark = MARKS

# --- what a session does ---


def test_a_coder_edits_runs_and_its_events_tell_everything(world: World) -> None:
    target = world.workspace / "hello.txt"
    actions = (
        {"tool": "Write", "arguments": {"file_path": str(target), "content": "hello\n"}},
        {"run": ["sh", "-c", "cat hello.txt"]},
        {"tool": "WebFetch", "arguments": {"url": "http://127.0.0.1:9/", "prompt": "x"}},
        {"say": "done"},
    )
    with ModelServer(script(*actions, input_tokens=1000, output_tokens=30)) as server:
        ran = world.run(server)
        requests = work(server)
    assert (ran.status, target.read_text()) == (0, "hello\n")
    assert [call.tool for call in ran.of(Called)] == ["Write", "Bash", "WebFetch"]
    assert [(answer.is_error, answer.is_refused) for answer in ran.of(Answered)] == [
        (False, False),
        (False, False),
        (True, True),
    ]
    assert ran.of(Answered)[1].text == "hello"
    assert (len(ran.of(Turn)), len(requests)) == (4, 4)
    last = {use.message: use.tokens for use in ran.of(Used)}
    assert sum(last.values(), Tokens()) == Tokens(input=4000, output=120)
    assert not ran.of(Unreadable)
    finished = ran.finished
    assert (finished.text, finished.is_error, finished.reason) == ("done", False, "completed")
    assert finished.tokens == Tokens(input=4000, output=120)
    assert finished.cost_usd is not None
    assert finished.cost_usd > 0
    assert finished.session == ran.of(Began)[0].session != ""


def test_the_request_carries_the_rules_the_prompt_the_model_and_the_word_of_the_launch(world: World) -> None:
    with ModelServer(script({"say": "done"})) as server:
        ran = world.run(server, model="claude-sonnet-5-5", effort="high")
        (request,) = work(server)
    body = request.body
    assert isinstance(body, dict)
    assert "You are the coder of this test." in str(body["system"])
    assert "Write the file." in str(body["messages"])
    assert (body["model"], body["output_config"]) == ("claude-sonnet-5-5", {"effort": "high"})
    assert request.headers["x-api-key"] == WORD
    assert ran.of(Began)[0].model == "claude-sonnet-5-5"
    assert {exchange.path.partition("?")[0] for exchange in server.requests} == {"/v1/messages"}


def test_a_prompt_of_megabytes_arrives_whole_and_mentions_attach_nothing(world: World) -> None:
    world.plant("tree/workspace/secret.txt", "CONTENT-OF-A-MENTIONED-FILE")
    prompt = PROMPT + "@secret.txt @/etc/hostname !`touch canary`\n" + "x" * 400_000 + "\nTHE-END"
    with ModelServer(script({"say": "done"})) as server:
        ran = world.run(server, prompt=prompt)
        (request,) = work(server)
    assert ran.status == 0
    assert "THE-END" in str(request.body)
    assert "CONTENT-OF-A-MENTIONED-FILE" not in str(request.body)
    assert not (world.workspace / "canary").exists()


# --- what a role may do ---


@pytest.mark.parametrize("role", [Role.VERIFIER, Role.REVIEWER])
def test_who_judges_is_offered_reading_alone_and_what_it_tries_is_told(world: World, role: Role) -> None:
    outside = world.plant("tree/outside.txt", "CONTENT-OUTSIDE")
    (world.workspace / "link.txt").symlink_to(outside)
    target = str(world.workspace / "planted.txt")
    actions = (
        {"tool": "Read", "arguments": {"file_path": str(world.workspace / "notes.txt")}},
        {"tool": "Bash", "arguments": {"command": f"touch {target}"}},
        {"tool": "Write", "arguments": {"file_path": target, "content": "x"}},
        {"tool": "Edit", "arguments": {"file_path": target, "old_string": "", "new_string": "x"}},
        {"tool": "Read", "arguments": {"file_path": str(outside)}},
        {"tool": "Read", "arguments": {"file_path": str(world.workspace / "link.txt")}},
        {"tool": "Grep", "arguments": {"pattern": "CONTENT", "path": str(outside.parent), "output_mode": "content"}},
        {"tool": "Glob", "arguments": {"pattern": "*", "path": str(world.task.home)}},
        {"say": "done"},
    )
    with ModelServer(script(*actions)) as server:
        ran = world.run(server, role=role)
        requests = work(server)
    assert ran.finished.text == "done"
    assert offered(requests[0]) == {"Read", "Grep", "Glob"}
    assert [call.tool for call in ran.of(Called)] == [str(action["tool"]) for action in actions[:-1]]
    assert [call.tool for call in ran.of(Called) if not CLAUDE.may(role, call.tool)] == ["Bash", "Write", "Edit"]
    refused = [answer.is_refused for answer in ran.of(Answered)]
    assert refused == [False, True, True, True, True, True, True, True], [a.text for a in ran.of(Answered)]
    assert "an old note" in ran.of(Answered)[0].text
    assert "CONTENT-OUTSIDE" not in text_of(requests)
    assert sorted(path.name for path in world.workspace.iterdir()) == [".git", "link.txt", "notes.txt"]


@pytest.mark.parametrize("role", [Role.CODER, Role.VERIFIER])
def test_the_tools_of_the_verifier_run_without_a_question_and_no_others_of_it(
    world: World, tools: Tools, role: Role
) -> None:
    actions = ({"mcp": "run_unit_tests", "arguments": {"scope": "one"}}, {"mcp": "erase_everything"}, {"say": "done"})
    with ModelServer(script(*actions)) as server:
        ran = world.run(server, role=role, tools=("run_unit_tests",), mcp_url=tools.url, mcp_token=tools.token)
    assert tools.called == ["run_unit_tests one"]
    assert ran.of(Began)[0].servers == {"verifier": "connected"}
    assert [call.tool for call in ran.of(Called)] == [
        "mcp__verifier__run_unit_tests",
        "mcp__verifier__erase_everything",
    ]
    assert ran.of(Called)[0].arguments == {"scope": "one"}
    assert [answer.is_refused for answer in ran.of(Answered)] == [False, True]
    assert "3 passed" in ran.of(Answered)[0].text
    assert tools.token not in " ".join(CLAUDE.start(world.task, Door(server.url, WORD, tools.url, tools.token)).argv)


def test_a_reviewer_gets_no_tools_of_the_verifier(world: World, tools: Tools) -> None:
    with ModelServer(script({"say": "done"})) as server:
        ran = world.run(server, role=Role.REVIEWER, tools=("run_unit_tests",), mcp_url=tools.url, mcp_token=tools.token)
    assert (ran.of(Began)[0].servers, tools.called) == ({}, [])


# --- the stop hook ---


def hook_at(world: World, blocks: int) -> tuple[tuple[str, ...], Path]:
    """A hook that holds the session back some times, and the file in which it counts."""
    count = world.root / "launch/count.txt"
    code = (
        "import json, pathlib, sys\n"
        "json.load(sys.stdin)\n"
        "count, most = pathlib.Path(sys.argv[1]), int(sys.argv[2])\n"
        "seen = len(count.read_text()) if count.exists() else 0\n"
        "count.write_text('x' * (seen + 1))\n"
        "sys.exit(sys.stderr.write('REASON-OF-THE-GATE: run the tests') and 2 if seen < most else 0)\n"
    )
    return (sys.executable, "-c", code, str(count), str(blocks)), count


def test_a_coder_is_held_back_by_the_stop_hook_until_it_lets_go(world: World) -> None:
    command, count = hook_at(world, 2)
    with ModelServer(script({"say": "one"}, {"say": "two"}, {"say": "three"}, {"say": "four"})) as server:
        ran = world.run(server, stop_command=command)
        requests = work(server)
    assert (ran.finished.text, ran.finished.is_error) == ("three", False)
    assert (len(requests), len(count.read_text())) == (3, 3)
    assert "REASON-OF-THE-GATE" in str(requests[1].body)


def test_a_hook_that_never_lets_go_is_no_barrier_and_the_reason_says_so(world: World) -> None:
    command, count = hook_at(world, 99)
    with ModelServer(script(*[{"say": "again"}] * 20)) as server:
        ran = world.run(server, stop_command=command)
    assert (ran.status, ran.finished.is_error, ran.finished.reason) == (0, False, "stop-hook-block-cap")
    assert len(count.read_text()) == 9


def test_no_hook_runs_for_who_judges(world: World) -> None:
    command, count = hook_at(world, 2)
    with ModelServer(script({"say": "one"}, {"say": "two"})) as server:
        ran = world.run(server, role=Role.VERIFIER, stop_command=command)
    assert (ran.finished.text, count.exists()) == ("one", False)


def test_a_session_inside_another_and_behind_a_proxy_still_comes_to_our_door(world: World) -> None:
    around = {
        **{
            "CLAUDECODE": "1",
            "CLAUDE_CODE_SESSION_ID": "x",
            "CLAUDE_CODE_ENTRYPOINT": "cli",
            "CLAUDE_CODE_SIMPLE": "1",
        },
        **{"CLAUDE_CODE_CHILD_SESSION": "1", "CLAUDE_CODE_SSE_PORT": "1", "CLAUDE_CODE_RETRY_WATCHDOG": "1"},
        **{"HTTP_PROXY": "http://127.0.0.1:9", "HTTPS_PROXY": "http://127.0.0.1:9", "NO_PROXY": "intern.example"},
        **{"ANTHROPIC_UNIX_SOCKET": "/nowhere", "CLAUDE_CODE_SUBPROCESS_ENV_SCRUB": "1"},
    }
    actions = ({"tool": "Bash", "arguments": {"command": "echo ran"}}, {"say": "done"})
    with ModelServer(script(*actions)) as server:
        ran = world.run(server, environment={**world.task.environment, **around})
    assert (ran.finished.text, ran.of(Answered)[0].text) == ("done", "ran")
    assert ran.finished.session != "x"


def test_a_login_is_handed_to_the_program_and_kept_from_its_shell(world: World) -> None:
    look = {"tool": "Bash", "arguments": {"command": "env | grep -c a-person | cat"}}
    with ModelServer(script(look, {"say": "done"})) as server:
        task = replace(world.task, environment={**world.task.environment, "HTTPS_PROXY": "http://127.0.0.1:9"})
        door = Door(server.url, "login-of-a-person", is_login=True)
        CLAUDE.prepare(task, door)
        ran = run(task, CLAUDE.start(task, door))
        requests = work(server)
    assert (ran.finished.text, ran.of(Answered)[0].text) == ("done", "0")
    assert {request.headers.get("authorization") for request in requests} == {"Bearer login-of-a-person"}


def test_nobody_but_the_model_is_spoken_to(world: World) -> None:
    """Whatever goes to another host goes to a proxy here, where nothing may arrive."""
    with socket.create_server(("127.0.0.1", 0)) as listener, ModelServer(script({"say": "done"})) as server:
        proxy = f"http://127.0.0.1:{listener.getsockname()[1]}"
        around = {name: proxy for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy")}
        ran = world.run(server, environment={**world.task.environment, **around})
        listener.settimeout(0.5)
        with pytest.raises(TimeoutError):
            listener.accept()
        asked = {exchange.path.partition("?")[0] for exchange in server.requests}
    assert (ran.finished.text, asked) == ("done", {"/v1/messages"})
