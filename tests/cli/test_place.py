"""Where a command works."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent_fox.cli.place import find_root


@pytest.mark.parametrize("mark", [".git", ".agent-fox"])
def test_the_root_is_the_nearest_marked_folder_upwards(tmp_path: Path, mark: str) -> None:
    inner = tmp_path / "project" / "src" / "deep"
    inner.mkdir(parents=True)
    (tmp_path / "project" / mark).mkdir()
    assert find_root(inner) == tmp_path / "project"


def test_a_linked_worktree_has_a_file_for_a_mark(tmp_path: Path) -> None:
    (tmp_path / ".git").write_text("gitdir: elsewhere\n")
    assert find_root(tmp_path) == tmp_path


def test_where_nothing_is_marked_the_start_is_the_root(tmp_path: Path) -> None:
    assert find_root(tmp_path) == tmp_path
