"""The runner of an address, where its extra is installed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from agent_fox.cluster.engine import EngineError, engine_of, lease_of, remote_of
from agent_fox.core.late import late_module

if TYPE_CHECKING:
    from agent_fox.cluster import runner, ssh
    from agent_fox.config import Settings
    from agent_fox.session.backends import Backend
    from agent_fox.session.runners import Runner
else:
    runner = late_module("agent_fox.cluster.runner")
    ssh = late_module("agent_fox.cluster.ssh")


def temporal_runner(
    address: str, settings: Settings, environ: Mapping[str, str], artifacts: Path, tell: Callable[[str], None]
) -> Runner:
    """Raises EngineError."""
    engine = engine_of(address, settings.cluster, environ)
    if find_spec("temporalio") is None:
        raise EngineError("sessions on other hosts need an extra: pip install 'agent-fox[cluster]'")
    return runner.TemporalRunner(
        engine, version("agent-fox"), settings.infrastructure.patience, environ, artifacts, tell,
        remote_of(settings.cluster),
    )  # fmt: skip


def ssh_runner(
    address: str, settings: Settings, environ: Mapping[str, str], artifacts: Path, backends: Mapping[str, Backend]
) -> Runner:
    """Raises EngineError."""
    try:
        host, port = ssh.split(address)
    except ssh.NoAddress as error:
        raise EngineError(str(error)) from error
    commands = (place.command for place in settings.places.values() if f"ssh://{place.ssh}" == address)
    beat, timeout = settings.cluster.heartbeat, settings.cluster.timeout
    line = ssh.Line(host, port, tuple(next(commands, ["agent-fox"])), beat, lease_of(beat, timeout))
    here = version("agent-fox")
    return ssh.SshRunner(backends, address, line=line, version=here, environ=environ, artifacts=artifacts)
