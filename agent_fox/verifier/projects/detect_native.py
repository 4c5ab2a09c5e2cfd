"""Go, Rust and C projects: their modules, and the targets of a Makefile."""

from __future__ import annotations

import re

from agent_fox.core.regex import regex
from agent_fox.verifier.logs.streams.records import record
from agent_fox.verifier.projects.detect_python import PYPROJECT
from agent_fox.verifier.projects.manifests import Manifests, join, relative, strings
from agent_fox.verifier.projects.systems import BuildSystem, NoteKind, SystemKind

CARGO, GO_MOD, GO_WORK, CMAKE, MESON = "Cargo.toml", "go.mod", "go.work", "CMakeLists.txt", "meson.build"
MAKEFILES = ("GNUmakefile", "makefile", "Makefile")  # in the order that make looks for them
_C = regex(r"\.(?:c|cc|cpp|cxx|c\+\+|C|m|s|S)$")
_USE = regex(r"^\s*use\s*(?:\(([^)]*)\)|(\S+))", re.MULTILINE)
_MESON_PROJECT = regex(r"(?m)^\s*project\s*\(")
_C_DEPTH = 3  # folders below which no C source is looked for
_LOOKED_AT = 400  # folders


def cargo(manifests: Manifests, folder: str) -> BuildSystem | None:
    manifest = join(folder, CARGO)
    if not manifests.is_file(manifest):
        return None
    workspace = record((manifests.toml(manifest) or {}).get("workspace"))
    included = {path: None for glob in strings(workspace, "members") for path in manifests.matching(folder, glob)}
    left_out = {path for glob in strings(workspace, "exclude") for path in manifests.matching(folder, glob)}
    members = (path for path in included if path not in left_out and manifests.is_file(join(path, CARGO)))
    return BuildSystem(
        SystemKind.CARGO, folder, CARGO, tuple(relative(path, folder) for path in members if path != folder)
    )


def go(manifests: Manifests, folder: str) -> BuildSystem | None:
    if manifests.is_file(join(folder, GO_WORK)):
        return BuildSystem(SystemKind.GO, folder, GO_WORK, _used(manifests, folder))
    return BuildSystem(SystemKind.GO, folder, GO_MOD) if manifests.is_file(join(folder, GO_MOD)) else None


def cmake(manifests: Manifests, folder: str) -> BuildSystem | None:
    return BuildSystem(SystemKind.CMAKE, folder, CMAKE) if manifests.is_file(join(folder, CMAKE)) else None


def meson(manifests: Manifests, folder: str) -> BuildSystem | None:
    """A project of Meson: not a folder of one, nor what builds the package of a Python project."""
    text = manifests.text(join(folder, MESON)) if manifests.is_file(join(folder, MESON)) else None
    if not _MESON_PROJECT.search(text or "") or "mesonpy" in (manifests.text(join(folder, PYPROJECT)) or ""):
        return None
    return BuildSystem(SystemKind.MESON, folder, MESON)


def make(manifests: Manifests, folder: str) -> BuildSystem | None:
    """A Makefile beside C sources; without them it is a list of chores, not a build."""
    manifest = makefile_of(manifests, folder)
    if manifest is None or not _has_c(manifests, folder):
        return None
    return BuildSystem(SystemKind.MAKE, folder, manifest)


def makefile_of(manifests: Manifests, folder: str) -> str | None:
    return next((name for name in MAKEFILES if manifests.is_file(join(folder, name))), None)


def _used(manifests: Manifests, folder: str) -> tuple[str, ...]:
    """The modules that go.work uses."""
    text = re.sub(r"//[^\n]*", "", manifests.text(join(folder, GO_WORK)) or "")
    names = [name.strip('"') for block, single in _USE.findall(text) for name in (block or single).split()]
    folders = []
    for place in dict.fromkeys(join(folder, name) for name in names):
        if place.startswith(("..", "/")):
            manifests.note(NoteKind.OUTSIDE, join(folder, GO_WORK), f"uses {place}, which is outside")
        elif manifests.is_file(join(place, GO_MOD)) and (folder == "." or place.startswith(f"{folder}/")):
            folders.append(relative(place, folder))
    return tuple(name for name in folders if name != ".")


def _has_c(manifests: Manifests, folder: str) -> bool:
    level = [folder]
    looked_at = 0
    for _ in range(_C_DEPTH):
        if any(_C.search(name) for place in level for name in manifests.names(place)):
            return True
        level = [below for place in level for below in manifests.subfolders(place)][: _LOOKED_AT - looked_at]
        looked_at += len(level)
    return False
