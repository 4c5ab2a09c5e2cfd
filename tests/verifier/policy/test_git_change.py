"""A change read from a real repository."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from agent_fox.system.git import GitError
from agent_fox.testing.worlds import new_repository
from agent_fox.verifier.policy.change_under_check import change_between
from agent_fox.verifier.policy.values import Change, FileChange


def git(repo: Path, *arguments: str) -> str:
    identity = ("-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false")
    done = subprocess.run(["git", *identity, *arguments], cwd=repo, check=True, capture_output=True, text=True)
    return done.stdout.strip()


def commit(repo: Path) -> str:
    git(repo, "add", "--all")
    git(repo, "commit", "--quiet", "-m", "x")
    return git(repo, "rev-parse", "HEAD")


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    new_repository(tmp_path)
    for name in ("kept", "edited", "gone", "moved"):
        (tmp_path / name).write_text(f"{name}\n")
    return tmp_path


def test_edits_deletions_additions_and_moves_are_told_apart(repo: Path) -> None:
    old = commit(repo)
    (repo / "edited").write_bytes(b"\xff other\n")
    (repo / "gone").unlink()
    (repo / "moved").rename(repo / "elsewhere")
    (repo / "new").write_text("new\n")
    assert change_between(repo, old, commit(repo)) == Change(
        {
            "edited": FileChange(b"edited\n", b"\xff other\n"),
            "elsewhere": FileChange(b"moved\n", b"moved\n", "moved"),
            "gone": FileChange(b"gone\n", None),
            "new": FileChange(None, b"new\n"),
        }
    )


def test_a_tree_serves_as_well_as_a_commit(repo: Path) -> None:
    old = commit(repo)
    assert change_between(repo, old, git(repo, "rev-parse", "HEAD^{tree}")) == Change({})


def test_a_commit_that_is_not_there_is_an_error(repo: Path) -> None:
    with pytest.raises(GitError):
        change_between(repo, commit(repo), "0" * 39 + "1")
