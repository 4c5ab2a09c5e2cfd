"""A measured figure beside its floor, the table of them, and how things are timed. What is measured is elsewhere."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

HEADINGS = ("figure", "measured", "floor", "ratio", "aim", "ok?")
BATCH = 100
"""Steps whose mean is one sample: long enough to hold every kind of step, short enough that a hiccup is one sample."""


@dataclass(frozen=True, slots=True)
class Aim:
    """What a figure should keep: at most `ratio` times its floor, at most `limit` in its own unit, or both."""

    ratio: float | None = None
    limit: float | None = None

    def is_met(self, measured: float, floor: float) -> bool:
        within_ratio = self.ratio is None or measured <= self.ratio * floor
        return within_ratio and (self.limit is None or measured <= self.limit)

    def told(self, unit: str) -> str:
        ratio = f"<= {self.ratio:g}x" if self.ratio is not None else ""
        limit = f"<= {quantity(self.limit, unit)}" if self.limit is not None else ""
        return " and ".join(part for part in (ratio, limit) if part) or "-"


@dataclass(frozen=True, slots=True)
class Figure:
    """`unit` is `s` (shown as s, ms or µs), `MB`, or what is counted. `beside` says what the floor is."""

    name: str
    measured: float
    floor: float
    beside: str
    aim: Aim = Aim()
    unit: str = "s"

    @property
    def is_ok(self) -> bool:
        return self.aim.is_met(self.measured, self.floor)

    def cells(self) -> tuple[str, ...]:
        floor = f"{quantity(self.floor, self.unit)} {self.beside}"
        ratio = f"{self.measured / self.floor:.2f}x" if self.floor else "-"
        verdict = "-" if self.aim == Aim() else "ok" if self.is_ok else "OVER"
        return (self.name, quantity(self.measured, self.unit), floor, ratio, self.aim.told(self.unit), verdict)


def quantity(value: float, unit: str) -> str:
    """A value with its unit, in three digits or so."""
    if unit != "s":
        return f"{value:,.0f} {unit}"
    if value >= 1:
        return f"{value:.2f} s"
    return f"{value * 1e3:.2f} ms" if value >= 1e-3 else f"{value * 1e6:.0f} µs"


def table(figures: Iterable[Figure]) -> str:
    """The figures as lines of aligned columns."""
    rows = [HEADINGS, *(figure.cells() for figure in figures)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(HEADINGS))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    return "\n".join([lines[0], "-" * max(map(len, lines)), *lines[1:]])


def seconds(action: Callable[[], object]) -> float:
    """How long one call takes."""
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


def best(rounds: int, *actions: Callable[[], object]) -> list[float]:
    """The best of several rounds for each action; the actions take turns, so that they meet the same weather."""
    samples = [[seconds(action) for action in actions] for _ in range(rounds)]
    return [min(column) for column in zip(*samples, strict=True)]


def medians(rounds: int, *actions: Callable[[], object]) -> list[float]:
    """The median of several rounds for each action, where no round is free of others' work; the actions take turns."""
    samples = [[seconds(action) for action in actions] for _ in range(rounds)]
    return [statistics.median(column) for column in zip(*samples, strict=True)]


def typical(samples: Sequence[float]) -> float:
    """Seconds per step: the median of the means of batches, which a single hiccup of the disk does not move."""
    batches = [samples[start : start + BATCH] for start in range(0, len(samples), BATCH)]
    whole = [batch for batch in batches if len(batch) == BATCH] or batches
    return statistics.median(statistics.fmean(batch) for batch in whole)
