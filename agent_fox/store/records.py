"""What happened: decisions, verdicts, blocks, events. Written inside the caller's transaction."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Any, NamedTuple, TypedDict

from agent_fox.core.ids import Ticket
from agent_fox.core.values import Json, dataclass, to_object
from agent_fox.core.verdicts.expectations import Expectation
from agent_fox.core.verdicts.judgement import Counted, PastReading
from agent_fox.core.verdicts.known import How
from agent_fox.core.verdicts.verdict import Unproven, Word
from agent_fox.store.ledger import evidence
from agent_fox.store.values import insert as insert
from agent_fox.store.values import insert_many, to_json

if TYPE_CHECKING:
    from sqlite_utils import Database

    from agent_fox.store.sessions import SessionRow


class StepRow(TypedDict):
    """One node moved by a decision, as kept in `decisions.steps`."""

    uid: str
    step: str
    rung: int | None


@dataclass(frozen=True, slots=True)
class DecisionRow:
    """A recorded decision. `facts` is what it was made from (limits, spent budgets, failures, progress)."""

    id: int
    at: str
    run_id: int | None
    node_uid: str
    node_id: str
    kind: str
    cause: str | None
    ticket: Ticket
    session_id: int | None
    commit: str | None
    steps: tuple[StepRow, ...]
    facts: Mapping[str, object]
    note: str


@dataclass(frozen=True, slots=True)
class NewDecision:
    """A decision about to be recorded."""

    node_uid: str
    node_id: str
    spec_name: str
    kind: str
    ticket: Ticket
    steps: tuple[StepRow, ...]
    cause: str | None = None
    session_id: int | None = None
    commit: str | None = None
    facts: Mapping[str, object] = field(default_factory=dict)
    note: str = ""


def record_decision(db: Database, at: str, run_id: int | None, new: NewDecision) -> int:
    """Write a decision to its table and to the ledger. Gives its number."""
    number = insert(
        db,
        "decisions",
        {
            "at": at, "run_id": run_id, "node_uid": new.node_uid, "node_id": new.node_id,
            "spec_name": new.spec_name, "kind": new.kind, "cause": new.cause, "attempt": new.ticket.attempt,
            "reading": new.ticket.reading, "session_id": new.session_id, "commit_id": new.commit,
            "steps": to_json(new.steps), "facts": to_json(new.facts), "note": new.note,
        },
    )  # fmt: skip
    evidence.record_decision(db, number)
    return number


DECISION_COLUMNS = (
    "id, at, run_id, node_uid, node_id, kind, cause, attempt, reading, session_id, commit_id, steps, facts, note"
)


def decisions_of_spec(db: Database, spec_name: str) -> list[DecisionRow]:
    """Every decision about a node of the spec, oldest first."""
    sql = f"SELECT {DECISION_COLUMNS} FROM decisions WHERE spec_name = ? ORDER BY id"
    return [_decision(row) for row in db.execute(sql, [spec_name])]


def specs_sent_back(db: Database) -> list[str]:
    """The specs of which a coder was ever sent back, by name."""
    sql = "SELECT DISTINCT spec_name FROM decisions WHERE kind = 'Recode' ORDER BY 1"
    return [str(name) for (name,) in db.execute(sql).fetchall()]


def last_sending_back(db: Database, spec_name: str, uid: str) -> DecisionRow | None:
    """The last decision that gave a coder its work anew; tries that failed since then are of the same work."""
    sent = {"recode", "send back", "reset", "restore"}
    for decision in reversed(decisions_of_spec(db, spec_name)):
        if decision.kind != "Retry" and any(step["uid"] == uid and step["step"] in sent for step in decision.steps):
            return decision
    return None


def _decision(row: tuple[Any, ...]) -> DecisionRow:
    number, at, run, uid, name, kind, cause, attempt, reading, session, commit, steps, facts, note = row
    return DecisionRow(
        number, at, run, uid, name, kind, cause, Ticket(uid, attempt, reading), session, commit,
        tuple(json.loads(steps)), json.loads(facts), note,
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class VerdictOrigin:
    """Where verdict rows come from: one session's reading of one commit."""

    spec_name: str
    node_uid: str
    session_id: int | None
    decision_id: int
    ticket: Ticket
    commit: str | None
    tree: str | None
    at: str


def current_verdicts(db: Database, spec_name: str) -> dict[str, tuple[int, Word]]:
    """The current row of each requirement: id of the row and its verdict."""
    sql = "SELECT requirement_id, id, verdict FROM verification_results WHERE spec_name = ? AND superseded_by IS NULL"
    return {part: (row, Word(word)) for part, row, word in db.execute(sql, [spec_name])}


