"""Specs of other dialects drive a run as they are: a FAIL goes back to the coder who owns it, in whatever form."""

from __future__ import annotations

import shutil
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from agent_fox.testing.worlds import Req, World, commit_all, git, rows, run_cli
from tests.stories.scene import NOT_PROVEN, PROVEN, coders, configure, outcomes, run, verdicts

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures" / "dialects"


@dataclass(frozen=True)
class Case:
    """One spec in one dialect. `again` is the coder that is blamed for the requirement that fails first."""

    name: str
    dialect: str
    reqs: tuple[Req, ...]
    again: str
    verifier: str


CASES = {
    "kiro": Case("locks", "kiro", (Req("1.1", 1), Req("1.2", 2, right_at=2)), "locks:2", "locks:4"),
    "spec-kit": Case(
        "001-search", "spec-kit", (Req("FR-001", 1, right_at=2), Req("US1.1", 2)), "001-search:1", "001-search:3"
    ),
    "openspec": Case(
        "add-export", "openspec", (Req("1.1", 1), Req("1.2", 1, right_at=2)), "add-export:1", "add-export:2"
    ),
    "plain": Case("bell", "plain", (Req("1.1", 1), Req("1.2", 2, right_at=2)), "bell:2", "bell:3"),
}


def build(folder: Path, *cases: Case) -> Path:
    """A world whose specs lie there in their own dialects: it writes none, and knows what its players do about them."""
    root = World({}).build(folder)
    World({case.name: case.reqs for case in cases}).write_story(root)
    for case in cases:
        shutil.copytree(FIXTURES / case.dialect, root, dirs_exist_ok=True)
    commit_all(root, "specs of other dialects")
    return root


@pytest.mark.parametrize("dialect", sorted(CASES))
def test_a_fail_goes_back_to_the_owner_and_the_run_ends_proven(dialect: str, tmp_path: Path) -> None:
    case = CASES[dialect]
    root = build(tmp_path, case)
    run(root, ends=PROVEN)
    assert coders(root)[case.again] == 2
    assert [count for node, count in coders(root).items() if node != case.again] == [1] * (len(coders(root)) - 1)
    assert outcomes(root) == {case.verifier: "verified"}
    assert verdicts(root) == {req.id: "PASS" for req in case.reqs}
    assert rows(root, "SELECT dialect FROM plan_specs WHERE is_withdrawn = 0") == [(dialect,)]


def test_specs_of_three_dialects_make_one_run(tmp_path: Path) -> None:
    own = Case("01_calc", "agent-fox", (Req("01-REQ-1.1", 1),), "", "01_calc:2")
    world = World({"01_calc": own.reqs})
    root = build(tmp_path, CASES["kiro"], CASES["spec-kit"])
    world_of_all = World({case.name: case.reqs for case in (own, CASES["kiro"], CASES["spec-kit"])})
    world.write_spec(root, "01_calc")
    world_of_all.write_story(root)
    commit_all(root, "one of our own")
    run(root, ends=PROVEN)
    assert outcomes(root) == {"01_calc:2": "verified", "locks:4": "verified", "001-search:3": "verified"}


def test_what_only_says_what_is_there_is_planned_if_it_is_asked_for(tmp_path: Path) -> None:
    case = CASES["openspec"]
    root = build(tmp_path, replace(case, reqs=(Req("1.1", 1), Req("1.2", 1))))
    told = run_cli(root, "plan").stdout
    assert "notes:1" not in told
    configure(root, "[plan]\n", "[plan]\nbaseline = true\n")
    assert "notes:1" in run_cli(root, "plan").stdout


def test_a_coder_may_tick_boxes_of_any_dialect_and_change_nothing_else_there(tmp_path: Path) -> None:
    case = CASES["openspec"]
    root = build(tmp_path, replace(case, reqs=(Req("1.1", 1), Req("1.2", 1))))
    place = "openspec/changes/add-export"
    world = World({case.name: (Req("1.1", 1), Req("1.2", 1))}, coder_does={"add-export:1/1": f"write {place}/new.md"})
    world.write_story(root)
    run(root, ends=PROVEN)
    landed = git(root, "ls-tree", "-r", "--name-only", "agent-fox/integration").split()
    assert f"{place}/new.md" not in landed


def test_a_requirement_that_nothing_proves_is_left_to_a_person(tmp_path: Path) -> None:
    case = CASES["kiro"]
    root = build(tmp_path, replace(case, reqs=(Req("1.1", 1), Req("1.2", 2, right_at=99))))
    run(root, ends=NOT_PROVEN)
    assert outcomes(root) == {"locks:4": "escalated"}
    (issue,) = (root / ".agent-fox" / "issues").glob("*.md")
    assert "1.2" in issue.read_text()
