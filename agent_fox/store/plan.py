"""The plan in the state file: specs, parts, nodes, edges. Saved and loaded in bulk; a node moved by one statement."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from agent_fox.core.graph import EdgeKind, Node
from agent_fox.core.ids import Archetype, Mode
from agent_fox.core.late import adapter, late_module
from agent_fox.core.retry.standing import Outcome, Standing, Status
from agent_fox.core.spec import Spec
from agent_fox.core.values import dataclass
from agent_fox.store.values import insert_many, storable

if TYPE_CHECKING:
    import pydantic
    from sqlite_utils import Database
else:
    pydantic = late_module("pydantic")

_SPEC = adapter(lambda: pydantic.TypeAdapter(Spec))
LAST = 1_000_000
"""The place of a spec that could never be read: after all others."""


@dataclass(frozen=True, slots=True)
class PlannedNode:
    """A node of the plan with where it stands."""

    node: Node
    standing: Standing
    position: int


@dataclass(frozen=True, slots=True)
class StoredEdge:
    """An edge of the plan between node uids: the target waits for the source."""

    source: str
    target: str
    kind: EdgeKind


@dataclass(frozen=True, slots=True)
class StoredPart:
    """One expected id of a spec, with the version of its text."""

    spec_name: str
    id: str
    requirement_id: str
    text: str
    version: str


NODE_COLUMNS = (
    "uid, id, spec_name, group_number, archetype, mode, title, is_ticked, is_optional, retry_predecessor, "
    "status, outcome, attempt, reading, attempt_base, reading_base, rung, position"
)


def node_of(row: Sequence[Any]) -> PlannedNode:
    (uid, name, spec, group, archetype, mode, title, is_ticked, is_optional, retry_predecessor,
     status, outcome, *counts, position) = row  # fmt: skip
    node = Node(
        uid, name, spec, group, Archetype(archetype), Mode(mode) if mode else None, title,
        bool(is_ticked), bool(is_optional), bool(retry_predecessor),
    )  # fmt: skip
    standing = Standing(uid, Status(status), Outcome(outcome) if outcome else None, *counts)
    return PlannedNode(node, standing, position)


def has_nodes(db: Database) -> bool:
    return bool(db.execute("SELECT EXISTS (SELECT 1 FROM plan_nodes)").fetchone()[0])


def _nodes(db: Database, which: str, *values: object) -> list[PlannedNode]:
    return [node_of(row) for row in db.execute(f"SELECT {NODE_COLUMNS} FROM plan_nodes {which}", values)]


def load_nodes(db: Database) -> list[PlannedNode]:
    """Every node in plan order, withdrawn ones too."""
    return _nodes(db, "ORDER BY position, uid")


def nodes_of_spec(db: Database, spec_name: str) -> list[PlannedNode]:
    """The nodes of one spec that are in the plan, in plan order."""
    return _nodes(db, "WHERE spec_name = ? AND status <> 'withdrawn' ORDER BY position", spec_name)


def nodes_of_begun_specs(db: Database) -> list[PlannedNode]:
    """The nodes in the plan of specs of which one is no longer pending, in plan order."""
    begun = "SELECT spec_name FROM plan_nodes WHERE status NOT IN ('pending', 'withdrawn')"
    return _nodes(db, f"WHERE status <> 'withdrawn' AND spec_name IN ({begun}) ORDER BY position, uid")


def nodes_that_ended(db: Database, archetype: Archetype, outcome: Outcome) -> list[PlannedNode]:
    """The completed nodes of an archetype that came to this outcome, in plan order."""
    which = "WHERE archetype = ? AND status = 'completed' AND outcome = ? ORDER BY position, uid"
    return _nodes(db, which, archetype, outcome)


def node_by_uid(db: Database, uid: str) -> PlannedNode:
    """Raises KeyError where there is no such node."""
    if (planned := next(iter(_nodes(db, "WHERE uid = ?", uid)), None)) is None:
        raise KeyError(uid)
    return planned


def node_by_id(db: Database, node_id: str) -> PlannedNode | None:
    return next(iter(_nodes(db, "WHERE id = ? AND status <> 'withdrawn'", node_id)), None)


def move_node(db: Database, standing: Standing, decision_id: int | None) -> None:
    """Write where a node stands now; the schema refuses what the table of transitions does not allow."""
    db.execute(
        "UPDATE plan_nodes SET status = ?, outcome = ?, attempt = ?, reading = ?, attempt_base = ?, "
        "reading_base = ?, rung = ?, decision_id = coalesce(?, decision_id) WHERE uid = ?",
        [
            standing.status, standing.outcome, standing.attempt, standing.reading, standing.attempt_base,
            standing.reading_base, standing.rung, decision_id, standing.uid,
        ],
    )  # fmt: skip


def insert_nodes(db: Database, nodes: Iterable[PlannedNode]) -> None:
    """Put new nodes into the plan; the schema takes them as pending or ticked only."""
    insert_many(db, "plan_nodes", NODE_COLUMNS, map(_row, nodes))


def _row(planned: PlannedNode) -> tuple[object, ...]:
    node, at = planned.node, planned.standing
    return (
        node.uid, node.id, node.spec_name, node.group, node.archetype, node.mode, node.title, node.is_ticked,
        node.is_optional, node.retry_predecessor, at.status, at.outcome, at.attempt, at.reading,
        at.attempt_base, at.reading_base, at.rung, planned.position,
    )  # fmt: skip


DESCRIBED = "id, title, position, group_number, is_ticked, is_optional, retry_predecessor"
DESCRIBE = ":id, :title, :position, :group, :is_ticked, :is_optional, :retry_predecessor"


def describe_nodes(db: Database, nodes: Iterable[tuple[int, Node]]) -> None:
    """Refresh what may change about a node without changing where it stands: name, place, title, marks.

    Takes each node with its place in the plan. What stays as it is is not written again.
    """
    rows = [
        {
            "uid": n.uid, "id": n.id, "title": storable(n.title), "position": position, "group": n.group,
            "is_ticked": n.is_ticked, "is_optional": n.is_optional, "retry_predecessor": n.retry_predecessor,
        }
        for position, n in nodes
    ]  # fmt: skip
    # Names may be exchanged between nodes (the verifier's becomes a coder's): give way first, then take them.
    db.conn.executemany("UPDATE plan_nodes SET id = '~' || uid WHERE uid = :uid AND id <> :id", rows)
    db.conn.executemany(
        f"UPDATE plan_nodes SET ({DESCRIBED}) = ({DESCRIBE}) WHERE uid = :uid AND ({DESCRIBED}) IS NOT ({DESCRIBE})",
        rows,
    )


def replace_edges(db: Database, edges: Iterable[StoredEdge]) -> None:
    db.execute("DELETE FROM plan_edges")
    db.conn.executemany(
        "INSERT OR IGNORE INTO plan_edges (source, target, kind) VALUES (?, ?, ?)",
        [(edge.source, edge.target, edge.kind) for edge in edges],
    )


def load_edges(db: Database) -> list[StoredEdge]:
    rows = db.execute("SELECT source, target, kind FROM plan_edges")
    return [StoredEdge(source, target, EdgeKind(kind)) for source, target, kind in rows]


def load_retry_edges(db: Database) -> list[tuple[str, str]]:
    """Edges of rounds that are still open: the target waits until the source's retry has ended."""
    return [(source, target) for source, target in db.execute("SELECT source, target FROM retry_edges")]