def next_verdict_id(db: Database) -> int:
    row = db.execute("SELECT coalesce(max(id), 0) + 1 FROM verification_results").fetchone()
    return int(row[0])


def store_verdicts(
    db: Database, origin: VerdictOrigin, counted: Mapping[str, Counted], versions: Mapping[str, str]
) -> None:
    """Keep what a report said. A newer PASS or FAIL supersedes; UNKNOWN supersedes PASS and UNKNOWN, never a FAIL.

    What the report passed over in silence is stored only where nothing was read before on this tree. Which tests
    ran, what was tried to see them fail, and what a PASS rests on, stands in the records alone.
    """
    current = current_verdicts(db, origin.spec_name)
    number = first = next_verdict_id(db)
    rows: list[tuple[object, ...]] = []
    beside: dict[int, dict[str, Json]] = {}
    for part, verdict in counted.items():
        if verdict.is_silent and verdict.word is not Word.UNKNOWN:
            continue
        old = current.get(part)
        keeps_fail = old is not None and old[1] is Word.FAIL and verdict.word is Word.UNKNOWN
        superseded_by = old[0] if old is not None and keeps_fail else None
        if old is not None and not keeps_fail:
            insert_many(db, "verification_results", VERDICT_COLUMNS, rows)
            rows = []
            supersede(db, old[0], number)
        rows.append((number, superseded_by, *verdict_row(origin, verdict, versions.get(part, ""))))
        beside[number] = to_object(verdict.verdict, only=("trials", "ran", "rests_on"))
        number += 1
    insert_many(db, "verification_results", VERDICT_COLUMNS, rows)
    evidence.record_verdicts(db, first, beside)


def rests_on(db: Database, spec_name: str) -> list[tuple[str, str, Json]]:
    """Each requirement that has a current verdict: its word, and what its record says it rests on."""
    sql = (
        "SELECT v.requirement_id, v.verdict, json_extract(l.content, '$.body.rests_on') FROM verification_results AS v "
        "LEFT JOIN ledger AS l ON l.identity = 'verdict:' || v.id "
        "WHERE v.spec_name = ? AND v.superseded_by IS NULL ORDER BY v.requirement_id"
    )
    rows = db.execute(sql, [spec_name]).fetchall()
    return [(part, word, json.loads(scope) if scope else None) for part, word, scope in rows]


def tests_that_ran(db: Database, spec_name: str) -> list[Json]:
    """Of each requirement whose current verdict is PASS the tests that it rests on, as its record has them: a list of
    objects with `line` and `file`, or None.
    """
    sql = (
        "SELECT json_extract(l.content, '$.body.ran') FROM verification_results AS v "
        "LEFT JOIN ledger AS l ON l.identity = 'verdict:' || v.id "
        "WHERE v.spec_name = ? AND v.superseded_by IS NULL AND v.verdict = 'PASS' ORDER BY v.requirement_id"
    )
    return [json.loads(ran) if ran else None for (ran,) in db.execute(sql, [spec_name]).fetchall()]


@dataclass(frozen=True, slots=True)
class ScopeCheck:
    """A reading, drawn by chance, of a spec that nothing had touched. `decision`: what came of it; None: not yet.

    `differed`: it came out otherwise than what was proven.
    """

    spec_name: str
    reopened: int
    decision: int | None
    differed: bool


def scope_checks(db: Database) -> list[ScopeCheck]:
    sql = (
        "SELECT o.spec_name, o.id, (SELECT min(d.id) FROM decisions AS d WHERE d.node_uid = o.node_uid AND d.id > o.id "
        "AND d.kind IN ('Accept', 'Recode', 'Block')) AS then_id FROM decisions AS o "
        "WHERE o.kind = 'Reopen' AND json_extract(o.facts, '$.untouched') ORDER BY o.id"
    )
    kinds = "SELECT kind FROM decisions WHERE id = ?"
    return [
        ScopeCheck(name, number, then, then is not None and db.execute(kinds, [then]).fetchone()[0] != "Accept")
        for name, number, then in db.execute(sql).fetchall()
    ]


def session_record(db: Database, session: int) -> str:
    """The id of the last record of a session's end; empty where the ledger has none."""
    sql = "SELECT record_id FROM ledger WHERE session_id = ? AND kind = 'session' ORDER BY position DESC LIMIT 1"
    row = db.execute(sql, [session]).fetchone()
    return str(row[0]) if row else ""


