"""The build systems of a folder, as values. Finding them is in `detect`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from enum import StrEnum
from types import MappingProxyType

from agent_fox.core.values import dataclass


class SystemKind(StrEnum):
    MAVEN = "maven"
    GRADLE = "gradle"
    NPM = "npm"
    PNPM = "pnpm"
    YARN = "yarn"
    PYTHON = "python"
    GO = "go"
    CARGO = "cargo"
    CMAKE = "cmake"
    MESON = "meson"
    MAKE = "make"


@dataclass(frozen=True, slots=True)
class BuildSystem:
    """One build system. Paths have forward slashes.

    root: its folder, relative to the workspace ("." for the workspace itself). manifest: relative to `root`.
    modules: folders relative to `root`, without the root itself. wrapper: such as "./mvnw", where the project has one.
    profile: id of the built-in profile for it.
    """

    kind: SystemKind
    root: str
    manifest: str
    modules: tuple[str, ...] = ()
    wrapper: str | None = None
    profile: str = ""


class NoteKind(StrEnum):
    """Why a manifest, or a part of it, was not followed."""

    TOO_LARGE = "too_large"
    UNREADABLE = "unreadable"
    INVALID = "invalid"
    OUTSIDE = "outside"
    MISSING = "missing"
    TOO_DEEP = "too_deep"
    TOO_MANY = "too_many"


@dataclass(frozen=True, slots=True)
class Note:
    """Something in a manifest that detection did not follow. `path` is relative to the workspace."""

    kind: NoteKind
    path: str
    text: str


@dataclass(frozen=True, slots=True)
class Detection:
    """What a folder is made of, best guess first: nearer to the root, then by kind."""

    systems: tuple[BuildSystem, ...] = ()
    notes: tuple[Note, ...] = ()

    @property
    def recommended(self) -> BuildSystem | None:
        """The build system to use by default."""
        return next(iter(self.systems), None)


@dataclass(frozen=True, slots=True)
class Place:
    """Where a command is to run: a build system, and one of its modules or none."""

    system: BuildSystem
    folder: str  # below the workspace: the module's, or the system's root

    @property
    def is_module(self) -> bool:
        return self.folder != self.system.root


@dataclass(frozen=True, slots=True)
class Facts:
    """What commands may depend on.

    traits: words for `when`. lists: what templates may hold. roots: folders, from where the command runs, that modules
    are imported from. variables: what the project's own test script
    sets. notes: settings of the project that leave tests out. products: files that its build makes beside the sources.
    before: commands that build what its tests need. missing: why what its tests say may be old, and is no pass.
    guess: why it may be another runner that its tests want; where none of them passes, that says nothing of them.
    """

    traits: frozenset[str] = frozenset()
    lists: Mapping[str, tuple[str, ...]] = field(default_factory=lambda: MappingProxyType({}))
    roots: tuple[str, ...] = ()
    variables: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    notes: tuple[str, ...] = ()
    products: tuple[str, ...] = ()
    before: tuple[tuple[str, ...], ...] = ()
    missing: str = ""
    guess: str = ""
