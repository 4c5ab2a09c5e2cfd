"""The tables of kinds: each row has texts that it takes."""

from __future__ import annotations

import tomllib

import pytest

from agent_fox.verifier.ground.results import FailureKind
from agent_fox.verifier.logs.kinds import DATA, kind_in

TABLES = tomllib.loads((DATA / "kinds.toml").read_text(encoding="utf-8"))
ROWS = [(table, row["kind"], row["says"]) for table, rows in TABLES.items() if table != "parts" for row in rows]


@pytest.mark.parametrize(("table", "kind", "says"), ROWS)
def test_a_text_is_of_the_kind_of_its_row(table: str, kind: str, says: list[str]) -> None:
    assert says
    assert {kind_in(table, text) for text in says} == {FailureKind(kind)}


def test_a_text_that_says_nothing_has_no_kind() -> None:
    assert {kind_in(table, "All is well") for table in TABLES if table != "parts"} == {None}
