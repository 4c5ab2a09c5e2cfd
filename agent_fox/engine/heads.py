"""The head of the ledger is noted outside of the repository while a run goes on. What is wrong with it is told, once.

A run goes on all the same: the note helps a person to find out (`agent-fox ledger verify`), and holds no work back.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from agent_fox.engine.watch import RunEvent, Watch
from agent_fox.evidence import witness
from agent_fox.evidence.witness import WitnessBroken

if TYPE_CHECKING:
    from sqlite_utils import Database


@dataclass
class Heads:
    """Notes the head of one repository's ledger. `path` as `witness.path_of` gives it."""

    db: Database
    path: Path
    watch: Watch
    told: set[str] = field(default_factory=set)

    def begin(self) -> None:
        """A state file that was made anew begins a ledger of its own: the note of the one before is kept beside it."""
        try:
            if self.is_new() and witness.trouble(self.db, self.path):
                kept = witness.set_aside(self.path)
                self.tell(f"the state is a new one; the head of the ledger before it was kept as {kept}")
        except WitnessBroken as error:
            self.tell(str(error))
        self.note()

    def is_new(self) -> bool:
        """Whether nothing was ever done with this state file: a run has just been opened, the first one."""
        (records,) = self.db.execute("SELECT count(*) FROM ledger WHERE kind NOT IN ('run', 'rows')").fetchone()
        (runs,) = self.db.execute("SELECT count(*) FROM ledger WHERE kind = 'run'").fetchone()
        return bool(records == 0 and runs == 1)

    def note(self) -> None:
        """After a commit."""
        try:
            witness.advance(self.db, self.path)
        except WitnessBroken as error:
            self.tell(f"ledger: {error}")

    def tell(self, text: str) -> None:
        if text not in self.told:
            self.told.add(text)
            self.watch(RunEvent("note", text=text))
