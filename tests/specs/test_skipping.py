"""Skipping broken specs leaves out what depends on them, and says why."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent_fox.core.graph import Plan
from agent_fox.core.spec import Problem, Severity
from agent_fox.specs.planner import plan_of, without_broken
from tests.specs.worlds import planned, usual, write_spec


def test_what_depends_on_a_broken_spec_is_left_out_too(tmp_path: Path) -> None:
    specs = tmp_path / "specs"
    (write_spec(specs, "01_a") / "tasks.md").write_bytes(b"\0")
    usual(specs, "02_b", "01_a | 1 | 1")
    usual(specs, "03_c", "2 | 1 | 1")
    usual(specs, "04_d")
    found = without_broken(planned(specs))
    assert [spec.name for spec in found.kept] == ["04_d"]
    assert found.reasons["01_a"].startswith("specs/01_a/tasks.md: is a binary file")
    assert found.reasons["02_b"] == "depends on 01_a, which is left out"
    assert found.reasons["03_c"] == "depends on 02_b, which is left out"
    assert found.places == {name: f"specs/{name}" for name in ("01_a", "02_b", "03_c")}


@pytest.mark.parametrize(
    ("where", "name", "place"),
    [
        ("specs/bell", "bell", "specs/bell"),
        ("specs/bell/tasks.md:12", "bell", "specs/bell"),
        ("openspec/changes/bell/specs/bell/spec.md:3", "bell", "openspec/changes/bell"),
        (".agent-fox/specs/bell.md:1", "bell", ".agent-fox/specs/bell.md"),
        ("plans/all.md:40", "bell", "plans/all.md"),
        ("specs/be:ll/spec.md", "be-ll", "specs/be:ll/spec.md"),
    ],
)
def test_one_that_can_not_be_read_lies_where_its_trouble_is(where: str, name: str, place: str) -> None:
    trouble = Problem(Severity.ERROR, where, "is a binary file", name)
    assert without_broken(Plan((), (), (), (trouble,))).places == {name: place}


def test_leaving_one_spec_out_ends_a_cycle(tmp_path: Path) -> None:
    specs = tmp_path / "specs"
    usual(specs, "01_a", "02_b | 2 | 1")
    usual(specs, "02_b", "01_a | 2 | 1")
    usual(specs, "03_c")
    found = without_broken(planned(specs))
    assert [spec.name for spec in found.kept] == ["03_c"]
    assert plan_of(found.kept).problems == ()


def test_nothing_is_skipped_where_nothing_is_broken(tmp_path: Path) -> None:
    usual(tmp_path / "specs", "01_a")
    plan = planned(tmp_path / "specs")
    assert without_broken(plan).kept == plan.specs
    assert without_broken(plan).reasons == {}
