"""Whether the source of a workspace changed while a command ran. What counts as source is said in `source_scope`.

A read looks at every file's stamp, and reads the content only of those whose stamp is new to it. Git is not asked,
because whoever can write to the workspace can tell git what to overlook.
"""

from __future__ import annotations

import errno
import hashlib
import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from enum import Enum, StrEnum
from functools import cached_property
from pathlib import Path

from agent_fox.core.values import dataclass
from agent_fox.verifier.source.files import Seen, look, stamp_of
from agent_fox.verifier.source.git import GIT, Staged, Watched, beside, inside, staged
from agent_fox.verifier.source.scope import Rules, SourceScope

_OPEN_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC

_GONE = (errno.ENOENT, errno.ENOTDIR, errno.ELOOP)
"""What listing a folder fails with that was removed or replaced since its parent was listed."""


class SourceMissing(RuntimeError):
    """The workspace is not a folder that can be read. The message says why."""


class ChangeKind(StrEnum):
    ADDED = "added"
    CHANGED = "changed"
    REMOVED = "removed"


@dataclass(frozen=True, slots=True)
class Change:
    """`path` is relative to the workspace, as the system names it; a folder that became unreadable ends in `/`."""

    path: str
    kind: ChangeKind

    @property
    def shown(self) -> str:
        """The path for people and for JSON: control characters and bytes that are no text are escaped."""
        readable = self.path.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
        return "".join(letter if letter.isprintable() else ascii(letter)[1:-1] for letter in readable)


@dataclass(frozen=True)
class Tracked:
    """Paths of files that are committed or staged."""

    paths: frozenset[str] = frozenset()

    @cached_property
    def folders(self) -> frozenset[str]:
        """Every folder above one of them, without a slash at the end."""
        folders: set[str] = set()
        for folder in {path.rpartition("/")[0] for path in self.paths}:
            while folder and folder not in folders:
                folders.add(folder)
                folder = folder.rpartition("/")[0]
        return frozenset(folders)


@dataclass(frozen=True, slots=True)
class TreeState:
    """The source of a workspace at one time.

    folders: from the folder's path (empty, or ending in `/`) to what it held, by name.
    unreadable: folders that could not be listed; nothing is known of what is below.
    tracked: what git's index named in this read or an earlier one.
    """

    root: Path
    scope: SourceScope
    folders: Mapping[str, Mapping[str, Seen]]
    unreadable: frozenset[str] = frozenset()
    index: Staged | None = None
    tracked: Tracked = Tracked()

    @property
    def files(self) -> int:
        return sum(map(len, self.folders.values()))


def read_tree(root: Path, scope: SourceScope, before: TreeState | None = None) -> TreeState:
    """Look at every source file. The state `before` of the same tree spares reading what kept its stamp.

    Raises SourceMissing where `root` is no folder. What changes during the read is told as it was found.
    """
    if before is not None and before.scope != scope:
        before = None
    return _Reading(root.resolve(), scope, before).whole()


def changed(before: TreeState, after: TreeState) -> tuple[Change, ...]:
    """What differs in content, mode or type, sorted by path. A file that was touched or rewritten alike does not."""
    hidden = tuple(after.unreadable | before.unreadable)
    changes = [Change(folder, ChangeKind.CHANGED) for folder in after.unreadable ^ before.unreadable]
    for folder in before.folders.keys() | after.folders.keys():
        old, new = before.folders.get(folder, {}), after.folders.get(folder, {})
        if old != new and not folder.startswith(hidden):
            changes += _differences(folder, old, new)
    return tuple(sorted(changes, key=lambda change: change.path))


def digest(root: Path, scope: SourceScope) -> str:
    """SHA-256 (hex) over names, contents, types and whether files are executable; every file is read.

    Equal for equal trees wherever they lie: git's own folder, times, owners and the rest of the modes do not count.
    """
    state = read_tree(root, scope)
    whole = hashlib.sha256()
    for folder, name, seen in sorted(_entries(state)):
        whole.update(b"%b\0%o %d\0" % (os.fsencode(folder + name), stat.S_IFMT(seen.mode), bool(seen.mode & 0o100)))
        whole.update(b"%d\0%b" % (len(seen.content), seen.content))
    return whole.hexdigest()


def _entries(state: TreeState) -> Iterator[tuple[str, str, Seen]]:
    for folder, held in state.folders.items():
        if not f"/{folder}".endswith("/.git/") and "/.git/" not in f"/{folder}":
            yield from ((folder, name, seen) for name, seen in held.items())


