"""The real Codex CLI, started by its adapter, against the scripted model server.

Fake: the model. Real: the program with its own sandbox, its tools, the MCP server, the hooks, the files, git.
"""

from __future__ import annotations

import os
import signal
import subprocess
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from agent_fox.session.agents.codex.adapter import CODEX
from agent_fox.session.agents.events import (
    Answered,
    Began,
    Called,
    Finished,
    Spoke,
    Tokens,
    Trouble,
    Turn,
    Unreadable,
    Used,
)
from agent_fox.session.agents.task import Limits, Provider, Role
from agent_fox.session.infrastructure import Infrastructure
from agent_fox.system.sandbox import bubblewrap
from agent_fox.testing.model_server import ModelServer
from tests.agents.mcp_tools import Tools, tools
from tests.agents.programs import VARIABLE, program
from tests.agents.world import PROMPT, SCHEMA, WORD, World, offered, run, script, text_of, work, world_of

__all__ = ["tools"]

FOUND = program("codex")
pytestmark = [
    pytest.mark.agents,
    pytest.mark.skipif(FOUND is None, reason=f"codex is not below the folder that {VARIABLE} names"),
]

LIMITS = Limits(wall=600, idle=30, answer=60)
SECONDS = 90.0
IN_SANDBOX = pytest.param(
    "require", marks=pytest.mark.skipif(bool(bubblewrap.why_missing()), reason="there is no sandbox on this machine")
)


def shell(command: str) -> Mapping[str, Any]:
    return {"tool": "exec_command", "arguments": {"cmd": command}}


@pytest.fixture
def world(tmp_path: Path) -> World:
    return world_at(tmp_path)


def world_at(root: Path) -> World:
    own = {"model": "scripted-model", "ask_again": "Say it again, as JSON.", "limits": LIMITS}
    return world_of(root, "codex", FOUND, Provider.OPENAI, system='You are the coder of this "test".', **own)


# --- what a session does ---


@pytest.mark.parametrize("where", ["off", IN_SANDBOX])
def test_a_coder_edits_runs_commits_and_its_events_tell_everything(world: World, where: str) -> None:
    commit = "git add -A && git -c user.name=a -c user.email=a@b commit -qm work && git log --format=%s"
    actions = (shell("echo hello > hello.txt"), shell(commit), shell("exit 3"), {"tool": "no_such_tool"})
    with ModelServer(script(*actions, {"say": "done"}, input_tokens=1000, output_tokens=30)) as server:
        ran = world.run(server, sandbox=where)
        requests = work(server)
    assert (ran.status, (world.workspace / "hello.txt").read_text()) == (0, "hello\n")
    assert [(call.tool, call.arguments) for call in ran.of(Called)] == [
        ("exec_command", {"cmd": "echo hello > hello.txt"}),
        ("exec_command", {"cmd": commit}),
        ("exec_command", {"cmd": "exit 3"}),
        ("no_such_tool", {}),
    ]
    assert [answer.call for answer in ran.of(Answered)] == [call.call for call in ran.of(Called)]
    assert "Process exited with code 3" in ran.of(Answered)[2].text
    assert [call for call in ran.tools if not CODEX.may(Role.CODER, call)] == ["no_such_tool"]
    assert "'work\\n'" in repr(subprocess.check_output(["git", "log", "--format=%s"], cwd=world.workspace, text=True))
    assert (len(ran.of(Turn)), len(requests)) == (5, 5)
    assert sum((use.tokens for use in ran.of(Used)), Tokens()) == Tokens(input=5000, output=150)
    assert not ran.of(Unreadable)
    finished = ran.finished
    assert (finished.text, finished.is_error, finished.reason) == ("done", False, "completed")
    assert finished.tokens == Tokens(input=5000, output=150)
    assert finished.session == ran.of(Began)[0].session != ""


