from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from agent_fox.system.git import GitError
from agent_fox.testing.worlds import new_repository
from agent_fox.verifier.policy.change_under_check import change_since, changed_paths
from agent_fox.verifier.policy.values import FileChange


def git(root: Path, *arguments: str) -> str:
    who = ["-c", "user.name=t", "-c", "user.email=t@t"]
    return subprocess.run(
        ["git", *who, *arguments], cwd=root, check=True, capture_output=True, text=True
    ).stdout.strip()


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    new_repository(tmp_path)
    (tmp_path / "kept.py").write_text("kept = 1\n")
    (tmp_path / "gone.py").write_text("gone = 1\n")
    (tmp_path / ".gitignore").write_text("build/\n")
    git(tmp_path, "add", "-A")
    git(tmp_path, "commit", "-qm", "first")
    return tmp_path


def change(repo: Path) -> None:
    (repo / "kept.py").write_text("kept = 2\n")
    (repo / "gone.py").unlink()
    (repo / "new.py").write_bytes(b"\xff\x00")
    (repo / "build").mkdir()
    (repo / "build/out.py").write_text("")


def test_changed_removed_and_untracked_files_are_seen_and_ignored_ones_are_not(repo: Path) -> None:
    base = git(repo, "rev-parse", "HEAD")
    change(repo)
    assert change_since(repo, base).files == {
        "kept.py": FileChange(b"kept = 1\n", b"kept = 2\n"),
        "gone.py": FileChange(b"gone = 1\n", None),
        "new.py": FileChange(None, b"\xff\x00"),
    }
    assert changed_paths(repo, base) == ("gone.py", "kept.py", "new.py")


def test_looking_leaves_nothing_behind_and_runs_nothing_of_the_workspace(repo: Path) -> None:
    base = git(repo, "rev-parse", "HEAD")
    trap = repo / "trap.sh"
    trap.write_text("#!/bin/sh\ntouch trapped\ncat\n")
    trap.chmod(0o755)
    git(repo, "config", "filter.trap.clean", str(trap))
    git(repo, "config", "core.fsmonitor", str(trap))
    (repo / ".gitattributes").write_text("*.py filter=trap\n")
    change(repo)
    before = sorted(path for path in (repo / ".git").rglob("*"))
    assert "kept.py" in changed_paths(repo, base)
    assert sorted(path for path in (repo / ".git").rglob("*")) == before
    assert not (repo / "trapped").exists()


def test_a_change_that_is_hidden_from_git_status_is_still_seen(repo: Path) -> None:
    base = git(repo, "rev-parse", "HEAD")
    git(repo, "update-index", "--assume-unchanged", "kept.py")
    (repo / "kept.py").write_text("kept = 2\n")
    assert git(repo, "status", "--porcelain") == ""
    assert changed_paths(repo, base) == ("kept.py",)


