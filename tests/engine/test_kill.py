"""kill -9 of the run, anywhere: it is resumed, ends as if nothing had happened, and pays for nothing twice."""

from __future__ import annotations

import os
import random
import signal
import sqlite3
import subprocess
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from agent_fox.testing.worlds import NEVER, Req, World, git, issue_files, landed, log, rows, wait_until
from tests.git_in_front import git_in_front
from tests.stories.scene import (
    CANNOT_GO_ON,
    NOT_PROVEN,
    PROVEN,
    begin,
    causes,
    coders,
    run,
    wait_for_sessions,
)

ROUNDS = int(os.environ.get("FAULT_ROUNDS", "4"))
KILLS_A_WORLD = 8
SMALL = World({"01_calc": [Req("01-REQ-1.1", 1, right_at=2)]})
HOPELESS = World({"01_calc": [Req("01-REQ-1.1", 1, NEVER)]}, settings="[retry]\nattempts = 1\n")
WIDE = World(
    {
        "01_a": [Req("01-REQ-1.1", 1), Req("01-REQ-2.1", 2, right_at=2)],
        "02_b": [Req("02-REQ-1.1", 1, NEVER)],
        "03_c": [Req("03-REQ-1.1", 1)],
    },
    depends={"03_c": "01_a"},
    seconds=0.15,
    settings="[retry]\nattempts = 2\nstop_without_progress = false\n",
)


def end_state(root: Path) -> dict[str, object]:
    """Everything that a crash must not change; how often a verifier was read again at the end is left open."""
    ended = "SELECT node_id, attempt FROM sessions WHERE status = 'completed'"
    current = "SELECT spec_name, requirement_id, verdict FROM verification_results WHERE superseded_by IS NULL"
    return {
        "nodes": sorted(rows(root, "SELECT id, status, outcome, attempt FROM plan_nodes")),
        "verdicts": sorted(rows(root, current)),
        "completed": sorted(set(rows(root, ended))),
        "history": sorted(causes(root)),
        "effects": rows(root, "SELECT kind, state FROM outbox ORDER BY position"),
        "issues": [path.name for path in issue_files(root)],
        "work": git(root, "rev-parse", "agent-fox/integration:proof"),
    }


def is_clean(root: Path) -> bool:
    """Whether nothing of any launch is left: no reference, no folder."""
    references = git(root, "for-each-ref", "--format=%(refname)", "refs/agent-fox")
    return references == "" and list((root.parent / "state").glob("*/launches/*")) == []


def processes_of(root: Path) -> list[str]:
    """The processes whose environment names this world."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            names = (folder / "environ").read_bytes()
        except OSError:
            continue
        if f"STORY={root.parent}".encode() in names:
            found.append(folder.name)
    return found


def paid(root: Path) -> dict[tuple[object, ...], int]:
    """How often each completed ticket's process was started."""
    started: Counter[tuple[object, ...]] = Counter(
        (row["node"], row["attempt"], row.get("reading", 1)) for row in log(root)
    )
    try:
        done = rows(root, "SELECT node_id, attempt, reading FROM sessions WHERE status = 'completed'")
    except sqlite3.OperationalError:  # killed before the tables were made
        return {}
    return {ticket: started[ticket] for ticket in done}


def kill_at_random(root: Path, delay: float) -> bool:
    """Start the run and kill it after this many seconds. False if it ended by itself before."""
    running = begin(root, "--parallel", "2")
    try:
        running.wait(delay)
    except subprocess.TimeoutExpired:
        running.kill()
        running.wait()
        return True
    return False


@pytest.mark.slow
def test_killed_at_any_moment_it_ends_in_the_same_state(tmp_path: Path) -> None:
    calm = WIDE.build(tmp_path / "calm")
    begun = time.monotonic()
    run(calm, "--parallel", "2", ends=NOT_PROVEN)
    longest = (time.monotonic() - begun) / 2
    killed, world = 0, 0
    while killed < ROUNDS:
        world += 1
        killed += torment(WIDE.build(tmp_path / str(world)), random.Random(world), longest, ROUNDS - killed, calm)