class JudgedRow(NamedTuple):
    """One verdict of a reading. `record`: its id in the ledger; `is_waived`: a person has waived the requirement."""

    requirement: str
    word: str
    disposition: str
    how: str
    note: str
    record: str
    is_waived: bool


def judged_after(db: Database, session: SessionRow) -> list[JudgedRow]:
    """The verdicts of the first reading of a spec after a coder's session, before its node worked again."""
    reading = (
        "SELECT min(v.session_id) FROM verification_results AS v WHERE v.spec_name = :spec AND v.session_id > :id "
        "AND v.session_id < coalesce((SELECT min(id) FROM sessions WHERE node_uid = :uid AND id > :id), 9e18)"
    )
    sql = (
        "SELECT v.requirement_id, v.verdict, coalesce(v.disposition, ''), coalesce(v.how, ''), v.note, "
        "coalesce(l.record_id, ''), coalesce(g.state, '') = 'waived' FROM verification_results AS v "
        "LEFT JOIN ledger AS l ON l.identity = 'verdict:' || v.id "
        "LEFT JOIN gates AS g ON g.spec_name = v.spec_name AND g.requirement_id = v.requirement_id "
        f"WHERE v.session_id = ({reading}) ORDER BY v.id"
    )
    values = {"spec": session.spec_name, "id": session.id, "uid": session.ticket.node_uid}
    return [JudgedRow._make((*row[:-1], bool(row[-1]))) for row in db.execute(sql, values).fetchall()]


VERDICT_COLUMNS = (
    "id, superseded_by, spec_name, requirement_id, verdict, read_as, said, evidence, note, command, first_error, "
    "failing_tests, disposition, expectation, text_version, node_uid, session_id, decision_id, attempt, reading, "
    "commit_id, tree, at, how"
)


