"""The table of faults on GitHub: each fault once, what its documents name, and that rules switched off show."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from bench.github_faults import CASES, HEAD, LISTS, RULES, WAYS, Templates, doubled, main, taken, templates

DOCS = (Path(__file__).parents[2] / "docs/github.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def at_hand() -> Iterator[Templates]:
    with templates() as found:
        yield found


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if at % 5 == 0 else pytest.mark.slow) for at, name in enumerate(CASES)]
)
def test_after_every_fault_all_is_as_it_should_be(name: str, at_hand: Templates) -> None:
    row = taken(name, 1, at_hand)
    assert row.problems == []
    assert row.twice == 0
    assert row.filed > 0
    assert row.struck > 0 or not name.startswith(("kill", "answer", "502", "cut", "conn", "Retry", "limits"))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("way", "listing", "rule"),
    [
        ("answers to filings are lost", "lags longer than the grace time", "without the probe"),
        ("the state was restored", "answers empty 60 % of the time", "without witnesses"),
        ("the state was restored", "lags longer than the grace time", "without both"),
    ],
)
def test_without_a_rule_issues_are_filed_twice(way: str, listing: str, rule: str, at_hand: Templates) -> None:
    assert doubled(way, listing, rule, 6, at_hand) > 0
    assert doubled(way, listing, "as it is", 6, at_hand) == 0


def test_the_documents_name_every_fault_with_its_figures(capsys: pytest.CaptureFixture[str]) -> None:
    rows = [line for line in DOCS.splitlines() if line.startswith("| ")]
    for name in CASES:
        found = [row for row in rows if row.startswith(f"| {name} |") and row.count("|") == len(HEAD) + 1]
        assert len(found) == 1, name
        cells = [cell.strip() for cell in found[0].strip("|").split("|")]
        assert cells[HEAD.index("went wrong")] == "nothing", name
    for way in WAYS:
        for listing in LISTS:
            assert f"| {way}; the list {listing} |" in DOCS
    assert all(rule in DOCS for rule in RULES)
    assert main(["--rounds", "1", "--only", "connection refused"]) == 0
    assert "| connection refused | 1 |" in capsys.readouterr().out
