"""A launch's own checkout in a repository of many files, beside git's own clone at the same place."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

from agent_fox.core.ids import Archetype
from agent_fox.session.order import Agent, LaunchOrder, StopSignal
from agent_fox.session.workspaces.workspace import prepare
from agent_fox.system import git
from agent_fox.system.files import remove_tree
from bench.figures import Aim, Figure, best
from bench.worlds import temporary_folder

AIM = Aim(ratio=2.0)
ROUNDS = 3
FILES_PER_FOLDER = 100
LINE = "a line of this file, as long as lines of code are on average\n"


def measure(files: int) -> Iterator[Figure]:
    """For a coder, and for a verifier, whose tracked files are made read-only."""
    with temporary_folder() as folder:
        repo = make_repository(folder / "repo", files)
        coder, verifier = order(folder, repo, Archetype.CODER), order(folder, repo, Archetype.VERIFIER)
        clone, written, read = best(
            ROUNDS,
            lambda: cloned(repo, folder / "clone"),
            lambda: prepared(coder),
            lambda: prepared(verifier),
        )
        remove_tree(coder.state)
        remove_tree(verifier.state)
    yield Figure(f"a coder's checkout of {files:,} files", written, clone, "git clone --shared", AIM)
    yield Figure(f"a verifier's checkout of {files:,} files", read, clone, "git clone --shared", AIM)


def make_repository(repo: Path, files: int) -> Path:
    subprocess.run(["git", "init", "--quiet", "-b", "main", str(repo)], check=True)
    subprocess.run(["git", "-C", str(repo), "fast-import", "--quiet"], input=stream(files).encode(), check=True)
    subprocess.run(["git", "-C", str(repo), "reset", "--quiet", "--hard", "main"], check=True)
    return repo


def stream(files: int) -> str:
    """One commit with all files, for git fast-import."""
    head = "commit refs/heads/main\ncommitter A Person <person@example.org> 1700000000 +0000\ndata 5\nfiles\n"
    return head + "".join(entry(number) for number in range(files)) + "\n"


def entry(number: int) -> str:
    text = LINE * (number % 40 + 1) + f"{number}\n"
    path = f"part_{number // FILES_PER_FOLDER:03}/file_{number:05}.py"
    return f"M 100644 inline {path}\ndata {len(text)}\n{text}\n"


def order(folder: Path, repo: Path, archetype: Archetype) -> LaunchOrder:
    pinned = git.head(repo)
    assert pinned is not None
    name = f"bench-{archetype}"
    return LaunchOrder(
        launch=name, node_id="01_part:1", node_uid="01_part:coder:1", spec_name="01_part", archetype=archetype,
        mode=None, group=1, run="1", attempt=1, reading=1, pinned=pinned, repo=repo, state=folder / name,
        log=folder / f"{name}.log", agent=Agent(),
    )  # fmt: skip


def prepared(launch: LaunchOrder) -> None:
    prepare(launch, {}, StopSignal())


def cloned(repo: Path, folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    subprocess.run(["git", "clone", "--shared", "--quiet", str(repo), str(folder)], check=True)
