"""What the runner adds to a session of an agent's program, in time and in memory; beside the same program alone.

The program is a shell script that prints a session of Claude Code, recorded with a scripted model. No model is asked.
"""

from __future__ import annotations

import itertools
import os
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import median
from typing import NamedTuple

from agent_fox.session.agents.report import AgentReport, Ending, read_report
from agent_fox.session.agents.task import TASK, AgentTask, Limits, Provider, Role
from agent_fox.session.backends import module_argv
from agent_fox.system.processes import Command, ProcessEnd, started
from agent_fox.system.sandbox.bubblewrap import SandboxMode, is_used, why_missing
from bench.figures import Aim, Figure, medians
from bench.worlds import temporary_folder

RECORDED = Path(__file__).resolve().parents[1] / "tests" / "session" / "agents" / "lines"
ADDED, WITH_TOOLS = 1.0, 3.0
"""Seconds that the runner may add to a session, and with the verifier's server, which it starts first."""

MEMORY = Aim(limit=100)
FLAT = Aim(ratio=1.3)
LINEAR = Aim(ratio=2)
"""For a line of a session SHARE times as long: were all messages summed up anew at each line, it would be SHARE."""

LONG_ROUNDS = 3
SHARE = 10
"""A short session has so many times fewer messages than a long one."""

LIMITS = Limits(wall=600, idle=600, answer=60)
PROGRAM = """#!/bin/sh
case "$1" in --version) echo "2.1.330 (Claude Code)"; exit 0 ;; esac
cat "{lines}"
grep VmHWM "/proc/$PPID/status" > "{memory}"
exit 0
"""


def measure(rounds: int, messages: int) -> Iterator[Figure]:
    """`messages` are those of the model in a long session. Sessions take turns; times are medians."""
    with temporary_folder() as folder:
        stage = Stage(folder)
        yield from short_sessions(stage, rounds)
        yield from long_sessions(stage, LONG_ROUNDS, messages)


class Heard(NamedTuple):
    """A session as the runner tells of it: without the time that its interpreter needs to start."""

    seconds: float
    lines: float
    megabytes: float


@dataclass(frozen=True, slots=True)
class Stage:
    """A workspace, and the program that says in it what stands in `lines`; it notes its parent's memory in `memory`."""

    folder: Path
    numbers: Iterator[int] = field(default_factory=itertools.count)

    def __post_init__(self) -> None:
        for path in (self.workspace, self.program.parent):
            path.mkdir()
        self.program.write_text(PROGRAM.format(lines=self.lines, memory=self.memory), encoding="utf-8")
        self.program.chmod(0o755)
        self.say(1)

    @property
    def workspace(self) -> Path:
        return self.folder / "workspace"

    @property
    def program(self) -> Path:
        return self.folder / "bin" / "claude"

    @property
    def lines(self) -> Path:
        return self.workspace / "lines"

    @property
    def memory(self) -> Path:
        return self.workspace / "memory"

    def say(self, messages: int) -> int:
        """Let the program say so many messages, each with its own id; how many lines that are."""
        first, *body, last = (RECORDED / "claude" / "coder.jsonl").read_text(encoding="utf-8").splitlines()
        starts = [number for number, line in enumerate(body) if '"type":"message_start"' in line]
        one = "\n".join(body[starts[0] : starts[1]])
        said = [re.sub(r"(msg|toolu)_7439", rf"\1_{number:05}", one) for number in range(messages)]
        text = "\n".join((first, *said, last)) + "\n"
        self.lines.write_text(text, encoding="utf-8")
        return text.count("\n")

    def parent_megabytes(self) -> float:
        """The most memory of the process that ran the program last."""
        return int(self.memory.read_text(encoding="ascii").split()[1]) / 1024

    def task(self, mode: SandboxMode) -> AgentTask:
        return AgentTask(
            cli="claude", program=str(self.program), role=Role.CODER, workspace=self.workspace,
            home=self.folder / "agent" / "home", scratch=self.folder / "agent" / "tmp",
            report=self.folder / "report.json", system="", prompt="work",
            limits=LIMITS, provider=Provider.ANTHROPIC, upstream="http://127.0.0.1:9", sandbox=mode,
            environment={"PATH": os.defpath},
        )  # fmt: skip

    def run(self, argv: tuple[str, ...]) -> ProcessEnd:
        """A process under the shim to its end. Raises ValueError where it did not end well."""
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.folder),
            "ANTHROPIC_API_KEY": "sk-of-no-model-at-all",
        }
        shim = self.folder / f"shim-{next(self.numbers)}"
        with started(Command(argv, environment, self.workspace, shim, LIMITS.wall)) as running:
            running.go()
            end = running.wait()
        if end is None or end.exit_status != 0:
            raise ValueError(f"{argv[0]} did not end well: {end}; {(shim / 'stderr').read_text()[-500:]}")
        return end


