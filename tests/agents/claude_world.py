"""One session of the real Claude Code against the scripted model server, for the tests beside this module.

Fake: the model. Real: the program, its tools, the MCP server, the hooks, the files.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

import pytest
from pydantic import TypeAdapter

from agent_fox.session.agents.claude import CLAUDE
from agent_fox.session.agents.command_line import Start
from agent_fox.session.agents.events import (
    Event,
    Finished,
)
from agent_fox.session.agents.task import AgentTask, Door, Limits, Provider, Role
from agent_fox.testing.model_server import ModelServer
from agent_fox.testing.model_server.records import Exchange
from agent_fox.testing.model_server.script import Script
from tests.agents.programs import VARIABLE, program

FOUND = program("claude")
MARKS = [
    pytest.mark.agents,
    pytest.mark.skipif(FOUND is None, reason=f"claude is not below the folder that {VARIABLE} names"),
]

PROMPT = "agent-fox session: story:1 attempt 1 reading 1 archetype coder\n\nWrite the file.\n"
LIMITS = Limits(wall=600, idle=300, answer=60)
SECONDS = 90.0
WORD = "word-of-this-launch"

_SCRIPT = TypeAdapter(Script)
Kind = TypeVar("Kind")


def script(*actions: Mapping[str, Any], **step: Any) -> Script:  # noqa: ANN401 - what a script file may hold
    return _SCRIPT.validate_python({"step": [{"node": "*", "actions": list(actions), **step}]})


@dataclass(frozen=True)
class Ran:
    """What one process left: its events, its exit status, how long it took in seconds, and its standard error."""

    events: tuple[Event, ...]
    status: int
    seconds: float
    complaints: str
    lines: tuple[str, ...] = field(repr=False, default=())

    def of(self, kind: type[Kind]) -> list[Kind]:
        return [event for event in self.events if isinstance(event, kind)]

    @property
    def finished(self) -> Finished:
        return self.of(Finished)[-1]


@dataclass(frozen=True)
class World:
    """One workspace, one home, and the task of one session in them."""

    root: Path
    task: AgentTask

    @property
    def workspace(self) -> Path:
        return self.task.workspace

    def plant(self, path: str, text: str) -> Path:
        """A file below the root that holds the workspace and the home."""
        target = self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
        return target

    def run(self, server: ModelServer, **changes: Any) -> Ran:  # noqa: ANN401 - fields of the task and the door
        door = Door(server.url, WORD, **{name: changes.pop(name) for name in list(changes) if name in DOOR})
        task = replace(self.task, **changes)
        CLAUDE.prepare(task, door)
        return run(task, CLAUDE.start(task, door))


DOOR = frozenset({"mcp_url", "mcp_token", "stop_command"})


def run(task: AgentTask, start: Start, send: signal.Signals | None = None, ready: threading.Event | None = None) -> Ran:
    """One process to its end. `send` goes to it once `ready` is set."""
    environment = {**task.environment, **start.environment}
    began = time.monotonic()
    with subprocess.Popen(
        start.argv,
        cwd=task.workspace,
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    ) as process:
        timer = threading.Timer(SECONDS * 2, process.kill)
        timer.start()
        if send is not None and ready is not None:
            threading.Thread(target=_send_when, args=(process, send, ready), daemon=True).start()
        try:
            out, complaints = process.communicate(start.stdin.encode())
        finally:
            timer.cancel()
    reader = CLAUDE.reader(task)
    lines = tuple(out.decode("utf-8", "replace").splitlines())
    events = [event for line in lines for event in reader.line(line)]
    last = reader.end(process.returncode)
    seconds = time.monotonic() - began
    return Ran((*events, *([last] if last else [])), process.returncode, seconds, complaints.decode(), lines)


def _send_when(process: subprocess.Popen[bytes], number: signal.Signals, ready: threading.Event) -> None:
    if ready.wait(SECONDS):
        process.send_signal(number)


def set_at(server: ModelServer, requests: int, ready: threading.Event) -> None:
    if server.wait_for(lambda exchanges: len(exchanges) >= requests, SECONDS):
        ready.set()


@pytest.fixture
def world(tmp_path: Path) -> World:
    return world_at(tmp_path)


def world_at(root: Path) -> World:
    for name in ("tree/workspace", "launch/home", "launch/scratch"):
        (root / name).mkdir(parents=True)
    workspace = root / "tree/workspace"
    subprocess.run(["git", "init", "-q", "-b", "main", workspace], check=True)
    (workspace / "notes.txt").write_text("an old note\n", encoding="utf-8")
    task = AgentTask(
        cli="claude",
        program=str(FOUND),
        role=Role.CODER,
        workspace=workspace,
        home=root / "launch/home",
        scratch=root / "launch/scratch",
        report=root / "launch/report.json",
        events=root / "launch/events.jsonl",
        system="You are the coder of this test.",
        prompt=PROMPT,
        limits=LIMITS,
        provider=Provider.ANTHROPIC,
        upstream="",
        environment={"PATH": os.environ["PATH"], "LANG": "C.UTF-8", "AGENT_FOX_LAUNCH": f"claude-adapter-{root.name}"},
    )
    return World(root, task)


def text_of(exchanges: Sequence[Exchange]) -> str:
    """Everything that was sent to the model."""
    return "\n".join(str(exchange.body) for exchange in exchanges)


def work(server: ModelServer) -> list[Exchange]:
    return [exchange for exchange in server.requests if exchange.step is not None]


def offered(exchange: Exchange) -> set[str]:
    assert isinstance(exchange.body, dict)
    tools = exchange.body.get("tools")
    return {str(tool["name"]) for tool in tools if isinstance(tool, dict)} if isinstance(tools, list) else set()


SCHEMA = {
    "type": "object",
    "properties": {"word": {"type": "string"}},
    "required": ["word"],
    "additionalProperties": False,
}


def error(status: int, name: str) -> dict[str, Any]:
    body = f'{{"type": "error", "error": {{"type": "{name}", "message": "no"}}}}'
    return {"status": status, "body": body, "times": "always"}


MCP_SERVER = """
import socket
import sys

