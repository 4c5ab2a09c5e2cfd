"""What a node of a run takes of the processor, git and our own processes included, beside its agent."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from agent_fox.testing.worlds import Req, World
from bench.figures import Aim, Figure
from bench.worlds import temporary_folder

NODE = Aim(limit=0.2)
FEW = 2
RUN = """
import atexit, os, resource, sys
used = lambda who: sum(resource.getrusage(who)[:2])
taken = lambda: used(resource.RUSAGE_SELF) + used(resource.RUSAGE_CHILDREN)
atexit.register(lambda: os.write(2, f"\\nprocessor {taken()!r}\\n".encode()))
sys.argv = ["agent-fox", "run", "--parallel", "2"]
from agent_fox.cli.door import main
main()
"""
AGENT = "import json, os, pathlib, subprocess"
"""What the program of a scripted agent loads, which is most of what it does."""


def measure(specs: int) -> Iterator[Figure]:
    """A run of so many specs, of a coder and a verifier each, less one of two: what each node more takes."""
    many, few = taken_by(specs), taken_by(FEW)
    agent = of_processor((sys.executable, "-I", "-S", "-c", AGENT))
    node = (many - few) / (2 * (specs - FEW)) - agent
    yield Figure(f"processor of a node, {specs} specs, its agent left out", node, agent, "the agent's start", NODE)


def taken_by(specs: int) -> float:
    """Seconds of processor of a whole run, all processes that it started included."""
    with temporary_folder() as root:
        names = [f"{number:02d}_part" for number in range(1, specs + 1)]
        repo = World({name: [Req(f"{name[:2]}-REQ-1.1")] for name in names}).build(root)
        environ = {**os.environ, "XDG_STATE_HOME": str(root / "state"), "PYTHONPATH": str(Path(__file__).parents[1])}
        command = (sys.executable, "-c", RUN)
        done = subprocess.run(command, cwd=repo, env=environ, capture_output=True, text=True, check=True)
    return float(done.stderr.rsplit("processor ", 1)[1])


def of_processor(command: tuple[str, ...]) -> float:
    """The mean of several starts."""
    rounds = 5
    before = os.times()
    for _ in range(rounds):
        subprocess.run(command, check=True)
    after = os.times()
    return (after.children_user + after.children_system - before.children_user - before.children_system) / rounds
