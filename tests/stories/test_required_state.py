"""What exit 0 demands: verdicts alone, a reviewer who took no part, or a proof."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from agent_fox.testing.worlds import (
    NEVER,
    Req,
    World,
    commit_all,
    git,
    issue_files,
    landed,
    log,
    rows,
    run_cli,
    wait_until,
)
from agent_fox.verifier.lanes.formal import why_missing as why_no_proof
from tests.stories.scene import (
    INTERRUPTED,
    LONGEST_RUN,
    NOT_PROVEN,
    PROVEN,
    begin,
    causes,
    coders,
    configure,
    decisions,
    order,
    outcomes,
    press_once,
    run,
)

TWO = [Req("01-REQ-1.1", 1), Req("01-REQ-1.2", 2)]
REVIEWED = '[policy]\nrequired_state = "reviewed"\n'
REVIEW = "01_calc:3:reviewer:final-review"
VERIFIER = "01_calc:3"
READER = """
import os, shutil, sys
shutil.copy(os.environ["AGENT_FOX_BRIEF"], sys.argv[1] + ".md")
shutil.copy(os.environ["AGENT_FOX_BRIEF_JSON"], sys.argv[1] + ".json")
print('{"findings": []}')
"""


CHECKLIST = """
[[specification]]
name = "care"
kind = "checklist"
text = "What a reader must answer."
requirements = ["all"]
items = ["Is every proof right?"]
"""


def critical(part: str = "01-REQ-1.1", text: str = "it is special-cased for its test") -> str:
    finding = {"severity": "critical", "description": text, "requirement_id": part}
    return json.dumps({"findings": [finding], "summary": "read it"})


def world(reviewer_says: Mapping[str, str] | None = None, settings: str = REVIEWED) -> World:
    return World({"01_calc": TWO}, reviewer_says=reviewer_says or {}, settings=settings)


def gates(root: Path) -> dict[str, str]:
    """Where the gate of each requirement of the plan stands."""
    return {str(part): str(state) for part, state in rows(root, "SELECT requirement_id, state FROM gates")}


def way(root: Path, part: str) -> list[str]:
    """The gates that a requirement went through, each with who moved it."""
    moved = rows(root, f"SELECT finish, role FROM gate_history WHERE requirement_id = '{part}' ORDER BY id")
    return [f"{finish} by {role}" for finish, role in moved]


def test_by_default_nothing_is_reviewed_and_tested_is_enough(tmp_path: Path) -> None:
    root = world(settings="").build(tmp_path)
    run(root, ends=PROVEN)
    assert order(root) == ["01_calc:1", "01_calc:2", VERIFIER]
    assert set(gates(root).values()) == {"tested"}


def test_a_reviewer_reads_what_was_verified_and_only_then_it_is_accepted(tmp_path: Path) -> None:
    root = world().build(tmp_path)
    run(root, ends=PROVEN)
    assert order(root) == ["01_calc:1", "01_calc:2", VERIFIER, REVIEW]
    assert way(root, "01-REQ-1.1") == ["tested by evaluator", "reviewed by reviewer", "accepted by reviewer"]
    pinned = rows(root, "SELECT pinned_commit FROM sessions WHERE archetype <> 'coder'")
    assert len(pinned) == 2
    assert len(set(pinned)) == 1


def test_a_critical_finding_sends_its_owner_back_and_all_is_judged_again(tmp_path: Path) -> None:
    root = world({f"{REVIEW}/1/1": critical()}).build(tmp_path)
    run(root, ends=PROVEN)
    assert order(root) == ["01_calc:1", "01_calc:2", VERIFIER, REVIEW, "01_calc:1", VERIFIER, REVIEW]
    assert decisions(root, REVIEW) == ["SendBack", "Accept"]
    assert way(root, "01-REQ-1.1")[:3] == ["tested by evaluator", "rejected by reviewer", "proposed by builder"]
    assert way(root, "01-REQ-1.2") == ["tested by evaluator", "reviewed by reviewer", "accepted by reviewer"]


def test_the_coder_is_told_what_the_reviewer_found(tmp_path: Path) -> None:
    root = world({f"{REVIEW}/1/1": critical(text="it is special-cased")}).build(tmp_path)
    run(root, ends=PROVEN)
    again = [row for row in log(root) if row["node"] == "01_calc:1"][1]
    assert "it is special-cased" in str(again["reason"])


@pytest.mark.parametrize("part", ["", "01-REQ-9.9"])
def test_a_finding_about_the_whole_is_for_the_last_group(tmp_path: Path, part: str) -> None:
    root = world({f"{REVIEW}/1/1": critical(part)}).build(tmp_path)
    run(root, ends=PROVEN)
    assert coders(root) == {"01_calc:1": 1, "01_calc:2": 2}


def test_a_reviewer_that_is_never_content_ends_in_an_issue_and_proves_nothing(tmp_path: Path) -> None:
    root = world({f"{REVIEW}/{n}/1": critical() for n in range(1, 9)}).build(tmp_path)
    done = run(root, ends=NOT_PROVEN)
    assert decisions(root, REVIEW) == ["SendBack", "Block"]
    assert causes(root) == [(REVIEW, "attempts spent")]
    assert gates(root) == {"01-REQ-1.1": "rejected", "01-REQ-1.2": "tested"}
    assert "01_calc is tested, not reviewed, in 01-REQ-1.2" in done.stdout
    (issue,) = issue_files(root)
    assert "special-cased" in issue.read_text()


def test_status_tells_the_same_as_the_end_of_the_run(tmp_path: Path) -> None:
    root = world({f"{REVIEW}/{n}/1": critical() for n in range(1, 9)}).build(tmp_path)
    run(root, ends=NOT_PROVEN)
    status = json.loads(run_cli(root, "status", "--json").stdout)
    assert status["requirements"]["proven"] == 0
    assert status["specs"][0]["is_proven"] is False
    assert status["exit_code"] == NOT_PROVEN


def test_a_person_who_resets_the_review_has_everything_judged_again(tmp_path: Path) -> None:
    root = world({f"{REVIEW}/{n}/1": critical() for n in (1, 2)}).build(tmp_path)
    run(root, ends=NOT_PROVEN)
    before = coders(root)
    assert run_cli(root, "reset", REVIEW).returncode == 0
    run(root, ends=PROVEN)
    assert coders(root) == before
    assert order(root)[-2:] == [VERIFIER, REVIEW]
    assert set(gates(root).values()) == {"accepted"}
    assert issue_files(root) == []


@pytest.mark.parametrize("node", ["01_calc:2", VERIFIER])
def test_whoever_is_reset_the_review_follows(tmp_path: Path, node: str) -> None:
    root = world().build(tmp_path)
    run(root, ends=PROVEN)
    assert run_cli(root, "reset", node).returncode == 0
    run(root, ends=PROVEN)
    assert order(root)[-2:] == [VERIFIER, REVIEW]


def test_a_review_that_cannot_be_read_is_asked_for_again_and_then_fails_closed(tmp_path: Path) -> None:
    root = world({f"{REVIEW}/1/{n}": "Looks good to me." for n in range(1, 9)}).build(tmp_path)
    run(root, ends=NOT_PROVEN)
    assert decisions(root, REVIEW) == ["Reread", "Block"]
    assert set(gates(root).values()) == {"tested"}


def test_an_escalated_verifier_leaves_nothing_to_review(tmp_path: Path) -> None:
    reqs = [Req("01-REQ-1.1", 1, NEVER)]
    root = World({"01_calc": reqs}, settings=f"{REVIEWED}[retry]\nattempts = 1\n").build(tmp_path)
    run(root, ends=NOT_PROVEN)
    assert [row["role"] for row in log(root)] == ["coder", "verifier"]
    assert outcomes(root) == {"01_calc:2": "escalated"}
    assert causes(root)[1] == ("01_calc:2:reviewer:final-review", "depends on a blocked node")


def test_what_depends_on_a_spec_waits_for_its_review(tmp_path: Path) -> None:
    specs = {"01_a": [Req("01-REQ-1.1", 1)], "02_b": [Req("02-REQ-1.1", 1)]}
    root = World(specs, depends={"02_b": "01_a"}, settings=REVIEWED).build(tmp_path)
    run(root, ends=PROVEN)
    names = order(root)
    assert names.index("01_a:2:reviewer:final-review") < names.index("02_b:1")


def test_a_spec_that_is_read_again_on_the_tip_is_reviewed_again(tmp_path: Path) -> None:
    specs = {"01_a": [Req("01-REQ-1.1", 1)], "02_b": [Req("02-REQ-1.1", 1)]}
    root = World(specs, depends={"02_b": "01_a"}, settings=REVIEWED).build(tmp_path)
    run(root, ends=PROVEN)
    review = "01_a:2:reviewer:final-review"
    assert decisions(root, "01_a:2") == ["Accept", "Reopen", "Accept"]
    assert order(root).count(review) == 2
    tip = git(root, "rev-parse", "agent-fox/integration^{tree}")
    trees = rows(root, f"SELECT tree FROM sessions WHERE node_id = '{review}' ORDER BY id")
    assert trees[-1] == (tip,)


def test_what_breaks_another_spec_is_repaired_and_reviewed_again(tmp_path: Path) -> None:
    specs = {"01_a": [Req("01-REQ-1.1", 1)], "02_b": [Req("02-REQ-1.1", 1)]}
    breaks = {"02_b:1/1": ["01-REQ-1.1"]}
    root = World(specs, depends={"02_b": "01_a"}, breaks=breaks, settings=REVIEWED).build(tmp_path)
    run(root, ends=PROVEN)
    assert landed(root, "proof/01-REQ-1.1.txt") == "right"
    assert "rejected by evaluator" in way(root, "01-REQ-1.1")
    assert set(gates(root).values()) == {"accepted"}


def test_raised_between_runs_only_the_review_is_made(tmp_path: Path) -> None:
    root = world(settings='[policy]\nrequired_state = "tested"\n').build(tmp_path)
    run(root, ends=PROVEN)
    before = order(root)
    configure(root, '"tested"', '"reviewed"')
    commit_all(root, "reviews are required")
    run(root, ends=PROVEN)
    assert order(root)[: len(before)] == before
    assert REVIEW in order(root)[len(before) :]
    assert coders(root) == {"01_calc:1": 1, "01_calc:2": 1}


def test_lowered_between_runs_the_review_is_withdrawn_and_its_issue_settled(tmp_path: Path) -> None:
    root = world({f"{REVIEW}/{n}/1": critical("") for n in range(1, 9)}).build(tmp_path)
    run(root, ends=NOT_PROVEN)
    run(root, ends=PROVEN, AGENT_FOX__POLICY__REQUIRED_STATE="tested")
    assert rows(root, f"SELECT status FROM plan_nodes WHERE id = '{REVIEW}'") == [("withdrawn",)]
    assert issue_files(root) == []


def test_a_changed_spec_is_verified_and_reviewed_again(tmp_path: Path) -> None:
    root = world().build(tmp_path)
    run(root, ends=PROVEN)
    path = root / ".agent-fox" / "specs" / "01_calc" / "requirements.md"
    path.write_text(path.read_text().replace("its proof is read", "its proof, a file, is read", 1))
    commit_all(root, "say what a proof is")
    run(root, ends=PROVEN)
    assert order(root)[-2:] == [VERIFIER, REVIEW]
    assert way(root, "01-REQ-1.1").count("proposed by engine") == 1


def test_a_coder_that_must_not_be_sent_back_is_not_by_a_reviewer(tmp_path: Path) -> None:
    settings = f"{REVIEWED}[retry]\nretry_predecessor = false\n"
    root = world({f"{REVIEW}/1/1": critical()}, settings).build(tmp_path)
    run(root, ends=NOT_PROVEN)
    assert coders(root) == {"01_calc:1": 1, "01_calc:2": 1}
    assert causes(root) == [(REVIEW, "retry disabled")]


def test_a_reviewer_is_told_the_change_and_nothing_that_a_coder_said(tmp_path: Path) -> None:
    (tmp_path / "reader.py").write_text(READER)
    command = json.dumps([sys.executable, str(tmp_path / "reader.py"), str(tmp_path / "brief")])
    root = world(settings=f"{REVIEWED}[agents.reviewer]\ncommand = {command}\n").build(tmp_path)
    (root / ".agent-fox" / "specs" / "01_calc" / "specifications.toml").write_text(CHECKLIST)
    commit_all(root, "ask what a reviewer must answer")
    run(root, ends=PROVEN)
    brief = json.loads((tmp_path / "brief.json").read_text())
    assert [part["id"] for part in brief["requirements"]] == ["01-REQ-1.1", "01-REQ-1.2"]
    assert brief["change"]["files"] == ["proof/01-REQ-1.1.txt", "proof/01-REQ-1.2.txt"]
    assert "+right" in brief["change"]["diff"]
    assert brief["change"]["questions"] == ["01_calc/care: Is every proof right?"]
    assert "did 01_calc:1" not in (tmp_path / "brief.md").read_text()


PROVED = '[policy]\nrequired_state = "proved"\n'
THEOREM = """
[[specification]]
name = "{name}"
kind = "theorem"
text = "Twice a whole number is even."
requirements = ["{part}"]
axioms = "(declare-const x Int)"
goal = "(= (mod (* 2 x) 2) 0)"
"""
needs_provers = pytest.mark.skipif(bool(why_no_proof()), reason="the extra `formal` is not installed")


def provable(tmp_path: Path, *parts: str, settings: str = PROVED) -> Path:
    """A world with a theorem for each of these requirements."""
    root = world(settings=settings).build(tmp_path)
    text = "".join(THEOREM.format(name=f"even-{number}", part=part) for number, part in enumerate(parts))
    (root / ".agent-fox" / "specs" / "01_calc" / "specifications.toml").write_text(text)
    commit_all(root, "say what is to be proved")
    return root


def said(done: subprocess.CompletedProcess[str]) -> str:
    return done.stdout + done.stderr


@needs_provers
def test_what_is_reviewed_is_proved_and_only_then_accepted(tmp_path: Path) -> None:
    root = provable(tmp_path, "01-REQ-1.1", "01-REQ-1.2")
    run(root, ends=PROVEN)
    assert way(root, "01-REQ-1.1") == [
        "tested by evaluator", "reviewed by reviewer", "proved by formal", "accepted by formal",
    ]  # fmt: skip
    assert decisions(root, VERIFIER) == ["Accept", "Prove"]
    assert git(root, "for-each-ref", "refs/agent-fox/launches") == ""
    checks = rows(root, "SELECT address, status FROM ledger WHERE kind = 'check' AND decision_id IS NOT NULL")
    assert checks == [("01_calc/even-0", "PASS"), ("01_calc/even-1", "PASS")]


@needs_provers
def test_what_nothing_can_prove_is_said_before_and_after(tmp_path: Path) -> None:
    root = provable(tmp_path, "01-REQ-1.1")
    done = run(root, ends=NOT_PROVEN)
    told = said(done).splitlines()
    (warning,) = (line for line in told if "cannot be proved" in line)
    assert "no contract or theorem is linked to 01-REQ-1.2" in warning
    assert told.index(warning) < next(number for number, line in enumerate(told) if "01_calc:1 " in line)
    assert "01_calc is reviewed, not proved, in 01-REQ-1.2 (no contract or theorem is linked to it" in said(done)
    assert gates(root) == {"01-REQ-1.1": "accepted", "01-REQ-1.2": "reviewed"}
    status = json.loads(run_cli(root, "status", "--json").stdout)
    assert status["requirements"]["not_proven"] == 1
    assert status["specs"][0]["short"] == ["01-REQ-1.2"]


@needs_provers
def test_a_proof_is_made_again_only_for_other_files(tmp_path: Path) -> None:
    root = provable(tmp_path, "01-REQ-1.1", "01-REQ-1.2")
    run(root, ends=PROVEN)
    run(root, ends=PROVEN)
    assert decisions(root, VERIFIER).count("Prove") == 1
    (root / "NOTES.md").write_text("another file\n")
    commit_all(root, "another file")
    run(root, ends=PROVEN)
    assert decisions(root, VERIFIER) == ["Accept", "Prove", "Reopen", "Accept", "Prove"]
    assert way(root, "01-REQ-1.1")[-2:] == ["proved by formal", "accepted by formal"]


@needs_provers
def test_a_proof_that_a_person_interrupts_is_made_by_the_next_run(tmp_path: Path) -> None:
    mark, state = tmp_path / "mark", tmp_path / "state"
    setup = json.dumps([["sh", "-c", f"test ! -e '{mark}' || sleep 60"]])
    reviewer = json.dumps(["sh", "-c", f"""touch '{mark}'; echo '{{"findings": []}}'"""])
    tables = (
        f"[workspace]\nstate = {json.dumps(str(state))}\nsetup = {setup}\n[agents.reviewer]\ncommand = {reviewer}\n"
    )
    root = provable(tmp_path, "01-REQ-1.1", "01-REQ-1.2", settings=PROVED + tables)
    running = begin(root)
    wait_until(mark.exists, "the review ran", 120)
    wait_until(lambda: decisions(root, REVIEW) == ["Accept"], "the review had ended", 120)
    wait_until(lambda: any(state.rglob("setup-1")), "the provers' workspace is prepared", 120)
    press_once(root, running)
    running.send_signal(signal.SIGINT)
    assert running.wait(LONGEST_RUN) == INTERRUPTED
    assert decisions(root, VERIFIER) == ["Accept"]
    mark.unlink()
    run(root, ends=PROVEN)
    assert decisions(root, VERIFIER) == ["Accept", "Prove"]


@needs_provers
def test_raised_to_proved_what_was_accepted_without_a_proof_is_proved(tmp_path: Path) -> None:
    root = provable(tmp_path, "01-REQ-1.1", "01-REQ-1.2", settings="")
    run(root, ends=PROVEN, AGENT_FOX__POLICY__REQUIRED_STATE="reviewed")
    before = order(root)
    run(root, ends=PROVEN, AGENT_FOX__POLICY__REQUIRED_STATE="proved")
    assert order(root) == before
    assert way(root, "01-REQ-1.1")[-3:] == ["accepted by reviewer", "proved by formal", "accepted by formal"]


@needs_provers
def test_raised_to_proved_what_no_proof_is_for_is_only_reviewed(tmp_path: Path) -> None:
    root = provable(tmp_path, "01-REQ-1.1", settings="")
    run(root, ends=PROVEN, AGENT_FOX__POLICY__REQUIRED_STATE="reviewed")
    run(root, ends=NOT_PROVEN, AGENT_FOX__POLICY__REQUIRED_STATE="proved")
    assert gates(root) == {"01-REQ-1.1": "accepted", "01-REQ-1.2": "reviewed"}
    run(root, ends=PROVEN, AGENT_FOX__POLICY__REQUIRED_STATE="reviewed")
