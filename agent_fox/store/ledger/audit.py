"""What the tables say that the ledger says too, side by side, for whoever checks both. Judges nothing.

A column's alias is the path of the same fact in the record: `result.status`; behind `|` stands how the record has it.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from functools import cache
from typing import TYPE_CHECKING

from agent_fox.core.ledger.evidence import Json, Link
from agent_fox.core.retry.standing import Step
from agent_fox.core.spec import text_version
from agent_fox.core.values import dataclass
from agent_fox.store.ledger.evidence import digest, quoted
from agent_fox.store.ledger.ledger import Kept
from agent_fox.store.schema.migrations import MIGRATIONS

if TYPE_CHECKING:
    from sqlite_utils import Database


@dataclass(frozen=True, slots=True)
class Pair:
    """A row beside its record. `facts`: path in the record's document to what the row says stands there.

    `position` and `content` are None where no record has the row's identity.
    """

    table: str
    id: int | str
    at: str
    facts: Mapping[str, Json]
    position: int | None
    content: str | None


DECISIONS = """
SELECT t.id, t.at, l.position, l.content, t.kind AS 'result.status', t.node_id AS 'spec_ref.address',
    t.session_id AS 'run_context.session', t.run_id AS 'run_context.run',
    coalesce(t.commit_id, '') AS 'artifact.commit', t.cause AS 'body.cause', t.note AS 'body.note|quoted',
    t.steps AS 'body.steps|json', t.facts AS 'body.facts_sha256|digest', t.node_uid AS 'body.uid'
FROM decisions AS t LEFT JOIN ledger AS l ON l.identity = 'decision:' || t.id ORDER BY t.id
"""
VERDICTS = """
SELECT t.id, t.at, l.position, l.content, t.verdict AS 'result.status',
    t.spec_name || '/' || t.requirement_id AS 'spec_ref.address', t.text_version AS 'spec_ref.version',
    coalesce(t.tree, '') AS 'artifact.tree', coalesce(t.commit_id, '') AS 'artifact.commit',
    t.session_id AS 'run_context.session', t.decision_id AS 'run_context.decision',
    coalesce(t.command, '') AS 'run_context.command', t.read_as AS 'body.read_as', t.said AS 'body.said',
    t.evidence AS 'body.evidence_sha256|digest', t.disposition AS 'body.disposition',
    t.failing_tests AS 'body.failing_tests', t.restores AS 'body.restores',
    t.expectation AS 'body.expectation|json', t.how AS 'body.how'
FROM verification_results AS t LEFT JOIN ledger AS l ON l.identity = 'verdict:' || t.id ORDER BY t.id
"""
GATES = """
SELECT t.id, t.at, l.position, l.content, t.finish AS 'result.status',
    t.spec_name || '/' || t.requirement_id AS 'spec_ref.address', t.version AS 'spec_ref.version',
    t.tree AS 'artifact.tree', t.commit_id AS 'artifact.commit', t.decision_id AS 'run_context.decision',
    t.spec_name AS 'body.spec', t.requirement_id AS 'body.requirement', t.version AS 'body.version',
    t.start AS 'body.start', t.finish AS 'body.finish', t.role AS 'body.role', t.waiver_id AS 'body.waiver',
    t.reason AS 'body.reason|quoted'
FROM gate_history AS t LEFT JOIN ledger AS l ON l.identity = 'gate:' || t.id ORDER BY t.id
"""
SESSIONS = """
SELECT t.id, coalesce(t.ended_at, t.started_at), l.position, l.content, t.node_id AS 'spec_ref.address',
    t.id AS 'run_context.session', t.archetype AS 'body.archetype', t.backend AS 'body.backend',
    coalesce(nullif(t.end_kind, ''), t.status) AS 'result.status', coalesce(t.tree, '') AS 'artifact.tree',
    coalesce(t.pinned_commit, '') AS 'artifact.commit', t.environment AS 'run_context.environment',
    t.verifier AS 'run_context.verifier'
FROM sessions AS t LEFT JOIN ledger AS l ON l.position = (
    SELECT max(position) FROM ledger WHERE session_id = t.id AND kind = 'session'
) WHERE t.status IN ('completed', 'failed') ORDER BY t.id
"""
RUNS = """
SELECT t.id, coalesce(t.ended_at, t.started_at), l.position, l.content, t.status AS 'body.status',
    t.exit_code AS 'body.exit_code', t.reason AS 'body.reason', t.id AS 'run_context.run'
