"""The person's own checkout, branches and files stay as they are; what they do meanwhile is taken in."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from agent_fox.testing.worlds import Req, World, commit_all, git, landed, log
from tests.stories.scene import PROVEN, REFUSED, begin, order, run, wait_for_sessions

WORLD = World({"01_calc": [Req("01-REQ-1.1", 1)]})


def untracked_and_changed(root: Path) -> list[str]:
    return [line for line in git(root, "status", "--porcelain").splitlines() if ".agent-fox/" not in line]


def test_a_dirty_checkout_is_worked_beside_and_left_as_it_is(tmp_path: Path) -> None:
    root = WORLD.build(tmp_path)
    (root / "notes.txt").write_text("mine")
    (root / "README.md").write_text("half of a sentence")
    (root / "staged.txt").write_text("staged")
    git(root, "add", "staged.txt")
    before = (git(root, "rev-parse", "HEAD"), untracked_and_changed(root), git(root, "branch", "--show-current"))
    run(root, ends=PROVEN)
    after = (git(root, "rev-parse", "HEAD"), untracked_and_changed(root), git(root, "branch", "--show-current"))
    assert after == before
    assert (root / "README.md").read_text() == "half of a sentence"
    assert landed(root, "README.md") == "a story\n"
    assert landed(root, "notes.txt") is None
    assert not (root / "proof").exists()


def test_no_worktree_branch_or_reference_is_left(tmp_path: Path) -> None:
    root = WORLD.build(tmp_path)
    run(root, ends=PROVEN)
    assert len(git(root, "worktree", "list").splitlines()) == 1
    assert git(root, "for-each-ref", "--format=%(refname)").splitlines() == [
        "refs/heads/agent-fox/integration",
        "refs/heads/main",
    ]
    assert list((tmp_path / "state").glob("*/launches/*")) == []


def test_the_integration_branch_must_not_be_checked_out(tmp_path: Path) -> None:
    root = WORLD.build(tmp_path)
    git(root, "switch", "-qc", "agent-fox/integration")
    done = run(root, ends=REFUSED)
    assert "checked out" in done.stderr
    assert log(root) == []


def test_what_the_person_commits_between_runs_is_merged(tmp_path: Path) -> None:
    root = WORLD.build(tmp_path)
    run(root, ends=PROVEN)
    (root / "README.md").write_text("a better story\n")
    commit_all(root, "better")
    run(root, ends=PROVEN)
    assert (landed(root, "README.md"), landed(root, "proof/01-REQ-1.1.txt")) == ("a better story\n", "right")
    assert order(root)[2:] == ["01_calc:2"]


def test_what_the_person_commits_during_a_run_does_not_disturb_it(tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    root = replace(WORLD, coder_does={"01_calc:1/1": f"wait {gate}"}).build(tmp_path)
    running = begin(root)
    wait_for_sessions(root, 1)
    (root / "README.md").write_text("meanwhile\n")
    commit_all(root, "meanwhile")
    gate.touch()
    assert running.wait(60) == PROVEN
    assert landed(root, "README.md") == "a story\n"


def test_a_conflict_between_the_persons_commits_and_landed_work_names_the_files(tmp_path: Path) -> None:
    root = World({"01_calc": [Req("01-REQ-1.1", 1)]}, coder_does={"01_calc:1/1": "write README.md"}).build(tmp_path)
    run(root, ends=PROVEN)
    before = git(root, "rev-parse", "agent-fox/integration")
    (root / "README.md").write_text("another story\n")
    commit_all(root, "another story")
    done = run(root, ends=REFUSED)
    assert "README.md" in done.stderr
    assert "git merge" in done.stderr
    assert git(root, "rev-parse", "agent-fox/integration") == before


def test_hooks_of_the_person_are_not_run(tmp_path: Path) -> None:
    root = WORLD.build(tmp_path)
    for name in ("pre-commit", "commit-msg", "post-checkout", "reference-transaction", "post-merge"):
        hook = root / ".git" / "hooks" / name
        hook.parent.mkdir(exist_ok=True)
        hook.write_text(f"#!/bin/sh\ntouch {tmp_path / 'hook-ran'}\nexit 1\n")
        hook.chmod(0o755)
    run(root, ends=PROVEN)
    assert not (tmp_path / "hook-ran").exists()
