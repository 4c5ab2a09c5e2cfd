"""Promotion gates in the database: every pair of states, every role and whatever could show it, tried on each gate."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from itertools import product
from pathlib import Path

import pytest
from sqlite_utils import Database

from agent_fox.core.graph import Node
from agent_fox.core.ids import Archetype, Mode
from agent_fox.core.ledger.gates import TRANSITIONS, Gate, Role
from agent_fox.core.verdicts.verdict import Word
from agent_fox.store import plan, records
from agent_fox.store.gates import GateMove, beginning_again, gates_of, record_moves
from agent_fox.store.plan import StoredPart
from agent_fox.store.state import transaction
from tests.store.world import (
    AT,
    CODER,
    REVIEWER,
    SPEC,
    VERIFIER,
    add_nodes,
    add_row,
    counted,
    decide,
    origin,
    report,
    state,
    stranger,
    writing,
)

G, R = Gate, Role
NOTHING = "nothing"
FINAL = Node("bell:final", f"{SPEC}:3:reviewer:final-review", SPEC, 3, Archetype.REVIEWER, Mode("final-review"))
ELSEWHERE = Node("tower:verifier", "02_tower:2", "02_tower", 2, Archetype.VERIFIER)

PATHS: dict[Gate | None, tuple[tuple[Gate, Role, str], ...]] = {
    None: (),
    G.PROPOSED: (),
    G.TESTED: ((G.TESTED, R.EVALUATOR, "verifier Accept"),),
    G.REVIEWED: ((G.TESTED, R.EVALUATOR, "verifier Accept"), (G.REVIEWED, R.REVIEWER, "final Accept")),
    G.PROVED: (
        (G.TESTED, R.EVALUATOR, "verifier Accept"),
        (G.REVIEWED, R.REVIEWER, "final Accept"),
        (G.PROVED, R.FORMAL, "verifier Prove"),
    ),
    G.ACCEPTED: (
        (G.TESTED, R.EVALUATOR, "verifier Accept"),
        (G.REVIEWED, R.REVIEWER, "final Accept"),
        (G.ACCEPTED, R.REVIEWER, "final Accept"),
    ),
    G.REJECTED: ((G.TESTED, R.EVALUATOR, "verifier Accept"), (G.REJECTED, R.EVALUATOR, "verifier Recode")),
    G.WAIVED: ((G.WAIVED, R.PERSON, "spent waiver"),),
}
"""How each gate is brought to where the tests begin, by what is legal. None: it has no history, so it is proposed."""
WAIVED_ONCE = ((G.WAIVED, R.PERSON, "spent waiver"), (G.PROPOSED, R.ENGINE, NOTHING))
"""What goes before, so that every gate has a waiver that was used up."""

DECISIONS = {
    f"{name} {kind}": (node, kind)
    for name, node in (
        ("coder", CODER), ("verifier", VERIFIER), ("early", REVIEWER), ("final", FINAL), ("elsewhere", ELSEWHERE),
    )
    for kind in ("Land", "Retry", "Accept", "Recode", "Reread", "Block", "SendBack", "Reset", "Reopen", "Prove")
}  # fmt: skip
WAIVERS = (
    "waiver",
    "spent waiver",
    "revoked waiver",
    "other version's waiver",
    "other part's waiver",
    "finding's waiver",
)
EVERY_RESET = {name for name, (node, kind) in DECISIONS.items() if kind == "Reset" and node is not ELSEWHERE}

SHOWN: dict[tuple[Role, Gate], set[str]] = {
    (R.BUILDER, G.PROPOSED): {"coder Land"},
    (R.EVALUATOR, G.TESTED): {"verifier Accept"},
    (R.EVALUATOR, G.REJECTED): {"verifier Recode", "verifier Block"},
    (R.REVIEWER, G.REVIEWED): {"final Accept"},
    (R.REVIEWER, G.ACCEPTED): {"final Accept"},
    (R.REVIEWER, G.REJECTED): {"early SendBack", "early Block", "final SendBack", "final Block"},
    **{(R.FORMAL, finish): {"verifier Prove"} for finish in G},
    (R.PERSON, G.PROPOSED): EVERY_RESET,
    (R.PERSON, G.WAIVED): {"waiver"},
}
"""What shows a role, for where it takes a gate. The engine needs nothing, and everything else shows nothing."""


def part_of(start: Gate | None) -> str:
    return f"R-{start or 'new'}"


PARTS = [part_of(start) for start in PATHS]


def prepare(folder: Path) -> dict[str, int]:
    """A gate for every start, decisions of every kind by every node, waivers of every sort. Gives the decisions."""
    with writing(folder) as db:
        add_nodes(db, CODER, VERIFIER, REVIEWER, FINAL, ELSEWHERE)
        plan.save_parts(db, [StoredPart(SPEC, part, part, "text", "v1") for part in PARTS])
        pass_all(db, PARTS)
        for part in PARTS:
            add_waivers(db, part)
        for start, path in PATHS.items():
            walk(db, start, path)
        return {name: decide(db, node, kind) for name, (node, kind) in DECISIONS.items()}


def pass_all(db: Database, parts: list[str]) -> None:
    passed = {part: counted(part, Word.PASS) for part in parts}
    records.store_verdicts(db, origin(decide(db)), passed, dict.fromkeys(parts, "v1"))


def walk(db: Database, start: Gate | None, path: tuple[tuple[Gate, Role, str], ...]) -> None:
    if start is None:
        return
    part, at = part_of(start), G.PROPOSED
    for finish, role, shown in path if start is G.WAIVED else (*WAIVED_ONCE, *path):
        waiver = f"{shown} of {part}" if shown in WAIVERS else None
        decision = decide(db, *DECISIONS[shown]) if shown in DECISIONS else None
        record_moves(db, AT, SPEC, [GateMove(part, "v1", at, finish, role, waiver)], decision_id=decision)
        at = finish


def add_waivers(db: Database, part: str) -> None:
    for name in WAIVERS:
        about = {"address": "R-other" if "part" in name else part, "version": "v0" if "version" in name else "v1"}
        kind = "finding" if "finding" in name else "requirement"
        add_row(db, "waivers", id=f"{name} of {part}", kind=kind, spec_name=SPEC, **about)
    number = db.execute("SELECT count(*) FROM waiver_events").fetchone()[0] + 1
    add_row(db, "waiver_events", id=number, waiver_id=f"revoked waiver of {part}", kind="revoked")


@contextmanager
def ours(folder: Path) -> Iterator[sqlite3.Connection]:
    with state(folder) as db:
        db.conn.isolation_level = None
        yield db.conn


def is_taken(
    connection: sqlite3.Connection, part: str, start: Gate | None, finish: Gate, role: Role, *,
    decision: int | None = None, waiver: str | None = None, version: str = "v1",
) -> bool:  # fmt: skip
    """Whether the database takes this change of a gate; it is put back afterwards."""
    connection.execute("SAVEPOINT attempt")
    try:
        connection.execute(
            "INSERT INTO gate_history (id, at, spec_name, requirement_id, version, start, finish, role, decision_id, "
            "waiver_id) VALUES ((SELECT coalesce(max(id), 0) + 1 FROM gate_history), ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            [AT, SPEC, part, version, start, finish, role, decision, waiver],
        )
    except sqlite3.IntegrityError:
        return False
    else:
        return True
    finally:
        connection.execute("ROLLBACK TO attempt")
        connection.execute("RELEASE attempt")


@pytest.mark.parametrize("connect", [ours, stranger], ids=["our connection", "any connection"])
@pytest.mark.parametrize("begin", list(PATHS))
def test_a_gate_moves_only_as_the_table_has_it_and_only_for_a_role_that_was_shown(
    tmp_path: Path, begin: Gate | None, connect: Callable[[Path], AbstractContextManager[sqlite3.Connection]]
) -> None:
    decisions, part = prepare(tmp_path), part_of(begin)
    tried = list(product([None, *Gate], Gate, Role, [NOTHING, *DECISIONS, *WAIVERS]))
    with connect(tmp_path) as connection:
        taken = {
            (start, finish, role, name)
            for start, finish, role, name in tried
            if is_taken(
                *(connection, part, start, finish, role),
                decision=decisions.get(name),
                waiver=f"{name} of {part}" if name in WAIVERS else None,
            )
        }
    assert taken == {one for one in tried if may(begin, *one)}
    assert taken


def may(begin: Gate | None, start: Gate | None, finish: Gate, role: Role, shown: str) -> bool:
    """The rule in words of this test: what is in the table, and shown. Here nothing begins again."""
    if start is None or start is not (begin or G.PROPOSED) or role not in TRANSITIONS.get((start, finish), ()):
        return False
    is_unspent = begin is None and (role, shown) == (R.PERSON, "spent waiver")
    return role is R.ENGINE or is_unspent or shown in SHOWN.get((role, finish), set())


def test_nothing_is_tested_without_a_pass_of_this_version(tmp_path: Path) -> None:
    with writing(tmp_path) as db:
        add_nodes(db, VERIFIER)
        plan.save_parts(db, [StoredPart(SPEC, part, part, "text", "v2" if part == "D" else "v1") for part in "ABCD"])
        report(db, A=Word.PASS, B=Word.FAIL, D=Word.PASS)
        accept = decide(db, VERIFIER, "Accept")
    with stranger(tmp_path) as connection:
        taken = [
            part
            for part, version in (("A", "v1"), ("B", "v1"), ("C", "v1"), ("D", "v2"))
            if is_taken(connection, part, G.PROPOSED, G.TESTED, R.EVALUATOR, decision=accept, version=version)
        ]
    assert taken == ["A"]


def test_a_decision_moves_a_gate_once_and_never_after_a_later_one(tmp_path: Path) -> None:
    with writing(tmp_path) as db:
        add_nodes(db, CODER, VERIFIER)
        plan.save_parts(db, [StoredPart(SPEC, "A", "A", "text", "v1")])
        report(db, A=Word.PASS)
        accept, recode, land = (
            decide(db, *one) for one in ((VERIFIER, "Accept"), (VERIFIER, "Recode"), (CODER, "Land"))
        )
        for start, finish, role, decision in (
            (G.PROPOSED, G.TESTED, R.EVALUATOR, accept),
            (G.TESTED, G.REJECTED, R.EVALUATOR, recode),
            (G.REJECTED, G.PROPOSED, R.BUILDER, land),
        ):
            record_moves(db, AT, SPEC, [GateMove("A", "v1", start, finish, role)], decision_id=decision)
        newer = decide(db, VERIFIER, "Accept")
    with stranger(tmp_path) as connection:
        again = [
            is_taken(connection, "A", G.PROPOSED, G.TESTED, R.EVALUATOR, decision=decision)
            for decision in (accept, newer)
        ]
    assert again == [False, True]


def begins_again(connection: sqlite3.Connection, part: str, version: str) -> bool:
    return is_taken(connection, part, None, G.PROPOSED, R.ENGINE, version=version)


def test_another_text_begins_again_wherever_its_gate_stood(tmp_path: Path) -> None:
    prepare(tmp_path)
    with stranger(tmp_path) as connection:
        same = [part for part in PARTS if begins_again(connection, part, "v1")]
        other = [part for part in PARTS if begins_again(connection, part, "v2")]
    assert same == []
    assert other == [part for part in PARTS if part != part_of(None)]


def test_a_gate_whose_requirement_left_the_plan_begins_again(tmp_path: Path) -> None:
    """Its verdict went with it: without one, what was tested begins again, and with one it cannot."""
    part, other = part_of(G.TESTED), part_of(G.REVIEWED)
    prepare(tmp_path)
    with writing(tmp_path) as db:
        removal = decide(db, VERIFIER, "Replan")
        records.supersede_by_change(db, SPEC, {part: "v1"}, is_removed=True, decision_id=removal, at=AT)
    with stranger(tmp_path) as connection:
        assert [begins_again(connection, one, "v1") for one in (part, other)] == [True, False]
    with state(tmp_path) as db:
        assert [(move.requirement_id, move.reason) for move in beginning_again(db)[SPEC]] == [
            (part, "it is back in the plan")
        ]


def test_a_gate_of_a_text_that_changed_is_proposed_before_anything_is_written(tmp_path: Path) -> None:
    prepare(tmp_path)
    with state(tmp_path) as db, transaction(db):
        plan.save_parts(db, [StoredPart(SPEC, part, part, "other text", "v2") for part in PARTS])
        assert {(row.state, row.version) for row in gates_of(db, SPEC)} == {(G.PROPOSED, "v2")}
        record_moves(db, AT, SPEC, beginning_again(db)[SPEC])
        assert {(row.state, row.version) for row in gates_of(db, SPEC)} == {(G.PROPOSED, "v2")}
        assert beginning_again(db) == {}


def test_the_database_has_the_table_of_the_core(tmp_path: Path) -> None:
    with state(tmp_path) as db:
        found = {(str(start), str(end), str(role)) for start, end, role in db.execute("SELECT * FROM gate_transitions")}
    assert found == {(start, end, role) for (start, end), roles in TRANSITIONS.items() for role in roles}


def test_a_gate_is_its_last_row_and_only_of_the_plan(tmp_path: Path) -> None:
    prepare(tmp_path)
    with state(tmp_path) as db:
        found = {row.requirement_id: row.state for row in gates_of(db)}
        assert found == {part_of(start): start or G.PROPOSED for start in PATHS}
        assert gates_of(db, SPEC) == gates_of(db)
        assert gates_of(db, "02_tower") == []
        with transaction(db):
            plan.save_parts(db, [StoredPart(SPEC, part_of(G.TESTED), "R", "text", "v1")])
        (only,) = gates_of(db)
        assert (only.requirement_id, only.state, only.role, only.at) == (part_of(G.TESTED), G.TESTED, R.EVALUATOR, AT)


def test_every_change_of_a_gate_is_in_the_ledger(tmp_path: Path) -> None:
    prepare(tmp_path)
    with state(tmp_path) as db:
        history = db.execute("SELECT 'gate:' || id, finish FROM gate_history ORDER BY id").fetchall()
        kept = db.execute("SELECT identity, status FROM ledger WHERE kind = 'gate' ORDER BY position").fetchall()
    assert kept == history
    assert len(kept) > len(PATHS)


def test_history_is_written_in_order_and_by_its_number(tmp_path: Path) -> None:
    prepare(tmp_path)
    sql = (
        "INSERT INTO gate_history (id, at, spec_name, requirement_id, version, start, finish, role) "
        "VALUES (?, ?, ?, 'R-waived', 'v1', 'waived', 'proposed', 'engine')"
    )
    with stranger(tmp_path) as connection:
        (last,) = connection.execute("SELECT max(id) FROM gate_history").fetchone()
        for number in (None, -1, 0, last, last + 2):
            with pytest.raises(sqlite3.IntegrityError):
                connection.execute(sql, [number, AT, SPEC])
        connection.execute(sql, [last + 1, AT, SPEC])


def test_the_gates_of_a_spec_can_be_asked_for_by_their_state(tmp_path: Path) -> None:
    with writing(tmp_path) as db:
        plan.save_parts(db, [StoredPart(SPEC, part, part, "text", "v1") for part in ("R1", "R2")])
        add_nodes(db, CODER, VERIFIER)
        report(db, R1=Word.PASS)
        number = decide(db, kind="Accept")
        record_moves(db, AT, SPEC, [GateMove("R1", "v1", G.PROPOSED, G.TESTED, R.EVALUATOR)], decision_id=number)
        assert [row.requirement_id for row in gates_of(db, SPEC, G.TESTED)] == ["R1"]
        assert [row.requirement_id for row in gates_of(db, state=G.PROPOSED)] == ["R2"]
        assert gates_of(db, SPEC, G.REJECTED) == []
