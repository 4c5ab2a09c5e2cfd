"""A FAIL goes back to one group, several tries are made from the same commit, and the best of them lands."""

from __future__ import annotations

import json
import signal
import subprocess
import time
from pathlib import Path

import pytest

from agent_fox.testing.worlds import Req, World, git, landed, log, rows, run_cli, wait_until
from tests.engine.test_kill import deadly_git
from tests.stories.scene import (
    CEILING,
    INTERRUPTED,
    NOT_PROVEN,
    PROVEN,
    begin,
    causes,
    configure,
    decisions,
    press_once,
    run,
)

CODER = """
import json, os, pathlib, sys, time

node, attempt = os.environ["AGENT_FOX_NODE"], os.environ["AGENT_FOX_ATTEMPT"]
told, play = pathlib.Path(sys.argv[1]), json.loads(sys.argv[2])
lines = (told / "coders.jsonl").read_text().splitlines() if (told / "coders.jsonl").exists() else []
number = sum(json.loads(line)["ticket"] == f"{node}/{attempt}" for line in lines)
seen = sorted(path.name for path in pathlib.Path("proof").glob("*")) if pathlib.Path("proof").exists() else []
with (told / "coders.jsonl").open("a") as file:
    file.write(json.dumps({"ticket": f"{node}/{attempt}", "seen": seen}) + "\\n")
deed = play.get(f"{node}/{attempt}", ["part 1"])
deed = deed[number] if number < len(deed) else "nothing"
result = {"cost_usd": 1.0, "input_tokens": 10, "output_tokens": 1, "summary": f"{deed} of {node}"}
pathlib.Path(os.environ["AGENT_FOX_RESULT"]).write_text(json.dumps(result))
word, _, rest = deed.partition(" ")
if word == "fail":
    sys.exit(f"{rest}")
if word == "hang":
    time.sleep(3600)
if word == "wait":
    (told / "waiting").touch()
    while not (told / "gate").exists():
        time.sleep(0.02)
    word, rest = "part", "3"
if word == "weaken":
    weak = pathlib.Path("tests/test_app.py").read_text().replace("== 3", "is not None")
    pathlib.Path("tests/test_app.py").write_text(weak)
if word == "shared":
    pathlib.Path("shared.txt").write_text(rest)
    rest = "1 2 3"
if word in ("part", "shared", "long", "weaken"):
    pathlib.Path("proof").mkdir(exist_ok=True)
    for part in rest.split():
        pathlib.Path(f"proof/{node[:2]}-REQ-1.{part}.txt").write_text("right")
if word == "long":
    pathlib.Path("more.txt").write_text("line\\n" * 50)
"""
TEST = "from app import total\n\n\ndef test_total():\n    assert total([1, 2]) == 3\n"
RIGHT = "part 1 2 3"


def build(
    folder: Path,
    second: list[str],
    settings: str = "candidates = 3",
    third: list[str] | None = None,
    says: dict[str, list[str]] | None = None,
) -> Path:
    """One spec with three requirements. The first attempt proves one of them; `second` is what each try of the second
    does: `part` with the requirements that it proves, `fail`, `hang`, `weaken`, `shared`, `long` or `nothing`.
    """
    deeds = {"01_a:1/1": ["part 1"], "01_a:1/2": second, "01_a:1/3": third or []}
    command = json.dumps(["python3", "-c", CODER, str(folder), json.dumps(deeds)])
    agent = f'[agents.coder]\nbackend = "command"\ncommand = {command}\ntimeout = 60\nassumed_cost_usd = 1.0\n'
    specs = {"01_a": [Req(f"01-REQ-1.{part}", 1) for part in (1, 2, 3)]}
    root = World(specs, verifier_says=says or {}, settings=f"{agent}[retry]\n{settings}\n").build(folder)
    (root / "tests").mkdir()
    (root / "tests" / "test_app.py").write_text(TEST)
    git(root, "add", "-A")
    git(root, "commit", "-qm", "a test")
    return root


