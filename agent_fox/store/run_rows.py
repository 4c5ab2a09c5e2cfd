"""The rows of a whole run, read at once: nodes, edges, sessions, decisions, readings. For documents, not for screens.

Plain SQL; what they mean is said elsewhere. Everything is in the order in which it was recorded.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sqlite_utils import Database

Row = tuple[Any, ...]


def node_rows(db: Database) -> list[Row]:
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


def part_rows(db: Database) -> list[Row]:
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
