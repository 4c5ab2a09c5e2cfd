"""What is built in and what plugins add, by name."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, TypeGuard

from agent_fox.core.ids import Archetype
from agent_fox.core.late import late_module
from agent_fox.engine.handlers.handling import ResultHandler
from agent_fox.engine.planning.guarded import (
    GuardedBackend,
    GuardedHandler,
    GuardedRunner,
    GuardedTracker,
)
from agent_fox.engine.planning.plugin_hooks import given, offered, refuse
from agent_fox.plugins import PluginError, blamed_on
from agent_fox.session.backends import Backend
from agent_fox.session.built_in.registry import OUR_OWN, Backends
from agent_fox.system.state_folders import ISSUES, artifacts_in, folder_of
from agent_fox.trackers.protocol import Tracker

if TYPE_CHECKING:
    import pluggy

    from agent_fox.cluster import make as temporal
    from agent_fox.config import Settings
    from agent_fox.engine.planning import from_settings
    from agent_fox.session import local_runner, runners
    from agent_fox.session.runners import Runner
    from agent_fox.trackers import local
    from agent_fox.trackers.github import make as github
else:
    from_settings = late_module("agent_fox.engine.planning.from_settings")
    temporal = late_module("agent_fox.cluster.make")
    local_runner = late_module("agent_fox.session.local_runner")
    runners = late_module("agent_fox.session.runners")
    local = late_module("agent_fox.trackers.local")
    github = late_module("agent_fox.trackers.github.make")  # a third of a second to import, and most runs do without


def is_backend(one: object) -> TypeGuard[Backend]:
    return isinstance(one, Backend) and isinstance(one.name, str)


def is_handler(one: object) -> TypeGuard[ResultHandler]:
    return isinstance(one, ResultHandler) and one.archetype in list(Archetype)


def backends_of(plugins: pluggy.PluginManager) -> Mapping[str, Backend]:
    """All backends by name; a plugin's takes the place of a built-in one, but never of those that are trusted."""
    added = offered(plugins, "agent_fox_backends", is_backend)
    for plugin, backend in added:
        if backend.name in OUR_OWN:
            raise PluginError(
                f"plugin {plugin!r} offers a backend {backend.name!r}, whose word on causes is believed; rename it"
            )
    return Backends({backend.name: GuardedBackend(plugin, backend.name, backend) for plugin, backend in added})


def handlers_of(plugins: pluggy.PluginManager) -> tuple[ResultHandler, ...]:
    added = offered(plugins, "agent_fox_result_handlers", is_handler)
    return tuple(GuardedHandler(plugin, Archetype(handler.archetype), handler) for plugin, handler in added)


def _local(_: Settings, root: Path, __: Mapping[str, str]) -> Tracker:
    return local.LocalTracker(root / ISSUES)


def _github(settings: Settings, root: Path, environ: Mapping[str, str]) -> Tracker:
    return github.github_tracker(settings.tracker, root, environ, settings.github)


TRACKERS: Mapping[str, Callable[[Settings, Path, Mapping[str, str]], Tracker]] = {
    "local": _local,
    "github": _github,
}
"""What makes the trackers that are built in, by `[tracker] kind`."""


def tracker_of(plugins: pluggy.PluginManager, settings: Settings, root: Path, environ: Mapping[str, str]) -> Tracker:
    """The tracker of `[tracker] kind`. Raises PluginError for one that nobody offers, or its plugin cannot make."""
    kind = settings.tracker.kind
    if kind in TRACKERS:
        return TRACKERS[kind](settings, root, environ)
    for plugin, some in given(plugins, "agent_fox_trackers"):
        with blamed_on(plugin, f"agent_fox_trackers, for [tracker] kind = {kind!r}"):
            if not isinstance(some, Mapping):
                raise refuse(some, "a mapping from a kind to what makes the tracker")
            if kind in some:
                return guarded_tracker(plugin, kind, some[kind](root))
    raise PluginError(
        f"[tracker] kind = {kind!r}: no such tracker; {' and '.join(f'`{name}`' for name in TRACKERS)} are built in, "
        "others come as plugins"
    )


@dataclass
class Runners:
    """Who runs launches, by the name that launches record: empty for this machine, else an address."""

    plugins: pluggy.PluginManager
    settings: Settings
    root: Path
    environ: Mapping[str, str]
    known: dict[str, Runner] = field(default_factory=dict)
    told: deque[str] = field(default_factory=deque)
    """What runners have to say to a person, from any thread."""

    def artifacts(self) -> Path:
        return artifacts_in(folder_of(from_settings.state_folder(self.root, self.settings, self.environ), self.root))

    def named(self, name: str) -> Runner:
        """Raises PluginError for an address that nobody serves, or whose plugin fails."""
        if name not in self.known:
            backends = backends_of(self.plugins)
            is_here = name == runners.HERE
            made = local_runner.LocalRunner(backends) if is_here else self.elsewhere(name, backends)
            self.known |= {name: made, made.name: made}
        return self.known[name]

    def close(self) -> None:
        """The run ends, or pauses."""
        for runner in {id(runner): runner for runner in self.known.values()}.values():
            runner.close()

    def elsewhere(self, address: str, backends: Mapping[str, Backend]) -> Runner:
        scheme = address.partition("://")[0]
        if scheme == "temporal":
            return temporal.temporal_runner(address, self.settings, self.environ, self.artifacts(), self.told.append)
        if scheme == "ssh":
            return temporal.ssh_runner(address, self.settings, self.environ, self.artifacts(), backends)
        for plugin, some in given(self.plugins, "agent_fox_runners"):
            with blamed_on(plugin, f"agent_fox_runners, for {address!r}"):
                if not isinstance(some, Mapping):
                    raise refuse(some, "a mapping from a scheme to what makes the runner")
                if scheme in some:
                    return guarded_runner(plugin, some[scheme](address, self.root, backends))
        raise PluginError(f"engine {address!r}: no such runner; others than this machine come as plugins")


def guarded_runner(plugin: str, runner: object) -> Runner:
    if not isinstance(runner, runners.Runner):
        raise refuse(runner, "a runner")
    return GuardedRunner(plugin, runner)


def guarded_tracker(plugin: str, kind: str, tracker: object) -> Tracker:
    if not isinstance(tracker, Tracker):
        raise refuse(tracker, "a tracker")
    return GuardedTracker(plugin, kind, tracker)
