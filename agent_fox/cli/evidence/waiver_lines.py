"""Waivers in words and as JSON, the same wherever they are shown. Decides nothing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from agent_fox.core.values import to_object

if TYPE_CHECKING:
    from agent_fox.engine.record.docket import Handled
    from agent_fox.evidence.waivers import Held


def held_lines(one: Held) -> Iterator[str]:
    columns = one.waiver.columns
    address = f"{columns.spec_name}/{columns.address}" if columns.spec_name else columns.address
    about = f"{address} {columns.check_name} {columns.detail_hash}".strip()
    state = f"does not count: {one.why_not}" if one.why_not else "in force"
    yield f"{one.short_id}  {about}  {state}"
    yield f"  by {columns.signer} until {columns.expires_at}: {columns.reason}"


def as_document(one: Held) -> dict[str, object]:
    dependencies = dict(one.waiver.statement.dependencies) if one.waiver.statement else {}
    standing = {"id": one.waiver.id, "in_force": not one.why_not, "why_not": one.why_not}
    return {**standing, **to_object(one.waiver.columns), "dependencies": dependencies}


def document_of(held: Held, handled: list[Handled]) -> dict[str, object]:
    return {**as_document(held), "moved": moved(handled)}


def moved(handled: list[Handled]) -> list[dict[str, object]]:
    return [
        {"node": t.node_id, "step": t.step, "status": t.standing.status, "outcome": t.standing.outcome}
        for transition in handled
        for t in transition.transitions
    ]
