"""What was recorded about one node, as values for screens: its sessions, its verdicts, the decisions that moved it.

Read-only; nothing is decided and nothing is worded here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field, replace
from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict, JsonValue, TypeAdapter

from agent_fox.core.ids import Archetype, Ticket
from agent_fox.core.late import adapter, late_module
from agent_fox.core.retry.decision import ROWS, Cause
from agent_fox.core.values import dataclass
from agent_fox.store.values import NOT_TAKEN, TOLD_USD

if TYPE_CHECKING:
    from sqlite_utils import Database

    from agent_fox.core.retry import arms
    from agent_fox.core.retry.arms import Choice
    from agent_fox.core.retry.cut_off import CutOff
    from agent_fox.core.verdicts.verdict import Word
    from agent_fox.store import traces
else:
    arms = late_module("agent_fox.core.retry.arms")
    traces = late_module("agent_fox.store.traces")


def row_of(archetype: Archetype, kind: str, cause: str | None = None) -> int | None:
    """The number of a decision's row in `docs/decision-table.md`; None for what is not about a verifier's report."""
    if archetype is not Archetype.VERIFIER:
        return None
    if kind == "Block":
        return Cause(cause).row if cause else None
    return ROWS.get(kind)


class InWords(BaseModel, defer_build=True):
    """What a decision says of the best tree, or of candidates, in a sentence."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    told: str = ""


