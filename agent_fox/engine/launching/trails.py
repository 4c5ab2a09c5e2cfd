"""The states of coders' sessions: kept for a time, searched by a judge for where a test began to fail, and what the
next attempt is told and given of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

from agent_fox.core.ids import Archetype
from agent_fox.core.policy import Start
from agent_fox.core.retry.cut_off import KEPT_DAYS
from agent_fox.core.retry.onset import Onset
from agent_fox.core.retry.replay import MOST_EDIT, Finding, Replay, State
from agent_fox.core.retry.standing import Status
from agent_fox.core.trace import Node, NodeKind, Trace, bounded, red_before_end
from agent_fox.core.words import quote
from agent_fox.engine.handlers.reset import reset
from agent_fox.engine.record.review_persistence import findings_in
from agent_fox.store import sessions, traces
from agent_fox.system import git, git_objects
from agent_fox.system.git_diff import diff_of
from agent_fox.system.state_folders import file_name

if TYPE_CHECKING:
    from sqlite_utils import Database

    from agent_fox.engine.record.docket import Docket, Handled
    from agent_fox.engine.record.review_persistence import Judge
    from agent_fox.session.order import SessionEnd
    from agent_fox.store.plan import PlannedNode
    from agent_fox.store.sessions import LaunchRow, SessionRow
    from agent_fox.store.traces import ReplayFrom

KEPT = "refs/agent-fox/traces/"
"""Below it, by node and attempt, the states that the files had during coders' sessions."""

FEWEST_STATES, MOST_STATES = 3, 400
"""Of a trail; two are what a session began with and what it left."""

LONGEST_SHOWN = 120


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


def trail_of(db: Database, repo: Path, spec_name: str, pinned: str) -> tuple[State, ...]:
    """The states of the spec's coders since its last reading of another tree, oldest first, as far as each session
    built on the one before it. Nothing where they are so few that there is nothing to search. Raises GitError.
    """
    condition = "spec_name = ? AND archetype = 'coder' AND landed_commit IS NOT NULL"
    made = sessions.sessions_where(db, condition, [spec_name])
    if not made or not states_of(db, made[-1]):
        return ()
    tree = git.tree_of(repo, pinned)
    read = sessions.sessions_where(db, "spec_name = ? AND archetype = 'verifier' AND end_kind = 'ended'", [spec_name])
    since = max((row.id for row in read if row.tree != tree), default=0)
    line = in_line(repo, [row for row in made if row.id > since])
    states = [state for row in line for state in states_of(db, row)]
    apart = [next(group) for _, group in groupby(states, key=lambda state: state.tree)]
    return tuple(apart[-MOST_STATES:]) if len(apart) >= FEWEST_STATES else ()


def in_line(repo: Path, landed: Sequence[SessionRow]) -> list[SessionRow]:
    """The newest of these sessions, each of which began with what the one before it had landed; oldest first."""
    line: list[SessionRow] = []
    for row in reversed(landed):
        if line and not (row.landed and line[0].pinned and git.is_ancestor(repo, row.landed, line[0].pinned)):
            break
        line.insert(0, row)
    return line


def states_of(db: Database, row: SessionRow) -> list[State]:
    """The trees of one session; none where no trace of it has any."""
    trace = traces.trace_of(db, row.id)
    nodes = trace.nodes if trace else ()
    return [State(row.id, node.step, node.tree) for node in nodes if node.is_state and node.tree]


def record_reading(db: Database, at: str, session: SessionRow, judges: Iterable[Judge]) -> None:
    """In the open transaction, after the verdicts of a reading: where what fails began to fail, and the reading as
    verifications that hang under the state that they judged.
    """
    findings = [with_place(db, finding) for finding in findings_in(judges)]
    traces.record_onsets(db, at, session.id, session.spec_name, findings)
    nodes = tuple(verifications(db, session))
    if nodes:
        traces.record_trace(db, at, session.id, bounded(Trace(nodes)))


def verifications(db: Database, session: SessionRow) -> Iterator[Node]:
    judged = last_state(db, session)
    for number, (part, word, record) in enumerate(traces.verdicts_recorded(db, session.id)):
        yield Node(
            number, NodeKind.VERIFICATION, judged.step if judged else 0, judged.id if judged else "",
            f"{session.node_id} judged it", calls=0, tree=session.tree or "", subject=f"{part} {word}", evidence=record,
            failed=word != "PASS",
        )  # fmt: skip


