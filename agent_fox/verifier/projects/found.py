"""What a project turns out to use, as values. Finding it is in `facts` and its readers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from types import MappingProxyType
from typing import TYPE_CHECKING

from agent_fox.core.values import dataclass

if TYPE_CHECKING:
    from agent_fox.verifier.projects.systems import BuildSystem


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
    """

    traits: frozenset[str] = frozenset()
    lists: Mapping[str, tuple[str, ...]] = field(default_factory=lambda: MappingProxyType({}))
    roots: tuple[str, ...] = ()
    variables: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    notes: tuple[str, ...] = ()
    products: tuple[str, ...] = ()
