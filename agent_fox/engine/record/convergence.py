"""What is recorded of earlier rounds: whether the work converges, who ran since a requirement last passed, and who
changed a test last.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, TypeGuard

from agent_fox.core.regex import regex
from agent_fox.core.retry.progress import Failure, Round
from agent_fox.core.retry.standing import Step
from agent_fox.core.verdicts.scope import is_test_like
from agent_fox.store import sessions
from agent_fox.store.records import DecisionRow, last_passes
from agent_fox.system.git import GitError
from agent_fox.system.git_objects import changes_between

if TYPE_CHECKING:
    from sqlite_utils import Database

    from agent_fox.core.plan.blame import Ownership
    from agent_fox.core.verdicts.judgement import Judged
    from agent_fox.engine.record.docket import Docket
    from agent_fox.store.sessions import SessionRow

_FRAMES = regex(r"^(?:\./)?([\w.@-][\w./@-]{0,300}):\d{1,7}: ", re.MULTILINE)

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
    groups_of: dict[str, tuple[int, ...]] = {}
    for part, passed_at in passes.items():
        since = [decision for decision in past if decision.id > passed_at]
        landed = {decision.node_uid for decision in since if decision.kind == "Land" and not _is_unchanged(decision)}
        blamed = {uid for decision in since if _blames(decision, part) for uid in _uids(decision)}
        numbers = tuple(sorted(groups[uid] for uid in landed - blamed if uid in groups))
        if numbers:
            groups_of[part] = numbers
    return groups_of


def _is_unchanged(decision: DecisionRow) -> bool:
    return any(step["step"] == Step.LAND_UNCHANGED for step in decision.steps)


def _blames(decision: DecisionRow, part: str) -> bool:
    failing = decision.facts.get("failing", [])
    return decision.kind == "Recode" and _is_list(failing) and part in failing


def _uids(decision: DecisionRow) -> list[str]:
    blamed = decision.facts.get("blamed", [])
    return [str(uid) for uid in blamed] if _is_list(blamed) else []


def own_failures(uid: str, failed: Iterable[str], owners: Ownership, past: list[DecisionRow]) -> tuple[str, ...]:
    """Of what failed after a coder's session, what its work was for: its group owns it, or it was sent back for it.

    `uid` is the coder's, which ends in the number of its group (or in `number~count`).
    """
    group = int(uid.rpartition(":")[2].partition("~")[0])
    return tuple(
        part
        for part in failed
        if group in owners.of(part) or any(_blames(each, part) and uid in _uids(each) for each in past)
    )


def _is_list(value: object) -> TypeGuard[list[object]]:
    return isinstance(value, list)


def touched_by(repo: Path, base: str, landed: str) -> frozenset[str]:
    """The files that a landing changed; none where its commits are gone."""
    try:
        return frozenset(change.path for change in changes_between(repo, base, landed))
    except GitError:
        return frozenset()


def changers(tx: Docket, spec_name: str, judged: Judged, groups: Mapping[str, int]) -> dict[str, tuple[int, ...]]:
    """For each requirement that fails because of its tests: the group that changed one of their files last.

    `groups`: uid of a coder to its group. Requirements whose tests no landing of the spec changed are not in it.
    """
    at_fault = {part: judged.counted[part].verdict.tests for part in judged.failing}
    if not any(at_fault.values()):
        return {}
    landings = list(reversed(landed_sessions(tx, spec_name)))
    touched = [(groups.get(row.ticket.node_uid), tx.touched(row.base or "", row.landed or "")) for row in landings]
    group_of = {part: last_of(files, touched) for part, files in at_fault.items() if files}
    return {part: (group,) for part, group in group_of.items() if group is not None}


def passed_through(
    tx: Docket, spec_name: str, judged: Judged, parts: Iterable[str], groups: Mapping[str, int]
) -> dict[str, tuple[int, ...]]:
    """For each of these requirements that fails: the one group whose landings changed product files that stand in the
    frames of its failure. Where several did, or none, nothing follows.
    """
    files = {part: product_files_in(judged.counted[part].verdict.evidence) for part in parts if part in judged.failing}
    if not any(files.values()):
        return {}
    landings = [(groups.get(row.ticket.node_uid), row) for row in landed_sessions(tx, spec_name)]
    touched = [(group, tx.touched(row.base or "", row.landed or "")) for group, row in landings if group is not None]
    work = {part: {group for group, changed in touched if changed & paths} for part, paths in files.items()}
    return {part: tuple(numbers) for part, numbers in work.items() if len(numbers) == 1}


def product_files_in(evidence: str) -> frozenset[str]:
    """The files of frames, such as `shop/cart.py:12: ValueError`, that are no tests."""
    return frozenset(path for path in _FRAMES.findall(evidence) if not is_test_like(path))


def landed_sessions(tx: Docket, spec_name: str) -> list[SessionRow]:
    rows = sessions.sessions_where(tx.db, "spec_name = ? AND archetype = 'coder'", [spec_name])
    return [row for row in rows if row.base and row.landed]


def last_of(files: Iterable[str], touched: Iterable[tuple[int | None, frozenset[str]]]) -> int | None:
    """The group of the newest landing that changed one of the files; landings stand newest first."""
    wanted = frozenset(files)
    return next((group for group, changed in touched if group is not None and wanted & changed), None)
