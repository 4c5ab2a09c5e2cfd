"""Full logs of the judge's commands as artifacts. Loaded only where an order asks for them: it costs the start."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from agent_fox.verifier.artifacts.store import ArtifactStore
from agent_fox.verifier.ground.results import ArtifactKind

if TYPE_CHECKING:
    from agent_fox.verifier.ground.order import CheckOrder


def keep_log(order: CheckOrder, log: Path, name: str) -> str:
    """Keep a log, masked, among the artifacts of the order's run; its public name."""
    store = ArtifactStore(Path(order.artifacts), order.run, order.attempt)
    return store.keep_file(log, ArtifactKind.LOG, f"checks-{name}.log").uri