FROM runs AS t LEFT JOIN ledger AS l ON l.position = (
    SELECT max(position) FROM ledger WHERE address = CAST(t.id AS TEXT) AND kind = 'run' AND status = 'ended'
) WHERE t.status <> 'running' ORDER BY t.id
"""
WAIVERS = """
SELECT t.id, t.granted_at, l.position, l.content, t.envelope AS 'body.envelope', t.signer AS 'body.signer',
    t.expires_at AS 'body.expires_at'
FROM waivers AS t LEFT JOIN ledger AS l ON l.identity = 'waiver:' || t.id || ':granted' ORDER BY l.position
"""
EVENT = (
    "CASE kind WHEN 'asked' THEN 'waiver:asked:' || id WHEN 'used' THEN 'waiver:' || waiver_id || ':used:' || id "
    "ELSE 'waiver:' || waiver_id || ':' || kind END"
)
"""The identity of the record of a waiver's event."""

WAIVER_EVENTS = f"""
SELECT t.id, t.at, l.position, l.content, t.kind AS 'result.status', t.waiver_id AS 'body.waiver',
    t.subject AS 'body.subject'
FROM (SELECT *, {EVENT} AS name FROM waiver_events) AS t LEFT JOIN ledger AS l ON l.identity = t.name ORDER BY t.id
"""
BLOCKS = """
SELECT t.id, t.at, l.position, l.content, t.node_id AS 'spec_ref.address', t.run_id AS 'run_context.run',
    t.decision_id AS 'run_context.decision', t.archetype AS 'body.archetype', t.cause AS 'body.cause',
    t.reason AS 'body.reason|quoted', t.root_node AS 'body.root', t.requirements AS 'body.requirements|json'
FROM blocking_history AS t LEFT JOIN ledger AS l ON l.identity = 'block:' || t.id ORDER BY t.id
"""

SPECIFICATIONS = """
SELECT t.id, t.at, l.position, l.content, t.state AS 'result.status', t.kind AS 'spec_ref.kind',
    CASE t.spec_name WHEN CASE WHEN t.address LIKE 'library/%' THEN ''
        ELSE substr(t.address, 1, instr(t.address, '/') - 1) END THEN t.address ELSE t.spec_name
    END AS 'spec_ref.address', t.version AS 'spec_ref.version', t.text AS 'body.text',
    t.requirements AS 'body.requirements|json', nullif(t.lane, '{}') AS 'body.check|json',
    t.added_by AS 'body.added_by', t.envelope AS 'body.envelope'
FROM specifications AS t LEFT JOIN ledger AS l ON l.identity = 'specification:' || t.id ORDER BY t.id
"""
REVIEW_TASKS = """
SELECT t.id, t.at, l.position, l.content, t.id AS 'body.task', t.description AS 'spec_ref.version|version',
    t.repositories AS 'body.repositories|json', t.client AS 'body.data.client'
FROM review_tasks AS t LEFT JOIN ledger AS l
    ON l.identity = 'review:' || t.id || ':' || (SELECT min(id) FROM review_events WHERE task_id = t.id) ORDER BY t.id
"""
REVIEW_EVENTS = """
SELECT t.id, t.at, l.position, l.content, t.kind AS 'result.status', t.task_id AS 'body.task', t.id AS 'body.event',
    t.data AS 'body.data|json'
FROM review_events AS t LEFT JOIN ledger AS l ON l.identity = 'review:' || t.task_id || ':' || t.id ORDER BY t.id
"""
TABLES = {
    "decisions": DECISIONS,
    "verification_results": VERDICTS,
    "gate_history": GATES,
    "sessions": SESSIONS,
    "runs": RUNS,
    "waivers": WAIVERS,
    "waiver_events": WAIVER_EVENTS,
    "blocking_history": BLOCKS,
    "specifications": SPECIFICATIONS,
    "review_tasks": REVIEW_TASKS,
    "review_events": REVIEW_EVENTS,
}
FIRST_FACT = 4


def _json(text: str) -> Json:
    """What a column holds; the text itself where it is no JSON any more: no record says that."""
    try:
        value: Json = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return value


FORMS: dict[str, Callable[[str], Json]] = {
    "quoted": quoted, "digest": digest, "json": _json, "version": text_version,
}  # fmt: skip

