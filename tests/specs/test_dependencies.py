"""Dependency tables of every shape."""

from __future__ import annotations

import pytest

from agent_fox.core.spec import Dependency
from agent_fox.specs.common.beside import group_in, read_dependencies, specs_in, without_doubles
from tests.specs.worlds import markdown

Row = tuple[str, int | None, int | None]


def rows(text: str, name: str = "05_here") -> list[Row]:
    return [(d.spec, d.from_group, d.to_group) for d in read_dependencies(markdown(text), name)]


def table(header: str, *lines: str, heading: str = "Dependencies") -> str:
    rule = "|" + "---|" * (header.count("|") - 1)
    return "\n".join([f"## {heading}", "", header, rule, *lines, ""])


def test_groups_of_both_specs() -> None:
    text = table(
        "| Spec | From Group | To Group | Relationship |", "| 01_a | 3 | 2 | uses \\| it |", "| `02_b` | 1 | 1 | x |"
    )
    assert rows(text) == [("01_a", 3, 2), ("02_b", 1, 1)]


def test_this_spec_depends_on_whole_specs() -> None:
    text = table(
        "| This Spec | Depends On | What It Uses |",
        "| 05_here | 01_a | types |",
        "| 09_other | 02_b | not ours |",
        heading="X",
    )
    assert rows(text) == [("01_a", None, None)]


@pytest.mark.parametrize(
    "header", ["| Spec | Relationship | Notes |", "| Spec | Dependency | Why |", "| Depends On | Reason | Notes |"]
)
def test_whole_specs_without_groups(header: str) -> None:
    assert rows(table(header, "| 38 (DuckDB hardening) | Uses | rows |")) == [("38", None, None)]


def test_a_required_group() -> None:
    text = table(
        "| Spec | Required Task Group | Relationship |",
        "| 38 (Hardening) | All groups complete | x |",
        "| 39 | Group 2 | y |",
    )
    assert rows(text) == [("38", None, None), ("39", 2, None)]


def test_a_dependency_cell_may_name_the_group() -> None:
    text = table("| Spec | Dependency | What Is Needed |", "| 01_setup | Group 2 (Rust workspace) | x |")
    assert rows(text) == [("01_setup", 2, None)]


@pytest.mark.parametrize(
    "text",
    [
        table("| Spec | Status | Notes |", "| 01_a | done | x |", heading="Progress"),
        table("| Dependency | Version | Purpose |", "| click | 8.1 | x |"),
        table("| Spec | From Group | To Group |", "| 09_later | 1 | 2 |", heading="Dependents"),
        table("| Spec | What It Needs |", "| 09_later | types |", heading="Downstream dependencies"),
        table("| Spec | From Group | To Group | R |", "| None | - | - | - |"),
        "```\n" + table("| Spec | From Group | To Group | R |", "| 01_a | 1 | 1 | x |") + "\n```",
    ],
)
def test_other_tables_are_none(text: str) -> None:
    assert rows(text) == []


@pytest.mark.parametrize(
    ("cell", "group"),
    [
        ("3", 3),
        ("Group 3", 3),
        ("3 (the parser)", 3),
        ("2, 4", 4),
        ("0", None),
        ("all", None),
        ("—", None),
        ("", None),
        ("(complete)", None),
        ("All groups complete", None),
        ("N/A (archived, fully implemented)", None),
    ],
)
def test_words_in_a_group_cell(cell: str, group: int | None) -> None:
    assert group_in(cell, last=True) == group


def test_the_first_of_several_groups_waits() -> None:
    assert group_in("2, 4", last=False) == 2


@pytest.mark.parametrize(
    ("cell", "specs"),
    [
        ("`01_core`", ("01_core",)),
        ("[01_core](../01_core/prd.md)", ("01_core",)),
        ("38 (Hardening)", ("38",)),
        ("Spec 38", ("38",)),
        ("01_a, 02_b", ("01_a", "02_b")),
        ("core_library", ("core_library",)),
        ("n/a", ()),
        ("—", ()),
        ("", ()),
    ],
)
def test_words_in_a_spec_cell(cell: str, specs: tuple[str, ...]) -> None:
    assert specs_in(cell) == specs


def test_an_archived_spec_is_noted() -> None:
    (row,) = read_dependencies(
        markdown(table("| Spec | From Group | To Group | R |", "| 61_old | N/A (archived) | 1 | x |")), "05_here"
    )
    assert row == Dependency("61_old", None, 1, "a.md:5", is_archived=True)


def test_the_same_row_in_two_documents_counts_once() -> None:
    one, other = Dependency("01_a", 1, 1, "prd.md:3"), Dependency("01_a", 1, 1, "tasks.md:9")
    third = Dependency("01_a", 2, 1, "tasks.md:10")
    assert without_doubles([one, other, third]) == (one, third)
