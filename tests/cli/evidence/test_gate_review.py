"""`agent-fox gate --task-id afx-...`: a review task is closed where a reviewer said OK to the files as they are."""

from __future__ import annotations

import json
import threading
from dataclasses import replace
from pathlib import Path

import pytest
from sqlite_utils import Database

from agent_fox.engine.doors.reviewing import Desk
from agent_fox.evidence.witness import path_of
from agent_fox.review.clearing import set_password
from tests.cli.program import said, start
from tests.review.worlds import OK, TASK, desk, git, program, repository, saying

PASSED, MISTAKE, BLOCKED = 0, 1, 2


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return repository(tmp_path / "project", **{".gitignore": "outputs/\n"})


def registered(root: Path, reviewer: Path) -> tuple[Desk, str]:
    at = desk(root, reviewer)
    return at, at.register(TASK, (), "")


def worked(at: Desk, task: str, text: str = "n = 1\n") -> None:
    (at.here / "new.py").write_text(text)
    at.review(task, threading.Event())


def judged(root: Path, task: str, ends: int, *more: str) -> dict[str, object]:
    done = start(root, "gate", "--task-id", task, "--json", *more, HOME=str(root.parent))
    assert done.returncode == ends, done
    report: dict[str, object] = json.loads(done.stdout)
    return report


def gate(root: Path, task: str, ends: int, *more: str) -> list[str]:
    """The checks that were found."""
    rows = judged(root, task, ends, *more)["findings"]
    assert isinstance(rows, list)
    return [str(one["check"]) for one in rows]


def commit(root: Path) -> str:
    git(root, "add", "-A", "--", ".", ":!.agent-fox")
    git(root, "commit", "-qm", "more")
    return git(root, "rev-parse", "HEAD")


def blocked_for(root: Path, task: str, name: str) -> str:
    """Why the gate blocks a verified task for this commit."""
    rows = judged(root, task, BLOCKED, "--commit", name)["findings"]
    assert isinstance(rows, list)
    ((check, detail),) = [(one["check"], one["detail"]) for one in rows]
    assert check == "review_changed"
    return str(detail)


def test_a_verified_task_passes_until_its_files_change(root: Path, tmp_path: Path) -> None:
    at, task = registered(root, saying(tmp_path / "bin", OK))
    assert gate(root, task, BLOCKED) == ["review_registered"]
    worked(at, task)
    assert gate(root, task, PASSED) == []
    (root / "new.py").write_text("n = 2\n")
    assert gate(root, task, BLOCKED) == ["review_changed"]


def test_judging_a_task_does_not_change_the_files_that_were_reviewed(tmp_path: Path) -> None:
    root = repository(tmp_path / "project")
    at, task = registered(root, saying(tmp_path / "bin", OK))
    worked(at, task)
    for _ in range(3):
        assert gate(root, task, PASSED) == []
    assert not (root / "outputs").exists()


def test_a_rejected_and_a_failed_task_are_blocked(root: Path, tmp_path: Path) -> None:
    body = "print('{\"status\": \"NOK\"}' if 'n = 1' in prompt else 'prose')"
    at, task = registered(root, program(tmp_path / "bin", body))
    worked(at, task)
    assert gate(root, task, BLOCKED) == ["review_rejected"]
    worked(at, task, "n = 2\n")
    assert gate(root, task, BLOCKED) == ["review_failed"]


def test_clearing_satisfies_no_gate(root: Path, tmp_path: Path) -> None:
    at, task = registered(root, saying(tmp_path / "bin", OK))
    worked(at, task)
    set_password(at.password, "open sesame")
    at.clear([task], "open sesame")
    assert gate(root, task, BLOCKED) == ["review_cleared"]


def test_a_task_that_nobody_knows_is_blocked(root: Path, tmp_path: Path) -> None:
    assert gate(root, "afx-000000000000", BLOCKED) == ["review_unknown"]
    registered(root, saying(tmp_path / "bin", OK))
    assert gate(root, "afx-000000000001", BLOCKED) == ["review_unknown"]


def test_a_repository_that_is_gone_is_blocked(root: Path, tmp_path: Path) -> None:
    at, task = registered(root, saying(tmp_path / "bin", OK))
    worked(at, task)
    (root / ".git").rename(tmp_path / "elsewhere")
    assert gate(root, task, BLOCKED) == ["review_changed"]


def test_the_ledger_of_reviewed_tasks_is_whole_and_says_so_when_it_is_not(root: Path, tmp_path: Path) -> None:
    own = desk(root, saying(tmp_path / "bin", '{"status": "NOK", "feedback": "no"}'))
    at = replace(own, witness=path_of({"HOME": str(root.parent)}, root))
    task = at.register(TASK, (), "")
    worked(at, task)
    whole = start(root, "ledger", "verify", "--json", HOME=str(root.parent))
    assert whole.returncode == PASSED, whole
    db = Database(str(at.state))
    for name in ("review_events_no_update", "ledger_no_update"):
        db.execute(f"DROP TRIGGER {name}")
    db.execute("UPDATE review_events SET kind = 'verified' WHERE kind = 'rejected'")
    db.execute("UPDATE ledger SET content = replace(content, 'rejected', 'verified')")
    db.conn.commit()
    db.close()
    assert gate(root, task, BLOCKED) == ["review_damaged"]
    assert start(root, "ledger", "verify", HOME=str(root.parent)).returncode == BLOCKED


