"""Runs of real tools, with a truth that was written from log and source and not from what a parser said.

Their logs are under `independent/`, and what is true of them is in its `truth.toml`.
"""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
from pydantic import BaseModel

from tests.verifier.logs.runs import outcome, told

CASES = Path(__file__).parent / "independent"


class Truth(BaseModel):
    """`failures`: kind, place and, where the log names one, test."""

    tool: str
    exit_code: int
    status: str
    failures: list[tuple[str, ...]]
    counts: dict[str, int] = {}


TRUTHS = {
    name: Truth.model_validate(truth)
    for name, truth in tomllib.loads((CASES / "truth.toml").read_text(encoding="utf-8")).items()
}


def check(log: Path, truth: Truth) -> None:
    """Status, kinds, places, names of tests and counts are those of the truth."""
    found = outcome(log, truth.tool, truth.exit_code)
    names = {failure[2] for failure in truth.failures if len(failure) > 2}
    assert found.status == truth.status
    told_failures = [told(one, with_name=one.test_name in names) for one in found.parsed.failures]
    assert sorted(told_failures) == sorted(truth.failures)
    summary = found.parsed.summary
    assert {name: getattr(summary, name, None) for name in truth.counts} == truth.counts


@pytest.mark.parametrize("name", TRUTHS)
def test_a_real_run_is_understood(name: str) -> None:
    check(CASES / f"{name}.txt", TRUTHS[name])


@pytest.mark.parametrize("name", TRUTHS)
def test_line_ends_of_windows_change_nothing(name: str, tmp_path: Path) -> None:
    log = tmp_path / "log.txt"
    log.write_bytes((CASES / f"{name}.txt").read_bytes().replace(b"\r\n", b"\n").replace(b"\n", b"\r\n"))
    check(log, TRUTHS[name])


def test_every_log_has_its_truth() -> None:
    assert {path.stem for path in CASES.glob("*.txt")} == set(TRUTHS)