class Facts(BaseModel, defer_build=True):
    """As much as screens need of what a decision was made from."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    failing: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()
    waived: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    progress: str = ""
    blamed: tuple[str, ...] = ()
    failure: str = ""
    ceiling: str | None = None
    findings: tuple[tuple[str, str, str | None], ...] = ()
    best: InWords = InWords()
    candidates: InWords = InWords()
    arms: dict[str, JsonValue] = {}


class StepTaken(BaseModel, defer_build=True):
    """What a decision did to one node."""

    uid: str
    step: str
    rung: int | None = None


@dataclass(frozen=True, slots=True)
class Ruling:
    """One recorded decision. `about` is the node whose session's end it answers; `blamed` and `moved` are node ids.

    `best` says where the branch stands, where the last attempt was worse than an earlier one; `candidates` what an
    attempt of several tries was chosen from, or why it has one. `arms` holds by node what was chosen by its worth, with
    all that was weighed.
    """

    id: int
    at: str
    about: str
    kind: str
    row: int | None
    cause: str | None
    attempt: int
    reading: int
    session_id: int | None
    commit: str | None
    failing: tuple[str, ...]
    unknown: tuple[str, ...]
    blamed: tuple[str, ...]
    progress: str
    step: str
    note: str
    best: str = ""
    moved: tuple[str, ...] = ()
    candidates: str = ""
    arms: Mapping[str, Choice] = field(default_factory=dict)

    @property
    def chosen(self) -> tuple[str, ...]:
        """Who has the next attempt and why, where that was chosen by its worth."""
        several = len(self.arms) > 1
        return tuple(f"{node}: {arm.in_words}" if several else arm.in_words for node, arm in self.arms.items())

    @property
    def reasons(self) -> tuple[str, ...]:
        """Where the branch stands, who has the next attempt, and what the last was chosen from."""
        return (*filter(None, (self.best,)), *self.chosen, *filter(None, (self.candidates,)))


@dataclass(frozen=True, slots=True)
class VerdictRow:
    """One verdict of a session. `was` is the verdict before it, empty where there was none."""

    requirement: str
    word: str
    was: str
    evidence: str
    note: str


@dataclass(frozen=True, slots=True)
class Agent:
    """Who worked in a session, as it told itself; `forbidden` is what it tried and must not. Empty: not told."""

    backend: str = ""
    model: str = ""
    version: str = ""
    cost_source: str = ""
    turns: int = 0
    forbidden: tuple[str, ...] = ()


_AGENTS = adapter(lambda: TypeAdapter(tuple[Agent, ...]))


@dataclass(frozen=True, slots=True)
class PastSession:
    """One session of a node, with what it said about each requirement."""

    id: int
    attempt: int
    reading: int
    status: str
    end: str
    reason: str
    rung: int
    pinned: str | None
    landed: str | None
    cost_usd: float | None
    seconds: float | None
    summary: str
    log: str
    started_at: str
    agents: tuple[Agent, ...] = ()
    lost: tuple[str, ...] = ()
    """Why launches of it were lost, oldest first: they were repeated, and charged to nobody."""
    verdicts: tuple[VerdictRow, ...] = ()
    cut_offs: tuple[CutOff, ...] = ()
    """What launches of it that were cut off had done."""

    def ids(self, word: Word) -> tuple[str, ...]:
        return tuple(row.requirement for row in self.verdicts if row.word == word)

    @property
    def changed(self) -> tuple[VerdictRow, ...]:
        """The verdicts that differ from what was known before."""
        return tuple(row for row in self.verdicts if row.was and row.was != row.word)


_RULINGS = (
    "SELECT d.id, d.at, d.node_id, d.kind, d.cause, d.attempt, d.reading, d.session_id, d.commit_id, d.steps, "
    "d.facts, d.note, n.archetype, d.node_uid FROM decisions AS d JOIN plan_nodes AS n ON n.uid = d.node_uid"
)


def rulings_about(db: Database, uid: str) -> list[Ruling]:
    """Every decision that moved the node, blamed it or was made about it, oldest first."""
    sql = (
        f"{_RULINGS} WHERE d.node_uid = :uid "
        "OR EXISTS (SELECT 1 FROM json_each(d.steps) WHERE json_extract(value, '$.uid') = :uid) "
        "OR EXISTS (SELECT 1 FROM json_each(d.facts, '$.blamed') WHERE value = :uid) ORDER BY d.id"
    )
    return [_ruling(db, uid, row[:-1]) for row in db.execute(sql, {"uid": uid}).fetchall()]


def rulings(db: Database) -> list[Ruling]:
    """Every recorded decision, as seen from the node that it is about, oldest first."""
    names = dict(db.execute("SELECT uid, id FROM plan_nodes").fetchall())
    rows = db.execute(f"{_RULINGS} ORDER BY d.id").fetchall()
    return [_ruling(db, str(row[-1]), row[:-1], names) for row in rows]


def ruling(db: Database, number: int) -> Ruling:
    """One recorded decision, as seen from the node that it is about. Raises KeyError."""
    row = db.execute(f"{_RULINGS} WHERE d.id = ?", [number]).fetchone()
    if row is None:
        raise KeyError(number)
    return _ruling(db, str(row[-1]), row[:-1])


def _ruling(db: Database, uid: str, row: tuple[object, ...], names: Mapping[str, str] | None = None) -> Ruling:
    """`names` of all nodes by their uids, where many are read."""
    number, at, about, kind, cause, attempt, reading, session, commit, steps, facts, note, archetype = row
    known = Facts.model_validate_json(str(facts))
    chosen = _CHOICES.validate_python(known.arms) if known.arms else {}
    choices = {name: chosen[uid] for uid in chosen for name in names_of(db, [uid], names)}
    taken = _steps(str(steps))
    step = next((each.step for each in taken if each.uid == uid), "")
    text = str(note) or known.failure or "; ".join(known.notes) or "; ".join(f[1] for f in known.findings)
    return Ruling(
        int(str(number)), str(at), str(about), str(kind),
        row_of(Archetype(str(archetype)), str(kind), None if cause is None else str(cause)),
        None if cause is None else str(cause), int(str(attempt)), int(str(reading)),
        None if session is None else int(str(session)), None if commit is None else str(commit),
        known.failing, known.unknown, tuple(names_of(db, known.blamed, names)), known.progress, step, text,
        known.best.told, tuple(names_of(db, (each.uid for each in taken), names)), known.candidates.told, choices,
    )  # fmt: skip


_CHOICES = adapter(lambda: TypeAdapter(dict[str, arms.Choice]))


class _Steps(BaseModel, defer_build=True):
    steps: tuple[StepTaken, ...]


def _steps(text: str) -> tuple[StepTaken, ...]:
    return _Steps.model_validate_json(f'{{"steps":{text}}}').steps


def names_of(db: Database, uids: Iterable[str], names: Mapping[str, str] | None = None) -> list[str]:
    """Present names of nodes by their uids, in the order given."""
    if names is not None:
        return [names[uid] for uid in uids if uid in names]
    rows = (db.execute("SELECT id FROM plan_nodes WHERE uid = ?", [uid]).fetchone() for uid in uids)
    return [str(row[0]) for row in rows if row is not None]


def sessions_of(db: Database, uid: str) -> list[PastSession]:
    """Every session of the node, oldest first."""
    verdicts, lost, cut_offs = _verdicts(db, uid), _lost(db, uid), _cut_offs(db, uid)
    sql = (
        f"SELECT id, attempt, reading, status, end_kind, reason, rung, pinned_commit, landed_commit, {TOLD_USD}, "
        "seconds, summary, log, started_at, agents FROM sessions WHERE node_uid = ? ORDER BY id"
    )
    return [
        replace(
            PastSession(*row[:-1]),
            agents=_AGENTS.validate_json(row[-1]),
            lost=tuple(lost.get(row[0], ())),
            verdicts=tuple(verdicts.get(row[0], ())),
            cut_offs=tuple(cut_off for cut_off in cut_offs if cut_off.session == row[0]),
        )
        for row in db.execute(sql, [uid])
    ]


def _cut_offs(db: Database, uid: str) -> list[CutOff]:
    """Of a node's sessions. Most plans have none, and then the module that reads them is not loaded."""
    has_any = db.execute("SELECT EXISTS (SELECT 1 FROM events WHERE kind = 'cut off')").fetchone()[0]
    return traces.cut_offs_of(db, uid) if has_any else []


