"""Which group changed a test last, as far as the landings tell: it is blamed where a test is at fault."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from agent_fox.store import sessions
from agent_fox.system.git import GitError
from agent_fox.system.git_objects import changes_between

if TYPE_CHECKING:
    from agent_fox.core.verdicts.judgement import Judged
    from agent_fox.engine.record.docket import Docket
    from agent_fox.store.sessions import SessionRow


def touched_by(repo: Path, base: str, landed: str) -> frozenset[str]:
    """The files that a landing changed; none where its commits are gone."""
    try:
        return frozenset(change.path for change in changes_between(repo, base, landed))
    except GitError:
        return frozenset()


def changers(docket: Docket, spec_name: str, judged: Judged, groups: Mapping[str, int]) -> dict[str, tuple[int, ...]]:
    """For each requirement that fails because of its tests: the group that changed one of their files last.

    `groups`: uid of a coder to its group. Requirements whose tests no landing of the spec changed are not in it.
    """
    at_fault = {part: judged.counted[part].verdict.tests for part in judged.failing}
    if not any(at_fault.values()):
        return {}
    landings = list(reversed(landed_sessions(docket, spec_name)))
    touched = [(groups.get(row.ticket.node_uid), docket.touched(row.base or "", row.landed or "")) for row in landings]
    found = {part: last_of(files, touched) for part, files in at_fault.items() if files}
    return {part: (group,) for part, group in found.items() if group is not None}


def landed_sessions(docket: Docket, spec_name: str) -> list[SessionRow]:
    rows = sessions.sessions_where(docket.db, "spec_name = ? AND archetype = 'coder'", [spec_name])
    return [row for row in rows if row.base and row.landed]


def last_of(files: Iterable[str], touched: Iterable[tuple[int | None, frozenset[str]]]) -> int | None:
    """The group of the newest landing that changed one of the files; landings stand newest first."""
    wanted = frozenset(files)
    return next((group for group, changed in touched if group is not None and wanted & changed), None)