def edges_into(db: Database, uid: str) -> list[tuple[PlannedNode, EdgeKind | None]]:
    """The nodes of the plan that a node waits for, or waited for, with the kind of the edge: None for one of a retry's
    round, which is there only as long as it holds. In plan order; the cost is in proportion to these edges.
    """
    columns = ", ".join(f"n.{name}" for name in NODE_COLUMNS.split(", "))
    sql = (
        f"SELECT {columns}, e.kind FROM (SELECT source, kind FROM plan_edges WHERE target = :uid UNION ALL "
        "SELECT source, NULL FROM retry_edges WHERE target = :uid) AS e "
        "JOIN plan_nodes AS n ON n.uid = e.source AND n.status <> 'withdrawn' ORDER BY n.position"
    )
    return [(node_of(row), EdgeKind(kind) if kind else None) for *row, kind in db.execute(sql, {"uid": uid})]


def running_nodes(db: Database) -> list[PlannedNode]:
    """The nodes that have a session under way, in plan order."""
    return _nodes(db, "WHERE status = 'running' ORDER BY position")


def add_retry_edges(db: Database, edges: Iterable[tuple[str, str]], decision_id: int) -> None:
    db.conn.executemany(
        "INSERT OR IGNORE INTO retry_edges (source, target, decision_id) VALUES (?, ?, ?)",
        [(source, target, decision_id) for source, target in edges],
    )


def drop_retry_edges(db: Database, source: str) -> None:
    """The source has ended its round: what waited for it need not any more."""
    db.execute("DELETE FROM retry_edges WHERE source = ?", [source])


