"""The traceability table."""

from __future__ import annotations

from agent_fox.core.spec import Trace
from agent_fox.specs.common.beside import read_traceability, tasks_in
from agent_fox.specs.common.id_ranges import index_of
from tests.specs.test_id_ranges import INDEX
from tests.specs.worlds import markdown

HEADER = (
    "## Traceability\n\n| Requirement | Test Spec Entry | Implemented By Task | Verified By Test |\n|---|---|---|---|\n"
)


def test_a_row_maps_a_requirement_to_tasks_and_tests() -> None:
    row = "| 03-REQ-1.1 | TS-03-1, TS-03-P2 | 2.1, 3.4 | `tests/test_a.py::test_b`, test_c |\n"
    text = HEADER + row + "| Property 1 | TS-03-P1 | 2.1 | x |\n"
    expected = Trace("03-REQ-1.1", ("TS-03-1", "TS-03-P2"), ("2.1", "3.4"), ("tests/test_a.py::test_b", "test_c"))
    assert read_traceability(markdown(text), INDEX) == ((expected,), ())


def test_a_row_may_name_a_range_of_requirements() -> None:
    traces, _ = read_traceability(markdown(HEADER + "| 03-REQ-1.1–1.3 | - | 2.1 | — |\n"), INDEX)
    assert [trace.requirement for trace in traces] == ["03-REQ-1.1", "03-REQ-1.2", "03-REQ-1.3"]
    assert traces[0].tests == ()


def test_the_table_may_go_from_tasks_to_requirements() -> None:
    text = "| Task | Requirements | Test Specs |\n|---|---|---|\n| 2.1 | 03-REQ-1.1, 03-REQ-1.2 | TS-03-1 |\n"
    traces, _ = read_traceability(markdown(text), INDEX)
    assert [(t.requirement, t.tasks, t.tests_specified) for t in traces] == [
        ("03-REQ-1.1", ("2.1",), ("TS-03-1",)),
        ("03-REQ-1.2", ("2.1",), ("TS-03-1",)),
    ]


def test_an_id_that_is_not_there_is_a_warning_with_its_line() -> None:
    _, (problem,) = read_traceability(markdown(HEADER + "| 03-REQ-8.1 | - | 2.1 | - |\n"), INDEX)
    assert problem.where == "a.md:5"


def test_rows_are_kept_as_written_where_there_is_no_requirements_file() -> None:
    traces, problems = read_traceability(markdown(HEADER + "| 36-REQ-1.1 | - | 2.1 | - |\n"), index_of([], "36"))
    assert ([trace.requirement for trace in traces], problems) == (["36-REQ-1.1"], ())


def test_ranges_of_tasks_are_written_out() -> None:
    assert tasks_in("4.1–4.3, 5.V, Group 6") == ("4.1", "4.2", "4.3", "5.V", "6")
