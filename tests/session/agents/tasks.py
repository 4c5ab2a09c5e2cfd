"""The task of one agent's session, for tests that start nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from agent_fox.session.agents.registry import command_line
from agent_fox.session.agents.task import AgentTask, Limits, Role


def task_in(folder: Path, cli: str, **changes: Any) -> AgentTask:  # noqa: ANN401 - fields of the task
    """A coder's task of this program, with everything that is its own below the folder. `changes`: its other fields."""
    usual = {
        "program": f"/opt/{cli}", "role": Role.CODER, "workspace": folder / "workspace", "home": folder / "home",
        "scratch": folder / "scratch", "report": folder / "report.json", "system": "The rules.", "prompt": "The brief.",
        "limits": Limits(wall=600, idle=120, answer=90, turns=40), "upstream": "https://model.example",
        "provider": command_line(cli).facts.providers[0], "environment": {"PATH": "/usr/bin"},
    }  # fmt: skip
    return AgentTask(cli, **{**usual, **changes})
