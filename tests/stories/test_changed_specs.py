"""A person changes a spec between runs: only what the change concerns is done again, and no history is lost."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from agent_fox.testing.worlds import NEVER, Req, World, commit_all, issue_files, rows, run_cli
from tests.stories.scene import NOT_PROVEN, PROVEN, briefed, coders, order, outcomes, report, run, verdicts

REQS = [Req("01-REQ-1.1", 1), Req("01-REQ-2.1", 2)]
SESSIONS = "SELECT node_uid, attempt, reading, status FROM sessions"


def rewrite(root: Path, world: World) -> None:
    """The person commits the specs of this world in place of those that are there."""
    world.write_story(root)
    for name in world.specs:
        world.write_spec(root, name)
    commit_all(root, "the specs are other ones now")


def edit(root: Path, name: str, old: str, new: str) -> None:
    path = root / ".agent-fox" / "specs" / "01_calc" / name
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))
    commit_all(root, f"edit {name}")


def test_a_group_added_at_the_end_runs_alone_and_takes_the_verifiers_old_name(tmp_path: Path) -> None:
    world = World({"01_calc": REQS})
    root = world.build(tmp_path)
    run(root, ends=PROVEN)
    before = rows(root, SESSIONS)
    rewrite(root, replace(world, specs={"01_calc": [*REQS, Req("01-REQ-3.1", 3)]}))
    told = run_cli(root, "plan").stdout
    assert "01_calc:3" in told
    run(root, ends=PROVEN)
    assert coders(root) == {"01_calc:1": 1, "01_calc:2": 1, "01_calc:3": 1}
    assert set(before) < set(rows(root, SESSIONS))
    assert verdicts(root) == {"01-REQ-1.1": "PASS", "01-REQ-2.1": "PASS", "01-REQ-3.1": "PASS"}
    assert outcomes(root) == {"01_calc:4": "verified"}


def test_a_removed_group_is_withdrawn_and_nobody_is_asked_to_do_its_work_again(tmp_path: Path) -> None:
    world = World({"01_calc": [*REQS, Req("01-REQ-3.1", 3)]})
    root = world.build(tmp_path)
    run(root, ends=PROVEN)
    before = rows(root, SESSIONS)
    rewrite(root, replace(world, specs={"01_calc": REQS}))
    run(root, ends=PROVEN)
    assert coders(root) == {"01_calc:1": 1, "01_calc:2": 1, "01_calc:3": 1}
    assert rows(root, "SELECT count(*) FROM plan_nodes WHERE status = 'withdrawn'") == [(1,)]
    assert set(before) <= set(rows(root, SESSIONS))
    assert verdicts(root) == {"01-REQ-1.1": "PASS", "01-REQ-2.1": "PASS"}


def test_a_renumbered_group_keeps_its_history(tmp_path: Path) -> None:
    titles = {"01_calc:1": "Lay the ground", "01_calc:2": "Build on it"}
    world = World({"01_calc": REQS}, titles=titles)
    root = world.build(tmp_path)
    run(root, ends=PROVEN)
    moved = {"01_calc:1": "Lay the ground", "01_calc:2": "Something between", "01_calc:3": "Build on it"}
    between = [Req("01-REQ-1.1", 1), Req("01-REQ-3.1", 2), Req("01-REQ-2.1", 3)]
    rewrite(root, replace(world, specs={"01_calc": between}, titles=moved))
    run(root, ends=PROVEN)
    attempts = "SELECT id, attempt FROM plan_nodes WHERE archetype = 'coder' ORDER BY id"
    assert rows(root, attempts) == [("01_calc:1", 1), ("01_calc:2", 1), ("01_calc:3", 1)]
    assert order(root)[3:] == ["01_calc:2", "01_calc:4"]


def test_a_changed_requirement_loses_its_pass_and_only_its_owner_runs_again(tmp_path: Path) -> None:
    root = World({"01_calc": REQS}).build(tmp_path)
    run(root, ends=PROVEN)
    edit(root, "requirements.md", "[01-REQ-2.1] WHEN its proof is read", "[01-REQ-2.1] WHEN it is read aloud")
    run(root, ends=PROVEN)
    assert order(root)[3:] == ["01_calc:2", "01_calc:3"]
    passes = "SELECT count(*) FROM verification_results WHERE requirement_id = '01-REQ-2.1' AND verdict = 'PASS'"
    assert rows(root, passes) == [(2,)]
    assert rows(root, "SELECT count(*) FROM decisions WHERE kind = 'Replan'")[0][0] != 0


def test_the_verifier_waits_for_an_early_group_although_the_later_ones_are_done(tmp_path: Path) -> None:
    root = World({"01_calc": REQS}, seconds=0.2).build(tmp_path)
    run(root, ends=PROVEN)
    edit(root, "requirements.md", "[01-REQ-1.1] WHEN its proof is read", "[01-REQ-1.1] WHEN it is read aloud")
    run(root, "--parallel", "4", ends=PROVEN)
    assert order(root)[3:] == ["01_calc:1", "01_calc:3"]
    begun = "SELECT node_id FROM sessions ORDER BY started_at DESC, id DESC LIMIT 1"
    assert rows(root, begun) == [("01_calc:3",)]


def test_a_changed_requirement_loses_its_fail_too_and_gets_a_new_budget(tmp_path: Path) -> None:
    says = {"01_calc/1/1": report({"01-REQ-1.1": "PASS", "01-REQ-2.1": "FAIL"})}
    root = World({"01_calc": REQS}, verifier_says=says, settings="[retry]\nattempts = 1\n").build(tmp_path)
    run(root, ends=NOT_PROVEN)
    edit(root, "requirements.md", "[01-REQ-2.1] WHEN its proof is read", "[01-REQ-2.1] WHEN it is asked for")
    run(root, ends=PROVEN)
    assert coders(root) == {"01_calc:1": 1, "01_calc:2": 2}
    assert briefed(root, "01_calc:2", 2) == {}
    assert issue_files(root) == []


def test_a_file_that_is_only_reformatted_changes_nothing(tmp_path: Path) -> None:
    root = World({"01_calc": REQS}).build(tmp_path)
    run(root, ends=PROVEN)
    edit(root, "requirements.md", "# Requirements: 01_calc\n", "# Requirements: 01_calc\n\n\n")
    run(root, ends=PROVEN)
    assert coders(root) == {"01_calc:1": 1, "01_calc:2": 1}
    replans = "SELECT count(*) FROM decisions WHERE kind = 'Replan'"
    assert rows(root, replans) == [(0,)]


def test_a_changed_spec_that_waits_for_an_unproven_one_goes_on_waiting(tmp_path: Path) -> None:
    world = World(
        {"00_base": [Req("00-REQ-1.1", 1, NEVER)], "01_calc": REQS},
        depends={"01_calc": "00_base"},
        settings="[retry]\nattempts = 1\n",
    )
    root = world.build(tmp_path)
    run(root, ends=NOT_PROVEN)
    edit(root, "requirements.md", "[01-REQ-1.1] WHEN its proof is read", "[01-REQ-1.1] WHEN it is read aloud")
    run(root, ends=NOT_PROVEN)
    assert coders(root) == {"00_base:1": 1}
    assert outcomes(root) == {"00_base:2": "escalated", "01_calc:3": "blocked"}
