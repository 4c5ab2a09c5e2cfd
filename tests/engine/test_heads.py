"""The head of the ledger is noted outside of the repository: what a run does with a note that does not fit."""

from __future__ import annotations

from pathlib import Path

from agent_fox.engine.heads import Heads
from agent_fox.engine.watch import RunEvent
from agent_fox.evidence import witness
from tests.engine.desk import Desk, small_spec

SPECS = [small_spec("01_bell", {1: ("1.1",)})]


def heads_of(desk: Desk, note: Path) -> tuple[Heads, list[str]]:
    told: list[str] = []

    def watch(event: RunEvent) -> None:
        told.append(event.text)

    return Heads(desk.db, note, watch), told


def test_the_note_follows_the_ledger(tmp_path: Path) -> None:
    desk, note = Desk.open(tmp_path, SPECS), tmp_path / "outside" / "head.json"
    heads, told = heads_of(desk, note)
    heads.begin()
    desk.end("01_bell:1")
    heads.note()
    assert told == []
    assert witness.trouble(desk.db, note) == ""
    (last,) = desk.rows("SELECT position, head FROM ledger ORDER BY position DESC LIMIT 1")
    found = witness.read(note)
    assert found is not None
    assert (found.position, found.head) == last


def test_a_ledger_that_was_put_back_is_told_once_and_the_note_stays(tmp_path: Path) -> None:
    note = tmp_path / "head.json"
    longer = Desk.open(tmp_path / "one", SPECS)
    longer.end("01_bell:1")
    heads_of(longer, note)[0].begin()
    before = note.read_bytes()
    other = Desk.open(tmp_path / "two", SPECS)
    heads, told = heads_of(other, note)
    heads.begin()
    heads.note()
    assert len(told) == 1
    assert "cut, put back or rewritten" in told[0]
    assert note.read_bytes() == before


def test_a_state_made_anew_begins_a_note_of_its_own_and_the_old_one_is_kept(tmp_path: Path) -> None:
    note = tmp_path / "head.json"
    old = Desk.open(tmp_path / "old", SPECS)
    heads_of(old, note)[0].begin()
    before = note.read_bytes()
    new = Desk.open(tmp_path / "new", [])
    heads, told = heads_of(new, note)
    heads.begin()
    assert told == [f"the state is a new one; the head of the ledger before it was kept as {tmp_path / 'head.1.json'}"]
    assert (tmp_path / "head.1.json").read_bytes() == before
    assert witness.trouble(new.db, note) == ""
