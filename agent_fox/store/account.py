"""The rows of a run's account, its first screen and its document. Plain SQL, quick to load; no meaning.

`only` names the specs that are asked for, None all of them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from sqlite_utils import Database

Row = tuple[Any, ...]


def run_row(db: Database, run_id: int | None) -> Row | None:
    """Id, status, exit code, reason, start, seconds and tip of a run, or of the last one."""
    sql = "SELECT id, status, exit_code, reason, started_at, seconds, tip_commit FROM runs"
    where, values = ("", []) if run_id is None else (" WHERE id = ?", [run_id])
    row: Row | None = db.execute(f"{sql}{where} ORDER BY id DESC LIMIT 1", values).fetchone()
    return row


def counts_of_run(db: Database, run_id: int | None) -> tuple[int, int, int]:
    """Sessions, retries of coders, readings that were asked for again."""
    sql = (
        "SELECT (SELECT count(*) FROM sessions WHERE run_id = :run), (SELECT count(*) FROM decisions AS d, "
        "json_each(d.steps) AS s JOIN plan_nodes AS n ON n.uid = json_extract(s.value, '$.uid') WHERE d.run_id = :run "
        "AND n.archetype = 'coder' AND json_extract(s.value, '$.step') IN ('recode', 'retry', 'send back')), "
        "(SELECT count(*) FROM decisions WHERE run_id = :run AND kind = 'Reread')"
    )
    sessions, retries, rereads = db.execute(sql, {"run": run_id}).fetchone()
    return sessions, retries, rereads


def costs_of_run(db: Database, run_id: int | None) -> tuple[float, float, float]:
    """Dollars that were told, that were assumed where none were told, and those of these that run still."""
    sql = (
        "SELECT coalesce(sum(l.cost_usd), 0), coalesce(sum(CASE WHEN l.cost_usd IS NULL "
        "AND l.status IN ('ended', 'running', 'interrupted') THEN s.assumed_cost_usd END), 0), "
        "coalesce(sum(CASE WHEN l.cost_usd IS NULL AND l.status = 'running' THEN s.assumed_cost_usd END), 0) "
        "FROM launches AS l JOIN sessions AS s ON s.id = l.session_id WHERE l.run_id = ?"
    )
    known, assumed, running = map(float, db.execute(sql, [run_id]).fetchone())
    return known, assumed, running


def node_counts(db: Database) -> dict[str, int]:
    """How many nodes of the plan have each status."""
    return dict(db.execute("SELECT status, count(*) FROM plan_nodes WHERE status <> 'withdrawn' GROUP BY status"))


def gate_counts(db: Database) -> dict[str, int]:
    """How many requirements stand at each gate."""
    return dict(db.execute("SELECT state, count(*) FROM gates GROUP BY state ORDER BY state"))


def _rows(db: Database, sql: str, column: str, only: frozenset[str] | None) -> list[Row]:
    """The rows of a statement; `{asked}` in it stands for the condition that a column names one of the specs."""
    if only is None:
        return db.execute(sql.format(asked="1")).fetchall()
    asked = f"{column} IN (SELECT value FROM json_each(?))"
    return db.execute(sql.format(asked=asked), [json.dumps(sorted(only))]).fetchall()


def spec_rows(db: Database, only: frozenset[str] | None) -> list[Row]:
    """Name, verified commit, problem, and whether it was ever read, in plan order."""
    sql = (
        "SELECT name, verified_commit, problem, snapshot <> '' FROM plan_specs "
        "WHERE is_withdrawn = 0 AND {asked} ORDER BY position, name"
    )
    return _rows(db, sql, "name", only)


def part_rows(db: Database, only: frozenset[str] | None) -> list[Row]:
    """Spec, expected id, its current verdict (`unread` for none), the tree and the environment it was given in."""
    sql = (
        "SELECT p.spec_name, p.id, coalesce(v.verdict, 'unread'), v.tree, s.environment FROM plan_parts AS p "
        "LEFT JOIN verification_results AS v ON v.spec_name = p.spec_name AND v.requirement_id = p.id "
        "AND v.superseded_by IS NULL LEFT JOIN sessions AS s ON s.id = v.session_id "
        "WHERE {asked} ORDER BY p.position"
    )
    return _rows(db, sql, "p.spec_name", only)


def is_measured(db: Database, spec_name: str) -> bool:
    """Whether the record of a current verdict of a spec says what it rests on."""
    sql = (
        "SELECT EXISTS (SELECT 1 FROM verification_results AS v JOIN ledger AS l ON l.identity = 'verdict:' || v.id "
        "WHERE v.spec_name = ? AND v.superseded_by IS NULL AND json_extract(l.content, '$.body.rests_on') IS NOT NULL)"
    )
    return bool(db.execute(sql, [spec_name]).fetchone()[0])


def unplanned_rows(db: Database, only: frozenset[str] | None) -> list[Row]:
    """Spec and expected id, of specs that were left out but had been read before."""
    sql = "SELECT name, snapshot FROM plan_specs WHERE problem <> '' AND snapshot <> '' AND {asked}"
    rows: list[Row] = []
    for name, snapshot in _rows(db, sql, "name", only):
        requirements = json.loads(snapshot)["requirements"]
        parts = (
            part
            for requirement in requirements
            for part in requirement["criteria"] + requirement["edge_cases"] or [requirement]
        )
        rows += [(name, part["id"]) for part in parts]
    return rows


def node_rows(db: Database, only: frozenset[str] | None) -> list[Row]:
    """Spec, completed nodes, all nodes, and which statuses there are, with commas."""
    sql = (
        "SELECT spec_name, sum(status = 'completed'), count(*), group_concat(DISTINCT status) FROM plan_nodes "
        "WHERE status <> 'withdrawn' AND {asked} GROUP BY spec_name"
    )
    return _rows(db, sql, "spec_name", only)


def verifier_rows(db: Database, only: frozenset[str] | None) -> list[Row]:
    """Spec, and id, status and outcome of its verifier."""
    sql = (
        "SELECT spec_name, id, status, outcome FROM plan_nodes "
        "WHERE archetype = 'verifier' AND status <> 'withdrawn' AND {asked}"
    )
    return _rows(db, sql, "spec_name", only)


def required_state(db: Database) -> str | None:
    """The gate that the last run asks for."""
    row = db.execute("SELECT required_state FROM runs ORDER BY id DESC LIMIT 1").fetchone()
    return str(row[0]) if row else None


def gate_rows(db: Database, only: frozenset[str] | None) -> list[Row]:
    """Spec, requirement, its gate, and whether it was proved."""
    return _rows(db, "SELECT spec_name, requirement_id, state, was_proved FROM gates WHERE {asked}", "spec_name", only)


def running_rows(db: Database) -> list[Row]:
    """Node, archetype, attempt, reading, start and folder of the launches that are under way."""
    sql = (
        "SELECT s.node_id, s.archetype, s.attempt, s.reading, l.started_at, l.folder FROM launches AS l "
        "JOIN sessions AS s ON s.id = l.session_id WHERE l.status = 'running' AND l.ended_at IS NULL "
        "ORDER BY l.started_at, l.id"
    )
    return db.execute(sql).fetchall()


def open_wait_rows(db: Database, run_id: int | None) -> list[Row]:
    """Node, kind, reason, begin and end of the waits that sessions of a run are in."""
    sql = (
        "SELECT s.node_id, w.kind, w.reason, w.began_at, w.until FROM waits AS w JOIN sessions AS s "
        "ON s.id = w.session_id WHERE w.run_id = ? AND w.ended_at IS NULL ORDER BY w.id"
    )
    return db.execute(sql, [run_id]).fetchall()


def candidate_refs(db: Database) -> list[str]:
    """The references under which candidates of attempts were kept, oldest first; each is removed in time."""
    sql = "SELECT json_extract(data, '$.candidate.ref') AS ref FROM events WHERE kind = 'candidate' AND ref <> ''"
    return [str(ref) for (ref,) in db.execute(f"{sql} ORDER BY id")]


def wait_rows(db: Database) -> list[Row]:
    """Id, run, session (0 for the whole run), node, kind, reason, begin, planned end and end of each wait."""
    sql = (
        "SELECT w.id, w.run_id, coalesce(w.session_id, 0), coalesce(s.node_id, ''), w.kind, w.reason, w.began_at, "
        "coalesce(w.until, ''), coalesce(w.ended_at, '') FROM waits AS w LEFT JOIN sessions AS s "
        "ON s.id = w.session_id ORDER BY w.id"
    )
    return db.execute(sql).fetchall()


def held_rows(db: Database) -> list[Row]:
    """Node, cause, reason and root of what is blocked or escalated, in plan order."""
    sql = (
        "SELECT n.id, h.cause, h.reason, h.root_node FROM plan_nodes AS n JOIN blocking_history AS h ON h.id = "
        "(SELECT max(id) FROM blocking_history WHERE node_uid = n.uid) "
        "WHERE n.status = 'blocked' OR n.outcome = 'escalated' ORDER BY n.position"
    )
    return db.execute(sql).fetchall()


def undelivered_rows(db: Database) -> list[Row]:
    """Kind, title, state and note of every effect that is not out yet."""
    sql = (
        "SELECT kind, coalesce(json_extract(payload, '$.title'), ''), state, note FROM outbox "
        "WHERE state NOT IN ('done', 'moot') ORDER BY decision_id, rowid"
    )
    return db.execute(sql).fetchall()


def log_rows(db: Database, node_id: str) -> list[Row]:
    """Node, attempt, reading, status, log, launch and folder of a node's sessions, by its name now or then."""
    sql = (
        "SELECT s.node_id, s.attempt, s.reading, s.status, s.log, coalesce(l.id, ''), coalesce(l.folder, '') "
        "FROM sessions AS s LEFT JOIN launches AS l ON l.session_id = s.id AND l.status = 'running' "
        "AND l.ended_at IS NULL "
        "WHERE s.node_id = :id OR s.node_uid = "
        "(SELECT uid FROM plan_nodes WHERE id = :id AND status <> 'withdrawn') ORDER BY s.id"
    )
    return db.execute(sql, {"id": node_id}).fetchall()


