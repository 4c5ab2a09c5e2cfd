"""Words that trials came to, kept beside the state file: what they rest on has not changed, so they are not run again.

One small file for each set of tests. A file that cannot be read is as good as none, and one that cannot be written is
left: the trials are run again then. What comes of it stands in `docs/proof.md`, "What it costs".
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

from agent_fox.core.ids import digest_of
from agent_fox.core.values import dataclass
from agent_fox.core.verdicts.proof import Before, Shown, Tried
from agent_fox.system.shim import write_whole

RULES = 2
"""Counted up where the rules change: what was kept under others is not believed."""

MOST_OF_ONE = 4
MOST_FILES = 5000

Digest = Callable[[str], str]
"""What is known of a path in the tree and in the base; differs wherever one of the two contents does."""


@dataclass(frozen=True, slots=True)
class Kept:
    """What the trials of a set of tests came to, whose committed versions hold.

    `rests_on`: path -> digest, for all that could change it. `tried`: what was done to see them fail.
    """

    word: Shown
    why: str
    before: Before
    rests_on: Mapping[str, str]
    tried: tuple[Tried, ...] = ()


def digest(parts: Iterable[object]) -> str:
    return digest_of(json.dumps([str(part) for part in parts]))


@dataclass(frozen=True, slots=True)
class Shelf:
    """The folder of what is kept; `None` keeps nothing."""

    folder: Path | None

    def find(self, key: str, now: Digest) -> Kept | None:
        """What was kept under this key, if all that it rests on is as it was."""
        return next((kept for kept in self._read(key) if _still_holds(kept, now)), None)

    def keep(self, key: str, kept: Kept) -> None:
        if self.folder is None:
            return
        rows = [_row(one) for one in (kept, *self._read(key))][:MOST_OF_ONE]
        with suppress(OSError):
            self.folder.mkdir(parents=True, exist_ok=True)
            self._make_room()
            write_whole(str(self.folder / key), json.dumps({"rules": RULES, "kept": rows}).encode())

    def _read(self, key: str) -> list[Kept]:
        if self.folder is None:
            return []
        try:
            found = json.loads((self.folder / key).read_bytes())
            return [_kept(row) for row in found["kept"]] if found["rules"] == RULES else []
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return []

    def _make_room(self) -> None:
        files = [path for path in self.folder.iterdir() if path.is_file()] if self.folder else []
        if len(files) >= MOST_FILES:
            for path in sorted(files, key=lambda path: path.stat().st_mtime)[: MOST_FILES // 10]:
                path.unlink(missing_ok=True)


def _still_holds(kept: Kept, now: Digest) -> bool:
    return all(now(path) == then for path, then in kept.rests_on.items())


def _row(kept: Kept) -> dict[str, Any]:
    return {
        "word": kept.word.value,
        "why": kept.why,
        "before": kept.before.value,
        "rests_on": dict(kept.rests_on),
        "tried": [asdict(one) for one in kept.tried],
    }


def _kept(row: Mapping[str, Any]) -> Kept:
    rests_on = {str(path): str(then) for path, then in row["rests_on"].items()}
    tried = tuple(Tried(**one) for one in row["tried"])
    return Kept(Shown(row["word"]), str(row["why"]), Before(row["before"]), rests_on, tried)
