"""A broken world is nobody's fault: waited for on a budget of its own, then the run pauses and nothing is blocked."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from agent_fox.testing.worlds import Req, World, log, rows
from tests.stories.scene import (
    CANNOT_GO_ON,
    PROVEN,
    REFUSED,
    begin,
    causes,
    coders,
    configure,
    decisions,
    run,
    wait_for_sessions,
)

LIMITED = 'fail API Error: 429 {"type":"error","error":{"type":"rate_limit_error","message":"slow down"}}'
REJECTED = 'fail API Error: 401 {"error":{"type":"authentication_error","message":"invalid key"}}'
OFFLINE = "fail Error: getaddrinfo EAI_AGAIN models.invalid"
QUICK = "[infrastructure]\nfirst_wait = 0.05\nattempts = 3\n"
WORLD = World({"01_calc": [Req("01-REQ-1.1", 1)]}, settings=QUICK)


@pytest.mark.parametrize("words", [LIMITED, OFFLINE], ids=["rate limit", "network"])
def test_it_is_tried_again_without_charging_anybody(tmp_path: Path, words: str) -> None:
    does, says = {"01_calc:1/1": [words, words]}, {"01_calc/1/1": [words]}
    root = replace(WORLD, coder_does=does, verifier_says=says).build(tmp_path)
    run(root, ends=PROVEN)
    assert [row["attempt"] for row in log(root)] == [1, 1, 1, 1, 1]
    assert decisions(root, "01_calc:1") == ["Land"]
    assert decisions(root, "01_calc:2") == ["Accept"]
    assert rows(root, "SELECT count(*) FROM sessions") == [(2,)]


def test_where_it_stays_the_run_pauses_and_continues_later(tmp_path: Path) -> None:
    broken = replace(WORLD, coder_does={"01_calc:1/1": LIMITED})
    root = broken.build(tmp_path)
    run(root, ends=CANNOT_GO_ON)
    assert coders(root) == {"01_calc:1": 3}
    assert causes(root) == []
    assert rows(root, "SELECT status, exit_code FROM runs") == [("paused", CANNOT_GO_ON)]
    WORLD.write_story(root)
    run(root, ends=PROVEN)
    assert [row["attempt"] for row in log(root)] == [1, 1, 1, 1, 1]
    assert rows(root, "SELECT count(*) FROM runs") == [(1,)]


def test_a_rejected_key_pauses_at_once(tmp_path: Path) -> None:
    root = replace(WORLD, coder_does={"01_calc:1/1": REJECTED}).build(tmp_path)
    done = run(root, ends=CANNOT_GO_ON)
    assert coders(root) == {"01_calc:1": 1}
    assert "log in" in done.stdout + done.stderr


def test_other_specs_go_on_while_one_waits(tmp_path: Path) -> None:
    specs = {"01_a": [Req("01-REQ-1.1", 1)], "02_b": [Req("02-REQ-1.1", 1)]}
    slow = "[infrastructure]\nfirst_wait = 1.5\n"
    root = World(specs, coder_does={"01_a:1/1": [LIMITED]}, settings=slow).build(tmp_path)
    run(root, ends=PROVEN)
    launched = [row["node"] for row in log(root)]
    assert launched.index("01_a:1") < launched.index("02_b:2") < launched.index("01_a:2")
    assert launched.count("01_a:1") == 2


def test_words_about_a_rate_limit_in_work_that_failed_are_not_infrastructure(tmp_path: Path) -> None:
    words = "fail FAILED tests/test_api.py::test_rate_limit - assert 429 == 200"
    root = replace(WORLD, coder_does={"01_calc:1/1": words}).build(tmp_path)
    run(root, ends=PROVEN)
    assert decisions(root, "01_calc:1") == ["Retry", "Land"]


def test_a_program_that_is_missing_at_the_start_is_a_mistake_of_the_settings(tmp_path: Path) -> None:
    root = WORLD.build(tmp_path)
    done = run(root, ends=REFUSED, AGENT_FOX__AGENTS__VERIFIER__COMMAND='["no-such-agent"]')
    assert "no-such-agent" in done.stderr
    assert log(root) == []


def test_a_program_that_goes_missing_pauses_the_run_at_once(tmp_path: Path) -> None:
    root = replace(WORLD, seconds=1).build(tmp_path)
    judge = tmp_path / "tools" / "judge"
    judge.write_text("#!/bin/sh\nexit 0\n")
    judge.chmod(0o755)
    before = next(
        line for line in (root / ".agent-fox" / "config.toml").read_text().splitlines() if '"verifier"]' in line
    )
    configure(root, before, f'command = ["{judge}"]')
    running = begin(root)
    wait_for_sessions(root, 1)
    judge.unlink()
    assert running.wait(60) == CANNOT_GO_ON
    configure(root, f'command = ["{judge}"]', before)
    run(root, ends=PROVEN)
    assert coders(root) == {"01_calc:1": 1}
