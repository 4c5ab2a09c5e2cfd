"""A broken world is nobody's fault: waited for on a budget of its own, then the run pauses and nothing is blocked."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from agent_fox.testing.worlds import Req, World, log, rows, run_cli, wait_until
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
WAITS = (
    "SELECT s.node_id, w.kind, w.began_at, w.until, w.ended_at FROM waits AS w JOIN sessions AS s ON s.id = session_id"
)
WORLD = World({"01_calc": [Req("01-REQ-1.1", 1)]}, settings=QUICK)


def kind_of(words: str) -> str:
    return "rate limit" if words == LIMITED else "network"


@pytest.mark.parametrize("words", [LIMITED, OFFLINE], ids=["rate limit", "network"])
def test_it_is_tried_again_without_charging_anybody(tmp_path: Path, words: str) -> None:
    does, says = {"01_calc:1/1": [words, words]}, {"01_calc/1/1": [words]}
    root = replace(WORLD, coder_does=does, verifier_says=says).build(tmp_path)
    run(root, ends=PROVEN)
    assert [row["attempt"] for row in log(root)] == [1, 1, 1, 1, 1]
    assert decisions(root, "01_calc:1") == ["Land"]
    assert decisions(root, "01_calc:2") == ["Accept"]
    assert rows(root, "SELECT count(*) FROM sessions") == [(2,)]
    waits = [tuple(map(str, row)) for row in rows(root, f"{WAITS} ORDER BY w.id")]
    assert [(node, kind) for node, kind, *_ in waits] == [("01_calc:1", kind_of(words))] * 2 + [
        ("01_calc:2", kind_of(words))
    ]
    assert all(began < until and began < ended <= until for _, _, began, until, ended in waits)


def test_where_it_stays_the_run_pauses_and_continues_later(tmp_path: Path) -> None:
    broken = replace(WORLD, coder_does={"01_calc:1/1": LIMITED})
    root = broken.build(tmp_path)
    run(root, ends=CANNOT_GO_ON)
    assert coders(root) == {"01_calc:1": 3}
    assert causes(root) == []
    assert rows(root, "SELECT status, exit_code FROM runs") == [("paused", CANNOT_GO_ON)]
    paused = "SELECT kind, reason, ended_at FROM waits WHERE session_id IS NULL"
    ((kind, reason, ended),) = rows(root, paused)
    assert (kind, ended) == ("paused", None)
    assert "429" in str(reason)
    WORLD.write_story(root)
    run(root, ends=PROVEN)
    assert [ended is not None for _, _, ended in rows(root, paused)] == [True]
    assert [row["attempt"] for row in log(root)] == [1, 1, 1, 1, 1]
    assert rows(root, "SELECT count(*) FROM runs") == [(1,)]


def test_a_rejected_key_pauses_at_once(tmp_path: Path) -> None:
    root = replace(WORLD, coder_does={"01_calc:1/1": REJECTED}).build(tmp_path)
    done = run(root, ends=CANNOT_GO_ON)
    assert coders(root) == {"01_calc:1": 1}
    assert "log in" in done.stdout + done.stderr
    assert "01_calc:1  lost, tried again later: exit 1: API Error: 401" in done.stdout


def test_while_a_run_waits_status_says_for_what_and_until_when(tmp_path: Path) -> None:
    slow = "[infrastructure]\nfirst_wait = 60\n"
    root = replace(WORLD, coder_does={"01_calc:1/1": LIMITED}, settings=slow).build(tmp_path)
    running = begin(root)
    try:
        wait_for_sessions(root, 1)
        wait_until(lambda: rows(root, "SELECT 1 FROM waits") != [], "it waits")
        shown = run_cli(root, "status").stdout
        document = json.loads(run_cli(root, "status", "--json").stdout)
    finally:
        running.terminate()
        running.wait(60)
    assert re.search(r"… 00:\d\d  01_calc:1  waits until \d\d:\d\d:\d\d, then tries again: rate limit\n", shown)
    ((node, kind),) = [(wait["node"], wait["kind"]) for wait in document["waits"]]
    assert (node, kind) == ("01_calc:1", "rate limit")
    assert json.loads(run_cli(root, "status", "--json").stdout)["waits"] == []


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
