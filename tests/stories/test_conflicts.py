"""Two coders change the same lines: the second one's next session finishes the merge, and nothing is written twice."""

from __future__ import annotations

import json
import signal
from pathlib import Path
from typing import Any

import pytest

from agent_fox.testing.worlds import Req, World, git, issue_files, landed, rows
from tests.engine.test_kill import deadly_git
from tests.stories.scene import NOT_PROVEN, PROVEN, begin, causes, decisions, run

CODER = """
import json, os, pathlib, subprocess, sys, time

node, attempt = os.environ["AGENT_FOX_NODE"], os.environ["AGENT_FOX_ATTEMPT"]
brief = json.loads(pathlib.Path(os.environ["AGENT_FOX_BRIEF_JSON"]).read_text())
told, play = pathlib.Path(sys.argv[1]), json.loads(sys.argv[2])
shared = pathlib.Path("shared.txt")
seen = shared.read_text() if shared.exists() else None
row = {"node": node, "attempt": int(attempt), "conflict": brief.get("conflict"), "seen": seen}
with (told / "told.jsonl").open("a") as file:
    file.write(json.dumps(row) + "\\n")
if attempt == "1":
    (told / f"started-{node}").touch()
    while len(list(told.glob("started-*"))) < 2:
        time.sleep(0.01)
deed = play.get(attempt, "write")
if deed == "write":
    pathlib.Path("proof").mkdir(exist_ok=True)
    pathlib.Path(f"proof/{node[:2]}-REQ-1.1.txt").write_text("right")
    shared.write_text(f"{node}\\n")
if deed == "both":
    sides = [subprocess.run(["git", "show", f"{side}:shared.txt"], capture_output=True, text=True).stdout
             for side in ("integration", "work")]
    shared.write_text("".join(sorted(sides)))
"""
BOTH = "01_a:1\n02_b:1\n"


def build(folder: Path, settings: str = "", **play: str) -> Path:
    """Two specs whose coders both write `shared.txt`; `play` says what a coder does at attempt `_N`."""
    specs = {"01_a": [Req("01-REQ-1.1", 1)], "02_b": [Req("02-REQ-1.1", 1)]}
    deeds = {attempt.removeprefix("_"): deed for attempt, deed in play.items()}
    command = json.dumps(["python3", "-c", CODER, str(folder), json.dumps(deeds)])
    agent = f'[agents.coder]\nbackend = "command"\ncommand = {command}\ntimeout = 60\n'
    return World(specs, settings=agent + settings).build(folder)


def told(root: Path) -> list[dict[str, Any]]:
    """What the coders found, one row a session, by attempt."""
    lines = [json.loads(line) for line in (root.parent / "told.jsonl").read_text().splitlines()]
    return sorted(lines, key=lambda row: int(row["attempt"]))


def loser(root: Path) -> str:
    return str(told(root)[-1]["node"])


def refs(root: Path) -> list[str]:
    return git(root, "for-each-ref", "--format=%(refname)", "refs/agent-fox").splitlines()


def go(root: Path, *, ends: int = PROVEN, **variables: str) -> None:
    run(root, "--parallel", "2", ends=ends, **variables)


def test_the_next_session_finishes_the_merge_and_the_first_sessions_work_is_in_it(tmp_path: Path) -> None:
    root = build(tmp_path, _2="both")
    go(root)
    assert [row["attempt"] for row in told(root)] == [1, 1, 2]
    assert landed(root, "shared.txt") == BOTH
    assert {landed(root, f"proof/0{n}-REQ-1.1.txt") for n in (1, 2)} == {"right"}
    assert decisions(root, loser(root)) == ["Retry", "Land"]
    assert refs(root) == []


def test_the_session_is_told_the_files_and_both_sides_and_finds_the_markers(tmp_path: Path) -> None:
    root = build(tmp_path, _2="both")
    go(root)
    last = told(root)[-1]
    winner = next(row["node"] for row in told(root) if row["node"] != last["node"])
    assert last["seen"] == f"<<<<<<< integration\n{winner}\n=======\n{last['node']}\n>>>>>>> work\n"
    (branch,), (work,) = last["conflict"]["branch"], last["conflict"]["work"]
    assert last["conflict"]["files"] == ["shared.txt"]
    assert (branch.split(": ")[0], work.split(": ")[0]) == (winner, last["node"])
    assert [row["conflict"] for row in told(root)[:-1]] == [None, None]


