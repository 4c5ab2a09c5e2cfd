"""What the tests of a requirement rest on, by a run in which it was seen what they execute, open, list and look for.

What a test needs may have been loaded for another one first: that counts for it too, where its files name it or asked
for it. What cannot be seen makes the whole tree the scope. Source of the rule: `docs/freshness.md`.
"""

from __future__ import annotations

import ast
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from agent_fox.core.values import dataclass
from agent_fox.core.verdicts.scope import Scope, bounded, is_test_like, whole_tree
from agent_fox.verifier.source.base_tree import BORROWED
from agent_fox.verifier.source.git import staged

if TYPE_CHECKING:
    from agent_fox.verifier.ground.cases import Case
    from agent_fox.verifier.suites.suite import SuiteRun

OUTSIDE = ""
COLLECTING = "collecting "
LISTED, LOOKED, IMPORTED, CHILD, UNSEEN = "listed", "looked", "imported", "child", "unseen"

_OF_CLOCKS = frozenset({"time", "datetime", "date"})
_ASKS_CLOCK = frozenset(
    {"now", "utcnow", "today", "time", "time_ns", "monotonic", "monotonic_ns", "perf_counter", "localtime", "gmtime"}
)
_LOADERS = frozenset({"import_module", "__import__", "pytest_plugins", "entry_points", "iter_entry_points", "runpy"})
_RUNNERS_SEEN = ("pytest", "unittest")


@dataclass(frozen=True, slots=True)
class Window:
    """What one process did while one test ran, was looked for, or between them.

    asked: what was listed, looked for or imported, what could not be seen, and the project's file that asked.
    """

    executed: frozenset[str] = frozenset()
    opened: frozenset[tuple[str, str]] = frozenset()
    asked: frozenset[tuple[str, str, str]] = frozenset()


@dataclass(slots=True)
class _Text:
    """What the text of a file of Python says: names that it imports; whether it loads others by name, asks a clock;
    is_unread: that is not known."""

    names: set[str] = field(default_factory=set)
    loads: bool = False
    clock: bool = False
    is_unread: bool = False


class _Everything:
    """What was done for all tests, by who asked for it."""

    def __init__(self, windows: Mapping[str, Window]) -> None:
        whole = together(windows.values())
        self.executed, self.opened = whole.executed, frozenset(file for file, _ in whole.opened)
        self.modules: dict[str, set[str]] = {}
        self.opened_by: dict[str, set[str]] = {}
        self.asked_by: dict[str, set[tuple[str, str, str]]] = {}
        for file in whole.executed:
            self.modules.setdefault(_module(file), set()).add(file)
        for file, opener in whole.opened:
            self.opened_by.setdefault(opener, set()).add(file)
        for each in whole.asked:
            self.asked_by.setdefault(each[2], set()).add(each)