def test_what_no_committed_rule_hides_is_part_of_the_change(
    repo: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    base = git(repo, "rev-parse", "HEAD")
    everywhere = tmp_path_factory.mktemp("settings") / "ignore"
    everywhere.write_text("everywhere.py\n")
    git(repo, "config", "core.excludesFile", str(everywhere))
    (repo / ".git/info/exclude").write_text("conftest.py\n__pycache__/\ninside/\n")
    (repo / "new").mkdir()
    (repo / "new/.gitignore").write_text("*\n")
    for name in ("conftest.py", "everywhere.py", "new/own.py", "__pycache__/m.pyc", "build/out.py", "inside/a.py"):
        (repo / name).parent.mkdir(exist_ok=True)
        (repo / name).write_text("1\n")
    git(repo / "inside", "init", "-q")
    git(repo / "inside", "add", "-A")
    git(repo / "inside", "commit", "-qm", "a repository of its own")
    assert changed_paths(repo, base) == ("conftest.py", "everywhere.py", "inside", "new/.gitignore", "new/own.py")
    assert change_since(repo, base).files["conftest.py"] == FileChange(None, b"1\n")


def test_settings_and_specs_of_ours_that_are_hidden_are_part_of_the_change_and_what_we_write_is_not(repo: Path) -> None:
    base = git(repo, "rev-parse", "HEAD")
    (repo / ".git/info/exclude").write_text(".agent-fox/\n")
    for name in (
        "config.toml",
        "verifier.toml",
        "specs/01_a/requirements.md",
        "state.db-wal",
        "logs/a.log",
        ".gitignore",
    ):
        (repo / ".agent-fox" / name).parent.mkdir(parents=True, exist_ok=True)
        (repo / ".agent-fox" / name).write_text("1\n")
    assert changed_paths(repo, base) == (
        ".agent-fox/config.toml", ".agent-fox/specs/01_a/requirements.md", ".agent-fox/verifier.toml",
    )  # fmt: skip


def test_submodules_count_where_they_are_and_with_what_is_not_committed_in_them(repo: Path) -> None:
    (repo / "inside").mkdir()
    for arguments in (("init", "-q"), ("commit", "-q", "--allow-empty", "-m", "one")):
        git(repo / "inside", *arguments)
    (repo / ".gitmodules").write_text('[submodule "inside"]\n\tpath = inside\n\turl = /nowhere\n\tignore = all\n')
    git(repo, "add", "-f", "inside", ".gitmodules")
    git(repo, "commit", "-qm", "a submodule whose changes nobody is shown")
    base = git(repo, "rev-parse", "HEAD")
    assert changed_paths(repo, base) == ()
    (repo / "inside/new.py").write_text("1\n")
    assert git(repo, "status", "--porcelain") == ""
    assert changed_paths(repo, base) == ("inside/new.py",)
    git(repo / "inside", "add", "-A")
    git(repo / "inside", "commit", "-qm", "two")
    assert changed_paths(repo, base) == ("inside",)


def test_a_base_that_is_no_commit_is_an_error(repo: Path) -> None:
    with pytest.raises(GitError):
        changed_paths(repo, "0" * 40)


def test_installed_packages_are_no_part_of_a_change_unless_they_were_committed(repo: Path) -> None:
    base = git(repo, "rev-parse", "HEAD")
    (repo / "node_modules/a").mkdir(parents=True)
    (repo / "node_modules/a/index.js").write_text("1\n")
    assert changed_paths(repo, base) == ()
    git(repo, "add", "-f", "node_modules")
    git(repo, "commit", "-qm", "with packages")
    (repo / "node_modules/a/index.js").write_text("2\n")
    assert changed_paths(repo, git(repo, "rev-parse", "HEAD")) == ("node_modules/a/index.js",)


def test_a_folder_that_git_ignores_is_left_out_under_every_way_of_ignoring_it(repo: Path) -> None:
    for folder in (".venv", "venv", "node_modules"):
        (repo / folder / "lib").mkdir(parents=True)
        (repo / folder / "lib/a.py").write_text("1\n")
    (repo / ".git/info/exclude").write_text("/venv\n")
    for pattern in (".venv/\nnode_modules\n", ".venv/*\n**/node_modules/**\n", "/.venv\n/node_modules/lib/\n"):
        (repo / ".gitignore").write_text(pattern)
        git(repo, "add", ".gitignore")
        git(repo, "commit", "-qm", "ignored")
        (repo / "kept.py").write_text(f"kept = {pattern!r}\n")
        assert changed_paths(repo, git(repo, "rev-parse", "HEAD")) == ("kept.py",)


@pytest.mark.parametrize("ignored", [False, True])
def test_a_repository_inside_without_a_commit_is_named_with_what_to_do(repo: Path, ignored: bool) -> None:
    base = git(repo, "rev-parse", "HEAD")
    (repo / "inner").mkdir()
    git(repo / "inner", "init", "-q")
    (repo / "inner" / "a.py").write_text("a = 1\n")
    if ignored:
        (repo / ".gitignore").write_text("inner/\n")
    with pytest.raises(GitError, match=r"^inner in .* is a git repository without any commit.*; commit in it, "):
        changed_paths(repo, base)
    git(repo / "inner", "add", "-A")
    git(repo / "inner", "commit", "-qm", "first")
    assert "inner" in changed_paths(repo, base)
