"""What is built in and what plugins add, by name. The only place where a plugin is called."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TypeGuard, TypeVar

import pluggy

from agent_fox.engine.results import ResultHandler
from agent_fox.plugins import PluginError
from agent_fox.session.backends import BACKENDS, Backend
from agent_fox.session.checks_backend import ChecksBackend
from agent_fox.specs.dialects import Dialect
from agent_fox.specs.reader import BUILT_IN
from agent_fox.trackers.local import LocalTracker
from agent_fox.trackers.protocol import Tracker

T = TypeVar("T")

ISSUES = Path(".agent-fox") / "issues"


def called(plugins: pluggy.PluginManager, hook: str) -> Sequence[object]:
    """What every plugin gives for a hook. Raises PluginError naming the hook whatever a plugin raises."""
    try:
        return list(getattr(plugins.hook, hook)())
    except Exception as error:
        raise PluginError(f"a plugin failed in {hook}: {error!r}; remove or repair it") from error


def offered(plugins: pluggy.PluginManager, hook: str, fits: Callable[[object], TypeGuard[T]]) -> list[T]:
    """What plugins offer for a hook, checked against its protocol. Raises PluginError for what does not fit."""
    found: list[T] = []
    for some in called(plugins, hook):
        for one in some if isinstance(some, Sequence) else [some]:
            if not fits(one):
                raise PluginError(f"a plugin offers {one!r} in {hook}, which does not have what that needs")
            found.append(one)
    return found


def is_backend(one: object) -> TypeGuard[Backend]:
    return isinstance(one, Backend)


def is_dialect(one: object) -> TypeGuard[Dialect]:
    return isinstance(one, Dialect)


def is_handler(one: object) -> TypeGuard[ResultHandler]:
    return isinstance(one, ResultHandler)


def backends_of(plugins: pluggy.PluginManager) -> Mapping[str, Backend]:
    """All backends by name; a plugin's takes the place of a built-in one."""
    built_in: dict[str, Backend] = {**BACKENDS, "checks": ChecksBackend()}
    added = {backend.name: backend for backend in offered(plugins, "agent_fox_backends", is_backend)}
    return built_in | added


def dialects_of(plugins: pluggy.PluginManager) -> tuple[Dialect, ...]:
    """All dialects, plugins' first: they are asked before the built-in ones."""
    return (*offered(plugins, "agent_fox_dialects", is_dialect), *BUILT_IN)


def handlers_of(plugins: pluggy.PluginManager) -> tuple[ResultHandler, ...]:
    return tuple(offered(plugins, "agent_fox_result_handlers", is_handler))


def tracker_of(plugins: pluggy.PluginManager, kind: str, root: Path) -> Tracker:
    """The tracker of a kind. Raises PluginError for one that nobody offers."""
    if kind == "local":
        return LocalTracker(root / ISSUES)
    for some in called(plugins, "agent_fox_trackers"):
        if isinstance(some, Mapping) and kind in some:
            tracker: Tracker = some[kind](root)
            return tracker
    raise PluginError(f"[tracker] kind = {kind!r}: no such tracker; `local` is built in, others come as plugins")
