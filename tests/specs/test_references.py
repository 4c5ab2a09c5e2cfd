"""Rows that point nowhere are errors that name the row."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent_fox.core.graph import EdgeKind
from agent_fox.core.spec import Severity
from tests.specs.worlds import needs, planned, usual, write_spec


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ("01_aa | 1 | 1", "01_aa, which is not there. Did you mean 01_a?"),
        ("9 | 1 | 1", "9, which is not there"),
        ("01_a | 7 | 1", "group 7 of 01_a, which has groups 1, 2"),
        ("01_a | 1 | 7", "group 7 of 02_b, which has groups 1, 2"),
        ("02_b | 1 | 2", "02_b depends on itself"),
        ("2 | 1 | 2", "02_b depends on itself"),
    ],
)
def test_a_row_that_points_nowhere_is_an_error_with_its_line(tmp_path: Path, row: str, words: str) -> None:
    usual(tmp_path / "specs", "01_a")
    usual(tmp_path / "specs", "02_b", row)
    plan = planned(tmp_path / "specs")
    (problem,) = plan.problems
    assert (problem.severity, problem.where, problem.spec) == (Severity.ERROR, "specs/02_b/prd.md:7", "02_b")
    assert words in problem.what
    assert not [edge for edge in plan.edges if edge.kind is EdgeKind.DEPENDENCY]


def test_a_number_that_two_specs_have_is_an_error_that_names_both(tmp_path: Path) -> None:
    usual(tmp_path / "specs", "103_a")
    usual(tmp_path / "specs", "103_b")
    usual(tmp_path / "specs", "104_c", "103 | 1 | 1", "103_b | 1 | 1")
    plan = planned(tmp_path / "specs")
    (problem,) = plan.problems
    assert "103_a and 103_b" in problem.what
    assert [e.source for e in plan.edges if e.kind is EdgeKind.DEPENDENCY] == ["103_b:1"]


def test_a_number_means_its_spec_whatever_its_zeros(tmp_path: Path) -> None:
    usual(tmp_path / "specs", "01_a")
    usual(tmp_path / "specs", "02_b", "1 | 1 | 1", "001 | 2 | 1")
    plan = planned(tmp_path / "specs")
    assert [e.source for e in plan.edges if e.kind is EdgeKind.DEPENDENCY] == ["01_a:1", "01_a:2"]


def test_a_row_about_an_archived_spec_is_no_error(tmp_path: Path) -> None:
    usual(tmp_path / "specs", "02_b", "61_old | N/A (archived, fully implemented) | 1", "05_gone | 3 | 1")
    usual(tmp_path / "specs" / "archive", "05_gone")
    assert planned(tmp_path / "specs").problems == ()


def test_rows_in_two_documents_name_their_own_lines(tmp_path: Path) -> None:
    tasks = "- [ ] 1. A\n\n" + needs("09_x | 1 | 1")
    write_spec(tmp_path / "specs", "02_b", tasks=tasks, requirements="### 02-REQ-1: T\n", prd=needs("08_x | 1 | 1"))
    assert [p.where for p in planned(tmp_path / "specs").problems] == ["specs/02_b/prd.md:7", "specs/02_b/tasks.md:9"]


def test_a_name_without_its_number_means_the_one_folder_that_is_called_so(tmp_path: Path) -> None:
    usual(tmp_path / "specs", "03_git_server")
    usual(tmp_path / "specs", "04_notes_of_a_day")
    usual(tmp_path / "specs", "05_notes_of_a_day")
    usual(tmp_path / "specs", "06_hooks", "git_server | 1 | 1")
    usual(tmp_path / "specs", "07_calls", "notes_of_a_day | 1 | 1")
    plan = planned(tmp_path / "specs")
    edges = [(str(edge.source), str(edge.target)) for edge in plan.edges if edge.kind is EdgeKind.DEPENDENCY]
    assert [(source.partition(":")[0], target.partition(":")[0]) for source, target in edges] == [
        ("03_git_server", "06_hooks")
    ]
    assert [(problem.spec, "not there" in problem.what) for problem in plan.problems] == [("07_calls", True)]
