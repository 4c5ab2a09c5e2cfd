"""Skipping broken specs leaves out what depends on them, and says why."""

from __future__ import annotations

from pathlib import Path

from agent_fox.specs.planner import plan_of
from agent_fox.specs.skipping import without_broken
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
