"""The states of coders' sessions: how long they are kept, which of them a judge is given, and what the next attempt is
told and given of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from sqlite_utils import Database

from agent_fox.core.policy import Start
from agent_fox.core.retry.onset import Onset
from agent_fox.core.retry.replay import Finding, State
from agent_fox.core.trace import Node, NodeKind, Observation, Trace
from agent_fox.engine.launching.cut_offs import prune
from agent_fox.engine.launching.trails import handed, keep, trail_of, tree_before, with_place
from agent_fox.session.order import EndKind, SessionEnd
from agent_fox.store import sessions
from agent_fox.store.sessions import LaunchRow, SessionRow
from agent_fox.store.traces import ReplayFrom, record_onsets, record_replay_from, record_trace, replay_from
from agent_fox.system import git
from tests.session.world import make_repo, sh, write
from tests.store.world import AT, CODER, SPEC, VERIFIER, add_nodes, add_session, writing


@pytest.fixture
def db(tmp_path: Path) -> Iterator[Database]:
    with writing(tmp_path) as opened:
        add_nodes(opened, CODER, VERIFIER)
        sessions.start_run(opened, AT, "c0ffee")
        yield opened


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    return make_repo(tmp_path / "repo", {"a.py": "1\n", "b.py": "1\n"})


def commit(repo: Path, **files: str) -> str:
    """A commit on the branch with these files (`a` is `a.py`)."""
    write(repo, {f"{name}.py": text for name, text in files.items()})
    sh(repo, "git", "add", "-A")
    sh(repo, "git", "commit", "-qm", "step", "--date", AT)
    return sh(repo, "git", "rev-parse", "HEAD")


def coder(db: Database, repo: Path, attempt: int, pinned: str, *commits: str) -> SessionRow:
    """A coder's session that began at `pinned`, whose states are these commits; the last one landed."""
    number = add_session(db, 1, CODER, attempt)
    end = {"pinned_commit": pinned, "tree": git.tree_of(repo, pinned), "end_kind": "ended", "ended_at": AT}
    landed = {"base_commit": pinned, "landed_commit": commits[-1], "status": "completed"}
    sessions.set_session(db, number, {**end, **landed})
    trees = [git.tree_of(repo, each) for each in (pinned, *commits)]
    nodes = [Node(0, NodeKind.STATE_CHANGE, 0, tree=trees[0], calls=0)]
    for step, tree in enumerate(trees[1:], 1):
        diff = f"{trees[step - 1]}..{tree}"
        nodes.append(Node(step, NodeKind.STATE_CHANGE, step, nodes[-1].id, f"Edit {step}", step, tree=tree, diff=diff))
    record_trace(db, AT, number, Trace(tuple(nodes), commits[-1]), "refs/agent-fox/traces/bell-1/1", "2026-03-15")
    return sessions.session_by_id(db, number)


def reading(db: Database, repo: Path, pinned: str, *findings: Finding, attempt: int = 1) -> int:
    number = add_session(db, 1, VERIFIER, attempt)
    sessions.set_session(db, number, {"end_kind": "ended", "status": "completed", "tree": git.tree_of(repo, pinned)})
    record_onsets(db, AT, number, SPEC, list(findings))
    return number


def running(db: Database, attempt: int, pinned: str) -> tuple[SessionRow, LaunchRow]:
    session = sessions.session_by_id(db, add_session(db, 1, CODER, attempt))
    return session, LaunchRow("launch", session.id, 1, "running", pinned, "/launches/1", None, None)


def head(repo: Path) -> str:
    return sh(repo, "git", "rev-parse", "HEAD")


def tree(repo: Path, name: str) -> str:
    return git.tree_of(repo, name)


