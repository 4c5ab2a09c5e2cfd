"""Any program of a person's choice as an agent's backend: `acp`, and `command` where `like = "agent"` asks for it."""

from __future__ import annotations

import importlib.util
import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from agent_fox.core.late import late_module
from agent_fox.core.values import dataclass
from agent_fox.session.agents.any_program import EFFORT, MODEL, OF_PROXY, filled, names_any
from agent_fox.session.agents.backend import AgentBackend
from agent_fox.session.agents.credentials import UPSTREAMS, secret_names
from agent_fox.session.agents.registry import ACP
from agent_fox.session.agents.task import Provider
from agent_fox.session.backends import base_environment

if TYPE_CHECKING:
    from agent_fox.session.agents.acp import handshake
    from agent_fox.session.agents.task import AgentTask
    from agent_fox.session.order import Agent, LaunchOrder, Paths
else:
    handshake = late_module("agent_fox.session.agents.acp.handshake")

NO_ACP = "the protocol needs the extra `acp`: pip install 'agent-fox[acp]'"


@dataclass(frozen=True, slots=True)
class AnyBackend(AgentBackend):
    """A program that the settings name by `command`, spoken with in the way of this backend."""

    def missing(self, agent: Agent, root: Path) -> str | None:
        lack = self.lacking_words(agent)
        if lack is None and self.name == ACP and importlib.util.find_spec("acp") is None:
            lack = NO_ACP
        if lack is not None:
            return f"backend {self.name!r}: {lack}"
        missing = AgentBackend.missing(self, replace(agent, program=agent.command[0]), root)
        if missing is None and self.name == ACP:
            argv = self.argv_of(agent, root)
            trouble = handshake.trouble_of(argv, agent.environment)
            missing = f"backend {self.name!r}: `{' '.join(argv)}`: {trouble}" if trouble else None
        return missing

    def lacking_words(self, agent: Agent) -> str | None:
        if not agent.command:
            return f"it has no command; set `command = [...]`, as by `agent-fox init --agent {self.name} -- PROGRAM`"
        if not agent.provider and names_any(" ".join((*agent.command, *agent.environment.values())), OF_PROXY):
            known = ", ".join(f'"{provider}"' for provider in Provider)
            return f"its words hold {' or '.join(OF_PROXY)}, but not whose models it asks; set `provider`: {known}"
        return None

    def provider(self, agent: Agent) -> Provider | None:
        return Provider(agent.provider) if agent.provider else None

    def program(self, agent: Agent, root: Path) -> str | None:
        """A path counts from the repository's root: what stands in the workspace may be a coder's own making."""
        return AgentBackend.program(self, replace(agent, program=agent.command[0]), root) if agent.command else None

    def argv_of(self, agent: Agent, root: Path) -> tuple[str, ...]:
        """Its command line as it is asked what it is: without the model's address, which no session has yet."""
        words = {MODEL: agent.model, EFFORT: agent.effort, **dict.fromkeys(OF_PROXY, "")}
        arguments = (filled(word, words) for word in (*agent.command[1:], *agent.arguments))
        return (self.program(agent, root) or agent.command[0], *arguments)

    def task(self, order: LaunchOrder, paths: Paths) -> AgentTask:
        usual, agent = AgentBackend.task(self, order, paths), order.agent
        files = [word for word in agent.command[1:] if word.startswith("/") and Path(word).exists()]
        return replace(
            usual, arguments=(*agent.command[1:], *agent.arguments), readable=(*usual.readable, *files),
        )  # fmt: skip

    def seen(self, order: LaunchOrder, paths: Paths) -> dict[str, str]:
        """Without a provider a person hands the program its key by `inherit`, for nobody else can use it."""
        seen = AgentBackend.seen(self, order, paths)
        if order.agent.provider:
            return seen
        of_models = secret_names(self.cli.facts) | {name for names, _ in UPSTREAMS.values() for name in names}
        whole = base_environment(order, paths, os.environ)
        return seen | {name: value for name, value in whole.items() if name in of_models}
