"""The specification library in the state file: its history, line by line. Who may write which line is not here."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from agent_fox.core.formal.specification import (
    LIBRARY,
    Change,
    Check,
    Entry,
    Specification,
    SpecKind,
    State,
    Who,
    read_author,
)
from agent_fox.core.late import adapter, late_module
from agent_fox.core.ledger.evidence import Evidence, Kind, Outcome, ReviewerDecision, SpecRef
from agent_fox.core.values import Json, to_document
from agent_fox.store.ledger import ledger
from agent_fox.store.values import insert_many, to_json

if TYPE_CHECKING:
    import pydantic
    from sqlite_utils import Database
else:
    pydantic = late_module("pydantic")

CHECK: pydantic.TypeAdapter[Check] = adapter(lambda: pydantic.TypeAdapter(Check))
COLUMNS = "id, address, version, kind, text, state, added_by, spec_name, requirements, lane, note, envelope, at"
BINDS_NOTHING = "proposed: it binds nothing"

Row = tuple[int, str, str, str, str, str, str, str, str, str, str, str, str]


def entries(db: Database, address: str | None = None) -> list[Entry]:
    """The history of an address, or of the whole library, oldest first."""
    sql = f"SELECT {COLUMNS} FROM specifications WHERE ? IS NULL OR address = ? ORDER BY id"
    return [entry_of(row) for row in db.execute(sql, [address, address])]


def entries_of_spec(db: Database, spec_name: str) -> list[Entry]:
    """The history of everything that lies under a spec's name."""
    sql = f"SELECT {COLUMNS} FROM specifications WHERE spec_name = ? ORDER BY id"
    return [entry_of(row) for row in db.execute(sql, [spec_name])]


def entries_about(db: Database, spec_name: str) -> list[Entry]:
    """The history of every address that ever was about a requirement of a spec."""
    about = (
        "SELECT address FROM specifications WHERE EXISTS (SELECT 1 FROM json_each(requirements) AS r "
        "WHERE substr(r.value, 1, ?) = ?) OR spec_name = ?"
    )
    begin = f"{spec_name}/"
    sql = f"SELECT {COLUMNS} FROM specifications WHERE address IN ({about}) ORDER BY id"
    return [entry_of(row) for row in db.execute(sql, [len(begin), begin, spec_name])]


def specs(db: Database) -> frozenset[str]:
    """The specs that anything was ever written down for, or about."""
    under = "SELECT spec_name FROM specifications"
    about = "SELECT substr(r.value, 1, instr(r.value, '/') - 1) FROM specifications, json_each(requirements) AS r"
    return frozenset(str(name) for (name,) in db.execute(f"{under} UNION {about}"))


def entry_of(row: Row) -> Entry:
    number, address, version, kind, text, state, added_by, _, requirements, lane, note, envelope, at = row
    check = CHECK.validate_json(lane)
    specification = Specification(address, SpecKind(kind), text, tuple(json.loads(requirements)), check)
    return Entry(number, specification, version, State(state), read_author(added_by), at, note, envelope)


def add(db: Database, at: str, changes: Sequence[Change]) -> None:
    """Write changes that are allowed, and their records in the ledger, in the open transaction."""
    (last,) = db.execute("SELECT coalesce(max(id), 0) FROM specifications").fetchone()
    numbered = list(enumerate(changes, last + 1))
    insert_many(db, "specifications", COLUMNS, (row_of(number, change, at) for number, change in numbered))
    for number, change in numbered:
        ledger.append(db, [record_of(number, change, at)], spec_of(change.specification.address) or None)


def row_of(number: int, change: Change, at: str) -> Row:
    item = change.specification
    lane = to_json(item.check) if item.check is not None else "{}"
    return (
        number, item.address, item.version, item.kind.value, item.text, change.state.value, str(change.author),
        spec_of(item.address), to_json(list(item.requirements)), lane, change.note, change.envelope, at,
    )  # fmt: skip


def spec_of(address: str) -> str:
    """The spec that an address lies under; empty for what belongs to none."""
    name = address.partition("/")[0]
    return "" if name == LIBRARY else name


def record_of(number: int, change: Change, at: str) -> Evidence:
    item = change.specification
    is_signed = change.author.who is Who.PERSON and change.state is State.ADOPTED
    body: dict[str, Json] = {
        "text": item.text, "requirements": list(item.requirements), "added_by": str(change.author), "note": change.note,
        "check": to_document(item.check),
        "envelope": change.envelope,
    }  # fmt: skip
    return Evidence(
        Kind.SPECIFICATION, f"specification:{number}", at, Outcome(change.state.value),
        SpecRef(item.kind.value, item.address, item.version),
        reviewer_decision=ReviewerDecision.ACCEPTED if is_signed else ReviewerDecision.PENDING,
        limitation=BINDS_NOTHING if change.state is State.PROPOSED else "",
        body=body,
    )  # fmt: skip


def requirements(db: Database, spec_name: str | None = None) -> Iterable[Specification]:
    """The first kind: the requirements of the plan, which their specs adopted by having them."""
    sql = "SELECT spec_name, id, text FROM plan_parts WHERE ? IS NULL OR spec_name = ? ORDER BY spec_name, position"
    for spec, part, text in db.execute(sql, [spec_name, spec_name]):
        yield Specification(f"{spec}/{part}", SpecKind.REQUIREMENT, text)
