"""The state is a fold of the ledger: what its rows are follows from the records, and whoever changes one is found."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from shutil import copy

import pytest

from agent_fox.evidence.rebuild import rebuild
from agent_fox.evidence.rows import differences, shapes
from agent_fox.evidence.verify import verify
from agent_fox.store import plan
from agent_fox.store.ledger import journal
from agent_fox.store.ledger.journal import EVIDENCE, NOT_EVIDENCE, why_others
from agent_fox.store.light import light_database
from agent_fox.store.state import read_state, transaction
from tests.evidence.ledgers import NOW, check, grown, opened
from tests.evidence.test_verify import faults, without_guards
from tests.store.world import fill, state

MOMENTS = 6


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A state file with a row in every table."""
    folder = tmp_path_factory.mktemp("filled")
    with state(folder) as db:
        fill(db)
        with transaction(db):
            db.execute("INSERT INTO issue_episodes VALUES ('print', 1, '7', 'u', '2026')")
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return folder / "state.db"


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return grown(tmp_path_factory.mktemp("sound"), MOMENTS)


def schema(path: Path) -> Iterator[tuple[str, str]]:
    """Every column of every table."""
    with closing(sqlite3.connect(path)) as db:
        tables = db.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
        for (table,) in tables.fetchall():
            for _, name, *_ in db.execute(f"PRAGMA table_info({table})").fetchall():
                yield table, name


def test_every_table_and_column_of_the_schema_is_rebuilt_or_on_the_list_of_what_is_not_evidence(filled: Path) -> None:
    columns = set(schema(filled))
    tables = {table for table, _ in columns}
    assert tables == set(EVIDENCE) | {name for name in NOT_EVIDENCE if "." not in name}
    rebuilt = {(table, column.name) for table, own in shapes().items() for column in own}
    listed = {tuple(name.split(".")) for name in NOT_EVIDENCE if "." in name}
    assert rebuilt | listed == {(table, column) for table, column in columns if table in EVIDENCE}
    assert not rebuilt & listed
    assert all(NOT_EVIDENCE.values())


