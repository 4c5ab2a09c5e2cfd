"""How long a client waits for the first answer of the verifier's server, beside the import of the SDK below it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from bench.figures import Aim, Figure, seconds
from bench.verifier import TESTS, make_project
from bench.worlds import temporary_folder

ADDED = 0.2
"""Seconds that the server may take beside the import."""

PACKAGE_PARENT = Path(__file__).resolve().parents[1]
COMMAND = (sys.executable, "-m", "agent_fox.cli.main", "mcp", "verifier")
HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "bench", "version": "1"},
    },
}


def measure(rounds: int) -> Iterator[Figure]:
    """From the start of the process to the first answer that its client has read; the best of some rounds."""
    with temporary_folder() as folder:
        root = make_project(folder / "project", TESTS.format(seconds=0))
        first_answer(root, folder / "artifacts")  # from now on there is bytecode, as where it is installed
        samples = [(seconds(import_of_sdk), first_answer(root, folder / "artifacts")) for _ in range(rounds)]
    floor, took = map(min, zip(*samples, strict=True))
    yield Figure("verifier's server, start to first answer", took, floor, "importing mcp", Aim(limit=floor + ADDED))


def import_of_sdk() -> None:
    subprocess.run([sys.executable, "-c", "import mcp"], check=True)


def first_answer(root: Path, artifacts: Path) -> float:
    """Seconds until a new server has answered a greeting; then it is closed. Raises ValueError for another answer."""
    command = [*COMMAND, "--root", str(root), "--artifacts", str(artifacts)]
    environment = {**os.environ, "PYTHONPATH": str(PACKAGE_PARENT), "PYTHONDONTWRITEBYTECODE": ""}
    start = time.perf_counter()
    with subprocess.Popen(command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdin
        assert server.stdout
        print(json.dumps(HELLO), file=server.stdin, flush=True)
        answer = server.stdout.readline()
        took = time.perf_counter() - start
    if '"result"' not in answer:
        raise ValueError(f"the server answered {answer!r}")
    return took