def test_a_model_that_writes_scripts_is_heard_too(world: World) -> None:
    with ModelServer(script({"run": ["sh", "-c", "echo hello > hello.txt"]}, {"say": "done"})) as server:
        ran = world.run(server, model="gpt-6-sol")
    assert (world.workspace / "hello.txt").read_text() == "hello\n"
    assert ran.tools == ["exec", "exec_command"]
    assert "hello.txt" in str(ran.of(Called)[0].arguments["script"])
    assert (ran.finished.text, ran.finished.model) == ("done", "gpt-6-sol")


def test_a_patch_is_a_call(world: World) -> None:
    with ModelServer(script({"write": "patched.txt", "text": "hello\n"}, {"say": "done"})) as server:
        ran = world.run(server, model="gpt-5.5")
    assert (world.workspace / "patched.txt").read_text() == "hello\n"
    assert len(ran.of(Called)) == 1


def test_the_request_carries_the_rules_the_prompt_the_model_and_the_word_of_the_launch(world: World) -> None:
    with ModelServer(script({"say": "done"})) as server:
        ran = world.run(server, model="gpt-5.5", effort="high", prompt=PROMPT + "x" * 400_000 + "THE-END")
        (request,) = work(server)
        paths = {exchange.path.partition("?")[0] for exchange in server.requests}
    body = request.body
    assert isinstance(body, dict)
    assert 'You are the coder of this "test".' in str(body["input"])
    assert "THE-END" in str(body["input"])
    assert (body["model"], body["reasoning"]) == ("gpt-5.5", {"effort": "high"})
    assert request.headers["authorization"] == f"Bearer {WORD}"
    assert ran.of(Began)[-1].model == "gpt-5.5"
    assert paths == {"/v1/responses"}


def test_commands_of_the_agent_see_none_of_our_secrets(world: World) -> None:
    command = (
        "env; for place in /proc/[0-9]*/environ; do tr '\\0' '\\n' < $place; done 2>/dev/null; "
        "cat $HOME/.codex/config.toml; touch $HOME/.codex/config.toml; echo written=$?"
    )
    with ModelServer(script(shell(command), {"say": "done"})) as server:
        ran = world.run(server, environment={**world.task.environment, "MINE": "kept", "RUST_LOG": "debug"})
        said = text_of(server.requests)
    assert ran.status == 0
    assert "MINE=kept" in said
    assert "RUST_LOG=debug" in said
    assert "written=1" in said
    assert WORD not in said
    assert "CODEX_HOME=" not in said


def test_a_sandboxed_coder_writes_to_its_home_and_listens_on_loopback_but_not_elsewhere(
    world: World, tmp_path_factory: pytest.TempPathFactory
) -> None:
    outside = Path("/var/tmp") / f"agent-fox-codex-{os.getpid()}"
    listen = "python3 -c \"import socket; s=socket.socket(); s.bind(('127.0.0.1',0)); s.listen(); print('listens')\""
    command = f"touch $HOME/.cache-of-a-tool && echo home; {listen}; touch {outside}; echo outside=$?"
    with ModelServer(script(shell(command), {"say": "done"})) as server:
        world.run(server)
        said = text_of(server.requests)
    assert "home\\nlistens" in said or "home\nlistens" in said
    assert "outside=1" in said
    assert not outside.exists()


# --- what a role may do ---


@pytest.mark.parametrize("where", ["off", IN_SANDBOX])
@pytest.mark.parametrize("role", [Role.VERIFIER, Role.REVIEWER])
def test_who_judges_reads_and_whatever_else_it_tries_is_stopped_and_told(world: World, role: Role, where: str) -> None:
    tried = ("touch made.txt", "python3 -c 'print(6 * 7)'", "cat notes.txt > made.txt", "git commit -m x")
    actions = (shell("cat notes.txt | head -3"), *map(shell, tried), {"say": "done"})
    with ModelServer(script(*actions)) as server:
        ran = world.run(server, role=role, sandbox=where)
        said = text_of(server.requests)
    assert ran.finished.text == "done"
    assert [answer.is_refused for answer in ran.of(Answered)] == [False, True, True, True, True]
    assert "an old note" in said
    assert "may only read" in said
    assert sorted(path.name for path in world.workspace.iterdir()) == [".git", "notes.txt"]


