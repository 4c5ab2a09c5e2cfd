"""What is remembered of coders' sessions beside their rows, written once with their ends: what was cut off, the traces,
where tests that fail began to, and candidates.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from agent_fox.core.ids import digest_of
from agent_fox.core.late import adapter, late_module
from agent_fox.core.retry.cut_off import CutOff
from agent_fox.core.retry.replay import Finding
from agent_fox.core.trace import Node
from agent_fox.core.values import Json, dataclass, to_object
from agent_fox.store.records import record_event
from agent_fox.store.values import insert

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pydantic
    from sqlite_utils import Database

    from agent_fox.core.ids import Ticket
    from agent_fox.core.retry import candidates
    from agent_fox.core.retry.candidates import Candidate, Contest
    from agent_fox.core.trace import Trace
    from agent_fox.store.sessions import SessionRow
else:
    candidates = late_module("agent_fox.core.retry.candidates")
    pydantic = late_module("pydantic")


@dataclass(frozen=True, slots=True)
class TraceRow:
    """A session's trace as it is kept. `document` is empty where its text is not what was recorded."""

    session: int
    digest: str
    counts: Mapping[str, int]
    commit: str
    ref: str
    until: str
    document: Mapping[str, object]

    @property
    def nodes(self) -> tuple[Node, ...]:
        return _NODES.validate_python(self.document.get("nodes", []))

    @property
    def left_out(self) -> Mapping[str, int]:
        """What is not among the nodes, by its reason, counted."""
        return _COUNTS.validate_python(self.document.get("left_out", {}))


def record_trace(db: Database, at: str, session: int, trace: Trace, ref: str = "", until: str = "") -> None:
    """In the open transaction, with the end of the session. `ref` keeps its states until the day `until`."""
    text = json.dumps(trace.document(), sort_keys=True, separators=(",", ":"))
    row = {"session_id": session, "digest": digest_of(text), "counts": json.dumps(trace.counts)}
    kept = {"commit_id": trace.commit, "ref": ref, "until": until}
    insert(db, "traces", {**row, **kept, "at": at, "document": text})


_NODES = adapter(lambda: pydantic.TypeAdapter(tuple[Node, ...]))
_COUNTS = adapter(lambda: pydantic.TypeAdapter(dict[str, int]))
_FINDING = adapter(lambda: pydantic.TypeAdapter(Finding))

COLUMNS = "session_id, digest, counts, commit_id, ref, until, document"


def trace_of(db: Database, session: int) -> TraceRow | None:
    """None where nothing was recorded of the session, or before traces were kept."""
    row = db.execute(f"SELECT {COLUMNS} FROM traces WHERE session_id = ?", [session]).fetchone()
    if row is None:
        return None
    number, digest, counts, commit, ref, until, text = row
    document = json.loads(text) if digest_of(text) == digest else {}
    return TraceRow(number, digest, json.loads(counts), commit, ref, until, document)


def refs_kept(db: Database) -> dict[str, str]:
    """Reference → the day until which it is kept."""
    return dict(db.execute("SELECT ref, until FROM traces WHERE ref <> '' ORDER BY session_id").fetchall())


def record_onsets(db: Database, at: str, session: int, spec_name: str, findings: list[Finding]) -> None:
    """In the open transaction, with the verdicts of the reading `session`."""
    for finding in findings:
        row = {"session_id": session, "spec_name": spec_name, "requirement_id": finding.requirement}
        place = {"coder_session": finding.session, "step": finding.step}
        more = {"test": finding.test, "word": finding.onset, "finding": json.dumps(to_object(finding)), "at": at}
        insert(db, "onsets", {**row, **place, **more})


def findings_of(db: Database, session: int) -> list[Finding]:
    """What a reading found of when its failing tests began to fail, in their order."""
    rows = db.execute("SELECT finding FROM onsets WHERE session_id = ? ORDER BY id", [session])
    return [_FINDING.validate_json(text) for (text,) in rows]


def onsets_in(db: Database, coder_session: int) -> list[Finding]:
    """What readings found in a coder's session, newest first."""
    rows = db.execute("SELECT finding FROM onsets WHERE coder_session = ? ORDER BY id DESC", [coder_session])
    return [_FINDING.validate_json(text) for (text,) in rows]


def verdicts_recorded(db: Database, session: int) -> list[tuple[str, str, str]]:
    """The requirement, the word and the record's id of each verdict of a reading, in their order."""
    sql = (
        "SELECT v.requirement_id, v.verdict, l.record_id FROM verification_results AS v "
        "LEFT JOIN ledger AS l ON l.identity = 'verdict:' || v.id WHERE v.session_id = ? ORDER BY v.id"
    )
    return [(part, word, record or "") for part, word, record in db.execute(sql, [session])]


REPLAY_FROM = "replay from"


@dataclass(frozen=True, slots=True)
class ReplayFrom:
    """A person's choice of where the next session of the node `uid` starts: after a step of an earlier session. `after`
    is the newest session that the node had by then; only the one that follows it starts there.
    """

    uid: str
    session: int
    step: int
    tree: str
    after: int


_REPLAY_FROM = adapter(lambda: pydantic.TypeAdapter(ReplayFrom))


def record_replay_from(db: Database, at: str, session: SessionRow, choice: ReplayFrom) -> None:
    """In the open transaction."""
    data = to_object(choice)
    record_event(db, at, None, REPLAY_FROM, node_id=session.node_id, spec_name=session.spec_name, data=data)


