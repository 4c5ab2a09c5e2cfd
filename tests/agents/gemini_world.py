"""One session of the real Gemini CLI against a scripted model: shared by the tests of its adapter.

Fake: the model. Real: the program, its tools, the server of tools, the hook, the files.
"""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from agent_fox.session.agents.task import AgentTask, Door, Provider, Role
from agent_fox.testing.model_server import ModelServer
from tests.agents.world import WORD, Ran, opened, task_of, write

SECONDS = 180.0


@dataclass(frozen=True)
class World:
    """A workspace and homes beside it, below one root."""

    root: Path
    program: Path

    @property
    def workspace(self) -> Path:
        return self.root / "workspace"

    def task(self, role: Role = Role.CODER, **changes: Any) -> AgentTask:  # noqa: ANN401 - fields of the task
        home, scratch = self.root / role / "home", self.root / role / "scratch"
        for folder in (home, scratch):
            folder.mkdir(parents=True, exist_ok=True)
        environment = {
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "TMPDIR": str(scratch),
            "AGENT_FOX_LAUNCH": f"gemini-{role}",
        }
        task = task_of(home.parent, "gemini", self.program, Provider.GEMINI, workspace=self.workspace)
        task = replace(task, role=role, environment=environment, system="RULES-OF-THE-ROLE", model="gemini-2.5-pro")
        return replace(task, **{"ask_again": "Once more, as JSON.", **changes})

    def plant(self, path: str, text: str) -> Path:
        return write(self.workspace / path, text)

    def run(self, server: ModelServer | str, task: AgentTask, **door: Any) -> Ran:  # noqa: ANN401 - fields of the door
        return opened(task, Door(server if isinstance(server, str) else server.url, WORD, **door))


def made(root: Path, program: Path) -> World:
    world = World(root, program)
    world.plant("a.txt", "hello\n")
    subprocess.run(["git", "init", "-q", str(world.workspace)], check=True)
    return world