@pytest.mark.parametrize("where", ["off", IN_SANDBOX])
def test_a_script_of_who_judges_is_stopped_at_each_call_that_does_more_than_read(world: World, where: str) -> None:
    actions = ({"run": ["sh", "-c", "touch made.txt"]}, {"write": "made.txt", "text": "x"}, {"say": "done"})
    with ModelServer(script(*actions)) as server:
        ran = world.run(server, role=Role.VERIFIER, model="gpt-6-sol", sandbox=where)
    assert ran.status == 0
    assert sorted(path.name for path in world.workspace.iterdir()) == [".git", "notes.txt"]
    assert any(answer.is_refused for answer in ran.of(Answered))


@pytest.mark.parametrize("model", ["scripted-model", "gpt-6-sol"])
@pytest.mark.parametrize("role", [Role.CODER, Role.VERIFIER])
def test_the_tools_of_the_verifier_run_without_a_question_and_no_others_of_it(
    world: World, tools: Tools, role: Role, model: str
) -> None:
    actions = ({"mcp": "run_unit_tests", "arguments": {"scope": "one"}}, {"mcp": "erase_everything"}, {"say": "done"})
    with ModelServer(script(*actions)) as server:
        ran = world.run(server, **tools.door, role=role, tools=("run_unit_tests",), model=model)
    assert tools.called == ["run_unit_tests one"]
    assert "mcp__verifier__run_unit_tests" in ran.tools
    assert CODEX.may(role, "mcp__verifier__run_unit_tests")


def test_a_reviewer_gets_no_tools_of_the_verifier(world: World, tools: Tools) -> None:
    with ModelServer(script({"say": "done"})) as server:
        ran = world.run(server, **tools.door, role=Role.REVIEWER, tools=("run_unit_tests",))
        assert not any("mcp" in name for name in offered(work(server)[0]))
    assert (ran.status, tools.called) == (0, [])


def test_a_session_does_not_begin_without_the_tools_that_it_was_promised(world: World) -> None:
    door = {"mcp_url": "http://127.0.0.1:9/mcp", "mcp_token": "token-of-the-verifier"}
    with ModelServer(script({"say": "done"})) as server:
        ran = world.run(server, **door, tools=("run_unit_tests",))
        assert not server.requests
    assert (ran.status, ran.finished.is_error, ran.of(Trouble)[-1].kind) == (1, True, Infrastructure.NETWORK)


# --- how a session ends ---


def test_an_answer_by_schema_is_structured(world: World) -> None:
    with ModelServer(script({"answer": {"word": "yes"}})) as server:
        ran = world.run(server, role=Role.VERIFIER, schema=SCHEMA)
    assert (ran.status, ran.finished.structured, ran.finished.is_error) == (0, {"word": "yes"}, False)


@pytest.mark.parametrize("where", ["off", IN_SANDBOX])
def test_a_session_is_asked_again_without_tools_and_its_tokens_are_not_counted_twice(world: World, where: str) -> None:
    actions = ({"say": "it is fine"}, shell("cat notes.txt"), {"answer": {"word": "yes"}})
    given: dict[str, Any] = {"role": Role.VERIFIER, "schema": SCHEMA, "sandbox": where}
    with ModelServer(script(*actions, input_tokens=1000, output_tokens=10)) as server:
        first = world.run(server, **given)
        again = world.again(server, first.finished.session, **given)
        requests = work(server)
    assert again.finished.structured == {"word": "yes"}
    assert again.finished.session == first.finished.session
    assert "it is fine" in str(requests[-1].body)
    assert "Say it again, as JSON." in str(requests[-1].body)
    assert "exec_command" not in offered(requests[-1])
    assert "an old note" not in str(requests[-1].body)
    assert (first.finished.tokens, again.finished.tokens) == (Tokens(1000, 10), Tokens(3000, 30))
    assert sum((use.tokens for use in again.of(Used)), Tokens()) == Tokens(2000, 20)