def verdict_row(origin: VerdictOrigin, counted: Counted, version: str) -> tuple[object, ...]:
    """What is stored of a verdict, in the order of the columns after the first two."""
    verdict = counted.verdict
    signal = verdict.signal
    command, first_error = (signal.command, signal.first_error) if signal else (verdict.command or None, None)
    is_told = counted.word is Word.FAIL or (counted.word is Word.UNKNOWN and isinstance(verdict.disposition, Unproven))
    disposition = verdict.disposition if is_told else None
    expectation = to_json(verdict.expectation) if verdict.expectation else None
    return (
        origin.spec_name, verdict.requirement_id, counted.word, counted.read, verdict.said, verdict.evidence,
        verdict.note, command, first_error, verdict.failing_tests, disposition, expectation, version, origin.node_uid,
        origin.session_id, origin.decision_id, origin.ticket.attempt, origin.ticket.reading, origin.commit,
        origin.tree, origin.at, (verdict.how or How.JUDGED) if counted.word is Word.PASS else None,
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class ReadExpectation:
    """What was last read of a requirement's committed test that fails: its version of the requirement, and where."""

    requirement: str
    version: str
    word: Word
    commit: str
    expectation: Expectation


def read_expectations(db: Database, spec_name: str) -> list[ReadExpectation]:
    """Of each requirement, the expectation in the last verdict about it, if that verdict has one."""
    sql = (
        "SELECT requirement_id, text_version, verdict, coalesce(commit_id, ''), expectation FROM verification_results "
        "WHERE id IN (SELECT max(id) FROM verification_results WHERE spec_name = ? AND session_id IS NOT NULL "
        "GROUP BY requirement_id) AND expectation IS NOT NULL ORDER BY id"
    )
    rows = db.execute(sql, [spec_name])
    return [
        ReadExpectation(part, version, Word(word), on, _expectation(text)) for part, version, word, on, text in rows
    ]


def _expectation(text: str) -> Expectation:
    fields = json.loads(text)
    return Expectation(**{**fields, "files": tuple(fields["files"])})


def supersede_by_change(
    db: Database, spec_name: str, changed: Mapping[str, str], *, is_removed: bool, decision_id: int, at: str
) -> None:
    """The text of requirements changed, or they went (`changed`: id to version of the text).

    Their verdicts, FAILs too, give way to a record of that; the record of one that went is not current either.
    """
    current, first = current_verdicts(db, spec_name), next_verdict_id(db)
    note = "the requirement was removed" if is_removed else "the requirement's text changed"
    for number, part in enumerate((part for part in changed if part in current), first):
        supersede(db, current[part][0], number)
        record = {
            "id": number, "spec_name": spec_name, "requirement_id": part, "verdict": Word.UNKNOWN,
            "read_as": Word.UNKNOWN, "note": note, "text_version": changed[part], "decision_id": decision_id,
            "at": at, "superseded_by": number if is_removed else None,
        }  # fmt: skip
        insert(db, "verification_results", record)
    evidence.record_verdicts(db, first)


def supersede(db: Database, old: int, new: int) -> None:
    """The current row gives way to the row `new`, which must be written next."""
    db.execute("UPDATE verification_results SET superseded_by = ? WHERE id = ?", [new, old])


def past_readings(
    db: Database, spec_name: str, tree: str | None, versions: Mapping[str, str]
) -> dict[str, tuple[PastReading, ...]]:
    """What was read before on this tree, per requirement in its present version, oldest first."""
    readings: dict[str, tuple[PastReading, ...]] = {}
    sql = (
        "SELECT requirement_id, read_as, attempt, reading, text_version FROM verification_results "
        "WHERE spec_name = ? AND tree = ? AND session_id IS NOT NULL AND restores IS NULL ORDER BY id"
    )
    for part, word, attempt, reading, version in db.execute(sql, [spec_name, tree]):
        if versions.get(part) == version:
            readings[part] = (*readings.get(part, ()), PastReading(Word(word), attempt, reading))
    return readings


def last_passes(db: Database, spec_name: str, parts: Sequence[str]) -> dict[str, int]:
    """The decision under which each requirement last counted as PASS, on a tree that the branch did not leave."""
    marks = ", ".join("?" * len(parts))
    sql = (
        "SELECT requirement_id, max(decision_id) FROM verification_results AS v "
        f"WHERE spec_name = ? AND verdict = 'PASS' AND requirement_id IN ({marks}) AND NOT EXISTS "
        "(SELECT 1 FROM verification_results AS r WHERE r.id = v.superseded_by AND r.restores IS NOT NULL) "
        "GROUP BY requirement_id"
    )
    return {part: decision for part, decision in db.execute(sql, [spec_name, *parts]) if decision is not None}


def failing_after(db: Database, spec_name: str, session_id: int) -> list[str]:
    """The ids that failed in the first report on the spec after a session."""
    sql = (
        "SELECT requirement_id FROM verification_results WHERE verdict = 'FAIL' AND session_id = ("
        "SELECT min(session_id) FROM verification_results WHERE spec_name = ? AND session_id > ?) "
        "AND restores IS NULL ORDER BY id"
    )
    return [str(row[0]) for row in db.execute(sql, [spec_name, session_id])]


def record_block(
    db: Database, at: str, run_id: int | None, decision_id: int, node: Mapping[str, str], cause: str, reason: str,
    root_node: str, requirements: Sequence[str] = (),
) -> None:  # fmt: skip
    """One row of the blocking history. `node` has `archetype`, `node_id`, `node_uid`, `spec_name`."""
    row = {"at": at, "run_id": run_id, "decision_id": decision_id, **node, "cause": cause, "reason": reason}
    whole = {**row, "root_node": root_node, "requirements": to_json(list(requirements))}
    evidence.record_block(db, insert(db, "blocking_history", whole))


def record_event(
    db: Database, at: str, run_id: int | None, kind: str, *, node_id: str | None = None,
    spec_name: str | None = None, data: Mapping[str, object] | None = None,
) -> None:  # fmt: skip
    row = {"at": at, "run_id": run_id, "kind": kind, "node_id": node_id, "spec_name": spec_name}
    insert(db, "events", {**row, "data": to_json(data or {})})


def last_block(db: Database, uid: str) -> tuple[str, str] | None:
    """Cause and root of the last row of a node's blocking history."""
    sql = "SELECT cause, root_node FROM blocking_history WHERE node_uid = ? ORDER BY id DESC LIMIT 1"
    row = db.execute(sql, [uid]).fetchone()
    return (str(row[0]), str(row[1])) if row else None


def candidates_wanted(db: Database, uid: str) -> int:
    """How many tries the attempt that a coder awaits is to have, by the decision that sent it back."""
    sql = (
        "SELECT coalesce(json_extract(facts, '$.tries'), 1) FROM decisions WHERE kind = 'Recode' "
        "AND id = (SELECT decision_id FROM plan_nodes WHERE uid = ?)"
    )
    row = db.execute(sql, [uid]).fetchone()
    return int(row[0]) if row else 1


def last_conflict(db: Database, ticket: Ticket) -> str | None:
    """What the last decision about the attempt before this one says of a conflict (JSON), if it was to try again."""
    sql = (
        "SELECT kind, json_extract(facts, '$.conflict') FROM decisions WHERE node_uid = ? AND attempt = ? "
        "ORDER BY id DESC LIMIT 1"
    )
    kind, conflict = db.execute(sql, [ticket.node_uid, ticket.attempt - 1]).fetchone() or (None, None)
    return str(conflict) if kind == "Retry" and conflict else None


def conflicts_kept(db: Database) -> list[tuple[str, str, bool]]:
    """The reference and the commit of each work that conflicted, and whether its next session is still to come."""
    sql = (
        "SELECT json_extract(d.facts, '$.conflict.ref'), json_extract(d.facts, '$.conflict.work'), "
        "d.kind = 'Retry' AND n.status IN ('pending', 'running') AND n.attempt = d.attempt + 1 "
        "FROM decisions AS d JOIN plan_nodes AS n ON n.uid = d.node_uid "
        "WHERE d.kind IN ('Retry', 'Block') AND json_extract(d.facts, '$.conflict') IS NOT NULL"
    )
    return [(str(ref), str(work), bool(is_wanted)) for ref, work, is_wanted in db.execute(sql).fetchall()]


def last_facts(db: Database, uid: str, kind: str, cause: str | None = None) -> str | None:
    """The facts (JSON) of the last decision of a kind about a node, with that cause if one is named."""
    sql = (
        "SELECT facts FROM decisions WHERE node_uid = ? AND kind = ? AND (?3 IS NULL OR cause = ?3) "
        "ORDER BY id DESC LIMIT 1"
    )
    row = db.execute(sql, [uid, kind, cause]).fetchone()
    return str(row[0]) if row else None


def last_decisions(db: Database, run_id: int | None, leaving_out: Sequence[str]) -> list[tuple[str, int]]:
    """Each spec that a run decided about, with the last decision that is not of the kinds left out, in their order."""
    marks = ", ".join("?" * len(leaving_out))
    sql = f"SELECT spec_name, max(id) FROM decisions WHERE run_id = ? AND kind NOT IN ({marks}) GROUP BY spec_name"
    return [(str(spec), int(last)) for spec, last in db.execute(f"{sql} ORDER BY 2", [run_id, *leaving_out]).fetchall()]


@dataclass(frozen=True, slots=True)
class CurrentVerdict:
    """The current verdict on one requirement as it was given."""

    word: Word
    version: str
    tree: str | None
    evidence: str
    command: str
    session: int | None


def verdicts_now(db: Database, spec_name: str) -> dict[str, CurrentVerdict]:
    """By requirement, as far as there is one."""
    sql = (
        "SELECT requirement_id, verdict, text_version, tree, evidence, coalesce(command, ''), session_id "
        "FROM verification_results WHERE spec_name = ? AND superseded_by IS NULL"
    )
    return {part: CurrentVerdict(Word(word), *rest) for part, word, *rest in db.execute(sql, [spec_name])}


def once_failed(db: Database, spec_name: str) -> list[tuple[str, str]]:
    """Each FAIL that a requirement of the plan had in its present version, with its record, oldest first."""
    sql = (
        "SELECT p.id, l.record_id FROM plan_parts AS p JOIN ledger AS l ON l.address = p.spec_name || '/' || p.id "
        "AND l.version = p.version WHERE p.spec_name = ? AND l.kind = 'verdict' AND l.status = 'FAIL' "
        "ORDER BY l.position"
    )
    return db.execute(sql, [spec_name]).fetchall()


def mean_cost(db: Database, archetype: str) -> tuple[float, int]:
    """The mean of what completed sessions cost that told it, and how many they are."""
    sql = (
        "SELECT coalesce(avg(cost_usd), 0), count(cost_usd) FROM sessions WHERE archetype = ? AND status = 'completed'"
    )
    mean, count = db.execute(sql, [archetype]).fetchone()
    return float(mean), int(count)


def begun_at(db: Database, run_id: int | None) -> str:
    """When a run began; empty where there is none of that number."""
    row = db.execute("SELECT started_at FROM runs WHERE id = ?", [run_id]).fetchone()
    return str(row[0]) if row else ""


def has_started(db: Database, uid: str) -> bool:
    """Whether any session of a node was ever made."""
    return db.execute("SELECT 1 FROM sessions WHERE node_uid = ? LIMIT 1", [uid]).fetchone() is not None
