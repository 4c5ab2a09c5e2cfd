"""Records of the ledger as in-toto statements, v1, and back. Signing is in `dsse`, files are in `export`.

A check with a clear result is a test-result (in-toto.io/attestation/test-result/v0.1). It has no word for UNKNOWN, so
verdicts about requirements have a predicate of our own, one statement a record; and another holds everything else.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, JsonValue, ValidationError

from agent_fox.core.ledger.evidence import Evidence, Kind, Link, canonical
from agent_fox.core.regex import regex
from agent_fox.core.values import Json, to_object
from agent_fox.evidence.documents import at_path, document, evidence_of
from agent_fox.evidence.walk import Entry

STATEMENT = "https://in-toto.io/Statement/v1"
PAYLOAD_TYPE = "application/vnd.in-toto+json"
OURS = "urn:agent-fox:attestation"
TEST_RESULT = "https://in-toto.io/attestation/test-result/v0.1"
VERDICT = f"{OURS}:requirement-verdict:v0.1"
RECORD = f"{OURS}:ledger-record:v0.1"
CHECKPOINT = f"{OURS}:ledger-checkpoint:v0.1"

OLD, STRICT = 1, 2
"""Forms of a test-result. The old one has the record in a field of its own, RECORD, which in-toto's predicate does not
know; the new one as a resource of its `configuration`, so that strict readers take it."""
CONTENT = "application/vnd.agent-fox.ledger-record.v2+json"

RESULTS = {
    **dict.fromkeys(("pass", "passed"), "PASSED"),
    **dict.fromkeys(("warn", "warned", "warnings"), "WARNED"),
    **dict.fromkeys(("fail", "failed", "block", "blocked"), "FAILED"),
}
"""Words of checks (in small letters) that in-toto has a word for; whatever else they say is no test-result."""

LISTS = {"PASSED": "passedTests", "WARNED": "warnedTests", "FAILED": "failedTests"}
OBJECT_ID = regex(r"[0-9a-f]{40}|[0-9a-f]{64}")


def statement_of(entry: Entry, record: Evidence, form: int = STRICT) -> dict[str, Json]:
    """The statement about one record; `record` is what the entry's content holds. `form`: OLD or STRICT."""
    kind, predicate = _predicate(entry, record, form)
    return {
        "_type": STATEMENT, "subject": list(_subjects(entry, record)), "predicateType": kind, "predicate": predicate,
    }  # fmt: skip


def _ledger(entry: Entry) -> Json:
    return {**to_object(entry.link), "content": json.loads(entry.content)}


def _subjects(entry: Entry, record: Evidence) -> Iterator[Json]:
    """The tree and the commit that a record is about; the record itself where it is about neither."""
    files = record.artifact
    named = [("tree", "gitTree", files.tree), ("commit", "gitCommit", files.commit)]
    objects = [(name, kind, value) for name, kind, value in named if OBJECT_ID.fullmatch(value)]
    for name, kind, value in objects or [("record", "sha256", entry.link.record_id)]:
        yield {"name": name, "digest": {kind: value}}


def _predicate(entry: Entry, record: Evidence, form: int) -> tuple[str, Json]:
    result = RESULTS.get(record.outcome.status.lower()) if record.kind in (Kind.CHECK, Kind.CLOSE_OUT) else None
    if result is not None:
        about: list[Json] = [record.about.address or record.identity]
        configuration = [*_configuration(record), *([resource_of(entry)] if form == STRICT else [])]
        own: dict[str, Json] = {} if form == STRICT else {RECORD: _ledger(entry)}
        return TEST_RESULT, {"result": result, "configuration": configuration, LISTS[result]: about, **own}
    if record.kind is Kind.VERDICT:
        return VERDICT, {**_verdict(record), "ledger": _ledger(entry)}
    return RECORD, {"ledger": _ledger(entry)}


def resource_of(entry: Entry) -> Json:
    """The record as in-toto describes a resource: its bytes, their SHA-256, which is its id, and its link."""
    content = base64.b64encode(entry.content.encode()).decode()
    return {
        "name": RECORD, "digest": {"sha256": entry.link.record_id}, "content": content, "mediaType": CONTENT,
        "annotations": to_object(entry.link, without=("record_id",)),
    }  # fmt: skip


def _configuration(record: Evidence) -> Iterator[Json]:
    """What a check ran with, as in-toto describes resources: hashes and the command, never a value of a variable."""
    context = record.context
    if context.command:
        yield {"name": "command", "content": base64.b64encode(context.command.encode("utf-8", "replace")).decode()}
    if context.environment:
        yield {"name": "environment", "uri": f"urn:agent-fox:environment:{context.environment}"}


def _verdict(record: Evidence) -> dict[str, Json]:
    about, context, how = record.about, record.context, record.body.get("how")
    return {
        "requirement": {"address": about.address, "version": about.version},
        "verdict": record.outcome.status,
        **({"how": how} if how else {}),
        "verifier": context.verifier,
        "environment": context.environment,
        "judgedAt": record.timestamp,
    }


class _Place(BaseModel, defer_build=True):
    model_config = ConfigDict(strict=True, extra="forbid")
    position: Annotated[int, Field(ge=1)]
    record_id: str
    previous: str
    head: str
    content: dict[str, JsonValue]


def record_in(payload: bytes, statement: Json) -> tuple[Entry, Evidence]:
    """The record in a statement, which is the payload read.

    Raises ValueError for a statement that is not, to the byte, the one about its record.
    """
    try:
        held, form = _held(statement)
        place = _Place.model_validate(held)
    except ValidationError as error:
        raise ValueError(f"no statement about a record ({error.errors()[0]['msg']})") from error
    entry = Entry(Link(place.position, place.record_id, place.previous, place.head), canonical(place.content))
    record = evidence_of(entry.content)
    if canonical(statement_of(entry, record, form)).encode() != payload:
        raise ValueError("the statement says something else than its record")
    return entry, record


def form_of(statement: Json) -> int | None:
    """The form of a statement that is a test-result; None for any other, which is the same in both."""
    if at_path(statement, ("predicateType",)) != TEST_RESULT:
        return None
    predicate = at_path(statement, ("predicate",))
    return OLD if isinstance(predicate, dict) and RECORD in predicate else STRICT


def _held(statement: Json) -> tuple[Json, int]:
    """What stands in a statement where ours have the record, and its form. Raises ValueError where nothing does."""
    predicate = at_path(statement, ("predicate",))
    for name, form in (("ledger", STRICT), (RECORD, OLD)):
        if isinstance(predicate, dict) and name in predicate:
            return predicate[name], form
    resources = at_path(statement, ("predicate", "configuration"))
    match resources[-1] if isinstance(resources, list) and resources else None:
        case {"digest": {"sha256": record}, "content": str(content), "annotations": dict(place)}:
            read = document(base64.b64decode(content, validate=True).decode())
            return {**place, "record_id": record, "content": read}, STRICT
    raise ValueError("the statement holds no record of a ledger")
