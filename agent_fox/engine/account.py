"""The account of a run, read from the state: what is proven, what is not and why, what it cost. For screens; read-only.

Only plain SQL and plain values: a status screen must be there at once, so nothing heavy is imported here.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from sqlite_utils import Database

from agent_fox.engine.activity import Activity, activity_in

PROVEN = frozenset({"verified", "waived"})
"""Standings of a spec whose verdict stands."""


@dataclass(frozen=True, slots=True)
class SpecAccount:
    """One spec. Its expected ids are each in one of the lists.

    `proven`: a PASS that counts, for the spec's verdict stands or it was given on the tree of the tip. `stale`: a PASS
    on an older tree of a spec that is not proven. `unclear`: the last word was UNKNOWN. `unread`: no verdict yet.
    `standing` is verified, waived, escalated, blocked, running, waiting, without verifier, or left out (`problem` says
    why): nothing of such a spec is proven, and where it could never be read, not `is_counted`, nobody knows its ids.
    """

    name: str
    verifier: str | None
    standing: str
    proven: tuple[str, ...] = ()
    waived: tuple[str, ...] = ()
    failing: tuple[str, ...] = ()
    unclear: tuple[str, ...] = ()
    stale: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()
    commit: str | None = None
    nodes_done: int = 0
    nodes: int = 0
    problem: str = ""
    is_counted: bool = True

    @property
    def is_proven(self) -> bool:
        return self.standing in PROVEN

    @property
    def open_ids(self) -> tuple[str, ...]:
        return (*self.failing, *self.unclear, *self.stale, *self.unread)

    @property
    def expected(self) -> int:
        return len(self.proven) + len(self.waived) + len(self.open_ids)


@dataclass(frozen=True, slots=True)
class BlockedNode:
    """A node that cannot go on until a person acts, and the nodes that wait for it."""

    node: str
    cause: str
    reason: str
    waiting: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RunningSession:
    """A session under way. `since` is ISO 8601, UTC."""

    node: str
    archetype: str
    attempt: int
    reading: int
    since: str
    activity: Activity | None = None


@dataclass(frozen=True, slots=True)
class Issue:
    """An issue as the state knows it; `where` is its address once it was delivered."""

    title: str
    cause: str
    state: str
    number: str | None
    where: str


@dataclass(frozen=True, slots=True)
class Undelivered:
    """An effect on the outside world that has not been carried out yet; `note` says why."""

    kind: str
    title: str
    state: str
    note: str


@dataclass(frozen=True, slots=True)
class Cost:
    """Dollars of one run: those that sessions told, and those assumed for sessions that did not (or not yet)."""

    known_usd: float = 0.0
    assumed_usd: float = 0.0

    @property
    def total_usd(self) -> float:
        return self.known_usd + self.assumed_usd


@dataclass(frozen=True, slots=True)
class RunAccount:
    """One run as the state has it now. `retries` are sessions that coders were sent back for, `rereads` readings that
    gave no clear verdict."""

    run: int | None
    status: str
    exit_code: int | None
    reason: str
    started_at: str
    seconds: float
    tip: str | None
    specs: tuple[SpecAccount, ...]
    sessions: int
    retries: int
    rereads: int
    cost: Cost
    running: tuple[RunningSession, ...]
    blocked: tuple[BlockedNode, ...]
    issues: tuple[Issue, ...]
    undelivered: tuple[Undelivered, ...]
    nodes: dict[str, int] = field(default_factory=dict)

    @property
    def proven(self) -> int:
        return sum(len(spec.proven) for spec in self.specs)

    @property
    def uncounted(self) -> int:
        """Specs whose requirements nobody knows: they could not be read."""
        return sum(not spec.is_counted for spec in self.specs)

    @property
    def waived(self) -> int:
        return sum(len(spec.waived) for spec in self.specs)

    @property
    def not_proven(self) -> int:
        return sum(len(spec.open_ids) for spec in self.specs)


def read_account(
    db: Database, *, run_id: int | None = None, tip_tree: str | None = None, only: Iterable[str] | None = None
) -> RunAccount:
    """The last run, or the one named. `tip_tree` is the tree of the integration branch now; `only` names the specs in
    scope (None: all). Raises KeyError for a run that there is none of."""
    sql = "SELECT id, status, exit_code, reason, started_at, seconds, tip_commit FROM runs"
    where, values = ("", []) if run_id is None else (" WHERE id = ?", [run_id])
    row = db.execute(f"{sql}{where} ORDER BY id DESC LIMIT 1", values).fetchone()
    if row is None and run_id is not None:
        raise KeyError(run_id)
    number, status, exit_code, reason, started, seconds, tip = row or (None, "never", None, "", "", 0.0, None)
    return RunAccount(
        run=number,
        status=status,
        exit_code=exit_code,
        reason=reason,
        started_at=started,
        seconds=seconds,
        tip=tip,
        specs=tuple(_specs(db, tip_tree, None if only is None else frozenset(only))),
        sessions=_count(db, "SELECT count(*) FROM sessions WHERE run_id = ?", number),
        retries=_count(db, _RETRIES, number),
        rereads=_count(db, "SELECT count(*) FROM decisions WHERE run_id = ? AND kind = 'Reread'", number),
        cost=read_cost(db, number),
        running=tuple(_running(db)),
        blocked=tuple(_blocked(db)),
        issues=tuple(read_issues(db)),
        undelivered=tuple(_undelivered(db)),
        nodes=dict(db.execute("SELECT status, count(*) FROM plan_nodes WHERE status <> 'withdrawn' GROUP BY status")),
    )


def _count(db: Database, sql: str, run_id: int | None) -> int:
    return int(db.execute(sql, [run_id]).fetchone()[0])


_RETRIES = (
    "SELECT count(*) FROM decisions AS d, json_each(d.steps) AS s "
    "JOIN plan_nodes AS n ON n.uid = json_extract(s.value, '$.uid') WHERE d.run_id = ? AND n.archetype = 'coder' "
    "AND json_extract(s.value, '$.step') IN ('recode', 'retry', 'send back')"
)

_COST = (
    "SELECT coalesce(sum(l.cost_usd), 0), coalesce(sum(CASE WHEN l.cost_usd IS NULL "
    "AND l.status IN ('ended', 'running', 'interrupted') THEN s.assumed_cost_usd END), 0) "
    "FROM launches AS l JOIN sessions AS s ON s.id = l.session_id WHERE l.run_id = ?"
)


def read_cost(db: Database, run_id: int | None) -> Cost:
    """What a run has cost so far."""
    known, assumed = db.execute(_COST, [run_id]).fetchone()
    return Cost(float(known), float(assumed))


@dataclass(slots=True)
class _Verifier:
    """A spec's verifier as a row of the plan."""

    id: str
    status: str
    outcome: str | None
    uid: str


