"""What recorded decisions say about convergence and about who ran since a requirement last passed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, TypeGuard

from agent_fox.core.retry.progress import Failure, Round
from agent_fox.core.retry.standing import Step
from agent_fox.store.records import DecisionRow, last_passes

if TYPE_CHECKING:
    from sqlite_utils import Database

WINDOW_STARTS = frozenset({Step.RESET.value, Step.REOPEN.value, Step.LIFT.value})


def rounds_since_reset(past: list[DecisionRow], verifier: str) -> list[Round]:
    """The rounds of failures about one verifier since its last reset or reopening, oldest first."""
    rounds: list[Round] = []
    for decision in past:
        if any(step["uid"] == verifier and step["step"] in WINDOW_STARTS for step in decision.steps):
            rounds = []
        if decision.kind == "Recode" and decision.node_uid == verifier:
            rounds.append(round_of(decision))
    return rounds


def round_of(decision: DecisionRow) -> Round:
    failures = decision.facts.get("failures", [])
    blamed = decision.facts.get("blamed", [])
    assert isinstance(failures, list)
    assert isinstance(blamed, list)
    return Round(frozenset(Failure(part, cause, count) for part, cause, count in failures), frozenset(blamed))


def suspects_since_pass(
    db: Database, spec_name: str, failing: tuple[str, ...], past: list[DecisionRow], groups: Mapping[str, int]
) -> dict[str, tuple[int, ...]]:
    """For each requirement that passed before: the groups that landed work since, and were not blamed for it since."""
    passes = last_passes(db, spec_name, failing)
    found: dict[str, tuple[int, ...]] = {}
    for part, passed_at in passes.items():
        since = [decision for decision in past if decision.id > passed_at]
        landed = {decision.node_uid for decision in since if decision.kind == "Land" and not _is_unchanged(decision)}
        blamed = {uid for decision in since if _blames(decision, part) for uid in _uids(decision)}
        numbers = tuple(sorted(groups[uid] for uid in landed - blamed if uid in groups))
        if numbers:
            found[part] = numbers
    return found


def _is_unchanged(decision: DecisionRow) -> bool:
    return any(step["step"] == Step.LAND_UNCHANGED for step in decision.steps)


def _blames(decision: DecisionRow, part: str) -> bool:
    failing = decision.facts.get("failing", [])
    return decision.kind == "Recode" and _is_list(failing) and part in failing


def _uids(decision: DecisionRow) -> list[str]:
    blamed = decision.facts.get("blamed", [])
    return [str(uid) for uid in blamed] if _is_list(blamed) else []


def _is_list(value: object) -> TypeGuard[list[object]]:
    return isinstance(value, list)
