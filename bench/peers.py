"""One durable session result beside one durable step of DBOS and of LangGraph, on the same disk in the same run."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from statistics import median

from bench.durable import FIGURES, took
from bench.figures import Aim, Figure
from bench.worlds import plan_with, temporary_folder

PYTHON = "PEERS_PYTHON"
"""The variable that names a Python which has the peers: `make bench PEERS=1` makes one in build/peers."""

AIMS = {"verdicts": "dbos", "work": "langgraph"}
"""Which of our results is to cost no more than a step of which peer."""


def measure(nodes: int) -> Iterator[Figure]:
    """Nothing, and a word of it, where there is no such Python."""
    python = os.environ.get(PYTHON)
    if not python:
        print(f"no figure beside DBOS and LangGraph: make bench PEERS=1 takes them ({PYTHON})", file=sys.stderr)
        return
    with temporary_folder() as folder:
        script = Path(__file__).with_name("peer_steps.py")
        done = subprocess.run([python, script, folder], check=True, capture_output=True, text=True)
    steps = {name: median(rounds) for name, rounds in json.loads(done.stdout.splitlines()[-1]).items()}
    ours = took(plan_with(nodes))
    for result in AIMS:
        for peer, seconds in steps.items():
            aim = Aim(ratio=1.0) if AIMS[result] == peer else Aim()
            yield Figure(FIGURES[result], ours[result], seconds, f"a step of {peer}", aim)
