"""Backends: what to run for a launch, and with which environment. Running it, and what came of it, is not
here.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, runtime_checkable

if TYPE_CHECKING:
    from agent_fox.session.order import Agent, LaunchOrder, Paths

PACKAGE_PARENT = Path(__file__).resolve().parents[2]
"""Where this package is imported from, installed or not."""


@runtime_checkable
class Backend(Protocol):
    """One way to have a session done by a process.

    `missing` says, before a run starts, what is not there and what to do about it. `argv` may write the files
    that its program reads (`paths.document`); `environment` comes on top of `base_environment`.
    """

    @property
    def name(self) -> str: ...

    def missing(self, agent: Agent, root: Path) -> str | None: ...

    def argv(self, order: LaunchOrder, paths: Paths) -> list[str]: ...

    def environment(self, order: LaunchOrder, paths: Paths) -> dict[str, str]: ...


def base_environment(order: LaunchOrder, paths: Paths, outer: Mapping[str, str]) -> dict[str, str]:
    """Everything that runs in a launch sees this and no more: built from nothing, in the order the
    settings promise.
    """
    kept = {name: outer[name] for name in ("PATH", "HOME", "LANG") if name in outer}
    inherited = {name: outer[name] for name in order.agent.inherit if name in outer}
    own = {"TMPDIR": str(paths.temporary), **_variables(order, paths)}
    return {"LANG": "C.UTF-8", **kept, **own, **inherited, **order.agent.environment}


def _variables(order: LaunchOrder, paths: Paths) -> dict[str, str]:
    return {
        "AGENT_FOX_RUN": order.run,
        "AGENT_FOX_LAUNCH": order.launch,
        "AGENT_FOX_NODE": order.node_id,
        "AGENT_FOX_SPEC": order.spec_name,
        "AGENT_FOX_ATTEMPT": str(order.attempt),
        "AGENT_FOX_READING": str(order.reading),
        "AGENT_FOX_ARCHETYPE": order.archetype.value,
        "AGENT_FOX_ROLE": order.archetype.value,
        "AGENT_FOX_MODE": order.mode.value if order.mode else "",
        "AGENT_FOX_BRIEF": str(paths.brief),
        "AGENT_FOX_BRIEF_JSON": str(paths.brief_json),
        "AGENT_FOX_RESULT": str(paths.result),
    }


def module_argv(module: str, arguments: Sequence[str]) -> list[str]:
    """Run a module of this package with nothing of the working folder importable, installed or not."""
    find = "import runpy, sys; sys.path.insert(0, sys.argv.pop(1))"
    start = f"{find}; runpy.run_module(sys.argv.pop(1), run_name='__main__')"
    return [sys.executable, "-P", "-B", "-c", start, str(PACKAGE_PARENT), module, *arguments]
