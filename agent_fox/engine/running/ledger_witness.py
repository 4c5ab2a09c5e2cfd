"""The head of the ledger is noted outside of the repository while a run goes on: a history that was cut, put back or
rewritten is never the ground of a claim. The run does not start over it; a person may accept the loss, on record.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from agent_fox.core.ledger.evidence import Evidence, Kind, Outcome, ReviewerDecision, SpecRef
from agent_fox.core.values import to_document
from agent_fox.engine.planning.from_settings import RunStuck
from agent_fox.engine.record.ending import RunExit, Stop
from agent_fox.engine.record.watch import RunEvent, Watch
from agent_fox.evidence import witness
from agent_fox.evidence.witness import WitnessBroken
from agent_fox.store.ledger import ledger

if TYPE_CHECKING:
    from sqlite_utils import Database


STOPPED = "the history of this repository does not hold together, and nothing can be claimed by it"


@dataclass
class LedgerWitness:
    """Notes the head of one repository's ledger. `path` as `witness.path_of` gives it; `lost` says what was found."""

    db: Database
    path: Path
    watch: Watch
    told: set[str] = field(default_factory=set)
    lost: str = ""

    def begin(self, *, had_state: bool) -> None:
        """Before anything is written. A state file that was made anew begins a ledger of its own, and the note of the
        one before is kept beside it. Raises RunStuck for a history that does not hold together.
        """
        lost = witness.why_lost(self.db, self.path)
        if not lost:
            return
        if had_state or ledger.tip_of(self.db).position:
            raise RunStuck(f"{STOPPED}: {lost}")
        try:
            kept = witness.set_aside(self.path)
        except WitnessBroken as error:
            raise RunStuck(str(error)) from error
        self.tell(f"the state is a new one; the head of the ledger before it was kept as {kept}")

    def note(self) -> None:
        """After a commit."""
        try:
            witness.advance(self.db, self.path)
        except WitnessBroken as error:
            self.lost = self.lost or witness.why_lost(self.db, self.path)
            self.tell(f"ledger: {error}")

    def believed(self, stop: Stop) -> Stop:
        """What the run may claim: nothing, where its history was found cut or rewritten while it went on."""
        self.note()
        is_claim = stop.exit in (RunExit.PROVEN, RunExit.NOT_PROVEN)
        return Stop(RunExit.CANNOT_GO_ON, f"{STOPPED}: {self.lost}") if self.lost and is_claim else stop

    def tell(self, text: str) -> None:
        if text not in self.told:
            self.told.add(text)
            self.watch(RunEvent("note", text=text))


def accept_loss(db: Database, path: Path, at: str, who: str, reason: str) -> Evidence | None:
    """Record, in the open transaction, that a person goes on without what was lost; None where nothing was.

    After the commit, `begin_again` sets the note aside and begins another.
    """
    lost = witness.why_lost(db, path)
    if not lost:
        return None
    tip = ledger.tip_of(db)
    try:
        note = witness.read(path)
    except WitnessBroken:
        note = None
    body = {"who": who, "reason": reason, "noted": to_document(note), "found": to_document(tip), "why": lost}
    name = f"loss:{note.head if note else 'damaged'}:{tip.position + 1}"
    record = Evidence(
        Kind.LOSS, name, at, Outcome("accepted"), SpecRef("run", "ledger"), reviewer_decision=ReviewerDecision.ACCEPTED,
        limitation=f"what was recorded after record {tip.position} is lost; accepted by {who}: {reason}", body=body,
    )  # fmt: skip
    ledger.append(db, [record])
    return record


def begin_again(db: Database, path: Path) -> Path:
    """The note of what is lost is kept, and another begun; gives where it is kept. Raises WitnessBroken."""
    kept = witness.set_aside(path)
    witness.advance(db, path)
    return kept
