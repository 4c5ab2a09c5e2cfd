"""Which repositories a task is about."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent_fox.review.repositories import NoRepository, choose, folder_of_root, repositories
from agent_fox.testing.worlds import new_repository
from tests.review.worlds import git, repository

HERE = Path("/here")


def test_the_first_that_says_something_counts() -> None:
    assert choose(["/a", "/b"], ["file:///r"], "/s", "/p", HERE) == (Path("/a"), Path("/b"))
    assert choose([], ["file:///r", "file:///t%20u"], "/s", "/p", HERE) == (Path("/r"), Path("/t u"))
    assert choose([], [], "/s", "/p", HERE) == (Path("/s"),)
    assert choose([], [], None, "/p", HERE) == (Path("/p"),)
    assert choose([], [], None, None, HERE) == (HERE,)


@pytest.mark.parametrize("uri", ["https://example.org/x", "file://server/share", "relative", ""])
def test_a_root_that_is_no_folder_of_this_machine_is_refused(uri: str) -> None:
    with pytest.raises(NoRepository, match="--repo"):
        folder_of_root(uri)


def test_folders_of_one_repository_are_one(tmp_path: Path) -> None:
    root = repository(tmp_path / "one")
    (root / "below").mkdir()
    assert repositories([root, root / "below"]) == (root,)


def test_a_folder_that_is_no_repository_is_refused_with_the_remedy(tmp_path: Path) -> None:
    with pytest.raises(NoRepository, match="git init"):
        repositories([tmp_path])
    with pytest.raises(NoRepository, match="no such folder"):
        repositories([tmp_path / "nowhere"])


def test_a_bare_repository_is_refused(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q", "--bare", "bare.git")
    with pytest.raises(NoRepository, match="bare"):
        repositories([tmp_path / "bare.git"])


def test_too_many_are_refused(tmp_path: Path) -> None:
    roots = [tmp_path / str(number) for number in range(21)]
    for root in roots:
        root.mkdir()
        new_repository(root)
    with pytest.raises(NoRepository, match="21 repositories"):
        repositories(roots)
