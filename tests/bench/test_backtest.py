"""The backtest over a few recorded attempts whose answer is worked out by hand."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from agent_fox.engine.planning.from_settings import shipped_chances
from bench import backtest
from bench.backtest import After, Spread, after_failures, rows_of
from bench.streams import Attempt, NoStreams, Stream, read

X, Y, Z, NONE = {"x": False, "o": True}, {"y": False}, {"z": False}, {"o": True}
LINES: Sequence[dict[str, object]] = (
    {"agent": "a", "task": "t", "attempts": [{"tests": X}, {"tests": X, "cost_usd": 3.0}, {"tests": NONE}]},
    {"agent": "a", "task": "u", "attempts": [{"tests": NONE}]},
    {"agent": "b", "task": "t", "attempts": [{"tests": NONE}]},
    {"agent": "b", "task": "u", "attempts": [{"tests": Y}, {"tests": Z}, {"tests": Z}]},
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "some.jsonl").write_text("\n".join(json.dumps(line) for line in LINES) + "\n\n")
    return tmp_path


def test_the_streams_are_read_as_they_were_recorded(folder: Path) -> None:
    first = read(folder)[0]
    failed = Attempt(passed=False, failing=frozenset({"x"}))
    assert first == Stream("a", "t", (failed, Attempt(False, frozenset({"x"}), 3.0), Attempt(True, frozenset())))


def test_each_policy_solves_what_it_would_have(folder: Path) -> None:
    rows = {
        row.policy: (row.solved.mean, row.more.mean, row.sessions) for row in rows_of(read(folder), shipped_chances())
    }
    assert rows == {
        "fixed-1": (0.5, -0.25, 1.0),
        "fixed-2": (0.5, -0.25, 1.5),
        "fixed-3": (0.75, 0.0, 2.0),
        "fixed-4": (0.75, 0.0, 2.25),  # there is no fourth attempt of b at u: asked for, and failed
        "fixed-5": (0.75, 0.0, 2.5),
        "stop at the same failing set": (0.5, -0.25, 1.75),
        "other agent on second try (two agents)": (1.0, 0.0, 1.5),
        "arms, 2 attempts (two agents)": (1.0, 0.0, 1.5),
        "ladder (two agents)": (1.0, 0.0, 1.5),
        "ladder without its stop (two agents)": (1.0, 0.0, 1.5),
        "arms (two agents)": (1.0, 0.0, 1.5),
        "arms without its stop (two agents)": (1.0, 0.0, 1.5),
    }


def test_what_follows_failures(folder: Path) -> None:
    assert list(after_failures(read(folder), 2)) == [After(1, 0.0, None, None, 1.0), After(2, 0.5, 1.0, 0.0, 1.0)]


def test_an_interval_by_agents_is_wider_than_none(folder: Path) -> None:
    (row,) = (row for row in rows_of(read(folder), shipped_chances()) if row.policy == "fixed-3")
    assert row.solved == Spread(0.75, (0.5, 1.0), (0.5, 1.0))
    assert row.usd == pytest.approx((1 + 3 + 1 + 1 + 1 + 3) / 4)


def test_it_prints_both_tables(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", ["backtest", str(folder)])
    assert backtest.main() == 0
    printed = capsys.readouterr().out
    assert "4 streams of 2 agents at 2 tasks, 8 attempts" in printed
    assert "| fixed-3 | 0.750 | 0.500 to 1.000 | 0.500 to 1.000 | 0.000 |" in printed
    assert "| 2 | 0.500 | 1.000 | 0.000 | 1.000 |" in printed


def trial(name: str, is_resolved: bool, **tests: str) -> dict[str, object]:
    return {"trial_name": name, "task_id": "t", "is_resolved": is_resolved, "parser_results": tests or None}


def test_a_copy_of_the_leaderboard_is_read_by_agent_and_run(tmp_path: Path) -> None:
    for run, trials in (("run2", [trial("t.1", True, one="passed")]), ("run1", [trial("t.1", False, one="failed")])):
        folder = tmp_path / "results" / "core" / "20250101_some_model" / run
        (folder / "t" / "t.1").mkdir(parents=True)
        (folder / "results.json").write_text(json.dumps({"results": trials}))
        (folder / "t" / "t.1" / "results.json").write_text(json.dumps(trials[0]))
    failed, passed = Attempt(passed=False, failing=frozenset({"one"})), Attempt(passed=True, failing=frozenset())
    assert read(tmp_path) == [Stream("20250101_some_model", "t", (failed, passed))]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("", "no streams in it"),
        ("{", "some.jsonl:1: not an object with `agent`"),
        ('{"agent": 1}', "some.jsonl:1: not"),
    ],
)
def test_what_is_no_stream_is_named(tmp_path: Path, line: str, said: str) -> None:
    (tmp_path / "some.jsonl").write_text(line)
    with pytest.raises(NoStreams, match=said):
        read(tmp_path)


def test_a_folder_that_is_not_there_is_one_clear_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", ["backtest", str(tmp_path / "gone")])
    assert backtest.main() == 1
    assert "there is no such folder" in capsys.readouterr().err
