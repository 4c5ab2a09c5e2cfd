"""A world is played as it was told."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent_fox.testing.worlds import NEVER, Req, World, git, issue_files, landed, log, rows, run_cli


def test_a_requirement_is_right_from_the_attempt_that_it_says(tmp_path: Path) -> None:
    world = World({"01_a": [Req("01-REQ-1.1"), Req("01-REQ-1.2", group=2, right_at=3)]}, settings=PATIENT)
    root = world.build(tmp_path / "w")
    assert run_cli(root, "run").returncode == 0
    assert [(row["node"], row["attempt"]) for row in log(root) if row["role"] == "coder"] == [
        ("01_a:1", 1), ("01_a:2", 1), ("01_a:2", 2), ("01_a:2", 3),
    ]  # fmt: skip
    assert landed(root, "proof/01-REQ-1.2.txt") == "right"


PATIENT = "[retry]\nattempts = 5\nstop_without_progress = false\n"


def test_what_is_never_right_ends_in_an_issue(tmp_path: Path) -> None:
    root = World({"01_a": [Req("01-REQ-1.1", right_at=NEVER)]}).build(tmp_path / "w")
    assert run_cli(root, "run").returncode == 2
    assert len(issue_files(root)) == 1
    assert issue_files(root, "closed") == []


@pytest.mark.parametrize("said", ["no idea", "crash"])
def test_a_verifier_says_what_it_is_told_to(tmp_path: Path, said: str) -> None:
    root = World({"01_a": [Req("01-REQ-1.1")]}, verifier_says={"01_a/1/1": said}).build(tmp_path / "w")
    assert run_cli(root, "run").returncode == 0
    assert [row["reading"] for row in log(root) if row["role"] == "verifier"] == [1, 2]


def test_what_a_verifier_writes_is_nowhere(tmp_path: Path) -> None:
    root = World({"01_a": [Req("01-REQ-1.1")]}, verifier_says={"01_a/1/1": "write"}).build(tmp_path / "w")
    assert run_cli(root, "run").returncode == 0
    assert landed(root, "verifier-was-here.txt") is None
    assert not (root / "verifier-was-here.txt").exists()


@pytest.mark.parametrize(("did", "outcome"), [("crash", "failed"), ("nothing", "completed")])
def test_a_coder_does_what_it_is_told_to(tmp_path: Path, did: str, outcome: str) -> None:
    root = World({"01_a": [Req("01-REQ-1.1")]}, coder_does={"01_a:1/1": did}).build(tmp_path / "w")
    assert run_cli(root, "run").returncode == 0
    assert rows(root, "SELECT status FROM sessions WHERE node_id = '01_a:1' ORDER BY id")[0] == (outcome,)


def test_a_retry_may_break_what_was_right(tmp_path: Path) -> None:
    reqs = [Req("01-REQ-1.1"), Req("01-REQ-1.2", group=2, right_at=2)]
    world = World({"01_a": reqs}, breaks={"01_a:2/2": ["01-REQ-1.1"]}, settings="[retry]\nattempts = 5\n")
    root = world.build(tmp_path / "w")
    assert run_cli(root, "run").returncode == 0
    broken = rows(
        root, "SELECT count(*) FROM verification_results WHERE requirement_id = '01-REQ-1.1' AND verdict = 'FAIL'"
    )
    assert broken != [(0,)]


def test_it_starts_clean_and_leaves_the_checkout_clean(tmp_path: Path) -> None:
    root = World({"01_a": [Req("01-REQ-1.1")]}, groups={"01_a": 2}).build(tmp_path / "w")
    assert git(root, "status", "--porcelain") == ""
    assert run_cli(root, "run").returncode == 0
    assert git(root, "status", "--porcelain") == ""
    assert git(root, "branch", "--show-current") == "main"