def test_states_are_kept_under_a_reference_until_a_day_and_removed_after_it(db: Database, repo: Path) -> None:
    session, launch = running(db, 1, head(repo))
    end = SessionEnd(EndKind.ENDED, "ended", Path("log"), trace=Trace(commit=head(repo)))
    ref, until = keep(repo, session, launch, end, AT)
    assert (ref, until) == ("refs/agent-fox/traces/bell-1/1", "2026-03-15")
    assert keep(repo, session, launch, end, AT) == (ref, until)
    record_trace(db, AT, session.id, Trace(commit=head(repo)), ref, until)
    assert keep(repo, session, launch, replace(end, trace=Trace()), AT) == ("", "")
    assert prune(db, repo, "2026-03-15T00:00:00Z") == ""
    told = prune(db, repo, "2026-03-16T00:00:00Z")
    assert told == f"1 trace of coders' sessions, kept for 14 days, removed: {ref}"
    assert git.commit_of(repo, ref) is None


def test_a_trail_is_every_state_since_the_last_reading_of_another_tree(db: Database, repo: Path) -> None:
    begin = head(repo)
    one, two = commit(repo, a="2\n"), commit(repo, a="3\n")
    first = coder(db, repo, 1, begin, one, two)
    whole = (
        State(first.id, 0, tree(repo, begin)),
        State(first.id, 1, tree(repo, one)),
        State(first.id, 2, tree(repo, two)),
    )
    assert trail_of(db, repo, SPEC, two) == whole
    reading(db, repo, two)
    assert trail_of(db, repo, SPEC, two) == whole, "read again"
    three, four = commit(repo, a="4\n"), commit(repo, b="2\n")
    second = coder(db, repo, 2, two, three, four)
    assert trail_of(db, repo, SPEC, four) == tuple(
        State(second.id, step, tree(repo, each)) for step, each in enumerate((two, three, four))
    )
    assert trail_of(db, repo, "other", four) == ()


def test_a_trail_goes_back_as_far_as_each_session_built_on_the_one_before_it(db: Database, repo: Path) -> None:
    begin = head(repo)
    one = commit(repo, a="2\n")
    first = coder(db, repo, 1, begin, one)
    two, three = commit(repo, a="3\n"), commit(repo, a="4\n")
    second = coder(db, repo, 2, one, two, three)
    assert [(state.session, state.step) for state in trail_of(db, repo, SPEC, three)] == [
        (first.id, 0), (first.id, 1), (second.id, 1), (second.id, 2),
    ]  # fmt: skip
    beside = coder(db, repo, 3, begin, two, three)  # it began beside the others, not after them
    assert {state.session for state in trail_of(db, repo, SPEC, three)} == {beside.id}


def test_two_states_are_nothing_to_search(db: Database, repo: Path) -> None:
    begin, one = head(repo), commit(repo, a="2\n")
    coder(db, repo, 1, begin, one)
    assert trail_of(db, repo, SPEC, one) == ()


def broken(db: Database, repo: Path) -> tuple[SessionRow, Finding, list[str]]:
    """A session of three steps of which the second broke it; its commits from the beginning on."""
    commits = [head(repo), commit(repo, a="2\n"), commit(repo, b="wrong\n"), commit(repo, a="3\n")]
    session = coder(db, repo, 1, *commits)
    before, after = tree(repo, commits[1]), tree(repo, commits[2])
    finding = Finding("R1", "t::test_b", Onset.FOUND, "", session.id, 2, "Edit 2", ("b.py",), before, after)
    return session, finding, commits


def test_the_next_attempt_is_told_what_is_kept_and_starts_where_the_settings_say(db: Database, repo: Path) -> None:
    _, finding, commits = broken(db, repo)
    reading(db, repo, commits[-1], finding)
    session, launch = running(db, 2, commits[-1])
    replay, start = handed(db, repo, session, launch, Start.BEST, is_told_only=False)
    assert replay is not None
    assert (replay.kept, replay.commit, start) == (((1, "Edit"),), commits[1], "")
    assert replay.edit[-2:] == ("-1", "+wrong")
    replay, start = handed(db, repo, session, launch, Start.BEFORE_ONSET, is_told_only=False)
    assert (replay and replay.is_laid_out, start) == (True, tree(repo, commits[1]))
    replay, start = handed(db, repo, session, launch, Start.BEFORE_ONSET, is_told_only=True)
    assert (replay and replay.is_laid_out, start) == (False, ""), "it starts from what was cut off"