@pytest.fixture
def unguarded(filled: Path) -> Iterator[sqlite3.Connection]:
    """The state in memory, with every guard and check taken away."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as db, closing(sqlite3.connect(filled)) as file:
        file.backup(db)
        for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
            db.execute(f"DROP TRIGGER {name}")
        db.execute("PRAGMA ignore_check_constraints = ON")
        yield db


def columns() -> Iterator[tuple[str, journal.Column]]:
    return ((table, column) for table, own in shapes().items() for column in own)


def tamper(db: sqlite3.Connection, table: str, column: str) -> None:
    """Another value in one column of the last row."""
    key = ", ".join(one.name for one in journal.key_of(shapes()[table]))
    last = f"({key}) = (SELECT {key} FROM {table} ORDER BY {key} DESC LIMIT 1)"
    (old,) = db.execute(f"SELECT {column} FROM {table} WHERE {last}").fetchone()
    (declared,) = (kind for _, name, kind, *_ in db.execute(f"PRAGMA table_info({table})") if name == column)
    new = {"INTEGER": 99, "REAL": 99.5}.get(declared, '{"x":1}' if str(old)[:1] in ("{", "[") else f"{old or ''}x")
    db.execute(f"UPDATE {table} SET {column} = ? WHERE {last}", [new])


def is_named(what: str, table: str, column: journal.Column) -> bool:
    return f" of {table} " in what and (column.is_key or f"as its {column.name}" in what)


def test_a_change_of_any_column_of_any_table_that_is_evidence_is_named(
    filled: Path, unguarded: sqlite3.Connection
) -> None:
    fold, missed = check(filled).rows, []
    assert list(differences(light_database(unguarded), fold)) == []
    for table, column in columns():
        unguarded.execute("BEGIN")
        tamper(unguarded, table, column.name)
        if not any(is_named(one.what, table, column) for one in differences(light_database(unguarded), fold)):
            missed.append(f"{table}.{column.name}")
        unguarded.execute("ROLLBACK")
    assert missed == []


def test_the_whole_check_names_a_change_of_any_column_and_never_stumbles_over_it(unguarded: sqlite3.Connection) -> None:
    missed = []
    for table, column in columns():
        unguarded.execute("BEGIN")
        tamper(unguarded, table, column.name)
        checked = verify(light_database(unguarded), witness=None, signers=(), now=NOW, asks_witness=False)
        if not any(is_named(fault.what, table, column) for fault in checked.findings.faults):
            missed.append(f"{table}.{column.name}")
        unguarded.execute("ROLLBACK")
    assert missed == []


def test_a_removed_row_of_any_table_that_is_evidence_is_named(filled: Path, unguarded: sqlite3.Connection) -> None:
    fold, missed = check(filled).rows, []
    for table in EVIDENCE:
        unguarded.execute("BEGIN")
        assert unguarded.execute(f"DELETE FROM {table}").rowcount, f"{table} is empty: nothing is shown"
        found = differences(light_database(unguarded), fold)
        if not any(f"of {table} any more" in one.what for one in found):
            missed.append(table)
        unguarded.execute("ROLLBACK")
    assert missed == []


def test_the_page_about_evidence_has_the_list_of_what_is_none() -> None:
    page = (Path(__file__).parents[2] / "docs/evidence.md").read_text(encoding="utf-8")
    told = dict(
        line.strip("|").replace("`", "").split(" | ", 1) for line in page.splitlines() if line.startswith("| `")
    )
    assert {name.strip(): why.strip() for name, why in told.items()} == NOT_EVIDENCE


def test_a_row_that_was_written_past_the_engine_is_named(sound: Path, tmp_path: Path) -> None:
    path = Path(copy(sound, tmp_path / "state.db"))
    without_guards(
        path, "INSERT INTO issues (fingerprint, title, cause, state, updated_at) VALUES ('p','t','c','open','2026')"
    )
    assert "row p of issues is in no record" in faults(path)


def test_rows_that_the_engine_wrote_over_after_they_were_changed_stay_found(sound: Path, tmp_path: Path) -> None:
    path = Path(copy(sound, tmp_path / "state.db"))
    without_guards(path, "UPDATE plan_nodes SET title = 'other'")
    with opened(path) as db, transaction(db):
        db.execute("UPDATE plan_nodes SET title = 'third'")
    assert "the rows came to something else than the records before it say" in faults(path)


def test_what_claims_are_read_from_is_held_against_the_ledger_without_its_history(sound: Path, tmp_path: Path) -> None:
    path = Path(copy(sound, tmp_path / "state.db"))
    with closing(read_state(path)) as db:
        assert why_others(db) == "" == why_others(db, is_whole=True)
    without_guards(path, "DELETE FROM plan_parts WHERE id = 'R2'")
    with closing(read_state(path)) as db:
        assert "not those of the ledger" in why_others(db)
    other = Path(copy(sound, tmp_path / "other.db"))
    without_guards(other, "UPDATE sessions SET cost_usd = 0.001")
    with closing(read_state(other)) as db:
        assert why_others(db) == ""
        assert "the state is not that of the ledger" in why_others(db, is_whole=True)


def test_a_state_that_is_made_anew_has_every_row_that_is_evidence_as_it_was(filled: Path, tmp_path: Path) -> None:
    path = Path(copy(filled, tmp_path / "state.db"))
    made = rebuild(path)
    with closing(read_state(path)) as old, closing(read_state(made.path)) as new:
        for table in EVIDENCE:
            assert list(journal.rows_of(old, table)) == list(journal.rows_of(new, table))
        schemas = [{*db.execute("SELECT type, name, sql FROM sqlite_master")} for db in (old, new)]
        assert schemas[0] == schemas[1]
        assert why_others(new, is_whole=True) == ""


def test_damage_is_undone_by_making_the_state_anew_and_what_stood_there_is_kept(sound: Path, tmp_path: Path) -> None:
    path = Path(copy(sound, tmp_path / "state.db"))
    without_guards(path, "DELETE FROM plan_parts", "UPDATE plan_nodes SET title = 'other'")
    with opened(path) as db, transaction(db):
        db.execute("UPDATE plan_nodes SET title = 'third'")
    damaged = path.read_bytes()
    made = rebuild(path, is_installed=True)
    assert (made.path, Path(made.kept).read_bytes()) == (path, damaged)
    findings = check(path).findings
    assert findings.faults == []
    assert any("made anew" in remark for remark in findings.remarks)
    with opened(path) as db:
        assert [part.id for part in plan.load_parts(db)] == ["R1", "R2"]
        with transaction(db):
            db.execute("UPDATE plan_nodes SET title = 'fourth'")
    assert check(path).findings.faults == []


def test_a_memory_copy_that_nobody_keeps_writes_no_records(sound: Path) -> None:
    """A forecast tries a plan on a copy in memory: only connections to a state file are watched."""
    with closing(light_database(sqlite3.connect(":memory:"))) as memory, closing(read_state(sound)) as db:
        db.conn.backup(memory.conn)
        before = memory.execute("SELECT count(*) FROM ledger").fetchone()
        with transaction(memory):
            memory.execute("UPDATE plan_nodes SET title = 'x'")
        assert memory.execute("SELECT count(*) FROM ledger").fetchone() == before
