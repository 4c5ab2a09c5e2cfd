"""The hooks: one backend, one dialect, one tracker and one result handler. What they do is in the modules beside."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from agent_fox.engine.running.results import ResultHandler
from agent_fox.plugins import hookimpl
from agent_fox.session.backends import Backend
from agent_fox.specs.dialects import Dialect
from agent_fox.trackers.protocol import Tracker

from .handler import CountedReviews
from .journal import Journal
from .notebook import NotebookDialect
from .player_backend import PlayerBackend


@hookimpl
def agent_fox_backends() -> Sequence[Backend]:
    return [PlayerBackend()]


@hookimpl
def agent_fox_dialects() -> Sequence[Dialect]:
    return [NotebookDialect()]


@hookimpl
def agent_fox_trackers() -> Mapping[str, Callable[[Path], Tracker]]:
    return {"journal": lambda root: Journal(root / ".agent-fox" / "journal.jsonl")}


@hookimpl
def agent_fox_result_handlers() -> Sequence[ResultHandler]:
    return [CountedReviews()]
