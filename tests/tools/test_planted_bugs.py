"""The planted bugs can be planted: the code goes on, and the list with it. What catches them is `make planted`'s."""

from __future__ import annotations

from pathlib import Path

from tools.planted_bugs import BUGS, planted, read_bugs

FEWEST = 40


def test_each_planted_bug_changes_one_line_that_is_there_and_is_python() -> None:
    bugs = read_bugs(BUGS, [])
    assert len(bugs) >= FEWEST
    for bug in bugs:
        compile(planted(bug), bug.file, "exec")


def test_every_package_has_one() -> None:
    packages = {Path(bug.file).parts[1].removesuffix(".py") for bug in read_bugs(BUGS, [])}
    assert packages >= {
        *("cli", "config", "core", "engine", "evidence", "mcp", "review", "session", "specs"),
        *("store", "system", "trackers", "verifier"),
    }
