"""What is remembered of coders' sessions beside their rows, written once with their ends: what was cut off, the traces,
and where tests that fail began to.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from agent_fox.core.ids import digest_of
from agent_fox.core.late import adapter, late_module
from agent_fox.core.retry.cut_off import CutOff
from agent_fox.core.values import dataclass, to_object
from agent_fox.store.records import record_event
from agent_fox.store.values import insert

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pydantic
    from sqlite_utils import Database

    from agent_fox.core.ids import Ticket
    from agent_fox.core.retry.replay import Finding
    from agent_fox.core.trace import Trace
    from agent_fox.store.sessions import SessionRow
else:
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


def record_trace(db: Database, at: str, session: int, trace: Trace, ref: str = "", until: str = "") -> None:
    """In the open transaction, with the end of the session. `ref` keeps its states until the day `until`."""
    text = json.dumps(trace.document(), sort_keys=True, separators=(",", ":"))
    row = {"session_id": session, "digest": digest_of(text), "counts": json.dumps(trace.counts)}
    kept = {"commit_id": trace.commit, "ref": ref, "until": until}
    insert(db, "traces", {**row, **kept, "at": at, "document": text})


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


def findings_of(db: Database, session: int) -> list[dict[str, object]]:
    """What a reading found of when its failing tests began to fail, as documents, in their order."""
    rows = db.execute("SELECT finding FROM onsets WHERE session_id = ? ORDER BY id", [session])
    return [json.loads(text) for (text,) in rows]


def onset_in(db: Database, coder_session: int) -> list[dict[str, object]]:
    """What readings found in a coder's session, newest first."""
    rows = db.execute("SELECT finding FROM onsets WHERE coder_session = ? ORDER BY id DESC", [coder_session])
    return [json.loads(text) for (text,) in rows]


def last_reading_with_onsets(db: Database, spec_name: str) -> int | None:
    """The newest reading of a spec that found any."""
    row = db.execute("SELECT max(session_id) FROM onsets WHERE spec_name = ?", [spec_name]).fetchone()
    return row[0] if row else None


CUT_OFF = "cut off"

_READ = adapter(lambda: pydantic.TypeAdapter(CutOff))


def record_cut_off(db: Database, at: str, session: SessionRow, cut_off: CutOff | None) -> None:
    """In the open transaction, with what else is recorded of the session's end; nothing where it was not cut off."""
    if cut_off is not None:
        data = {"uid": session.ticket.node_uid, **to_object(cut_off)}
        record_event(db, at, session.run_id, CUT_OFF, node_id=session.node_id, spec_name=session.spec_name, data=data)


def cut_offs_of(db: Database, node_uid: str) -> list[CutOff]:
    """Of every session of a node that was cut off, oldest first."""
    sql = "SELECT data FROM events WHERE kind = ? AND json_extract(data, '$.uid') = ? ORDER BY id"
    return [_READ.validate_json(data) for (data,) in db.execute(sql, [CUT_OFF, node_uid])]


def last_cut_off(db: Database, session_id: int, ticket: Ticket) -> CutOff | None:
    """The newest work that was cut off before a session of the same node, or in an earlier launch of it.

    None where a session ended by itself since: what came of its work is known then.
    """
    sql = "SELECT coalesce(max(id), 0) FROM sessions WHERE node_uid = ? AND id < ? AND end_kind = 'ended'"
    since = db.execute(sql, [ticket.node_uid, session_id]).fetchone()[0]
    since_start = (
        cut_off for cut_off in reversed(cut_offs_of(db, ticket.node_uid)) if since < cut_off.session <= session_id
    )
    return next((cut_off for cut_off in since_start if cut_off.commit or cut_off.left_out), None)


def refs_of_cut_offs(db: Database) -> dict[str, str]:
    """Reference → the day until which it is kept, as recorded last."""
    sql = "SELECT json_extract(data, '$.ref'), json_extract(data, '$.until') FROM events WHERE kind = ? ORDER BY id"
    return {ref: until for ref, until in db.execute(sql, [CUT_OFF]) if ref}
