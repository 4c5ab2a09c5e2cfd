"""What a command did to the source is seen, whatever it did to hide it; and what it did not do is not claimed."""

from __future__ import annotations

import os
import shutil
import subprocess
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from agent_fox.testing.worlds import new_repository
from agent_fox.verifier.source.git import read_index
from agent_fox.verifier.source.scope import SourceScope
from agent_fox.verifier.source.watch import Change, ChangeKind, SourceMissing, changed, digest, read_tree

SCOPE = SourceScope(
    include=("build/kept/**",), exclude=("build/**", "target/", "**/__pycache__/**", "*.pyc", "/docs/out/")
)
ADDED, CHANGED, REMOVED = ChangeKind.ADDED, ChangeKind.CHANGED, ChangeKind.REMOVED
NOBODY = 65534


def git(root: Path, *arguments: str) -> str:
    identity = ("-c", "user.name=A Person", "-c", "user.email=person@example.org")
    command = ["git", *identity, "-C", str(root), *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "repo"
    files = ("main.py", "tool.sh", "pkg/part.py", "build/committed.py", "build/kept/made.py", "build/scratch.o")
    for name in files:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(f"{name} holds this\n")
    new_repository(root)
    git(root, "add", "--force", "main.py", "tool.sh", "pkg/part.py", "build/committed.py")
    git(root, "commit", "--quiet", "-m", "first")
    return root


def seen(root: Path, act: Callable[[], object], scope: SourceScope = SCOPE) -> tuple[Change, ...]:
    """What a watch around `act` tells; once with a cache and once without, which must agree."""
    before = read_tree(root, scope)
    act()
    told = changed(before, read_tree(root, scope, before))
    assert changed(before, read_tree(root, scope)) == told
    return told


def test_nothing_done_is_nothing_changed(root: Path) -> None:
    assert seen(root, lambda: None) == ()


def test_added_changed_and_removed_files_are_told_by_path(root: Path) -> None:
    def act() -> None:
        (root / "pkg/new.py").write_text("new")
        (root / "main.py").write_text("other")
        (root / "tool.sh").unlink()

    assert seen(root, act) == (Change("main.py", CHANGED), Change("pkg/new.py", ADDED), Change("tool.sh", REMOVED))


def test_a_restored_time_hides_nothing(root: Path) -> None:
    file = root / "main.py"

    def act() -> None:
        times = file.stat()
        file.write_text(file.read_text().upper())
        os.utime(file, ns=(times.st_atime_ns, times.st_mtime_ns))

    assert seen(root, act) == (Change("main.py", CHANGED),)


def test_two_changes_within_one_tick_of_the_clock_are_told_apart(root: Path) -> None:
    for number in range(30):
        (root / "main.py").write_text(f"{number:03}")
        assert seen(root, lambda: (root / "main.py").write_text("xyz")) == (Change("main.py", CHANGED),)


def test_what_git_is_told_to_overlook_is_seen(root: Path) -> None:
    git(root, "config", "core.trustctime", "false")
    git(root, "update-index", "--assume-unchanged", "main.py")
    (root / ".git/info/exclude").write_text("*\n")

    def act() -> None:
        (root / "main.py").write_text("other")
        (root / "hidden.py").write_text("new")

    assert seen(root, act) == (Change("hidden.py", ADDED), Change("main.py", CHANGED))


def test_a_file_that_was_touched_or_rewritten_alike_is_no_change(root: Path) -> None:
    def act() -> None:
        (root / "main.py").touch()
        (root / "tool.sh").write_text((root / "tool.sh").read_text())
        shutil.copy(root / "pkg/part.py", root / "pkg/copy")
        (root / "pkg/copy").replace(root / "pkg/part.py")

    assert seen(root, act) == ()


def test_a_mode_a_link_a_folder_and_a_pipe_instead_of_a_file_are_changes(root: Path) -> None:
    def act() -> None:
        (root / "tool.sh").chmod(0o755)
        (root / "main.py").unlink()
        (root / "main.py").symlink_to("tool.sh")
        (root / "pkg/part.py").unlink()
        (root / "pkg/part.py").mkdir()
        (root / "pkg/part.py/inner").write_text("x")
        os.mkfifo(root / "pipe")

    assert seen(root, act) == (
        Change("main.py", CHANGED),
        Change("pipe", ADDED),
        Change("pkg/part.py", REMOVED),
        Change("pkg/part.py/inner", ADDED),
        Change("tool.sh", CHANGED),
    )


def test_a_link_that_leads_elsewhere_is_a_change_and_is_not_followed(root: Path, tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside/file").write_text("x")
    (root / "link").symlink_to(tmp_path / "outside")

    def act() -> None:
        (tmp_path / "outside/file").write_text("y")
        (root / "pkg/link").symlink_to("nowhere")

    assert seen(root, act) == (Change("pkg/link", ADDED),)
    (root / "link").unlink()
    assert seen(root, lambda: (root / "link").symlink_to("/")) == (Change("link", ADDED),)


def test_a_rename_that_only_changes_case_is_a_change(root: Path) -> None:
    told = seen(root, lambda: (root / "main.py").rename(root / "Main.py"))
    assert told == (Change("Main.py", ADDED), Change("main.py", REMOVED))


def test_build_output_is_no_source(root: Path) -> None:
    def act() -> None:
        for name in ("build/more.o", "pkg/target/a.class", "pkg/__pycache__/a.pyc", "a.pyc", "docs/out/page"):
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text("made")
        (root / "build/scratch.o").write_text("other")

    assert seen(root, act) == ()


def test_committed_and_included_files_in_an_excluded_folder_are_source(root: Path) -> None:
    def act() -> None:
        (root / "build/committed.py").write_text("other")
        (root / "build/kept/made.py").write_text("other")
        (root / "build/kept/new.py").write_text("new")

    assert seen(root, act) == (
        Change("build/committed.py", CHANGED),
        Change("build/kept/made.py", CHANGED),
        Change("build/kept/new.py", ADDED),
    )


def test_a_command_that_untracks_a_committed_file_does_not_hide_it(root: Path) -> None:
    before = read_tree(root, SCOPE)
    git(root, "rm", "--quiet", "--cached", "build/committed.py")
    (root / "build/committed.py").write_text("other")
    told = changed(before, read_tree(root, SCOPE, before))
    assert told == (Change(".git/index", CHANGED), Change("build/committed.py", CHANGED))


def test_a_file_named_like_an_excluded_folder_is_source(root: Path) -> None:
    assert seen(root, lambda: (root / "pkg/target").write_text("a script")) == (Change("pkg/target", ADDED),)


@pytest.mark.parametrize(
    ("act", "told"),
    [
        (lambda root: git(root, "config", "core.fsmonitor", "touch x"), (Change(".git/config", CHANGED),)),
        (lambda root: (root / ".git/hooks/pre-push").write_text("#!/bin/sh"), (Change(".git/hooks/pre-push", ADDED),)),
        (lambda root: (root / ".git/info/exclude").write_text("*"), (Change(".git/info/exclude", CHANGED),)),
        (lambda root: git(root, "branch", "other"), (Change(".git/refs/heads/other", ADDED),)),
        (lambda root: git(root, "symbolic-ref", "HEAD", "refs/heads/x"), (Change(".git/HEAD", CHANGED),)),
        (lambda root: git(root, "update-index", "--skip-worktree", "main.py"), (Change(".git/index", CHANGED),)),
        (lambda root: git(root, "status"), ()),
        (lambda root: ((root / "main.py").touch(), git(root, "update-index", "--refresh")), ()),
    ],
)  # fmt: skip
def test_a_command_that_edits_git_is_seen_and_one_that_asks_git_is_not(
    root: Path, act: Callable[[Path], object], told: tuple[Change, ...]
) -> None:
    assert seen(root, lambda: act(root)) == told


def test_the_repository_of_a_linked_worktree_is_watched_too(root: Path, tmp_path: Path) -> None:
    tree = tmp_path / "linked"
    git(root, "worktree", "add", "--quiet", str(tree))
    assert seen(tree, lambda: git(tree, "config", "core.hooksPath", "x")) == (Change(".git/config", CHANGED),)
    assert seen(tree, lambda: git(tree, "checkout", "--quiet", "--detach")) == (Change(".git/HEAD", CHANGED),)
    assert seen(tree, lambda: git(root, "branch", "of-another-worktree")) == ()


def test_names_with_line_ends_and_bytes_that_are_no_text_are_told_and_can_be_shown(root: Path) -> None:
    name = os.fsdecode(b"new\nline \xff\xe4.py")
    told = seen(root, lambda: (root / name).write_text("x"))
    assert told == (Change(name, ADDED),)
    assert told[0].shown == r"new\nline \xff\xe4.py"


@pytest.fixture
def as_nobody() -> Callable[[Callable[[], object]], object]:
    """Runs an action as a user who may not read everything; the superuser could."""

    def run(action: Callable[[], object]) -> object:
        if os.geteuid() != 0:
            return action()
        os.seteuid(NOBODY)
        try:
            return action()
        finally:
            os.seteuid(0)

    return run


def test_a_folder_made_unreadable_is_told_and_its_files_are_not_called_removed(
    root: Path, as_nobody: Callable[[Callable[[], object]], object]
) -> None:
    for folder in (root, *root.parents):
        if folder.stat().st_uid == os.geteuid() and folder != Path("/"):
            folder.chmod(0o755)
    before = read_tree(root, SCOPE)
    (root / "pkg").chmod(0)
    told: list[tuple[Change, ...]] = []
    as_nobody(lambda: told.append(changed(before, read_tree(root, SCOPE, before))))
    (root / "pkg").chmod(0o755)
    assert told == [(Change("pkg/", CHANGED),)]


def test_a_workspace_that_is_gone_is_said_to_be(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    for place in ("nowhere", "file"):
        with pytest.raises(SourceMissing):
            read_tree(tmp_path / place, SCOPE)


def test_an_index_that_is_no_index_stops_nobody(root: Path) -> None:
    for junk in (b"", b"DIRC", b"DIRC\0\0\0\2\xff\xff\xff\xff" + bytes(300), b"\0" * 5000):
        before = read_tree(root, SCOPE)
        (root / ".git/index").write_bytes(junk)
        assert changed(before, read_tree(root, SCOPE, before)) == (Change(".git/index", CHANGED),)


@pytest.mark.parametrize(
    "shape", [("--index-version", "2"), ("--index-version", "3"), ("--index-version", "4"), ("--split-index",)]
)
def test_every_kind_of_index_names_what_git_says_is_tracked(root: Path, shape: tuple[str, ...]) -> None:
    for number in range(40):
        (root / f"pkg/{'x' * number}_é{number}.py").write_text("x")
    git(root, "add", "pkg")
    git(root, "update-index", *shape)
    (root / "later.py").write_text("x")
    git(root, "add", "--intent-to-add", "later.py")
    said = git(root, "ls-files", "-z").split("\0")[:-1]
    assert read_index(root / ".git/index").paths == set(said)


def test_an_index_of_a_sha256_repository_is_read(tmp_path: Path) -> None:
    git(tmp_path, "init", "--quiet", "--object-format=sha256")
    (tmp_path / "a.py").write_text("x")
    git(tmp_path, "add", "a.py")
    assert read_index(tmp_path / ".git/index").paths == {"a.py"}


def test_files_that_change_during_the_read_break_nothing(root: Path) -> None:
    stop = threading.Event()

    def churn() -> None:
        number = 0
        while not stop.is_set():
            number += 1
            (root / f"pkg/{number % 7}").write_text("x" * (number % 5000))
            (root / f"pkg/{number % 5}").unlink(missing_ok=True)
            shutil.rmtree(root / "pkg/deep", ignore_errors=True)
            (root / "pkg/deep").symlink_to("..") if number % 2 else (root / "pkg/deep").mkdir()
            if number % 2:
                (root / "pkg/deep").unlink()

    worker = threading.Thread(target=churn)
    worker.start()
    try:
        states = [read_tree(root, SCOPE) for _ in range(60)]
    finally:
        stop.set()
        worker.join()
    assert all("main.py" in state.folders[""] for state in states)
    calm = read_tree(root, SCOPE, states[-1])
    assert changed(calm, read_tree(root, SCOPE)) == ()


def test_a_digest_is_that_of_the_content_wherever_it_lies(root: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(root, copy, ignore=shutil.ignore_patterns("scratch.o"))
    git(copy, "branch", "other")
    first = digest(root, SCOPE)
    assert digest(copy, SCOPE) == first
    (copy / "tool.sh").chmod(0o755)
    executable = digest(copy, SCOPE)
    (copy / "tool.sh").rename(copy / "tool2.sh")
    assert len({first, executable, digest(copy, SCOPE)}) == 3


def test_many_files_are_read_again_in_a_fraction_of_a_second(tmp_path: Path) -> None:
    for folder in range(20):
        (tmp_path / f"{folder}").mkdir()
        for number in range(100):
            (tmp_path / f"{folder}/{number}.py").write_text("x" * number)
    before = read_tree(tmp_path, SCOPE)
    (tmp_path / "7/7.py").write_text("y" * 7)
    time.sleep(0.05)  # the stamp of what was just written tells nothing yet
    settled = read_tree(tmp_path, SCOPE, before)
    began = time.monotonic()
    again = read_tree(tmp_path, SCOPE, settled)
    assert time.monotonic() - began < 0.5
    assert changed(before, again) == (Change("7/7.py", CHANGED),)
    assert changed(settled, again) == ()
    assert again.folders["3" + "/"]["3.py"] is settled.folders["3/"]["3.py"]
