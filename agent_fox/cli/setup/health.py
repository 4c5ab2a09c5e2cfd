"""Is everything here that a run needs, whatever its settings? Python, git, repository, disk, state file."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path

from agent_fox.cli.place import OWN
from agent_fox.core.values import dataclass
from agent_fox.store.state import StateError, read_state
from agent_fox.system import git

OLDEST_PYTHON = (3, 11)
LEAST_SPACE = 2**30  # bytes, below which a warning is due


class State(StrEnum):
    """How a check went: what is missing stops a run, a warning does not."""

    OK = "ok"
    WARNING = "warning"
    MISSING = "missing"


@dataclass(frozen=True, slots=True)
class Check:
    """One line of `doctor`. `remedy` says what to do, and is empty where all is well."""

    name: str
    state: State
    what: str
    remedy: str = ""


def surroundings(root: Path) -> Iterator[Check]:
    """What no setting changes; what makes no sense without an earlier check is left out."""
    yield _python()
    yield from _repository(root)
    yield _space(root)
    yield _state(root)


def _python() -> Check:
    version = ".".join(map(str, sys.version_info[:3]))
    if sys.version_info < OLDEST_PYTHON:
        return Check("python", State.MISSING, version, "install Python 3.11 or newer")
    return Check("python", State.OK, version)


def _repository(root: Path) -> Iterator[Check]:
    try:
        git.check_version()
    except git.GitError as error:
        yield Check("git", State.MISSING, str(error), "install git 2.38 or newer")
        return
    yield Check("git", State.OK, ".".join(map(str, git.version())))
    top = git.root_of(root)
    if top is None:
        yield Check("repository", State.MISSING, f"{root} is not in a git repository", "run `git init` and commit")
    elif top != root.resolve():
        yield Check("repository", State.MISSING, f"{root} is not the root of {top}", f"move {OWN} to {top}")
    else:
        yield Check("repository", State.OK, str(root))
        yield from _checkout(root)


def _checkout(root: Path) -> Iterator[Check]:
    head = git.head(root)
    if head is None:
        yield Check("commit", State.MISSING, "there is no commit yet", "commit what coders should start from")
        return
    yield Check("commit", State.OK, f"HEAD is {head[:12]}")
    yield _dirty(git.dirty(root))
    unresolved = git.unresolved_submodules(root)
    if unresolved:
        remedy = "run `git submodule update --init --recursive`"
        yield Check("submodules", State.MISSING, f"not checked out as committed: {', '.join(unresolved)}", remedy)


def _dirty(changed: tuple[str, ...]) -> Check:
    foreign = [path for path in changed if not path.startswith(f"{OWN}/")]
    if not foreign:
        return Check("checkout", State.OK, "clean")
    shown = ", ".join(foreign[:3]) + (", ..." if len(foreign) > 3 else "")
    return Check("checkout", State.WARNING, f"not committed: {shown}", "coders see commits only: commit what they need")


def _space(root: Path) -> Check:
    free = shutil.disk_usage(root).free
    what = f"{free / 2**30:.1f} GiB free"
    if free < LEAST_SPACE:
        return Check("disk", State.WARNING, what, "free some space: every session has a checkout of its own")
    return Check("disk", State.OK, what)


def _state(root: Path) -> Check:
    file = root / OWN / "state.db"
    if not file.exists() or not file.stat().st_size:
        return Check("state", State.OK, "none yet; the first run makes it")
    try:
        read_state(file).close()
    except StateError as error:
        return Check("state", State.MISSING, str(error), "see there")
    return Check("state", State.OK, str(file.relative_to(root)))
