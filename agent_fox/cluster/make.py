"""The runner of an address, where its extra is installed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from agent_fox.cluster.engine import EngineError, engine_of
from agent_fox.core.late import late_module

if TYPE_CHECKING:
    from agent_fox.cluster import runner
    from agent_fox.config import Settings
    from agent_fox.session.runners import Runner
else:
    runner = late_module("agent_fox.cluster.runner")


def temporal_runner(
    address: str, settings: Settings, environ: Mapping[str, str], artifacts: Path, tell: Callable[[str], None]
) -> Runner:
    """Raises EngineError."""
    engine = engine_of(address, settings.cluster, environ)
    if find_spec("temporalio") is None:
        raise EngineError("sessions on other hosts need an extra: pip install 'agent-fox[cluster]'")
    return runner.TemporalRunner(
        engine, version("agent-fox"), settings.infrastructure.patience, environ, settings.places, artifacts, tell
    )
