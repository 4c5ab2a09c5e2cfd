"""Where other packages join in: hook specifications (pluggy) and entry points. What a plugin does is not here.

A package adds a plugin by an entry point of the group `agent_fox`:

    [project.entry-points.agent_fox]
    my-plugin = "my_package.plugin"

The module (or object) marks its functions with `agent_fox.plugins.hookimpl`.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence

import pluggy

GROUP = "agent_fox"

hookspec = pluggy.HookspecMarker(GROUP)
hookimpl = pluggy.HookimplMarker(GROUP)


@hookspec
def agent_fox_backends() -> Sequence[object]:  # type: ignore[empty-body]
    """Backends (`agent_fox.session.backends.Backend`); one with a known name takes its place."""


@hookspec
def agent_fox_dialects() -> Sequence[object]:  # type: ignore[empty-body]
    """Spec dialects (`agent_fox.specs.dialects.Dialect`), asked before the built-in ones."""


@hookspec
def agent_fox_trackers() -> Mapping[str, object]:  # type: ignore[empty-body]
    """Tracker kind → a function from the repository's root (Path) to a `agent_fox.trackers.protocol.Tracker`."""


@hookspec
def agent_fox_result_handlers() -> Sequence[object]:  # type: ignore[empty-body]
    """Result handlers (`agent_fox.engine.results.ResultHandler`); one for an archetype takes the built-in's place."""


@hookspec
def agent_fox_log_parsers() -> Sequence[object]:  # type: ignore[empty-body]
    """Parsers of build and test logs, for the verifier."""


class PluginError(Exception):
    """A plugin that cannot be loaded or called; its text names it and says what went wrong."""


def load_plugins() -> pluggy.PluginManager:
    """A manager with every installed plugin registered. Raises PluginError naming the one that fails to import."""
    manager = pluggy.PluginManager(GROUP)
    manager.add_hookspecs(sys.modules[__name__])
    try:
        manager.load_setuptools_entrypoints(GROUP)
    except Exception as error:
        raise PluginError(
            f"a plugin of the group {GROUP!r} cannot be loaded: {error!r}; remove or repair it"
        ) from error
    return manager
