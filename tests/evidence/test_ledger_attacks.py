"""Attacks on the state file by who can write all of it: each is found, or changes nothing of what is evidence."""

from __future__ import annotations

import json
import os
import random
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path

import pytest

from agent_fox.core.ledger.evidence import head_after, record_id
from agent_fox.store.ledger import journal
from agent_fox.store.state import StateError, open_state, read_state
from tests.evidence.ledgers import check, grown
from tests.evidence.test_verify import path, sound, without_guards

__all__ = ["path", "sound"]


def schema(name: str, was: str, now: str) -> tuple[str, ...]:
    """The text of a table changed where SQLite keeps it."""
    quoted = [text.replace("'", "''") for text in (was, now, name)]
    change = "UPDATE sqlite_master SET sql = replace(sql, '{}', '{}') WHERE name = '{}'".format(*quoted)
    return "PRAGMA writable_schema = ON", change, "PRAGMA writable_schema = RESET"


LAST = "(SELECT max(position) FROM ledger)"
PASSED = "(SELECT max(id) FROM verification_results WHERE verdict = 'PASS')"
VIEW = "CREATE VIEW {} AS SELECT spec_name, id AS requirement_id, {} FROM plan_parts"
KNOWN = VIEW.format("requirements_known", "'PASS' AS verdict, 'proved' AS how")
ACCEPTED = VIEW.format("gates", "version, 'accepted' AS state, 1 AS was_proved")


def at_last(change: str) -> str:
    return f"UPDATE ledger SET {change} WHERE position = {LAST}"


def at_pass(change: str) -> str:
    return f"UPDATE verification_results SET {change} WHERE id = {PASSED}"


ATTACKS: dict[str, tuple[str, ...]] = {
    # what is asked
    "a view that says that all is proved": ("DROP VIEW requirements_known", KNOWN),
    "a view of gates that are all accepted": ("DROP VIEW gates", ACCEPTED),
    "a view in the place of a table": (
        "ALTER TABLE verification_results RENAME TO hidden",
        "CREATE VIEW verification_results AS SELECT * FROM hidden WHERE verdict = 'PASS'",
    ),
    "no index that keeps one current verdict": ("DROP INDEX verification_results_current",),
    "an index of another meaning under its name": (
        "DROP INDEX verification_results_current",
        "CREATE INDEX verification_results_current ON verification_results (spec_name)",
    ),
    # what guards
    "a trigger that turns each FAIL round": (
        "CREATE TRIGGER help AFTER INSERT ON verification_results BEGIN "
        "UPDATE verification_results SET verdict = 'PASS' WHERE id = new.id; END",
    ),
    "a trigger on a view": ("CREATE TRIGGER help INSTEAD OF INSERT ON gates BEGIN SELECT 1; END",),
    "a table whose words may be any": schema("verification_results", "verdict IN ('PASS', 'FAIL', 'UNKNOWN')", "1"),
    "events that may be told twice": schema("ledger", "identity TEXT NOT NULL UNIQUE", "identity TEXT UNIQUE"),
    "a table that is no longer strict": schema("ledger_repository", ") STRICT", ")"),
    "a column that is worked out": ("ALTER TABLE verification_results ADD COLUMN x TEXT AS (verdict)",),
    "a column that nobody knows": ("ALTER TABLE runs ADD COLUMN proven INTEGER DEFAULT 1",),
    "transitions that are not legal": ("UPDATE legal_transitions SET needs_decision = 0",),
    # rows
    "a word in other letters": (at_pass("said = 'P\u0410SS'"),),
    "a requirement that is spelled otherwise": ("UPDATE plan_parts SET id = 'R1\u0301' WHERE id = 'R1'",),
    "a requirement that is taken out": ("DELETE FROM plan_parts WHERE id = 'R2'",),
    "a text with its version": ("UPDATE plan_parts SET text = 'less', version = 'x'",),
    "a verdict about other files": (at_pass("tree = 'b'"),),
    "a verdict under another number": (at_pass("id = 999"),),
    "a verdict that is another's": (at_pass("requirement_id = 'R9'"),),
    # records
    "a record in another's place": (at_last("position = position + 10000"),),
    "a record at the end of all numbers": ("UPDATE ledger SET position = 9223372036854775807 WHERE position = 1",),
    "a record in another spelling": (at_last("content = content || ' '"),),
    "a record whose members are there twice": (at_last("content = replace(content, '{', '{\"kind\":\"waiver\",')"),),
    "a record that is nested deeply": (
        at_last("content = replace(hex(zeroblob(450)), '00', '[') || replace(hex(zeroblob(450)), '00', ']')"),
    ),
    "a record of fifty megabytes": (at_last("content = '\"' || hex(zeroblob(25000000)) || '\"'"),),
    "a record with a number that is none": (at_last("content = replace(content, '{', '{\"x\":1e400,')"),),
    "a record of another kind": (at_last("kind = 'waiver'"),),
    "a record of another day": (at_last("at = '2020-01-01T00:00:00.000Z'"),),
    "a head that is another's": (at_last("head = (SELECT head FROM ledger WHERE position = 1)"),),
    "an identity that is another's": (at_last("identity = 'x'"),),
    # whose it is
    "another repository's name": ("UPDATE ledger_repository SET id = 'b' || substr(id, 2)",),
    "no repository at all": ("DELETE FROM ledger_repository",),
    "a run that ended elsewhere": ("UPDATE runs SET ledger_head = 'x'",),
    "a run that began later": ("UPDATE runs SET ledger_begin = ledger_head",),
}