def is_under_way(db: Database, launch: str) -> bool:
    """Whether a launch has not ended yet."""
    sql = "SELECT 1 FROM launches WHERE id = ? AND status = 'running' AND ended_at IS NULL"
    return db.execute(sql, [launch]).fetchone() is not None


def titles_with_gates(db: Database) -> list[Row]:
    """Name, title, count of requirements and their gates (JSON) of each spec, in plan order."""
    sql = (
        "SELECT s.name, s.title, count(g.requirement_id), json_group_array(g.state) FROM plan_specs AS s "
        "LEFT JOIN gates AS g ON g.spec_name = s.name WHERE s.is_withdrawn = 0 GROUP BY s.name ORDER BY s.position"
    )
    return db.execute(sql).fetchall()


class NodeRow(NamedTuple):
    """A node of the plan by its present name."""

    spec: str
    archetype: str
    title: str
    attempt: int


def nodes(db: Database, names: Iterable[str]) -> dict[str, NodeRow]:
    """The named nodes of the plan."""
    sql = (
        "SELECT id, spec_name, archetype, title, attempt FROM plan_nodes "
        "WHERE status <> 'withdrawn' AND id IN (SELECT value FROM json_each(?))"
    )
    return {row[0]: NodeRow(*row[1:]) for row in db.execute(sql, [json.dumps(sorted(set(names)))])}