def verified(root: Path, tmp_path: Path, text: str = "n = 1\n") -> str:
    at, task = registered(root, saying(tmp_path / "bin", OK))
    worked(at, task, text)
    return task


def test_a_verified_task_passes_for_the_commit_of_its_files_and_no_other(root: Path, tmp_path: Path) -> None:
    task = verified(root, tmp_path)
    said_ = blocked_for(root, task, "HEAD")
    assert ": new.py; commit what was verified, or check that commit out and have it reviewed by todo" in said_
    done = commit(root)
    report = judged(root, task, PASSED, "--commit", "HEAD")
    assert (report["commit"], report["tree"]) == (done, git(root, "rev-parse", "HEAD^{tree}"))
    assert ": new.py; " in blocked_for(root, task, "HEAD~1")
    assert gate(root, task, BLOCKED, "--commit", "nowhere") == ["input"]
    (root / "new.py").write_text("n = 2\n")
    assert "changed since it was verified" in blocked_for(root, task, done)


def test_what_a_commit_has_beside_the_reviewed_files_is_found(root: Path, tmp_path: Path) -> None:
    task = verified(root, tmp_path)
    commit(root)
    head = git(root, "rev-parse", "HEAD")
    (root / "outputs").mkdir()  # ignored, and the same there as in the commit
    (root / "outputs/new.py").write_text("n = 1\n")
    for entry in (f"100644,{git(root, 'hash-object', '-w', 'new.py')},outputs/new.py", f"160000,{head},vendor"):
        git(root, "update-index", "--add", "--cacheinfo", entry)
        other = git(root, "commit-tree", git(root, "write-tree"), "-p", "HEAD", "-m", "x")
        git(root, "read-tree", "HEAD")
        assert f": {entry.rpartition(',')[2]}; commit what was verified" in blocked_for(root, task, other)
    assert gate(root, task, PASSED, "--commit", "HEAD") == []


def test_files_that_are_only_named_have_to_be_those_of_the_commit_too(root: Path, tmp_path: Path) -> None:
    (root / "server.pem").write_text("one\n")
    task = verified(root, tmp_path)
    git(root, "add", "new.py")
    git(root, "commit", "-qm", "without the key")
    assert ": server.pem; " in blocked_for(root, task, "HEAD")
    commit(root)
    assert gate(root, task, PASSED, "--commit", "HEAD") == []
    blob = git(root, "hash-object", "-w", "new.py")
    git(root, "update-index", "--cacheinfo", f"100644,{blob},server.pem")
    other = git(root, "commit-tree", git(root, "write-tree"), "-p", "HEAD", "-m", "x")
    git(root, "read-tree", "HEAD")
    assert ": server.pem; " in blocked_for(root, task, other)


def test_a_submodule_has_to_be_committed_as_it_was_reviewed(root: Path, tmp_path: Path) -> None:
    library = repository(tmp_path / "library")
    git(root, "submodule", "--quiet", "add", str(library), "library")
    before = commit(root)
    at, task = registered(root, saying(tmp_path / "bin", OK))
    (root / "library/more.py").write_text("m = 1\n")
    worked(at, task)
    commit(root)
    assert ": library/more.py; " in blocked_for(root, task, "HEAD")
    commit(root / "library")
    assert ": library; " in blocked_for(root, task, "HEAD")
    commit(root)
    assert gate(root, task, PASSED, "--commit", "HEAD") == []
    assert "library" in blocked_for(root, task, before)


def test_a_review_is_about_its_own_repositories(root: Path, tmp_path: Path) -> None:
    other = repository(tmp_path / "other")
    at = desk(root, saying(tmp_path / "bin", OK))
    task = at.register(TASK, (f"file://{other}",), "")
    (other / "new.py").write_text("n = 1\n")
    at.review(task, threading.Event())
    assert gate(root, task, PASSED) == []
    assert f"the review is about {other}, not about {root}" in blocked_for(root, task, "HEAD")


def test_what_a_review_does_not_use_is_refused_and_not_passed_over(root: Path, tmp_path: Path) -> None:
    task = verified(root, tmp_path)
    for option, value in (("--base", "HEAD"), ("--input-dir", ".")):
        done = start(root, "gate", "--task-id", task, option, value, HOME=str(root.parent))
        assert done.returncode == MISTAKE
        assert f"judged by what was reviewed; leave out {option}" in said(done)