def test_nothing_is_told_without_a_finding_in_an_own_session(db: Database, repo: Path) -> None:
    _, finding, commits = broken(db, repo)
    session, launch = running(db, 2, commits[-1])
    assert handed(db, repo, session, launch, Start.BEST, is_told_only=False) == (None, "")
    reading(db, repo, commits[-1], replace(finding, session=None, onset=Onset.NONE))
    session, launch = running(db, 3, commits[-1])
    assert handed(db, repo, session, launch, Start.BEST, is_told_only=False) == (None, "")


def test_the_files_before_a_step_keep_what_others_landed_since(db: Database, repo: Path) -> None:
    session, finding, _ = broken(db, repo)
    later = commit(repo, c="of others\n")
    start, why_not = tree_before(db, repo, later, session, finding.before)
    assert why_not == ""
    assert [git.show(repo, start, path) for path in ("a.py", "b.py", "c.py")] == [b"2\n", b"1\n", b"of others\n"]


def test_later_work_on_the_same_lines_keeps_the_branch_as_it_is_and_it_is_said(db: Database, repo: Path) -> None:
    _, finding, _ = broken(db, repo)
    later = commit(repo, b="of others\n")
    reading(db, repo, later, finding)
    session, launch = running(db, 2, later)
    replay, start = handed(db, repo, session, launch, Start.BEFORE_ONSET, is_told_only=False)
    assert replay is not None
    assert (start, replay.is_laid_out, replay.why_not) == ("", False, "later work changed the same lines in b.py")


def test_states_that_git_has_no_more_are_told_without_a_commit(db: Database, repo: Path) -> None:
    session, finding, commits = broken(db, repo)
    lost = replace(finding, before="d" * 40)
    reading(db, repo, commits[-1], lost)
    later, launch = running(db, 2, commits[-1])
    replay, start = handed(db, repo, later, launch, Start.BEFORE_ONSET, is_told_only=False)
    assert replay is not None
    assert (replay.commit, replay.ref, replay.edit, start) == ("", "", (), "")
    assert replay.why_not == "the files of that step are not there any more"
    assert tree_before(db, repo, commits[-1], session, "") == ("", "the states of that session are not known")


def test_a_person_chooses_for_the_next_session_alone(db: Database, repo: Path) -> None:
    session, _, commits = broken(db, repo)
    choice = ReplayFrom(CODER.uid, session.id, 1, tree(repo, commits[1]), session.id)
    record_replay_from(db, AT, session, choice)
    later, launch = running(db, 2, commits[-1])
    replay, start = handed(db, repo, later, launch, Start.BEST, is_told_only=False)
    assert (start, replay and replay.is_laid_out) == (tree(repo, commits[1]), True)
    after, _ = running(db, 3, commits[-1])
    assert (replay_from(db, CODER.uid, later.id), replay_from(db, CODER.uid, after.id)) == (choice, None)


def test_a_test_that_failed_from_the_start_is_laid_to_the_step_that_ticked_the_task(db: Database, repo: Path) -> None:
    number = add_session(db, 1, CODER, 1)
    red = Observation("d", 9, ("FAILED t::test_b[1] - assert",))
    nodes = (
        Node(0, NodeKind.STATE_CHANGE, 0, tree="t0"),
        Node(1, NodeKind.STATE_CHANGE, 1, action="Edit a.py", files=("a.py",), tree="t1"),
        Node(2, NodeKind.STATE_CHANGE, 2, action="Edit tasks.md", files=("specs/01/tasks.md",), tree="t2"),
        Node(3, NodeKind.VERIFICATION, 2, action="Bash pytest", call=7, observation=red),
        Node(4, NodeKind.STATE_CHANGE, 3, action="Edit c.py", files=("c.py",), tree="t3"),
    )
    record_trace(db, AT, number, Trace(nodes))
    placed = with_place(db, Finding("R1", "t::test_b[1]", Onset.FROM_START, "", number, 3))
    assert (placed.step, placed.action) == (2, "Edit specs/01/tasks.md")
    assert placed.seen == "call 7 showed 'FAILED t::test_b[1] - assert'"