def test_a_stop_hook_holds_a_coder_back_until_it_lets_it_go(world: World) -> None:
    counter, hook = world.root / "counted", world.root / "hook.sh"
    hook.write_text(
        f'cat >/dev/null; echo x >> {counter}; [ $(wc -l < {counter}) -ge 3 ] || {{ echo "NOT YET $1" >&2; exit 2; }}',
        encoding="utf-8",
    )
    with ModelServer(script({"say": "one"}, {"say": "two"}, {"say": "three"})) as server:
        ran = world.run(server, stop_command=("sh", str(hook), "an argument; with 'quotes'"))
        said = text_of(server.requests)
    assert counter.read_text() == "x\n" * 3
    assert "NOT YET an argument; with 'quotes'" in said.replace('\\"', '"').replace("\\'", "'")
    assert [event.text for event in ran.of(Spoke)] == ["one", "two", "three"]
    assert (ran.status, ran.finished.text) == (0, "three")


def test_who_judges_has_no_stop_hook(world: World) -> None:
    with ModelServer(script({"say": "done"})) as server:
        world.run(server, role=Role.VERIFIER, stop_command=("touch", str(world.root / "called")))
    assert not (world.root / "called").exists()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_what_a_stopped_session_has_used_is_known(world: World, number: signal.Signals) -> None:
    ready = threading.Event()
    with ModelServer(script(shell("sleep 60"), {"say": "done"}, input_tokens=1000, output_tokens=10)) as server:
        door = world.door(server)
        CODEX.prepare(world.task, door)
        waiting = threading.Thread(target=_ready_when_called, args=(world, ready), daemon=True)
        waiting.start()
        ran = run(world.task, CODEX.start(world.task, door), number, ready)
    assert ran.seconds < 30
    assert ran.status != 0
    assert [use.tokens for use in ran.of(Used)] == [Tokens(1000, 10)]
    assert not any(event for event in ran.of(Finished) if not event.is_error)
    assert _sleepers(world) == []


def _ready_when_called(world: World, ready: threading.Event) -> None:
    give_up = time.monotonic() + SECONDS
    while not _sleepers(world) and time.monotonic() < give_up:
        time.sleep(0.05)
    ready.set()


def _sleepers(world: World) -> list[str]:
    """Processes of this launch that sleep, by its name in their environment."""
    mark = f"AGENT_FOX_LAUNCH={world.task.environment['AGENT_FOX_LAUNCH']}".encode()
    found = []
    for folder in Path("/proc").iterdir():
        try:
            if mark in (folder / "environ").read_bytes() and b"sleep\x0060" in (folder / "cmdline").read_bytes():
                found.append(folder.name)
        except OSError:
            continue
    return found


# --- what is broken ---


@pytest.mark.parametrize(
    ("action", "kind", "seconds"),
    [
        ({"hang": 100, "stage": "stream"}, Infrastructure.NETWORK, 60),
        ({"status": 400, "body": '{"error": {"message": "too dear"}}', "times": "always"}, None, 20),
    ],
    ids=lambda value: str(value) if isinstance(value, dict) else "",
)
def test_what_is_broken_is_named_soon(
    world: World, action: Mapping[str, Any], kind: Infrastructure | None, seconds: float
) -> None:
    with ModelServer(script(action, {"say": "done"})) as server:
        ran = world.run(server)
    assert ran.status == 1
    assert ran.finished.is_error
    assert ran.of(Trouble)[-1].kind is kind
    assert ran.seconds < seconds
