"""How long the command line takes to answer, beside an empty Python and the imports that it cannot do without."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from agent_fox.store.state import checkpoint
from bench.figures import Aim, Figure, best
from bench.stub import Stub
from bench.worlds import plan_with, planned, temporary_folder

PROGRAM = (sys.executable, "-m", "agent_fox.cli.main")
PACKAGE_PARENT = Path(__file__).resolve().parents[1]
HELP, STATUS = Aim(limit=0.150), Aim(limit=0.400)


def measure(rounds: int, nodes: int) -> Iterator[Figure]:
    """The best of several rounds; the programs take turns."""
    with temporary_folder() as root:
        make_repository(root, nodes)
        bare, click, database, help_, status = best(
            rounds,
            starting(root, [sys.executable, "-c", "pass"]),
            starting(root, [sys.executable, "-c", "import click"]),
            starting(root, [sys.executable, "-c", "import click, sqlite_utils"]),
            starting(root, [*PROGRAM, "--help"]),
            starting(root, [*PROGRAM, "status"]),
        )
    yield Figure("python -c pass", bare, bare, "itself")
    yield Figure("agent-fox --help", help_, click, "importing click", HELP)
    yield Figure(f"agent-fox status, {nodes:,} nodes", status, database, "importing click, sqlite_utils", STATUS)


def make_repository(root: Path, nodes: int) -> None:
    """A repository in the middle of a run."""
    subprocess.run(["git", "init", "--quiet", str(root)], check=True)
    with planned(root / ".agent-fox" / "state.db", plan_with(nodes)) as world:
        stub = Stub(world)
        for _ in range(nodes // 2):
            stub.complete()
        checkpoint(world.db)


def starting(root: Path, command: Sequence[str]) -> Callable[[], None]:
    """An action that runs a program to its end. Raises CalledProcessError with what it said."""
    environment = {**os.environ, "PYTHONPATH": str(PACKAGE_PARENT), "NO_COLOR": "1"}

    def run() -> None:
        subprocess.run(command, cwd=root, env=environment, capture_output=True, check=True)

    return run
