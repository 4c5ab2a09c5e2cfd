"""From rows of the state file to records of the ledger: what stands in a table stands in the chain too.

Called by whoever wrote the row, in the same transaction; a row is read back as it stands. Nothing is judged here.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from agent_fox.core.ids import digest_of
from agent_fox.core.ledger.evidence import (
    Artifact,
    Evidence,
    Feedback,
    Json,
    Kind,
    Outcome,
    ReviewerDecision,
    RunContext,
    SpecRef,
)
from agent_fox.core.ledger.gates import Gate
from agent_fox.core.spec import Spec, text_version
from agent_fox.core.verdicts.verdict import Word
from agent_fox.store.ledger import ledger

if TYPE_CHECKING:
    from sqlite_utils import Database

LONGEST_TEXT = 4000
"""Characters of a text that a record quotes; the hash of the whole stands beside it."""

Row = dict[str, Any]


def quoted(text: str) -> str:
    """As much of a text as a record holds."""
    return text if len(text) <= LONGEST_TEXT else f"{text[:LONGEST_TEXT]}… ({len(text)} characters)"


def digest(text: str) -> str:
    """SHA-256 of a text in hex; empty for an empty one."""
    return digest_of(text) if text else ""


def log_name(path: str | None) -> str:
    """A session's log by its name: in which folder of this machine it lies is nobody's business."""
    return (path or "").rpartition("/")[2]


def address(spec_name: str, part: str) -> str:
    """The address of a requirement in the specification library."""
    return f"{spec_name}/{part}"


def record_decision(db: Database, number: int) -> None:
    """The decision with this number."""
    sql = (
        "SELECT d.*, n.archetype, n.mode, s.environment, s.verifier FROM decisions AS d "
        "LEFT JOIN plan_nodes AS n ON n.uid = d.node_uid LEFT JOIN sessions AS s ON s.id = d.session_id WHERE d.id = ?"
    )
    _append(db, _rows(db, sql, number), _decision)


def record_verdicts(db: Database, first: int, beside: Mapping[int, Mapping[str, Json]] = MappingProxyType({})) -> None:
    """Every verdict from the row with this number on. `beside`: by row, what the record alone holds: `trials`, what was
    tried to see its tests fail, `ran`, the tests, and `rests_on`, what of the tree a PASS rests on."""
    sql = (
        "SELECT v.*, s.run_id, s.environment, s.verifier, s.node_id, s.log FROM verification_results AS v "
        "LEFT JOIN sessions AS s ON s.id = v.session_id WHERE v.id >= ? ORDER BY v.id"
    )
    _append(db, [{**row, **beside.get(row["id"], {})} for row in _rows(db, sql, first)], _verdict)


def record_session(db: Database, number: int, at: str) -> None:
    """The end of a session, and where its work landed when that was settled anew."""
    rows = [{**row, "at": at} for row in _rows(db, "SELECT * FROM sessions WHERE id = ?", number)]
    _append(db, rows, _session)


def record_gates(db: Database, first: int) -> None:
    """Every change of a gate from the row with this number on."""
    sql = (
        "SELECT g.*, d.run_id, d.session_id, s.environment, s.verifier FROM gate_history AS g "
        "LEFT JOIN decisions AS d ON d.id = g.decision_id LEFT JOIN sessions AS s ON s.id = d.session_id "
        "WHERE g.id >= ? ORDER BY g.id"
    )
    _append(db, _rows(db, sql, first), _gate)


def record_plan(db: Database, at: str, specs: Iterable[Spec]) -> None:
    """The requirements of each spec with the versions of their texts, where they are others than were recorded last."""
    tip = ledger.tip_of(db).position
    records = [_plan(spec, at, tip) for spec in specs]
    known = dict(db.execute(LAST_PLANS).fetchall())
    for record in records:
        if known.get(record.about.address) != record.about.version:
            ledger.append(db, [record], record.about.address)


LAST_PLANS = (
    "SELECT address, version FROM ledger WHERE kind = 'specification' AND status = 'planned' AND position IN "
    "(SELECT max(position) FROM ledger WHERE kind = 'specification' AND status = 'planned' GROUP BY address)"
)


def _plan(spec: Spec, at: str, tip: int) -> Evidence:
    parts = {part.id: text_version(part.text) for part in spec.parts}
    version = text_version(json.dumps(parts, sort_keys=True))
    body: dict[str, Json] = {"spec": spec.name, "added_by": "spec", "parts": dict(parts.items())}
    about = SpecRef("spec", spec.name, version)
    return Evidence(Kind.SPECIFICATION, f"plan:{spec.name}:{version}:{tip}", at, Outcome("planned"), about, body=body)


def record_fresh(
    db: Database, at: str, spec_name: str, run: int | None, read: Artifact, now: Artifact, body: Row
) -> None:
    """The verdicts of a spec, read on one tree, count for a later one; once for each pair of trees."""
    identity = f"fresh:{spec_name}:{read.tree}:{now.tree}"
    if not db.execute("SELECT 1 FROM ledger WHERE identity = ?", [identity]).fetchone():
        facts: dict[str, Json] = {"read_commit": read.commit, "read_tree": read.tree, **body}
        about, context = SpecRef("spec", spec_name), RunContext(run=run)
        record = Evidence(Kind.FRESH, identity, at, Outcome("fresh"), about, context, now, body=facts)
        ledger.append(db, [record], spec_name)


def record_block(db: Database, number: int) -> None:
    """A row of the blocking history."""
    _append(db, _rows(db, "SELECT * FROM blocking_history WHERE id = ?", number), _block)


def record_run(db: Database, number: int, at: str, status: str, body: dict[str, Json]) -> None:
    """A run begins, goes on, or ends."""
    identity = f"run:{number}:{status}:{ledger.tip_of(db).position + 1}"
    about, context = SpecRef("run", str(number)), RunContext(run=number)
    ledger.append(db, [Evidence(Kind.RUN, identity, at, Outcome(status), about, context, body=body)])


def _rows(db: Database, sql: str, value: object) -> list[Row]:
    cursor = db.execute(sql, [value])
    names = [column[0] for column in cursor.description]
    return [dict(zip(names, row, strict=True)) for row in cursor]


def _append(db: Database, rows: Sequence[Row], record: Callable[[Row], Evidence]) -> None:
    for spec_name, own in _by_spec(rows):
        ledger.append(db, [record(row) for row in own], spec_name)


def _by_spec(rows: Sequence[Row]) -> Iterator[tuple[str, list[Row]]]:
    """Rows in their order, cut wherever another spec begins."""
    own: list[Row] = []
    for row in rows:
        if own and row["spec_name"] != own[-1]["spec_name"]:
            yield own[-1]["spec_name"], own
            own = []
        own.append(row)
    if own:
        yield own[-1]["spec_name"], own


def _ticket(row: Row) -> str:
    return f"{row['node_id']}@{row['attempt']}.{row['reading']}" if row["node_id"] else ""


def _decision(row: Row) -> Evidence:
    number = row["id"]
    return Evidence(
        Kind.DECISION, f"decision:{number}", row["at"], Outcome(row["kind"]), SpecRef("node", row["node_id"]),
        RunContext(
            environment=row["environment"] or "", verifier=row["verifier"] or "", ticket=_ticket(row),
            run=row["run_id"], session=row["session_id"], decision=number,
        ),
        Artifact(commit=row["commit_id"] or ""),
        body={
            "uid": row["node_uid"], "archetype": row["archetype"], "mode": row["mode"], "cause": row["cause"],
            "note": quoted(row["note"]), "steps": json.loads(row["steps"]),
            "facts_sha256": digest(row["facts"]),
        },
    )  # fmt: skip


def _block(row: Row) -> Evidence:
    return Evidence(
        Kind.BLOCK, f"block:{row['id']}", row["at"], Outcome("blocked"), SpecRef("node", row["node_id"]),
        RunContext(run=row["run_id"], decision=row["decision_id"]),
        body={
            "archetype": row["archetype"], "cause": row["cause"], "reason": quoted(row["reason"]),
            "root": row["root_node"], "requirements": json.loads(row["requirements"]),
        },
    )  # fmt: skip


def _verdict(row: Row) -> Evidence:
    context = RunContext(
        row["command"] or "", row["environment"] or "", row["verifier"] or "", _ticket(row), row["run_id"],
        row["session_id"], row["decision_id"],
    )  # fmt: skip
    return Evidence(
        Kind.VERDICT, f"verdict:{row['id']}", row["at"],
        Outcome(row["verdict"], counterexample=row["first_error"] or "", log_ref=log_name(row["log"])),
        SpecRef("requirement", address(row["spec_name"], row["requirement_id"]), row["text_version"]), context,
        Artifact(row["tree"] or "", row["commit_id"] or ""),
        _feedback(row),
        body={
            "read_as": row["read_as"], "said": row["said"], "note": quoted(row["note"]),
            "evidence": quoted(row["evidence"]), "evidence_sha256": digest(row["evidence"]),
            "failing_tests": row["failing_tests"], "disposition": row["disposition"],
            **({} if row["restores"] is None else {"restores": row["restores"]}),
            **({"expectation": json.loads(row["expectation"])} if row["expectation"] else {}),
            **({"how": row["how"]} if row["how"] else {}),
            **{name: row[name] for name in ("trials", "ran", "rests_on") if row.get(name)},
        },
    )  # fmt: skip


def _feedback(row: Row) -> Feedback:
    """What a verdict that is no PASS told those who work on: the evidence, with the session's log around it."""
    if row["verdict"] == Word.PASS or not row["evidence"]:
        return Feedback()
    return Feedback("verdict", f"sha256:{digest(row['evidence'])}", log_name(row["log"]), _ticket(row))