def spent(db: Database) -> dict[str, tuple[float, float]]:
    """By spec, over all runs: dollars that sessions told, and those assumed where they told none."""
    sql = (
        "SELECT s.spec_name, coalesce(sum(l.cost_usd), 0), coalesce(sum(CASE WHEN l.cost_usd IS NULL "
        "AND l.status IN ('ended', 'running', 'interrupted') THEN s.assumed_cost_usd END), 0) "
        "FROM launches AS l JOIN sessions AS s ON s.id = l.session_id GROUP BY s.spec_name"
    )
    return {name: (float(known), float(assumed)) for name, known, assumed in db.execute(sql)}


_OPEN = (
    "FROM plan_parts AS p LEFT JOIN verification_results AS v ON v.spec_name = p.spec_name "
    "AND v.requirement_id = p.id AND v.superseded_by IS NULL"
)


def open_parts(db: Database, spec: str, most: int = 0) -> list[tuple[str, str, str, str, int]]:
    """Id, last word (`unread` for none), text, evidence and attempt of what has no PASS; what fails first.

    At most so many, 0 for all.
    """
    sql = (
        "SELECT p.id, coalesce(v.verdict, 'unread'), p.text, coalesce(v.evidence, ''), coalesce(v.attempt, 0) "
        f"{_OPEN} WHERE p.spec_name = ? AND v.verdict IS NOT 'PASS' "
        "ORDER BY v.verdict IS NOT 'FAIL', v.verdict IS NULL, p.position LIMIT ?"
    )
    parts = db.execute(sql, [spec, most or -1])
    return [(part, word, one_line(text), evidence, attempt) for part, word, text, evidence, attempt in parts]


def texts(db: Database, specs: Iterable[str]) -> dict[str, dict[str, str]]:
    """By spec and id: the texts of these specs' requirements, each in one line."""
    sql = "SELECT spec_name, id, text FROM plan_parts WHERE spec_name IN (SELECT value FROM json_each(?))"
    by_spec: dict[str, dict[str, str]] = {}
    for spec, part, text in db.execute(sql, [json.dumps(sorted(set(specs)))]):
        by_spec.setdefault(spec, {})[part] = one_line(text)
    return by_spec


def one_line(text: str) -> str:
    return " ".join(text.split())


