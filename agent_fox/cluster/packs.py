"""Commits and files on their way between two hosts, as bytes: git's own packs, and small archives."""

from __future__ import annotations

import base64
import hashlib
import io
import re
import tarfile
from collections.abc import Iterable, Mapping
from pathlib import Path, PurePosixPath

from agent_fox.core.regex import regex
from agent_fox.core.values import dataclass
from agent_fox.system import git

ID = regex(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
"""An object's id, or a digest."""

LARGEST = 2 * 1024**3
"""Bytes that travel at once."""

LARGEST_ARCHIVE, MOST_FILES = 512 * 1024**2, 100_000
"""Bytes that an archive may unpack to, and files in it."""


class Unusable(Exception):
    """What came from another host cannot be used. Its text says what, and nothing of it was taken."""


class PartMissing(Exception):
    """A content that was sent is not whole any more."""


@dataclass(frozen=True, slots=True)
class Content:
    """Bytes that travel: with this (base64), or in so many parts at the engine, named by their digest."""

    sha256: str
    size: int
    parts: int = 0
    inline: str = ""


def inlined(data: bytes) -> Content:
    return Content(hashlib.sha256(data).hexdigest(), len(data), inline=base64.b64encode(data).decode())


NOTHING = inlined(b"")


def held_in(content: Content) -> bytes:
    """The bytes that travel with it. Raises PartMissing for bytes that are not all there, or are others."""
    try:
        return checked(base64.b64decode(content.inline, validate=True), content)
    except ValueError as error:
        raise PartMissing(f"{content.sha256[:12]}: what came is no base64") from error


def checked(data: bytes, content: Content) -> bytes:
    if len(data) != content.size or hashlib.sha256(data).hexdigest() != content.sha256:
        raise PartMissing(f"{content.sha256[:12]}: {len(data)} of {content.size} bytes came, or others")
    return data


def pack(repo: Path, wanted: Iterable[str], without: Iterable[str] = ()) -> bytes:
    """Everything that these commits and trees lead to, but what the others lead to. The same call packs the same."""
    lines = [*wanted, *(f"^{commit}" for commit in without)]
    named = "".join(f"{line}\n" for line in lines).encode()
    settings = ("-c", "pack.threads=1")
    answer = git.call(repo, *settings, "pack-objects", "--revs", "--stdout", "-q", data=named)
    return answer.out


def unpack(repo: Path, data: bytes, what: str, *, strict: bool = False) -> None:
    """Put a pack's objects into the repository; no reference moves. Raises Unusable for one that is cut off or broken.

    `strict`: each object is looked at as git looks at what a stranger pushes.
    """
    options = ("--strict",) if strict else ()
    try:
        git.call(repo, "index-pack", "--stdin", "--fix-thin", *options, data=data)
    except git.GitStuck:
        raise
    except git.GitError as error:
        raise Unusable(f"{what} is cut off or broken: {error}") from error


ANY = regex(r"(?s).*")


def archive(files: Mapping[str, Path]) -> bytes:
    """Regular files by their names in the archive; links and what is gone are left out."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz", compresslevel=1) as tar:
        for name, path in sorted(files.items()):
            if path.is_file() and not path.is_symlink():
                tar.add(path, arcname=name, recursive=False)
    return buffer.getvalue()


def extract(
    data: bytes, places: Mapping[str, Path | None], only: re.Pattern[str] = ANY, who: str = "worker"
) -> list[Path]:
    """Unpack each file below the place of its first folder; where that is None, it is left out. Raises Unusable for an
    archive with other folders, or names but `only` these, or one that leads elsewhere, is too large or names a file
    twice.
    """
    written: list[Path] = []
    names: set[str] = set()
    room = LARGEST_ARCHIVE
    try:
        with tarfile.open(fileobj=io.BytesIO(data), mode="r:gz") as tar:
            for member in tar:
                first, *rest = PurePosixPath(member.name).parts or ("",)
                room -= member.size
                is_sound = member.isfile() and rest and ".." not in rest and first in places and room >= 0
                if not (is_sound and only.fullmatch(member.name) and member.name.isprintable()):
                    raise Unusable(f"the archive holds {member.name[:100]!r}, which no {who} sends")
                if member.name in names or len(names) >= MOST_FILES:
                    what = "the same file twice" if member.name in names else f"more than {MOST_FILES} files"
                    raise Unusable(f"the archive holds {what}: {member.name[:100]!r}")
                names.add(member.name)
                source = tar.extractfile(member)
                place = places[first]
                if place is not None and source is not None:
                    path = place.joinpath(*rest)
                    path.parent.mkdir(parents=True, exist_ok=True)
                    path.write_bytes(source.read())
                    written.append(path)
    except (tarfile.TarError, EOFError, OSError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        raise Unusable(f"the archive is cut off or broken: {error}") from error
    return written


def files_below(folder: Path, prefix: str) -> dict[str, Path]:
    """Every file of a folder, by its name in an archive."""
    paths = (path for path in folder.rglob("*") if path.is_file()) if folder.is_dir() else ()
    return {f"{prefix}/{path.relative_to(folder).as_posix()}": path for path in paths}
