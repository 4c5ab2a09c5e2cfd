"""One command of a lane, run like every command of the verifier: in the sandbox, bounded, its log kept."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from agent_fox.core.values import dataclass
from agent_fox.verifier.running.commands import Bounds, Ended, Place, run_logged

if TYPE_CHECKING:
    from agent_fox.verifier.lanes.results import LaneContext
    from agent_fox.verifier.running.commands import Ground

_KEEPING = "agent_fox.verifier.artifacts.kept_logs"  # loaded where a log is kept: it costs the start
START_SECONDS = 30.0
"""What a tool may take beside the time that it is given to think."""


@dataclass(frozen=True, slots=True)
class Bench:
    """Where the lanes of one verification run."""

    context: LaneContext
    ground: Ground

    @property
    def workspace(self) -> Path:
        return self.ground.workspace


@dataclass(frozen=True, slots=True)
class Tool:
    """A command: its argv, further variables, seconds, and what it may read beside the workspace."""

    argv: tuple[str, ...]
    variables: Mapping[str, str]
    seconds: float
    readable: tuple[Path, ...] = ()


def run_tool(bench: Bench, tool: Tool, name: str) -> tuple[Ended, str]:
    """How it ended, and the name of its kept log."""
    order, ground = bench.context.order, bench.ground
    readable = (*(Path(folder) for folder in order.readable), *ground.also, *tool.readable)
    bounds = Bounds(order.sandbox, False, order.memory, order.processes, readable)
    place = Place(ground.workspace, ground.folder(name))
    variables = {**order.environment, **tool.variables}
    seconds = min(tool.seconds + START_SECONDS, order.timeout)
    ended = run_logged(tool.argv, place, variables, seconds, bounds, bench.context.stop)
    return ended, kept(bench, place.log, name) if not ended.not_started else ""


def kept(bench: Bench, log: Path, name: str) -> str:
    if not bench.context.order.artifacts:
        return ""
    address: str = import_module(_KEEPING).keep_log(bench.context.order, log, name)
    return address


def why_not_ended(ended: Ended) -> str:
    """Why a command that was to decide something did not come to its end; empty where it did."""
    if ended.not_started:
        return f"it could not be started: {ended.not_started}"
    if ended.is_timed_out:
        return "it did not end in its time"
    return "it was ended from outside" if ended.exit_code in (None, -9, 137) else ""
