"""What lanes said becomes records of the ledger, in the transaction of the result or decision that rests on it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from agent_fox.core.ledger.evidence import (
    Artifact,
    Evidence,
    Json,
    Kind,
    Outcome,
    RunContext,
    SpecRef,
    environment_hash,
)
from agent_fox.core.values import dataclass
from agent_fox.session.built_in.registry import LIBRARY
from agent_fox.store.ledger import ledger
from agent_fox.verifier.lanes.order import lanes_in

if TYPE_CHECKING:
    from sqlite_utils import Database

    from agent_fox.engine.record.review_persistence import Judge
    from agent_fox.verifier.lanes.results import LaneResult


@dataclass(frozen=True, slots=True)
class LaneRun:
    """Where lanes ran. `identity` names the event for ever, such as `session:12` or `decision:40`.

    `verifier` and `environment`: what the results count for, besides the files of `tree` and `commit`; without an
    environment, the tools and bounds of each lane are one.
    """

    spec_name: str
    identity: str
    at: str
    tree: str
    commit: str
    ticket: str = ""
    run: int | None = None
    session: int | None = None
    decision: int | None = None
    verifier: str = ""
    environment: str = ""


def lanes_said(judges: Iterable[Judge]) -> tuple[LaneResult, ...]:
    """What the judge `library` of a session said, if it was asked and ended well."""
    outputs = [judge.output for judge in judges if judge.name == LIBRARY and judge.is_trusted and not judge.failure]
    return tuple(result for output in outputs for result in lanes_in(output))


def record_lanes(db: Database, results: Sequence[LaneResult], where: LaneRun) -> None:
    """One record for each result, in the open transaction."""
    ledger.append(db, [record_of(result, where) for result in results], where.spec_name)


def record_of(result: LaneResult, where: LaneRun) -> Evidence:
    body: dict[str, Json] = {
        "is_proof": result.is_proof, "why": result.why, "requirements": list(result.requirements),
        "environment": dict(result.environment),
    }  # fmt: skip
    return Evidence(
        Kind.CHECK, f"check:{where.identity}:{result.address}", where.at,
        Outcome(result.status.value, counterexample=result.counterexample, log_ref=result.log_ref),
        SpecRef(result.kind.value, result.address, result.version),
        RunContext(
            result.command, where.environment or environment_hash(result.environment), where.verifier, where.ticket,
            where.run, where.session, where.decision,
        ),
        Artifact(where.tree, where.commit),
        limitation=result.limitation,
        body=body,
    )  # fmt: skip
