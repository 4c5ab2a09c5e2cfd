"""A picture of a repository shows what moved, and a reference is put back from wherever it stands."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent_fox.system import git
from agent_fox.system.git_refs import differences, picture, place_of, put_back
from tests.session.world import make_repo, sh, write

REF = "refs/heads/ours/branch"


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    root = make_repo(tmp_path / "repo")
    sh(root, "git", "commit", "-q", "--allow-empty", "-m", "second")
    sh(root, "git", "update-ref", REF, "HEAD")
    return root


def first(repo: Path) -> str:
    return sh(repo, "git", "rev-parse", "HEAD~1")


def test_looking_twice_shows_the_same(repo: Path) -> None:
    assert picture(repo) == picture(repo)


def test_a_person_at_work_in_files_and_index_changes_nothing_in_the_picture(repo: Path) -> None:
    before = picture(repo)
    write(repo, {"new.txt": "x", "README.md": "changed"})
    sh(repo, "git", "add", "new.txt")
    sh(repo, "git", "update-ref", "refs/remotes/origin/main", "HEAD")
    assert picture(repo) == before


def test_moved_new_and_lost_references_are_seen(repo: Path) -> None:
    sh(repo, "git", "tag", "old")
    before, tip = picture(repo), sh(repo, "git", "rev-parse", "HEAD")
    sh(repo, "git", "tag", "-d", "old")
    sh(repo, "git", "symbolic-ref", "refs/heads/alias", "refs/heads/main")
    sh(repo, "git", "update-ref", REF, first(repo))
    assert list(differences(before.refs, picture(repo).refs)) == [
        ("refs/heads/alias", None, "-> refs/heads/main"),
        (REF, tip, first(repo)),
        ("refs/tags/old", tip, None),
    ]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("config", "[core]\n\tbare = false\n[alias]\n\tx = y\n"),
        ("hooks/pre-push", "#!/bin/sh\n"),
        ("hooks/deep/one", "x"),
        ("info/attributes", "* text\n"),
        ("objects/info/alternates", "/elsewhere\n"),
        ("config.worktree", "[core]\n"),
    ],
)
def test_settings_and_hooks_are_seen(repo: Path, name: str, text: str) -> None:
    before = picture(repo)
    write(repo, {f".git/{name}": text})
    assert [path for path, _, _ in differences(before.files, picture(repo).files)] == [name]


def test_a_hook_that_becomes_executable_or_a_link_is_seen(repo: Path) -> None:
    write(repo, {".git/hooks/pre-push": "x"})
    before = picture(repo)
    hook = repo / ".git/hooks/pre-push"
    hook.chmod(0o755)
    runs = picture(repo)
    hook.unlink()
    hook.symlink_to("/elsewhere")
    assert runs.files != before.files
    assert picture(repo).files["hooks/pre-push"] == "-> /elsewhere"


STATES = {
    "moved": "git update-ref {ref} HEAD",
    "deleted": "git update-ref -d {ref}",
    "deleted with what is packed": "git pack-refs --all; git update-ref -d {ref}",
    "symbolic": "git symbolic-ref {ref} refs/heads/main",
    "symbolic to nowhere": "git symbolic-ref {ref} refs/heads/nowhere",
    "garbage": "echo garbage > .git/{ref}",
    "empty": ": > .git/{ref}",
    "a link": "rm .git/{ref}; ln -s /etc/hostname .git/{ref}",
    "another object": "git rev-parse HEAD^{{tree}} > .git/{ref}",
    "an object that is not there": "echo 0123456789012345678901234567890123456789 > .git/{ref}",
}


@pytest.mark.parametrize("damage", STATES.values(), ids=STATES)
def test_a_reference_is_put_back_from_wherever_it_stands_and_no_other_moves(repo: Path, damage: str) -> None:
    main = sh(repo, "git", "rev-parse", "main")
    sh(repo, "git", "update-ref", REF, first(repo))
    sh(repo, "sh", "-c", damage.format(ref=REF))
    assert place_of(repo, REF) != first(repo)
    assert put_back(repo, REF, first(repo))
    assert place_of(repo, REF) == first(repo)
    assert (sh(repo, "git", "rev-parse", "main"), sh(repo, "git", "symbolic-ref", "HEAD")) == (main, "refs/heads/main")


def test_a_commit_that_is_gone_cannot_be_put_back_and_the_remedy_is_told(repo: Path) -> None:
    with pytest.raises(git.GitError, match=r"the commit 012345678901 that it stood at is gone; fetch"):
        put_back(repo, REF, "0123456789" * 4)


def test_replacements_and_grafts_that_somebody_planted_are_not_believed(repo: Path) -> None:
    tip, before = sh(repo, "git", "rev-parse", "HEAD"), first(repo)
    sh(repo, "git", "replace", tip, before)
    write(repo, {".git/info/grafts": f"{tip}\n"})
    assert git.parents(repo, tip) == (before,)
    assert git.is_ancestor(repo, before, tip)
    assert git.call(repo, "show", "-s", "--format=%s", tip).text == "second"
