"""What tools leave in a workspace never lands where git does not track it already; what is left out is said."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent_fox.session.order import EndKind, SessionEnd, StopSignal
from agent_fox.session.session_lifecycle import run_session
from agent_fox.session.workspaces.leavings import Leavings, leavings_of
from agent_fox.system import git
from tests.session.world import make_order, never_told, sh, shell, write

CACHES = "mkdir -p src/__pycache__ .pytest_cache/v; echo x > src/__pycache__/a.pyc; echo x > .pytest_cache/v/nodeids"


@pytest.fixture
def bare(repo: Path) -> Path:
    """The repository of somebody who never wrote a .gitignore."""
    sh(repo, "git", "rm", "-q", ".gitignore")
    sh(repo, "git", "commit", "-qm", "no .gitignore")
    return repo


def run(repo: Path, script: str) -> SessionEnd:
    return run_session(make_order(repo, agent=shell(script)), never_told, StopSignal())


def landed(repo: Path, end: SessionEnd) -> list[str]:
    assert end.kind is EndKind.ENDED, end.reason
    assert end.work is not None
    return sh(repo, "git", "diff", "--name-only", "HEAD", end.work.commit).splitlines()


def test_caches_are_left_out_and_counted(bare: Path) -> None:
    end = run(bare, f"{CACHES}; echo x > new.txt")
    assert landed(bare, end) == ["new.txt"]
    assert "left out what tools leave: .pytest_cache/ (1 file), src/__pycache__/ (1 file)" in end.notes


def test_a_link_in_the_place_of_a_cache_is_left_out(bare: Path) -> None:
    end = run(bare, "ln -s /somewhere/node_modules node_modules; ln -s /somewhere/venv .venv; echo x > new.txt")
    assert landed(bare, end) == ["new.txt"]
    assert "left out what tools leave: .venv (1 file), node_modules (1 file)" in end.notes


def test_what_installing_and_patching_leave_is_left_out(bare: Path) -> None:
    names = "pkg.egg-info/PKG-INFO venv/bin/python .tox/log .coverage.host.1.X a.py.orig a.py.rej .DS_Store"
    end = run(bare, f"for file in {names}; do mkdir -p $(dirname $file); echo x > $file; done; echo x > new.txt")
    assert landed(bare, end) == ["new.txt"]


def test_a_session_that_left_nothing_but_caches_changed_nothing(bare: Path) -> None:
    end = run(bare, CACHES)
    assert end.work is not None
    assert end.work.is_unchanged


def test_what_builds_make_is_left_out_by_name_and_it_is_said_how_it_would_land(bare: Path) -> None:
    end = run(bare, "mkdir -p dist build/a; echo x > dist/app.js; echo x > build/a/b.o; echo x > new.txt")
    assert landed(bare, end) == ["new.txt"]
    (note,) = [note for note in end.notes if "build/" in note]
    assert note == (
        "left out as made by a build: build/ (1 file), dist/ (1 file); "
        "what is work there lands where .gitignore names it with `!`, such as `!build/`"
    )


def test_new_files_land_in_a_folder_that_git_tracks_already(bare: Path) -> None:
    write(bare, {"build/deploy.sh": "old\n", "tools/build/keep.txt": "x\n"})
    sh(bare, "git", "add", "-Af")
    sh(bare, "git", "commit", "-qm", "build scripts")
    end = run(bare, "echo x > build/deploy.sh; echo x > build/more.sh; mkdir -p other/build; echo x > other/build/a")
    assert landed(bare, end) == ["build/deploy.sh", "build/more.sh"]
    assert any("other/build/ (1 file)" in note for note in end.notes)


def test_a_person_can_say_that_it_is_work(bare: Path) -> None:
    write(bare, {".gitignore": "!dist/\n"})
    sh(bare, "git", "add", "-A")
    sh(bare, "git", "commit", "-qm", "dist is source here")
    assert landed(bare, run(bare, "mkdir dist; echo x > dist/app.js")) == ["dist/app.js"]


def test_a_file_that_is_tracked_lands_whatever_its_name(bare: Path) -> None:
    write(bare, {"kept.log": "old\n"})
    sh(bare, "git", "add", "-Af")
    sh(bare, "git", "commit", "-qm", "a log that is kept")
    end = run(bare, "echo new > kept.log; echo x > debug.log")
    assert landed(bare, end) == ["kept.log"]


def test_a_large_dependency_folder_is_no_reason_to_refuse_the_work(bare: Path) -> None:
    script = "mkdir -p node_modules/a/.git; head -c 40000000 /dev/zero > node_modules/a/big; echo x > new.txt"
    assert landed(bare, run(bare, script)) == ["new.txt"]


def test_git_agrees_with_what_was_left_out(bare: Path) -> None:
    """The paths that are left out are literal: a folder whose name has git's own signs is found, and nothing else."""
    end = run(bare, "mkdir -p 'a[b]/build' ab/src; echo x > 'a[b]/build/x'; echo x > ab/src/y")
    assert landed(bare, end) == ["ab/src/y"]
    assert end.work is not None
    assert git.show(bare, end.work.commit, "ab/src/y") == b"x\n"


@pytest.mark.parametrize(
    ("untracked", "tracked", "caches", "products"),
    [
        ([], [], {}, {}),
        (["a.py"], [], {}, {}),
        (["build"], [], {}, {}),
        (["a.pyc", "x/a.log"], [], {"a.pyc": 1}, {"x/a.log": 1}),
        (["a/node_modules/b/build/c", "a/node_modules/d"], [], {"a/node_modules/": 2}, {}),
        (["build/__pycache__/a.pyc", "build/b"], ["build/c"], {"build/__pycache__/": 1}, {}),
        (["target/a", "my_target/a", "targets/b"], ["src/target.py"], {}, {"target/": 1}),
        (["A.class", "nohup.out", "x/coverage.xml"], [], {"A.class": 1, "nohup.out": 1, "x/coverage.xml": 1}, {}),
        (["lib/a.o", "lib/a.obj"], ["lib/b.o"], {}, {"lib/a.o": 1}),
        (["sub/build/a"], ["build/x"], {}, {"sub/build/": 1}),
    ],
)
def test_what_counts_as_left_by_tools(
    untracked: list[str], tracked: list[str], caches: dict[str, int], products: dict[str, int]
) -> None:
    assert leavings_of(untracked, tracked) == Leavings(caches, products)
