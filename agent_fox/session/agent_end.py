"""The end of a session that an agent's runner reported: what it is called, what it cost, what is to be noted."""

from __future__ import annotations

import os

from agent_fox.core.values import dataclass
from agent_fox.session.agents.report import AgentReport, CostSource, Ending, read_report
from agent_fox.session.infrastructure import Infrastructure
from agent_fox.session.order import EndKind, Paths
from agent_fox.session.result import Result

KINDS = {
    Ending.RUNNING: EndKind.INFRASTRUCTURE,
    Ending.ENDED: EndKind.ENDED,
    Ending.FAILED: EndKind.FAILED,
    Ending.TIMED_OUT: EndKind.TIMED_OUT,
    Ending.INFRASTRUCTURE: EndKind.INFRASTRUCTURE,
    Ending.TOO_LONG: EndKind.TOO_LONG,
    Ending.STOPPED: EndKind.INTERRUPTED,
    Ending.CEILING: EndKind.CEILING,
}
NAMED = 3
"""How many forbidden attempts a summary names."""


@dataclass(frozen=True, slots=True)
class AgentEnd:
    """What the report says the end is, and the numbers of it. `kind` ENDED: the work is looked at next.

    `notes` are what a person should read of the session beside its end.
    """

    kind: EndKind
    reason: str
    infrastructure: Infrastructure | None
    result: Result
    retry_after: float | None = None
    notes: tuple[str, ...] = ()


def agent_end(paths: Paths) -> AgentEnd | None:
    """None where no runner was at work in this launch, or none came so far as to report."""
    if not os.path.lexists(paths.report):
        return None
    report = read_report(paths.report)
    if report is None:
        return AgentEnd(EndKind.INFRASTRUCTURE, "the session's report cannot be read", Infrastructure.LOST, Result())
    is_lost = report.ending is Ending.RUNNING
    infrastructure = Infrastructure.LOST if is_lost else report.infrastructure
    reason = "the session's runner was killed before it could tell the end" if is_lost else report.reason
    kind, named = KINDS[report.ending], f"{infrastructure}: {reason}" if infrastructure else reason
    return AgentEnd(kind, named, infrastructure, result_of(report), report.retry_after, notes_of(report))


def result_of(report: AgentReport) -> Result:
    tokens = report.tokens
    return Result(
        cost_usd=report.cost_usd,
        input_tokens=tokens.all_input if tokens else None,
        output_tokens=tokens.output if tokens else None,
        summary=report.summary,
        notes=forbidden_of(report),
        agent=facts_of(report),
    )


def notes_of(report: AgentReport) -> tuple[str, ...]:
    times = "once" if report.attempts_to_stop == 1 else f"{report.attempts_to_stop} times"
    held = (f"held back {times} by the stop hook",) if report.attempts_to_stop else ()
    return (*report.notes, *held)


def forbidden_of(report: AgentReport) -> tuple[str, ...]:
    more = len(report.forbidden) - NAMED
    return (*report.forbidden[:NAMED], *((f"{more} more forbidden attempts, in the log",) if more > 0 else ()))


def facts_of(report: AgentReport) -> dict[str, object]:
    """What is kept of it in the state: who worked, how much, at what price."""
    return {
        "cli": report.cli,
        "version": report.version,
        "model": report.model,
        "session": report.session,
        "cost_source": (report.cost_source if report.cost_usd is not None else CostSource.UNKNOWN).value,
        "turns": report.turns,
        "tools": dict(report.tools),
        "forbidden": list(report.forbidden),
        "is_asked_again": report.is_asked_again,
        "attempts_to_stop": report.attempts_to_stop,
    }
