"""A small state file with a row in every table, and the ways to write to it that a stranger has."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path

from sqlite_utils import Database

from agent_fox.core.graph import EdgeKind, Node
from agent_fox.core.ids import Archetype, Mode, Ticket
from agent_fox.core.ledger.gates import Gate, Role
from agent_fox.core.memory import Birth, Item, item_id
from agent_fox.core.retry.onset import Onset
from agent_fox.core.retry.replay import Finding
from agent_fox.core.retry.standing import Outcome, Standing, Status, first_standing
from agent_fox.core.spec import Spec
from agent_fox.core.trace import Node as TraceNode
from agent_fox.core.trace import NodeKind, Trace
from agent_fox.core.verdicts.judgement import Counted
from agent_fox.core.verdicts.verdict import RunTest, Verdict, Word
from agent_fox.store import outbox, plan, records, sessions
from agent_fox.store.gates import GateMove, record_moves
from agent_fox.store.ledger import memory
from agent_fox.store.ledger.memory import Origin
from agent_fox.store.plan import PlannedNode, StoredEdge, StoredPart
from agent_fox.store.records import NewDecision, VerdictOrigin
from agent_fox.store.state import transaction
from agent_fox.store.traces import record_onsets, record_trace
from agent_fox.store.values import insert
from tests.states import fresh_state

AT = "2026-03-01T12:00:00.000Z"
SPEC = "01_bell"
CODER = Node("bell:1", "01_bell:1", SPEC, 1, Archetype.CODER, title="Ring")
VERIFIER = Node("bell:verifier", "01_bell:2", SPEC, 2, Archetype.VERIFIER)
REVIEWER = Node("bell:0", "01_bell:0:reviewer:pre-review", SPEC, 0, Archetype.REVIEWER, Mode.PRE_REVIEW)


@contextmanager
def state(folder: Path) -> Iterator[Database]:
    """The state file of `folder`, open for writing."""
    with closing(fresh_state(folder / "state.db")) as db:
        yield db


@contextmanager
def writing(folder: Path) -> Iterator[Database]:
    """The state file of `folder` with a transaction open, as the functions of `records` expect it."""
    with state(folder) as db, transaction(db):
        yield db


@contextmanager
def stranger(folder: Path) -> Iterator[sqlite3.Connection]:
    """The same file as any program opens it: no foreign keys, no recursive triggers."""
    with closing(sqlite3.connect(folder / "state.db", isolation_level=None)) as connection:
        assert connection.execute("PRAGMA recursive_triggers").fetchone() == (0,)
        assert connection.execute("PRAGMA foreign_keys").fetchone() == (0,)
        yield connection


def decide(db: Database, node: Node = VERIFIER, kind: str = "Recode", session: int | None = None) -> int:
    ticket = Ticket(node.uid, 1, 1)
    new = NewDecision(node.uid, node.id, node.spec_name, kind, ticket, (), session_id=session)
    return records.record_decision(db, AT, None, new)


def add_nodes(db: Database, *nodes: Node) -> None:
    plan.insert_nodes(db, [PlannedNode(node, first_standing(node.uid), at) for at, node in enumerate(nodes)])


def add_session(db: Database, run: int, node: Node = CODER, attempt: int = 1, assumed: float = 1.0) -> int:
    row = {"run_id": run, "node_id": node.id, "node_uid": node.uid, "spec_name": node.spec_name}
    more = {"archetype": node.archetype, "mode": node.mode, "attempt": attempt, "reading": 1}
    last = {"status": "running", "assumed_cost_usd": assumed, "started_at": AT}
    return insert(db, "sessions", {**row, **more, **last})


def add_launch(db: Database, name: str, session: int, run: int) -> None:
    row = {"id": name, "session_id": session, "run_id": run, "number": sessions.launch_number(db, session)}
    more = {"status": "running", "pinned_commit": "c0ffee", "folder": f"/launches/{name}", "started_at": AT}
    sessions.start_launch(db, {**row, **more})


def counted(part: str, word: Word, *, is_silent: bool = False) -> Counted:
    return Counted(Verdict(part, word, said=word, evidence=f"{part} is {word}"), word, word, is_silent)


def origin(decision: int, session: int | None = None, reading: int = 1, tree: str = "tree") -> VerdictOrigin:
    ticket = Ticket(VERIFIER.uid, 1, reading)
    return VerdictOrigin(SPEC, VERIFIER.uid, session, decision, ticket, "c0ffee", tree, AT)


def report(db: Database, session: int | None = None, reading: int = 1, **words: Word) -> None:
    """A report of one verifier session, stored with a decision of its own."""
    verdicts = {part: counted(part, word) for part, word in words.items()}
    records.store_verdicts(db, origin(decide(db), session, reading), verdicts, dict.fromkeys(words, "v1"))


def fill(db: Database) -> None:
    """Something of everything: an ended run of one spec that failed, was blocked, and has its issue delivered."""
    with transaction(db):
        fill_in(db)


def fill_in(db: Database) -> None:
    """The same in the open transaction."""
    add_nodes(db, REVIEWER, CODER, VERIFIER)
    plan.replace_edges(db, [StoredEdge(CODER.uid, VERIFIER.uid, EdgeKind.CHAIN)])
    plan.save_specs(db, [Spec(SPEC, "agent-fox", f"specs/{SPEC}")], {})
    plan.save_parts(db, [StoredPart(SPEC, part, part, "text", "v1") for part in ("R1", "R2")])
    run = sessions.start_run(db, AT, "c0ffee")
    fill_sessions(db, run)
    report(db, 2, R1=Word.PASS, R2=Word.FAIL)
    report(db, 2, R1=Word.FAIL)
    block(db, run)
    records.record_event(db, AT, run, "noted", node_id=VERIFIER.id)
    fill_evidence(db)
    sessions.end_run(db, run, AT, "ended", 2, "not proven", "c0ffee")


def fill_evidence(db: Database) -> None:
    """A row in every table of evidence that has none yet: the ledger and the gates have theirs from what happened."""
    add_row(db, "waivers", id="waiver-1", kind="requirement", spec_name=SPEC, address="R1", version="v1")
    record_trace(
        db, AT, 1, Trace((TraceNode(0, NodeKind.STATE_CHANGE, 0, tree="t0"),), "c0ffee"), "refs/x", "2026-03-15"
    )
    record_onsets(db, AT, 2, SPEC, [Finding("R2", "test_b", Onset.FOUND, session=1, step=1)])
    record_moves(db, AT, SPEC, [GateMove("R1", "v1", Gate.PROPOSED, Gate.WAIVED, Role.PERSON, "waiver-1")])
    for number, kind in enumerate(("granted", "revoked"), 1):
        add_row(db, "waiver_events", id=number, waiver_id="waiver-1", kind=kind)
    add_row(db, "specifications", id=1, address=f"{SPEC}/R1", state="proposed")
    add_row(db, "review_tasks", id="task-1")
    add_row(db, "review_events", id=1, task_id="task-1", kind="registered")
    for number in (1, 2):
        memory.remember(db, remembered(number, joins=remembered(1).id if number > 1 else ""), Origin(2, 1), "c0ffee")


def remembered(number: int, **more: object) -> Item:
    """An item of regression memory about the requirement R1 or R2."""
    part, test = (
        f"R{number}",
        RunTest("pytest -q", "tests/test_bell.py", ("TestBell",), f"test_{number}", f"test_{number}"),
    )
    known = {"files": ("bell.py",), "counterexample": "test_1(n=0)", "first_error": "assert #", "cause": "c" * 16}
    item = Item(item_id(SPEC, part, "v1", test), SPEC, part, "v1", test, Birth.REPAIR, AT)
    return replace(item, **{**known, **more})  # type: ignore[arg-type]


def add_row(db: Database, table: str, **known: object) -> None:
    """A row with these values, and something in every other column that must have a value."""
    found = db.execute(f"PRAGMA table_info({table})").fetchall()
    needed = {name: kind for _, name, kind, is_needed, default, _ in found if is_needed and default is None}
    made = {name: "{}" if kind == "TEXT" else 1 for name, kind in needed.items()}
    insert(db, table, {**made, **known})


def fill_sessions(db: Database, run: int) -> None:
    for number, node in enumerate((CODER, VERIFIER), 1):
        session = add_session(db, run, node)
        add_launch(db, f"launch-{number}", session, run)
        sessions.set_launch(db, f"launch-{number}", {"status": "ended", "ended_at": AT, "cost_usd": 0.25})
        sessions.begin_wait(db, run, session, "rate limit", "429", AT, AT)
        sessions.end_waits(db, "session_id", session, AT)
        sessions.set_session(db, session, {"status": "completed", "cost_usd": 0.25, "ended_at": AT})


def block(db: Database, run: int) -> None:
    decision = decide(db, kind="Block")
    escalated = Standing(VERIFIER.uid, Status.COMPLETED, Outcome.ESCALATED)
    plan.move_node(db, escalated, decision)
    plan.add_retry_edges(db, [(CODER.uid, VERIFIER.uid)], decision)
    about = {"archetype": VERIFIER.archetype, "node_id": VERIFIER.id, "node_uid": VERIFIER.uid, "spec_name": SPEC}
    records.record_block(db, AT, run, decision, about, "attempts spent", "3 of 3", VERIFIER.id, ["R1"])
    outbox.open_issue(db, "print", "Bell fails", "attempts spent", SPEC, ["R1"], AT)
    number = outbox.put(db, decision, "file", "print", SPEC, {"title": "Bell fails", "body": "R1"}, AT)
    outbox.set_outbox(db, number, "done", AT)
