"""Digests of what trials rest on: files of a tree and of its base. Reads; runs nothing."""

from __future__ import annotations

import hashlib
from pathlib import Path, PurePosixPath

from agent_fox.core.regex import regex
from agent_fox.verifier.proof.kept import digest
from agent_fox.verifier.proof.sides import files_of, is_test_side

NAMES = ""
"""In the place of a path: which files there are that tests are made from."""

_SHARED = regex(
    r"pyproject\.toml|setup\.(?:cfg|py)|requirements[\w.-]*\.txt|package\.json|tsconfig[\w.]*\.json|go\.(?:mod|sum)"
    r"|Cargo\.toml|pom\.xml|build\.gradle(?:\.kts)?|[\w.-]*lock(?:\.json|\.yaml|b)?"
)
"""Settings and lock files, which runs read without a trace: `package-lock.json`, `uv.lock`; not `block.py`."""


class Contents:
    """Contents of a tree and its base, each read once."""

    def __init__(self, root: Path, base: Path | None) -> None:
        self._root, self._base = root, base
        self._files: frozenset[str] | None = None
        self._known: dict[str, str] = {}

    def all(self) -> frozenset[str]:
        if self._files is None:
            self._files = files_of(self._root)
        return self._files

    def tests(self) -> frozenset[str]:
        """What any test may rest on: the test side, and what settings and lock files say."""
        return frozenset(path for path in self.all() if is_test_side(path) or _is_shared(path))

    def digest(self, path: str) -> str:
        """Of a file in both trees, or of NAMES."""
        if path not in self._known:
            self._known[path] = digest(sorted(self.tests())) if path == NAMES else self._digest(path)
        return self._known[path]

    def _digest(self, path: str) -> str:
        return digest([_of_file(root / path) for root in (self._root, self._base) if root])


def _is_shared(path: str) -> bool:
    return _SHARED.fullmatch(PurePosixPath(path).name) is not None


def _of_file(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        return type(error).__name__