def last_state(db: Database, session: SessionRow) -> Node | None:
    """The last state of the newest coder's session that landed before a reading of its spec."""
    condition = "spec_name = ? AND archetype = 'coder' AND landed_commit IS NOT NULL AND id < ?"
    for row in reversed(sessions.sessions_where(db, condition, [session.spec_name, session.id])):
        trace = traces.trace_of(db, row.id)
        if trace is not None:
            return next((node for node in reversed(trace.nodes) if node.is_state), None)
    return None


def with_place(db: Database, finding: Finding) -> Finding:
    """The finding with what its session did at the step, and where it was shown the failure before it ended."""
    trace = traces.trace_of(db, finding.session) if finding.session is not None else None
    if trace is None:
        return finding
    states = steps_of(db, trace.session)
    node = next((each for each in states if each.step == finding.step), None)
    if finding.onset is Onset.FROM_START:
        node = next((each for each in reversed(states) if any(path.endswith("tasks.md") for path in each.files)), node)
    if node is None:
        return finding
    names = {finding.test.rpartition("::")[2], finding.test.rpartition("::")[2].partition("[")[0]}
    red = red_before_end(trace.nodes, node.step, names)
    line = next((line for line in red.observation.red if any(name in line for name in names)), "") if red else ""
    seen = f"call {red.call} showed {line[:LONGEST_SHOWN]!r}" if red else ""
    return replace(finding, step=node.step, action=described(node), files=node.files, seen=seen)


def replay_of(db: Database, repo: Path, session: SessionRow) -> tuple[Replay, SessionRow] | None:
    """What the last reading found in an earlier session of this node, and that session; None where it found nothing."""
    condition = "spec_name = ? AND archetype = 'verifier' AND end_kind = 'ended' AND id < ?"
    read = sessions.sessions_where(db, condition, [session.spec_name, session.id])
    own = {row.id: row for row in earlier_of(db, session)}
    findings = [each for each in traces.findings_of(db, read[-1].id) if each.session in own] if read else []
    findings = [each for each in findings if len(steps_of(db, each.session or 0)) > 1]  # else it would be all of it
    if not findings:
        return None
    first, *others = sorted(findings, key=lambda each: (each.onset is not Onset.FOUND, each.session, each.step or 0))
    row = own[first.session or 0]
    return replay_at(db, repo, row, first, tuple(others)), row


def steps_of(db: Database, session: int) -> list[Node]:
    """The states that a session made."""
    trace = traces.trace_of(db, session)
    return [node for node in trace.nodes if node.is_state and node.step] if trace else []


def earlier_of(db: Database, session: SessionRow) -> list[SessionRow]:
    return sessions.sessions_where(db, "node_uid = ? AND id < ?", [session.ticket.node_uid, session.id])


def replay_at(db: Database, repo: Path, row: SessionRow, finding: Finding, others: tuple[Finding, ...]) -> Replay:
    """What is told of one session up to a finding in it. What git does not have any more is left out."""
    trace, states = traces.trace_of(db, row.id), steps_of(db, row.id)
    until = finding.step or 0
    kept = tuple((node.step, described(node)) for node in states if node.step < until)
    commit = commit_of(repo, trace.commit, row.pinned or "", finding.before) if trace else ""
    return Replay(
        row.ticket.attempt, finding, () if finding.onset is Onset.FROM_START else kept, edit_of(repo, finding),
        trace.ref if trace and commit else "", commit, others,
    )  # fmt: skip


def described(node: Node) -> str:
    """A step in a line: the tool and the files that it changed. A command line is the agent's own text, and is not told
    to the sessions after it.
    """
    files = ", ".join(node.files) + (f" and {node.more_files} more" if node.more_files else "")
    if not node.calls:
        return f"{node.action} ({files})" if files else node.action
    return f"{node.action.partition(' ')[0]} {files}".strip()


def edit_of(repo: Path, finding: Finding) -> tuple[str, ...]:
    """The difference that a step made, as lines without those that name blobs; none where it is gone."""
    if not (finding.before and finding.after):
        return ()
    try:
        text = diff_of(repo, finding.before, finding.after, finding.files)
    except git.GitError:
        return ()
    lines = [line for line in text.splitlines() if not line.startswith(("diff --git ", "index ", "--- "))]
    return tuple(lines[: 10 * MOST_EDIT])


