"""Ceilings of money, sessions and time: a run pauses before it passes one, and goes on where it was."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent_fox.testing.worlds import NEVER, Req, World, log, rows
from tests.stories.scene import (
    CEILING,
    NOT_PROVEN,
    PROVEN,
    causes,
    coders,
    configure,
    run,
)

REQS = [Req("01-REQ-1.1", 1), Req("01-REQ-2.1", 2, right_at=2), Req("01-REQ-3.1", 3)]
WHOLE = {"01_calc:1": 1, "01_calc:2": 2, "01_calc:3": 1}
RUNS = "SELECT id, status, exit_code FROM runs ORDER BY id"


@pytest.mark.parametrize(
    ("ceiling", "higher", "launched"),
    [("cost_usd = 2.0", "cost_usd = 50.0", 2), ("sessions = 3", "sessions = 50", 3)],
    ids=["money", "sessions"],
)
def test_a_run_stops_before_its_ceiling_and_continues_with_a_higher_one(
    tmp_path: Path, ceiling: str, higher: str, launched: int
) -> None:
    root = World({"01_calc": REQS}, cost=1.0, settings=f"[limits]\n{ceiling}\n").build(tmp_path)
    run(root, ends=CEILING)
    assert len(log(root)) == launched
    assert causes(root) == []
    assert rows(root, RUNS) == [(1, "paused", CEILING)]
    configure(root, ceiling, higher)
    run(root, ends=PROVEN)
    assert coders(root) == WHOLE
    assert rows(root, RUNS) == [(1, "ended", PROVEN)]


def test_a_paused_run_keeps_its_spending_and_a_new_run_starts_a_new_account(tmp_path: Path) -> None:
    root = World({"01_calc": REQS}, cost=1.0, settings="[limits]\nsessions = 2\n").build(tmp_path)
    run(root, ends=CEILING)
    run(root, ends=CEILING)
    assert len(log(root)) == 2
    run(root, "--new-run", ends=CEILING)
    assert len(log(root)) == 4
    assert [row[0] for row in rows(root, RUNS)] == [1, 2]


def test_a_cost_that_nobody_told_counts_as_assumed(tmp_path: Path) -> None:
    root = World({"01_calc": REQS}, cost=None, settings="[limits]\ncost_usd = 1.0\n").build(tmp_path)
    run(root, ends=CEILING)
    assert len(log(root)) == 2


def test_what_runs_already_counts_before_it_has_reported(tmp_path: Path) -> None:
    specs = {f"0{n}_a": [Req(f"0{n}-REQ-1.1", 1)] for n in (1, 2, 3)}
    root = World(specs, cost=0.5, seconds=0.5, settings="[limits]\ncost_usd = 1.0\n").build(tmp_path)
    run(root, "--parallel", "3", ends=CEILING)
    assert len(log(root)) == 2


def test_wall_time_lets_what_runs_end_and_launches_nothing_more(tmp_path: Path) -> None:
    root = World({"01_calc": REQS}, seconds=1, settings="[limits]\nwall_minutes = 0.01\n").build(tmp_path)
    run(root, ends=CEILING)
    assert coders(root) == {"01_calc:1": 1}
    assert rows(root, "SELECT status FROM sessions") == [("completed",)]


@pytest.mark.parametrize(
    ("limits", "spent"),
    [
        ("[limits.spec]\nsessions = 2\n", {"01_calc:1": 1}),
        ("[limits.spec]\ncost_usd = 2.0\n", {"01_calc:1": 2}),
        ("[limits.node]\nsessions = 2\n", {"01_calc:1": 2}),
        ("[limits.node]\ncost_usd = 1.0\n", {"01_calc:1": 1}),
    ],
    ids=["sessions of a spec", "dollars of a spec", "sessions of a node", "dollars of a node"],
)
def test_a_ceiling_of_a_spec_or_a_node_blocks_it_and_the_others_go_on(
    tmp_path: Path, limits: str, spent: dict[str, int]
) -> None:
    patient = "[retry]\nattempts = 9\nstop_without_progress = false\n"
    specs = {"01_calc": [Req("01-REQ-1.1", 1, NEVER)], "02_side": [Req("02-REQ-1.1", 1)]}
    root = World(specs, cost=1.0, settings=patient + limits).build(tmp_path)
    run(root, ends=NOT_PROVEN)
    assert coders(root) == {**spent, "02_side:1": 1}
    assert causes(root) == [("01_calc:2", "ceiling")]
