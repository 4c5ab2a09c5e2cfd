"""How long artifacts are kept: by age and by size, oldest attempts first. What a run's newest attempt needs stays."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

from agent_fox.core.values import dataclass
from agent_fox.verifier.artifacts.index import UNFINISHED, Index, all_indexes, locked

_DAY = 86_400  # seconds
_ABANDONED = _DAY
"""Seconds after which content that nobody finished belongs to a process that is gone."""


@dataclass(frozen=True, slots=True)
class Pruned:
    """What was removed: attempts as `RUN/ATTEMPT`, bytes of content; and the bytes that stay."""

    attempts: tuple[str, ...]
    bytes: int
    bytes_kept: int


@dataclass(frozen=True, slots=True)
class _Attempt:
    file: Path
    index: Index
    changed: float
    is_newest: bool

    def is_over(self, now: float, days: float, run_days: float | None) -> bool:
        """Whether its age alone says that it goes."""
        age = now - self.changed
        if self.is_newest:
            return run_days is not None and age > run_days * _DAY
        return age > days * _DAY


def prune(
    folder: Path, max_age_days: float, max_bytes: int, *, run_days: float | None = None, now: float | None = None
) -> Pruned:
    """Remove attempts older than `max_age_days`, then the oldest ones until `max_bytes` are enough; and what no attempt
    needs.

    The newest attempt of a run stays, however old and large; unless `run_days` says after how many days a whole run may
    go, and then runs go for want of room too, the last one excepted. `now` is in seconds since 1970. Raises
    ArtifactError, and removes nothing, where an index can't be understood.
    """
    with locked(folder):
        moment = time.time() if now is None else now
        attempts = list(_attempts(folder))
        over = [attempt for attempt in attempts if attempt.is_over(moment, max_age_days, run_days)]
        left = [attempt for attempt in attempts if attempt not in over]
        while _size(left) > max_bytes and (oldest := _oldest(left, may_end_runs=run_days is not None)) is not None:
            over.append(oldest)
            left.remove(oldest)
        for attempt in over:
            attempt.file.unlink()
        removed = _sweep(folder, {artifact.sha256 for attempt in left for artifact in attempt.index.artifacts}, moment)
    names = tuple(f"{attempt.index.run}/{attempt.index.attempt}" for attempt in over)
    return Pruned(names, removed, _size(left))


def _attempts(folder: Path) -> Iterator[_Attempt]:
    attempts = list(all_indexes(folder))
    newest: dict[str, int] = {}
    for _, index in attempts:
        newest[index.run] = max(index.attempt, newest.get(index.run, 0))
    for file, index in attempts:
        yield _Attempt(file, index, file.stat().st_mtime, index.attempt == newest[index.run])


def _size(attempts: list[_Attempt]) -> int:
    """Content that several attempts share counts once."""
    return sum({a.sha256: a.bytes for attempt in attempts for a in attempt.index.artifacts}.values())


def _oldest(attempts: list[_Attempt], *, may_end_runs: bool) -> _Attempt | None:
    """What goes next: superseded attempts first, then whole runs but the last one, if runs may go at all."""
    superseded = [attempt for attempt in attempts if not attempt.is_newest]
    ended = sorted(attempts, key=lambda one: one.changed)[:-1] if may_end_runs else []
    return min(superseded or ended, key=lambda one: one.changed, default=None)


def _sweep(folder: Path, needed: set[str], now: float) -> int:
    """Remove content that no index names, and what a process that is gone left unfinished; the answer is in bytes."""
    content = [file for file in (folder / "content").glob("*/*") if file.name not in needed]
    unfinished = (folder / UNFINISHED).glob("*")
    return sum(_removed(file, 0) for file in content) + sum(_removed(file, now - _ABANDONED) for file in unfinished)


def _removed(file: Path, changed_before: float) -> int:
    """Bytes of the file, which is gone now; 0 for one that changed since, or that its owner has removed."""
    try:
        state = file.stat()
        if changed_before and state.st_mtime >= changed_before:
            return 0
        file.unlink()
    except FileNotFoundError:
        return 0
    return state.st_size
