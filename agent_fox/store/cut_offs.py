"""What is remembered of coders' sessions that were cut off: one event each, written with the result."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent_fox.core.late import adapter, late_module
from agent_fox.core.retry.cut_off import CutOff
from agent_fox.core.values import to_object
from agent_fox.store.records import record_event

if TYPE_CHECKING:
    import pydantic
    from sqlite_utils import Database

    from agent_fox.core.ids import Ticket
    from agent_fox.store.sessions import SessionRow
else:
    pydantic = late_module("pydantic")

KIND = "cut off"

_CUT_OFF = adapter(lambda: pydantic.TypeAdapter(CutOff))


def record_cut_off(db: Database, at: str, session: SessionRow, cut_off: CutOff | None) -> None:
    """In the open transaction, with what else is recorded of the session's end; nothing where it was not cut off."""
    if cut_off is not None:
        data = {"uid": session.ticket.node_uid, **to_object(cut_off)}
        record_event(db, at, session.run_id, KIND, node_id=session.node_id, spec_name=session.spec_name, data=data)


def cut_offs_of(db: Database, node_uid: str) -> list[CutOff]:
    """Of every session of a node that was cut off, oldest first."""
    sql = "SELECT data FROM events WHERE kind = ? AND json_extract(data, '$.uid') = ? ORDER BY id"
    return [_CUT_OFF.validate_json(data) for (data,) in db.execute(sql, [KIND, node_uid])]


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


def refs_kept(db: Database) -> dict[str, str]:
    """Reference → the day until which it is kept, as recorded last."""
    sql = "SELECT json_extract(data, '$.ref'), json_extract(data, '$.until') FROM events WHERE kind = ? ORDER BY id"
    return {ref: until for ref, until in db.execute(sql, [KIND]) if ref}
