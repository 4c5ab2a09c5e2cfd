"""A small program that behaves like an agent's, well or badly, with its adapter. It stands for the programs that need a
model; its processes, pipes and signals are real.

What it does is a list of steps on its standard input, a word and an argument a line, played in order.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from agent_fox.session.agents.command_line import CommandLine, Facts, Reader, Start
from agent_fox.session.agents.credentials import Credentials
from agent_fox.session.agents.events import (
    Answered,
    Beat,
    Began,
    Called,
    Event,
    Finished,
    Spoke,
    Tokens,
    Trouble,
    Turn,
    Used,
)
from agent_fox.session.agents.prices import read_prices
from agent_fox.session.agents.report import AgentReport, read_report
from agent_fox.session.agents.runner.attending import Orders
from agent_fox.session.agents.runner.listening import Hearing
from agent_fox.session.agents.runner.main import Conversation
from agent_fox.session.agents.task import AgentTask, Door, Limits, Provider, Role
from agent_fox.session.infrastructure import Infrastructure

PROGRAM = r"""
import json, os, signal, subprocess, sys, time
def say(**event):
    print(json.dumps(event), flush=True)
def interrupted(*_):
    say(kind="finished", reason="interrupted", error=True, cost=0.5)
    sys.exit(130)
signal.signal(signal.SIGINT, interrupted)
for line in sys.stdin.read().splitlines():
    word, _, rest = line.partition(" ")
    if word == "event":
        print(rest, flush=True)
    elif word == "raw":
        print(rest, flush=True)
    elif word == "complain":
        print(rest, file=sys.stderr, flush=True)
    elif word == "sleep":
        time.sleep(float(rest))
    elif word == "deaf":
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_IGN)
    elif word == "write":
        open(rest, "w").write("written")
    elif word == "orphan":
        child = subprocess.Popen(["sleep", "300"], start_new_session=True, stdin=subprocess.DEVNULL)
        open(rest, "w").write(str(child.pid))
    elif word == "environment":
        open(rest, "w").write(json.dumps(dict(os.environ)))
    elif word == "kill":
        os.kill(os.getpid(), int(rest))
    elif word == "exit":
        sys.exit(int(rest))
"""

FACTS = Facts(
    name="toy",
    program="python3",
    least=(3, 8),
    install="it ships with the tests",
    keys={Provider.ANTHROPIC: ("TOY_KEY",)},
    tells_cost=True,
)


def event(kind: str, **fields: object) -> str:
    """A step that prints one event."""
    return f"event {json.dumps({'kind': kind, **fields})}"


DONE = event("finished", reason="completed", text="done", cost=0.25)


class ToyReader(Reader):
    """Reads the toy's own format of events."""

    def events_of(self, text: str) -> Iterable[Event]:
        return [_event(json.loads(text))]

    def complaint(self, text: str) -> Iterable[Event]:
        return []


def _event(found: dict[str, object]) -> Event:
    match found["kind"]:
        case "began":
            state = found.get("server")
            return Began(session="s-1", model="toy-1", servers={"verifier": str(state)} if state else {})
        case "said":
            return Spoke(str(found["text"]))
        case "called":
            return Called(str(found["tool"]), dict(found.get("arguments") or {}), str(found.get("call", "c")))  # type: ignore[call-overload]
        case "answered":
            return Answered(str(found.get("call", "c")))
        case "turn":
            return Turn()
        case "used":
            return Used(str(found["message"]), Tokens(output=int(str(found["output"]))), str(found.get("model", "")))
        case "trouble":
            kind = found.get("of")
            wait = found.get("wait")
            known = Infrastructure(str(kind)) if kind else None
            return Trouble(str(found["text"]), known, retry_after=float(str(wait)) if wait else None)
        case "finished":
            cost = found.get("cost")
            return Finished(
                text=str(found.get("text", "")), reason=str(found["reason"]), is_error=bool(found.get("error")),
                cost_usd=float(str(cost)) if cost is not None else None,
            )  # fmt: skip
    return Beat()


@dataclass
class ToyLine(CommandLine):
    """The adapter: plays the prompt, and for the second question what stands under it in `again_steps`."""

    facts: Facts = FACTS
    again_steps: str = ""

    def prepare(self, task: AgentTask, door: Door) -> None:
        (task.home / "toy.py").write_text(PROGRAM)

    def start(self, task: AgentTask, door: Door) -> Start:
        return Start((sys.executable, str(task.home / "toy.py")), {"TOY_KEY": door.model_key}, task.prompt)

    def again(self, task: AgentTask, door: Door, session: str) -> Start:
        return replace(self.start(task, door), stdin=self.again_steps)

    def reader(self, task: AgentTask) -> Reader:
        return ToyReader()

    def may(self, role: Role, tool: str) -> bool:
        return role is Role.CODER or tool in {"Read", "mcp__verifier__run_unit_tests"}


def make_task(folder: Path, *steps: str, role: Role = Role.CODER, **limits: float | int | None) -> AgentTask:
    """A task whose session plays the steps."""
    workspace = folder / "workspace"
    workspace.mkdir(exist_ok=True)
    for name in ("home", "tmp"):
        (folder / "agent" / name).mkdir(parents=True, exist_ok=True)
    ceilings = Limits(**{"wall": 30.0, "idle": 30.0, "answer": 10.0, **limits})  # type: ignore[arg-type]
    return AgentTask(
        cli="toy",
        program=sys.executable,
        role=role,
        workspace=workspace,
        home=folder / "agent" / "home",
        scratch=folder / "agent" / "tmp",
        report=folder / "report.json",
        system="",
        prompt="\n".join(steps),
        limits=ceilings,
        provider=Provider.ANTHROPIC,
        upstream="http://127.0.0.1:9",
        environment={"PATH": "/usr/bin:/bin"},
    )


def held(task: AgentTask, cli: ToyLine | None = None, orders: Orders | None = None) -> AgentReport:
    """The session had in this process; its report."""
    line = cli or ToyLine()
    return Conversation(task, line, Hearing(task, line, read_prices(None)), orders or Orders()).hold(Credentials())


def told_along(task: AgentTask) -> AgentReport | None:
    return read_report(task.report)
