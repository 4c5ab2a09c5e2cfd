"""What is built in and what plugins add, by name. The only place where a plugin's hooks are called."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import TypeGuard, TypeVar

import pluggy

from agent_fox.config import TrackerSettings
from agent_fox.core.ids import Archetype
from agent_fox.engine.guarded import (
    GuardedBackend,
    GuardedCollection,
    GuardedDialect,
    GuardedHandler,
    GuardedParser,
    GuardedTracker,
    refuse,
)
from agent_fox.engine.judges import OUR_OWN, TRUSTED
from agent_fox.engine.results import ResultHandler
from agent_fox.plugins import PluginError, blamed_on
from agent_fox.session.agents.backend import AGENTS
from agent_fox.session.backends import BACKENDS, Backend
from agent_fox.session.checks_backend import ChecksBackend
from agent_fox.session.library_backend import NAME as LIBRARY
from agent_fox.session.library_backend import LibraryBackend
from agent_fox.specs.dialects import Collection, Dialect
from agent_fox.specs.reader import BUILT_IN
from agent_fox.trackers.local import LocalTracker
from agent_fox.trackers.protocol import Tracker
from agent_fox.verifier.logs.protocol import LogParser
from agent_fox.verifier.logs.registry import BUILT_IN as PARSERS
from agent_fox.verifier.logs.registry import Parsers

T = TypeVar("T")

ISSUES = Path(".agent-fox") / "issues"


def given(plugins: pluggy.PluginManager, hook: str) -> list[tuple[str, object]]:
    """What each plugin gives for a hook, with the plugin's name. Raises PluginError naming the one that fails."""
    found: list[tuple[str, object]] = []
    everyone = plugins.list_name_plugin()
    for name, plugin in everyone:
        others = [other for _, other in everyone if other is not plugin]
        with blamed_on(name, hook):
            found += [(name, some) for some in plugins.subset_hook_caller(hook, others)()]
    return found


def offered(plugins: pluggy.PluginManager, hook: str, fits: Callable[[object], TypeGuard[T]]) -> list[tuple[str, T]]:
    """What plugins offer for a hook, checked against its protocol. Raises PluginError for what does not fit."""
    found: list[tuple[str, T]] = []
    for name, some in given(plugins, hook):
        for one in some if isinstance(some, Sequence) else [some]:
            with blamed_on(name, hook):
                if isinstance(one, type) or not fits(one):
                    raise refuse(one, "what that hook is for")
                found.append((name, one))
    return found


def is_backend(one: object) -> TypeGuard[Backend]:
    return isinstance(one, Backend) and isinstance(one.name, str)


def is_dialect(one: object) -> TypeGuard[Dialect]:
    return isinstance(one, Dialect) and isinstance(one.name, str)


def is_handler(one: object) -> TypeGuard[ResultHandler]:
    return isinstance(one, ResultHandler) and one.archetype in list(Archetype)


def backends_of(plugins: pluggy.PluginManager) -> Mapping[str, Backend]:
    """All backends by name; a plugin's takes the place of a built-in one, but never of those that are trusted."""
    built_in: dict[str, Backend] = {**BACKENDS, **AGENTS, TRUSTED: ChecksBackend(), LIBRARY: LibraryBackend()}
    added = offered(plugins, "agent_fox_backends", is_backend)
    for plugin, one in added:
        if one.name in OUR_OWN:
            raise PluginError(
                f"plugin {plugin!r} offers a backend {one.name!r}, whose word on causes is believed; rename it"
            )
    return built_in | {one.name: GuardedBackend(plugin, one.name, one) for plugin, one in added}


def dialects_of(plugins: pluggy.PluginManager) -> tuple[Dialect, ...]:
    """All dialects, plugins' first: they are asked before the built-in ones."""
    added = offered(plugins, "agent_fox_dialects", is_dialect)
    return (*(guarded_dialect(plugin, one) for plugin, one in added), *BUILT_IN)


def guarded_dialect(plugin: str, one: Dialect) -> Dialect:
    if isinstance(one, Collection):
        return GuardedCollection(plugin, one.name, one)
    return GuardedDialect(plugin, one.name, one)


def is_parser(one: object) -> TypeGuard[LogParser]:
    return isinstance(one, LogParser) and bool(one.tools) and all(isinstance(tool, str) for tool in one.tools)


def parsers_of(plugins: pluggy.PluginManager) -> Parsers:
    """All log parsers, plugins' before the built-in ones for the tools they name."""
    added = offered(plugins, "agent_fox_log_parsers", is_parser)
    return PARSERS.with_more([GuardedParser(plugin, tuple(one.tools), one) for plugin, one in added])


def handlers_of(plugins: pluggy.PluginManager) -> tuple[ResultHandler, ...]:
    added = offered(plugins, "agent_fox_result_handlers", is_handler)
    return tuple(GuardedHandler(plugin, Archetype(one.archetype), one) for plugin, one in added)


def tracker_of(
    plugins: pluggy.PluginManager, settings: TrackerSettings, root: Path, environ: Mapping[str, str]
) -> Tracker:
    """The tracker of `[tracker] kind`. Raises PluginError for one that nobody offers, or its plugin cannot make."""
    kind = settings.kind
    if kind == "local":
        return LocalTracker(root / ISSUES)
    if kind == "github":
        # PyGithub takes a third of a second to import, and most runs do without.
        made: Tracker = import_module("agent_fox.trackers.github.make").github_tracker(settings, root, environ)
        return made
    for plugin, some in given(plugins, "agent_fox_trackers"):
        with blamed_on(plugin, f"agent_fox_trackers, for [tracker] kind = {kind!r}"):
            if not isinstance(some, Mapping):
                raise refuse(some, "a mapping from a kind to what makes the tracker")
            if kind in some:
                return guarded_tracker(plugin, kind, some[kind](root))
    raise PluginError(
        f"[tracker] kind = {kind!r}: no such tracker; `local` and `github` are built in, others come as plugins"
    )


def guarded_tracker(plugin: str, kind: str, tracker: object) -> Tracker:
    if not isinstance(tracker, Tracker):
        raise refuse(tracker, "a tracker")
    return GuardedTracker(plugin, kind, tracker)
