"""The change that a final review reads, from a real repository."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent_fox.engine.launching.reviewed_change import LONGEST_DIFF, changed, diff
from agent_fox.testing.worlds import commit_all, first_commit, git


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    root = tmp_path / "repo"
    root.mkdir()
    (root / "a.txt").write_text("a\n")
    first_commit(root)
    return root


def after(root: Path) -> tuple[tuple[str, ...], str]:
    """The files of the last change, and its diff."""
    commit_all(root, "change")
    base, tip = git(root, "rev-parse", "HEAD~1"), git(root, "rev-parse", "HEAD")
    files = changed(root, base, tip)
    return files, diff(root, base, tip, files)


def test_a_change_is_told_with_its_files_and_lines(repo: Path) -> None:
    (repo / "a.txt").write_text("b\n")
    (repo / "*.txt").write_text("a name that is a pattern\n")
    files, text = after(repo)
    assert files == ("*.txt", "a.txt")
    assert "-a\n+b\n" in text
    assert text.count("diff --git") == 2


def test_binary_and_very_long_files_are_named_and_not_shown(repo: Path) -> None:
    (repo / "picture").write_bytes(bytes(range(256)) * 10)
    (repo / "long.txt").write_text("a line\n" * 100_000)
    files, text = after(repo)
    assert files == ("long.txt", "picture")
    assert "Binary files /dev/null and b/long.txt differ" in text
    assert len(text) < 1_000


def test_a_change_of_fifty_megabytes_is_cut(repo: Path) -> None:
    for number in range(250):
        (repo / f"{number}.txt").write_text(f"{number}\n" * 50_000)
    _, text = after(repo)
    assert LONGEST_DIFF < len(text) < LONGEST_DIFF + 100
    assert text.endswith("(cut here; more files have changed)\n")


def test_no_program_of_the_project_is_run_for_it(repo: Path) -> None:
    marker = repo.parent / "was-run"
    git(repo, "config", "diff.own.textconv", f"touch {marker}; cat")
    git(repo, "config", "diff.external", f"touch {marker}")
    (repo / ".gitattributes").write_text("*.txt diff=own\n")
    (repo / "a.txt").write_text("b\n")
    _, text = after(repo)
    assert "+b" in text
    assert not marker.exists()


def test_a_commit_that_is_gone_has_no_change(repo: Path) -> None:
    head, gone = git(repo, "rev-parse", "HEAD"), "0" * 40
    assert changed(repo, gone, head) == ()
    assert diff(repo, gone, head, ("a.txt",)) == ""
