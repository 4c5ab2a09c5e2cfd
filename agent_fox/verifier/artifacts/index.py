"""Which artifacts an attempt of a run has: their names and addresses, and the index that lists them.

An index is one JSON file an attempt, replaced as a whole. Who changes one holds the folder's lock. What the artifacts
hold is stored elsewhere.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from agent_fox.core.ids import digest_of
from agent_fox.core.late import late_module
from agent_fox.core.regex import regex
from agent_fox.core.values import dataclass
from agent_fox.system.adapters import adapter
from agent_fox.system.files import replace_file
from agent_fox.verifier.ground.results import Artifact  # noqa: TC001 - pydantic reads it

if TYPE_CHECKING:
    import pydantic
else:
    pydantic = late_module("pydantic")

UNFINISHED = "unfinished"

LONGEST_NAME = 120  # characters

_UNSAFE = regex(r"[^A-Za-z0-9._-]+")
_ADDRESS = regex(r"artifact://(?P<run>[A-Za-z0-9_-][A-Za-z0-9._-]*)/(?P<attempt>\d{1,9})/(?P<name>[A-Za-z0-9._-]+)")


class ArtifactError(RuntimeError):
    """An artifact that is not there, or an index that can't be read. The message names it without a local path."""


@dataclass(frozen=True, slots=True)
class Address:
    """Where an artifact is found: `artifact://RUN/ATTEMPT/NAME`."""

    run: str
    attempt: int
    name: str

    def __str__(self) -> str:
        return f"artifact://{self.run}/{self.attempt}/{self.name}"


@dataclass(frozen=True, slots=True)
class Index:
    """What one attempt of a run has kept, in the order it was kept."""

    run: str
    attempt: int
    artifacts: tuple[Artifact, ...] = ()

    @property
    def bytes(self) -> int:
        return sum(artifact.bytes for artifact in self.artifacts)


_INDEX = adapter(lambda: pydantic.TypeAdapter(Index))


def address_of(uri: str) -> Address:
    """Raises ArtifactError for what is no address of an artifact."""
    match = _ADDRESS.fullmatch(uri)
    if match is None:
        raise ArtifactError(f"not the address of an artifact: {uri[:200]!a}")
    return Address(match["run"], int(match["attempt"]), match["name"])


def safe_name(name: str) -> str:
    """Letters, digits, dots, underscores and hyphens only. Two names that differ stay different."""
    safe = _UNSAFE.sub("_", name).lstrip(".")[-LONGEST_NAME:].lstrip(".")
    if safe and safe == name:
        return safe
    mark = digest_of(name, digits=8)
    stem, dot, suffix = safe.rpartition(".")
    return f"{stem}-{mark}.{suffix}" if dot else f"{safe}-{mark}"


def free_name(name: str, taken: Index) -> str:
    """The name itself, or the name with the first number that makes it new: `a.xml`, `a-2.xml`."""
    names = {artifact.name for artifact in taken.artifacts}
    stem, dot, suffix = name.rpartition(".")
    number, free = 1, name
    while free in names:
        number += 1
        free = f"{stem}-{number}.{suffix}" if dot and stem else f"{name}-{number}"
    return free


def content_file(folder: Path, digest: str) -> Path:
    """Where content of this SHA-256 lies."""
    return folder / "content" / digest[:2] / digest


def index_file(folder: Path, run: str, attempt: int) -> Path:
    return folder / "runs" / run / f"{attempt}.json"


def read_index(folder: Path, run: str, attempt: int) -> Index:
    """An attempt without an index has kept nothing. Raises ArtifactError for an index that can't be understood."""
    try:
        return _INDEX.validate_json(index_file(folder, run, attempt).read_bytes())
    except FileNotFoundError:
        return Index(run, attempt)
    except pydantic.ValidationError as error:
        raise ArtifactError(f"the index of run {run}, attempt {attempt} can't be understood") from error


def write_index(folder: Path, index: Index) -> None:
    """Replace it as a whole. Only for those who hold the lock."""
    file = index_file(folder, index.run, index.attempt)
    file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    replace_file(file, _INDEX.dump_json(index, indent=1), is_durable=False)


def all_indexes(folder: Path) -> Iterator[tuple[Path, Index]]:
    """Every attempt of every run with its file. Raises ArtifactError for one that can't be understood."""
    for file in sorted((folder / "runs").glob("*/*.json")):
        yield file, read_index(folder, file.parent.name, int(file.stem))


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Nobody else changes indexes or removes content meanwhile, in this process or another."""
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    descriptor = os.open(folder / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