GONE = f"""
SELECT position, identity FROM ledger WHERE kind = 'decision' AND decision_id NOT IN (SELECT id FROM decisions)
UNION ALL SELECT position, identity FROM ledger
    WHERE kind = 'verdict' AND CAST(substr(identity, 9) AS INTEGER) NOT IN (SELECT id FROM verification_results)
UNION ALL SELECT position, identity FROM ledger
    WHERE kind = 'gate' AND CAST(substr(identity, 6) AS INTEGER) NOT IN (SELECT id FROM gate_history)
UNION ALL SELECT position, identity FROM ledger
    WHERE kind = 'session' AND session_id NOT IN (SELECT id FROM sessions)
UNION ALL SELECT position, identity FROM ledger
    WHERE kind = 'run' AND CAST(address AS INTEGER) NOT IN (SELECT id FROM runs)
UNION ALL SELECT position, identity FROM ledger
    WHERE kind = 'block' AND identity NOT IN (SELECT 'block:' || id FROM blocking_history)
UNION ALL SELECT position, identity FROM ledger WHERE kind = 'waiver' AND identity LIKE 'waiver:%:granted'
    AND substr(identity, 8, length(identity) - 15) NOT IN (SELECT id FROM waivers)
UNION ALL SELECT position, identity FROM ledger WHERE kind = 'waiver' AND identity NOT IN (
    SELECT {EVENT} FROM waiver_events
)
UNION ALL SELECT position, identity FROM ledger WHERE kind = 'specification' AND identity LIKE 'specification:%'
    AND identity NOT IN (SELECT 'specification:' || id FROM specifications)
UNION ALL SELECT position, identity FROM ledger WHERE kind = 'review'
    AND identity NOT IN (SELECT 'review:' || task_id || ':' || id FROM review_events)
ORDER BY position
"""
"""Records whose row is not there any more."""


def pairs(db: Database, table: str) -> Iterator[Pair]:
    """Every row of one of TABLES that the ledger has, or should have, a record of; oldest first."""
    cursor = db.execute(TABLES[table])
    names = [column[0] for column in cursor.description]
    for number, at, position, content, *facts in cursor:
        facts_told = dict(_fact(name, value) for name, value in zip(names[FIRST_FACT:], facts, strict=True))
        yield Pair(table, number, at, facts_told, position, content)


def _fact(name: str, value: Json) -> tuple[str, Json]:
    path, _, form = name.partition("|")
    return path, FORMS[form](value) if form and isinstance(value, str) else value


NODES = "SELECT uid, id, status, outcome FROM plan_nodes ORDER BY position, uid"

OVERTAKEN = """
SELECT t.id, t.spec_name || '/' || t.requirement_id FROM verification_results AS t WHERE t.superseded_by IS NULL AND
    EXISTS (SELECT 1 FROM verification_results AS later WHERE later.spec_name = t.spec_name
        AND later.requirement_id = t.requirement_id AND later.id > t.id
        AND NOT (t.verdict = 'FAIL' AND later.verdict = 'UNKNOWN' AND later.superseded_by IS t.id))
ORDER BY t.id
"""
"""Verdicts that count as the present ones, although a later one was written; only a FAIL outlives an UNKNOWN."""


@dataclass(frozen=True, slots=True)
class NodeRow:
    """A node of the plan, as its row has it. `step`: the last that a decision made of it, if any."""

    node: str
    status: str
    outcome: str | None
    step: str | None


def node_rows(db: Database) -> Iterator[NodeRow]:
    """Every node that ever was in the plan."""
    last: dict[str, str] = {}
    for (steps,) in db.execute("SELECT steps FROM decisions ORDER BY id"):
        last.update((step["uid"], step["step"]) for step in _steps(steps) if step["step"] != Step.RENEW)
    for uid, node, status, outcome in db.execute(NODES):
        yield NodeRow(node, status, outcome, last.get(uid))


def _steps(text: str) -> Iterator[dict[str, str]]:
    """The steps of a decision; none where somebody wrote something else there, which is told as that."""
    steps = _json(text)
    for step in steps if isinstance(steps, list) else ():
        if isinstance(step, dict) and {"uid", "step"} <= step.keys():
            yield {"uid": str(step["uid"]), "step": str(step["step"])}


def planned_specs(db: Database) -> frozenset[str]:
    """The specs that are in the plan, and could be read."""
    return frozenset(name for (name,) in db.execute(SPECS))


SPECS = "SELECT name FROM plan_specs WHERE is_withdrawn = 0 AND problem = ''"


def overtaken(db: Database) -> Iterator[tuple[int, str]]:
    """Row and requirement of each verdict that was made the present one again."""
    yield from db.execute(OVERTAKEN)


def gone(db: Database) -> Iterator[tuple[int, str]]:
    """Position and identity of each record whose row is not there."""
    yield from db.execute(GONE)


