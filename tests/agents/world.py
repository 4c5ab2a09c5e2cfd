"""One process of a real agent's program against the scripted model server, for the tests of the adapters beside this.

Fake: the model. Real: the program, its tools, the files, git, the sandbox where the task asks for it.
"""

from __future__ import annotations

import os
import queue
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import IO, Any, TypeVar

from pydantic import TypeAdapter

from agent_fox.session.agents.command_line import Start
from agent_fox.session.agents.events import Called, Event, Finished, Tokens, Used
from agent_fox.session.agents.registry import command_line
from agent_fox.session.agents.runner.enclosure import enclosed
from agent_fox.session.agents.runner.outcome import Outcome, outcome_of
from agent_fox.session.agents.runner.tally import Tally
from agent_fox.session.agents.task import AgentTask, Door, Limits, Provider, Role
from agent_fox.testing.model_server import ModelServer
from agent_fox.testing.model_server.records import Exchange
from agent_fox.testing.model_server.script import Script

PROMPT = "agent-fox session: story:1 attempt 1 reading 1 archetype coder\n\nWrite the file.\n"
WORD = "word-of-this-launch"
LONGEST = 180.0
"""Seconds after which a process is killed."""

SCHEMA = {
    "type": "object",
    "properties": {"word": {"type": "string"}},
    "required": ["word"],
    "additionalProperties": False,
}
DOOR = frozenset({"mcp_url", "mcp_token", "stop_command"})
"""Fields of the door that `World.run` takes beside those of the task."""

PATHS = {"codex": "/v1"}
"""What the address of the model ends with, for the programs that want more than the host."""

Kind = TypeVar("Kind")
_SCRIPT = TypeAdapter(Script)


def script(*actions: Mapping[str, Any], **step: Any) -> Script:  # noqa: ANN401 - what a script file may hold
    return _SCRIPT.validate_python({"step": [{"node": "*", "actions": list(actions), **step}]})


def error(status: int, name: str) -> dict[str, Any]:
    """An action: every request is refused."""
    body = f'{{"type": "error", "error": {{"type": "{name}", "message": "no"}}}}'
    return {"status": status, "body": body, "times": "always"}


@dataclass(frozen=True)
class Ran:
    """What one process left: its events as they came, its exit status, its seconds, its standard error and output."""

    events: tuple[Event, ...]
    status: int
    seconds: float
    complaints: str
    lines: tuple[str, ...] = field(repr=False)

    def of(self, kind: type[Kind]) -> list[Kind]:
        return [event for event in self.events if isinstance(event, kind)]

    @property
    def finished(self) -> Finished:
        return self.of(Finished)[-1]

    @property
    def tools(self) -> list[str]:
        return [event.tool for event in self.of(Called)]

    @property
    def outcome(self) -> Outcome:
        tally = Tally(lambda tool: True)
        for event in self.events:
            tally.hear(event)
        return outcome_of(tally, None, self.status, "")

    def used(self) -> Tokens:
        return sum({use.message: use.tokens for use in self.of(Used)}.values(), Tokens())


@dataclass(frozen=True)
class World:
    """One workspace, one home, and the task of one session in them, below one root."""

    root: Path
    task: AgentTask

    @property
    def workspace(self) -> Path:
        return self.task.workspace

    def plant(self, path: str, text: str) -> Path:
        """A file below the root that holds the workspace and the home."""
        return write(self.root / path, text)

    def door(self, server: ModelServer, **given: Any) -> Door:  # noqa: ANN401 - fields of the door
        return Door(f"{server.url}{PATHS.get(self.task.cli, '')}", WORD, **given)

    def run(self, server: ModelServer, **changes: Any) -> Ran:  # noqa: ANN401 - fields of the task and the door
        door = self.door(server, **{name: changes.pop(name) for name in list(changes) if name in DOOR})
        return opened(replace(self.task, **changes), door)

    def again(self, server: ModelServer, session: str, **changes: Any) -> Ran:  # noqa: ANN401 - fields of the task
        task = replace(self.task, **changes)
        return run(task, command_line(task.cli).again(task, self.door(server), session))


def world_of(root: Path, cli: str, program: Path | None, provider: Provider, **changes: Any) -> World:  # noqa: ANN401
    """A world of this program. `changes` are fields of its task."""
    for name in ("tree/workspace", "launch/home", "launch/scratch"):
        (root / name).mkdir(parents=True)
    workspace = root / "tree/workspace"
    subprocess.run(["git", "init", "-q", "-b", "main", workspace], check=True)
    (workspace / "notes.txt").write_text("an old note\n", encoding="utf-8")
    return World(root, replace(task_of(root / "launch", cli, program, provider, workspace=workspace), **changes))


