"""Ctrl-C once: what runs ends, nothing more is launched. Twice: what runs is ended. Either way nothing is lost."""

from __future__ import annotations

import signal
from pathlib import Path

from agent_fox.testing.worlds import Req, World, log, rows
from tests.stories.scene import INTERRUPTED, PROVEN, begin, coders, press_once, run, wait_for_sessions

REQS = [Req("01-REQ-1.1", 1), Req("01-REQ-2.1", 2)]


def test_the_first_lets_what_runs_end_and_it_counts(tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    root = World({"01_calc": REQS}, coder_does={"01_calc:1/1": f"wait {gate}"}).build(tmp_path)
    running = begin(root)
    wait_for_sessions(root, 1)
    press_once(root, running)
    gate.touch()
    assert running.wait(30) == INTERRUPTED
    assert rows(root, "SELECT node_id, status FROM sessions") == [("01_calc:1", "completed")]
    run(root, ends=PROVEN)
    assert coders(root) == {"01_calc:1": 1, "01_calc:2": 1}
    assert rows(root, "SELECT count(*) FROM runs") == [(1,)]


def test_the_second_ends_what_runs_and_it_is_repeated_free(tmp_path: Path) -> None:
    root = World({"01_calc": REQS}, coder_does={"01_calc:1/1": ["hang"]}).build(tmp_path)
    running = begin(root)
    wait_for_sessions(root, 1)
    press_once(root, running)
    assert running.poll() is None
    running.send_signal(signal.SIGINT)
    assert running.wait(20) == INTERRUPTED
    assert rows(root, "SELECT status FROM launches") == [("interrupted",)]
    run(root, ends=PROVEN)
    assert [(row["node"], row["attempt"]) for row in log(root)][:2] == [("01_calc:1", 1), ("01_calc:1", 1)]
    assert rows(root, "SELECT count(*) FROM sessions WHERE node_id = '01_calc:1'") == [(1,)]


def test_a_termination_ends_what_runs_at_once(tmp_path: Path) -> None:
    root = World({"01_calc": REQS}, coder_does={"01_calc:1/1": ["hang"]}).build(tmp_path)
    running = begin(root)
    wait_for_sessions(root, 1)
    running.terminate()
    assert running.wait(20) == INTERRUPTED
    run(root, ends=PROVEN)
