"""How long the command line and the stop hook take to answer, beside an empty Python and what they must import."""

from __future__ import annotations

import json
import os
import sqlite3
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
HELP, STATUS, PLAN, HOOK = Aim(limit=0.150), Aim(limit=0.400), Aim(limit=0.600), Aim(ratio=2.5)
DOOR = (sys.executable, "-c", "from agent_fox.cli.door import main; main()", "hook", "stop")
"""The stop hook as the console script starts it."""

TASK = "afx-0123456789ab"


def measure(rounds: int, nodes: int) -> Iterator[Figure]:
    """The best of several rounds; the programs take turns."""
    with temporary_folder() as root:
        make_repository(root, nodes)
        register(root)
        nothing, open_ = chat(root, "nothing"), chat(root, TASK)
        bare, click, database, help_, status, idle, held = best(
            rounds,
            starting(root, [sys.executable, "-c", "pass"]),
            starting(root, [sys.executable, "-c", "import click"]),
            starting(root, [sys.executable, "-c", "import click, sqlite_utils"]),
            starting(root, [*PROGRAM, "--help"]),
            starting(root, [*PROGRAM, "status"]),
            asking(root, nothing, 0),
            asking(root, open_, 2),
        )
    yield from measure_plan(rounds)
    yield Figure("python -c pass", bare, bare, "itself")
    yield Figure("the stop hook, nothing was registered", idle, bare, "python -c pass", HOOK)
    yield Figure("the stop hook, a task is open", held, bare, "python -c pass", HOOK)
    yield Figure("agent-fox --help", help_, click, "importing click", HELP)
    yield Figure(f"agent-fox status, {nodes:,} nodes", status, database, "importing click, sqlite_utils", STATUS)


def measure_plan(rounds: int) -> Iterator[Figure]:
    """The same for reading one spec, where nothing was run yet."""
    with temporary_folder() as root:
        spec = root / "specs" / "01_one"
        spec.mkdir(parents=True)
        (spec / "requirements.md").write_text("### Requirement 1: T\n\n1. [01-REQ-1.1] It SHALL add.\n")
        (spec / "tasks.md").write_text("- [ ] 1. Build it\n  - [ ] 1.1 Add\n    - _Requirements: 01-REQ-1.1_\n")
        libraries, plan = best(
            rounds,
            starting(root, [sys.executable, "-c", "import click, pydantic, sqlite_utils"]),
            starting(root, [*PROGRAM, "plan"]),
        )
    yield Figure("agent-fox plan, one spec", plan, libraries, "importing click, pydantic, sqlite_utils", PLAN)


def make_repository(root: Path, nodes: int) -> None:
    """A repository in the middle of a run."""
    subprocess.run(["git", "init", "--quiet", str(root)], check=True)
    with planned(root / ".agent-fox" / "state.db", plan_with(nodes)) as world:
        stub = Stub(world)
        for _ in range(nodes // 2):
            stub.complete()
        checkpoint(world.db)


def register(root: Path) -> None:
    """Leave one task in the state that nobody has reviewed."""
    with sqlite3.connect(root / ".agent-fox" / "state.db") as db:
        db.execute("INSERT INTO review_tasks VALUES (?, '2026', 'a task', '[]', '')", [TASK])


def chat(root: Path, word: str) -> bytes:
    """What a client tells its hook about a chat in this repository that says this word."""
    transcript = root / f"{word}.jsonl"
    transcript.write_text(json.dumps({"type": "assistant", "message": {"role": "assistant", "content": word}}) + "\n")
    asked = {"transcript_path": str(transcript), "cwd": str(root), "session_id": "one", "last_assistant_message": word}
    return json.dumps(asked).encode()


def asking(root: Path, asked: bytes, answer: int) -> Callable[[], None]:
    """An action that asks the stop hook. Raises ValueError for another answer."""
    environment = {**os.environ, "PYTHONPATH": str(PACKAGE_PARENT)}

    def run() -> None:
        done = subprocess.run(DOOR, cwd=root, env=environment, input=asked, capture_output=True, check=False)
        if done.returncode != answer:
            raise ValueError(f"the stop hook answered {done.returncode}: {done.stderr!r}")

    return run


def starting(root: Path, command: Sequence[str]) -> Callable[[], None]:
    """An action that runs a program to its end. Raises CalledProcessError with what it said."""
    environment = {**os.environ, "PYTHONPATH": str(PACKAGE_PARENT), "NO_COLOR": "1"}

    def run() -> None:
        subprocess.run(command, cwd=root, env=environment, capture_output=True, check=True)

    return run
