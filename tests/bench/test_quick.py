"""The benchmarks run to their end and print their table. What they measure is not tested: machines differ."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from bench.figures import Aim, Figure, table, typical

ROOT = Path(__file__).resolve().parents[2]


def bench(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "bench", *arguments]
    environment = {**os.environ, "TMPDIR": str(folder), "PYTHONPATH": str(ROOT)}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


def test_every_figure_is_taken_beside_its_floor_and_nothing_is_left_behind(tmp_path: Path) -> None:
    done = bench(tmp_path, "--quick")
    assert done.returncode == 0, done.stderr
    for told in ("verifier's result", "completion, plan of", "state file after", "saving a plan", "memory at"):
        assert told in done.stdout
    for told in ("planning 8 specs", "agent-fox --help", "agent-fox status", "verifier's checkout", "JUnit XML"):
        assert told in done.stdout
    for told in ("run_unit_tests, a small suite", "preparing a command", "verifier's server", "result shown of"):
        assert told in done.stdout
    for told in (
        "session of one message",
        "memory of the runner",
        "by the proxy",
        "events of codex",
        "prompt of a brief",
        "ledger verify --export",
    ):
        assert told in done.stdout
    assert list(tmp_path.iterdir()) == []


def test_one_benchmark_can_be_run_alone(tmp_path: Path) -> None:
    done = bench(tmp_path, "--quick", "--only", "planning")
    assert done.returncode == 0, done.stderr
    assert "planning 8 specs" in done.stdout
    assert "checkout" not in done.stdout
    assert "over" in done.stdout[done.stdout.index("figures in") :]


def test_a_benchmark_that_is_not_there_is_an_error_that_names_those_that_are(tmp_path: Path) -> None:
    done = bench(tmp_path, "--only", "weather")
    assert done.returncode == 2
    assert "checkout" in done.stderr


def test_a_figure_is_shown_with_its_floor_its_ratio_and_its_aim() -> None:
    text = table(
        [
            Figure("quick", 0.0015, 0.001, "bare", Aim(ratio=2)),
            Figure("slow", 3, 2, "bare", Aim(limit=2.5)),
            Figure("large", 12, 6, "empty", unit="MB"),
        ]
    )
    assert text.splitlines()[2:] == [
        "quick   1.50 ms   1.00 ms bare  1.50x  <= 2x      ok",
        "slow    3.00 s    2.00 s bare   1.50x  <= 2.50 s  OVER",
        "large   12 MB     6 MB empty    2.00x  -          -",
    ]


def test_a_hiccup_of_the_disk_does_not_move_what_is_typical() -> None:
    assert typical([1.0] * 250 + [1000.0] * 50) == 1.0
    assert typical([2.0, 4.0]) == 3.0
