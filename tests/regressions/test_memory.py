"""Defects seen elsewhere in what survives a restart: counters in memory, reused session ids, lost rework."""

from __future__ import annotations

from pathlib import Path

from agent_fox.testing.worlds import NEVER, Req, World, log, rows, run_cli
from tests.stories.scene import (
    CEILING,
    NOT_PROVEN,
    PROVEN,
    begin,
    briefed,
    causes,
    coders,
    configure,
    run,
    verdicts,
    wait_for_sessions,
)

LATE = [Req("01-REQ-1.1", 1, right_at=2)]


def test_a_ticket_is_never_given_twice_and_old_rows_never_count_again(tmp_path: Path) -> None:
    """Elsewhere session ids repeated from run to run, and a query by id returned the verdicts of the run before."""
    root = World({"01_calc": LATE}, settings="[retry]\nattempts = 1\n").build(tmp_path)
    run(root, ends=NOT_PROVEN)
    assert run_cli(root, "reset", "01_calc:1").returncode == 0
    run(root, ends=PROVEN)
    tickets = rows(root, "SELECT node_uid, attempt, reading FROM sessions")
    assert len(set(tickets)) == len(tickets) == 4
    assert rows(root, "SELECT DISTINCT run_id FROM sessions ORDER BY 1") == [(1,), (2,)]
    assert verdicts(root) == {"01-REQ-1.1": "PASS"}


def test_the_rework_survives_a_crash_right_after_it_was_ordered(tmp_path: Path) -> None:
    """Elsewhere the coder's reset was kept in memory until the run ended, and a crash lost it: all was completed."""
    gate = tmp_path / "gate"
    root = World({"01_calc": LATE}, coder_does={"01_calc:1/2": f"wait {gate}"}).build(tmp_path / "world")
    running = begin(root)
    wait_for_sessions(root, 3)
    running.kill()
    running.wait()
    gate.touch()
    run(root, ends=PROVEN)
    assert [(row["node"], row["attempt"]) for row in log(root)][-3:] == [
        ("01_calc:1", 2),
        ("01_calc:1", 2),
        ("01_calc:2", 2),
    ]


def test_a_restart_refills_no_budget_and_lifts_no_block(tmp_path: Path) -> None:
    """Elsewhere attempts were counted in memory: with three allowed nine were made, and each start un-blocked all."""
    settings = "[retry]\nattempts = 2\nstop_without_progress = false\n"
    root = World({"01_calc": [Req("01-REQ-1.1", 1, NEVER)]}, settings=settings).build(tmp_path)
    for _ in range(3):
        run(root, ends=NOT_PROVEN)
    assert coders(root) == {"01_calc:1": 2}
    assert causes(root) == [("01_calc:2", "attempts spent")]


def test_a_retry_is_told_what_failed_and_never_gets_the_same_brief_again(tmp_path: Path) -> None:
    """Elsewhere retries replayed the same prompt: four byte-identical prompts, four identical failures."""
    reqs = [Req("01-REQ-1.1", 1, right_at=2), Req("01-REQ-1.2", 1, right_at=3)]
    root = World({"01_calc": reqs}).build(tmp_path)
    run(root, ends=PROVEN)
    told = [briefed(root, "01_calc:1", attempt) for attempt in (1, 2, 3)]
    assert told == [
        {},
        {part: f"proof/{part}.txt: wrong at attempt 1" for part in ("01-REQ-1.1", "01-REQ-1.2")},
        {"01-REQ-1.2": "proof/01-REQ-1.2.txt: wrong at attempt 2"},
    ]


def test_a_stopped_run_is_continued_and_its_cost_is_not_the_next_runs(tmp_path: Path) -> None:
    """Elsewhere a run that hit its ceiling could not go on, and what it had cost counted against the next one."""
    root = World({"01_calc": LATE}, cost=1.0, settings="[limits]\ncost_usd = 1.5\n").build(tmp_path)
    stopped = run(root, ends=CEILING)
    assert "ceiling" in stopped.stdout
    configure(root, "cost_usd = 1.5", "cost_usd = 9.0")
    run(root, ends=PROVEN)
    assert rows(root, "SELECT DISTINCT run_id FROM sessions") == [(1,)]
    configure(root, "cost_usd = 9.0", "cost_usd = 1.5")
    assert run_cli(root, "reset", "01_calc:1").returncode == 0
    run(root, ends=PROVEN)
    assert rows(root, "SELECT run_id, count(*) FROM sessions GROUP BY 1") == [(1, 4), (2, 2)]
