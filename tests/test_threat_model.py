"""The threat model: every defence says what it covers, and names tests that exist."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "threat-model.md"
COLUMNS = ["defence", "covers", "does not cover", "shown by"]
NAMED = re.compile(r"`(tests/[\w/]+\.py)::(test_\w+)`")


def rows() -> list[list[str]]:
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    found = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("|")]
    return [row for row in found if set(row[0]) != {"-"}]


def defences() -> list[list[str]]:
    return [row for row in rows() if row != COLUMNS]


def test_every_table_has_the_same_columns_and_every_defence_says_what_it_covers() -> None:
    assert rows().count(COLUMNS) == PAGE.read_text(encoding="utf-8").count("| shown by |") >= 6
    assert [row[0] for row in defences() if len(row) != 4 or not row[0] or not row[1]] == []


@pytest.mark.parametrize("row", defences(), ids=lambda row: row[0])
def test_the_tests_of_a_defence_exist(row: list[str]) -> None:
    named = NAMED.findall(row[3])
    assert named
    assert NAMED.sub("", row[3]).strip(", ") == ""
    assert [f"{path}::{name}" for path, name in named if name not in named_in(ROOT / path)] == []


def attacks() -> list[list[str]]:
    lines = (ROOT / "docs" / "security.md").read_text(encoding="utf-8").splitlines()
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("| ")]
    return [row for row in rows if row[0] != "attack"]


def test_every_attack_of_the_page_has_its_tests_and_no_more_held_than_were_tried() -> None:
    for _, tries, held, _, tests in attacks():
        assert 0 <= int(held.rstrip("*")) <= int(tries)
        named = NAMED.findall(tests)
        assert named
        assert [f"{path}::{name}" for path, name in named if name not in named_in(ROOT / path)] == []


def named_in(path: Path) -> set[str]:
    tree = ast.parse(path.read_text(encoding="utf-8")) if path.is_file() else ast.Module([], [])
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}


@pytest.mark.parametrize("word", ["advisory", "Supply chain", "Egress", "whole file system", "root"])
def test_what_the_defences_cannot_do_is_said(word: str) -> None:
    assert word in PAGE.read_text(encoding="utf-8")
