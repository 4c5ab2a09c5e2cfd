"""Which build systems a folder has, from manifests alone. What is written for people is never read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from agent_fox.verifier.projects.detect_javascript import javascript
from agent_fox.verifier.projects.detect_jvm import gradle, maven
from agent_fox.verifier.projects.detect_native import cargo, cmake, go, make, meson
from agent_fox.verifier.projects.detect_python import python
from agent_fox.verifier.projects.manifests import Manifests, join
from agent_fox.verifier.projects.systems import BuildSystem, Detection, SystemKind

PROFILES = {
    SystemKind.MAVEN: "java-maven",
    SystemKind.GRADLE: "java-gradle",
    SystemKind.NPM: "javascript-npm",
    SystemKind.PNPM: "javascript-pnpm",
    SystemKind.YARN: "javascript-yarn",
    SystemKind.PYTHON: "python",
    SystemKind.GO: "go",
    SystemKind.CARGO: "rust-cargo",
    SystemKind.CMAKE: "c-cmake",
    SystemKind.MESON: "c-meson",
    SystemKind.MAKE: "c-make",
}
_FINDERS: tuple[Callable[[Manifests, str], BuildSystem | None], ...] = (
    maven,
    gradle,
    cargo,
    go,
    python,
    javascript,
    cmake,
    meson,
    make,
)


def detect(root: Path) -> Detection:
    """The build systems of the workspace and of the folders directly below it, nearest first.

    A folder that is a module of one of them is none of its own. Manifests that are too large, invalid, or lead out of
    the workspace give notes. Nothing is raised for what a workspace holds; a root that is no folder has no systems.
    """
    return detected(Manifests(root))


def detected(manifests: Manifests) -> Detection:
    """The same by manifests that are being looked at already."""
    systems = _systems(manifests, ".")
    for folder in manifests.subfolders("."):
        systems += [system for system in _systems(manifests, folder) if not _is_module(system, systems)]
    return Detection(tuple(systems), tuple(manifests.notes))


def _systems(manifests: Manifests, folder: str) -> list[BuildSystem]:
    candidates = (finder(manifests, folder) for finder in _FINDERS)
    return [replace(system, profile=PROFILES[system.kind]) for system in candidates if system]


def _is_module(one: BuildSystem, others: list[BuildSystem]) -> bool:
    return any(
        one.kind is other.kind and one.root in (join(other.root, name) for name in other.modules) for other in others
    )