def save_specs(
    db: Database, specs: Iterable[Spec], broken: Mapping[str, str], left_out: Iterable[Spec] = (),
    unplanned: Iterable[Spec] = (), places: Mapping[str, str] | None = None,
) -> None:  # fmt: skip
    """Keep the text that counts: a snapshot of each spec; specs that are gone stay, marked as withdrawn.

    `broken` maps the name of a spec that is left out to the reason, `places` to where it lies; `left_out` are those of
    them that could be read. Such a spec keeps the snapshot it had, except that one never planned takes what was read
    now. `unplanned` are read and not planned: they are kept as those that are gone, for their ids.
    """
    read = {spec.name: _SPEC.dump_json(spec).decode() for spec in left_out}
    lies = places or {}
    _keep_snapshots(db, unplanned)
    db.execute("UPDATE plan_specs SET is_withdrawn = 1")
    _keep_snapshots(db, specs)
    db.conn.executemany(
        "INSERT INTO plan_specs (name, position, dialect, path, snapshot, problem) VALUES (?, ?, '', ?, ?, ?) "
        "ON CONFLICT (name) DO UPDATE SET problem = excluded.problem, is_withdrawn = 0, "
        "path = iif(excluded.path = '', path, excluded.path), snapshot = CASE WHEN "
        "excluded.snapshot = '' OR EXISTS (SELECT 1 FROM plan_nodes WHERE spec_name = name) THEN snapshot "
        "ELSE excluded.snapshot END",
        [(name, LAST, lies.get(name, ""), read.get(name, ""), storable(what)) for name, what in broken.items()],
    )


def _keep_snapshots(db: Database, specs: Iterable[Spec]) -> None:
    db.conn.executemany(
        "INSERT INTO plan_specs (name, position, dialect, path, title, snapshot) VALUES (?, ?, ?, ?, ?, ?) "
        "ON CONFLICT (name) DO UPDATE SET position = excluded.position, dialect = excluded.dialect, "
        "path = excluded.path, title = excluded.title, snapshot = excluded.snapshot, "
        "is_withdrawn = 0, problem = ''",
        [
            (spec.name, position, spec.dialect, spec.path, spec.title, _SPEC.dump_json(spec).decode())
            for position, spec in enumerate(specs)
        ],
    )


def load_spec(db: Database, name: str) -> Spec:
    """The snapshot of a spec. Raises KeyError where there is none."""
    row = db.execute("SELECT snapshot FROM plan_specs WHERE name = ? AND snapshot <> ''", [name]).fetchone()
    if row is None:
        raise KeyError(name)
    return _SPEC.validate_json(row[0])


def planned_snapshot(db: Database, name: str) -> Spec | None:
    """The last reading of a spec that has, or had, nodes."""
    has_nodes = db.execute("SELECT EXISTS (SELECT 1 FROM plan_nodes WHERE spec_name = ?)", [name]).fetchone()
    row = db.execute("SELECT snapshot FROM plan_specs WHERE name = ? AND snapshot <> ''", [name]).fetchone()
    return _SPEC.validate_json(row[0]) if has_nodes[0] and row else None


_EVER = {
    "waivers": "SELECT substr(address, length(:spec) + 2), '' FROM waivers "
    "WHERE spec_name = :spec AND kind = 'requirement'",
    "verification_results": "SELECT DISTINCT requirement_id, '' FROM verification_results WHERE spec_name = :spec",
    "ledger": "SELECT key, value FROM ledger, json_each(content, '$.body.parts') "
    "WHERE spec_name = :spec AND kind = 'specification' AND status = 'planned' ORDER BY position",
    "plan_parts": "SELECT id, version FROM plan_parts WHERE spec_name = :spec",
}