def _lost(db: Database, uid: str) -> dict[int, list[str]]:
    sql = (
        "SELECT l.session_id, l.status, l.reason FROM launches AS l JOIN sessions AS s ON s.id = l.session_id "
        "WHERE s.node_uid = ? AND l.status IN ('infrastructure', 'lost', 'interrupted') ORDER BY l.session_id, l.number"
    )
    reasons: dict[int, list[str]] = {}
    for session, status, reason in db.execute(sql, [uid]):
        if not str(reason).startswith(NOT_TAKEN):
            reasons.setdefault(session, []).append(str(reason or status))
    return reasons


def _verdicts(db: Database, uid: str) -> dict[int, list[VerdictRow]]:
    sql = (
        "SELECT v.session_id, v.requirement_id, v.verdict, coalesce((SELECT p.verdict FROM verification_results AS p "
        "WHERE p.spec_name = v.spec_name AND p.requirement_id = v.requirement_id AND p.id < v.id "
        "ORDER BY p.id DESC LIMIT 1), ''), v.evidence, v.note FROM verification_results AS v "
        "WHERE v.node_uid = ? AND v.session_id IS NOT NULL AND v.restores IS NULL ORDER BY v.id"
    )
    verdicts: dict[int, list[VerdictRow]] = {}
    for session, *rest in db.execute(sql, [uid]):
        verdicts.setdefault(session, []).append(VerdictRow(*rest))
    return verdicts


def is_awaited(db: Database, ticket: Ticket) -> bool:
    """Whether the session of a ticket has not ended yet, or was never made."""
    sql = "SELECT status FROM sessions WHERE node_uid = ? AND attempt = ? AND reading = ?"
    row = db.execute(sql, [ticket.node_uid, ticket.attempt, ticket.reading]).fetchone()
    return row is None or row[0] not in ("completed", "failed")


@dataclass(frozen=True, slots=True)
class OpenPart:
    """One requirement that is not proven: its text, and what the current verdict says of it. `disposition`: why it
    failed, or does not count. `attempt`: of the reading that said so, 0 for none. `last_read`: what the last reading
    said, where that was UNKNOWN and so did not take the FAIL away.
    """

    requirement: str
    word: str
    text: str
    evidence: str
    command: str
    disposition: str = ""
    attempt: int = 0
    last_read: LastRead | None = None


@dataclass(frozen=True, slots=True)
class LastRead:
    """A reading without a clear word that came after a FAIL: the FAIL stands, and this is what was seen last."""

    requirement: str
    attempt: int
    disposition: str
    evidence: str