def _differences(folder: str, old: Mapping[str, Seen], new: Mapping[str, Seen]) -> Iterator[Change]:
    for name, seen in new.items():
        if name not in old:
            yield Change(folder + name, ChangeKind.ADDED)
        elif not seen.is_like(old[name]):
            yield Change(folder + name, ChangeKind.CHANGED)
    yield from (Change(folder + name, ChangeKind.REMOVED) for name in old.keys() - new.keys())


class _Sight(Enum):
    """What of a folder is looked at."""

    SOURCE = "what the scope does not exclude"
    PICKED = "only what is tracked or included"
    ALL = "everything"


_Waiting = tuple[str, str, _Sight]
"""A folder to be listed: the name it is told under, where it lies, and what of it counts."""


class _Reading:
    """One walk over a workspace."""

    def __init__(self, root: Path, scope: SourceScope, before: TreeState | None) -> None:
        self.root = root
        self.rules = Rules(scope)
        self.earlier = before.folders if before else {}
        self.index = staged(root, before.index if before else None)
        self.tracked = _tracked(self.index, before)
        self.folders: dict[str, dict[str, Seen]] = {}
        self.unreadable: set[str] = set()

    def whole(self) -> TreeState:
        waiting: list[_Waiting] = [("", str(self.root), _Sight.SOURCE), *self._git(beside(self.root))]
        if self.index is not None:
            self.folders.setdefault(f"{GIT}/", {})["index"] = self.index.as_seen()
        while waiting:
            waiting += self._listed(*waiting.pop())
        if "" in self.unreadable:
            raise SourceMissing("the workspace is not there, is no folder, or can't be listed")
        scope = self.rules.scope
        return TreeState(self.root, scope, self.folders, frozenset(self.unreadable), self.index, self.tracked)

    def _listed(self, folder: str, place: str, sight: _Sight) -> list[_Waiting]:
        try:
            descriptor = os.open(place, _OPEN_FOLDER)
        except OSError as error:
            if not folder or error.errno not in _GONE:
                self.unreadable.add(folder)
            return []
        try:
            with os.scandir(descriptor) as entries:
                return self._held(folder, place, sight, descriptor, entries)
        except OSError:
            self.unreadable.add(folder)
            return []
        finally:
            os.close(descriptor)

    def _held(
        self, folder: str, place: str, sight: _Sight, descriptor: int, entries: Iterable[os.DirEntry[str]]
    ) -> list[_Waiting]:
        """Notes the files of a folder, and answers with the folders in it. The inner loop of a read: mind its speed."""
        before, held, below = self.earlier.get(folder, {}), self.folders.setdefault(folder, {}), list[_Waiting]()
        for entry in entries:
            name = entry.name
            if entry.is_dir(follow_symlinks=False):
                below += self._below(folder + name, f"{place}/{name}", sight)
                continue
            known = before.get(name)
            if known is None and not self._counts(folder + name, sight):
                continue
            try:
                stamp = stamp_of(entry.stat(follow_symlinks=False))
            except OSError:  # gone since the folder was listed, or it may not be asked for
                continue
            if known is None or known.stamp != stamp:
                known = look(name, descriptor, stamp)
            if known is not None:
                held[name] = known
        return below

    def _below(self, path: str, place: str, sight: _Sight) -> list[_Waiting]:
        if sight is _Sight.ALL:
            return [(f"{path}/", place, sight)]
        if path.endswith(GIT) and path.rpartition("/")[2] == GIT:
            return self._git(inside(path, place))
        if sight is _Sight.SOURCE and not self.rules.excludes_folder(path):
            return [(f"{path}/", place, sight)]
        is_wanted = path in self.tracked.folders or self.rules.may_include_below(path)
        return [(f"{path}/", place, _Sight.PICKED)] if is_wanted else []

    def _counts(self, path: str, sight: _Sight) -> bool:
        if sight is _Sight.ALL or path in self.tracked.paths:
            return True
        return self.rules.includes(path) if sight is _Sight.PICKED else not self.rules.excludes_file(path)

    def _git(self, watched: Watched) -> list[_Waiting]:
        for label, place in watched.files:
            folder, slash, name = label.rpartition("/")
            seen = look(place, known=self.earlier.get(folder + slash, {}).get(name))
            if seen is not None:
                self.folders.setdefault(folder + slash, {})[name] = seen
        return [(f"{label}/", place, _Sight.ALL) for label, place in watched.folders]


def _tracked(index: Staged | None, before: TreeState | None) -> Tracked:
    """All that any index named so far: one from which something vanished does not hide it."""
    known = before.tracked if before else Tracked()
    entries = index.said if index else None
    if entries is None or entries.paths <= known.paths:
        return known
    return Tracked(known.paths | entries.paths)
