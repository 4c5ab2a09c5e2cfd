"""Work that does not converge is stopped early, or handed to a stronger agent where there is one."""

from __future__ import annotations

import json
from pathlib import Path

from agent_fox.testing.worlds import NEVER, Req, World, agent_table, issue_files, rows
from tests.stories.scene import NOT_PROVEN, PROVEN, causes, coders, report, run

SIX = "[retry]\nattempts = 6\n"


def test_the_same_failure_twice_stops_before_the_attempts_are_spent(tmp_path: Path) -> None:
    root = World({"01_calc": [Req("01-REQ-1.1", 1, NEVER)]}, settings=SIX).build(tmp_path)
    run(root, ends=NOT_PROVEN)
    assert coders(root) == {"01_calc:1": 2}
    assert causes(root) == [("01_calc:2", "no progress")]
    assert len(issue_files(root)) == 1


def test_two_failures_that_take_turns_are_an_oscillation(tmp_path: Path) -> None:
    first = report({"01-REQ-1.1": "FAIL", "01-REQ-1.2": "PASS"})
    second = report({"01-REQ-1.1": "PASS", "01-REQ-1.2": "FAIL"})
    says = {f"01_calc/{n}/1": first if n % 2 else second for n in range(1, 7)}
    world = World(
        {"01_calc": [Req("01-REQ-1.1", 1, NEVER), Req("01-REQ-1.2", 1, NEVER)]}, verifier_says=says, settings=SIX
    )
    root = world.build(tmp_path)
    run(root, ends=NOT_PROVEN)
    assert coders(root) == {"01_calc:1": 4}
    assert causes(root) == [("01_calc:2", "no progress")]


def test_fewer_failures_each_time_are_progress_and_go_on(tmp_path: Path) -> None:
    reqs = [Req(f"01-REQ-1.{n}", 1, right_at=n) for n in range(1, 5)]
    root = World({"01_calc": reqs}, settings=SIX).build(tmp_path)
    run(root, ends=PROVEN)
    assert coders(root) == {"01_calc:1": 4}


def test_counters_in_the_evidence_are_not_progress(tmp_path: Path) -> None:
    says = {f"01_calc/{n}/1": report({"01-REQ-1.1": "FAIL"}, f"took {n}.{n} s, 0x{n}f") for n in range(1, 7)}
    root = World({"01_calc": [Req("01-REQ-1.1", 1, NEVER)]}, verifier_says=says, settings=SIX).build(tmp_path)
    run(root, ends=NOT_PROVEN)
    assert coders(root) == {"01_calc:1": 2}


def test_another_agent_has_the_second_attempt_although_nothing_was_repeated_yet(tmp_path: Path) -> None:
    """Only the model `large` gets it right, at once."""
    large = tmp_path / "tools" / "large.json"
    rung = f'[[agents.coder.rungs]]\nmodel = "large"\nenvironment = {{ STORY = {json.dumps(str(large))} }}\n'
    story = json.dumps(str(tmp_path / "tools" / "story.json"))
    small = World({"01_calc": [Req("01-REQ-1.1", 1, NEVER)]}, settings=SIX + agent_table("coder", story) + rung)
    root = small.build(tmp_path)
    large.write_text((tmp_path / "tools" / "story.json").read_text().replace(str(NEVER), "1"))
    run(root, ends=PROVEN)
    assert rows(root, "SELECT attempt, rung FROM sessions WHERE archetype = 'coder' ORDER BY id") == [(1, 0), (2, 1)]


def test_a_stronger_rung_takes_over_where_the_first_does_not_converge(tmp_path: Path) -> None:
    strong = tmp_path / "tools" / "strong.json"
    rung = f'[[agents.coder.rungs]]\nlabel = "strong"\nenvironment = {{ STORY = {json.dumps(str(strong))} }}\n'
    story = json.dumps(str(tmp_path / "tools" / "story.json"))
    weak = World({"01_calc": [Req("01-REQ-1.1", 1, NEVER)]}, settings=SIX + agent_table("coder", story) + rung)
    root = weak.build(tmp_path)
    strong.write_text((tmp_path / "tools" / "story.json").read_text().replace(str(NEVER), "1"))
    run(root, ends=PROVEN)
    used = "SELECT attempt, rung FROM sessions WHERE archetype = 'coder' ORDER BY id"
    assert rows(root, used) == [(1, 0), (2, 0), (3, 1)]
