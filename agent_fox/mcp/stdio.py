"""The server over standard input and output: for one client, the process that started it. What is said is not here."""

from __future__ import annotations

import io
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import anyio
from mcp.server.mcpserver import MCPServer

from agent_fox.mcp.runs import Runs

CLOSING_SECONDS = 10.0
TERMINATED = 128
_OUTPUT, _ERROR = 1, 2


async def serve(server: MCPServer, runs: Runs) -> None:
    """Serve until standard input ends, or a signal asks to end; either way every run is stopped before it is over."""
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_end_on_signal, runs)
        await server.run_stdio_async()
        tasks.cancel_scope.cancel()


@contextmanager
def clean_output() -> Iterator[None]:
    """Within the block, what is printed goes to standard error: the SDK sees to that only once it serves.

    Lines are not held back after it either: they would come out when standard output is the protocol's again.
    """
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(line_buffering=True)
    kept = os.dup(_OUTPUT)
    os.dup2(_ERROR, _OUTPUT)
    try:
        yield
    finally:
        sys.stdout.flush()
        os.dup2(kept, _OUTPUT)
        os.close(kept)


async def _end_on_signal(runs: Runs) -> None:
    with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM, signal.SIGHUP) as signals:
        async for number in signals:
            await runs.close(CLOSING_SECONDS)
            sys.stderr.flush()
            os._exit(TERMINATED + number)  # the thread that reads standard input can't be woken
