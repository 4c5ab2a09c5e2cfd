"""Rows of the state file as evidence: what became of them in one transaction, and sums that stand for all of them.

The state is a fold of these changes. A sum over rows is moved by every change without looking at the others, so that
whether the rows that stand are those of the ledger can be asked without reading its history.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping

from agent_fox.core.values import dataclass

Cell = None | int | float | str
Row = Mapping[str, Cell]
"""A row by its columns; a column that has the default of its table is left out, so that a new column changes no sum."""

CLAIMS = frozenset({"plan_specs", "plan_nodes", "plan_edges", "plan_parts", "verification_results", "gate_history"})
"""What a screen says to be proven is read from these tables; their sum is kept apart, to be held against each time."""

MODULUS = 1 << 256
DIGITS = 64


class NotSums(ValueError):
    """A text that no sums are written in."""


@dataclass(frozen=True, slots=True)
class Change:
    """One row before and after; None: there was, or there is, no such row."""

    table: str
    before: Row | None
    after: Row | None


@dataclass(frozen=True, slots=True)
class Sums:
    """The sums over the rows of CLAIMS, and over all rows that are evidence."""

    claims: int = 0
    whole: int = 0

    def moved(self, change: Change) -> Sums:
        by = _weight(change.table, change.after) - _weight(change.table, change.before)
        claims = (self.claims + by) % MODULUS if change.table in CLAIMS else self.claims
        return Sums(claims, (self.whole + by) % MODULUS)

    def __str__(self) -> str:
        return f"{self.claims:0{DIGITS}x}.{self.whole:0{DIGITS}x}"

    @classmethod
    def read(cls, text: str) -> Sums:
        """Raises NotSums."""
        claims, _, whole = text.partition(".")
        try:
            sums = cls(int(claims, 16), int(whole, 16))
        except ValueError as error:
            raise NotSums(f"no sums of rows: {text[:40]!r}") from error
        if str(sums) != text:
            raise NotSums(f"no sums of rows: {text[:40]!r}")
        return sums


def _weight(table: str, row: Row | None) -> int:
    """A row as a number; none weighs nothing."""
    if row is None:
        return 0
    text = json.dumps([table, row], sort_keys=True, separators=(",", ":"))
    return int.from_bytes(hashlib.sha256(text.encode()).digest())
