"""An attempt that loses what passed before: the next one starts from the better tree, and the work of others stays."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agent_fox.testing.worlds import NEVER, Req, World, git, issue_files, landed, log, rows, run_cli
from tests.stories.scene import (
    NOT_PROVEN,
    PROVEN,
    briefed,
    causes,
    coders,
    configure,
    decisions,
    outcomes,
    run,
    verdicts,
)

A, B, C = "01-REQ-1.1", "01-REQ-1.2", "01-REQ-1.3"
THREE = [Req(A), Req(B), Req(C, right_at=3)]
LOSING = {"01_calc:1/2": [A]}
LANDED = "SELECT pinned_commit, base_commit, landed_commit FROM sessions WHERE archetype = 'coder' ORDER BY id"
WENT = "the last attempt lost 1 of 2; the branch stands at attempt 1"


def patient(attempts: int, more: str = "") -> str:
    return f"[retry]\nattempts = {attempts}\nstop_without_progress = false\n{more}"


def history(root: Path) -> list[str]:
    """The subjects of the integration branch, oldest first."""
    return git(root, "log", "--reverse", "--format=%s", "--first-parent", "main..agent-fox/integration").splitlines()


def tree(root: Path, commit: object) -> str:
    return git(root, "rev-parse", f"{commit}^{{tree}}")


def named(root: Path, attempt: int) -> list[str]:
    """What fails according to the brief of one session of `01_calc:1`."""
    found = briefed(root, "01_calc:1", attempt)
    assert isinstance(found, dict)
    return list(found)


def reason(root: Path, attempt: int) -> object:
    """Why the session of `01_calc:1` was told that it is needed."""
    (row,) = (r for r in log(root) if (r["node"], r["attempt"], r["role"]) == ("01_calc:1", attempt, "coder"))
    return row["reason"]


@pytest.fixture(scope="module")
def regained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Attempt 1 passes two of three, attempt 2 loses one of them, attempt 3 is right. The tests only look at it."""
    root = World({"01_calc": THREE}, breaks=LOSING).build(tmp_path_factory.mktemp("regained"))
    run(root, ends=PROVEN)
    return root


def test_the_third_coder_starts_from_the_first_ones_tree(regained: Path) -> None:
    first, second, third = rows(regained, LANDED)
    assert tree(regained, third[0]) == tree(regained, first[2])
    assert tree(regained, second[2]) != tree(regained, first[2])


def test_its_brief_is_from_the_first_ones_report(regained: Path) -> None:
    assert briefed(regained, "01_calc:1", 3) == {C: f"proof/{C}.txt: wrong at attempt 1"}
    assert str(reason(regained, 3)).startswith(WENT)
    assert reason(regained, 2) == ""


def test_the_branch_got_a_commit_that_reverts_and_lost_none(regained: Path) -> None:
    first, back = "01_calc:1: Part 1 of 01_calc", "01_calc: back to attempt 1"
    assert history(regained) == [first, first, back, first]
    said = git(regained, "log", "-1", "--format=%b", "agent-fox/integration~1")
    assert f"- 01_calc:1, attempt 2 ({rows(regained, LANDED)[1][2]})" in said


def test_what_was_read_of_the_first_tree_is_written_again_and_names_the_old_row(regained: Path) -> None:
    again = (
        "SELECT r.requirement_id, r.verdict, o.commit_id = r.commit_id, s.attempt, o.superseded_by IS NOT NULL "
        "FROM verification_results AS r JOIN verification_results AS o ON o.id = r.restores "
        "JOIN sessions AS s ON s.id = r.session_id ORDER BY r.id"
    )
    assert rows(regained, again) == [(A, "PASS", 1, 1, 1), (B, "PASS", 1, 1, 1), (C, "FAIL", 1, 1, 1)]
    assert decisions(regained, "01_calc:2") == ["Recode", "Recode", "Accept"]


def test_the_run_explain_and_the_ledger_say_it(regained: Path) -> None:
    told = run_cli(regained, "explain", "01_calc:2").stdout
    assert WENT in told
    assert f"lost: {A}" in told
    assert "the branch went back to the best attempt" in told
    shown = run_cli(regained, "ledger", "show", f"01_calc/{A}").stdout
    assert "read before (verdict 1): the branch went back to that tree" in shown
    (record,) = rows(regained, "SELECT count(*) FROM ledger WHERE kind = 'verdict' AND content LIKE '%\"restores\":%'")
    assert record == (3,)


def test_without_the_setting_the_third_coder_goes_on_from_the_second(tmp_path: Path) -> None:
    world = World({"01_calc": THREE}, breaks=LOSING, settings="[retry]\nkeep_best = false\n")
    root = world.build(tmp_path)
    run(root, ends=PROVEN)
    _, second, third = rows(root, LANDED)
    assert third[0] == second[2]
    assert rows(root, "SELECT 1 FROM verification_results WHERE restores IS NOT NULL") == []


def test_a_tie_keeps_the_tip(tmp_path: Path) -> None:
    """Attempt 2 loses one requirement and gains another."""
    reqs = [Req(A), Req(B, right_at=2), Req(C, right_at=3)]
    root = World({"01_calc": reqs}, breaks=LOSING).build(tmp_path)
    run(root, ends=PROVEN)
    _, second, third = rows(root, LANDED)
    assert third[0] == second[2]
    assert "back to" not in " ".join(history(root))


def beside(coder_does: dict[str, str], breaks: dict[str, list[str]], settings: str = "") -> World:
    """`01_calc` beside a spec of four groups; one session at a time, so that the two take turns.

    Group 2 of the other lands after the first report on `01_calc`, group 3 after its second attempt.
    """
    other = [Req(f"02-REQ-{number}.1", number) for number in range(1, 5)]
    specs = {"01_calc": THREE, "02_other": other}
    return World(specs, breaks=breaks, coder_does=coder_does, settings=settings)


