"""The head of the ledger is noted outside of the repository: what a run does with a note that does not fit."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from agent_fox.engine.planning.from_settings import RunStuck
from agent_fox.engine.record.ending import RunExit, Stop
from agent_fox.engine.record.watch import RunEvent
from agent_fox.engine.running.ledger_witness import LedgerWitness, accept_loss, begin_again
from agent_fox.evidence import witness
from agent_fox.store.state import transaction
from tests.engine.desk import AT, Desk, small_spec
from tests.states import fresh_state

SPECS = [small_spec("01_bell", {1: ("1.1",)})]


def heads_of(desk: Desk, note: Path) -> tuple[LedgerWitness, list[str]]:
    told: list[str] = []

    def watch(event: RunEvent) -> None:
        told.append(event.text)

    return LedgerWitness(desk.db, note, watch), told


def test_the_note_follows_the_ledger(tmp_path: Path) -> None:
    desk, note = Desk.open(tmp_path, SPECS), tmp_path / "outside" / "head.json"
    heads, told = heads_of(desk, note)
    heads.begin(had_state=True)
    desk.end("01_bell:1")
    heads.note()
    assert told == []
    assert witness.trouble(desk.db, note) == ""
    (last,) = desk.rows("SELECT position, head FROM ledger ORDER BY position DESC LIMIT 1")
    found = witness.read(note)
    assert found is not None
    assert (found.position, found.head) == last


def put_back(tmp_path: Path) -> tuple[Desk, Path]:
    """A ledger that is shorter than the one that was noted."""
    note = tmp_path / "head.json"
    longer = Desk.open(tmp_path / "one", SPECS)
    longer.end("01_bell:1")
    heads_of(longer, note)[0].note()
    return Desk.open(tmp_path / "two", SPECS), note


def test_a_ledger_that_was_put_back_stops_the_run_and_the_note_stays(tmp_path: Path) -> None:
    other, note = put_back(tmp_path)
    before = note.read_bytes()
    heads, told = heads_of(other, note)
    with pytest.raises(RunStuck, match=r"does not hold together.*accept-loss"):
        heads.begin(had_state=True)
    assert (told, note.read_bytes()) == ([], before)


@pytest.mark.parametrize(
    ("exit_", "said"),
    [
        (RunExit.PROVEN, RunExit.CANNOT_GO_ON),
        (RunExit.NOT_PROVEN, RunExit.CANNOT_GO_ON),
        (RunExit.CEILING, RunExit.CEILING),
        (RunExit.INTERRUPTED, RunExit.INTERRUPTED),
    ],
)
def test_a_ledger_that_was_put_back_while_a_run_went_on_is_told_once_and_claims_nothing(
    tmp_path: Path, exit_: RunExit, said: RunExit
) -> None:
    other, note = put_back(tmp_path)
    heads, told = heads_of(other, note)
    heads.note()
    heads.note()
    assert len(told) == 1
    assert "cut, put back or rewritten" in told[0]
    assert heads.believed(Stop(exit_, "as it was")).exit is said


def test_where_no_head_was_noted_every_claim_stands(tmp_path: Path) -> None:
    heads, told = heads_of(Desk.open(tmp_path, SPECS), tmp_path / "head.json")
    heads.begin(had_state=True)
    assert heads.believed(Stop(RunExit.PROVEN, "proven")) == Stop(RunExit.PROVEN, "proven")
    assert told == []


def test_a_state_made_anew_begins_a_note_of_its_own_and_the_old_one_is_kept(tmp_path: Path) -> None:
    note = tmp_path / "head.json"
    old = Desk.open(tmp_path / "old", SPECS)
    heads_of(old, note)[0].note()
    before = note.read_bytes()
    with closing(fresh_state(tmp_path / "new.db")) as db:
        told: list[str] = []
        heads = LedgerWitness(db, note, lambda event: told.append(event.text))
        heads.begin(had_state=False)
    assert told == [f"the state is a new one; the head of the ledger before it was kept as {tmp_path / 'head.1.json'}"]
    assert (tmp_path / "head.1.json").read_bytes() == before
    assert not note.exists()


def test_an_accepted_loss_is_on_record_and_the_chain_goes_on(tmp_path: Path) -> None:
    other, note = put_back(tmp_path)
    before = note.read_bytes()
    with transaction(other.db):
        record = accept_loss(other.db, note, AT, "ada", "the disk was full")
    assert record is not None
    assert (record.body["who"], record.body["reason"]) == ("ada", "the disk was full")
    kept = begin_again(other.db, note)
    assert (kept.read_bytes(), witness.why_lost(other.db, note)) == (before, "")
    heads_of(other, note)[0].begin(had_state=True)
    with transaction(other.db):
        assert accept_loss(other.db, note, AT, "ada", "again") is None
