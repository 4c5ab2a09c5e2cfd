"""A spec without ids of its own is edited between runs: what was proven stays proven, under the name it had."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from agent_fox.testing.worlds import Req, World, commit_all, rows, run_cli
from tests.stories.scene import PROVEN, coders, outcomes, run, verdicts

RING, STOP, LIGHT = "the bell SHALL ring", "the bell SHALL stop", "the lamp SHALL shine"
HOLD = "the bell SHALL go on for as long as it is held down"
PARTS = "SELECT id, text FROM plan_parts ORDER BY id"


class KiroWorld(World):
    """A world whose specs are folders of Kiro: numbers are all that their criteria have."""

    def write_spec(self, root: Path, name: str) -> None:
        write(root, name, ("WHEN pulled, " + RING, "WHEN let go, " + STOP), ("WHEN it rings, " + LIGHT,))


def write(root: Path, name: str, *requirements: tuple[str, ...], tasks: str = "1.1, 1.2, 2.1") -> None:
    folder = root / ".kiro" / "specs" / name
    folder.mkdir(parents=True, exist_ok=True)
    (root / ".agent-fox").mkdir(exist_ok=True)
    lines = ["# Requirements Document\n\n## Requirements\n"]
    for number, criteria in enumerate(requirements, 1):
        lines.append(f"### Requirement {number}\n\n#### Acceptance Criteria\n")
        lines += [f"{at}. {text}" for at, text in enumerate(criteria, 1)]
        lines.append("")
    (folder / "requirements.md").write_text("\n".join(lines))
    first = f"- [ ] 1. Build the bell\n  - [ ] 1.1 Do it\n    - _Requirements: {tasks}_\n"
    (folder / "tasks.md").write_text(f"# Implementation Plan\n\n## Tasks\n\n{first}")


def planned(root: Path) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(run_cli(root, "plan", "--json").stdout)
    return document


WORLD = KiroWorld({"bell": [Req("1.1"), Req("1.2"), Req("2.1")]})


def test_a_criterion_put_in_at_the_top_is_the_only_new_one(tmp_path: Path) -> None:
    root = WORLD.build(tmp_path)
    run(root, ends=PROVEN)
    before = rows(root, PARTS)
    first = rows(root, "SELECT requirement_id, min(id) FROM verification_results GROUP BY 1 ORDER BY 1")
    criteria = ("WHEN pressed, " + HOLD, "WHEN pulled, " + RING, "WHEN let go, " + STOP)
    write(root, "bell", criteria, ("WHEN it rings, " + LIGHT,), tasks="1.1, 1.2, 1.3, 2.1")
    commit_all(root, "one more, at the top")
    replace(WORLD, specs={"bell": [*WORLD.specs["bell"], Req("1.3")]}).write_story(root)

    plan = planned(root)
    assert plan["changes"] == [
        "no longer proven: bell has a requirement that no verdict was asked about: 1.3",
        "new requirement: 1.3 of bell", "to be done again: bell:1", "to be done again: bell:2"
    ]  # fmt: skip
    assert [problem["where"] for problem in plan["problems"]] == [".kiro/specs/bell/requirements.md:9"]
    assert "1.1 is 1.3 (new), 1.2 is 1.1, 1.3 is 1.2" in plan["problems"][0]["what"]

    run(root, ends=PROVEN)
    assert rows(root, PARTS) == [*before[:2], ("1.3", "WHEN pressed, " + HOLD), *before[2:]]
    assert verdicts(root) == {"1.1": "PASS", "1.2": "PASS", "1.3": "PASS", "2.1": "PASS"}
    again = rows(root, "SELECT requirement_id, min(id) FROM verification_results GROUP BY 1 ORDER BY 1")
    assert [row for row in again if row[0] != "1.3"] == first
    assert (coders(root), outcomes(root)) == ({"bell:1": 2}, {"bell:2": "verified"})
    assert planned(root)["changes"] == []
    assert [part["id"] for one in planned(root)["specs"][0]["requirements"] for part in one["parts"]] == [
        "1.3", "1.1", "1.2", "2.1"
    ]  # fmt: skip


def test_requirements_that_change_places_stay_proven_and_nobody_is_launched(tmp_path: Path) -> None:
    root = WORLD.build(tmp_path)
    run(root, ends=PROVEN)
    write(
        root,
        "bell",
        ("WHEN it rings, " + LIGHT,),
        ("WHEN let go, " + STOP, "WHEN pulled, " + RING),
        tasks="1.1, 2.1, 2.2",
    )
    commit_all(root, "the other way round")
    assert planned(root)["changes"] == []
    run(root, ends=PROVEN)
    assert coders(root) == {"bell:1": 1}


def test_the_id_of_a_criterion_that_is_gone_is_given_to_no_other_text(tmp_path: Path) -> None:
    root = WORLD.build(tmp_path)
    run(root, ends=PROVEN)
    write(root, "bell", ("WHEN pulled, " + RING,), ("WHEN it rings, " + LIGHT,), tasks="1.1, 2.1")
    commit_all(root, "one less")
    replace(WORLD, specs={"bell": [Req("1.1"), Req("2.1")]}).write_story(root)
    run(root, ends=PROVEN)
    write(root, "bell", ("WHEN pulled, " + RING, "WHEN pressed, " + HOLD), ("WHEN it rings, " + LIGHT,))
    commit_all(root, "another one in its place")
    replace(WORLD, specs={"bell": [Req("1.1"), Req("1.3"), Req("2.1")]}).write_story(root)
    run(root, ends=PROVEN)
    assert verdicts(root) == {"1.1": "PASS", "1.3": "PASS", "2.1": "PASS"}
    assert rows(root, "SELECT count(*) FROM verification_results WHERE requirement_id = '1.2' AND text_version IN "
                      "(SELECT version FROM plan_parts)") == [(0,)]  # fmt: skip


def test_a_criterion_that_comes_back_word_for_word_has_its_id_again_and_is_proven_anew(tmp_path: Path) -> None:
    root = WORLD.build(tmp_path)
    run(root, ends=PROVEN)
    write(root, "bell", ("WHEN let go, " + STOP,), ("WHEN it rings, " + LIGHT,), tasks="1.1, 2.1")
    commit_all(root, "one less")
    replace(WORLD, specs={"bell": [Req("1.2"), Req("2.1")]}).write_story(root)
    run(root, ends=PROVEN)
    WORLD.write_spec(root, "bell")
    commit_all(root, "as it was")
    WORLD.write_story(root)
    plan = planned(root)
    assert plan["problems"] == []
    assert plan["changes"][:2] == [
        "no longer proven: bell has a requirement that no verdict was asked about: 1.1", "new requirement: 1.1 of bell",
    ]  # fmt: skip
    words = "SELECT verdict, superseded_by IS NULL FROM verification_results WHERE requirement_id = '1.1' ORDER BY id"
    assert rows(root, words) == [("PASS", 0), ("UNKNOWN", 0)]
    run(root, ends=PROVEN)
    assert rows(root, words) == [("PASS", 0), ("UNKNOWN", 0), ("PASS", 1)]


def test_a_text_that_is_rewritten_in_its_place_must_be_proven_again(tmp_path: Path) -> None:
    root = WORLD.build(tmp_path)
    run(root, ends=PROVEN)
    write(root, "bell", ("WHEN pulled, " + RING, "Logs are JSON, one object a line"), ("WHEN it rings, " + LIGHT,))
    commit_all(root, "rewritten")
    plan = planned(root)
    assert plan["changes"][0] == "changed requirement: 1.2 of bell loses its verdict"
    assert ["taken for 1.2, rewritten" in problem["what"] for problem in plan["problems"]] == [True]
    run(root, ends=PROVEN)
    assert planned(root)["problems"] == []


def test_without_a_state_the_numbers_are_those_of_the_file(tmp_path: Path) -> None:
    root = WORLD.build(tmp_path)
    plan = planned(root)
    assert (plan["changes"], plan["problems"]) == ([], [])
    assert not (root / ".agent-fox" / "state.db").exists()
