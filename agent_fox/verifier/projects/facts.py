"""What a project uses at one place. Reads manifests again, as they may have changed since detection."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from agent_fox.core.regex import regex
from agent_fox.verifier.logs.records import record
from agent_fox.verifier.projects.facts_javascript import javascript_facts
from agent_fox.verifier.projects.facts_jvm import gradle_facts, maven_facts
from agent_fox.verifier.projects.facts_native import c_facts, cargo_facts, go_facts
from agent_fox.verifier.projects.facts_python import declared_lines, python_facts
from agent_fox.verifier.projects.manifests import Manifests, join
from agent_fox.verifier.projects.systems import SystemKind

if TYPE_CHECKING:
    from agent_fox.verifier.projects.manifests import Manifests
    from agent_fox.verifier.projects.systems import Facts, Place

_READERS: dict[SystemKind, Callable[[Manifests, Place], Facts]] = {
    SystemKind.MAVEN: maven_facts,
    SystemKind.GRADLE: gradle_facts,
    SystemKind.NPM: javascript_facts,
    SystemKind.PNPM: javascript_facts,
    SystemKind.YARN: javascript_facts,
    SystemKind.PYTHON: python_facts,
    SystemKind.GO: go_facts,
    SystemKind.CARGO: cargo_facts,
    SystemKind.CMAKE: c_facts,
    SystemKind.MAKE: c_facts,
}


def facts_of(manifests: Manifests, place: Place) -> Facts:
    """What the project uses at this place."""
    return _READERS[place.system.kind](manifests, place)


_NAME = regex(r"^\s*[\"']?([A-Za-z0-9][A-Za-z0-9._-]*)", re.MULTILINE)
_GROUPS = ("dependencies", "devDependencies", "peerDependencies", "optionalDependencies")


def declared_packages(root: Path) -> frozenset[str]:
    """Names in the manifests of Python and JavaScript in the root and in the folders one level below it."""
    manifests = Manifests(root)
    folders = (".", *manifests.subfolders("."))
    return frozenset(name for folder in folders for name in _in_folder(manifests, folder))


def _in_folder(manifests: Manifests, folder: str) -> Iterator[str]:
    yield from _NAME.findall(declared_lines(manifests, folder))
    path = join(folder, "package.json")
    package = manifests.json(path) if manifests.is_file(path) else None
    yield from (name for group in _GROUPS for name in record((package or {}).get(group)))
