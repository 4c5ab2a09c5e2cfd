"""A record's JSON read back into the record: only what is spelled as it was written is taken."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue, ValidationError

from agent_fox.core.ledger.evidence import (
    Artifact,
    Evidence,
    Feedback,
    Json,
    Kind,
    Outcome,
    Repository,
    ReviewerDecision,
    RunContext,
    SpecRef,
    canonical,
    content_of,
)


class _Strict(BaseModel, defer_build=True):
    model_config = ConfigDict(strict=True, extra="forbid")


class _Repository(_Strict):
    id: Annotated[str, Field(pattern="^[0-9a-f]{32}$")]
    root: str


class _Content(_Strict):
    """The fields of `core.evidence.content_of`; their spelling shows which of them go together."""

    format: Literal[1, 2]
    repository: _Repository | None = None
    kind: Kind
    identity: str
    spec_ref: SpecRef
    run_context: RunContext
    result: Outcome
    feedback: Feedback
    artifact: Artifact
    reviewer_decision: ReviewerDecision
    limitation: str
    timestamp: str
    body: dict[str, JsonValue]

    def value(self) -> Evidence:
        return Evidence(
            self.kind, self.identity, self.timestamp, self.result, self.spec_ref, self.run_context, self.artifact,
            self.feedback, self.reviewer_decision, self.limitation, self.body,
            Repository(self.repository.id, self.repository.root) if self.repository else Repository(),
        )  # fmt: skip


def evidence_of(content: str) -> Evidence:
    """The record with this canonical JSON. Raises ValueError: another form, a field too many, another spelling."""
    try:
        record = _Content.model_validate_json(content).value()
        spelled = canonical(content_of(record))
    except ValidationError as error:
        first = error.errors()[0]
        raise ValueError(f"{'.'.join(map(str, first['loc'])) or 'content'}: {first['msg']}") from error
    except RecursionError as error:
        raise ValueError("content: nested too deeply") from error
    if spelled != content:
        raise ValueError("content: not in its one canonical spelling")
    return record


def document(text: str) -> Json:
    """Any JSON. Raises ValueError, also for what is nested too deeply."""
    try:
        content: Json = json.loads(text)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error
    return content


def at_path(document: Json, path: Iterable[str]) -> Json:
    """What stands at `("result", "status")`; None where nothing does."""
    for name in path:
        document = document.get(name) if isinstance(document, dict) else None
    return document
