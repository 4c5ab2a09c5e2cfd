"""One session of the real Gemini CLI against a scripted model: shared by the tests of its adapter.

Fake: the model. Real: the program, its tools, the server of tools, the hook, the files.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

from pydantic import TypeAdapter

from agent_fox.session.agents.command_line import Start
from agent_fox.session.agents.events import Event
from agent_fox.session.agents.gemini import GEMINI
from agent_fox.session.agents.outcome import Outcome, outcome_of
from agent_fox.session.agents.tally import Tally
from agent_fox.session.agents.task import AgentTask, Door, Limits, Provider, Role
from agent_fox.testing.model_server import ModelServer
from agent_fox.testing.model_server.script import Script

PROMPT = "agent-fox session: story:1 attempt 1 reading 1 archetype coder\n\nWrite the file.\n"
WORD = "word-of-this-launch"
SECONDS = 180.0

Kind = TypeVar("Kind")
_SCRIPT = TypeAdapter(Script)


def script(*actions: Mapping[str, Any], **step: Any) -> Script:  # noqa: ANN401 - what a script file may hold
    return _SCRIPT.validate_python({"step": [{"node": "*", "actions": list(actions), **step}]})


@dataclass(frozen=True)
class Ran:
    """What one process left: its events in order, its exit status, its seconds."""

    events: tuple[Event, ...]
    status: int
    seconds: float
    complaints: str

    def of(self, kind: type[Kind]) -> list[Kind]:
        return [event for event in self.events if isinstance(event, kind)]

    @property
    def outcome(self) -> Outcome:
        tally = Tally(lambda tool: True)
        for event in self.events:
            tally.hear(event)
        return outcome_of(tally, None, self.status, "")


@dataclass(frozen=True)
class World:
    """A workspace and homes beside it, below one root."""

    root: Path
    program: Path

    @property
    def workspace(self) -> Path:
        return self.root / "workspace"

    def task(self, role: Role = Role.CODER, **changes: Any) -> AgentTask:  # noqa: ANN401 - fields of the task
        home, scratch = self.root / role / "home", self.root / role / "scratch"
        for folder in (home, scratch):
            folder.mkdir(parents=True, exist_ok=True)
        environment = {"PATH": os.environ["PATH"], "TMPDIR": str(scratch), "AGENT_FOX_LAUNCH": f"gemini-{role}"}
        task = AgentTask(
            cli="gemini",
            program=str(self.program),
            role=role,
            workspace=self.workspace,
            home=home,
            scratch=scratch,
            report=home.parent / "report.json",
            events=home.parent / "events.jsonl",
            system="RULES-OF-THE-ROLE",
            prompt=PROMPT,
            limits=Limits(wall=600, idle=300, answer=60),
            provider=Provider.GEMINI,
            upstream="",
            environment=environment,
            model="gemini-2.5-pro",
            ask_again="Once more, as JSON.",
        )
        return replace(task, **changes)

    def plant(self, path: str, text: str) -> Path:
        target = self.workspace / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
        return target

    def run(self, server: ModelServer | str, task: AgentTask, **door: Any) -> Ran:  # noqa: ANN401 - fields of the door
        opened = Door(server if isinstance(server, str) else server.url, WORD, **door)
        GEMINI.prepare(task, opened)
        return run(task, GEMINI.start(task, opened))


def made(root: Path, program: Path) -> World:
    world = World(root, program)
    world.plant("a.txt", "hello\n")
    subprocess.run(["git", "init", "-q", str(world.workspace)], check=True)
    return world


def run(task: AgentTask, start: Start, send: signal.Signals | None = None, ready: threading.Event | None = None) -> Ran:
    """One process to its end. `send` goes to it once `ready` is set."""
    began = time.monotonic()
    with subprocess.Popen(
        start.argv,
        cwd=task.workspace,
        env={**task.environment, **start.environment},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    ) as process:
        timer = threading.Timer(SECONDS, process.kill)
        timer.start()
        if send is not None and ready is not None:
            threading.Thread(target=_send_when, args=(process, send, ready), daemon=True).start()
        try:
            out, complaints = process.communicate(start.stdin.encode())
        finally:
            timer.cancel()
    reader, said = GEMINI.reader(task), complaints.decode("utf-8", "replace")
    events = [event for line in out.decode("utf-8", "replace").splitlines() for event in reader.line(line)]
    events += [event for line in said.splitlines() for event in reader.complaint(line)]
    last = reader.end(process.returncode)
    return Ran((*events, *([last] if last else [])), process.returncode, time.monotonic() - began, said)


def _send_when(process: subprocess.Popen[bytes], number: signal.Signals, ready: threading.Event) -> None:
    if ready.wait(SECONDS):
        process.send_signal(number)


def offered(body: Any) -> list[str]:  # noqa: ANN401 - a request as it came
    return [one["name"] for tool in body.get("tools", []) for one in tool.get("functionDeclarations", [])]


def asked(server: ModelServer) -> list[str]:
    """Each request's body as text, in order."""
    return [json.dumps(exchange.body) for exchange in server.requests]