def _specs(db: Database, tip_tree: str | None, only: frozenset[str] | None) -> Iterator[SpecAccount]:
    sql = (
        "SELECT name, verified_commit, problem, snapshot <> '' FROM plan_specs WHERE is_withdrawn = 0 "
        "ORDER BY position, name"
    )
    parts, nodes, verifiers = _unplanned_parts(db) | _parts(db), _nodes(db), _verifiers(db)
    for name, commit, problem, is_read in db.execute(sql).fetchall():
        if only is not None and name not in only:
            continue
        done, count, statuses = nodes.get(name, (0, 0, frozenset()))
        verifier = verifiers.get(name)
        standing = "left out" if problem else _standing(verifier, statuses)
        judged, tree = (None, None) if problem else (verifier, tip_tree)
        lists = _sorted(db, judged, parts.get(name, []), tree, is_proven=standing in PROVEN)
        yield SpecAccount(
            name=name,
            verifier=verifier.id if verifier else None,
            standing=standing,
            proven=tuple(lists["proven"]),
            waived=tuple(lists["waived"]),
            failing=tuple(lists["FAIL"]),
            unclear=tuple(lists["UNKNOWN"]),
            stale=tuple(lists["stale"]),
            unread=tuple(lists["unread"]),
            commit=commit,
            nodes_done=done,
            nodes=count,
            problem=problem,
            is_counted=bool(is_read or parts.get(name)),
        )


def _parts(db: Database) -> dict[str, list[tuple[str, str, str | None]]]:
    """Expected ids by spec, each with its current verdict and the tree it was given on."""
    sql = (
        "SELECT p.spec_name, p.id, coalesce(v.verdict, 'unread'), v.tree FROM plan_parts AS p "
        "LEFT JOIN verification_results AS v ON v.spec_name = p.spec_name AND v.requirement_id = p.id "
        "AND v.superseded_by IS NULL ORDER BY p.position"
    )
    found: dict[str, list[tuple[str, str, str | None]]] = {}
    for spec, part, word, tree in db.execute(sql):
        found.setdefault(spec, []).append((part, word, tree))
    return found


def _unplanned_parts(db: Database) -> dict[str, list[tuple[str, str, str | None]]]:
    """Expected ids of specs that were left out, as `_parts` has them of the planned ones."""
    found: dict[str, list[tuple[str, str, str | None]]] = {}
    for name, snapshot in db.execute("SELECT name, snapshot FROM plan_specs WHERE problem <> '' AND snapshot <> ''"):
        requirements = json.loads(snapshot)["requirements"]
        parts = [part for one in requirements for part in one["criteria"] + one["edge_cases"] or [one]]
        found[name] = [(part["id"], "unread", None) for part in parts]
    return found


