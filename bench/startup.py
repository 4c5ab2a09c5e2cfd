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
from agent_fox.testing.worlds import Req, World, run_cli
from bench.figures import Aim, Figure, best
from bench.stub import Stub
from bench.worlds import plan_with, planned, temporary_folder

PACKAGE_PARENT = Path(__file__).resolve().parents[1]
HOOK, START = Aim(ratio=2.5), Aim(limit=0.250)
COMMANDS = (
    *("--help", "verify --help", "run --help", "plan", "lint", "explain 01_calc:1", "waive --list", "ledger verify"),
    *("status", "review tasks", "issues list", "keys list", "parse-log --tool pytest README.md"),
    *("doctor", "run --dry-run"),
)
PROCESSOR = """
import atexit, os, resource, sys
number = int(sys.argv.pop(1))
used = lambda: sum(resource.getrusage(resource.RUSAGE_SELF)[:2])
atexit.register(lambda: os.write(number, repr(used()).encode()))
"""
"""Before other lines of Python: at the end they say how much processor they took, without what they started."""

CLICK, MAIN = f"{PROCESSOR}import click", f"{PROCESSOR}from agent_fox.cli.door import main; main()"
DOOR = (sys.executable, "-c", "from agent_fox.cli.door import main; main()", "hook", "stop")
"""The stop hook as the console script starts it."""

TASK = "afx-0123456789ab"


def measure(rounds: int, nodes: int) -> Iterator[Figure]:
    """The best of several rounds; the programs take turns."""
    with temporary_folder() as root:
        make_repository(root, nodes)
        register(root)
        nothing, open_ = chat(root, "nothing"), chat(root, TASK)
        bare, idle, held = best(
            rounds,
            starting(root, [sys.executable, "-c", "pass"]),
            asking(root, nothing, 0),
            asking(root, open_, 2),
        )
    yield Figure("python -c pass", bare, bare, "itself")
    yield Figure("the stop hook, nothing was registered", idle, bare, "python -c pass", HOOK)
    yield Figure("the stop hook, a task is open", held, bare, "python -c pass", HOOK)
    yield from measure_commands(rounds)


def measure_commands(rounds: int) -> Iterator[Figure]:
    """What each command takes of the processor, over `import click`, where a small plan was run to its end.

    Its own work is in it, and there is little of that; the processes that it starts are not.
    """
    with temporary_folder() as folder:
        root = World({"01_calc": [Req("01-REQ-1.1", 1)]}).build(folder)
        done = run_cli(root, "run")
        if done.returncode:
            raise ValueError(f"the small plan was not proven: {done.stdout}{done.stderr}")
        floor = min(processor(root, CLICK) for _ in range(rounds))
        for command in COMMANDS:
            whole = min(processor(root, MAIN, *command.split()) for _ in range(rounds))
            yield Figure(f"agent-fox {command}, processor over click", whole - floor, floor, "import click", START)


def processor(root: Path, code: str, *arguments: str) -> float:
    """Seconds of processor that a Python takes for `code`, which begins with PROCESSOR. ValueError if it fails."""
    environment = {**os.environ, "PYTHONPATH": str(PACKAGE_PARENT), "NO_COLOR": "1"}
    mouth, ear = os.pipe()
    try:
        command = [sys.executable, "-c", code, str(ear), *arguments]
        done = subprocess.run(command, cwd=root, env=environment, capture_output=True, check=False, pass_fds=[ear])
    finally:
        os.close(ear)
    if done.returncode not in (0, 1):  # 1: the command did its work, and found something
        raise ValueError(f"{arguments} ended with {done.returncode}: {done.stderr!r}")
    with os.fdopen(mouth) as told:
        return float(told.read())


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
