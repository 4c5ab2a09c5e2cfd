"""Any program that speaks the Agent Client Protocol, by the command that a person names.

The protocol cannot take a tool away, so the sandbox holds the roles; what an agent asks permission for is answered by
`permissions`, what is said otherwise stands in `dialogue`.
"""

from __future__ import annotations

import sys
from collections.abc import Collection, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from agent_fox.session.agents.acp import permissions, relay
from agent_fox.session.agents.acp.dialogue import AcpDialogue
from agent_fox.session.agents.any_program import EFFORT, MODEL, command_of, environment_of, facts_of, words_of
from agent_fox.session.agents.command_line import CommandLine, Reader, Start
from agent_fox.session.agents.private_files import keep_folder
from agent_fox.session.agents.runner import stop_hook

if TYPE_CHECKING:
    from agent_fox.session.agents.task import AgentTask, Door, Role

SERVER = "verifier"


class Acp(CommandLine):
    """The adapter."""

    facts = facts_of("acp")

    def prepare(self, task: AgentTask, door: Door) -> None:
        keep_folder(task.home)

    def start(self, task: AgentTask, door: Door) -> Start:
        words = words_of(task, door)
        written = (*task.arguments, *task.environment.values())
        named = {place for place in (MODEL, EFFORT) for text in written if place in text}
        dialogue = AcpDialogue(task, partial(servers, door), is_set=frozenset(named), why_held=partial(why_held, door))
        return Start(command_of(task, words), environment_of(task, door, words), dialogue=dialogue)

    def again(self, task: AgentTask, door: Door, session: str) -> Start:
        """Never asked for: the question is put within the dialogue."""
        return self.start(task, door)

    def reader(self, task: AgentTask) -> Reader:
        return AcpDialogue(task, lambda has_http: ())

    def own_tools(self, role: Role) -> Collection[str]:
        return permissions.TABLE[role]


def servers(door: Door, has_http: bool) -> Sequence[Mapping[str, object]]:
    """The verifier's tools as `session/new` takes them: over HTTP where the agent can, else by our relay."""
    if not door.mcp_url:
        return ()
    if has_http:
        headers = [{"name": "Authorization", "value": f"Bearer {door.mcp_token}"}]
        return ({"type": "http", "name": SERVER, "url": door.mcp_url, "headers": headers},)
    given = {relay.URL: door.mcp_url, relay.TOKEN: door.mcp_token}
    variables = [{"name": name, "value": value} for name, value in given.items()]
    arguments = ["-I", "-S", "-B", str(Path(relay.__file__).resolve())]
    return ({"name": SERVER, "command": sys.executable, "args": arguments, "env": variables},)


def why_held(door: Door) -> str:
    """What the gate of the session says to a coder that wants to stop; empty where it may, and where there is none."""
    return stop_hook.ask(door.stop_command[-1]) if door.stop_command else ""


ACP = Acp()