@pytest.mark.parametrize("name", ATTACKS)
def test_what_was_written_past_the_engine_is_found(path: Path, name: str) -> None:
    before = path.read_bytes()
    with suppress(sqlite3.OperationalError):  # guards of a table cannot be put back on what stands in its place
        without_guards(path, *ATTACKS[name])
    assert path.read_bytes() != before
    with suppress(StateError):  # it is refused as a whole
        assert check(path).findings.faults


def evidence_in(path: Path) -> object:
    """All rows that are evidence, and the schema that holds them; None where the file cannot be read."""
    try:
        with closing(read_state(path)) as db:
            rows = {table: [tuple(row.items()) for row in journal.rows_of(db, table)] for table in journal.EVIDENCE}
            return rows, db.execute("SELECT name, sql FROM sqlite_master ORDER BY name").fetchall()
    except (StateError, sqlite3.DatabaseError):
        return None


def test_a_chain_that_is_made_anew_from_its_middle_is_found_whatever_is_said_there(path: Path) -> None:
    """Time that goes back, a decision left out, a verdict turned round: hashes, heads and columns all fit."""
    with closing(sqlite3.connect(path)) as db:
        rows = db.execute("SELECT position, content FROM ledger ORDER BY position").fetchall()
    for change in (_turned, _earlier, _nameless):
        forged = Path(shutil.copy(path, path.with_name("forged.db")))
        _rewritten(forged, rows, change)
        assert check(forged).findings.faults, change.__name__


def _turned(document: dict[str, object]) -> None:
    outcome = document.get("outcome", document.get("result"))
    if isinstance(outcome, dict) and outcome.get("status") == "FAIL":
        outcome["status"] = "PASS"


def _earlier(document: dict[str, object]) -> None:
    document["timestamp"] = f"2020{str(document['timestamp'])[4:]}"


def _nameless(document: dict[str, object]) -> None:
    document["repository"] = {"id": "", "root": ""}


def _rewritten(path: Path, rows: list[tuple[int, str]], change: Callable[[dict[str, object]], None]) -> None:
    previous, statements = "", []
    for position, content in rows:
        document = json.loads(content)
        if position > len(rows) // 2:
            change(document)
        text = json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        record = record_id(text)
        previous = previous or _first_previous(path)
        head = head_after(previous, record)
        columns = {
            "record_id": record,
            "previous": previous,
            "head": head,
            "content": text,
            "at": document["timestamp"],
        }
        said = ", ".join("{} = '{}'".format(name, str(value).replace("'", "''")) for name, value in columns.items())
        statements.append(f"UPDATE ledger SET {said} WHERE position = {position}")
        previous = head
    without_guards(path, *statements)


def _first_previous(path: Path) -> str:
    with closing(sqlite3.connect(path)) as db:
        (previous,) = db.execute("SELECT previous FROM ledger WHERE position = 1").fetchone()
    return str(previous)


@pytest.mark.parametrize("beside", ["-wal", "-journal", "-shm"])
def test_what_is_planted_beside_the_file_changes_nothing_or_is_found(path: Path, tmp_path: Path, beside: str) -> None:
    """The log of another state, that of an older day, and bytes of chance."""
    (tmp_path / "other").mkdir()
    other = grown(tmp_path / "other", 3)
    with closing(sqlite3.connect(other)) as db:
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("CREATE TABLE x (y)")
        db.commit()
        kept = other.with_name(f"{other.name}{beside}")
        planted = kept.read_bytes() if kept.exists() else b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7" + bytes(4096)
    before = evidence_in(path)
    path.with_name(f"{path.name}{beside}").write_bytes(planted)
    with suppress(StateError, sqlite3.DatabaseError):  # it is said to be damaged
        assert evidence_in(path) == before or check(path).findings.faults


def test_a_changed_byte_anywhere_is_found_or_changes_no_evidence(path: Path) -> None:
    chance, whole, before = random.Random(7), path.read_bytes(), evidence_in(path)
    missed = []
    for _ in range(150):
        at = chance.randrange(100, len(whole))
        path.write_bytes(whole[:at] + bytes([whole[at] ^ (1 << chance.randrange(8))]) + whole[at + 1 :])
        try:
            found = bool(check(path).findings.faults)
        except (StateError, sqlite3.DatabaseError):
            found = True
        if not found and evidence_in(path) != before:
            missed.append(at)
    assert missed == []


@pytest.mark.parametrize("kind", ["pipe", "folder", "device", "loop", "other", "empty"])
def test_what_is_no_state_is_refused_at_once(tmp_path: Path, kind: str) -> None:
    place = tmp_path / "state.db"
    match kind:
        case "pipe":
            os.mkfifo(place)
        case "folder":
            place.mkdir()
        case "device":
            place.symlink_to("/dev/zero")
        case "loop":
            place.symlink_to(place.name)
        case "other":
            with closing(sqlite3.connect(place)) as db:
                db.execute("CREATE TABLE ledger (position, record_id, content)")
        case "empty":
            place.write_bytes(b"SQLite format 3\0" + bytes(84))
    with pytest.raises(StateError):
        read_state(place).close()
    with pytest.raises(StateError):
        open_state(place).close()


def test_a_schema_calls_nothing_of_the_machine(path: Path) -> None:
    """A view or a trigger of somebody else's may name functions: none of them loads or reads a file."""
    with closing(sqlite3.connect(path)) as db:
        db.execute("CREATE VIEW reach AS SELECT load_extension('/tmp/x') AS a")
        db.execute("CREATE VIEW look AS SELECT readfile('/etc/passwd') AS a")
    with closing(read_state(path)) as db:
        for view in ("reach", "look"):
            with pytest.raises(sqlite3.DatabaseError):
                db.execute(f"SELECT a FROM {view}").fetchall()
