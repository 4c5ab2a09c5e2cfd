"""Reading a project's manifests, which anybody may have written: bounded, inside the root, never a crash.

What a manifest means is elsewhere.
"""

from __future__ import annotations

import json
import os
import re
import stat
import tomllib
from collections.abc import Iterator
from fnmatch import fnmatchcase
from itertools import islice
from pathlib import Path, PurePosixPath

from agent_fox.verifier.logs.streams.records import Record, record
from agent_fox.verifier.projects.systems import Note, NoteKind

LARGEST = 2_000_000  # bytes of one manifest
MOST_ENTRIES = 5_000  # of one folder
MOST_FOLDERS = 1_000  # that one glob of a workspace finds
MOST_NOTES = 50
DEEPEST = 12  # folders below the root
_SKIPPED = frozenset(
    {"node_modules", "target", "build", "dist", "vendor", "venv", "bin", "obj", "__pycache__", "testdata"}
)

_UNRESOLVED = ("", ".", "..")
"""Names that lead elsewhere than to an entry of their folder."""


class Manifests:
    """The files of a workspace, as far as they are regular files within it. Paths are relative, with forward slashes.

    One look: what was asked once is remembered, so that whoever wants to see a change makes another one. What could not
    be followed is in `notes`.
    """

    def __init__(self, root: Path) -> None:
        self.root = root.resolve()
        self.notes: list[Note] = []
        self._types: dict[str, int] = {}
        self._names: dict[str, list[str]] = {}
        self._tables: dict[str, Record | None] = {}

    def note(self, kind: NoteKind, path: str, text: str) -> None:
        note = Note(kind, path, text)
        if note not in self.notes and len(self.notes) < MOST_NOTES:
            self.notes.append(note)

    def is_file(self, path: str) -> bool:
        return self._kind(path) == stat.S_IFREG

    def is_folder(self, path: str) -> bool:
        return self._kind(path) == stat.S_IFDIR

    def text(self, path: str) -> str | None:
        """A manifest's text, None where there is none that can be read."""
        place = self._place(path)
        if place is None:
            return None
        try:
            descriptor = os.open(place, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        except OSError as error:
            if not isinstance(error, FileNotFoundError | NotADirectoryError):
                self.note(NoteKind.UNREADABLE, path, f"cannot be read: {error.strerror}")
            return None
        with os.fdopen(descriptor, "rb") as file:
            return self._bounded(path, file.fileno())

    def toml(self, path: str) -> Record | None:
        """A TOML manifest as a table, None where it is not one."""
        if path not in self._tables:
            self._tables[path] = self._toml(path)
        return self._tables[path]

    def _toml(self, path: str) -> Record | None:
        text = self.text(path)
        if text is None:
            return None
        try:
            return tomllib.loads(text)
        except (ValueError, RecursionError) as error:
            self.note(NoteKind.INVALID, path, f"is no TOML: {_short(error)}")
            return None

    def json(self, path: str) -> Record | None:
        """A JSON manifest as an object, None where it is not one."""
        text = self.text(path)
        if text is None:
            return None
        try:
            value: object = json.loads(text)
        except (ValueError, RecursionError) as error:
            self.note(NoteKind.INVALID, path, f"is no JSON: {_short(error)}")
            return None
        if not isinstance(value, dict):
            self.note(NoteKind.INVALID, path, "is no JSON object")
        return record(value) if isinstance(value, dict) else None

    def names(self, folder: str) -> list[str]:
        """What is in a folder, sorted, at most MOST_ENTRIES."""
        if folder not in self._names:
            self._names[folder] = self._listed(folder)
        return self._names[folder]

    def _listed(self, folder: str) -> list[str]:
        place = self._place(folder)
        if place is None:
            return []
        try:
            with os.scandir(place) as entries:
                listed = list(islice(entries, MOST_ENTRIES + 1))
        except OSError:
            return []
        if len(listed) > MOST_ENTRIES:
            text = f"holds more than {MOST_ENTRIES} entries; the others were not looked at"
            self.note(NoteKind.TOO_MANY, folder, text)
        if folder == "." or self._type(folder) == stat.S_IFDIR:
            self._types |= {_below(folder, entry.name): _type_of(entry) for entry in listed}
        return sorted(entry.name for entry in listed[:MOST_ENTRIES])

    def subfolders(self, folder: str) -> list[str]:
        """The folders directly below, without hidden ones and what builds and installs write."""
        names = (name for name in self.names(folder) if not name.startswith(".") and name not in _SKIPPED)
        return [path for name in names if self.is_folder(path := _below(folder, name))]

    def matching(self, folder: str, glob: str) -> list[str]:
        """The folders below `folder` that a workspace's glob names: `packages/*`, `libs/**`, `tools/cli`."""
        parts = PurePosixPath(glob.removesuffix("/")).parts
        if ".." in parts or glob.startswith("/"):
            self.note(NoteKind.OUTSIDE, join(folder, "."), f"{glob!r} leads out of the folder")
            return []
        paths: list[str] = []
        for path in self._walk(folder, parts):
            if len(paths) >= MOST_FOLDERS:
                self.note(NoteKind.TOO_MANY, folder, f"{glob!r} names more than {MOST_FOLDERS} folders")
                break
            paths.append(path)
        return list(dict.fromkeys(paths))

    def _walk(self, folder: str, parts: tuple[str, ...]) -> Iterator[str]:
        if depth(folder) > DEEPEST:
            self.note(NoteKind.TOO_DEEP, folder, f"is more than {DEEPEST} folders below the root")
            return
        if not parts:
            yield folder
            return
        head, *rest = parts
        if head == "**":
            yield from self._walk(folder, tuple(rest))
            for below in self.subfolders(folder):
                yield from self._walk(below, parts)
        elif re.search(r"[*?\[]", head):
            for below in self.subfolders(folder):
                if fnmatchcase(PurePosixPath(below).name, head):
                    yield from self._walk(below, tuple(rest))
        elif self.is_folder(join(folder, head)):
            yield from self._walk(join(folder, head), tuple(rest))

    def _kind(self, path: str) -> int:
        """The type of what is there, links followed; 0 for nothing."""
        kind = self._type(path)
        if kind != stat.S_IFLNK:
            return kind
        place = self._followed(path)
        try:
            return stat.S_IFMT(place.stat().st_mode) if place else 0
        except (OSError, ValueError):
            return 0

    def _place(self, path: str) -> Path | None:
        """Where it lies, links followed; None, with a note, for what lies outside."""
        return self._followed(path) if self._type(path) == stat.S_IFLNK else self.root / path

    def _type(self, path: str) -> int:
        """The type of what is there, 0 for nothing; that of a link where the path must be resolved to know."""
        if path not in self._types:
            self._types[path] = self._asked(path)
        return self._types[path]

    def _asked(self, path: str) -> int:
        above, slash, name = path.rpartition("/")
        if name in _UNRESOLVED or (slash and not above):
            return stat.S_IFLNK
        if above and self._type(above) != stat.S_IFDIR:
            return stat.S_IFLNK if self._type(above) == stat.S_IFLNK else 0
        try:
            return stat.S_IFMT(os.lstat(f"{self.root}/{path}").st_mode)
        except OSError:
            return 0
        except ValueError:  # a NUL
            return stat.S_IFLNK

    def _followed(self, path: str) -> Path | None:
        try:
            place = (self.root / path).resolve()
        except (OSError, ValueError, RuntimeError):  # a circle of links, a NUL, a name too long
            return None
        if not place.is_relative_to(self.root):
            self.note(NoteKind.OUTSIDE, path, "leads out of the workspace")
            return None
        return place

    def _bounded(self, path: str, descriptor: int) -> str | None:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            self.note(NoteKind.UNREADABLE, path, "is no regular file")
            return None
        if status.st_size > LARGEST:
            self.note(NoteKind.TOO_LARGE, path, f"has more than {LARGEST} bytes")
            return None
        return os.read(descriptor, LARGEST).decode("utf-8-sig", "replace")


def join(folder: str, name: str) -> str:
    """Both as one path below the root, without `.` and `..` in it.

    What leads above the root keeps its `..`, and an absolute name stays absolute.
    """
    if name.startswith("/"):
        return name
    return os.path.normpath(f"{folder}/{name}").replace(os.sep, "/")


def _below(folder: str, name: str) -> str:
    """`join` for the name of an entry, which has nothing that must be resolved."""
    return name if folder == "." else f"{folder}/{name}"


def _type_of(entry: os.DirEntry[str]) -> int:
    """As the folder's listing tells it, without a look at the file itself."""
    if entry.is_symlink():
        return stat.S_IFLNK
    if entry.is_dir(follow_symlinks=False):
        return stat.S_IFDIR
    return stat.S_IFREG if entry.is_file(follow_symlinks=False) else stat.S_IFSOCK


def depth(path: str) -> int:
    return len(PurePosixPath(path).parts)


def relative(path: str, folder: str) -> str:
    """A path below the root, from a folder that is above it."""
    return PurePosixPath(path).relative_to(folder).as_posix() if folder != "." else path


def strings(table: Record, key: str) -> list[str]:
    """The texts of a list in a manifest."""
    listed = table.get(key)
    return [each for each in listed if isinstance(each, str)] if isinstance(listed, list) else []


def _short(error: Exception) -> str:
    return str(error)[:120] or type(error).__name__
