"""What a verdict rests on, and whether a change of the tree touches it. Source of the rule: `docs/freshness.md`.

Pure. What was seen of a reading comes from `verifier.suites.resting`; what has changed, from git.
"""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterable, Mapping
from enum import StrEnum

from agent_fox.core.regex import regex
from agent_fox.core.values import dataclass

MOST_PATHS = 2_000
"""Of one verdict; behind them it rests on the whole tree."""


LONGEST_PATH = 1_000


class Kind(StrEnum):
    """What became of a file between two trees."""

    ADDED = "added"
    GONE = "removed"
    OTHER = "changed"


@dataclass(frozen=True, slots=True)
class Scope:
    """What a passing verdict rests on, by paths of its tree.

    files: executed, read, or looked for (and then perhaps not there). folders: whose entries were listed. below:
    files and folders from which the command chooses its tests, in folders by their names. names: modules that were
    asked for by name. whole: why it rests on the whole tree instead; empty where all of it was measured.
    """

    files: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()
    below: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    whole: str = ""


@dataclass(frozen=True, slots=True)
class TreeChange:
    """How two trees differ: path to what became of the file; and the folders that came or went."""

    files: Mapping[str, Kind]
    folders: frozenset[str] = frozenset()


_ALWAYS = regex(
    r"pyproject\.toml|setup\.(?:cfg|py)|pytest\.ini|\.pytest\.ini|tox\.ini|\.coveragerc|requirements[\w.-]*\.(?:txt|in)"
    r"|Pipfile|package\.json|tsconfig[\w.]*\.json|\.npmrc|\.babelrc|(?:babel|jest|vitest|vite)\.config\.\w+"
    r"|go\.(?:mod|sum|work)|Cargo\.toml|pom\.xml|build\.gradle(?:\.kts)?|[\w.-]*lock(?:\.json|\.yaml|b)?"
    r"|\.gitattributes|\.gitmodules|\.python-version|\.nvmrc|\.tool-versions|(?:site|user)customize\.py|[\w.-]+\.pth"
)
"""Names of settings and lock files, which a runner or an installer reads without a trace."""

_BESIDE = frozenset({"conftest.py", "__init__.py"})
"""Read for every file of their folder and of those below it."""

_MODULE = (".py", ".pyc", ".pyd", ".so")


def whole_tree(why: str) -> Scope:
    """The scope of what cannot be measured."""
    return Scope(whole=why)


def joined(scopes: Iterable[Scope]) -> Scope:
    """What several verdicts rest on together."""
    known = tuple(scopes)
    for scope in known:
        if scope.whole:
            return whole_tree(scope.whole)
    files, folders, below, names = (
        tuple(sorted({path for scope in known for path in getattr(scope, kind)}))
        for kind in ("files", "folders", "below", "names")
    )
    return bounded(Scope(files, folders, below, names))


def bounded(scope: Scope) -> Scope:
    """The scope, or the whole tree where it could not be kept as it is."""
    paths = (*scope.files, *scope.folders, *scope.below, *scope.names)
    count, odd = len(paths), next((path for path in paths if not path.isprintable() or len(path) > LONGEST_PATH), None)
    if odd is not None:
        return whole_tree(f"it rests on a path that is not kept as it is: {odd[:80]!r}")
    return scope if count <= MOST_PATHS else whole_tree(f"it rests on {count} paths, more than are kept of one verdict")


_INSTALLER = regex(
    r"(?:[\w./-]*python[\d.]* -m )?(?:(?:uv )?pip3? install|pipenv (?:install|sync)|poetry install|uv sync"
    r"|pdm (?:install|sync)|npm (?:ci|install|i)|pnpm install|yarn(?: install)?)\b(?P<rest>.*)"
    r"|(?:[\w./-]*python[\d.]* -m|uv) venv\b.*"
)
_SHELL = regex(r"[;&|<>`$\n]")
_EDITABLE = regex(r"(?<!\S)(?:-e|--editable)[ =]\S+")
_LOCAL = regex(r"(?:^|\s)(?:\.\S*|/\S*|file:\S*|--no-editable)(?=\s|$)")


def made_by_setup(lines: Iterable[str]) -> str:
    """Why what prepares a workspace makes something of the tree that tests may rest on without a trace; empty where it
    only installs what settings and lock files name, or the tree itself so that its own files are executed.
    """
    for line in lines:
        match = _INSTALLER.fullmatch(line.strip())
        if match is None or _SHELL.search(line):
            return f"[workspace] setup runs {line!r}, and what that reads is not measured"
        if _LOCAL.search(_EDITABLE.sub("", match["rest"] or "")):
            return f"[workspace] setup runs {line!r}, which copies the tree to where it is not measured"
    return ""


def touched(scope: Scope, change: TreeChange) -> str:
    """Why a verdict with this scope may differ on the other tree, of the first such path; empty where it cannot.

    A file that was added touches it where its name is one that a module was asked for by, or that was looked for.
    """
    if not change.files:
        return ""
    if scope.whole:
        return f"it rests on the whole tree: {scope.whole}"
    look = _Look(scope, change.folders)
    reasons = ((path, look.why(path, kind)) for path, kind in sorted(change.files.items()))
    return next((f"{path} was {change.files[path]}: {why}" for path, why in reasons if why), "")


class _Look:
    def __init__(self, scope: Scope, came_or_went: Collection[str]) -> None:
        self._files, self._names = frozenset(scope.files), frozenset(scope.names)
        self._folders, self._below = frozenset(scope.folders), frozenset(scope.below)
        self._around = frozenset(folder for path in (*scope.files, *scope.below) for folder in _folders(path))
        self._came_or_went = came_or_went

    def why(self, path: str, kind: Kind) -> str:
        name, above = _name(path), _folders(path)
        if path in self._files:
            return "its tests execute, read or look for it"
        if path in self._around:
            return "its tests use what lies behind that link or submodule"
        if path in self._below or (is_test_like(path) and not self._below.isdisjoint(above)):
            return "its test command chooses from there"
        if _ALWAYS.fullmatch(name):
            return "settings and lock files are read without a trace"
        if name in _BESIDE and above[-1] in self._around:
            return "it is read for every file below its folder"
        if kind is Kind.OTHER:
            return ""
        if not self._folders.isdisjoint(above):
            return "its tests list that folder"
        if any(folder in self._came_or_went and folder in self._files for folder in above):
            return "its tests look for that folder"
        modules = self._modules(path, above)
        if not sys.stdlib_module_names.isdisjoint(modules):
            return "a module of the language has that name"
        return "a module of that name is asked for" if self._names & modules else ""

    def _modules(self, path: str, above: tuple[str, ...]) -> set[str]:
        """The names by which the file, or a folder that came with it, could be imported."""
        folders = {_name(folder) for folder in above if folder in self._came_or_went}
        return folders | ({_name(path).partition(".")[0]} if path.endswith(_MODULE) else set())


def is_test_like(path: str) -> bool:
    """Whether a runner that looks for tests would take the file for one, by its name or that of a folder above it."""
    return path.endswith(".py") and "test" in path.lower()


def _name(path: str) -> str:
    return path.rpartition("/")[2]


def _folders(path: str) -> tuple[str, ...]:
    """The folders that a path lies in, the root ("") first."""
    parts = path.split("/")[:-1]
    return ("", *("/".join(parts[: i + 1]) for i in range(len(parts))))
