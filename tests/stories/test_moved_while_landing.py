"""Somebody moves the integration branch in the moment between the record of a landing and the move of the branch."""

from __future__ import annotations

from pathlib import Path

from agent_fox.testing.worlds import Req, World, git, landed, rows
from tests.git_in_front import git_in_front
from tests.stories.scene import PROVEN, decisions, run

BRANCH = "refs/heads/agent-fox/integration"
ACCEPT = '[git]\nforeign_commits = "accept"\n'
FOREIGN = """
e=$(echo foreign | "$GIT" hash-object -w --stdin)
t=$(printf '100644 blob %s\\t{path}\\n' $e | cat - <("$GIT" ls-tree {branch}) | "$GIT" mktree)
"$GIT" update-ref {branch} $("$GIT" -c user.name=Eve -c user.email=e@e commit-tree -p {branch} -m foreign $t)
"""


def meddling_git(folder: Path, deed: str, turn: int = 2, *, is_once: bool = True) -> str:
    """A PATH on which one move of the branch comes a moment after `deed` (shell; GIT is the real one).

    The branch is made by the first such call, so that the second one lands the first work.
    """
    return git_in_front(folder, f"*update-ref*{BRANCH}*", turn, deed, is_once=is_once)


def world(folder: Path, settings: str = "", **does: str) -> Path:
    """One coder; `does` says what it does at attempt `_N`."""
    plays = {f"01_calc:1/{attempt.removeprefix('_')}": deed.replace("_", " ") for attempt, deed in does.items()}
    return World({"01_calc": [Req("01-REQ-1.1", 1)]}, coder_does=plays, settings=settings).build(folder)


def foreign(path: str = "foreign.txt") -> str:
    return FOREIGN.format(path=path, branch=BRANCH)


def test_commits_of_others_are_taken_off_and_kept_aside_and_the_work_lands(tmp_path: Path) -> None:
    root = world(tmp_path)
    run(root, ends=PROVEN, PATH=meddling_git(tmp_path / "bin", foreign()))
    assert (landed(root, "foreign.txt"), landed(root, "proof/01-REQ-1.1.txt")) == (None, "right")
    (stray,) = git(root, "for-each-ref", "--format=%(refname)", "refs/agent-fox").splitlines()
    assert git(root, "show", f"{stray}:foreign.txt") == "foreign"
    assert decisions(root, "01_calc:1") == ["Land"]


def test_accepted_commits_of_others_are_built_on(tmp_path: Path) -> None:
    root = world(tmp_path, ACCEPT)
    run(root, ends=PROVEN, PATH=meddling_git(tmp_path / "bin", foreign()))
    assert (landed(root, "foreign.txt"), landed(root, "proof/01-REQ-1.1.txt")) == ("foreign\n", "right")
    subjects = git(root, "log", "--format=%s", "--first-parent", "main..agent-fox/integration").splitlines()
    assert subjects == ["01_calc:1: Part 1 of 01_calc", "foreign"]
    ((base, commit),) = rows(root, "SELECT base_commit, landed_commit FROM sessions WHERE archetype = 'coder'")
    assert git(root, "log", "-1", "--format=%s", str(base)) == "foreign"
    assert commit == git(root, "rev-parse", "agent-fox/integration")


def test_accepted_commits_that_conflict_send_the_coder_back_with_the_merge(tmp_path: Path) -> None:
    root = world(tmp_path, ACCEPT, _1="write_shared.txt", _2="write_shared.txt")
    run(root, ends=PROVEN, PATH=meddling_git(tmp_path / "bin", foreign("shared.txt")))
    assert decisions(root, "01_calc:1") == ["Land", "Retry", "Land"]
    assert landed(root, "shared.txt") == "01_calc:1\n"
    parents = git(root, "log", "-1", "--format=%P", "agent-fox/integration").split()
    assert [git(root, "show", f"{parent}:shared.txt") for parent in parents] == ["foreign", "01_calc:1"]
    assert git(root, "for-each-ref", "refs/agent-fox") == ""


def test_a_branch_that_is_deleted_in_that_moment_is_put_back_and_the_work_lands(tmp_path: Path) -> None:
    root = world(tmp_path)
    run(root, ends=PROVEN, PATH=meddling_git(tmp_path / "bin", f'"$GIT" update-ref -d {BRANCH}'))
    assert landed(root, "proof/01-REQ-1.1.txt") == "right"
    assert decisions(root, "01_calc:1") == ["Land"]


def test_a_branch_that_is_moved_back_each_time_is_given_up_and_the_next_run_lands_the_work(tmp_path: Path) -> None:
    """Each call that would move the branch comes after another move of it, until the person stops what does it."""
    root = world(tmp_path)
    path = meddling_git(tmp_path / "bin", foreign(), is_once=False)
    done = run(root, ends=4, PATH=path)
    assert "is moved again and again; stop what moves it, then run again" in done.stderr
    git(root, "update-ref", BRANCH, str(rows(root, "SELECT tip_commit FROM runs")[0][0]))
    run(root, ends=PROVEN)
    assert (landed(root, "foreign.txt"), landed(root, "proof/01-REQ-1.1.txt")) == (None, "right")
