"""What the evidence ledger costs a record: appended, checked, exported; beside the hashes and the rows alone."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from sqlite_utils import Database

from agent_fox.core.ledger.evidence import Artifact, Evidence, Kind, Outcome, RunContext, SpecRef
from agent_fox.evidence.exports.export import lines, signing
from agent_fox.evidence.exports.verify_export import verify_export
from agent_fox.evidence.signing.keys import LEDGER, Signer, public_of
from agent_fox.evidence.verify import verify
from agent_fox.store.ledger import ledger
from agent_fox.store.state import open_state, transaction
from bench.figures import Aim, Figure, best
from bench.worlds import temporary_folder

ROUNDS = 3
A_REPORT = 40
"""Records that are appended in one transaction: the checks of one report."""

AT = "2026-03-01T12:00:00.000Z"
APPEND, VERIFY, SIGNED = Aim(ratio=4.0), Aim(limit=0.5e-3), Aim(limit=2e-3)
PLAIN = "CREATE TABLE plain (position INTEGER PRIMARY KEY, name TEXT, head TEXT, content TEXT) STRICT"


def measure(records: int) -> Iterator[Figure]:
    with temporary_folder() as folder, closing(open_state(folder / "state.db")) as db:
        with closing(plain(folder / "plain.db")) as floor:
            took, alone = best(1, lambda: append(db, records), lambda: append_plainly(floor, records))
            yield per_record("appending, 40 in a transaction", took, alone, records, "hash, row, commit", APPEND)
            took, alone = best(ROUNDS, lambda: check(db), lambda: read_plainly(floor))
            yield per_record("ledger verify", took, alone, records, "reading and hashing", VERIFY)
        yield from measure_export(db, records)


def measure_export(db: Database, records: int) -> Iterator[Figure]:
    private = Ed25519PrivateKey.generate()
    signer = Signer("bench", (LEDGER,), public_of(private))
    texts = list(lines(db, signing(private), repository="", at=AT))
    signature = private.sign(bytes(1000))
    public = private.public_key()
    sign, sign_alone = best(1, lambda: exported(db, private), repeated(records, lambda: private.sign(bytes(1000))))
    yield per_record("ledger export", sign, sign_alone, records, "signing", SIGNED)
    read, read_alone = best(
        1, lambda: verify_export(texts, (signer,)), repeated(records, lambda: public.verify(signature, bytes(1000)))
    )
    yield per_record("ledger verify --export", read, read_alone, records, "its signature", SIGNED)


def per_record(name: str, took: float, floor: float, records: int, beside: str, aim: Aim) -> Figure:
    return Figure(f"{name}, a record of {records}", took / records, floor / records, beside, aim)


def record(number: int) -> Evidence:
    """A check, as long as they are."""
    return Evidence(
        Kind.CHECK, f"check:{number}", AT, Outcome("PASS"), SpecRef("requirement", f"01_bell/{number}", "v" * 16),
        RunContext("make test", "e" * 16, "1 checks", "01_bell:2@1.1", 1), Artifact("a" * 40, "c" * 40),
        body={"evidence": "passed: tests/test_bell.py::test_it_rings " * 4, "said": "PASS", "note": ""},
    )  # fmt: skip


def append(db: Database, records: int) -> None:
    for start in range(0, records, A_REPORT):
        with transaction(db):
            ledger.append(db, [record(number) for number in range(start, min(start + A_REPORT, records))], "01_bell")


def plain(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, isolation_level=None)
    for statement in ("PRAGMA journal_mode = WAL", "PRAGMA synchronous = FULL", PLAIN):
        connection.execute(statement)
    return connection


def append_plainly(connection: sqlite3.Connection, records: int) -> None:
    head = ""
    for start in range(0, records, A_REPORT):
        connection.execute("BEGIN IMMEDIATE")
        for number in range(start, min(start + A_REPORT, records)):
            content = json.dumps({"number": number, "text": "x" * 800}, sort_keys=True)
            name = hashlib.sha256(content.encode()).hexdigest()
            head = hashlib.sha256(f"{head}:{name}".encode()).hexdigest()
            connection.execute("INSERT INTO plain (name, head, content) VALUES (?, ?, ?)", (name, head, content))
        connection.execute("COMMIT")


def check(db: Database) -> None:
    checked = verify(db, witness=None, signers=(), now=AT, asks_witness=False)
    assert checked.count


def read_plainly(connection: sqlite3.Connection) -> None:
    head = ""
    for name, content in connection.execute("SELECT name, content FROM plain ORDER BY position"):
        hashlib.sha256(content.encode()).hexdigest()
        head = hashlib.sha256(f"{head}:{name}".encode()).hexdigest()


def exported(db: Database, private: Ed25519PrivateKey) -> None:
    for _ in lines(db, signing(private), repository="", at=AT):
        pass


def repeated(times: int, action: Callable[[], object]) -> Callable[[], None]:
    def run() -> None:
        for _ in range(times):
            action()

    return run