def tries(root: Path) -> list[dict[str, object]]:
    """What coders did, a row a launch."""
    return [json.loads(line) for line in (root.parent / "coders.jsonl").read_text().splitlines()]


def second(root: Path) -> list[dict[str, object]]:
    return [row for row in tries(root) if row["ticket"] == "01_a:1/2"]


def readings(root: Path) -> int:
    """How often a verifier read anything of the second attempt: candidates, and what landed."""
    return sum(row["role"] == "verifier" and row["attempt"] == 2 for row in log(root))


def told(root: Path, kind: str = "Land") -> str:
    """What the decision about the second attempt says of the candidates."""
    sql = f"SELECT json_extract(facts, '$.candidates.told') FROM decisions WHERE kind = '{kind}' AND attempt = 2"
    ((text,),) = rows(root, sql)
    return str(text)


def kept(root: Path) -> list[str]:
    names = git(root, "for-each-ref", "--format=%(refname)", "refs/agent-fox/candidates").splitlines()
    return [name.rpartition("/")[2] for name in names]


def launches(root: Path) -> list[tuple[object, ...]]:
    sql = (
        "SELECT l.number, l.status, l.cost_usd FROM launches AS l JOIN sessions AS s ON s.id = l.session_id "
        "WHERE s.node_id = '01_a:1' AND s.attempt = 2 ORDER BY l.number"
    )
    return rows(root, sql)


def spent(root: Path) -> object:
    ((dollars,),) = rows(root, "SELECT sum(cost_usd) FROM launches")
    return dollars


def end_state(root: Path) -> dict[str, object]:
    """Everything that a crash must not change; a reference whose removal was cut off goes when it is old."""
    return {
        "nodes": sorted(rows(root, "SELECT id, status, outcome, attempt FROM plan_nodes")),
        "work": git(root, "rev-parse", "agent-fox/integration:proof"),
        "told": told(root),
        "launches": launches(root),
        "others": [name for name in kept(root) if name != "2.2"],
    }


