"""What the runner says of an agent's session: written as it goes, whole at its end, read by whoever takes the end."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

from agent_fox.core.late import adapter, late_module
from agent_fox.core.values import dataclass
from agent_fox.session.agents.events import Tokens  # noqa: TC001 - pydantic reads it
from agent_fox.session.infrastructure import Infrastructure  # noqa: TC001 - pydantic reads it
from agent_fox.system.files import read_regular, replace_file

if TYPE_CHECKING:
    import pydantic
else:
    pydantic = late_module("pydantic")

LARGEST_REPORT = 1024 * 1024
"""Bytes; a larger file is not read."""


class CostSource(StrEnum):
    """Where a cost in dollars comes from."""

    REPORTED = "reported"
    METERED = "metered"
    PRICED = "priced"
    UNKNOWN = "unknown"


class Ending(StrEnum):
    """How the program's session ended. `RUNNING`: nobody finished the report. `CEILING`: the run's money is spent."""

    RUNNING = "running"
    ENDED = "ended"
    FAILED = "failed"
    TIMED_OUT = "timed out"
    INFRASTRUCTURE = "infrastructure"
    TOO_LONG = "context too long"
    STOPPED = "stopped"
    CEILING = "ceiling"


@dataclass(frozen=True, slots=True)
class AgentReport:
    """One session of an agent's command line. Cost in US dollars, None where unknown; `seconds` of the program.

    `forbidden` are calls of tools that its role does not have, and what else it must not try, a sentence each.
    `attempts_to_stop` counts how often the stop hook held it back. `is_asked_again`: its answer could not be read at
    first. `retry_after`: seconds that the model's side asked to wait. `last` is what was heard last, in words, and
    `silent` how many seconds before the report was written anything was heard.
    """

    cli: str
    version: str = ""
    model: str = ""
    session: str = ""
    ending: Ending = Ending.RUNNING
    reason: str = ""
    infrastructure: Infrastructure | None = None
    retry_after: float | None = None
    cost_usd: float | None = None
    cost_source: CostSource = CostSource.UNKNOWN
    tokens: Tokens | None = None
    turns: int = 0
    tools: Mapping[str, int] = field(default_factory=dict)
    forbidden: tuple[str, ...] = ()
    attempts_to_stop: int = 0
    is_asked_again: bool = False
    summary: str = ""
    notes: tuple[str, ...] = ()
    seconds: float = 0.0
    last: str = ""
    silent: float = 0.0


_REPORT = adapter(lambda: pydantic.TypeAdapter(AgentReport))


def write_report(path: Path, report: AgentReport) -> None:
    """The whole report or the one before it, never half of one."""
    replace_file(path, _REPORT.dump_json(report), is_durable=False)


def read_report(path: Path) -> AgentReport | None:
    """The report, or None where there is none that can be read."""
    raw = read_regular(path, LARGEST_REPORT)
    try:
        return _REPORT.validate_json(raw) if raw is not None else None
    except pydantic.ValidationError:
        return None
