"""The backends of this package, by the name that settings use. Each is loaded when it is asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cache

from agent_fox.core.late import Late
from agent_fox.session.agents.registry import NAMES
from agent_fox.session.backends import Backend

CHECKS, LIBRARY = "checks", "library"
OUR_OWN = frozenset({CHECKS, LIBRARY})
"""Judges that are ours: they say what they ran, and are believed on causes."""

_PLACES: Mapping[str, Late[Callable[[], Backend]]] = {
    "command": Late("agent_fox.session.built_in.command:CommandBackend"),
    "scripted": Late("agent_fox.session.built_in.scripted:ScriptedBackend"),
    CHECKS: Late("agent_fox.session.built_in.checks:ChecksBackend"),
    LIBRARY: Late("agent_fox.session.built_in.library:LibraryBackend"),
}
_AGENT: Late[Callable[[str], Backend]] = Late("agent_fox.session.agents.backend:AgentBackend")


@cache
def built_in(name: str) -> Backend:
    """Raises KeyError for a name that none has."""
    return _AGENT.load()(name) if name in NAMES else _PLACES[name].load()()


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
