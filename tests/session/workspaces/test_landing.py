"""Landing: a merge that moves nothing, then a move that can be repeated."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent_fox.session.workspaces.landing import Conflict, Landing, Style, build_landing, build_reversal, move
from agent_fox.system import git, git_objects
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
    assert {"a.txt", "b.txt"} <= git_objects.files_under(repo, landing.commit).keys()
    assert git.commit_of(repo, "integration") == base


def test_a_conflict_names_its_files(repo: Path, base: str) -> None:
    ours = commit(repo, base, **{"README__md": "ours\n", "src/app__py": "ours\n"})
    theirs = commit(repo, base, **{"README__md": "theirs\n", "src/app__py": "theirs\n", "new__txt": "x"})
    assert build_landing(repo, ours, theirs, "land") == Conflict(("README.md", "src/app.py"))


def test_work_that_is_there_already_lands_where_it_is(repo: Path, base: str) -> None:
    work = commit(repo, base, a__txt="a")
    tip = commit(repo, work, b__txt="b")
    assert build_landing(repo, tip, work, "land") == Landing(tip, tip)


def test_work_of_two_commits_on_the_tip_lands_as_it_is_or_as_one(repo: Path, base: str) -> None:
    work = commit(repo, commit(repo, base, a__txt="a"), b__txt="b")
    assert build_landing(repo, base, work, "land") == Landing(base, work)
    squashed = build_landing(repo, base, work, "land", Style.SQUASH)
    assert isinstance(squashed, Landing)
    assert git.parents(repo, squashed.commit) == (base,)
    assert git.tree_of(repo, squashed.commit) == git.tree_of(repo, work)


def test_the_same_change_on_both_sides_is_a_merge_and_nothing_to_squash(repo: Path, base: str) -> None:
    tip = commit(repo, base, a__txt="a")
    work = git_objects.commit_tree(repo, git.tree_of(repo, tip), [base], "the same again", git.identity(repo))
    landing = build_landing(repo, tip, work, "land")
    assert isinstance(landing, Landing)
    assert git.parents(repo, landing.commit) == (tip, work)
    assert build_landing(repo, tip, work, "land", Style.SQUASH) == Landing(tip, tip)


def squashed(repo: Path, tip: str, work: str) -> str:
    landing = build_landing(repo, tip, work, "land", Style.SQUASH)
    assert isinstance(landing, Landing)
    assert landing.base == tip
    return landing.commit


def test_squashed_work_is_one_commit_whose_only_parent_is_the_tip(repo: Path, base: str) -> None:
    first, second = commit(repo, base, a__txt="a"), commit(repo, base, b__txt="b")
    assert squashed(repo, base, first) == first
    made = squashed(repo, first, second)
    assert sh(repo, "git", "show", "-s", "--format=%P|%s", made) == f"{first}|land"
    assert {"a.txt", "b.txt"} <= git_objects.files_under(repo, made).keys()
    assert git.commit_of(repo, "integration") == base


def test_work_of_several_commits_on_the_tip_is_squashed_too(repo: Path, base: str) -> None:
    work = commit(repo, commit(repo, base, a__txt="a"), b__txt="b")
    made = squashed(repo, base, work)
    assert (git.parents(repo, made), git.tree_of(repo, made)) == ((base,), git.tree_of(repo, work))


def test_squashing_what_is_there_already_changes_nothing(repo: Path, base: str) -> None:
    first, second = commit(repo, base, a__txt="a"), commit(repo, base, a__txt="a", b__txt="b")
    tip = squashed(repo, first, second)
    assert squashed(repo, tip, second) == tip


def test_squashed_work_conflicts_as_merged_work_does(repo: Path, base: str) -> None:
    ours, theirs = commit(repo, base, README__md="ours\n"), commit(repo, base, README__md="theirs\n")
    assert build_landing(repo, ours, theirs, "land", Style.SQUASH) == Conflict(("README.md",))


def test_work_on_a_file_that_the_tip_renamed_follows_it(repo: Path, base: str) -> None:
    lines = "".join(f"line {number}\n" for number in range(20))
    start = commit(repo, base, old__txt=lines)
    work = commit(repo, start, old__txt=lines.replace("line 7\n", "seven\n"))
    sh(repo, "git", "checkout", "-q", "--detach", start)
    sh(repo, "git", "mv", "old.txt", "new.txt")
    sh(repo, "git", "commit", "-qm", "rename")
    tip = sh(repo, "git", "rev-parse", "HEAD")
    sh(repo, "git", "checkout", "-q", "main")
    assert git.show(repo, squashed(repo, tip, work), "new.txt") == lines.replace("line 7\n", "seven\n").encode()


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


def test_what_landed_is_taken_off_by_one_commit_and_what_others_landed_stays(repo: Path, base: str) -> None:
    first = commit(repo, base, a__txt="a1")
    other = commit(repo, first, b__txt="b")
    second = commit(repo, other, a__txt="a2", c__txt="c")
    back = build_reversal(repo, second, [Landing(other, second), Landing(base, first)], "back")
    assert isinstance(back, Landing)
    assert (back.base, git.parents(repo, back.commit)) == (second, (second,))
    assert git.tree_of(repo, back.commit) == git.tree_of(repo, commit(repo, base, b__txt="b"))
    again = build_reversal(repo, back.commit, [Landing(base, first)], "once more")
    assert again == Landing(back.commit, back.commit)


def test_work_that_began_before_something_was_taken_off_does_not_bring_it_back(repo: Path, base: str) -> None:
    first = commit(repo, base, a__txt="a")
    under_way = commit(repo, first, b__txt="b")
    back = build_reversal(repo, first, [Landing(base, first)], "back")
    assert isinstance(back, Landing)
    landing = build_landing(repo, back.commit, under_way, "land b")
    assert isinstance(landing, Landing)
    assert git.tree_of(repo, landing.commit) == git.tree_of(repo, commit(repo, base, b__txt="b"))


def test_what_others_built_on_cannot_be_taken_off(repo: Path, base: str) -> None:
    first = commit(repo, base, a__txt="a1")
    tip = commit(repo, first, a__txt="a1 and more")
    assert build_reversal(repo, tip, [Landing(base, first)], "back") == Conflict(("a.txt",))