class Resting:
    """What tests rest on. `root`: the tree that was read, for the texts of its files. `was_there`: files that lay in it
    before, and `brought`: those that git does not hold and a checkout is lent.
    """

    def __init__(self, root: Path, was_there: frozenset[str] | None = None, brought: Sequence[str] = ()) -> None:
        self._root, self._was_there, self._brought = root, was_there or frozenset(), brought
        index = staged(root, None)
        self._tracked = index.said.paths if index is not None and index.said is not None else None
        self._texts: dict[str, _Text] = {}

    def scope(self, run: SuiteRun, tests: Sequence[Case], windows: Mapping[str, Window], processes: int) -> Scope:
        """The scope of a requirement's tests, all of this run, by what so many processes were seen to do."""
        tool = run.call.tool if run.call else ""
        if tool not in _RUNNERS_SEEN:
            return whole_tree(f"what {tool or 'the command'} reads is not measured")
        if self._tracked is None:
            return whole_tree("which files git holds is not known")
        why = _unseen_processes(windows, processes)
        odd = self._odd_test(run)
        why = why or (f"{odd} is a test, which its name does not show" if odd else "")
        if why:
            return whole_tree(why)
        ids, files = {test.id for test in tests}, {test.file for test in tests}
        known = self._own(windows)
        return self._scope(ids, files, known, _Everything(known), self._chosen_from(run))

    def of_files(
        self, files: Mapping[str, Iterable[str]], windows: Mapping[str, Window], processes: int
    ) -> dict[str, Scope]:
        """The scope of each file of tests (path, ids), as far as contents go: not what an added file would do."""
        why = _unseen_processes(windows, processes)
        if why:
            return dict.fromkeys(files, whole_tree(why))
        known = self._own(windows)
        everything = _Everything(known)
        return {file: self._scope({*ids}, {file}, known, everything, set()) for file, ids in files.items()}

    def _own(self, windows: Mapping[str, Window]) -> dict[str, Window]:
        """What was done without what installed packages are and do: the environment answers for that."""
        paths = {
            path
            for window in windows.values()
            for places in (
                *((file,) for file in window.executed),
                *window.opened,
                *((by, what if kind in (LISTED, LOOKED) else "") for kind, what, by in window.asked),
            )
            for path in places
        }
        lent = {path for path in paths if path and self._is_installed(path)}
        return {
            name: Window(
                window.executed - lent,
                frozenset(each for each in window.opened if lent.isdisjoint(each)),
                frozenset(
                    each
                    for each in window.asked
                    if each[2] not in lent and (each[1] not in lent or each[0] == IMPORTED)
                ),
            )
            for name, window in windows.items()
        }

    def _scope(
        self, ids: set[str], files_of_tests: set[str], windows: Mapping[str, Window], everything: _Everything,
        below: set[str],
    ) -> Scope:  # fmt: skip
        mine = {OUTSIDE, *ids, *(f"{COLLECTING}{file}" for file in files_of_tests)}
        own = together([windows[name] for name in mine if name in windows])
        collected = {name.removeprefix(COLLECTING) for name in windows if name.startswith(COLLECTING)}
        beside = collected - files_of_tests
        files = {*own.executed, *files_of_tests, *(file for file, by in own.opened if by or file not in beside)}
        files |= {what for kind, what, _ in own.asked if kind == LOOKED}
        asked = {*own.asked}
        while True:
            more = self._loaded_for_others(files, asked, everything)
            asked |= {each for file in files | more for each in everything.asked_by.get(file, ())}
            more |= {what for kind, what, _ in asked if kind == LOOKED}
            if more <= files:
                break
            files |= more
        return self._measured({_source_of(file) for file in files}, asked, below)

    def _loaded_for_others(self, files: set[str], asked: set[tuple[str, str, str]], others: _Everything) -> set[str]:
        """What was loaded, or opened, while another test ran, and these files name or asked for."""
        texts = [self._text(file) for file in files if file.endswith(".py")]
        if any(text.loads for text in texts):
            return {*others.executed, *others.opened}
        names = {part for text in texts for part in text.names}
        names |= {part for kind, what, _ in asked if kind == IMPORTED for part in what.split(".")}
        loaded = {file for name in names for file in others.modules.get(name, ())}
        return loaded | {file for opener in files for file in others.opened_by.get(opener, ())}

    def _measured(self, own: set[str], asked: set[tuple[str, str, str]], below: set[str]) -> Scope:
        why = self._why_whole(own, asked)
        if why:
            return whole_tree(why)
        texts = [self._text(file) for file in own if file.endswith(".py")]
        names = {part for text in texts for part in text.names}
        names |= {part for kind, what, _ in asked if kind == IMPORTED for part in what.split(".")}
        listed = {what for kind, what, _ in asked if kind == LISTED}
        files, folders, chosen, modules = (
            tuple(sorted(paths)) for paths in ({*own, *self._real(own)}, listed, below, names)
        )
        return bounded(Scope(files, folders, chosen, modules))

    def _why_whole(self, files: set[str], asked: set[tuple[str, str, str]]) -> str:
        if any("/site-packages/" in path for path in self._tracked or ()):
            return "installed packages are committed, and what they do is not measured"
        unseen = sorted((what, by) for kind, what, by in asked if kind == UNSEEN)
        if unseen:
            what, by = unseen[0]
            return f"{by or 'a test'} {what}"
        for file in sorted(files):
            if file == ".git" or file.startswith(".git/"):
                return f"{file} is read, which belongs to git"
            if file in self._was_there and self._tracked is not None and file not in self._tracked:
                return f"{file} is read, which git does not hold: what it was made from is not known"
            if file.endswith(".py") and self._text(file).is_unread:
                return f"{file} cannot be parsed here: what it imports is not known"
            if file.endswith(".py") and self._text(file).clock:
                return f"{file} asks what time it is"
        return ""

    def _chosen_from(self, run: SuiteRun) -> set[str]:
        """The files and folders from which the command chooses its tests; everything, where it names none."""
        words = run.call.argv[run.call.at :] if run.call else ()
        paths = {os.path.normpath(word.partition("::")[0]) for word in words if word and not word.startswith("-")}
        named = {path for path in paths if (self._root / path).exists() and not path.startswith(("..", "/"))}
        return {"" if path == "." else path for path in named} or {""}

    def _odd_test(self, run: SuiteRun) -> str:
        """A file of tests that no name shows to be one, where the command chooses from folders."""
        if all((self._root / path).is_file() for path in self._chosen_from(run)):
            return ""
        return next((case.file for case in run.cases if not is_test_like(case.file)), "")

    def _is_installed(self, path: str) -> bool:
        """Whether it lies in what a workspace is lent, and is not the tree's own: the environment answers for it."""
        if self._tracked is not None and path in self._tracked:
            return False
        return any(path == name or path.startswith(f"{name}/") for name in (*BORROWED, *self._brought))

    def _real(self, files: Iterable[str]) -> Iterator[str]:
        """Where links lead, inside the tree."""
        root = self._root.resolve()
        for file in files:
            real = (self._root / file).resolve()
            if real.is_relative_to(root):
                yield real.relative_to(root).as_posix()

    def _text(self, file: str) -> _Text:
        if file not in self._texts:
            try:
                self._texts[file] = _read((self._root / file).read_bytes())
            except OSError:
                self._texts[file] = _Text()  # it was looked for, or made meanwhile, and is not there
            except (SyntaxError, ValueError, RecursionError):
                self._texts[file] = _Text(is_unread=True)
        return self._texts[file]


