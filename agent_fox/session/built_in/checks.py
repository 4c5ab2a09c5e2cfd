"""The backend `checks`: a verifier without a model. It starts the verifier's own program under the shim."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from agent_fox.session.backends import module_argv
from agent_fox.session.built_in.registry import CHECKS, PARTIAL
from agent_fox.session.workspaces.workspace import read_preparation
from agent_fox.system import git

if TYPE_CHECKING:
    from agent_fox.session.order import Agent, LaunchOrder, Paths

FREE = json.dumps({"cost_usd": 0, "input_tokens": 0, "output_tokens": 0})
"""No model runs, so what a session of this backend costs is known beforehand."""


class ChecksBackend:
    """Runs the spec's test commands and prints one verdict per requirement; see
    `agent_fox.verifier.judging.checks`.
    """

    name = CHECKS

    def missing(self, agent: Agent, root: Path) -> str | None:
        return None

    def argv(self, order: LaunchOrder, paths: Paths) -> list[str]:
        own = {key: value for key, value in order.document.items() if key not in PARTIAL}
        document = {**own, **of_launch(order, paths)}
        paths.document.write_text(json.dumps(document), encoding="utf-8")
        paths.result.write_text(FREE, encoding="utf-8")
        return module_argv("agent_fox.verifier.judging.checks", [str(paths.document)])

    def environment(self, order: LaunchOrder, paths: Paths) -> dict[str, str]:
        return {}


def of_launch(order: LaunchOrder, paths: Paths) -> dict[str, object]:
    """What only the launch knows: its workspace, what was brought into it, and the commit before any agent's work."""
    brought = read_preparation(order).brought if paths.preparation.exists() else ()
    links = (paths.workspace / path for path in brought)
    objects = git.common_folder(order.repo) / "objects"
    return {
        "workspace": str(paths.workspace),
        "readable": [str(objects), *(str(link.resolve()) for link in links if link.is_symlink())],
        "brought": list(brought),
        "repository": str(order.repo),
        "base_commit": _base_commit(order),
        "commit": order.pinned,
        "run": order.launch,
        "attempt": order.attempt,
        "live": str(paths.live),
    }


def _base_commit(order: LaunchOrder) -> str:
    """Where the integration branch left the person's own: what failed there was broken before. Empty if unknown."""
    head = git.head(order.repo)
    return (git.merge_base(order.repo, order.pinned, head) or "") if head else ""
