"""The backend `command`: any executable, by its arguments only, without a shell. With `like = "agent"` a runner of ours
holds its sessions, as those of an agent's program.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from agent_fox.core.late import late_module
from agent_fox.session.agents.registry import is_watched
from agent_fox.session.backends import module_argv

if TYPE_CHECKING:
    from agent_fox.session.agents import backend
    from agent_fox.session.built_in import enclosed_command
    from agent_fox.session.order import Agent, LaunchOrder, Paths
    from agent_fox.system.sandbox import bubblewrap as sandbox
    from agent_fox.system.sandbox import containers
else:
    containers = late_module("agent_fox.system.sandbox.containers")
    backend = late_module("agent_fox.session.agents.backend")
    enclosed_command = late_module("agent_fox.session.built_in.enclosed_command")
    sandbox = late_module("agent_fox.system.sandbox.bubblewrap")


class CommandBackend:
    """Any executable, argv only."""

    name = "command"

    def missing(self, agent: Agent, root: Path) -> str | None:
        if is_watched(self.name, agent.like):
            return backend.AnyBackend(self.name).missing(agent, root)
        if not agent.command:
            return (
                "backend 'command' has no command; set `command = [...]` for this agent, "
                "or name who works: `agent-fox init --agent claude`"
            )
        program = _program(agent.command[0], root)
        container = sandbox.container_in(agent.sandbox) if agent.is_contained else None
        if container is not None:
            trouble = containers.found(container.program, container.image).objection
            return f"backend 'command': {trouble}" if trouble else None
        if shutil.which(program, path=agent.environment.get("PATH", os.environ.get("PATH"))) is None:
            return f"{agent.command[0]!r} is not an executable on PATH; install it or correct `command`"
        if _is_enclosed(agent) and (missing := sandbox.why_missing()):
            return f"backend 'command': sandbox = \"require\", but {missing}"
        return None

    def argv(self, order: LaunchOrder, paths: Paths) -> list[str]:
        if is_watched(self.name, order.agent.like):
            return backend.AnyBackend(self.name).argv(order, paths)
        program, *arguments = order.agent.command
        argv = [_program(program, order.repo), *arguments]
        if not _is_enclosed(order.agent):
            return argv
        enclosed_command.write_document(order, paths, argv)
        return module_argv("agent_fox.session.built_in.enclosed_command", [str(paths.document)])

    def environment(self, order: LaunchOrder, paths: Paths) -> dict[str, str]:
        is_ours = is_watched(self.name, order.agent.like)
        return backend.AnyBackend(self.name).environment(order, paths) if is_ours else {}


def _is_enclosed(agent: Agent) -> bool:
    """Only where it is asked for: many a command writes beside its workspace, as a person's own program may."""
    return agent.sandbox not in ("auto", "off")


def _program(word: str, root: Path) -> str:
    """A path counts from the repository's root: what stands in the workspace may be a coder's own making."""
    return str(root / word) if "/" in word else word
