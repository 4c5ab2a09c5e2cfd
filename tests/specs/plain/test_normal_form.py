"""What the planner read, printed as one document, and read back."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_fox.core.graph import Plan
from agent_fox.core.spec import Criterion, Dependency, Group, Requirement, Severity, Spec, Subtask
from agent_fox.specs.files import TextFile
from agent_fox.specs.places import SpecsMissing
from agent_fox.specs.plain.dialect import MARK
from agent_fox.specs.plain.normal_form import normal_form, read_normal_form
from agent_fox.specs.planner import plan_of
from agent_fox.specs.reader import read_specs
from tests.specs.plain.generated import specs as generated

SHARED = Path(__file__).resolve().parents[4] / "shared" / "data" / "specs"
REAL = sorted(path.name for path in SHARED.iterdir() if path.is_dir()) if SHARED.is_dir() else []


def read_back(text: str) -> tuple[Spec, ...]:
    found, problems = read_normal_form(TextFile("all.md", text), {})
    assert [problem for problem in problems if "holds no spec" not in problem.what] == []
    return found


def bare(specs: Iterable[Spec]) -> list[Spec]:
    """Without what may differ: where it stood, and in which dialect."""
    return [
        replace(
            spec,
            dialect="",
            path="",
            origin="",
            places={},
            documents={},
            dependencies=tuple(replace(row, where="") for row in spec.dependencies),
        )
        for spec in specs
    ]


def graph(plan: Plan) -> tuple[object, ...]:
    return plan.nodes, plan.edges, [problem.what for problem in plan.problems]


@settings(max_examples=150, deadline=None)
@given(st.lists(generated, max_size=2))
def test_any_spec_is_read_back_as_it_was_and_printed_as_it_was(specs: list[Spec]) -> None:
    text = normal_form(specs)
    text.encode("utf-8")
    found = read_back(text)
    assert bare(found) == bare(specs)
    assert normal_form(found) == text


def test_a_long_text_comes_back_whole() -> None:
    text = "\n".join(f"{'  ' * (n % 5)}line {n} ```" for n in range(5_000))
    assert len(text) > 80_000
    group = Group(1, "A", text=text, subtasks=(Subtask("1.1", text, details=(text,)),))
    spec = Spec("a", "plain", "a.md", requirements=(Requirement("1", "A", text, (Criterion("1.1", text),)),))
    assert bare(read_back(normal_form([replace(spec, groups=(group,))]))) == bare([replace(spec, groups=(group,))])


@pytest.mark.parametrize("place", REAL)
def test_real_specs_make_the_same_plan(place: str, tmp_path: Path) -> None:
    try:
        plan = plan_of(*read_specs(SHARED / place, SHARED))
    except SpecsMissing:
        pytest.skip("no dialect reads this folder yet")
    text = normal_form(plan.specs)
    (tmp_path / "all.md").write_text(text, encoding="utf-8")
    specs, problems = read_specs(tmp_path / "all.md", tmp_path)
    again = plan_of(specs, problems)
    assert problems == ()
    assert bare(again.specs) == bare(plan.specs)
    assert (again.nodes, again.edges) == (plan.nodes, plan.edges)
    assert normal_form(again.specs) == text


def test_an_ordinary_spec_is_pleasant_to_read() -> None:
    lock = Requirement("04-REQ-1", "Lock", "", (Criterion("04-REQ-1.1", "THE lock SHALL close."),))
    lock = replace(lock, edge_cases=(Criterion("04-REQ-1.E1", "IF it is stuck, THEN it SHALL say so."),))
    task = Subtask("1.1", "Close it", requirements=("04-REQ-1.1",), details=("with care",))
    group = Group(1, "Close", subtasks=(task,), requirements=("04-REQ-1.1",), optional=True)
    spec = Spec(
        "04_lock",
        "agent-fox",
        "specs/04_lock",
        title="A lock",
        requirements=(lock,),
        groups=(replace(group, text="as it was"),),
        dependencies=(Dependency("01_door", 2, None, is_archived=True),),
        test_commands={"all_tests": "make test"},
    )
    assert normal_form([spec]) == (
        f"{MARK}\n\n# Spec: `04_lock`: A lock\n\n- _Origin: agent-fox, specs/04_lock_\n\n## Requirements\n\n"
        "### 04-REQ-1: Lock\n\n- **04-REQ-1.1** THE lock SHALL close.\n\nEdge cases:\n\n"
        "- **04-REQ-1.E1** IF it is stuck, THEN it SHALL say so.\n\n## Tasks\n\n- [ ] 1. Close\n"
        "  - _Marks: optional_\n  - [ ] 1.1 Close it\n    - with care\n    - _Requirements: 04-REQ-1.1_\n"
        "  - _Text:_\n\n"
        "    ```markdown\n    as it was\n    ```\n\n## Depends on\n\n- 01_door: its group 2 (archived)\n\n"
        "## Test commands\n\n- all_tests: `make test`\n"
    )


def test_what_steers_a_terminal_is_written_out() -> None:
    text = normal_form([Spec("a", "plain", "a.md", title="red \x1b[31m \u202e")])
    assert "\x1b" not in text
    assert "\u202e" not in text


@pytest.mark.parametrize(
    ("old", "new", "line", "word"),
    [
        ("## Tasks", "## Work", 11, "no section 'Work'"),
        ("- [ ] 1. A", "- [?] 1. A", 13, "no box"),
        ("- [ ] 1. A", "- do A", 13, "- [ ] 1. Title"),
        ("### 1: R", "### one two", 9, "### ID: Title"),
        ("## Tasks", "<<<<<<< ours", 11, "merge"),
        ("- [ ] 1. A", "- [ ] 1. A\n  - _Marks: fast_", 14, "'fast' is no mark"),
        ("_Origin: plain, a.md_", "_Origin: plain, a.md_\n- _State: lost_", 6, "'lost' is no mark"),
        ("- [ ] 1. A", "- [?] 1. A\n  - _Colour: red_", 13, "no box"),
        ("- [ ] 1. A", "- [ ] 1. A\n  - _Colour: red_", 14, "no field"),
        ("- [ ] 1. A", "- [ ] 1. A\n  - _Requirements: 1 and 2_", 14, "no list of names"),
    ],
)
def test_a_line_that_does_not_belong_is_named_and_hides_no_other_spec(old: str, new: str, line: int, word: str) -> None:
    group = Group(1, "A", text="- [ ] 1. A")
    bad = Spec("bad", "plain", "a.md", requirements=(Requirement("1", "R"),), groups=(group,))
    text = normal_form([bad, Spec("good", "plain", "a.md")]).replace(old, new, 1)
    found, (problem,) = read_normal_form(TextFile("all.md", text), {})
    assert [spec.name for spec in found] == ["good"]
    assert (problem.severity, problem.where, problem.spec) == (Severity.ERROR, f"all.md:{line}", "bad")
    assert word in problem.what


def test_everything_says_where_it_stands() -> None:
    task = Subtask("1.1", "B")
    group = Group(1, "A", subtasks=(task,), text="- [ ] 1. A\n  - [ ] 1.1 B")
    part = Requirement("1", "R", criteria=(Criterion("1.1", "C"),))
    (spec,) = read_back(normal_form([Spec("a", "plain", "a.md", requirements=(part,), groups=(group,))]))
    places = {thing: int(place.removeprefix("all.md:")) for thing, place in spec.places.items()}
    assert places == {"1": 9, "1.1": 11, "group 1": 15, "task 1.1": 16}


def test_a_form_without_specs_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "all.md").write_text(normal_form([]))
    specs, (problem,) = read_specs(tmp_path, tmp_path)
    assert specs == ()
    assert "holds no spec" in problem.what


def test_a_form_that_is_no_text_is_named(tmp_path: Path) -> None:
    (tmp_path / "all.md").write_bytes(MARK.encode() + b"\n# Spec: `a`\n\xff\n")
    _, (problem,) = read_specs(tmp_path, tmp_path)
    assert (problem.where, problem.severity) == ("all.md:3", Severity.ERROR)
    assert os.fspath(tmp_path) not in problem.where
