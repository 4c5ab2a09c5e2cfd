"""Caches of build tools: those that stay between verifications of one checkout, by profile, and layers for a run.

Only commands that run no code of the project write to a cache that stays. Commands that run tests get a copy, which
goes with them: what a test puts there is read by nobody else. Rule for runs: `docs/adr/0075-build-caches-in-runs.md`.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import shutil
import stat
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from agent_fox.core.ids import digest_of
from agent_fox.core.json_text import json_object
from agent_fox.core.regex import regex
from agent_fox.core.values import dataclass
from agent_fox.system.files import open_regular, read_regular, remove_tree, replace_file

if TYPE_CHECKING:
    from agent_fox.verifier.profiles.model import Profile

LARGEST = 2 * 1024**3  # bytes of one profile's caches; what is larger is emptied before the next command
FOLDER = "caches"

FILES, MANIFEST = "files", "manifest.json"
"""In a layer: the folder of what is copied, and each file's path, size and SHA-256."""

MOST_LAYERS = 8
LARGEST_LAYER = 512 * 1024**2
OLDEST = 30 * 24 * 3600.0
"""Seconds since a layer was last taken, after which it is taken no more."""

_LONGEST_MANIFEST = 64 * 1024**2
_CHUNK = 1 << 20
_KEY = regex(r"[0-9a-f]{64}")
PART = "part"


def cache_of(caches: Path, profile: Profile, copy_to: Path | None) -> tuple[Path, Mapping[str, str]] | None:
    """The folder that a command may write to, and the variables that lead there; None for a profile without caches.

    copy_to: a folder of the command alone, for one that runs tests.
    """
    if not profile.caches:
        return None
    folder = caches / profile.id
    if size_of(folder) > LARGEST:
        remove_tree(folder, ignore_errors=True)
    for name in profile.caches.values():
        (folder / name).mkdir(parents=True, exist_ok=True)
    if copy_to is not None:
        folder = Path(shutil.copytree(folder, copy_to / FOLDER))
    return folder, {variable: str(folder / name) for variable, name in profile.caches.items()}


def size_of(folder: Path) -> int:
    """Bytes of all files below a folder; 0 where it is not there."""
    return sum(path.lstat().st_size for path in folder.rglob("*") if not path.is_dir()) if folder.is_dir() else 0


def cloned(source: Path, target: Path) -> None:
    """A copy of a folder that shares blocks with it where the file system can, and no file. Raises OSError."""
    shutil.copytree(source, target, copy_function=clone)


def clone(source: str, target: str) -> None:
    """Raises OSError."""
    with open_regular(Path(source)) as old, Path(target).open("xb") as new:
        while os.copy_file_range(old.fileno(), new.fileno(), _CHUNK):
            pass


def key_of(tool: str, words: Sequence[str], program: str, locks: Mapping[str, bytes], isolation: str) -> str:
    """Of a layer: whose cache it is, the filling command, the program that compiles, lock files of the tree by path,
    and what commands are kept apart by.
    """
    digests = {path: hashlib.sha256(content).hexdigest() for path, content in sorted(locks.items())}
    return digest_of(json.dumps([tool, list(words), program, digests, isolation]))


class Unsound(ValueError):
    """A layer is not as it was kept."""


