"""Recorded attempts of agents at tasks, for `make backtest`: our own format, and the public Terminal-Bench leaderboard.

Our own: files `*.jsonl` in a folder, one object a line, all attempts of an agent at a task in their order:

    {"agent": "a", "task": "t", "attempts": [{"tests": {"one": true, "two": false}, "cost_usd": 0.4}, ...]}

An attempt passes where it has tests and all pass; `"passed"` says otherwise. `"cost_usd"` may be left out: not known.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class Attempt:
    """`failing`: the names of the tests that failed. `cost_usd`: None where it is not known."""

    passed: bool
    failing: frozenset[str]
    cost_usd: float | None = None


@dataclass(frozen=True, slots=True)
class Stream:
    """All attempts of one agent at one task, in their order."""

    agent: str
    task: str
    attempts: tuple[Attempt, ...]


class NoStreams(ValueError):
    """What was given holds no streams; its text says what is wrong with it, and where."""


def read(folder: Path) -> list[Stream]:
    """What is recorded in a folder: a copy of the leaderboard's repository, or files of our own format.

    Raises NoStreams.
    """
    if not folder.is_dir():
        raise NoStreams(f"{folder}: there is no such folder; DATA names one with *.jsonl, or a copy of the leaderboard")
    is_leaderboard = (folder / "results").is_dir()
    streams = list(leaderboard(folder / "results") if is_leaderboard else own(folder))
    if not streams:
        raise NoStreams(f"{folder}: no streams in it; it wants files *.jsonl as bench/streams.py says")
    return streams


def own(folder: Path) -> Iterator[Stream]:
    for path in sorted(folder.glob("*.jsonl")):
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            if line.strip():
                yield stream_of(line, f"{path}:{number}")


def stream_of(line: str, where: str) -> Stream:
    try:
        whole = json.loads(line)
        attempts = tuple(attempt_of(each) for each in whole["attempts"])
        return Stream(str(whole["agent"]), str(whole["task"]), attempts)
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        wanted = "an object with `agent`, `task` and `attempts`, each of these with `tests`"
        raise NoStreams(f"{where}: not {wanted} ({type(error).__name__}: {error})") from error


def attempt_of(told: Mapping[str, Any]) -> Attempt:
    tests = {str(name): bool(has_passed) for name, has_passed in told["tests"].items()}
    failing = frozenset(name for name, has_passed in tests.items() if not has_passed)
    cost = told.get("cost_usd")
    return Attempt(bool(told.get("passed", tests and not failing)), failing, None if cost is None else float(cost))


def leaderboard(results: Path) -> Iterator[Stream]:
    """The sums of runs: `results/DATASET/AGENT/**/*results.json` with a list `results`, one object a trial."""
    trials: dict[tuple[str, str], dict[tuple[str, str], Attempt]] = defaultdict(dict)
    for path in sorted(results.rglob("*results.json")):
        agent = path.relative_to(results).parts[1]
        for trial in trials_in(path):
            at = (path.parent.name + path.name, str(trial["trial_name"]))
            trials[agent, str(trial["task_id"])][at] = trial_of(trial)
    for (agent, task), attempts in sorted(trials.items()):
        yield Stream(agent, task, tuple(attempt for _, attempt in sorted(attempts.items())))


def trials_in(path: Path) -> Iterable[Mapping[str, Any]]:
    whole = json.loads(path.read_text(encoding="utf-8"))
    found = whole.get("results")
    return found if isinstance(found, list) else ()


def trial_of(trial: Mapping[str, Any]) -> Attempt:
    tests = trial.get("parser_results") or {}
    failing = frozenset(str(name) for name, word in tests.items() if word != "passed")
    return Attempt(trial["is_resolved"] is True, failing)