@pytest.fixture(scope="module")
def best(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The second of three tries is right; the first and the third prove less. The tests only look at it."""
    root = build(tmp_path_factory.mktemp("best"), ["part 2", RIGHT, "fail out of ideas"])
    run(root, ends=PROVEN)
    return root


def test_the_best_lands_as_the_one_completed_launch_of_its_ticket(best: Path) -> None:
    assert decisions(best, "01_a:1") == ["Land", "Land"]
    assert decisions(best, "01_a:2") == ["Recode", "Accept"]
    assert launches(best) == [(1, "interrupted", 1.5), (2, "ended", 1.5), (3, "interrupted", 1.0)]
    assert landed(best, "proof/01-REQ-1.3.txt") == "right"


def test_all_begin_from_the_same_files_and_one_attempt_is_charged(best: Path) -> None:
    assert [row["seen"] for row in second(best)] == [["01-REQ-1.1.txt"]] * 3
    assert rows(best, "SELECT attempt, status FROM sessions WHERE node_id = '01_a:1'") == [
        (1, "completed"),
        (2, "completed"),
    ]
    assert spent(best) == 5.0  # four launches told a dollar each, and half a dollar is assumed of each reading


def test_each_is_read_and_what_landed_is_read_again(best: Path) -> None:
    assert readings(best) == 3
    assert rows(best, "SELECT count(*) FROM verification_results WHERE attempt = 2") == [(3,)]


def test_the_others_stay_as_references_and_explain_names_them(best: Path) -> None:
    assert kept(best) == ["2.1"]
    assert told(best) == (
        "candidate 2 of 3 is taken; 1: 2 of 3 requirements pass (refs/agent-fox/candidates/01_a-coder-1/2.1); "
        "2: 3 of 3 requirements pass; 3: failed: exit 1: out of ideas"
    )
    shown = " ".join(run_cli(best, "explain", "01_a:1").stdout.split())
    assert "candidate 2 of 3 is taken" in shown
    assert "refs/agent-fox/candidates/01_a-coder-1/2.1" in shown
    assert "3 candidates are made, and the best lands" in " ".join(run_cli(best, "explain", "01_a:2").stdout.split())
    assert "kept: 1 candidate (refs/agent-fox/candidates/01_a-coder-1/2.1" in " ".join(
        run_cli(best, "status", "--all").stdout.split()
    )


def test_by_default_an_attempt_is_one_try(tmp_path: Path) -> None:
    root = build(tmp_path, [RIGHT], settings="attempts = 3")
    run(root, ends=PROVEN)
    assert (len(second(root)), readings(root), kept(root)) == (1, 1, [])


def test_all_fail_alike(tmp_path: Path) -> None:
    root = build(tmp_path, ["fail no idea"] * 3, third=[RIGHT])
    run(root, ends=PROVEN)
    assert decisions(root, "01_a:1") == ["Land", "Retry", "Land"]
    assert told(root, "Retry").startswith("all 3 candidates failed alike; ")
    assert len(second(root)) == 3
    assert readings(root) == 1  # of what the third attempt landed: the verifier's second
    assert [status for _, status, _ in launches(root)] == ["ended", "interrupted", "interrupted"]
    assert len(tries(root)) == 5  # a Retry is one try


def test_one_that_was_lost_to_infrastructure_is_made_again_and_counts_as_one(tmp_path: Path) -> None:
    settings = "candidates = 2\n[infrastructure]\nfirst_wait = 0.01\n"
    root = build(tmp_path, ["part 2", "fail Error: getaddrinfo EAI_AGAIN models.invalid", RIGHT], settings)
    run(root, ends=PROVEN)
    assert [status for _, status, _ in launches(root)] == ["interrupted", "infrastructure", "ended"]
    assert told(root).startswith("candidate 2 of 2 is taken; ")


def test_two_that_tie_are_decided_by_the_smaller_change_and_then_by_the_earlier(tmp_path: Path) -> None:
    root = build(tmp_path, ["long 1 2 3", "part 1 2 3", "shared x"], "candidates = 3")
    run(root, ends=PROVEN)
    assert told(root).startswith("candidate 2 of 3 is taken; ")


def test_of_two_that_tie_in_all_the_earlier_lands(tmp_path: Path) -> None:
    root = build(tmp_path, ["shared a", "shared b"], "candidates = 2")
    run(root, ends=PROVEN)
    assert (landed(root, "shared.txt"), kept(root)) == ("a", ["2.2"])


def test_the_same_files_twice_are_read_once_and_the_earlier_one_lands(tmp_path: Path) -> None:
    root = build(tmp_path, [RIGHT, RIGHT, "part 2"])
    run(root, ends=PROVEN)
    assert told(root).startswith("candidate 1 of 3 is taken; 1: 3 of 3 requirements pass; ")
    assert "2: 3 of 3 requirements pass, the same files as 1, read once (refs/" in told(root)
    assert readings(root) == 3


def test_one_that_weakens_tests_is_refused_and_cannot_land(tmp_path: Path) -> None:
    root = build(tmp_path, ["weaken 1 2 3", "part 2"], "candidates = 2\nattempts = 2")
    run(root, ends=NOT_PROVEN)
    assert told(root).startswith("candidate 2 of 2 is taken; 1: refused: ")
    assert landed(root, "tests/test_app.py") == TEST


def test_one_that_changes_nothing_comes_last(tmp_path: Path) -> None:
    root = build(tmp_path, ["nothing", "part 2", "fail x"], "candidates = 3\nattempts = 2")
    run(root, ends=NOT_PROVEN)
    assert told(root).startswith("candidate 2 of 3 is taken; 1: changed nothing; ")


def test_where_several_groups_are_blamed_each_has_one_try_and_it_is_said(tmp_path: Path) -> None:
    specs = {"01_a": [Req("01-REQ-1.1", 1, right_at=2), Req("01-REQ-2.1", 2, right_at=2)]}
    root = World(specs, settings="[retry]\ncandidates = 3\n").build(tmp_path)
    done = run(root, ends=PROVEN)
    said = "no candidates: they are of one group, and 2 are blamed"
    assert [row["attempt"] for row in log(root) if row["role"] == "coder"] == [1, 1, 2, 2]
    assert said in done.stdout
    assert said in " ".join(run_cli(root, "explain", "01_a:3").stdout.split())


def test_a_better_one_that_conflicts_with_the_branch_gives_way_to_the_next(tmp_path: Path) -> None:
    """A person's commit on the branch changes the same file while the candidates are made."""
    more = 'candidates = 3\n[git]\nforeign_commits = "accept"'
    root = build(tmp_path, ["shared mine", "part 1 2", "wait"], more, third=["part 3"])
    (root / "shared.txt").write_text("at first\n")
    git(root, "add", "-A")
    git(root, "commit", "-qm", "a shared file")
    running = begin(root)
    wait_until(lambda: waits(root), "the third try had begun")
    tree = tree_with(root, "shared.txt", "of others\n")
    other = git(root, "commit-tree", tree, "-p", "agent-fox/integration", "-m", "x")
    git(root, "update-ref", "refs/heads/agent-fox/integration", other)
    (tmp_path / "gate").touch()
    assert running.wait(60) == PROVEN
    assert told(root).startswith("candidate 2 of 3 is taken; 1: ")
    assert "but it conflicts with the branch in shared.txt" in told(root)


def test_a_ceiling_after_the_first_makes_do_with_it(tmp_path: Path) -> None:
    root = build(tmp_path, ["part 2", RIGHT, RIGHT], "candidates = 3\n[limits]\ncost_usd = 3.2", third=[RIGHT])
    run(root, ends=CEILING)
    assert told(root).startswith("candidate 1 of 1 is taken; 1 of 3 were made: ceiling: cost: $3.00 spent, ")
    assert (len(second(root)), landed(root, "proof/01-REQ-1.2.txt")) == (1, "right")
    configure(root, "cost_usd = 3.2", "cost_usd = 50.0")
    run(root, ends=PROVEN)


def test_a_ceiling_of_the_node_makes_do_with_what_there_is(tmp_path: Path) -> None:
    root = build(tmp_path, ["part 2", RIGHT, RIGHT], "candidates = 3\n[limits.node]\ncost_usd = 2.0")
    run(root, ends=NOT_PROVEN)
    assert told(root).startswith("candidate 1 of 1 is taken; 1 of 3 were made: ceiling: 01_a:coder:1 has cost its ")
    assert causes(root) == [("01_a:2", "ceiling")]


def test_time_that_is_over_makes_do_with_what_there_is(tmp_path: Path) -> None:
    root = build(tmp_path, ["part 2", "wait", RIGHT], "candidates = 3\n[limits]\nwall_minutes = 0.15", third=[RIGHT])
    running = begin(root)
    wait_until(lambda: waits(root), "the second try had begun")
    time.sleep(9)
    (tmp_path / "gate").touch()
    assert running.wait(60) == CEILING
    assert told(root).startswith("candidate 1 of 2 is taken; 2 of 3 were made: wall time: ")
    assert "2: was not read (refs/" in told(root)
    configure(root, "wall_minutes = 0.15", "wall_minutes = 60")
    run(root, ends=PROVEN)


def test_a_stop_in_the_middle_goes_on_with_what_is_missing(tmp_path: Path) -> None:
    root = build(tmp_path, ["part 2", "wait", RIGHT], "candidates = 3")
    running = begin(root)
    wait_until(lambda: waits(root), "the second try had begun")
    press_once(root, running)
    (tmp_path / "gate").touch()
    assert running.wait(60) == INTERRUPTED
    assert len(second(root)) == 2
    run(root, ends=PROVEN)
    assert len(second(root)) == 3
    assert told(root).startswith("candidate 3 of 3 is taken; ")


LEFT = (
    "SELECT l.status, l.reason FROM launches AS l JOIN sessions AS s ON s.id = l.session_id "
    "WHERE s.node_id = '01_a:1' AND s.attempt = 2 ORDER BY l.number"
)


def test_where_their_group_is_taken_out_of_the_plan_they_are_left_and_what_they_cost_stays(tmp_path: Path) -> None:
    root = build(tmp_path, ["part 2", "wait", RIGHT], "candidates = 3")
    running = begin(root)
    wait_until(lambda: waits(root), "the second try had begun")
    press_once(root, running)
    (tmp_path / "gate").touch()
    running.wait(60)
    assert [row[0] for row in rows(root, LEFT)] == ["running", "running"]
    specs = root / ".agent-fox" / "specs"
    (specs / "01_a").rename(specs / "02_b")
    git(root, "add", "-A")
    git(root, "commit", "-qm", "the spec has another name")
    run(root, ends=NOT_PROVEN)
    assert rows(root, LEFT) == [("interrupted", "not taken: its node went on without it")] * 2


MOMENTS = {
    "before a candidate is kept": ("*update-ref*refs/agent-fox/candidates*", 1, False),
    "between keeping a candidate and its note": ("*update-ref*refs/agent-fox/candidates*", 1, True),
    "before a candidate's clean-up": ("*update-ref*-d*refs/agent-fox/launches*", 3, False),
    "while a candidate is made ready to be read": ("*reset*--hard*", 4, True),
    "before a reading's clean-up": ("*update-ref*-d*refs/agent-fox/launches*", 4, True),
    "between the choice and its landing": ("*update-ref*refs/heads/agent-fox/integration*", 3, False),
    "between the landing and its note": ("*update-ref*refs/heads/agent-fox/integration*", 3, True),
    "before the reference of the chosen one is removed": ("*update-ref*-d*refs/agent-fox/candidates*", 1, False),
}


@pytest.mark.parametrize(("pattern", "turn", "is_done_first"), MOMENTS.values(), ids=MOMENTS)
def test_killed_at_this_moment_it_ends_the_same_and_pays_for_nothing_twice(
    tmp_path: Path, best: Path, pattern: str, turn: int, is_done_first: bool
) -> None:
    root = build(tmp_path / "world", ["part 2", RIGHT, "fail out of ideas"])
    path = deadly_git(tmp_path / "bin", pattern, turn, is_done_first=is_done_first)
    assert begin(root, PATH=path).wait(60) == -signal.SIGKILL
    run(root, ends=PROVEN, PATH=path)
    assert end_state(root) == end_state(best)
    assert [row["ticket"] for row in tries(root)] == [row["ticket"] for row in tries(best)]
    assert readings(root) == readings(best)
    assert spent(root) == spent(best)


def test_killed_while_a_candidate_is_read_only_the_reading_is_made_again(tmp_path: Path, best: Path) -> None:
    hanging = build(tmp_path, ["part 2", RIGHT, "fail out of ideas"], says={"01_a/2/1": ["hang"]})
    running = begin(hanging)
    wait_until(lambda: readings(hanging) == 1, "the reading had begun")
    running.kill()
    running.wait()
    run(hanging, ends=PROVEN)
    assert end_state(hanging) == end_state(best)
    assert [row["ticket"] for row in tries(hanging)] == [row["ticket"] for row in tries(best)]
    assert readings(hanging) == readings(best) + 1


def waits(root: Path) -> bool:
    """Whether a try waits until it may go on."""
    return (root.parent / "waiting").exists()


def tree_with(root: Path, path: str, text: str) -> str:
    """The tree of the integration branch with one file that says something else."""
    (root.parent / "text").write_text(text)
    blob = git(root, "hash-object", "-w", str(root.parent / "text"))
    listed = git(root, "ls-tree", "agent-fox/integration").splitlines()
    lines = [line for line in listed if not line.endswith(f"\t{path}")]
    made = "\n".join((*lines, f"100644 blob {blob}\t{path}\n"))
    done = subprocess.run(["git", "mktree"], cwd=root, input=made, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_more_than_run_at_once_are_made_one_after_the_other(tmp_path: Path) -> None:
    root = build(tmp_path, ["part 2", "part 3", RIGHT, "part 2"], "candidates = 4")
    run(root, "--parallel", "1", ends=PROVEN)
    assert told(root).startswith("candidate 3 of 4 is taken; ")