def alone(stage: Stage) -> Callable[[], object]:
    return lambda: stage.run((str(stage.program),))


def session(stage: Stage, task: AgentTask) -> Callable[[], AgentReport]:
    """A session as a launch has it: shim, runner, program. It fails where the runner heard no good end."""

    def run() -> AgentReport:
        document = stage.folder / "task.json"
        document.write_bytes(TASK.dump_json(task))
        stage.run(tuple(module_argv("agent_fox.session.agents.runner.main", [str(document)])))
        report = read_report(task.report)
        if report is None or report.ending is not Ending.ENDED:
            raise ValueError(f"the runner reports {report}")
        return report

    return run


def short_sessions(stage: Stage, rounds: int) -> Iterator[Figure]:
    """One message: what is measured is starting and ending."""
    has_sandbox = is_used(SandboxMode.AUTO)
    plain = stage.task(SandboxMode.OFF)
    tasks = {"no sandbox": plain, "no sandbox, verifier's tools": with_tools(stage, plain)}
    if has_sandbox:
        tasks["sandbox"] = stage.task(SandboxMode.AUTO)
    else:
        print(f"no session in a sandbox: {why_missing()}", file=sys.stderr)
    bare, *took = medians(rounds, alone(stage), *(session(stage, task) for task in tasks.values()))
    for (name, task), each in zip(tasks.items(), took, strict=True):
        aim = Aim(limit=bare + (WITH_TOOLS if task.verifier else ADDED))
        yield Figure(f"session of one message, {name}", each, bare, "the program under the shim", aim)


def with_tools(stage: Stage, task: AgentTask) -> AgentTask:
    words = ["mcp", "verifier", "--http", "--port", "0", "--root", str(stage.workspace), "--profile", "python"]
    words += ["--artifacts", str(stage.folder / "artifacts"), "--sandbox", "off"]
    return replace(task, verifier=tuple(module_argv("agent_fox.cli.main", words)), tools=("run_unit_tests",))


def long_sessions(stage: Stage, rounds: int, messages: int) -> Iterator[Figure]:
    """What a line costs late in a session must be what it costs early; and no line may stay in memory."""
    few = max(1, messages // SHARE)
    samples = [[heard(stage, number) for number in (1, few, messages)] for _ in range(rounds)]
    empty, early, late = (Heard(*map(median, zip(*column, strict=True))) for column in zip(*samples, strict=True))
    floor, took = ((one.seconds - empty.seconds) / one.lines for one in (early, late))
    stage.say(few)
    alone(stage)()
    shim, beside = stage.parent_megabytes(), f"a session of {few:,}"
    yield Figure(f"a line of {late.lines:,.0f}, session of {messages:,} messages", took, floor, beside, LINEAR)
    yield Figure(f"memory of the runner, {few:,} messages", early.megabytes, shim, "the shim", MEMORY, unit="MB")
    name = f"memory of the runner, {messages:,} messages"
    yield Figure(name, late.megabytes, early.megabytes, beside, FLAT, unit="MB")


def heard(stage: Stage, messages: int) -> Heard:
    """A session of so many messages. Raises ValueError where the runner has not heard all of them."""
    lines, task = stage.say(messages), stage.task(SandboxMode.OFF)
    report = session(stage, task)()
    if report.turns != messages:
        raise ValueError(f"the runner has heard {report.turns} of {messages} messages")
    return Heard(report.seconds, lines, stage.parent_megabytes())