def _nodes(db: Database) -> dict[str, tuple[int, int, frozenset[str]]]:
    """By spec: how many nodes are completed, how many there are, which statuses occur."""
    sql = (
        "SELECT spec_name, sum(status = 'completed'), count(*), group_concat(DISTINCT status) FROM plan_nodes "
        "WHERE status <> 'withdrawn' GROUP BY spec_name"
    )
    return {name: (done, count, frozenset(statuses.split(","))) for name, done, count, statuses in db.execute(sql)}


def _verifiers(db: Database) -> dict[str, _Verifier]:
    sql = (
        "SELECT spec_name, id, status, outcome, uid FROM plan_nodes "
        "WHERE archetype = 'verifier' AND status <> 'withdrawn'"
    )
    return {spec: _Verifier(*rest) for spec, *rest in db.execute(sql)}


def _standing(verifier: _Verifier | None, statuses: frozenset[str]) -> str:
    if verifier is None:
        return "without verifier"
    if verifier.status == "completed":
        return verifier.outcome or "completed"
    return next((status for status in ("blocked", "running") if status in statuses), "waiting")


def _sorted(
    db: Database,
    verifier: _Verifier | None,
    parts: Iterable[tuple[str, str, str | None]],
    tip_tree: str | None,
    *,
    is_proven: bool,
) -> dict[str, list[str]]:
    """The ids as proven, waived, FAIL, UNKNOWN, stale, unread."""
    waived = _waived(db, verifier.uid) if verifier and verifier.outcome == "waived" else frozenset()
    lists: dict[str, list[str]] = {kind: [] for kind in ("proven", "waived", "FAIL", "UNKNOWN", "stale", "unread")}
    for part, word, tree in parts:
        holds = "proven" if is_proven or (tip_tree is not None and tree == tip_tree) else "stale"
        lists["waived" if part in waived else holds if word == "PASS" else word].append(part)
    return lists


def _waived(db: Database, uid: str) -> frozenset[str]:
    sql = "SELECT facts FROM decisions WHERE node_uid = ? AND kind = 'Accept' ORDER BY id DESC LIMIT 1"
    row = db.execute(sql, [uid]).fetchone()
    return frozenset(json.loads(row[0]).get("waived", ())) if row else frozenset()


def _running(db: Database) -> Iterator[RunningSession]:
    sql = (
        "SELECT s.node_id, s.archetype, s.attempt, s.reading, l.started_at, l.folder FROM launches AS l "
        "JOIN sessions AS s ON s.id = l.session_id WHERE l.status = 'running' ORDER BY l.started_at, l.id"
    )
    rows = db.execute(sql).fetchall()
    return (
        RunningSession(node, archetype, attempt, reading, since, activity_in(Path(folder)))
        for node, archetype, attempt, reading, since, folder in rows
    )


def _blocked(db: Database) -> Iterator[BlockedNode]:
    """The roots, in plan order, with what waits for each."""
    sql = (
        "SELECT n.id, h.cause, h.reason, h.root_node FROM plan_nodes AS n JOIN blocking_history AS h ON h.id = "
        "(SELECT max(id) FROM blocking_history WHERE node_uid = n.uid) "
        "WHERE n.status = 'blocked' OR n.outcome = 'escalated' ORDER BY n.position"
    )
    rows = db.execute(sql).fetchall()
    waiting: dict[str, list[str]] = {}
    for node, _, _, root in rows:
        if root != node:
            waiting.setdefault(root, []).append(node)
    roots = [(node, cause, reason) for node, cause, reason, root in rows if root == node]
    return (BlockedNode(*root, tuple(waiting.get(root[0], ()))) for root in roots)


def read_issues(db: Database) -> Iterator[Issue]:
    """Every issue, oldest first."""
    sql = (
        "SELECT title, cause, state, number, url FROM issues ORDER BY CAST(number AS INTEGER), updated_at, fingerprint"
    )
    return (Issue(*row) for row in db.execute(sql))


def _undelivered(db: Database) -> Iterator[Undelivered]:
    sql = (
        "SELECT kind, coalesce(json_extract(payload, '$.title'), ''), state, note FROM outbox "
        "WHERE state NOT IN ('done', 'moot') ORDER BY decision_id, rowid"
    )
    return (Undelivered(*row) for row in db.execute(sql))


@dataclass(frozen=True, slots=True)
class SessionLog:
    """Where the log of a session is: `path` is empty until it has ended."""

    node: str
    attempt: int
    reading: int
    status: str
    path: str

    def document(self) -> dict[str, object]:
        return {"node": self.node, "attempt": self.attempt, "reading": self.reading, "status": self.status}


def read_session_logs(db: Database, node_id: str) -> Iterator[SessionLog]:
    """Sessions of the node with this name, now or when they were launched, oldest first."""
    sql = (
        "SELECT node_id, attempt, reading, status, log FROM sessions WHERE node_id = :id OR node_uid = "
        "(SELECT uid FROM plan_nodes WHERE id = :id AND status <> 'withdrawn') ORDER BY id"
    )
    return (SessionLog(*row) for row in db.execute(sql, {"id": node_id}))
