"""The lane of temporal properties: a formula over what the coders' last sessions recorded."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from agent_fox.core.formal.temporal import (
    EventKind,
    Formula,
    FormulaError,
    Trace,
    TraceEvent,
    Truth,
    check,
    parse,
    witness,
)
from agent_fox.core.late import adapter
from agent_fox.system.files import open_regular
from agent_fox.system.redaction.masking import MASK
from agent_fox.verifier.lanes.results import LaneContext, LaneResult, TraceFile, failed, passed, unknown

if TYPE_CHECKING:
    from agent_fox.core.formal.specification import Specification, TraceFormula

LARGEST_TRACE = 16 * 1024 * 1024
AROUND = 2
"""Events before the one that breaks a formula that are shown with it."""
LIMITATION = "only what the agents' programs told of their tools: files that a shell command changes are not seen"


class Line(BaseModel, defer_build=True):
    """One line of a trace."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    kind: EventKind
    tool: str
    edits: tuple[str, ...] | None = ()
    command: str | None = ""


class End(BaseModel, defer_build=True):
    """The last line: the session has ended, and whether every event before it is there."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    kind: Literal["end"]
    is_whole: bool


LINE: TypeAdapter[Line | End] = adapter(lambda: TypeAdapter(Line | End))


class TraceUnreadable(ValueError):
    """There is no trace, or it is none. The text says why."""


def read_trace(path: Path) -> Trace:
    """A trace that has no last line, or a broken one, was cut. Raises TraceUnreadable."""
    try:
        if path.stat().st_size > LARGEST_TRACE:
            raise TraceUnreadable(f"it has more than {LARGEST_TRACE} bytes")
        with open_regular(path) as file:
            lines = file.read().decode("utf-8", "replace").splitlines()
    except OSError as error:
        raise TraceUnreadable(f"it recorded no events ({error.strerror})") from error
    return trace_of(lines)


def trace_of(lines: list[str]) -> Trace:
    events: list[TraceEvent] = []
    for line in lines:
        try:
            read = LINE.validate_json(line)
        except ValidationError:
            return Trace(tuple(events), is_whole=False)
        if isinstance(read, End):
            return Trace(tuple(events), read.is_whole)
        events.append(event_of(read))
    return Trace(tuple(events), is_whole=False)


def event_of(line: Line) -> TraceEvent:
    """A name that contains a masked secret cannot be known."""
    edits = None if line.edits is not None and any(MASK in path for path in line.edits) else line.edits
    command = None if line.command is not None and MASK in line.command else line.command
    return TraceEvent(line.kind, line.tool, edits, command)


def check_traces(specification: Specification, rule: TraceFormula, context: LaneContext) -> LaneResult:
    """FAIL where one session broke it, PASS where every one kept it, else UNKNOWN."""
    try:
        formula = parse(rule.formula)
    except FormulaError as error:
        return unknown(specification, f"the formula cannot be read: {error}")
    if not context.traces:
        return unknown(specification, "no coder's session of this spec has recorded anything")
    by_session = {trace.name: about(formula, trace) for trace in context.traces}
    broken = next(((name, shown) for name, (truth, shown) in by_session.items() if truth is Truth.FALSE), None)
    open_ones = [f"{name}: {shown}" for name, (truth, shown) in by_session.items() if truth is Truth.UNKNOWN]
    environment = {"sessions": ", ".join(by_session), "tool": "agent-fox"}
    if broken is not None:
        result = failed(specification, f"session {broken[0]}: {broken[1]}", f"session {broken[0]} breaks it")
    else:
        result = unknown(specification, "; ".join(open_ones)) if open_ones else passed(specification)
    return replace(result, limitation=LIMITATION, environment=environment)


def about(formula: Formula, file: TraceFile) -> tuple[Truth, str]:
    """What a session's trace says of the formula, and what shows it."""
    try:
        trace = read_trace(Path(file.path))
    except TraceUnreadable as error:
        return Truth.UNKNOWN, str(error)
    truth = check(formula, trace)
    match truth:
        case Truth.TRUE:
            return truth, ""
        case Truth.FALSE:
            return truth, shown(formula, trace)
    return truth, "its events do not decide it" + ("" if trace.is_whole else ", for not all of them were recorded")


def shown(formula: Formula, trace: Trace) -> str:
    """The event that breaks the formula, with those before it."""
    place = witness(formula, trace)
    if place is None:
        return f"none of its {len(trace.events)} events makes it true"
    first = max(0, place - AROUND)
    return "; ".join(f"event {n + 1}: {describe(trace.events[n])}" for n in range(first, place + 1))


def describe(event: TraceEvent) -> str:
    about = [*(event.edits or ()), *([event.command] if event.command else [])]
    return f"{event.kind} {event.tool}" + (f" {json.dumps(about, ensure_ascii=False)}" if about else "")
