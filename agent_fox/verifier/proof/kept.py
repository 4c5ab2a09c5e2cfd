"""Words that trials came to, kept beside the state file: what they rest on has not changed, so they are not run again.

One small file for each set of tests. A file that cannot be read is as good as none, and one that cannot be written is
left: the trials are run again then. What comes of it stands in `docs/proof.md`, "What it costs".
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path, PurePosixPath
from typing import Any

from agent_fox.core.ids import digest_of
from agent_fox.core.regex import regex
from agent_fox.core.values import dataclass, to_document
from agent_fox.core.verdicts.proof import Before, Shown, Tried
from agent_fox.core.verdicts.scope import Scope
from agent_fox.system.files import replace_file
from agent_fox.verifier.proof.sides import files_of, is_test_side

RULES = 6
"""Counted up where the rules change: what was kept under others is not believed."""

MOST_OF_ONE = 4
MOST_FILES = 5000

Digest = Callable[[str], str]
"""What is known of a path in the tree and in the base; differs wherever one of the two contents does."""


@dataclass(frozen=True, slots=True)
class Kept:
    """What the trials of a set of tests came to, whose committed versions hold.

    `rests_on`: path -> digest, for all that could change it. `tried`: what was done to see them fail. `scope`: what the
    tests rest on; None where that was not measured.
    """

    word: Shown
    why: str
    before: Before
    rests_on: Mapping[str, str]
    tried: tuple[Tried, ...] = ()
    scope: Scope | None = None


def digest(parts: Iterable[object]) -> str:
    return digest_of(json.dumps([str(part) for part in parts]))


def key_of(line: str, *parts: object) -> str:
    """Of what a command line runs; `parts`: which of its tests, and what is around them."""
    return f"{digest([line])[:12]}-{digest(parts) if parts else ''}"


@dataclass(frozen=True, slots=True)
class Shelf:
    """The folder of what is kept; `None` keeps nothing."""

    folder: Path | None

    def find(self, key: str, now: Digest) -> Kept | None:
        """What was kept under this key, if all that it rests on is as it was."""
        return next(
            (kept for kept in self._read(key) if all(now(p) == then for p, then in kept.rests_on.items())), None
        )

    def has(self, line: str) -> bool:
        """Whether anything is kept of tests that this command line runs."""
        return self.folder is not None and any(self.folder.glob(f"{key_of(line)}*"))

    def keep(self, key: str, kept: Kept) -> None:
        if self.folder is None:
            return
        rows = to_document((kept, *self._read(key))[:MOST_OF_ONE])
        with suppress(OSError):
            self.folder.mkdir(parents=True, exist_ok=True)
            self._make_room()
            replace_file(self.folder / key, json.dumps({"rules": RULES, "kept": rows}), is_durable=False)

    def _read(self, key: str) -> list[Kept]:
        if self.folder is None:
            return []
        try:
            content = json.loads((self.folder / key).read_bytes())
            return [_kept(row) for row in content["kept"]] if content["rules"] == RULES else []
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return []

    def _make_room(self) -> None:
        files = [path for path in self.folder.iterdir() if path.is_file()] if self.folder else []
        if len(files) >= MOST_FILES:
            for path in sorted(files, key=lambda path: path.stat().st_mtime)[: MOST_FILES // 10]:
                path.unlink(missing_ok=True)


def _kept(row: Mapping[str, Any]) -> Kept:
    rests_on = {str(path): str(then) for path, then in row["rests_on"].items()}
    tried = tuple(Tried(**each) for each in row["tried"])
    held: Mapping[str, Any] = row["scope"] or {}
    given: dict[str, Any] = {name: tuple(each) if isinstance(each, list) else each for name, each in held.items()}
    scope = Scope(**given) if given else None
    return Kept(Shown(row["word"]), str(row["why"]), Before(row["before"]), rests_on, tried, scope)


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
        return frozenset(
            path for path in self.all() if is_test_side(path) or _SHARED.fullmatch(PurePosixPath(path).name)
        )

    def digest(self, path: str) -> str:
        """Of a file in both trees; of NAMES, or of a folder with a slash at its end, of the names of what is there."""
        if path not in self._known:
            self._known[path] = (
                self._digest_of_names(path) if path.endswith("/") or path == NAMES else self._digest(path)
            )
        return self._known[path]

    def _digest_of_names(self, folder: str) -> str:
        below = "" if folder == "/" else folder
        return digest(sorted(self.tests() if folder == NAMES else (p for p in self.all() if p.startswith(below))))

    def _digest(self, path: str) -> str:
        return digest([_of_file(root / path) for root in (self._root, self._base) if root])


def _of_file(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        return type(error).__name__
