"""`[notify] command` is told how a run ended, and cannot spoil it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agent_fox.testing.worlds import Req, World
from tests.stories.scene import CEILING, PROVEN, run

REQS = [Req("01-REQ-1.1", 1)]


def notify(*argv: str) -> str:
    return f"[notify]\ncommand = {json.dumps(argv)}\n"


@pytest.mark.parametrize(("limits", "ends"), [("", PROVEN), ("[limits]\nsessions = 1\n", CEILING)])
def test_the_summary_is_on_its_input_at_the_end_and_at_a_pause(tmp_path: Path, limits: str, ends: int) -> None:
    told = tmp_path / "told.json"
    root = World({"01_calc": REQS}, settings=notify("sh", "-c", f"cat > '{told}'") + limits).build(tmp_path)
    run(root, ends=ends)
    assert json.loads(told.read_text())["exit_code"] == ends


@pytest.mark.parametrize("argv", [("false",), ("no-such-notifier",)])
def test_a_command_that_fails_is_a_warning(tmp_path: Path, argv: tuple[str, ...]) -> None:
    root = World({"01_calc": REQS}, settings=notify(*argv)).build(tmp_path)
    done = run(root, ends=PROVEN)
    assert "notify" in done.stderr
