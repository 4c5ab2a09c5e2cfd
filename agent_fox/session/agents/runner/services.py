"""What a session reaches on loopback: the way to its model, the verifier's tools, the gate of its stop hook."""

from __future__ import annotations

import contextlib
import os
import queue
import secrets
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import IO, TYPE_CHECKING
from urllib.parse import urlsplit

from agent_fox.core.regex import regex
from agent_fox.core.values import dataclass
from agent_fox.session.agents.logins import TOKEN_URL, Login
from agent_fox.session.agents.proxy.model_side import Key, usable_key
from agent_fox.session.agents.proxy.server import ModelProxy, fresh_word
from agent_fox.session.agents.registry import command_line
from agent_fox.session.agents.runner.stop_gate import StopGate, served
from agent_fox.session.agents.task import AgentTask, Door, Role
from agent_fox.system import programs

if TYPE_CHECKING:
    from agent_fox.session.agents.credentials import Credentials
    from agent_fox.session.agents.events import Event
    from agent_fox.session.agents.proxy.model_side import Access

START_SECONDS = 60.0
STOP_SECONDS = 6.0
TOKEN = "AGENT_FOX_VERIFIER_TOKEN"
_ADDRESS = regex(r"the verifier listens at (http://\S+)")


class NotServed(RuntimeError):
    """The verifier's tools could not be served; the message is what the server said."""


@dataclass(frozen=True, slots=True)
class Served:
    """Where the tools are, and the token that every request must carry. Both empty: none are offered."""

    url: str = ""
    token: str = ""


@contextmanager
def verifier_served(task: AgentTask) -> Iterator[Served]:
    """The server of `task.verifier`, ended when the block is left. Raises NotServed, OSError."""
    if not task.verifier:
        yield Served()
        return
    token = secrets.token_urlsafe(32)
    environment = {**task.environment, "HOME": os.environ.get("HOME", str(task.home)), TOKEN: token}
    nothing = programs.NOTHING
    server = programs.start(task.verifier, environment, task.workspace, stdin=nothing, stdout=nothing)
    try:
        assert server.stderr is not None
        yield Served(_address(server.stderr), token)
    finally:
        server.terminate()
        if programs.wait(server, STOP_SECONDS) is None:
            programs.kill_group(server)


def _address(complaints: IO[bytes]) -> str:
    """What the server says it listens at; its standard error is read on, so that it never blocks."""
    lines: queue.SimpleQueue[str | None] = queue.SimpleQueue()
    threading.Thread(target=_pump, args=(complaints, lines), daemon=True).start()
    give_up, last_line = time.monotonic() + START_SECONDS, ""
    while True:
        try:
            line = lines.get(timeout=max(0.01, give_up - time.monotonic()))
        except queue.Empty:
            raise NotServed(f"the verifier's server did not start within {START_SECONDS:g} s") from None
        if line is None:
            raise NotServed(f"the verifier's server ended at once: {last_line or 'it said nothing'}")
        address = _ADDRESS.search(line)
        if address:
            return address[1]
        last_line = line.strip() or last_line


def _pump(complaints: IO[bytes], lines: queue.SimpleQueue[str | None]) -> None:
    with contextlib.suppress(ValueError):
        for line in complaints:
            lines.put(line.decode("utf-8", "replace"))
    lines.put(None)


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
            access, service = opened_by(task, credentials)
            proxy = ModelProxy(
                task.upstream, task.model_side, access, word=key, hear=hear, note=note, why_not=why_not,
                is_bearer=credentials.is_bearer, service=service,
            )  # fmt: skip
            url = stack.enter_context(proxy).url
        tools = stack.enter_context(verifier_served(task))
        gate = StopGate(task.workspace) if task.stop_gate and tools.url and task.role is Role.CODER else None
        command = stack.enter_context(served(gate)) if gate is not None else ()
        cloud = credentials.cloud.for_program(os.environ, url, key) if credentials.cloud else {}
        door = Door(url, key, tools.url, tools.token, command, credentials.is_login, cloud, credentials.direct)
        yield Services(door, gate)


def opened_by(task: AgentTask, credentials: Credentials) -> tuple[str | Access, str]:
    """What the proxy opens the model's side with, and the service there, where that is not the provider's own.

    Raises ValueError for a token that no header can hold.
    """
    kind, cloud = command_line(task.cli).facts.login, credentials.cloud
    if cloud is not None and credentials.access is not None:
        return credentials.access, cloud.service
    if kind is not None and credentials.login is not None:
        return Login(kind, credentials.login, task.program, os.environ.get(TOKEN_URL, "")), kind.service
    if kind is not None and credentials.is_token:
        token = usable_key(credentials.key, task.model_side)
        return Key((("authorization", f"Bearer {token}"), *kind.headers), token), kind.service
    return credentials.key, ""