def in_turn(root: Path) -> list[str]:
    run(root, "--parallel", "1", ends=PROVEN)
    order = [str(row["node"]) for row in log(root)]
    assert order[:7] == [
        *("01_calc:1", "02_other:1", "01_calc:2", "02_other:2", "01_calc:1", "02_other:3", "01_calc:2"),
    ]
    return history(root)


def test_work_of_another_spec_that_landed_meanwhile_stays(tmp_path: Path) -> None:
    root = beside({}, LOSING).build(tmp_path)
    subjects = in_turn(root)
    assert subjects.index("02_other:3: Part 3 of 02_other") < subjects.index("01_calc: back to attempt 1")
    first, second, third = rows(root, LANDED.replace("ORDER", "AND spec_name = '01_calc' ORDER"))
    stayed = [f"proof/02-REQ-{number}.1.txt" for number in range(1, 5)]
    assert git(root, "diff", "--name-only", str(first[2]), str(third[0])).splitlines() == stayed
    assert git(root, "merge-base", str(second[2]), str(third[0])) == second[2]
    assert outcomes(root) == {"01_calc:2": "verified", "02_other:5": "verified"}


def test_another_specs_regression_is_no_reason(tmp_path: Path) -> None:
    """`02_other` breaks what `01_calc` had right, whose second coder changes nothing."""
    root = beside({"01_calc:1/2": "nothing"}, {"02_other:2/1": [A]}).build(tmp_path)
    assert "01_calc: back to attempt 1" not in in_turn(root)
    assert briefed(root, "01_calc:1", 3) == {
        A: f"proof/{A}.txt: broken by 02_other:2",
        C: f"proof/{C}.txt: wrong at attempt 1",
    }
    assert reason(root, 3) == ""


def test_what_is_lost_beside_the_work_of_others_is_said_to_be_so(tmp_path: Path) -> None:
    """`02_other` breaks what `01_calc` had right between two attempts that both land something."""
    root = beside({}, {"02_other:2/1": [A]}, patient(4)).build(tmp_path)
    assert in_turn(root).count("01_calc: back to attempt 1") == 1
    assert "with work of others that landed since" in str(reason(root, 3))
    assert [named(root, attempt) for attempt in (3, 4)] == [[C], [A]]


@pytest.fixture(scope="module")
def built_on(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """`02_other` changes the very lines that the second attempt of `01_calc` wrote. The tests only look at it."""
    folder = tmp_path_factory.mktemp("built-on")
    does = {"01_calc:1/2": "write shared.txt", "02_other:3/1": "write shared.txt"}
    root = beside(does, LOSING).build(folder)
    in_turn(root)
    return root


STAYS = "the branch stays there, not at attempt 1: later work of others changed the same lines in shared.txt"


def test_where_others_built_on_those_lines_nothing_is_reverted(built_on: Path) -> None:
    assert "01_calc: back to attempt 1" not in history(built_on)
    assert landed(built_on, "shared.txt") == "02_other:3\n"
    assert briefed(built_on, "01_calc:1", 3) == {
        A: f"proof/{A}.txt: wrong at attempt 2",
        C: f"proof/{C}.txt: wrong at attempt 2",
    }


def test_and_that_is_said_in_explain_and_in_the_brief(built_on: Path) -> None:
    assert STAYS in run_cli(built_on, "explain", "01_calc:2").stdout
    assert STAYS in str(reason(built_on, 3))


@pytest.fixture(scope="module")
def blocked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The last of two attempts loses one requirement, and none is left. The tests only look at it."""
    reqs = [Req(A), Req(B), Req(C, right_at=NEVER)]
    root = World({"01_calc": reqs}, breaks=LOSING, settings=patient(2)).build(tmp_path_factory.mktemp("blocked"))
    done = run(root, ends=NOT_PROVEN)
    (root.parent / "said.txt").write_text(done.stdout)
    return root


def test_a_block_leaves_the_branch_at_the_best_tree(blocked: Path) -> None:
    first, _ = rows(blocked, LANDED)
    assert tree(blocked, "agent-fox/integration") == tree(blocked, first[2])
    assert verdicts(blocked) == {A: "PASS", B: "PASS", C: "FAIL"}
    assert causes(blocked) == [("01_calc:2", "attempts spent")]


def test_the_issue_says_so_and_keeps_the_last_attempts_evidence(blocked: Path) -> None:
    (issue,) = issue_files(blocked)
    text = issue.read_text()
    assert text.index("## What fails") < text.index(f"### {C}") < text.index(WENT)
    assert text.index(WENT) < text.index(f"proof/{A}.txt: wrong at attempt 2")
    assert f"proof/{C}.txt: wrong at attempt 1" in text


def test_the_last_lines_status_and_explain_say_where_the_branch_stands(blocked: Path) -> None:
    for said in (
        (blocked.parent / "said.txt").read_text(),
        run_cli(blocked, "status").stdout,
        run_cli(blocked, "explain", "01_calc:2").stdout,
    ):
        assert WENT in " ".join(said.split()), said
    (row,) = json.loads(run_cli(blocked, "status", "--json").stdout)["blocked"]
    assert WENT in row["reason"]


def test_after_a_reset_the_work_goes_on_from_there_and_what_is_lost_again_is_taken_off_again(blocked: Path) -> None:
    configure(blocked, "attempts = 2", "attempts = 1")
    run_cli(blocked, "reset", "01_calc:2")
    run(blocked, ends=NOT_PROVEN)
    assert coders(blocked) == {"01_calc:1": 3}
    assert verdicts(blocked) == {A: "PASS", B: "PASS", C: "FAIL"}
