"""The tracker that a command works with: which kinds there are, the one that is wanted, where it is in words."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from agent_fox.cli.errors import UserError
from agent_fox.config import Settings, load
from agent_fox.core.values import dataclass
from agent_fox.core.words import did_you_mean
from agent_fox.engine.planning.extensions import TRACKERS, tracker_of
from agent_fox.engine.planning.plugin_hooks import given
from agent_fox.plugins import load_plugins
from agent_fox.system.state_folders import ISSUES
from agent_fox.trackers.desk import Desk, WorksAtADesk
from agent_fox.trackers.protocol import Placed

if TYPE_CHECKING:
    import pluggy

    from agent_fox.trackers.protocol import Tracker


def kinds(plugins: pluggy.PluginManager) -> tuple[str, ...]:
    """Every kind of tracker that there is."""
    some = (offered for _, offered in given(plugins, "agent_fox_trackers"))
    added = [str(kind) for offered in some if isinstance(offered, Mapping) for kind in offered]
    return tuple(dict.fromkeys((*TRACKERS, *added)))


def with_tracker(settings: Settings, kind: str | None, plugins: pluggy.PluginManager) -> Settings:
    """The settings with another kind of tracker. Raises UserError naming those that there are."""
    if kind is None:
        return settings
    known = kinds(plugins)
    if kind not in known:
        raise UserError(f"--tracker {kind}: no such tracker{did_you_mean(kind, known)} (known: {', '.join(known)})")
    return settings.model_copy(update={"tracker": settings.tracker.model_copy(update={"kind": kind})})


@dataclass(frozen=True, slots=True)
class Workplace:
    """A repository, its settings, and the tracker that they name."""

    root: Path
    settings: Settings
    tracker: Tracker


def workplace(root: Path, kind: str | None) -> Workplace:
    """Raises ConfigError, PluginError, UserError."""
    plugins = load_plugins()
    settings = with_tracker(load(root, os.environ), kind, plugins)
    return Workplace(root, settings, tracker_of(plugins, settings, root, os.environ))


def seated(tracker: Tracker, desk: Desk | None) -> Tracker:
    """The tracker at its desk, where it works at one."""
    return tracker.at(desk) if desk is not None and isinstance(tracker, WorksAtADesk) else tracker


def in_words(tracker: Tracker) -> str:
    """Where issues go."""
    if isinstance(tracker, Placed) and tracker.place:
        return tracker.place
    return str(ISSUES) if tracker.name == "local" else tracker.name
