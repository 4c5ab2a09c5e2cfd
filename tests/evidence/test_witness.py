"""What is noted of a ledger outside of its repository only ever goes forward; and processes that append at once."""

from __future__ import annotations

import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from agent_fox.core.ledger.evidence import Evidence, Kind, Outcome
from agent_fox.evidence import witness
from agent_fox.evidence.witness import WitnessBroken
from agent_fox.store.ledger import ledger
from agent_fox.store.state import open_state, transaction
from tests.evidence.ledgers import check, opened

EACH = 60
APPEND = """
import sys
from contextlib import closing
from pathlib import Path
from agent_fox.core.ledger.evidence import Evidence, Kind, Outcome
from agent_fox.evidence import witness
from agent_fox.store.ledger import ledger
from agent_fox.store.state import open_state, transaction
from agent_fox.system import clock
name, state, note, count = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]), int(sys.argv[4])
with closing(open_state(state)) as db:
    for number in range(count):
        with transaction(db):
            ledger.append(db, [Evidence(Kind.CHECK, f"{name}:{number}", clock.now(), Outcome("PASS"))])
        witness.advance(db, note)
"""


def append(path: Path, *names: str) -> None:
    with closing(open_state(path)) as db, transaction(db):
        ledger.append(db, [Evidence(Kind.CHECK, name, "2026-03-01T00:00:00.000Z", Outcome("PASS")) for name in names])


def advance(path: Path, note: Path) -> None:
    with opened(path) as db:
        witness.advance(db, note)


def trouble(path: Path, note: Path) -> str:
    with opened(path) as db:
        return witness.trouble(db, note)


def test_the_note_lies_outside_of_the_repository_and_two_of_one_name_have_two(tmp_path: Path) -> None:
    environ = {"XDG_STATE_HOME": str(tmp_path / "state")}
    one, other = (witness.path_of(environ, tmp_path / place / "repo") for place in ("a", "b"))
    assert one != other
    assert one.is_relative_to(tmp_path / "state" / "agent-fox")


def test_the_end_of_the_chain_is_noted_and_goes_forward(tmp_path: Path) -> None:
    path, note = tmp_path / "state.db", tmp_path / "state" / "note.json"
    append(path, "one")
    advance(path, note)
    first = witness.read(note)
    append(path, "two", "three")
    advance(path, note)
    second = witness.read(note)
    assert first
    assert second
    assert (first.position, second.position) == (1, 3)
    assert trouble(path, note) == ""


def test_nothing_is_noted_of_an_empty_ledger(tmp_path: Path) -> None:
    advance(tmp_path / "state.db", tmp_path / "note.json")
    assert witness.read(tmp_path / "note.json") is None
    assert trouble(tmp_path / "state.db", tmp_path / "note.json") == ""


def older(tmp_path: Path) -> tuple[Path, Path]:
    """A state file that was put back behind what was noted of it, and the note."""
    path, note = tmp_path / "state.db", tmp_path / "note.json"
    append(path, "one")
    kept = path.read_bytes()
    append(path, "two")
    advance(path, note)
    path.write_bytes(kept)
    return path, note


def test_a_state_that_was_put_back_is_noticed_and_the_note_stays(tmp_path: Path) -> None:
    path, note = older(tmp_path)
    before = note.read_bytes()
    assert "the ledger ends at record 1, and had 2" in trouble(path, note)
    with pytest.raises(WitnessBroken, match=f"sets {note} aside"):
        advance(path, note)
    assert note.read_bytes() == before
    assert [fault.position for fault in check(path, witness.read(note)).findings.faults] == [0]


def test_other_records_behind_the_same_beginning_are_noticed(tmp_path: Path) -> None:
    path, note = older(tmp_path)
    append(path, "another", "and more")
    assert "record 2 has another head" in trouble(path, note)
    with pytest.raises(WitnessBroken):
        advance(path, note)


def test_a_state_that_was_moved_away_is_noticed_in_the_new_one(tmp_path: Path) -> None:
    path, note = older(tmp_path)
    path.unlink()
    assert "the ledger ends at record 0" in trouble(path, note)


def test_a_note_that_is_set_aside_is_kept_and_the_next_ledger_has_a_note_of_its_own(tmp_path: Path) -> None:
    path, note = older(tmp_path)
    before = note.read_bytes()
    aside = witness.set_aside(note)
    assert (aside.read_bytes(), witness.kept(note)) == (before, (aside,))
    advance(path, note)
    assert trouble(path, note) == ""
    assert witness.set_aside(note) != aside
    assert len(witness.kept(note)) == 2


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"position": "1", "head": "x", "at": ""}', "\x00"])
def test_a_note_that_is_damaged_is_no_note_that_agrees(tmp_path: Path, text: str) -> None:
    path, note = tmp_path / "state.db", tmp_path / "note.json"
    append(path, "one")
    note.write_text(text)
    assert f"{note}: damaged" in trouble(path, note)
    with pytest.raises(WitnessBroken):
        advance(path, note)


def test_a_note_that_cannot_be_written_says_where(tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    append(path, "one")
    (tmp_path / "file").write_text("")
    with pytest.raises(WitnessBroken, match="cannot be written"):
        advance(path, tmp_path / "file" / "note.json")


def test_processes_that_append_at_once_lose_nothing_and_the_chain_is_whole(tmp_path: Path) -> None:
    path, note = tmp_path / "state.db", tmp_path / "state" / "note.json"
    with opened(path):
        pass
    names = ("one", "two", "three")
    started = [
        subprocess.Popen([sys.executable, "-c", APPEND, name, path, note, str(EACH)], stderr=subprocess.PIPE)
        for name in names
    ]
    for process in started:
        _, errors = process.communicate(timeout=120)
        assert (process.returncode, errors) == (0, b"")
    with opened(path) as db:
        tip = ledger.tip_of(db)
        written = {str(row[0]) for row in db.execute("SELECT identity FROM ledger")}
    assert tip.position == EACH * len(names)
    assert written == {f"{name}:{number}" for name in names for number in range(EACH)}
    noted = witness.read(note)
    assert noted
    assert (noted.position, noted.head) == (tip.position, tip.head)
    assert check(path, noted).findings.is_sound