def test_the_decision_records_what_is_to_be_merged(tmp_path: Path) -> None:
    root = build(tmp_path, _2="both")
    go(root)
    ((facts, note),) = rows(root, "SELECT facts, note FROM decisions WHERE kind = 'Retry'")
    conflict = json.loads(str(facts))["conflict"]
    assert conflict["files"] == ["shared.txt"]
    parents = git(root, "log", "--format=%P", "--merges", "-1", "agent-fox/integration").split()
    assert conflict["work"] in parents
    assert note == "its work conflicts with the integration branch in shared.txt"


def test_markers_that_are_left_cost_the_attempt_and_the_next_one_starts_afresh_from_the_tip(tmp_path: Path) -> None:
    root = build(tmp_path, _2="nothing", _3="write")
    go(root)
    rows_told = told(root)
    assert [row["attempt"] for row in rows_told] == [1, 1, 2, 3]
    assert "<<<<<<<" in str(rows_told[2]["seen"])
    assert (rows_told[3]["conflict"], "<<<<<<<" in str(rows_told[3]["seen"])) == (None, False)
    failed = rows(root, "SELECT attempt, reason FROM sessions WHERE status = 'failed' ORDER BY attempt")
    assert failed == [
        (1, "its work conflicts with the integration branch in shared.txt"),
        (2, "refused: conflict markers are left in shared.txt"),
    ]
    assert landed(root, "shared.txt") == f"{loser(root)}\n"
    (kept,) = refs(root)
    assert (kept.startswith("refs/agent-fox/cut-off/"), kept.endswith("/2")) == (True, True)


def test_attempts_that_are_spent_block_the_coder_with_the_conflict_as_reason(tmp_path: Path) -> None:
    root = build(tmp_path, settings="[retry]\nattempts = 1\n", _2="both")
    go(root, ends=NOT_PROVEN)
    node = next(str(name) for name, cause in causes(root) if cause == "attempts spent")
    assert decisions(root, node) == ["Block"]
    assert "conflicts with the integration branch in shared.txt" in issue_files(root)[0].read_text()
    assert refs(root) == []


def test_squashed_the_branch_has_one_commit_a_piece_of_work_and_no_merge(tmp_path: Path) -> None:
    root = build(tmp_path, settings='[git]\nlanding = "squash"\n', _2="both")
    go(root)
    assert landed(root, "shared.txt") == BOTH
    assert git(root, "rev-list", "--merges", "main..agent-fox/integration") == ""
    trailer = "--format=%(trailers:key=Agent-Fox-Ticket,valueonly,separator=%x20)"
    tickets = git(root, "log", trailer, "main..agent-fox/integration").split()
    assert tickets == [f"{loser(root)}@2", f"{({'01_a:1', '02_b:1'} - {loser(root)}).pop()}@1"]


MOMENTS = {
    "before the work is kept": ("*update-ref*refs/agent-fox/conflicts*", 1, False),
    "after the work is kept": ("*update-ref*refs/agent-fox/conflicts*", 1, True),
    "before the merge is laid": ("*restore*--source*", 1, False),
    "when the merge was laid": ("*restore*--source*", 1, True),
    "before the merge is taken": ("*commit-tree*", 3, False),
    "when the merge was taken": ("*commit-tree*", 3, True),
    "between the merge's landing and its note": ("*update-ref*refs/heads/agent-fox/integration*", 3, True),
}


@pytest.mark.parametrize(("pattern", "turn", "is_done_first"), MOMENTS.values(), ids=MOMENTS)
def test_killed_at_this_moment_the_merge_is_finished_all_the_same(
    tmp_path: Path, pattern: str, turn: int, is_done_first: bool
) -> None:
    root = build(tmp_path / "world", _2="both")
    path = deadly_git(tmp_path / "bin", pattern, turn, is_done_first=is_done_first)
    assert begin(root, "--parallel", "2", PATH=path).wait(120) == -signal.SIGKILL
    go(root, PATH=path)
    assert landed(root, "shared.txt") == BOTH
    assert decisions(root, loser(root)) == ["Retry", "Land"]
    assert refs(root) == []


def test_kept_work_that_is_gone_means_an_ordinary_next_session(tmp_path: Path) -> None:
    """The run is killed before the merge is laid; then reference and commit are removed."""
    root = build(tmp_path / "world")
    path = deadly_git(tmp_path / "bin", "*restore*--source*", 1, is_done_first=False)
    assert begin(root, "--parallel", "2", PATH=path).wait(120) == -signal.SIGKILL
    for ref in refs(root):
        git(root, "update-ref", "-d", ref)
    git(root, "-c", "gc.reflogExpire=now", "gc", "--prune=now", "-q")
    go(root, PATH=path)
    last = told(root)[-1]
    assert (last["attempt"], last["conflict"], "<<<<<<<" in last["seen"]) == (2, None, False)
    assert landed(root, "shared.txt") == f"{loser(root)}\n"
    assert refs(root) == []
