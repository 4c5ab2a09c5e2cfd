"""Bounds on one command's memory and processes: control groups where they can be had, else watched over."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping

from agent_fox.core.values import dataclass
from agent_fox.system.cgroups import Group, grouped

OUR_OWN = 4
"""Processes that are there before the command's own: those of the sandbox."""

RLIMITS = {"RLIMIT_CORE": 0}
"""No rlimit bounds memory: RLIMIT_AS breaks the JVM, Go and Node, RLIMIT_DATA sanitizers. None bounds processes:
RLIMIT_NPROC counts whatever else its user runs.
"""


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds of one command. `output_bytes` are kept of what it prints; None for no bound.

    processes: threads count as well. memory_bytes: with control groups, files in /tmp and /dev/shm of the sandbox count
    as well.
    """

    seconds: float
    output_bytes: int
    memory_bytes: int | None = None
    processes: int | None = None


@dataclass(frozen=True, slots=True)
class Confinement:
    """The bounds as they hold on this machine: in `group`, or as `watched` bounds of the process tree."""

    group: Group
    watched: Mapping[str, int]
    words: str


@contextlib.contextmanager
def confined(limits: Limits) -> Iterator[Confinement]:
    """Bounds for one command, gone when the block is left."""
    processes = None if limits.processes is None else limits.processes + OUR_OWN
    with grouped(limits.memory_bytes, processes) as group:
        bounds = {"memory": limits.memory_bytes, "processes": processes}
        held = {"memory": group.is_bounding("memory"), "processes": group.is_bounding("pids")}
        watched = {name: limit for name, limit in bounds.items() if limit is not None and not held[name]}
        yield Confinement(group, watched, "; ".join(_in_words(limits, watched)))


def _in_words(limits: Limits, watched: Mapping[str, int]) -> Iterator[str]:
    """How well each bound holds, for people."""
    bounds = {"memory": limits.memory_bytes and f"{limits.memory_bytes >> 20} MiB of memory"}
    bounds["processes"] = limits.processes and f"{limits.processes} processes"
    for name, limit in bounds.items():
        if limit:
            yield f"at most {limit}" + (", only looked at now and then (no control groups)" if name in watched else "")