def unclear_after_fail(db: Database, spec_name: str) -> dict[str, LastRead]:
    """By requirement whose FAIL stands: the last reading after it, which said UNKNOWN."""
    sql = (
        "SELECT l.requirement_id, coalesce(l.attempt, 0), coalesce(l.disposition, ''), l.evidence "
        "FROM verification_results AS f JOIN verification_results AS l ON l.superseded_by = f.id AND l.id > f.id "
        "WHERE f.spec_name = ? AND f.superseded_by IS NULL AND f.verdict = 'FAIL' ORDER BY l.id"
    )
    return {row[0]: LastRead(*row) for row in db.execute(sql, [spec_name])}


def open_parts(db: Database, spec_name: str) -> list[OpenPart]:
    """What of a spec has no PASS as its current verdict, in the order of the files."""
    sql = (
        "SELECT p.id, coalesce(v.verdict, 'UNKNOWN'), p.text, coalesce(v.evidence, ''), coalesce(v.command, ''), "
        "coalesce(v.disposition, ''), coalesce(v.attempt, 0) "
        "FROM plan_parts AS p LEFT JOIN verification_results AS v ON v.spec_name = p.spec_name "
        "AND v.requirement_id = p.id AND v.superseded_by IS NULL "
        "WHERE p.spec_name = ? AND v.verdict IS NOT 'PASS' ORDER BY p.position"
    )
    later = unclear_after_fail(db, spec_name)
    return [replace(OpenPart(*row), last_read=later.get(row[0])) for row in db.execute(sql, [spec_name])]


@dataclass(frozen=True, slots=True)
class Held:
    """Why a node is blocked: the last row of its blocking history. `root` is the node that holds it."""

    cause: str
    reason: str
    root: str
    at: str


def held(db: Database, uid: str) -> Held | None:
    """None for a node that was never held back."""
    sql = "SELECT cause, reason, root_node, at FROM blocking_history WHERE node_uid = ? ORDER BY id DESC LIMIT 1"
    row = db.execute(sql, [uid]).fetchone()
    return Held(*map(str, row)) if row else None


def awaited_by(db: Database, uid: str) -> list[tuple[str, str]]:
    """The nodes that this one still waits for: id and status. Escalated verifiers behind a gate are among them."""
    sql = (
        "SELECT n.id, n.status FROM plan_edges AS e JOIN plan_nodes AS n ON n.uid = e.source WHERE e.target = :uid "
        "AND (n.status NOT IN ('completed', 'withdrawn') OR (e.kind = 'gate' AND n.outcome = 'escalated')) "
        "UNION SELECT n.id, n.status FROM retry_edges AS r JOIN plan_nodes AS n ON n.uid = r.source "
        "WHERE r.target = :uid AND n.status <> 'completed' ORDER BY 1"
    )
    return [(str(name), str(status)) for name, status in db.execute(sql, {"uid": uid})]


def open_issue_of(db: Database, spec_name: str) -> str | None:
    """Where the newest open issue about a spec is; None where there is none."""
    sql = (
        "SELECT coalesce(nullif(i.url, ''), i.title) FROM issues AS i JOIN issue_members AS m USING (fingerprint) "
        "WHERE i.state = 'open' AND m.is_open = 1 AND m.spec_name = ? ORDER BY i.updated_at DESC LIMIT 1"
    )
    row = db.execute(sql, [spec_name]).fetchone()
    return str(row[0]) if row else None


def current_records(db: Database, spec_name: str) -> dict[str, tuple[str, str, str, str, str, str | None]]:
    """By requirement: the verdict that holds, its record, the commit it is about, the session, the time, and as JSON
    what was tried to see its tests fail.
    """
    sql = (
        "SELECT v.requirement_id, v.verdict, coalesce(l.record_id, ''), coalesce(v.commit_id, ''), "
        "coalesce(s.node_id || '@' || s.attempt || '.' || s.reading, ''), v.at, "
        "json_extract(l.content, '$.body.trials') FROM verification_results AS v "
        "LEFT JOIN ledger AS l ON l.identity = 'verdict:' || v.id LEFT JOIN sessions AS s ON s.id = v.session_id "
        "WHERE v.spec_name = ? AND v.superseded_by IS NULL"
    )
    return {part: (word, *facts) for part, word, *facts in db.execute(sql, [spec_name])}
