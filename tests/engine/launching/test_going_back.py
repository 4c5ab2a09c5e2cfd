"""Going back to the best tree, killed or disturbed at each of its steps: it is done once, and nothing is lost."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from agent_fox.testing.worlds import Req, World, git, issue_files, landed, log, run_cli
from tests.engine.test_kill import deadly_git, end_state, is_clean
from tests.stories.scene import NOT_PROVEN, PROVEN, begin, briefed, decisions, run, verdicts
from tests.stories.test_moved_while_landing import ACCEPT, BRANCH, meddling_git

A, B, C = "01-REQ-1.1", "01-REQ-1.2", "01-REQ-1.3"
THREE = [Req(A), Req(B), Req(C, right_at=3)]
LOSING = World({"01_calc": THREE}, breaks={"01_calc:1/2": [A]})
BACK = "01_calc: back to attempt 1"
FOURTH = 4
"""The branch is made, attempts 1 and 2 land, then it goes back."""

MOMENTS = {
    "before it is built": ("*merge-tree*", 1, False),
    "when it is built, before the transaction": ("*merge-tree*", 1, True),
    "after the transaction, before the branch moves": (f"*update-ref*{BRANCH}*", FOURTH, False),
    "between the move of the branch and its note": (f"*update-ref*{BRANCH}*", FOURTH, True),
}


@pytest.fixture(scope="module")
def calm(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = LOSING.build(tmp_path_factory.mktemp("calm"))
    run(root, ends=PROVEN)
    return root


def subjects(root: Path) -> list[str]:
    return git(root, "log", "--reverse", "--format=%s", "--first-parent", "main..agent-fox/integration").splitlines()


@pytest.mark.parametrize(("pattern", "turn", "is_done_first"), MOMENTS.values(), ids=MOMENTS)
def test_killed_at_this_moment_the_branch_goes_back_once(
    tmp_path: Path, calm: Path, pattern: str, turn: int, is_done_first: bool
) -> None:
    root = LOSING.build(tmp_path / "world")
    path = deadly_git(tmp_path / "bin", pattern, turn, is_done_first=is_done_first)
    assert begin(root, PATH=path).wait(60) == -signal.SIGKILL
    run(root, ends=PROVEN, PATH=path)
    assert end_state(root) == end_state(calm)
    assert subjects(root) == subjects(calm)
    assert subjects(root).count(BACK) == 1
    assert [row["node"] for row in log(root)] == [row["node"] for row in log(calm)]
    assert is_clean(root)


FOREIGN = """
e=$(echo foreign | "$GIT" hash-object -w --stdin)
t=$( ("$GIT" ls-tree {branch} | grep -v {path}; printf '100644 blob %s\\t{path}\\n' $e) | "$GIT" mktree)
"$GIT" update-ref {branch} $("$GIT" -c user.name=Eve -c user.email=e@e commit-tree -p {branch} -m foreign $t)
"""


def test_commits_that_came_in_that_moment_are_built_on(tmp_path: Path) -> None:
    root = World({"01_calc": THREE}, breaks=LOSING.breaks, settings=ACCEPT).build(tmp_path)
    deed = FOREIGN.format(path="foreign.txt", branch=BRANCH)
    run(root, ends=PROVEN, PATH=meddling_git(tmp_path / "bin", deed, FOURTH))
    assert landed(root, "foreign.txt") == "foreign\n"
    assert subjects(root)[2:4] == ["foreign", BACK]
    assert briefed(root, "01_calc:1", 3) == {C: f"proof/{C}.txt: wrong at attempt 1"}


def test_where_they_conflict_the_branch_stays_and_the_last_report_counts_again(tmp_path: Path) -> None:
    does = {"01_calc:1/2": "write shared.txt"}
    root = World({"01_calc": THREE}, breaks=LOSING.breaks, coder_does=does, settings=ACCEPT).build(tmp_path)
    deed = FOREIGN.format(path="shared.txt", branch=BRANCH)
    run(root, ends=PROVEN, PATH=meddling_git(tmp_path / "bin", deed, FOURTH))
    assert decisions(root, "01_calc:2") == ["Recode", "Recode", "Stay", "Accept"]
    assert BACK not in subjects(root)
    assert briefed(root, "01_calc:1", 3) == {part: f"proof/{part}.txt: wrong at attempt 2" for part in (A, C)}
    (brief,) = (row for row in log(root) if (row["role"], row["attempt"]) == ("coder", 3))
    assert brief["reason"] == STAYS


STAYS = "the branch stays at the last attempt: later work of others changed the same lines in shared.txt"


def test_after_a_block_the_issue_and_the_history_are_told_anew(tmp_path: Path) -> None:
    does, settings = {"01_calc:1/2": "write shared.txt"}, f"{ACCEPT}[retry]\nattempts = 2\n"
    root = World({"01_calc": THREE}, breaks=LOSING.breaks, coder_does=does, settings=settings).build(tmp_path)
    deed = FOREIGN.format(path="shared.txt", branch=BRANCH)
    run(root, ends=NOT_PROVEN, PATH=meddling_git(tmp_path / "bin", deed, FOURTH))
    assert decisions(root, "01_calc:2") == ["Recode", "Block", "Stay"]
    assert verdicts(root) == {A: "FAIL", B: "PASS", C: "FAIL"}
    assert f"01_calc:2 stopped after 2 attempts; {STAYS}" in " ".join(run_cli(root, "status").stdout.split())
    texts = "".join(path.read_text() for path in issue_files(root))
    assert f"proof/{A}.txt: wrong at attempt 2" in texts