READ = (
    "SELECT identity, position, record_id, previous, head, kind, spec_name, address, version, status, tree, "
    "decision_id, session_id, at, content FROM ledger ORDER BY position"
)


def ledger_rows(db: Database) -> Iterator[tuple[str, Kept]]:
    """Every record with the identity in its column, in the order of positions; read as they are asked for."""
    for identity, position, name, previous, head, *rest in db.execute(READ):
        yield identity, Kept(Link(position, name, previous, head), *rest)


@dataclass(frozen=True, slots=True)
class RunHeads:
    """The heads that a run's row names: when it was opened, and when it last ended. Empty: none was noted."""

    run: int
    begin: str
    end: str


def run_heads(db: Database) -> list[RunHeads]:
    return [RunHeads(*row) for row in db.execute("SELECT id, ledger_begin, ledger_head FROM runs ORDER BY id")]


def missing_guards(db: Database) -> list[str]:
    """The names of triggers, views, indexes and tables that the state file should have, and has not, or has in other
    words.
    """
    stands = dict(db.execute(SCHEMA))
    return sorted(str(name) for name, text in _as_made(SCHEMA) if stands.get(name) != text)


def unlike_tables(db: Database) -> list[str]:
    """The names of our tables that are gone, are none any more, or have other columns: nothing can be asked of them."""
    stands = {tuple(row) for row in db.execute(SHAPES)}
    return sorted(str(shape[0]) for shape in _as_made(SHAPES) if shape not in stands)


def foreign_triggers(db: Database) -> list[str]:
    """The names of triggers of our tables that are not ours: what one of them changes looks as if we had written it."""
    tables = {name for (name,) in _as_made("SELECT name FROM sqlite_master WHERE type IN ('table', 'view')")}
    ours = {name for (name,) in _as_made("SELECT name FROM sqlite_master WHERE type = 'trigger'")}
    triggers = db.execute("SELECT name, tbl_name FROM main.sqlite_master WHERE type = 'trigger'")
    return sorted(name for name, table in triggers if table in tables and name not in ours)


def changed_tables(db: Database) -> list[str]:
    """The fixed tables of the program that hold something else here."""
    every = {name: f"SELECT * FROM main.{name}" for name in FIXED}
    return [name for name, sql in every.items() if _as_made(sql) != frozenset(map(tuple, db.execute(sql)))]


FIXED = ("legal_transitions", "gate_transitions")
"""Which moves of nodes and of gates the database lets through."""


@cache
def _as_made(sql: str) -> frozenset[tuple[str | int, ...]]:
    """What a query gives of a state file as we make it, in memory; asked once, since nothing changes it."""
    with closing(sqlite3.connect(":memory:")) as whole:
        for script in MIGRATIONS:
            whole.executescript(script)
        return frozenset(map(tuple, whole.execute(sql)))


SCHEMA = "SELECT name, sql FROM main.sqlite_master WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'"
"""Guards, and what else asks or holds: a view that says something else is as good as rows that do, and a table whose
columns may hold anything is as good as one without guards.
"""


SHAPES = (
    "SELECT held.name, group_concat(its.name) FROM main.sqlite_master AS held, "
    "pragma_table_info(held.name, 'main') AS its "
    "WHERE held.type = 'table' AND held.name NOT LIKE 'sqlite\\_%' ESCAPE '\\' GROUP BY held.name"
)


def is_whole(db: Database) -> str:
    """What SQLite itself finds wrong with the file; empty where it finds nothing."""
    (answer,) = db.execute("PRAGMA integrity_check(1)").fetchone()
    return "" if answer == "ok" else str(answer)


@dataclass(frozen=True, slots=True)
class WorkersSession:
    """A session that a worker on another host did; `signed`: the envelope about what it handed in, empty for none."""

    number: int
    node: str
    attempt: int
    reading: int
    pinned: str
    worker: str
    signed: str


def sessions_of_workers(db: Database) -> list[WorkersSession]:
    """One for each agent that was asked on another host, oldest session first."""
    done = db.execute(
        "SELECT s.id, s.node_id, s.attempt, s.reading, coalesce(s.pinned_commit, ''), "
        "json_extract(a.value, '$.worker'), coalesce(json_extract(a.value, '$.signed'), '') "
        "FROM sessions AS s, json_each(s.agents) AS a WHERE json_extract(a.value, '$.worker') IS NOT NULL ORDER BY s.id"
    )
    return [WorkersSession(*row) for row in done]
