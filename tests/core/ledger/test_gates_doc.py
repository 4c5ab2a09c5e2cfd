"""The table of gates in the documents is the table of the core."""

from __future__ import annotations

from pathlib import Path

from agent_fox.core.ledger.gates import TRANSITIONS, Gate, Role

DOC = Path(__file__).parents[3] / "docs" / "evidence.md"


def rows() -> list[list[str]]:
    lines = DOC.read_text(encoding="utf-8").split("## Gates", 1)[1].split("## Waivers", 1)[0].splitlines()
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("|")][2:]


def test_the_documented_table_is_the_table() -> None:
    found = {(Gate(start), Gate(end)): tuple(map(Role, who.split(", "))) for start, end, who, _ in rows()}
    assert found == TRANSITIONS
    assert all(when for *_, when in rows())