import uvicorn
from mcp.server.mcpserver import MCPServer

token, record = sys.argv[1], sys.argv[2]
server = MCPServer("verifier")


def note(text):
    with open(record, "a") as file:
        file.write(text + "\\n")


@server.tool()
def run_unit_tests(scope: str = "all") -> str:
    "Run the unit tests."
    note("run_unit_tests " + scope)
    return "3 passed"


@server.tool()
def erase_everything() -> str:
    "Not allowed to the session."
    note("erase_everything")
    return "erased"


inner = server.streamable_http_app()


async def guarded(scope, receive, send):
    if scope["type"] == "http" and dict(scope["headers"]).get(b"authorization") != b"Bearer " + token.encode():
        await send({"type": "http.response.start", "status": 401, "headers": []})
        await send({"type": "http.response.body", "body": b""})
        return
    await inner(scope, receive, send)


listener = socket.socket()
listener.bind(("127.0.0.1", 0))
print(listener.getsockname()[1], flush=True)
uvicorn.Server(uvicorn.Config(guarded, log_level="error")).run(sockets=[listener])
"""
"""A real MCP server over HTTP that wants a token, and writes down what was called."""


@dataclass(frozen=True)
class Tools:
    url: str
    token: str
    record: Path

    @property
    def called(self) -> list[str]:
        return self.record.read_text(encoding="utf-8").splitlines() if self.record.exists() else []


@pytest.fixture
def tools(tmp_path: Path) -> Iterator[Tools]:
    token, record = "token-of-the-verifier", tmp_path / "called.txt"
    command = (sys.executable, "-c", MCP_SERVER, token, str(record))
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        try:
            yield Tools(f"http://127.0.0.1:{int(server.stdout.readline())}/mcp", token, record)
        finally:
            server.kill()
