"""The backend `scripted`: replays a file of steps in place of an agent. The program that does so is `agent`."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from agent_fox.session.workspaces.workspace import WorkspaceError
from agent_fox.testing.scripted import agent as scripted_agent
from agent_fox.testing.scripted.script import ScriptError, Step, read_script

if TYPE_CHECKING:
    from agent_fox.session.order import Agent, LaunchOrder, Paths


class ScriptedBackend:
    """Replays a file of steps (see `agent`); for demonstrations and tests, in place of an agent."""

    name = "scripted"

    def missing(self, agent: Agent, root: Path) -> str | None:
        if agent.script is None:
            return "backend 'scripted' has no script; set `script = \"FILE\"` for this agent"
        try:
            read_script(root / agent.script, Step)
        except ScriptError as error:
            return str(error)
        return None

    def argv(self, order: LaunchOrder, paths: Paths) -> list[str]:
        try:
            script = read_script(order.repo / (order.agent.script or ""), Step)
        except ScriptError as error:
            raise WorkspaceError(str(error)) from error
        fitting = script.fitting(order.node_id, order.attempt, order.reading)
        document = {"step": fitting[1].document() if fitting else None, "node": order.node_id}
        paths.document.write_text(json.dumps(document), encoding="utf-8")
        return [sys.executable, "-I", "-S", "-B", scripted_agent.__file__, str(paths.document)]

    def environment(self, order: LaunchOrder, paths: Paths) -> dict[str, str]:
        return {}
