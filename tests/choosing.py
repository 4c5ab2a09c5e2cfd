"""Which tests run: a part of the long ones that a seed chooses, and what failed once more, named where it is flaky."""

from __future__ import annotations

import zlib
from pathlib import Path

import pytest

LONG = Path(__file__).with_name("long.txt")
PARTS = 8
"""So many landings with different seeds run all of the long tests."""


def long_names() -> set[str]:
    lines = LONG.read_text(encoding="utf-8").splitlines()
    return {line for line in lines if line and not line.startswith("#")}


def mark_long(items: list[pytest.Item], *, is_whole: bool) -> None:
    """Mark as slow what the list names. Raises UsageError for a name that is not there, where all tests are."""
    names, met = long_names(), set[str]()
    for item in items:
        found = names & {item.nodeid, item.nodeid.partition("[")[0]}
        met |= found
        if found:
            item.add_marker("slow")
    if is_whole and names - met:
        raise pytest.UsageError(f"{LONG.name} names tests that are not there: {', '.join(sorted(names - met))}")


def keep_part(items: list[pytest.Item], config: pytest.Config, seed: int) -> None:
    """Leave only what no landing runs anyway and the seed chooses, whole files at a time. The rest is counted."""
    chosen = [item for item in items if is_long(item) and part_of(item) == seed % PARTS]
    config.hook.pytest_deselected(items=[item for item in items if item not in chosen])
    items[:] = chosen


def is_long(item: pytest.Item) -> bool:
    """Whether `make test` and the stories of each landing leave it out."""
    is_left_out = item.get_closest_marker("slow") or item.get_closest_marker("agents")
    return is_left_out is not None and item.get_closest_marker("landing") is None


def part_of(item: pytest.Item) -> int:
    return zlib.crc32(item.nodeid.partition("::")[0].encode()) % PARTS


class Flaky:
    """A pytest plugin for `--flaky FILE`: tests that pass in a second try are noted there, and named at the end."""

    def __init__(self, file: Path, *, is_second_try: bool) -> None:
        self.file = file
        self.is_second_try = is_second_try

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if self.is_second_try and report.when == "call" and report.passed:
            self.file.parent.mkdir(parents=True, exist_ok=True)
            with self.file.open("a", encoding="utf-8") as file:
                file.write(f"{report.nodeid}\n")

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        names = self.file.read_text(encoding="utf-8").splitlines() if self.file.exists() else []
        for name in names:
            terminalreporter.write_line(f"FLAKY: {name} failed, and passed when it was tried once more, alone")
