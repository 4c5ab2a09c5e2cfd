"""Which specs a run takes on: all, those named with what they need, or those that can be read."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from agent_fox.testing.worlds import Req, World, commit_all, git, log, run_cli
from tests.stories.scene import NOT_PROVEN, PROVEN, REFUSED, coders, outcomes, run

SPECS = {f"0{n}_part": [Req(f"0{n}-REQ-1.1", 1)] for n in (1, 2, 3)}
WORLD = World(SPECS, depends={"02_part": "01_part"})


def spoil(root: Path) -> None:
    """Make the third spec unreadable."""
    (root / ".agent-fox" / "specs" / "03_part" / "tasks.md").write_bytes(b"\x00\x01\x02\xff" * 200)
    commit_all(root, "spoilt")


def test_a_named_spec_brings_what_it_depends_on_and_nothing_else(tmp_path: Path) -> None:
    root = WORLD.build(tmp_path)
    run(root, "--spec", "02_part", ends=PROVEN)
    assert coders(root) == {"01_part:1": 1, "02_part:1": 1}
    run(root, ends=PROVEN)
    assert coders(root) == {"01_part:1": 1, "02_part:1": 1, "03_part:1": 1}


def test_a_spec_that_is_not_there_is_named_with_those_that_are(tmp_path: Path) -> None:
    root = WORLD.build(tmp_path)
    done = run(root, "--spec", "02_prat", ends=REFUSED)
    assert "02_prat" in done.stderr
    assert "02_part" in done.stderr


def test_a_broken_spec_stops_the_run_before_it_starts(tmp_path: Path) -> None:
    root = WORLD.build(tmp_path)
    spoil(root)
    done = run(root, ends=REFUSED)
    assert "03_part" in done.stderr
    assert log(root) == []
    assert not (root / ".agent-fox" / "state.db").exists()


def test_left_out_it_counts_as_not_proven_and_the_others_are_proven(tmp_path: Path) -> None:
    root = WORLD.build(tmp_path)
    spoil(root)
    run(root, "--skip-broken", ends=NOT_PROVEN)
    assert outcomes(root) == {"01_part:2": "verified", "02_part:2": "verified"}


def test_nobody_changes_the_files_of_one_that_is_left_out_though_no_other_spec_lies_beside_it(tmp_path: Path) -> None:
    file = ".kiro/specs/bell/tasks.md"
    root = replace(WORLD, coder_does={"01_part:1/1": f"write {file}"}).build(tmp_path)
    (root / file).parent.mkdir(parents=True)
    (root / file).write_bytes(b"\x00\x01\x02\xff" * 200)
    commit_all(root, "unreadable")
    run(root, "--skip-broken", ends=NOT_PROVEN)
    assert outcomes(root)["01_part:2"] == "verified"
    assert git(root, "diff", "--stat", "HEAD", "agent-fox/integration", "--", file) == ""


def test_a_bad_spec_never_hides_another(tmp_path: Path) -> None:
    root = WORLD.build(tmp_path)
    spoil(root)
    done = run_cli(root, "plan", "--json")
    assert done.returncode == REFUSED
    assert "02_part" in done.stdout
