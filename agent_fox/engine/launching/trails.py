"""The states of coders' sessions: kept under a reference for a time, and the trail that a judge searches."""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from agent_fox.core.retry.cut_off import KEPT_DAYS
from agent_fox.system import git
from agent_fox.system.state_folders import file_name

if TYPE_CHECKING:
    from agent_fox.session.order import SessionEnd
    from agent_fox.store.sessions import LaunchRow, SessionRow

KEPT = "refs/agent-fox/traces/"
"""Below it, by node and attempt, the states that the files had during coders' sessions."""


def ref_of(session: SessionRow, launch: LaunchRow) -> str:
    again = f".{launch.number}" if launch.number > 1 else ""
    return f"{KEPT}{file_name(session.ticket.node_uid).replace('~', '-')}/{session.ticket.attempt}{again}"


def keep(repo: Path, session: SessionRow, launch: LaunchRow, end: SessionEnd, at: str) -> tuple[str, str]:
    """Keep the states of a session; before its end is recorded. Repeatable. The reference, and the day until which it
    is kept (ISO 8601); both empty where there are none. `at` is the time of recording. Raises GitError.
    """
    if end.trace is None or not end.trace.commit:
        return "", ""
    ref = ref_of(session, launch)
    git.set_ref(repo, ref, end.trace.commit)
    return ref, (datetime.fromisoformat(at) + timedelta(days=KEPT_DAYS)).date().isoformat()
