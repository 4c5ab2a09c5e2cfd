"""Git functions against real repositories."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from agent_fox.system import git, git_objects
from agent_fox.system.git_objects import Conflict, Merged
from agent_fox.testing.worlds import new_repository


def sh(repo: Path, *argv: str) -> str:
    return subprocess.run(argv, cwd=repo, check=True, capture_output=True, text=True).stdout.strip()


def commit(repo: Path, message: str = "change", **files: str) -> str:
    for name, text in files.items():
        (repo / name.replace("__", ".")).write_text(text)
    sh(repo, "git", "add", "-A")
    sh(repo, "git", "-c", "user.name=Ada", "-c", "user.email=ada@example.org", "commit", "-qm", message)
    return sh(repo, "git", "rev-parse", "HEAD")


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    made = tmp_path / "repo"
    made.mkdir()
    new_repository(made)
    commit(made, a__txt="one\n", b__txt="two\n")
    return made


def test_the_installed_git_is_new_enough() -> None:
    git.check_version()
    assert git.version() >= git.OLDEST_VERSION


def test_a_missing_git_is_told_with_what_to_do(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(git.GitError, match="not on PATH; install"):
        git.head(repo)


def test_a_ctrl_c_of_the_terminal_leaves_git_alone(tmp_path: Path) -> None:
    """A terminal sends it to everything in its foreground; what a run does about it is for the run to say."""
    impatient = tmp_path / "git"
    impatient.write_text(
        f"#!{sys.executable}\nimport os, signal\n"
        "os.killpg(os.getpgid(os.getppid()), signal.SIGINT)\nprint('answered')\n"
    )
    impatient.chmod(0o755)
    run = (
        "import signal, pathlib; from agent_fox.system import git; signal.signal(signal.SIGINT, lambda *_: None);"
        "print(git.call(pathlib.Path.cwd(), 'status').text)"
    )
    done = subprocess.run(
        [sys.executable, "-c", run], env=os.environ | {"PATH": str(tmp_path)}, capture_output=True, text=True,
        start_new_session=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (0, "answered\n", "")


def test_what_git_refuses_is_told_with_place_and_reason(repo: Path) -> None:
    with pytest.raises(git.GitError, match=r"no-such-commit in .* is no commit"):
        git_objects.files_under(repo, "no-such-commit")


def test_a_folder_is_a_repository_or_not(repo: Path, tmp_path: Path) -> None:
    below = repo / "below"
    below.mkdir()
    assert git.root_of(below) == repo
    assert git.is_repository(repo)
    assert not git.is_repository(tmp_path)
    assert not git.is_repository(tmp_path / "absent")


def test_head_of_a_repository_without_commits_is_none(tmp_path: Path) -> None:
    sh(tmp_path, "git", "init", "-q")
    assert git.head(tmp_path) is None


def test_the_callers_git_variables_mean_nothing(repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = git.head(repo)
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "elsewhere"))
    monkeypatch.setenv("GIT_INDEX_FILE", str(tmp_path / "index"))
    assert git.head(repo) == expected


def test_dirty_names_changed_and_untracked_files(repo: Path) -> None:
    assert git.dirty(repo) == ()
    (repo / "a.txt").write_text("other")
    (repo / "naïve name.txt").write_text("new")
    assert git.dirty(repo) == ("a.txt", "naïve name.txt")


def test_a_branch_checked_out_anywhere_is_found(repo: Path, tmp_path: Path) -> None:
    sh(repo, "git", "worktree", "add", "-q", "-b", "side", str(tmp_path / "tree"))
    assert git.checked_out_at(repo, "main") == repo
    assert git.checked_out_at(repo, "side") == tmp_path / "tree"
    assert git.checked_out_at(repo, "other") is None


def test_a_submodule_that_is_not_checked_out_is_unresolved(repo: Path, tmp_path: Path) -> None:
    assert git.unresolved_submodules(repo) == ()
    allow = ("-c", "protocol.file.allow=always")
    sh(repo, "git", *allow, "submodule", "--quiet", "add", str(repo), "vendored")
    commit(repo)
    assert git.unresolved_submodules(repo) == ()
    sh(repo, "git", "submodule", "--quiet", "deinit", "-f", "vendored")
    assert git.unresolved_submodules(repo) == ("vendored",)


def test_files_and_what_they_hold_are_read_from_a_commit(repo: Path) -> None:
    (repo / "docs").mkdir()
    first = git.head(repo) or ""
    second = commit(repo, **{"docs/é__md": "text"})
    assert list(git_objects.files_under(repo, first)) == ["a.txt", "b.txt"]
    assert list(git_objects.files_under(repo, second, "docs")) == ["docs/é.md"]
    assert git.show(repo, second, "docs/é.md") == b"text"
    assert git.show(repo, first, "docs/é.md") is None


def test_a_reference_moves_only_from_where_it_was_expected(repo: Path) -> None:
    first = git.head(repo) or ""
    second = commit(repo, a__txt="three\n")
    assert git.move_ref(repo, "refs/heads/other", first, None)
    assert not git.move_ref(repo, "refs/heads/other", second, None)
    assert not git.move_ref(repo, "refs/heads/other", first, second)
    assert git.move_ref(repo, "refs/heads/other", second, first)
    assert git.commit_of(repo, "other") == second
    git.delete_ref(repo, "refs/heads/other")
    git.delete_ref(repo, "refs/heads/other")
    assert git.commit_of(repo, "other") is None


def test_a_lock_that_stays_is_an_error_and_not_a_lost_race(repo: Path) -> None:
    first = git.head(repo) or ""
    second = commit(repo, a__txt="three\n")
    git.set_ref(repo, "refs/heads/other", first)
    (repo / ".git/refs/heads/other.lock").touch()
    with pytest.raises(git.GitError, match="lock"):
        git.move_ref(repo, "refs/heads/other", second, first)


def test_the_persons_identity_is_used_and_ours_only_where_there_is_none(
    repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    assert git.identity(repo) == git.Identity("agent-fox", "agent-fox@localhost")
    sh(repo, "git", "config", "user.name", "Grace Hopper")
    assert git.identity(repo) == git.Identity("agent-fox", "agent-fox@localhost")
    sh(repo, "git", "config", "user.email", "grace@example.org")
    assert git.identity(repo) == git.Identity("Grace Hopper", "grace@example.org")


def test_hooks_and_signing_of_the_person_do_not_run(repo: Path, tmp_path: Path) -> None:
    hook = repo / ".git/hooks/reference-transaction"
    hook.write_text(f"#!/bin/sh\ntouch {tmp_path / 'ran'}\n")
    hook.chmod(0o755)
    sh(repo, "git", "config", "commit.gpgSign", "true")
    sh(repo, "git", "config", "gpg.program", "/bin/false")
    tip = git.head(repo) or ""
    made = git_objects.commit_tree(repo, git.tree_of(repo, tip), [tip], "said", git.Identity("A", "a@b"))
    git.set_ref(repo, "refs/agent-fox/x", made)
    assert git.commit_of(repo, "refs/agent-fox/x") == made
    assert not (tmp_path / "ran").exists()


def test_a_dated_commit_is_the_same_commit_each_time(repo: Path) -> None:
    tip = git.head(repo) or ""
    tree, who = git.tree_of(repo, tip), git.Identity("A", "a@b")
    made = [git_objects.commit_tree(repo, tree, [tip], "said", who, at=1_700_000_000) for _ in range(2)]
    assert made[0] == made[1]
    assert sh(repo, "git", "show", "-s", "--format=%an %ae %ct %s", made[0]) == "A a@b 1700000000 said"


def test_a_merge_needs_no_checkout_and_names_what_conflicts(repo: Path) -> None:
    base = git.head(repo) or ""
    left = commit(repo, a__txt="left\n")
    sh(repo, "git", "checkout", "-q", "-b", "side", base)
    right = commit(repo, b__txt="right\n")
    clash = commit(repo, a__txt="clash\n", b__txt="clash\n")
    merged = git_objects.merge(repo, left, right)
    assert isinstance(merged, Merged)
    assert git.show(repo, merged.tree, "a.txt") == b"left\n"
    assert git.show(repo, merged.tree, "b.txt") == b"right\n"
    assert git_objects.merge(repo, left, clash) == Conflict(("a.txt",))


def test_a_merge_driver_of_the_configuration_does_not_run(repo: Path, tmp_path: Path) -> None:
    base = commit(repo, __gitattributes="*.txt merge=planted\n")
    sh(repo, "git", "config", "merge.planted.driver", f"touch {tmp_path / 'ran'}")
    left = commit(repo, a__txt="left\n")
    sh(repo, "git", "checkout", "-q", "-b", "side", base)
    right = commit(repo, a__txt="right\n")
    assert git_objects.merge(repo, left, right) == Conflict(("a.txt",))
    assert not (tmp_path / "ran").exists()


def test_a_repository_of_sha256_is_served_too(tmp_path: Path) -> None:
    sh(tmp_path, "git", "init", "-q", "--object-format=sha256")
    tip = commit(tmp_path, a__txt="one\n")
    assert len(tip) == 64
    with git_objects.store(tmp_path, tmp_path) as store:
        store.read_tree(tip)
        assert store.changed_files() == []


def test_a_repository_that_takes_the_place_of_another_is_asked_anew(tmp_path: Path) -> None:
    where = tmp_path / "again"
    for kind in ("sha1", "sha256"):
        sh(tmp_path, "git", "init", "-q", f"--object-format={kind}", str(where))
        assert (git.object_format(where), git.common_folder(where)) == (kind, where / ".git")
        inside = where / "deep" / "down"
        inside.mkdir(parents=True)
        assert (git.object_format(inside), git.common_folder(inside)) == (kind, where / ".git")
        where.rename(tmp_path / kind)


def test_the_environment_given_to_git_has_no_prompt_and_no_program_of_the_checkout(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", f"{tmp_path}/bin:/usr/bin")
    given = git.environment({"MORE": "1"}, tmp_path)
    assert (given["GIT_TERMINAL_PROMPT"], given["PATH"], given["MORE"]) == ("0", "/usr/bin", "1")
