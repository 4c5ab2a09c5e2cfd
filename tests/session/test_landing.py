"""Landing: a merge that moves nothing, then a move that can be repeated."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent_fox.session.landing import Conflict, Landing, build_landing, move
from agent_fox.system import git
from tests.session.world import sh, write


def commit(repo: Path, base: str, **files: str) -> str:
    """A commit on `base` that is on no branch."""
    sh(repo, "git", "checkout", "-q", "--detach", base)
    write(repo, {name.replace("__", "."): text for name, text in files.items()})
    sh(repo, "git", "add", "-A")
    sh(repo, "git", "commit", "-qm", "work")
    made = sh(repo, "git", "rev-parse", "HEAD")
    sh(repo, "git", "checkout", "-q", "main")
    return made


@pytest.fixture
def base(repo: Path) -> str:
    found = sh(repo, "git", "rev-parse", "HEAD")
    sh(repo, "git", "branch", "integration")
    return found


def test_work_that_grew_on_the_tip_lands_as_it_is(repo: Path, base: str) -> None:
    work = commit(repo, base, a__txt="a")
    assert build_landing(repo, base, work, "land") == Landing(base, work)
    assert git.commit_of(repo, "integration") == base


def test_work_beside_the_tip_lands_as_a_merge_of_both(repo: Path, base: str) -> None:
    first, second = commit(repo, base, a__txt="a"), commit(repo, base, b__txt="b")
    landing = build_landing(repo, first, second, "land b")
    assert isinstance(landing, Landing)
    assert landing.base == first
    parents = sh(repo, "git", "show", "-s", "--format=%P|%s", landing.commit)
    assert parents == f"{first} {second}|land b"
    assert {"a.txt", "b.txt"} <= git.files_under(repo, landing.commit).keys()
    assert git.commit_of(repo, "integration") == base


def test_a_conflict_names_its_files(repo: Path, base: str) -> None:
    ours = commit(repo, base, **{"README__md": "ours\n", "src/app__py": "ours\n"})
    theirs = commit(repo, base, **{"README__md": "theirs\n", "src/app__py": "theirs\n", "new__txt": "x"})
    assert build_landing(repo, ours, theirs, "land") == Conflict(("README.md", "src/app.py"))


def test_work_that_is_there_already_lands_where_it_is(repo: Path, base: str) -> None:
    work = commit(repo, base, a__txt="a")
    tip = commit(repo, work, b__txt="b")
    assert build_landing(repo, tip, work, "land") == Landing(tip, tip)


def test_a_move_can_be_repeated_and_loses_a_race_without_harm(repo: Path, base: str) -> None:
    first, other = commit(repo, base, a__txt="a"), commit(repo, base, b__txt="b")
    later = commit(repo, first, c__txt="c")
    assert move(repo, "integration", first, base)
    assert move(repo, "integration", first, base)
    assert not move(repo, "integration", other, base)
    assert move(repo, "integration", later, first)
    assert move(repo, "integration", first, base)
    assert git.commit_of(repo, "integration") == later


def test_a_lock_that_stays_is_an_error(repo: Path, base: str) -> None:
    work = commit(repo, base, a__txt="a")
    (repo / ".git/refs/heads/integration.lock").touch()
    with pytest.raises(git.GitError):
        move(repo, "integration", work, base)
