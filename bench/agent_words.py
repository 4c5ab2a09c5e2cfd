"""How fast what agents print is read, beside its JSON alone; and how long the prompt of a large brief takes."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import zip_longest
from pathlib import Path

from agent_fox.core.ids import Archetype
from agent_fox.core.spec import Criterion
from agent_fox.session.agents.backend import OFFERED
from agent_fox.session.agents.claude.reader import ClaudeReader
from agent_fox.session.agents.codex.reader import CodexReader
from agent_fox.session.agents.codex.trace import traced
from agent_fox.session.agents.task import AgentTask
from agent_fox.session.briefs.prompts import render_prompt
from agent_fox.session.briefs.text import BriefFacts, Failure, brief_json, brief_markdown, without_secrets
from agent_fox.session.order import Agent, LaunchOrder
from agent_fox.system.sandbox.bubblewrap import SandboxMode
from bench.agents import RECORDED, Stage
from bench.figures import Aim, Figure, medians
from bench.redaction import ORDINARY, log
from bench.worlds import TEXT, temporary_folder

MEGABYTE = 1_000_000
SPEED = 5
"""Megabytes of lines a second to aim for: no program prints so fast."""

PROMPT = Aim(limit=0.2)
ROUNDS = 5
FAILING = 40

Action = Callable[[], None]


def measure_events(size: int) -> Iterator[Figure]:
    """`size` bytes of recorded sessions, one after another, each with a new reader."""
    said, traces = lines_of("codex/coder.jsonl"), lines_of("codex/coder.err")
    claude = lines_of("claude/coder.jsonl")
    with temporary_folder() as folder:
        task = Stage(folder).task(SandboxMode.OFF)
        lay_record(task, traces)
        yield reading("Claude Code", claude, size, lambda: hear_claude(claude), "json.loads", lambda: load(claude))
        codex = [*said, *traces]
        floor = "json.loads, its trace split"
        yield reading("codex", codex, size, lambda: hear_codex(task, said, traces), floor, lambda: load(said, traces))


def lines_of(name: str) -> list[str]:
    return (RECORDED / name).read_text(encoding="utf-8").splitlines()


def reading(name: str, lines: list[str], size: int, read: Action, beside: str, floor: Action) -> Figure:
    one = sum(len(line) + 1 for line in lines)
    times = max(1, size // one)
    took, bare = medians(ROUNDS, repeated(times, read), repeated(times, floor))
    megabytes = times * one / MEGABYTE
    told = f"events of {name}, {megabytes:.3g} MB in {times * len(lines):,} lines"
    return Figure(told, took, bare, beside, Aim(limit=megabytes / SPEED))


def repeated(times: int, action: Action) -> Action:
    def run() -> None:
        for _ in range(times):
            action()

    return run


def load(lines: list[str], traces: list[str] | None = None) -> None:
    for line in lines:
        json.loads(line)
    for line in traces or ():
        line.split(" ")


def hear_claude(lines: list[str]) -> None:
    reader = ClaudeReader()
    for line in lines:
        tuple(reader.line(line))
    reader.end(0)


def hear_codex(task: AgentTask, said: list[str], traces: list[str]) -> None:
    """A line of each stream at a time, as they come about; calls are looked up in the record of the session."""
    reader = CodexReader(task)
    for line, trace in zip_longest(said, traces, fillvalue=""):
        tuple(reader.complaint(trace))
        tuple(reader.line(line))
    reader.end(0)


def lay_record(task: AgentTask, traces: list[str]) -> None:
    """Codex's own record of the session, where it keeps it."""
    name = next(found.fields["conversation.id"] for line in traces if (found := traced(line)))
    folder = task.home / ".codex/sessions" / "2026" / "11" / "22"
    folder.mkdir(parents=True)
    shutil.copy(RECORDED / "codex" / "coder.record", folder / f"rollout-2026-11-22T09-00-00-{name}.jsonl")


def measure_prompt(requirements: int, evidence: int) -> Iterator[Figure]:
    """`evidence` is in bytes, of FAILING of the requirements."""
    facts, order = facts_of(requirements, evidence), order_of()
    masked, told, floor = medians(
        ROUNDS,
        lambda: without_secrets(facts),
        lambda: prompt(facts, order),
        lambda: json.dumps(brief_json(facts)),
    )
    what = f"{requirements:,} requirements, {evidence // 1000} kB"
    yield Figure(f"masking a brief: {what}", masked, floor, "its JSON form", PROMPT)
    yield Figure(f"prompt of a brief: {what}", told, floor, "its JSON form", PROMPT)


def facts_of(requirements: int, evidence: int) -> BriefFacts:
    parts = tuple(Criterion(f"00001-REQ-{number}.1", TEXT) for number in range(1, requirements + 1))
    text = log(ORDINARY, evidence).decode()
    step = -(-len(text) // FAILING)
    failing = tuple(
        Failure(part.id, part.text, text[number * step : (number + 1) * step], "pytest -q")
        for number, part in enumerate(parts[:FAILING])
    )
    return BriefFacts(
        "00001_part:1", "00001_part", Archetype.CODER, 2, tasks=TEXT, requirements=parts, failing=failing,
        must_stay_green=tuple(part.id for part in parts[FAILING:]),
    )  # fmt: skip


def order_of() -> LaunchOrder:
    nowhere = Path("/nonexistent")
    return LaunchOrder(
        launch="bench", node_id="00001_part:1", node_uid="uid", spec_name="00001_part", archetype=Archetype.CODER,
        mode=None, group=1, run="1", attempt=2, reading=1, pinned="0" * 40, repo=nowhere, state=nowhere, log=nowhere,
        agent=Agent("claude"),
    )  # fmt: skip


def prompt(facts: BriefFacts, order: LaunchOrder) -> None:
    """From facts to what the agent is told, the brief laid out within its budget."""
    launched = replace(order, brief_markdown=brief_markdown(facts))
    render_prompt(launched, tools=OFFERED, steering=TEXT, template=None)
