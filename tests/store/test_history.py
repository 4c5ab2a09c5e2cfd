"""What was recorded about a node, and the row of the decision table that each decision has."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from agent_fox.core.ids import Archetype
from agent_fox.core.retry.decision import ROWS, Cause
from agent_fox.store.history import row_of

TABLE = Path(__file__).resolve().parents[2] / "docs" / "decision-table.md"
ROW = re.compile(r"^\| (?P<row>\d+) \|.*\| (?P<decision>[A-Z][^|]*) \| [^|]+ \| [^|]+ \|$")


def documented() -> list[tuple[int, str, str | None]]:
    found = [ROW.match(line) for line in TABLE.read_text().splitlines()]
    cells = [(int(row["row"]), *row["decision"].strip().partition(": ")) for row in found if row]
    return [(number, kind, cause or None) for number, kind, _, cause in cells]


@pytest.mark.parametrize(("number", "kind", "cause"), documented())
def test_each_decision_has_the_row_that_the_document_gives_it(number: int, kind: str, cause: str | None) -> None:
    assert row_of(Archetype.VERIFIER, kind, cause) == number


def test_every_row_of_the_document_and_every_cause_of_a_verifier_is_covered() -> None:
    assert {number for number, _, _ in documented()} == {*ROWS.values(), *(cause.row for cause in Cause if cause.row)}
    assert {cause for _, _, cause in documented() if cause} == {*map(str, Cause)} - {Cause.CASCADE}


def test_what_is_not_about_a_verifiers_report_has_no_row() -> None:
    assert row_of(Archetype.CODER, "Block", "attempts spent") is None
    assert row_of(Archetype.REVIEWER, "Accept") is None
    assert row_of(Archetype.VERIFIER, "Reset") is None
    assert row_of(Archetype.VERIFIER, "Block", Cause.CASCADE) is None
