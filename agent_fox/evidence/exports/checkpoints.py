"""The last line of an export: how many records there are, where the chain ends, and where the gates stand by them.

It is what makes a line that was cut off at the end noticed. Who signs it is in `export`.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Annotated

from pydantic import BaseModel, ConfigDict, Field, Strict, ValidationError

from agent_fox.core.ledger.evidence import canonical
from agent_fox.core.ledger.gates import Gate, Role
from agent_fox.core.values import Json, to_object
from agent_fox.evidence.exports.statements import CHECKPOINT, STATEMENT

if TYPE_CHECKING:
    from agent_fox.evidence.fold import Fold
    from agent_fox.store.ledger.audit import RunHeads


class GateLine(BaseModel, defer_build=True):
    """Where a gate stands, and the position of the record that moved it there. `in_plan`: the plan still has it."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)
    spec: str
    requirement: str
    version: str
    state: Annotated[Gate, Strict(False)]
    role: Annotated[Role, Strict(False)]
    waiver: str | None
    reason: str
    position: int
    at: str
    was_proved: bool
    in_plan: bool


class RunLine(BaseModel, defer_build=True):
    """The heads that were noted when a run was opened, and when it last ended; empty where none was."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)
    run: int
    begin: str
    end: str


class Checkpoint(BaseModel, defer_build=True):
    """`head` and `at` are those of the last record. `repository`: its first commit, empty where that is not known."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)
    count: Annotated[int, Field(ge=0)]
    head: str
    at: str
    exported_at: str
    repository: str
    gates: tuple[GateLine, ...] = Field(strict=False)
    runs: tuple[RunLine, ...] = Field(strict=False)

    def statement(self) -> dict[str, Json]:
        predicate: Json = self.model_dump(mode="json")
        subject: Json = [{"name": "ledger", "digest": {"sha256": self.head}}]
        return {"_type": STATEMENT, "subject": subject, "predicateType": CHECKPOINT, "predicate": predicate}

    def payload(self) -> bytes:
        return canonical(self.statement()).encode()


class _Statement(BaseModel, defer_build=True):
    predicate: Checkpoint


def checkpoint_in(payload: bytes) -> Checkpoint:
    """The checkpoint in a statement. Raises ValueError for one that is not spelled as ours are."""
    try:
        predicate = _Statement.model_validate_json(payload).predicate
    except ValidationError as error:
        raise ValueError(f"no checkpoint ({error.errors()[0]['msg']})") from error
    if predicate.payload() != payload:
        raise ValueError("the checkpoint says something beside what a checkpoint says")
    return predicate


def gate_lines(fold: Fold, planned: Collection[tuple[str, str]]) -> tuple[GateLine, ...]:
    """Every gate, in the order of spec and requirement."""
    return tuple(
        GateLine.model_validate({**to_object(gate), "in_plan": key in planned}) for key, gate in fold.gates().items()
    )


def run_lines(runs: list[RunHeads]) -> tuple[RunLine, ...]:
    return tuple(RunLine(run=head.run, begin=head.begin, end=head.end) for head in runs)
