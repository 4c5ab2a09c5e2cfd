"""The table of an issue's life in the documents is the table of the core."""

from __future__ import annotations

from pathlib import Path

from agent_fox.core.retry.filing import TABLE, Act, Seen

DOC = Path(__file__).parents[3] / "docs" / "github.md"


def rows() -> list[list[str]]:
    lines = DOC.read_text(encoding="utf-8").split("## Life of an issue", 1)[1].split("\n## ", 1)[0].splitlines()
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("|")][2:]


def test_the_documented_table_is_the_table() -> None:
    assert {Seen(seen): tuple(map(Act, acts)) for seen, *acts in rows()} == TABLE