def task_of(place: Path, cli: str, program: Path | None, provider: Provider, *, workspace: Path) -> AgentTask:
    """A coder's task, with everything that is its own below a place of its own."""
    return AgentTask(
        cli=cli,
        program=str(program),
        role=Role.CODER,
        workspace=workspace,
        home=place / "home",
        scratch=place / "scratch",
        report=place / "report.json",
        system="You are the coder of this test.",
        prompt=PROMPT,
        limits=Limits(wall=600, idle=300, answer=60),
        provider=provider,
        upstream="",
        environment={
            "PATH": os.environ["PATH"],
            "LANG": "C.UTF-8",
            "AGENT_FOX_LAUNCH": f"{cli}-adapter-{place.parent.name}",
        },
    )


def write(path: Path, text: str) -> Path:
    """A file, with the folders above it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def opened(
    task: AgentTask, door: Door, send: signal.Signals | None = None, ready: threading.Event | None = None
) -> Ran:
    """The first process of a task, prepared anew."""
    command_line(task.cli).prepare(task, door)
    return run(task, command_line(task.cli).start(task, door), send, ready)


def run(task: AgentTask, start: Start, send: signal.Signals | None = None, ready: threading.Event | None = None) -> Ran:
    """One process to its end, its lines read as they come. `send` goes to it once `ready` is set."""
    began, reader = time.monotonic(), command_line(task.cli).reader(task)
    events: list[Event] = []
    told: dict[bool, list[str]] = {True: [], False: []}
    with _started(task, start) as process:
        if send is not None and ready is not None:
            threading.Thread(target=_send_when, args=(process, send, ready), daemon=True).start()
        for is_output, line in _lines_of(process):
            told[is_output].append(line)
            events += reader.line(line) if is_output else reader.complaint(line)
        status = process.wait()
    last = reader.end(status)
    whole = (*events, *([last] if last else []))
    return Ran(whole, status, time.monotonic() - began, "\n".join(told[False]), tuple(told[True]))


@contextmanager
def _started(task: AgentTask, start: Start) -> Iterator[subprocess.Popen[bytes]]:
    """The process, its standard input written and closed; it is killed with its group when its time is over."""
    environment = {**task.environment, **start.environment}
    with (
        enclosed(task, start, environment) as wrapped,
        subprocess.Popen(
            wrapped.argv,
            cwd=task.workspace,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            pass_fds=wrapped.descriptors,
            start_new_session=True,
        ) as process,
    ):
        timer = threading.Timer(LONGEST, os.killpg, (process.pid, signal.SIGKILL))
        timer.start()
        try:
            assert process.stdin is not None
            process.stdin.write(start.stdin.encode())
            process.stdin.close()
            yield process
        finally:
            timer.cancel()


def _lines_of(process: subprocess.Popen[bytes]) -> Iterator[tuple[bool, str]]:
    """The lines of both streams in the order in which they came, and whether each is of the standard output."""
    lines: queue.SimpleQueue[tuple[bool, str] | None] = queue.SimpleQueue()
    for stream, is_output in ((process.stdout, True), (process.stderr, False)):
        threading.Thread(target=_pump, args=(stream, is_output, lines), daemon=True).start()
    for _ in range(2):
        while (line := lines.get(timeout=LONGEST * 2)) is not None:
            yield line


def _pump(stream: IO[bytes], is_output: bool, lines: queue.SimpleQueue[tuple[bool, str] | None]) -> None:
    for line in stream:
        lines.put((is_output, line.decode("utf-8", "replace").rstrip("\n")))
    lines.put(None)


def _send_when(process: subprocess.Popen[bytes], number: signal.Signals, ready: threading.Event) -> None:
    if ready.wait(LONGEST):
        process.send_signal(number)


def set_at(server: ModelServer, requests: int, ready: threading.Event) -> None:
    """Set `ready` once the model was asked so many times."""
    if server.wait_for(lambda exchanges: len(exchanges) >= requests, LONGEST):
        ready.set()


def nobody() -> str:
    """An address at which nothing listens."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        return f"http://127.0.0.1:{free.getsockname()[1]}"


def work(server: ModelServer) -> list[Exchange]:
    """The requests that the script has answered."""
    return [exchange for exchange in server.requests if exchange.step is not None]


def text_of(exchanges: Sequence[Exchange]) -> str:
    """Everything that was sent to the model."""
    return "\n".join(str(exchange.body) for exchange in exchanges)


def offered(exchange: Exchange) -> set[str]:
    """Names of the tools in a request of any of the protocols, or their types, for those without a name."""
    assert isinstance(exchange.body, dict)
    return set(_names(exchange.body.get("tools")))


def _names(tools: object) -> Iterator[str]:
    for tool in tools if isinstance(tools, list) else ():
        if isinstance(tool, dict) and "functionDeclarations" in tool:
            yield from _names(tool["functionDeclarations"])
        elif isinstance(tool, dict):
            yield str(tool.get("name") or tool["type"])