def torment(root: Path, chance: random.Random, longest: float, most: int, calm: Path) -> int:
    """Kill one world again and again, then let it end. Gives how often it was killed."""
    killed, seen = 0, dict[tuple[object, ...], int]()
    for _ in range(min(KILLS_A_WORLD, most)):
        if not kill_at_random(root, chance.uniform(0.2, longest)):
            break
        killed += 1
        wait_until(lambda: not processes_of(root), "the sessions had ended with the run")
        if (root / ".agent-fox" / "state.db").exists():
            seen |= paid(root)
    run(root, "--parallel", "2", ends=NOT_PROVEN)
    assert end_state(root) == end_state(calm)
    assert {ticket: paid(root)[ticket] for ticket in seen} == seen
    assert is_clean(root)
    return killed


def deadly_git(folder: Path, pattern: str, turn: int, *, is_done_first: bool) -> str:
    """A PATH on which git, called for the `turn`-th time with such arguments, kills who calls it, before or after."""
    return git_in_front(folder, pattern, turn, "kill -9 $CALLER; exit 1", is_done_first=is_done_first)


MOMENTS = {
    "before the first workspace is made": ("*reset*--hard*", 1, False),
    "in the middle of a workspace": ("*reset*--hard*", 1, True),
    "before a coder's work is taken": ("*write-tree*", 1, False),
    "while a coder's work is taken": ("*commit-tree*", 1, True),
    "before the landing is built": ("*for-each-ref*HEAD*", 3, True),
    "between commit and landing": ("*update-ref*refs/heads/agent-fox/integration*", 2, False),
    "between landing and its note": ("*update-ref*refs/heads/agent-fox/integration*", 2, True),
    "before the clean-up": ("*update-ref*-d*refs/agent-fox/launches*", 1, False),
    "during the clean-up": ("*update-ref*-d*refs/agent-fox/launches*", 1, True),
    "between the landing of a retry and its note": ("*update-ref*refs/heads/agent-fox/integration*", 3, True),
}