@dataclass(frozen=True, slots=True)
class Layers:
    """Caches that were filled before, one folder for each key; none is changed after it was moved into its place.

    largest: bytes of all files of one.
    """

    folder: Path
    largest: int = LARGEST_LAYER

    def take(self, key: str, target: Path) -> bool:
        """Copy a layer into `target`. Returns False, and leaves nothing in it, where there is none, or where it is not
        whole, which removes it.
        """
        layer = self.folder / key
        if not _KEY.fullmatch(key) or not os.path.lexists(layer):
            return False
        try:
            if not stat.S_ISDIR(layer.lstat().st_mode) or _age(layer) > OLDEST:
                raise Unsound(f"{layer} is no folder, or old")
            rows = rows_of(read_regular(layer / MANIFEST, _LONGEST_MANIFEST))
            for path, size, digest in rows:
                copy_as_kept(layer / FILES, target, path, (size, digest))
            os.utime(layer)
        except Unsound:
            remove_tree(target, ignore_errors=True)
            remove_tree(layer, ignore_errors=True)
            return False
        except OSError:
            remove_tree(target, ignore_errors=True)
            return False
        return True

    def keep(self, key: str, filled: Path) -> bool:
        """Keep a copy of a cache's regular files under a key that has no layer yet; whether there is one now.

        One process does so at a time: another is not waited for.
        """
        if not _KEY.fullmatch(key) or filled.is_symlink():
            return False
        with suppress(OSError):
            self.folder.mkdir(parents=True, exist_ok=True)
            with alone(self.folder) as is_alone:
                if is_alone:
                    self.tidy()
                    return (self.folder / key).is_dir() or self.make(self.folder / key, filled)
        return False

    def make(self, layer: Path, filled: Path) -> bool:
        """Whether a layer was made that is not too large. Raises OSError."""
        part = layer.with_name(PART)
        try:
            rows, left = [], self.largest
            for path in regular_files(filled):
                size, digest = _copy(filled / path, part / FILES / path, left)
                rows.append([path, size, digest])
                left -= size
            replace_file(part / MANIFEST, json.dumps({"files": rows}), is_durable=False)
            part.rename(layer)
        except Unsound:
            return False
        finally:
            remove_tree(part, ignore_errors=True)
        return True

    def tidy(self) -> None:
        """Remove what was left half made, what is old, and the longest unused, so that one more has room."""
        paths = list(self.folder.iterdir())
        layers = sorted((path for path in paths if _KEY.fullmatch(path.name)), key=_age)
        stale = [path for path in layers if _age(path) > OLDEST]
        for path in {*paths} - {*layers} | {*stale} | {*layers[MOST_LAYERS - 1 :]}:
            remove_tree(path, ignore_errors=True)


@contextmanager
def alone(folder: Path) -> Iterator[bool]:
    """Whether nobody else holds the folder; it is held as long as the block runs, and at most as long as we live."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield True
    except BlockingIOError:
        yield False
    finally:
        os.close(descriptor)


def _age(layer: Path) -> float:
    """Seconds since it was last taken."""
    return time.time() - layer.lstat().st_mtime


def rows_of(manifest: bytes | None) -> Iterator[tuple[str, int, str]]:
    """Raises Unsound."""
    document = json_object(manifest or b"")
    rows = document.get("files") if document else None
    if not isinstance(rows, list):
        raise Unsound("there is no manifest")
    for row in rows:
        match row:
            case [str(path), int(size), str(digest)] if (
                path and not path.startswith("/") and ".." not in path.split("/")
            ):
                yield path, size, digest
            case _:
                raise Unsound(f"a row of the manifest is {row!r}")


def regular_files(folder: Path) -> Iterator[str]:
    for place, _, names in os.walk(folder):
        paths = (Path(place, name) for name in sorted(names))
        yield from (path.relative_to(folder).as_posix() for path in paths if stat.S_ISREG(path.lstat().st_mode))


def copy_as_kept(folder: Path, target: Path, path: str, kept: tuple[int, str]) -> None:
    """Raises Unsound where the file is not the one that was kept, another OSError where it cannot be written."""
    place = folder / path
    if place.resolve() != folder.resolve() / path or not place.is_file():
        raise Unsound(f"{path} is not there, or a link leads away")
    if _copy(place, target / path, kept[0]) != kept:
        raise Unsound(f"{path} has other contents than it had")


def _copy(source: Path, target: Path, most: int) -> tuple[int, str]:
    """Size and SHA-256 of a file that was copied. Raises Unsound where it has more bytes than so many, OSError."""
    digest, size = hashlib.sha256(), 0
    target.parent.mkdir(parents=True, exist_ok=True)
    with open_regular(source) as old, target.open("xb") as new:
        while piece := old.read(_CHUNK):
            size += len(piece)
            if size > most:
                raise Unsound(f"{source} is larger than {most} bytes")
            digest.update(piece)
            new.write(piece)
    return size, digest.hexdigest()