def replay_from(db: Database, node_uid: str, session: int) -> ReplayFrom | None:
    """What a person chose for this session; None where nothing was chosen since the one before it."""
    sql = "SELECT data FROM events WHERE kind = ? AND json_extract(data, '$.uid') = ? ORDER BY id DESC LIMIT 1"
    row = db.execute(sql, [REPLAY_FROM, node_uid]).fetchone()
    choice = _REPLAY_FROM.validate_json(row[0]) if row else None
    if choice is None:
        return None
    sql = "SELECT min(id) FROM sessions WHERE node_uid = ? AND id > ?"
    return choice if db.execute(sql, [node_uid, choice.after]).fetchone()[0] == session else None


CUT_OFF = "cut off"

_READ = adapter(lambda: pydantic.TypeAdapter(CutOff))


def record_cut_off(db: Database, at: str, session: SessionRow, cut_off: CutOff | None) -> None:
    """In the open transaction, with what else is recorded of the session's end; nothing where it was not cut off."""
    if cut_off is not None:
        data = {"uid": session.ticket.node_uid, **to_object(cut_off)}
        record_event(db, at, session.run_id, CUT_OFF, node_id=session.node_id, spec_name=session.spec_name, data=data)


def cut_offs_of(db: Database, node_uid: str, candidate: tuple[int, int] = (0, 0)) -> list[CutOff]:
    """Of every session of a node that was cut off, oldest first. `candidate` (a session, and the event of its last
    candidate): without what was cut off in that session before it, which belongs to another try.
    """
    sql = (
        "SELECT data FROM events WHERE kind = ? AND json_extract(data, '$.uid') = ? "
        "AND (id > ? OR json_extract(data, '$.session') <> ?) ORDER BY id"
    )
    session, event = candidate
    return [_READ.validate_json(data) for (data,) in db.execute(sql, [CUT_OFF, node_uid, event, session])]


def last_cut_off(db: Database, session_id: int, ticket: Ticket) -> CutOff | None:
    """The newest work that was cut off before a session of the same node, or in an earlier launch of it.

    None where a session ended by itself since: what came of its work is known then.
    """
    sql = "SELECT coalesce(max(id), 0) FROM sessions WHERE node_uid = ? AND id < ? AND end_kind = 'ended'"
    since = db.execute(sql, [ticket.node_uid, session_id]).fetchone()[0]
    known = reversed(cut_offs_of(db, ticket.node_uid, last_candidate(db, session_id)))
    since_start = (cut_off for cut_off in known if since < cut_off.session <= session_id)
    return next((cut_off for cut_off in since_start if cut_off.commit or cut_off.left_out), None)


def refs_of_cut_offs(db: Database) -> dict[str, str]:
    """Reference → the day until which it is kept, as recorded last."""
    sql = "SELECT json_extract(data, '$.ref'), json_extract(data, '$.until') FROM events WHERE kind = ? ORDER BY id"
    return {ref: until for ref, until in db.execute(sql, [CUT_OFF]) if ref}


CANDIDATE, READ_CANDIDATE = "candidate", "candidate read"

_CANDIDATE = adapter(lambda: pydantic.TypeAdapter(candidates.Candidate))


def record_candidate(
    db: Database, at: str, session: SessionRow, candidate: Candidate, end: Mapping[str, object] | None = None
) -> None:
    """In the open transaction: with its `end`, that the try ended; without one, that it was read."""
    data = {"uid": session.ticket.node_uid, "session": session.id, "candidate": to_object(candidate), "end": end}
    kind = READ_CANDIDATE if end is None else CANDIDATE
    record_event(db, at, session.run_id, kind, node_id=session.node_id, spec_name=session.spec_name, data=data)


def contest_of(db: Database, session_id: int, wanted: int) -> Contest:
    """The candidates of a session so far."""
    made, read = (candidates_of(db, session_id, kind) for kind in (CANDIDATE, READ_CANDIDATE))
    return candidates.Contest(wanted, candidates.made_from(made, {each.launch: each for each in read}))


def candidates_of(db: Database, session_id: int, kind: str) -> list[Candidate]:
    sql = (
        "SELECT json_extract(data, '$.candidate') FROM events WHERE kind = ? "
        "AND json_extract(data, '$.session') = ? ORDER BY id"
    )
    return [_CANDIDATE.validate_json(text) for (text,) in db.execute(sql, [kind, session_id])]


def end_of_candidate(db: Database, launch: str) -> dict[str, Json]:
    """How a candidate's launch ended, as it was recorded. Raises KeyError."""
    sql = (
        "SELECT json_extract(data, '$.end') FROM events WHERE kind = ? AND json_extract(data, '$.candidate.launch') = ?"
    )
    row = db.execute(sql, [CANDIDATE, launch]).fetchone()
    if row is None:
        raise KeyError(launch)
    document: dict[str, Json] = json.loads(row[0])
    return document


def last_candidate(db: Database, session_id: int) -> tuple[int, int]:
    """The session, and the number of the event by which its last candidate was recorded; 0 for none."""
    sql = "SELECT coalesce(max(id), 0) FROM events WHERE kind = ? AND json_extract(data, '$.session') = ?"
    return session_id, int(db.execute(sql, [CANDIDATE, session_id]).fetchone()[0])
