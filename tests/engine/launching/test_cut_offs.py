"""Which work that was cut off the next attempt is given, in which form, and when it is removed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from sqlite_utils import Database

from agent_fox.core.ids import Ticket
from agent_fox.core.retry.candidates import Candidate
from agent_fox.core.retry.cut_off import CutOff, Resume
from agent_fox.engine.launching.cut_offs import HandedOn, handed_on, keep, prune, ref_of
from agent_fox.engine.running.results import lose_launch
from agent_fox.session.order import EndKind, Kept, SessionEnd
from agent_fox.store import sessions
from agent_fox.store.plan import node_by_uid
from agent_fox.store.sessions import LaunchRow, SessionRow
from agent_fox.store.traces import cut_offs_of, last_cut_off, record_candidate, record_cut_off
from agent_fox.system import git
from tests.session.world import make_repo, sh, write
from tests.store.world import AT, CODER, VERIFIER, add_launch, add_nodes, add_session, writing

UNTIL = "2026-03-15"


@pytest.fixture
def db(tmp_path: Path) -> Iterator[Database]:
    with writing(tmp_path) as opened:
        add_nodes(opened, CODER, VERIFIER)
        sessions.start_run(opened, AT, "c0ffee")
        yield opened


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    return make_repo(tmp_path / "repo")


def attempt(db: Database, number: int, end_kind: str = "failed") -> SessionRow:
    """A session of the coder; one that is still running where `end_kind` is empty."""
    session = add_session(db, 1, CODER, number)
    if end_kind:
        sessions.set_session(db, session, {"status": "failed", "end_kind": end_kind, "ended_at": AT})
    return sessions.session_by_id(db, session)


def launch(session: SessionRow, pinned: str, number: int = 1) -> LaunchRow:
    return LaunchRow(f"launch-{number}", session.id, number, "ended", pinned, f"/launches/{number}", None, None)


def commit(repo: Path, base: str, files: dict[str, str], date: str = "2026-03-01T12:00:00Z") -> str:
    """A commit on `base` that is on no branch, made at that time."""
    sh(repo, "git", "checkout", "-q", "--detach", base)
    write(repo, files)
    sh(repo, "git", "add", "-A")
    sh(repo, "env", f"GIT_COMMITTER_DATE={date}", "git", "commit", "-qm", "half")
    made = sh(repo, "git", "rev-parse", "HEAD")
    sh(repo, "git", "checkout", "-q", "main")
    return made


def cut(repo: Path, session: SessionRow, kept: Kept, number: int = 1) -> CutOff | None:
    end = SessionEnd(EndKind.TIMED_OUT, "did not end", Path("log"), kept=kept)
    return keep(repo, session, launch(session, sh(repo, "git", "rev-parse", "main"), number), end, AT)


def work(session: int, commit: str = "c") -> CutOff:
    return CutOff(session, session, "failed: exit 3", UNTIL, "b", commit, f"refs/agent-fox/cut-off/bell/{session}")


def test_what_is_kept_is_named_by_node_and_attempt_and_counted(db: Database, repo: Path) -> None:
    first = attempt(db, 1)
    half = commit(repo, "main", {"new.txt": "one\ntwo\n", "README.md": "bye\n"})
    found = cut(repo, first, Kept(half, ("big.bin (too large)",)))
    base, ref = sh(repo, "git", "rev-parse", "main"), "refs/agent-fox/cut-off/bell-1/1"
    assert found == CutOff(
        first.id, 1, "timed out: did not end", UNTIL, base, half, ref, 2, 3, 1, ("big.bin (too large)",)
    )
    assert git.commit_of(repo, ref) == half
    assert cut(repo, first, Kept(half, ("big.bin (too large)",))) == found
    assert ref_of(first, launch(first, base, 2)) == f"{ref}.2"


def test_nothing_is_remembered_where_nothing_was_done(db: Database, repo: Path) -> None:
    assert cut(repo, attempt(db, 1), Kept()) is None
    assert sh(repo, "git", "for-each-ref", "refs/agent-fox") == ""


def test_the_newest_work_that_was_cut_off_counts_until_a_session_ends_by_itself(db: Database) -> None:
    first, second, third = (attempt(db, number) for number in (1, 2, 3))
    assert last_cut_off(db, third.id, third.ticket) is None
    record_cut_off(db, AT, first, work(first.id))
    assert last_cut_off(db, third.id, third.ticket) == work(first.id)
    record_cut_off(db, AT, second, work(second.id))
    assert last_cut_off(db, third.id, third.ticket) == work(second.id)
    assert last_cut_off(db, second.id, second.ticket) == work(second.id), "an earlier launch of the same ticket"
    assert last_cut_off(db, first.id, first.ticket) == work(first.id)
    attempt(db, 4, "ended")
    fifth = attempt(db, 5, "")
    assert last_cut_off(db, fifth.id, fifth.ticket) is None
    assert cut_offs_of(db, CODER.uid) == [work(first.id), work(second.id)]
    assert last_cut_off(db, fifth.id, Ticket(VERIFIER.uid, 1)) is None


def test_what_was_cut_off_in_one_candidate_is_not_handed_to_the_next(db: Database) -> None:
    session = attempt(db, 1, "")
    record_cut_off(db, AT, session, work(session.id))
    record_candidate(db, AT, session, Candidate(1, "launch-1", failure="failed: exit 1"), {})
    assert last_cut_off(db, session.id, session.ticket) is None
    record_cut_off(db, AT, session, work(session.id, "d"))
    assert last_cut_off(db, session.id, session.ticket) == work(session.id, "d"), "the second candidate, made again"
    record_candidate(db, AT, session, Candidate(1, "launch-1", note="read"))
    assert last_cut_off(db, session.id, session.ticket) == work(session.id, "d"), "a reading begins no other candidate"


def test_a_launch_that_is_repeated_since_the_runs_money_is_spent_hands_on_what_it_had_done(db: Database) -> None:
    session = attempt(db, 1, "")
    add_launch(db, "launch-1", session.id, 1)
    end = SessionEnd(EndKind.CEILING, "the run's money is spent", Path("log"))
    planned = node_by_uid(db, CODER.uid)
    lose_launch(db, planned, launch(session, "main"), "interrupted", end, AT, work(session.id))
    assert last_cut_off(db, session.id, session.ticket) == work(session.id)


def given(db: Database, repo: Path, resume: Resume, pinned: str = "main") -> HandedOn:
    """What the second attempt is given of the first, which changed a line of the README and added a file."""
    first, second = attempt(db, 1), attempt(db, 2, "")
    half = commit(repo, "main", {"new.txt": "half\n", "README.md": "hello, you\n"})
    record_cut_off(db, AT, first, cut(repo, first, Kept(half)))
    tip = sh(repo, "git", "rev-parse", pinned)
    return handed_on(db, repo, second, launch(second, tip), resume, ())


def test_a_handoff_is_facts_and_a_file(db: Database, repo: Path) -> None:
    found = given(db, repo, Resume.HANDOFF)
    assert found.facts is not None
    assert (found.tree, found.facts.is_laid_out, found.facts.file) == ("", False, "/launches/1/cut-off.md")
    assert [(one.path, one.added, one.removed) for one in found.facts.files] == [("README.md", 1, 1), ("new.txt", 1, 0)]
    assert "+hello, you" in found.text


def test_to_continue_is_facts_and_a_tree_on_what_the_branch_got_meanwhile(db: Database, repo: Path) -> None:
    sh(repo, "git", "branch", "tip", commit(repo, "main", {"other.txt": "meanwhile\n"}))
    found = given(db, repo, Resume.CONTINUE, "tip")
    assert found.facts is not None
    assert (found.facts.is_laid_out, found.facts.file, found.text) == (True, "", "")
    assert [git.show(repo, found.tree, path) for path in ("new.txt", "other.txt")] == [b"half\n", b"meanwhile\n"]


def test_what_conflicts_with_the_branch_is_handed_off_instead_and_the_brief_says_why(db: Database, repo: Path) -> None:
    sh(repo, "git", "branch", "tip", commit(repo, "main", {"README.md": "hello, all\n"}))
    found = given(db, repo, Resume.CONTINUE, "tip")
    assert found.facts is not None
    assert (found.tree, found.facts.is_laid_out) == ("", False)
    assert found.facts.why_not == "it conflicts with what the branch got meanwhile, in README.md"
    assert "+hello, you" in found.text


def test_afresh_is_nothing(db: Database, repo: Path) -> None:
    assert given(db, repo, Resume.FRESH) == HandedOn()


def test_work_that_is_gone_from_the_repository_is_told_as_lost(db: Database, repo: Path) -> None:
    first, second = attempt(db, 1), attempt(db, 2, "")
    gone = replace(work(first.id), commit="0" * 40)
    record_cut_off(db, AT, first, gone)
    found = handed_on(db, repo, second, launch(second, sh(repo, "git", "rev-parse", "main")), Resume.HANDOFF, ())
    assert found.facts is not None
    assert (found.facts.work.commit, found.facts.work.left_out) == ("", (f"{gone.ref}, which is gone",))


def test_what_was_kept_for_long_enough_is_removed_counted_and_named(db: Database, repo: Path) -> None:
    half = commit(repo, "main", {"new.txt": "x\n"}, date="2026-03-01T12:00:00Z")
    first, second = attempt(db, 1), attempt(db, 2)
    for session, until in ((first, "2026-03-15"), (second, "2026-04-01")):
        record_cut_off(db, AT, session, replace(work(session.id, half), until=until))
    names = [f"refs/agent-fox/cut-off/bell/{name}" for name in (first.id, second.id, "unknown")]
    for name in names:
        git.set_ref(repo, name, half)
    assert prune(db, repo, "2026-03-15T23:59:59.000Z") == ""
    told = prune(db, repo, "2026-03-16T00:00:00.000Z")
    assert told == f"2 trees of sessions that were cut off, kept for 14 days, removed: {names[0]}, {names[2]}"
    assert sh(repo, "git", "for-each-ref", "--format=%(refname)", "refs/agent-fox") == names[1]