def _session(row: Row) -> Evidence:
    landed = row["landed_commit"]
    identity = f"session:{row['id']}:{row['status']}" + (f":{landed}" if landed else "")
    return Evidence(
        Kind.SESSION, identity, row["at"],
        Outcome(
            row["end_kind"] or row["status"], diff_ref=f"{row['base_commit']}..{landed}" if landed else "",
            log_ref=log_name(row["log"]),
        ),
        SpecRef("node", row["node_id"]),
        RunContext(
            environment=row["environment"], verifier=row["verifier"], ticket=_ticket(row), run=row["run_id"],
            session=row["id"],
        ),
        Artifact(row["tree"] or "", row["pinned_commit"] or ""),
        body={
            "archetype": row["archetype"], "mode": row["mode"], "backend": row["backend"], "rung": row["rung"],
            "agents": json.loads(row["agents"]), "exit_status": row["exit_status"], "cost_usd": row["cost_usd"],
            "seconds": row["seconds"], "base": row["base_commit"], "landed": landed, "reason": quoted(row["reason"]),
            "summary": quoted(row["summary"]),
        },
    )  # fmt: skip


DECISIONS = {
    Gate.REVIEWED: ReviewerDecision.ACCEPTED,
    Gate.PROVED: ReviewerDecision.ACCEPTED,
    Gate.ACCEPTED: ReviewerDecision.ACCEPTED,
    Gate.REJECTED: ReviewerDecision.REJECTED,
    Gate.WAIVED: ReviewerDecision.WAIVED,
}
UNPROVEN = "accepted by a person without evidence"


def _gate(row: Row) -> Evidence:
    finish = Gate(row["finish"])
    return Evidence(
        Kind.GATE, f"gate:{row['id']}", row["at"], Outcome(finish),
        SpecRef("requirement", address(row["spec_name"], row["requirement_id"]), row["version"]),
        RunContext(
            environment=row["environment"] or "", verifier=row["verifier"] or "", run=row["run_id"],
            session=row["session_id"], decision=row["decision_id"],
        ),
        Artifact(row["tree"], row["commit_id"]),
        reviewer_decision=DECISIONS.get(finish, ReviewerDecision.PENDING),
        limitation=UNPROVEN if finish is Gate.WAIVED else "",
        body={
            "spec": row["spec_name"], "requirement": row["requirement_id"], "version": row["version"],
            "start": row["start"], "finish": row["finish"], "role": row["role"], "waiver": row["waiver_id"],
            "reason": quoted(row["reason"]),
        },
    )  # fmt: skip
