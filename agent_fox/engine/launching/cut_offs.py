"""A coder's session that was cut off is not lost: its tree is kept, told to the next attempt, and removed in time.

The reference is made before the result is recorded; made again after a crash it is the same. Which work the next
attempt is given follows from what is recorded, never from the reference, which others can move.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from agent_fox.core.ids import Ticket
from agent_fox.core.retry.cut_off import KEPT_DAYS, CutOff, Resume
from agent_fox.core.values import dataclass
from agent_fox.core.words import counted
from agent_fox.engine.launching import conflicts, trails
from agent_fox.session.briefs.handoff import handoff_text
from agent_fox.session.briefs.text import CutOff as CutOffFacts
from agent_fox.session.order import handoff_in
from agent_fox.store import traces
from agent_fox.store.traces import last_cut_off
from agent_fox.system import git, git_objects
from agent_fox.system.git_diff import lines_between
from agent_fox.system.state_folders import file_name

if TYPE_CHECKING:
    from sqlite_utils import Database

    from agent_fox.session.order import SessionEnd
    from agent_fox.store.sessions import LaunchRow, SessionRow

KEPT = "refs/agent-fox/cut-off/"
"""Below it, by node and attempt, the work of sessions that were cut off."""

CANDIDATES = "refs/agent-fox/candidates/"
"""Below it, by node, attempt and launch, the work of candidates."""

MOST_FILES = 1_000
"""How many changed files the next brief is told by name."""


@dataclass(frozen=True, slots=True)
class HandedOn:
    """What an attempt is given of work that was cut off: facts of its brief, a tree to start from, a file's text."""

    facts: CutOffFacts | None = None
    tree: str = ""
    text: str = ""


def ref_of(session: SessionRow, launch: LaunchRow) -> str:
    """A name for each launch: one that is repeated keeps what an earlier one of the same attempt had done."""
    again = f".{launch.number}" if launch.number > 1 else ""
    return f"{KEPT}{file_name(session.ticket.node_uid).replace('~', '-')}/{session.ticket.attempt}{again}"


def keep(repo: Path, session: SessionRow, launch: LaunchRow, end: SessionEnd, at: str) -> CutOff | None:
    """Keep the work of a session that was cut off; before its end is recorded. Repeatable. None where there is none.

    `at` is the time of recording (ISO 8601). Raises GitError.
    """
    kept = end.kept
    if kept is None or not (kept.commit or kept.left_out):
        return None
    ref = ref_of(session, launch) if kept.commit else ""
    changed = lines_between(repo, launch.pinned, kept.commit) if kept.commit else ()
    if ref:
        git.set_ref(repo, ref, kept.commit)
    until = (datetime.fromisoformat(at) + timedelta(days=KEPT_DAYS)).date().isoformat()
    return CutOff(
        session.id, session.ticket.attempt, f"{end.kind}: {end.reason}", until, launch.pinned, kept.commit, ref,
        len(changed), sum(file.added for file in changed), sum(file.removed for file in changed), kept.left_out,
    )  # fmt: skip


def handed_on(
    db: Database, repo: Path, session: SessionRow, launch: LaunchRow, resume: Resume, secrets: Iterable[str]
) -> HandedOn:
    """What of the last work that was cut off this session is given; nothing to one that finishes a merge.

    Raises GitError.
    """
    if resume is Resume.FRESH or conflicts.task_of(db, repo, session.ticket) is not None:
        return HandedOn()
    cut_off = last_cut_off(db, session.id, session.ticket)
    if cut_off is None:
        return HandedOn()
    if not cut_off.commit or git.commit_of(repo, cut_off.commit) is None:
        gone = () if not cut_off.commit else (f"{cut_off.ref}, which is gone",)
        lost = replace(cut_off, left_out=(*cut_off.left_out, *gone), commit="", ref="")
        return HandedOn(CutOffFacts(lost))
    changed = lines_between(repo, cut_off.base, cut_off.commit)
    facts = CutOffFacts(cut_off, tuple(changed[:MOST_FILES]))
    tree, why_not = _tree_to_start_from(db, repo, session, launch, cut_off) if resume is Resume.CONTINUE else ("", "")
    if tree:
        return HandedOn(replace(facts, is_laid_out=True), tree)
    text = handoff_text(repo, cut_off, changed, tuple(secrets))
    return HandedOn(replace(facts, file=str(handoff_in(Path(launch.folder))), why_not=why_not), text=text)


def _tree_to_start_from(
    db: Database, repo: Path, session: SessionRow, launch: LaunchRow, found: CutOff
) -> tuple[str, str]:
    """The pinned commit's tree with the work merged into it; else why it cannot be started from."""
    if conflicts.unmerged_of(db, Ticket(session.ticket.node_uid, found.attempt)) is not None:
        return "", "it was to finish a merge, and its tree may hold conflict markers"
    merged = git_objects.merge(repo, launch.pinned, found.commit)
    if isinstance(merged, git_objects.Conflict):
        return "", f"it conflicts with what the branch got meanwhile, in {', '.join(merged.files)}"
    return merged.tree, ""


def prune(db: Database, repo: Path, now: str) -> str:
    """Remove the references of work that has been kept for long enough; says which, or nothing. Raises GitError."""
    today, made = now[: len("2026-01-01")], _references(repo)
    kinds: tuple[tuple[str, dict[str, str], str, str], ...] = (
        (KEPT, traces.refs_of_cut_offs(db), "tree", "of sessions that were cut off"),
        (trails.KEPT, traces.refs_kept(db), "trace", "of coders' sessions"),
        (CANDIDATES, {}, "candidate", "of coders' attempts"),
    )
    lines: list[str] = []
    for place, known, what, owners in kinds:
        own = [(ref, at) for ref, at in made if ref.startswith(place)]
        over = [ref for ref, at in own if known.get(ref, kept_until(at)) < today]
        for ref in over:
            git.delete_ref(repo, ref)
        if over:
            lines.append(f"{counted(len(over), what)} {owners}, kept for {KEPT_DAYS} days, removed: {_named(over)}")
    return "; ".join(lines)


def _references(repo: Path) -> list[tuple[str, int]]:
    """Each reference with the time of its commit, in seconds since the epoch."""
    form = "--format=%(refname) %(committerdate:unix)"
    lines = git.call(repo, "for-each-ref", form, KEPT, trails.KEPT, CANDIDATES).text.splitlines()
    rows = (line.partition(" ") for line in lines)
    return [(ref, int(made) if made.isdecimal() else 0) for ref, _, made in rows]


def kept_until(made: int) -> str:
    return (datetime.fromtimestamp(made, UTC) + timedelta(days=KEPT_DAYS)).date().isoformat()


def _named(refs: list[str], most: int = 5) -> str:
    more = f" and {len(refs) - most} more" if len(refs) > most else ""
    return ", ".join(refs[:most]) + more
