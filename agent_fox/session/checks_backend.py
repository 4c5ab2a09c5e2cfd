"""The backend `checks`: a verifier without a model. It starts the verifier's own program under the shim."""

from __future__ import annotations

import json
from pathlib import Path

from agent_fox.session.backends import module_argv
from agent_fox.session.order import Agent, LaunchOrder, Paths

FREE = json.dumps({"cost_usd": 0, "input_tokens": 0, "output_tokens": 0})
"""No model runs, so what a session of this backend costs is known beforehand."""


class ChecksBackend:
    """Runs the spec's test commands and prints one verdict per requirement; see
    `agent_fox.verifier.checks`.
    """

    name = "checks"

    def missing(self, agent: Agent, root: Path) -> str | None:
        return None

    def argv(self, order: LaunchOrder, paths: Paths) -> list[str]:
        document = {**order.document, "workspace": str(paths.workspace)}
        paths.document.write_text(json.dumps(document), encoding="utf-8")
        paths.result.write_text(FREE, encoding="utf-8")
        return module_argv("agent_fox.verifier.checks", [str(paths.document)])

    def environment(self, order: LaunchOrder, paths: Paths) -> dict[str, str]:
        return {}
