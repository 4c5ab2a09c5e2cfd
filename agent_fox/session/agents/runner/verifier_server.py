"""The verifier's tools for one session: our own MCP server over HTTP, outside of what the agent can reach or change."""

from __future__ import annotations

import contextlib
import os
import queue
import secrets
import threading
import time
from collections.abc import Iterator
from typing import IO, TYPE_CHECKING

from agent_fox.core.regex import regex
from agent_fox.core.values import dataclass
from agent_fox.system import programs

if TYPE_CHECKING:
    from agent_fox.session.agents.task import AgentTask

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


@contextlib.contextmanager
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
