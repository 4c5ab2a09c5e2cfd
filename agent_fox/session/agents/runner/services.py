"""What a session reaches on loopback: the way to its model, the verifier's tools, the gate of its stop hook."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from agent_fox.core.values import dataclass
from agent_fox.session.agents.logins import TOKEN_URL, Login
from agent_fox.session.agents.proxy.opening import Key
from agent_fox.session.agents.proxy.server import ModelProxy, fresh_word
from agent_fox.session.agents.proxy.upstream import usable_key
from agent_fox.session.agents.registry import command_line
from agent_fox.session.agents.runner.stop_gate import StopGate, served
from agent_fox.session.agents.runner.verifier_server import verifier_served
from agent_fox.session.agents.task import AgentTask, Door, Role

if TYPE_CHECKING:
    from agent_fox.session.agents.credentials import Credentials
    from agent_fox.session.agents.events import Event
    from agent_fox.session.agents.proxy.opening import Access


@dataclass(frozen=True, slots=True)
class Services:
    """What is served, and the gate where there is one."""

    door: Door
    gate: StopGate | None = None

    @property
    def ports(self) -> tuple[int, ...]:
        """Ports of our loopback that the session is led to."""
        parts = (urlsplit(url) for url in (self.door.model_url, self.door.mcp_url))
        return tuple(part.port for part in parts if part.hostname == "127.0.0.1" and part.port)


@contextmanager
def serving(
    task: AgentTask,
    credentials: Credentials,
    hear: Callable[[Event], None],
    note: Callable[[str], None],
    why_not: Callable[[], str | None],
) -> Iterator[Services]:
    """Serve until the block is left. `hear` gets what the proxy meters; `why_not` tells why no request is allowed.

    Raises NotServed, OSError, and ValueError for a key or an upstream that cannot be used.
    """
    with ExitStack() as stack:
        url, key = task.upstream, ""
        if credentials.is_held:
            key = fresh_word()
            proxy = ModelProxy(
                task.upstream, task.model_side, access_of(task, credentials), word=key, hear=hear, note=note,
                why_not=why_not, is_bearer=credentials.is_bearer, service=service_of(task, credentials),
            )  # fmt: skip
            url = stack.enter_context(proxy).url
        tools = stack.enter_context(verifier_served(task))
        gate = StopGate(task.workspace) if task.stop_gate and tools.url and task.role is Role.CODER else None
        command = stack.enter_context(served(gate)) if gate is not None else ()
        cloud = credentials.cloud.for_program(os.environ, url, key) if credentials.cloud else {}
        door = Door(url, key, tools.url, tools.token, command, credentials.is_login, cloud, credentials.direct)
        yield Services(door, gate)


def access_of(task: AgentTask, credentials: Credentials) -> str | Access:
    """What the proxy opens the model's side with.

    Raises ValueError for a token that no header can hold.
    """
    if credentials.access is not None:
        return credentials.access
    kind = command_line(task.cli).facts.login
    if kind is not None and credentials.login is not None:
        return Login(kind, credentials.login, task.program, os.environ.get(TOKEN_URL, ""))
    if kind is not None and credentials.is_token:
        token = usable_key(credentials.key, task.model_side)
        return Key((("authorization", f"Bearer {token}"), *kind.headers), token)
    return credentials.key


def service_of(task: AgentTask, credentials: Credentials) -> str:
    """What is asked, where that is not what the provider itself answers."""
    kind = command_line(task.cli).facts.login
    if credentials.cloud is not None:
        return credentials.cloud.service
    return kind.service if kind is not None and credentials.is_login else ""
