"""The packages that a project's manifests ask for, by name: one that is missing is not the code's fault."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from agent_fox.core.regex import regex
from agent_fox.verifier.logs.records import record
from agent_fox.verifier.projects.facts_python import declared_lines
from agent_fox.verifier.projects.manifests import Manifests, join

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
