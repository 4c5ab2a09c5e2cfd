"""The word beside a requirement, as SQL has it and as the program has it: one rule, in every small world."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from itertools import product

import pytest

from agent_fox.core.verdicts.known import TOLD_BY_TESTS, How
from agent_fox.store.known import none_waived, words_known
from agent_fox.store.light import light_database
from agent_fox.store.schema.migrations import KNOWN, MIGRATIONS

BEFORE_WORDS = MIGRATIONS.index(KNOWN)
SPEC, AT = "01_x", "2026-01-01T00:00:00Z"
SOON, LONG_AGO = "2999-01-01T00:00:00Z", "2001-01-01T00:00:00Z"
VIEW = "SELECT requirement_id, how FROM requirements_known"


@pytest.fixture
def db() -> Iterator[sqlite3.Connection]:
    """The tables as they were before there were words, without their guards: any row can be written."""
    with closing(sqlite3.connect(":memory:")) as made:
        for script in MIGRATIONS[:BEFORE_WORDS]:
            made.executescript(script)
        for (name,) in made.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
            made.execute(f"DROP TRIGGER {name}")
        yield made


def add_part(db: sqlite3.Connection, part: str) -> None:
    db.execute("INSERT INTO plan_parts VALUES (?, ?, ?, 1, 'text', 'v1')", [SPEC, part, part])


def add_session(db: sqlite3.Connection, number: int, backend: str) -> None:
    columns = "id, run_id, node_id, node_uid, spec_name, archetype, attempt, reading, status, backend, started_at"
    row = [number, 1, "n", "u", SPEC, "verifier", number, 1, "completed", backend, AT]
    db.execute(f"INSERT INTO sessions ({columns}) VALUES ({', '.join('?' * len(row))})", row)


def add_verdict(db: sqlite3.Connection, part: str, verdict: str, session: int, how: str | None = None) -> None:
    columns = "spec_name, requirement_id, verdict, read_as, session_id, at"
    db.execute(
        f"INSERT INTO verification_results ({columns}) VALUES (?, ?, ?, ?, ?, ?)",
        [SPEC, part, verdict, verdict, session, AT],
    )
    if how is not None:
        db.execute("UPDATE verification_results SET how = ? WHERE requirement_id = ?", [how, part])


def add_gate(db: sqlite3.Connection, part: str, finish: str) -> None:
    columns = "at, spec_name, requirement_id, version, start, finish, role"
    db.execute(
        f"INSERT INTO gate_history ({columns}) VALUES (?, ?, ?, 'v1', 'proposed', ?, 'formal')",
        [AT, SPEC, part, finish],
    )


def add_waiver(db: sqlite3.Connection, part: str, expires_at: str) -> None:
    columns = "id, kind, spec_name, address, version, reason, signer, granted_at, expires_at, envelope"
    row = [f"w-{part}", "requirement", SPEC, part, "v1", "because", "Ada", AT, expires_at, "{}"]
    db.execute(f"INSERT INTO waivers ({columns}) VALUES ({', '.join('?' * len(row))})", row)


def both(db: sqlite3.Connection, *, waived: bool = True) -> tuple[dict[str, str], dict[str, str]]:
    """What the view says, and what the program says where every waiver that it finds counts, or none."""
    seen = {part: how for part, how in db.execute(VIEW) if how is not None}
    counts = (lambda spec, part: not part.endswith("ended")) if waived else none_waived
    return seen, words_known(light_database(db), counts).get(SPEC, {})


def test_the_view_and_the_program_have_the_same_word_in_every_small_world(db: sqlite3.Connection) -> None:
    db.executescript(MIGRATIONS[BEFORE_WORDS])
    db.execute("DROP TRIGGER verification_results_how")
    told = (None, *TOLD_BY_TESTS, How.TESTS_PASSED, How.JUDGED, "agreed by Ada")
    worlds = product(
        ("PASS", "FAIL", "UNKNOWN"),
        told,
        ("checks", "command, checks", "claude", "checksum"),
        ("", "proved", "accepted", "proved accepted"),
        ("", "signed", "ended"),
    )
    count = 0
    for number, (verdict, how, backend, gates, waiver) in enumerate(worlds, 1):
        if how is not None and verdict != "PASS":
            continue
        part, count = f"R{number}-{waiver or 'none'}", count + 1
        add_part(db, part)
        add_session(db, number, backend)
        add_verdict(db, part, verdict, number, how)
        for gate in gates.split():
            add_gate(db, part, gate)
        if waiver:
            add_waiver(db, part, SOON if waiver == "signed" else LONG_AGO)
    add_part(db, "unread")
    seen, found = both(db)
    assert seen == found
    assert len({*found.values()}) == len(told) + 1  # one for each word, proved and waived; none for None
    assert count == 576


def test_what_was_recorded_before_there_were_words_is_told_by_who_judged(db: sqlite3.Connection) -> None:
    for number, backend in enumerate(("checks", "checks, claude", "command"), 1):
        add_part(db, f"R{number}")
        add_session(db, number, backend)
        add_verdict(db, f"R{number}", "PASS", number)
    db.executescript(MIGRATIONS[BEFORE_WORDS])
    words = {"R1": "tests passed", "R2": "tests passed", "R3": "judged"}
    assert both(db) == (words, words)


def test_a_waiver_that_nobody_checked_is_none_for_the_program(db: sqlite3.Connection) -> None:
    db.executescript(MIGRATIONS[BEFORE_WORDS])
    add_part(db, "R1")
    add_waiver(db, "R1", SOON)
    assert both(db) == ({"R1": "waived by Ada"}, {"R1": "waived by Ada"})
    assert both(db, waived=False)[1] == {}


@pytest.mark.parametrize(
    ("statement", "why"),
    [
        ("UPDATE verification_results SET how = 'red without'", "how it was known never changes"),
        ("UPDATE verification_results SET how = NULL", "how it was known never changes"),
        (
            "INSERT INTO verification_results (spec_name, requirement_id, verdict, read_as, at, how) "
            "VALUES ('a', 'b', 'FAIL', 'FAIL', 'c', 'judged')",
            "CHECK",
        ),
    ],
)
def test_the_word_is_history_and_only_a_pass_has_one(db: sqlite3.Connection, statement: str, why: str) -> None:
    db.executescript(MIGRATIONS[BEFORE_WORDS])
    row = "INSERT INTO verification_results (spec_name, requirement_id, verdict, read_as, at, how)"
    db.execute(f"{row} VALUES ('{SPEC}', 'R1', 'PASS', 'PASS', '{AT}', 'judged')")
    with pytest.raises(sqlite3.IntegrityError, match=why):
        db.execute(statement)