@pytest.fixture(scope="module")
def calm(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = SMALL.build(tmp_path_factory.mktemp("calm"))
    run(root, ends=PROVEN)
    return root


@pytest.mark.parametrize(("pattern", "turn", "is_done_first"), MOMENTS.values(), ids=MOMENTS)
def test_killed_at_this_moment_nothing_is_lost_or_done_twice(
    tmp_path: Path, calm: Path, pattern: str, turn: int, is_done_first: bool
) -> None:
    root = SMALL.build(tmp_path / "world")
    path = deadly_git(tmp_path / "bin", pattern, turn, is_done_first=is_done_first)
    assert begin(root, PATH=path).wait(60) == -signal.SIGKILL
    run(root, ends=PROVEN, PATH=path)
    assert end_state(root) == end_state(calm)
    assert [row["node"] for row in log(root)] == [row["node"] for row in log(calm)]
    assert is_clean(root)


DEADLY_TRACKER = """
import os, signal
from pathlib import Path

from agent_fox.plugins import hookimpl
from agent_fox.trackers.local import LocalTracker


class Deadly(LocalTracker):
    def deliver(self, effect):
        marker = Path({marker!r})
        is_first = not marker.exists()
        marker.touch()
        if is_first and {is_before!r}:
            os.kill(os.getpid(), signal.SIGKILL)
        done = super().deliver(effect)
        if is_first:
            os.kill(os.getpid(), signal.SIGKILL)
        return done


@hookimpl
def agent_fox_trackers():
    return {{"deadly": lambda root: Deadly(root / ".agent-fox" / "issues")}}
"""


def install_plugin(folder: Path, code: str) -> None:
    """What an installed package looks like to the import system: a module and its entry point."""
    information = folder / "deadly-1.0.dist-info"
    information.mkdir(parents=True)
    (folder / "deadly.py").write_text(code)
    (information / "METADATA").write_text("Metadata-Version: 2.1\nName: deadly\nVersion: 1.0\n")
    (information / "entry_points.txt").write_text("[agent_fox]\ndeadly = deadly\n")


@pytest.mark.parametrize("is_before", [True, False], ids=["before delivery", "after delivery, before its note"])
def test_killed_between_the_decision_and_its_effect_there_is_still_one_issue(tmp_path: Path, is_before: bool) -> None:
    marker = str(tmp_path / "killed")
    install_plugin(tmp_path / "plugin", DEADLY_TRACKER.format(marker=marker, is_before=is_before))
    root = replace(HOPELESS, settings=HOPELESS.settings + '[tracker]\nkind = "deadly"\n').build(tmp_path / "world")
    path = f"{tmp_path / 'plugin'}:{Path(__file__).resolve().parents[2]}"
    assert begin(root, PYTHONPATH=path).wait(60) == -signal.SIGKILL
    run(root, ends=NOT_PROVEN, PYTHONPATH=path)
    assert len(issue_files(root)) == 1
    assert rows(root, "SELECT kind, state FROM outbox") == [("file", "done")]
    assert coders(root) == {"01_calc:1": 1}


def test_sessions_end_with_the_run_that_was_killed(tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    root = replace(SMALL, coder_does={"01_calc:1/1": f"wait {gate}"}).build(tmp_path / "world")
    running = begin(root)
    wait_for_sessions(root, 1)
    running.kill()
    running.wait()
    wait_until(lambda: not processes_of(root), "the coder had ended")
    gate.touch()
    run(root, ends=PROVEN)
    assert [row["attempt"] for row in log(root) if row["role"] == "coder"] == [1, 1, 2]
    assert rows(root, "SELECT status FROM launches ORDER BY started_at LIMIT 1") == [("lost",)]


def test_a_coder_that_ended_while_nobody_could_look_is_harvested(tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    root = World({"01_calc": [Req("01-REQ-1.1", 1)]}, coder_does={"01_calc:1/1": f"wait {gate}"}).build(tmp_path / "w")
    running = begin(root)
    wait_for_sessions(root, 1)
    running.send_signal(signal.SIGSTOP)
    gate.touch()
    wait_until(lambda: list(tmp_path.glob("w/state/**/exit.json")) != [], "the coder's end was written down")
    running.kill()
    running.wait()
    run(root, ends=PROVEN)
    assert coders(root) == {"01_calc:1": 1}
    assert landed(root, "proof/01-REQ-1.1.txt") == "right"


def test_a_lost_launch_spends_neither_attempt_nor_reading_nor_money(tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    world = replace(SMALL, settings="[retry]\nreadings = 1\n", verifier_says={"01_calc/1/1": f"wait {gate}"})
    root = world.build(tmp_path / "world")
    for count in (2, 3):
        running = begin(root)
        wait_for_sessions(root, count)
        running.kill()
        running.wait()
    gate.touch()
    run(root, ends=PROVEN)
    assert rows(root, "SELECT count(*) FROM sessions") == [(4,)]
    assert rows(root, "SELECT sum(coalesce(cost_usd, 0)) FROM launches WHERE status = 'lost'") == [(0.0,)]


def test_a_second_run_on_the_same_state_is_refused_and_disturbs_nothing(tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    root = World({"01_calc": [Req("01-REQ-1.1", 1)]}, coder_does={"01_calc:1/1": f"wait {gate}"}).build(tmp_path / "w")
    running = begin(root)
    wait_for_sessions(root, 1)
    refused = run(root, ends=CANNOT_GO_ON)
    assert str(running.pid) in refused.stderr
    gate.touch()
    assert running.wait(60) == PROVEN
    assert coders(root) == {"01_calc:1": 1}
