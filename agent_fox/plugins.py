"""Where other packages join in: hook specifications (pluggy) and entry points. What a plugin does is not here.

A package adds a plugin by an entry point of the group `agent_fox`:

    [project.entry-points.agent_fox]
    my-plugin = "my_package.plugin"

The module (or object) marks its functions with `agent_fox.plugins.hookimpl`.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager

import pluggy

from agent_fox.core.markdown import one_line
from agent_fox.discovery import installed

GROUP = "agent_fox"
LONGEST_REASON = 500

hookspec = pluggy.HookspecMarker(GROUP)
hookimpl = pluggy.HookimplMarker(GROUP)


@hookspec
def agent_fox_backends() -> Sequence[object]:  # type: ignore[empty-body]
    """Backends (`agent_fox.session.backends.Backend`); one with a known name, other than `checks`, takes its place."""


@hookspec
def agent_fox_dialects() -> Sequence[object]:  # type: ignore[empty-body]
    """Spec dialects (`agent_fox.specs.dialects.Dialect`), asked before the built-in ones."""


@hookspec
def agent_fox_trackers() -> Mapping[str, object]:  # type: ignore[empty-body]
    """Tracker kind → a function from the repository's root (Path) to a `agent_fox.trackers.protocol.Tracker`."""


@hookspec
def agent_fox_result_handlers() -> Sequence[object]:  # type: ignore[empty-body]
    """Result handlers (`agent_fox.engine.running.results.ResultHandler`), by archetype, in the built-in's place."""


@hookspec
def agent_fox_log_parsers() -> Sequence[object]:  # type: ignore[empty-body]
    """Log parsers (`agent_fox.verifier.logs.protocol.LogParser`), asked before the built-in ones for their tools."""


@hookspec
def agent_fox_runners() -> Mapping[str, object]:  # type: ignore[empty-body]
    """Scheme of an address (`scheme://...`) → a function from that address, the repository's root (Path) and the
    backends by name to a `agent_fox.session.runners.Runner`."""


class PluginError(Exception):
    """A plugin that cannot be loaded or called; its text names it and says what went wrong."""


def nothing(error: BaseException) -> bool:
    """Lets no error of a plugin through as somebody else's."""
    return False


@contextmanager
def blamed_on(plugin: str, doing: str, is_others: Callable[[BaseException], bool] = nothing) -> Iterator[None]:
    """Whatever a plugin raises becomes a PluginError that names it; what `is_others` holds of is raised as it is.

    A plugin that asks the program to leave (SystemExit) is refused too: it could leave with exit code 0.
    """
    try:
        yield
    except (Exception, SystemExit) as error:
        if isinstance(error, PluginError) or is_others(error):
            raise
        reason = one_line(repr(error), LONGEST_REASON)
        raise PluginError(f"plugin {plugin} failed in {doing}: {reason}; repair it or uninstall it") from error


def load_plugins() -> pluggy.PluginManager:
    """A manager with every installed plugin registered. Raises PluginError naming the one that cannot be used."""
    manager = pluggy.PluginManager(GROUP)
    manager.add_hookspecs(sys.modules[__name__])
    for entry in installed(GROUP, os.environ):
        with blamed_on(entry.plugin, f"loading {entry.value}"):
            manager.register(entry.load(GROUP), name=entry.plugin)
            manager.check_pending()
    return manager
