"""The backends of this package, by the name that settings use. Each is loaded when it is asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import TYPE_CHECKING

from agent_fox.core.late import Late
from agent_fox.session.agents.registry import ACP, NAMES
from agent_fox.session.backends import Backend

if TYPE_CHECKING:
    from pathlib import Path

    from agent_fox.session.order import Agent, LaunchOrder, Paths

CHECKS, LIBRARY, MEMORY, SCRIPTED = "checks", "library", "memory", "scripted"
OUR_OWN = frozenset({CHECKS, LIBRARY, MEMORY})
PARTIAL = frozenset({LIBRARY, MEMORY})
"""Those of them that judge some requirements only, and stand beside the judges that settings name."""

"""Judges that are ours: they say what they ran, and are believed on causes."""

DOUBLES = "agent_fox.testing"
"""The package that a distribution of its own brings."""

_PLACES: Mapping[str, Late[Callable[[], Backend]]] = {
    "command": Late("agent_fox.session.built_in.command:CommandBackend"),
    SCRIPTED: Late("agent_fox.testing.scripted.backend:ScriptedBackend"),
    CHECKS: Late("agent_fox.session.built_in.checks:ChecksBackend"),
    LIBRARY: Late("agent_fox.session.built_in.library:LibraryBackend"),
    MEMORY: Late("agent_fox.session.built_in.memory:MemoryBackend"),
}
_AGENT: Late[Callable[[str], Backend]] = Late("agent_fox.session.agents.backend:AgentBackend")
_ANY: Late[Callable[[str], Backend]] = Late("agent_fox.session.agents.backend:AnyBackend")


class NotInstalled:
    """Stands for the backend `scripted` where the distribution of the test doubles is not installed."""

    name = SCRIPTED

    def missing(self, agent: Agent, root: Path) -> str | None:
        return f"backend '{SCRIPTED}' comes with the test doubles; install them: pip install 'agent-fox[testing]'"

    def argv(self, order: LaunchOrder, paths: Paths) -> list[str]:
        raise FileNotFoundError(self.missing(order.agent, order.repo))

    def environment(self, order: LaunchOrder, paths: Paths) -> dict[str, str]:
        return {}


@cache
def built_in(name: str) -> Backend:
    """Raises KeyError for a name that none has."""
    try:
        if name in NAMES:
            return (_ANY if name == ACP else _AGENT).load()(name)
        return _PLACES[name].load()()
    except ModuleNotFoundError as error:
        if error.name != DOUBLES:
            raise
        return NotInstalled()


class Backends(Mapping[str, Backend]):
    """The built-in backends by name, and `others` beside them or in their places."""

    def __init__(self, others: Mapping[str, Backend] | None = None) -> None:
        self.others = others or {}

    def __getitem__(self, name: str) -> Backend:
        return self.others[name] if name in self.others else built_in(name)

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys((*_PLACES, *NAMES, *self.others)))

    def __len__(self) -> int:
        return len({*_PLACES, *NAMES, *self.others})


BACKENDS: Mapping[str, Backend] = Backends()
"""Without any plugin's."""