def all_node_rows(db: Database) -> list[Row]:
    """Uid, id, spec, group, archetype, mode, title, status, outcome, attempt, reading and last reason of each node."""
    sql = (
        "SELECT n.uid, n.id, n.spec_name, n.group_number, n.archetype, coalesce(n.mode, ''), n.title, n.status, "
        "coalesce(n.outcome, ''), n.attempt, n.reading, coalesce(CASE WHEN n.status = 'blocked' OR n.outcome = "
        "'escalated' THEN (SELECT h.reason FROM blocking_history AS h WHERE h.node_uid = n.uid ORDER BY h.id DESC "
        "LIMIT 1) END, '') FROM plan_nodes AS n WHERE n.status <> 'withdrawn' ORDER BY n.position"
    )
    return db.execute(sql).fetchall()


def edge_rows(db: Database) -> list[Row]:
    """Source, target (uids) and kind of each edge between nodes that are in the plan."""
    sql = (
        "SELECT e.source, e.target, e.kind FROM plan_edges AS e JOIN plan_nodes AS s ON s.uid = e.source "
        "JOIN plan_nodes AS t ON t.uid = e.target WHERE s.status <> 'withdrawn' AND t.status <> 'withdrawn' "
        "ORDER BY s.position, t.position, e.kind"
    )
    return db.execute(sql).fetchall()


def text_rows(db: Database) -> list[Row]:
    """Spec, id, text and gate of each requirement of the plan."""
    sql = (
        "SELECT p.spec_name, p.id, p.text, coalesce(g.state, '') FROM plan_parts AS p LEFT JOIN gates AS g "
        "ON g.spec_name = p.spec_name AND g.requirement_id = p.id JOIN plan_specs AS s ON s.name = p.spec_name "
        "WHERE s.is_withdrawn = 0 ORDER BY s.position, s.name, p.position"
    )
    return db.execute(sql).fetchall()


def reading_rows(db: Database) -> Iterator[Row]:
    """Every verdict: spec, requirement, row id, the word that counts, the word that was said, evidence, note, command,
    disposition, attempt, reading, session, commit, time, how it is known, whether it is the current one, and the
    record and what was tried to see its tests fail (JSON) in the ledger."""
    sql = (
        "SELECT v.spec_name, v.requirement_id, v.id, v.verdict, v.read_as, v.evidence, v.note, "
        "coalesce(v.command, ''), coalesce(v.disposition, ''), coalesce(v.attempt, 0), coalesce(v.reading, 0), "
        "v.session_id, coalesce(v.commit_id, ''), v.at, coalesce(v.how, ''), v.superseded_by IS NULL, "
        "coalesce(l.record_id, ''), json_extract(l.content, '$.body.trials') FROM verification_results AS v "
        "LEFT JOIN ledger AS l ON l.identity = 'verdict:' || v.id WHERE v.restores IS NULL ORDER BY v.id"
    )
    return iter(db.execute(sql))


def session_rows(db: Database) -> list[Row]:
    """Id, run, node, uid, spec, archetype, attempt, reading, status, end, reason, summary, start, end, seconds, cost,
    assumed cost, backend, agents (JSON), rung, pinned, base and landed commit, whether it landed, and log."""
    sql = (
        "SELECT id, run_id, node_id, node_uid, spec_name, archetype, attempt, reading, status, end_kind, reason, "
        "summary, started_at, coalesce(ended_at, ''), seconds, cost_usd, assumed_cost_usd, backend, agents, rung, "
        "coalesce(pinned_commit, ''), coalesce(base_commit, ''), coalesce(landed_commit, ''), is_landed, log "
        "FROM sessions ORDER BY id"
    )
    return db.execute(sql).fetchall()


def launch_rows(db: Database) -> list[Row]:
    """Session, number, status, reason, cost, start and end of each launch."""
    sql = (
        "SELECT session_id, number, status, reason, cost_usd, started_at, coalesce(ended_at, '') FROM launches "
        "ORDER BY session_id, number"
    )
    return db.execute(sql).fetchall()


def launch_costs(db: Database, run: int | None) -> list[Row]:
    """When each launch of a run ended (or began, while it runs), its cost, and what is assumed where none is told."""
    sql = (
        "SELECT coalesce(l.ended_at, l.started_at), l.cost_usd, CASE WHEN l.status IN "
        "('ended', 'running', 'interrupted') THEN s.assumed_cost_usd ELSE 0 END "
        "FROM launches AS l JOIN sessions AS s ON s.id = l.session_id WHERE l.run_id = ? ORDER BY 1, l.id"
    )
    return db.execute(sql, [run]).fetchall()