def _unseen_processes(windows: Mapping[str, Window], processes: int) -> str:
    """Why what was seen is not all; empty where each process of Python has told what it did."""
    children = sum(kind == CHILD for window in windows.values() for kind, _, _ in window.asked)
    return (
        "" if processes == children + 1 else f"{children + 1} processes of Python were to be seen, and {processes} were"
    )


def together(windows: Iterable[Window]) -> Window:
    """One window for several."""
    known = tuple(windows)
    return Window(
        frozenset().union(*(window.executed for window in known)),
        frozenset().union(*(window.opened for window in known)),
        frozenset().union(*(window.asked for window in known)),
    )


def _source_of(file: str) -> str:
    """`a/m.py` of `a/__pycache__/m.cpython-311.pyc`: what is compiled is made from it."""
    path = PurePosixPath(file)
    if path.suffix != ".pyc" or path.parent.name != "__pycache__":
        return file
    return (path.parent.parent / f"{path.name.partition('.')[0]}.py").as_posix()


def _module(file: str) -> str:
    path = PurePosixPath(file)
    return path.parent.name if path.stem == "__init__" else path.stem


def _read(content: bytes) -> _Text:
    text = _Text()
    for node in ast.walk(ast.parse(content)):
        match node:
            case ast.Import(names):
                text.names |= {part for name in names for part in name.name.split(".")}
            case ast.ImportFrom(module, names):
                text.names |= {*(module or "").split("."), *(name.name for name in names)} - {"", "*"}
                text.loads |= any(name.name in _LOADERS for name in names)
                text.clock |= module == "time" and any(name.name in _ASKS_CLOCK for name in names)
            case ast.Attribute(ast.Name(home) | ast.Attribute(attr=home), name):
                text.loads |= name in _LOADERS or (home == "sys" and name == "modules")
                text.clock |= home in _OF_CLOCKS and name in _ASKS_CLOCK
            case ast.Name(name):
                text.loads |= name in _LOADERS
    return text
