"""Formatting a coder's work before it is taken, where the settings allow it. What it does is the verifier's."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

from agent_fox.session.order import LaunchOrder, Paths
from agent_fox.system.sandbox.bubblewrap import mode_of

_PASS = "agent_fox.verifier.plans.format_pass"  # loaded where it is wanted: it brings all tools of the verifier along


def formatted(order: LaunchOrder) -> tuple[str, ...]:
    """What was done to the workspace, in words; nothing where it is not allowed."""
    if not order.format_apply:
        return ()
    module: Any = import_module(_PASS)
    format_work: Callable[[object], tuple[str, ...]] = module.format_work
    artifacts = Path(order.artifacts) if order.artifacts else order.state / "artifacts"
    mode = mode_of(order.sandbox)
    workspace = Paths(order.state).workspace
    return format_work(module.Work(workspace, order.repo, order.pinned, order.launch, order.attempt, artifacts, mode))