def commit_of(repo: Path, last: str, pinned: str, tree: str) -> str:
    """The commit of a session's chain that has a tree, or the pinned one; empty where there is none any more."""
    if not last or not tree or git.commit_of(repo, last) is None:
        return ""
    answer = git.call(repo, "log", "--format=%H %T", "--end-of-options", last, f"^{pinned}", allowed=(0, 128))
    pairs = (line.partition(" ") for line in answer.text.splitlines())
    commit = next((commit for commit, _, held in pairs if held == tree), "")
    return commit or (pinned if git.commit_of(repo, pinned) and git.tree_of(repo, pinned) == tree else "")


def tree_before(db: Database, repo: Path, pinned: str, row: SessionRow, tree: str) -> tuple[str, str]:
    """The files of `pinned` without what a session did after it had `tree`; else why they cannot be had.

    A three-way merge, from what the session left to what it had then, so that the later work of others stays.
    """
    trace = traces.trace_of(db, row.id)
    left = next((node.tree for node in reversed(trace.nodes) if node.is_state and node.tree), "") if trace else ""
    if not left or not tree:
        return "", "the states of that session are not known"
    try:
        who = git.identity(repo)
        root = git_objects.commit_tree(repo, left, [], "left", who, 0)
        now = git_objects.commit_tree(repo, git.tree_of(repo, pinned), [root], "now", who, 0)
        then = git_objects.commit_tree(repo, tree, [root], "then", who, 0)
        merged = git_objects.merge(repo, now, then)
    except git.GitError:
        return "", "the files of that step are not there any more"
    if isinstance(merged, git_objects.Conflict):
        return "", f"later work changed the same lines in {', '.join(merged.files)}"
    return merged.tree, ""


def handed(
    db: Database, repo: Path, session: SessionRow, launch: LaunchRow, start: Start, *, is_told_only: bool
) -> tuple[Replay | None, str]:
    """What a coder is told of where its last work broke, and the tree that its workspace starts from, if from another
    than the branch's. `is_told_only`: it starts from something else in any case. Raises GitError.
    """
    choice = None if is_told_only else traces.replay_from(db, session.ticket.node_uid, session.id)
    if choice is not None:
        return chosen(db, repo, launch, choice)
    known = replay_of(db, repo, session)
    if known is None:
        return None, ""
    replay, row = known
    if start is not Start.BEFORE_ONSET or is_told_only or replay.finding.onset is not Onset.FOUND:
        return replay, ""
    tree, why_not = tree_before(db, repo, launch.pinned, row, replay.finding.before)
    return replace(replay, is_laid_out=bool(tree), why_not=why_not), tree


def chosen(db: Database, repo: Path, launch: LaunchRow, choice: ReplayFrom) -> tuple[Replay, str]:
    """What a coder is told of a start that a person chose, and its tree."""
    row = sessions.session_by_id(db, choice.session)
    tree, why_not = tree_before(db, repo, launch.pinned, row, choice.tree)
    why = f"a person chose to start from the files after step {choice.step} of attempt {row.ticket.attempt}"
    finding = Finding("", "", Onset.NONE, why, row.id, choice.step + 1, before=choice.tree)
    return replace(replay_at(db, repo, row, finding, ()), is_laid_out=bool(tree), why_not=why_not), tree


class NoSuchStep(ValueError):
    """There is no such step that a session can start from; its text says which there are."""


def start_from(tx: Docket, planned: PlannedNode, session: SessionRow, step: int, reason: str) -> Handled | None:
    """Let the next session of a coder's node start from the files after a step of an earlier one, in the open
    transaction. A node that does not run anyway is reset; what was decided then.

    Raises NoSuchStep, NothingToReset.
    """
    trace = traces.trace_of(tx.db, session.id)
    states = {node.step: node.tree for node in trace.nodes if node.is_state and node.tree} if trace else {}
    if planned.node.archetype is not Archetype.CODER or step not in states:
        named = (
            f"steps {min(states)} to {max(states)} of attempt {session.ticket.attempt} can be started from"
            if states
            else "none"
        )
        raise NoSuchStep(
            f"{planned.node.id}: step {step} cannot be started from; {named}: agent-fox trace {quote(planned.node.id)}"
        )
    after = max(row.id for row in sessions.sessions_where(tx.db, "node_uid = ?", [planned.node.uid]))
    choice = traces.ReplayFrom(planned.node.uid, session.id, step, states[step], after)
    traces.record_replay_from(tx.db, tx.at, session, choice)
    is_waiting = planned.standing.status is Status.PENDING
    return None if is_waiting else reset(tx, planned.node.id, reason or f"to start from step {step}")
