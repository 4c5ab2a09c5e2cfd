"""One screen about one node."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agent_fox.testing.worlds import Req, World, commit_all, run_cli
from tests.cli.conftest import Finished

LINES, COLUMNS = 40, 160


def test_a_verifiers_screen_tells_each_report_and_decision_with_its_row(finished: Finished) -> None:
    told = finished.tell("explain", "01_calc:3")
    lines = [" ".join(line.split()) for line in told.splitlines()]
    assert lines[0] == "01_calc:3 verifier"
    assert lines[1].startswith("proven: everything that its spec expects is proven (commit ")
    for part in (
        "Reread: asked again, and no coder is charged; no clear verdict on 01-REQ-1.1, 01-REQ-2.1, 01-REQ-2.E1",
        "Recode: sent back to coder 01_calc:2; fails 01-REQ-2.E1",
        "changed: 01-REQ-2.E1 FAIL → PASS",
        "Accept: it passed",
        "PASS 01-REQ-2.E1 judged WHEN its proof is read",
        "01_calc:2: 2 of 3 attempts spent, 1 left",
    ):
        assert part in " ".join(lines), (part, told)
    assert len(lines) <= LINES
    whole = finished.tell("explain", "01_calc:3", "--all")
    assert all(decision in whole for decision in ("Reread (row 10): ", "Recode (row 8): ", "Accept (row 3): "))


def test_a_decision_tells_in_their_own_words_what_it_was_about(finished: Finished) -> None:
    lines = finished.tell("explain", "01_calc:3").splitlines()
    at = next(number for number, line in enumerate(lines) if "Recode: " in line)
    assert lines[at + 1].strip() == "01-REQ-2.E1  WHEN its proof is read, THE proof SHALL be right."
    narrow = run_cli(finished.root, "explain", "01_calc:3", COLUMNS="50").stdout.splitlines()
    assert "              01-REQ-2.E1  WHEN its proof is read…" in narrow


def test_a_coders_screen_tells_why_it_was_sent_back_and_by_whom(finished: Finished) -> None:
    told = finished.tell("explain", "01_calc:2")
    words = "sent back to coder 01_calc:2, decided about 01_calc:3; fails 01-REQ-2.E1"
    assert f"Recode: {words}" in told
    assert (told.count("; landed\n"), "landed as " in told) == (2, False)
    whole = finished.tell("explain", "01_calc:2", "--all")
    assert f"Recode (row 8): {words}" in whole
    assert whole.count("landed as ") == 2


def test_a_coders_screen_tells_that_the_verifier_stopped_at_what_it_owns(finished: Finished) -> None:
    told = finished.tell("explain", "02_top:1")
    assert "Block: stopped: no progress (the same failures again), decided about 02_top:2; fails 02-REQ-1.1" in told


def test_an_escalated_verifiers_screen_tells_what_fails_and_what_would_change_it(finished: Finished) -> None:
    told = finished.tell("explain", "02_top")
    assert "not proven: no progress; 1 requirement fails: 02-REQ-1.1" in told
    assert "issue: .agent-fox/issues/0001-" in told
    assert "FAIL    02-REQ-1.1  WHEN its proof is read" in told
    assert "proof/02-REQ-1.1.txt: wrong at attempt 2" in told
    assert "Block: stopped: no progress (the same failures again)" in told
    assert "[[agents.coder.rungs]]" in told
    assert told.rstrip().endswith("agent-fox reset 02_top:2")


def test_a_verifier_that_was_stopped_for_want_of_progress_tells_what_stopping_saved(finished: Finished) -> None:
    told = finished.tell("explain", "02_top")
    assert "02_top:1: 1 of 3 attempts left unspent" in told
    saved = json.loads(finished.tell("explain", "02_top", "--json"))["saved"]
    assert saved["coders"] == [{"node": "02_top:1", "left": 1, "total": 3}]
    assert (saved["sessions"], saved["untold"]) == (4, 2)
    assert f"the 4 sessions of 02_top so far cost ${saved['cost_usd']:.2f} (2 reported no cost)" in told
    assert json.loads(finished.tell("explain", "01_calc", "--json"))["saved"] is None


def test_a_node_that_only_waits_names_what_holds_it(finished: Finished) -> None:
    told = finished.tell("explain", "03_dep:1")
    assert "blocked: waits for 02_top:2, which is blocked: no progress" in told
    assert "03_dep:1: 0 of 3 attempts spent, 3 left" in told
    assert "it unblocks itself when 02_top:2 passes: agent-fox explain 02_top:2" in told


@pytest.mark.parametrize("name", ["01_calc", "01_calc:3", "01_calc:0:verifier"])
def test_a_verifier_is_named_by_its_id_by_its_role_or_by_its_spec(finished: Finished, name: str) -> None:
    assert finished.tell("explain", name) == finished.tell("explain", "01_calc:3")


def test_json_has_the_whole_story(finished: Finished) -> None:
    told = json.loads(finished.tell("explain", "01_calc:3", "--json"))
    assert [(r["kind"], r["row"]) for r in told["rulings"]] == [("Reread", 10), ("Recode", 8), ("Accept", 3)]
    assert [(s["attempt"], s["reading"]) for s in told["sessions"]] == [(1, 1), (1, 2), (2, 1)]
    assert told["budgets"][1] == {"node": "01_calc:2", "what": "attempts", "spent": 2, "total": 3}


def test_a_name_that_is_not_there_gets_the_nearest(finished: Finished) -> None:
    done = run_cli(finished.root, "explain", "01_clac:3")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith(
        "agent-fox: 01_clac:3: there is no such node or spec in the plan; did you mean 01_calc"
    )


def test_an_id_that_several_specs_have_is_told_with_its_ways_to_say_which(tmp_path: Path) -> None:
    root = World({}).build(tmp_path)
    for name in ("doors", "locks"):
        spec = root / ".kiro" / "specs" / name
        spec.mkdir(parents=True)
        (spec / "requirements.md").write_text("### Requirement 1\n\n#### Acceptance Criteria\n\n1. It SHALL close\n")
        (spec / "tasks.md").write_text("- [ ] 1. Close\n  - _Requirements: 1.1_\n")
    commit_all(root, "two specs that count alike")
    run_cli(root, "run", "--max-cost", "0")
    told = {name: run_cli(root, "explain", name).stderr for name in ("1.1", "locks/1.7", "doors/1.1")}
    assert told == {
        "1.1": "agent-fox: 1.1: several specs have it; say which one: doors/1.1, locks/1.1\n",
        "locks/1.7": "agent-fox: locks/1.7: there is no such requirement in the plan; did you mean locks/1.1?\n",
        "doors/1.1": "",
    }


def test_without_a_state_it_says_what_makes_one(tmp_path: Path) -> None:
    root = World({"01_a": [Req("01-REQ-1.1")]}).build(tmp_path / "w")
    done = run_cli(root, "explain", "01_a")
    assert done.returncode == 1
    assert "there is no state yet; `agent-fox run` makes it" in done.stderr


def test_a_long_story_is_cut_to_a_screen_unless_all_is_asked_for(tmp_path: Path) -> None:
    says = {f"01_a/1/{reading}": "unsure" for reading in range(1, 6)}
    world = World({"01_a": [Req("01-REQ-1.1")]}, verifier_says=says, settings="[retry]\nreadings = 5\n")
    root = world.build(tmp_path / "w")
    assert run_cli(root, "run").returncode == 2
    short, whole = (run_cli(root, "explain", "01_a", *more).stdout for more in ((), ("--all",)))
    assert "(the last 6 of 10; --all shows all)" in short
    assert whole.count("Reread (row 10)") == 4
    assert "Block: stopped: no clear verdict" in short


def test_where_nobody_is_trusted_the_keys_come_before_the_waiver(finished: Finished) -> None:
    lines = [line.strip() for line in finished.tell("explain", "02_top").splitlines()]
    waive = next(at for at, line in enumerate(lines) if "agent-fox waive " in line)
    assert "agent-fox keys new waiver; agent-fox keys trust waiver --for waiver" in lines[waive - 1]
