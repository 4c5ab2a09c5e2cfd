"""What checking a ledger comes to: faults, what could not be checked, and what it says once it is believed."""

from __future__ import annotations

from dataclasses import field

from agent_fox.core.values import dataclass

MOST_FAULTS = 200
"""Faults that are kept one by one; the rest is counted."""


@dataclass(frozen=True, slots=True)
class Fault:
    """Something that cannot be so in a ledger that nobody touched. `position` 0: not about one record."""

    position: int
    what: str
    meaning: str


@dataclass(frozen=True, slots=True)
class Unchecked:
    """Something that nobody can know here: neither sound nor a fault, and never a pass."""

    what: str
    why: str


@dataclass(slots=True)
class Findings:
    """What a check collects on its way. Remarks change nothing."""

    faults: list[Fault] = field(default_factory=list)
    unchecked: list[Unchecked] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    left_out: int = 0

    def add(self, *faults: Fault) -> None:
        for fault in faults:
            if len(self.faults) < MOST_FAULTS:
                self.faults.append(fault)
            else:
                self.left_out += 1

    def unknown(self, what: str, why: str) -> None:
        """Note once that something cannot be checked."""
        if Unchecked(what, why) not in self.unchecked:
            self.unchecked.append(Unchecked(what, why))

    @property
    def is_sound(self) -> bool:
        return not self.faults and not self.unchecked