def texts_ever(db: Database, spec_name: str) -> dict[str, str]:
    """Every id that a part of the spec ever had, by the plans in the ledger, by verdicts and by waivers, with the
    version of the text that it had last; empty where no plan tells it.

    A file of an older format lacks some of the tables.
    """
    there = {name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    texts: dict[str, str] = {}
    for table, sql in _EVER.items():
        texts.update(db.execute(sql, {"spec": spec_name}) if table in there else ())
    return texts


def ids_ever(db: Database) -> dict[str, frozenset[str]]:
    """For each spec of the state, gone or not, every id that it has or had; none where it could never be read."""
    sql = (
        "WITH gone (name, read) AS (SELECT name, snapshot FROM plan_specs WHERE is_withdrawn = 1 AND snapshot <> '') "
        "SELECT name, '' FROM plan_specs UNION SELECT spec_name, id FROM plan_parts "
        "UNION SELECT spec_name, requirement_id FROM plan_parts UNION SELECT spec_name, key "
        "FROM ledger, json_each(content, '$.body.parts') WHERE kind = 'specification' AND status = 'planned' "
        "UNION SELECT name, json_extract(one.value, '$.id') FROM gone, json_each(read, '$.requirements') AS one "
        "UNION SELECT name, json_extract(part.value, '$.id') FROM gone, json_each(read, '$.requirements') AS one, "
        "json_each(json_array(json_extract(one.value, '$.criteria'), json_extract(one.value, '$.edge_cases'))) "
        "AS both, json_each(both.value) AS part"
    )
    ids_of: dict[str, set[str]] = {}
    for name, id in db.execute(sql):
        ids_of.setdefault(name, set()).update([id] if id else [])
    return {name: frozenset(ids) for name, ids in ids_of.items()}


def spec_paths(db: Database) -> tuple[str, ...]:
    """Where the specs of the plan lie, relative to the repository's root."""
    rows = db.execute("SELECT path FROM plan_specs WHERE path <> '' AND is_withdrawn = 0 ORDER BY position, name")
    return tuple(path for (path,) in rows)


def document_paths(db: Database) -> tuple[str, ...]:
    """The files that the specs of the plan were read from, relative to the repository's root."""
    sql = (
        "SELECT DISTINCT value FROM plan_specs, json_each(iif(snapshot = '', '{}', snapshot), '$.documents') "
        "WHERE is_withdrawn = 0"
    )
    return tuple(path for (path,) in db.execute(sql))


def save_parts(db: Database, parts: Iterable[StoredPart]) -> None:
    db.execute("DELETE FROM plan_parts")
    rows = ((p.spec_name, p.id, p.requirement_id, at, p.text, p.version) for at, p in enumerate(parts))
    insert_many(db, "plan_parts", "spec_name, id, requirement_id, position, text, version", rows)


def load_parts(db: Database, spec_name: str | None = None) -> list[StoredPart]:
    """The expected ids of one spec, or of all, in the order of the files."""
    where, values = (" WHERE spec_name = ?", [spec_name]) if spec_name else ("", [])
    sql = f"SELECT spec_name, id, requirement_id, text, version FROM plan_parts{where} ORDER BY position"
    return [StoredPart(*row) for row in db.execute(sql, values)]


def set_verified(db: Database, name: str, commit: str | None) -> None:
    """The commit that the verdict on a spec is about."""
    db.execute("UPDATE plan_specs SET verified_commit = ? WHERE name = ?", [commit, name])


def verified_commit(db: Database, name: str) -> str | None:
    row = db.execute("SELECT verified_commit FROM plan_specs WHERE name = ?", [name]).fetchone()
    return str(row[0]) if row and row[0] else None


def spec_names(db: Database) -> tuple[str, ...]:
    """The specs that are in the plan, in its order."""
    sql = "SELECT name FROM plan_specs WHERE is_withdrawn = 0 ORDER BY position, name"
    return tuple(str(row[0]) for row in db.execute(sql))


def nothing_runs(db: Database) -> None:
    """What was under way waits again: its run is over. For a copy of the state."""
    db.execute("UPDATE plan_nodes SET status = 'pending' WHERE status = 'running'")


def sources_of(db: Database, uid: str) -> list[tuple[str, str]]:
    """The uid of each node that a node waits for, or waited for, with the kind of the edge; `retry` for a round's."""
    sql = (
        "SELECT source, kind FROM plan_edges WHERE target = :uid "
        "UNION ALL SELECT source, 'retry' FROM retry_edges WHERE target = :uid"
    )
    return db.execute(sql, {"uid": uid}).fetchall()


def targets_of(db: Database, uid: str) -> list[str]:
    """The uid of each node that waits for a node, or waited."""
    sql = (
        "SELECT target FROM plan_edges WHERE source = :uid UNION ALL SELECT target FROM retry_edges WHERE source = :uid"
    )
    return [str(target) for (target,) in db.execute(sql, {"uid": uid})]


def path_of_spec(db: Database, name: str) -> str:
    """Where a spec lies, relative to the repository's root; empty where nobody knows."""
    row = db.execute("SELECT path FROM plan_specs WHERE name = ?", [name]).fetchone()
    return str(row[0]) if row else ""


def is_escalated(db: Database, name: str) -> bool:
    """Whether a verifier of a spec waits for a person: then nothing of it counts as proven."""
    sql = "SELECT 1 FROM plan_nodes WHERE spec_name = ? AND archetype = 'verifier' AND outcome = 'escalated'"
    return db.execute(sql, [name]).fetchone() is not None
