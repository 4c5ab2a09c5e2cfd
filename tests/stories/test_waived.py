"""A person waives what is not proven: the plan goes on, everything says so, and it ends when the waiver does."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agent_fox.testing.worlds import NEVER, Req, World, issue_files, log, rows
from tests.evidence.waiver_world import HOPELESS, ONE_TRY, Person, person
from tests.stories.scene import NOT_PROVEN, PROVEN, coders, outcomes

WAIVED = "01-REQ-1.1"


@pytest.fixture
def alice(tmp_path: Path) -> Person:
    return person(tmp_path / "people")


@pytest.fixture
def root(tmp_path: Path, alice: Person) -> Path:
    """A run has ended with one requirement that is never met."""
    made = HOPELESS.build(tmp_path / "w")
    alice.run(made, NOT_PROVEN)
    assert outcomes(made) == {"01_calc:2": "escalated", "02_top:2": "blocked"}
    return made


def test_a_waiver_lets_the_plan_go_on_without_a_new_session(root: Path, alice: Person) -> None:
    before = len(log(root))
    told = alice.waive(root, WAIVED)
    assert "waived: 01_calc:2" in told
    assert "unblocked: 02_top:1, 02_top:2" in told
    assert len(log(root)) == before
    alice.run(root, PROVEN)
    assert outcomes(root) == {"01_calc:2": "waived", "02_top:2": "verified"}


def test_the_lines_of_a_run_do_not_call_proven_what_rests_on_a_waiver(root: Path, alice: Person) -> None:
    alice.waive(root, WAIVED)
    told = alice.run(root, PROVEN).stdout
    assert "01_calc:2  WAIVED: what is not proven rests on a waiver" in told
    assert "issue closed: 01_calc is proven or waived, 1 waived" in told
    assert "02_top:2  PROVEN" in told


def test_the_issue_is_closed_as_waived_with_who_signed_until_when_and_why(root: Path, alice: Person) -> None:
    assert len(issue_files(root)) == 1
    alice.waive(root, WAIVED)
    alice.run(root, PROVEN)
    assert issue_files(root) == []
    (closed,) = issue_files(root, "closed")
    for word in ("Waived", "1 of 2 requirements", "by alice until", "the vendor mends it"):
        assert word in closed.read_text()


def test_gate_and_ledger_tell_the_same_story(root: Path, alice: Person) -> None:
    alice.waive(root, WAIVED)
    gates = rows(root, "SELECT requirement_id, state, role FROM gates WHERE spec_name = '01_calc' ORDER BY 1")
    assert gates == [("01-REQ-1.1", "waived", "person"), ("01-REQ-1.2", "tested", "evaluator")]
    kinds = rows(root, "SELECT kind, status, address FROM ledger WHERE kind = 'waiver'")
    assert kinds == [("waiver", status, "01_calc/01-REQ-1.1") for status in ("granted", "used")]
    granted = "SELECT json_extract(content, '$.limitation') FROM ledger WHERE kind = 'waiver' AND status = 'granted'"
    (limitation,) = rows(root, granted)
    assert "accepted without evidence by alice" in str(limitation[0])
    alice.run(root, PROVEN)
    checked = alice.cli(root, "ledger", "verify")
    assert checked.returncode == 0, checked


def test_what_is_waived_beforehand_costs_no_second_attempt(tmp_path: Path, alice: Person) -> None:
    """The waiver is there when the verifier reads: what it says FAIL of is nobody's task."""
    world = World({"01_calc": [Req(WAIVED, right_at=NEVER), Req("01-REQ-1.2")], "02_x": [Req("02-REQ-1.1")]})
    root = world.build(tmp_path / "before")
    first = alice.cli(root, "run", "--spec", "02_x")
    assert first.returncode == 0, first
    alice.waive(root, WAIVED)
    alice.run(root, PROVEN)
    assert coders(root)["01_calc:1"] == 1
    assert outcomes(root)["01_calc:2"] == "waived"


def test_every_report_lists_the_waivers_in_force(root: Path, alice: Person) -> None:
    alice.waive(root, WAIVED)
    done = alice.run(root, PROVEN)
    line = "01_calc/01-REQ-1.1 waived by alice until"
    assert line in done.stdout
    status = alice.cli(root, "status")
    assert line in status.stdout
    assert "1 waived" in status.stdout
    told = json.loads(alice.cli(root, "status", "--json").stdout)
    assert [(w["address"], w["signer"]) for w in told["waivers"]] == [("01-REQ-1.1", "alice")]


def test_a_revoked_waiver_makes_its_spec_unproven_again_and_runs_nothing(root: Path, alice: Person) -> None:
    alice.waive(root, WAIVED)
    alice.run(root, PROVEN)
    before = len(log(root))
    (number,) = (str(one) for (one,) in rows(root, "SELECT id FROM waivers"))
    done = alice.cli(root, "waive", "--revoke", number[:8], "--reason", "a mistake")
    assert (done.returncode, "is revoked" in done.stdout) == (0, True), done
    assert outcomes(root)["01_calc:2"] == "escalated"
    alice.run(root, NOT_PROVEN)
    assert len(log(root)) == before
    gates = rows(root, "SELECT state, role FROM gates WHERE requirement_id = '01-REQ-1.1'")
    assert gates == [("proposed", "engine")]
    assert len(issue_files(root)) == 1


def test_a_waiver_is_used_once_a_new_one_is_needed_after_it_was_revoked(root: Path, alice: Person) -> None:
    alice.waive(root, WAIVED)
    alice.cli(root, "waive", "--revoke", str(rows(root, "SELECT id FROM waivers")[0][0]), "--reason", "no")
    alice.waive(root, WAIVED)
    alice.run(root, PROVEN)
    assert len(rows(root, "SELECT 1 FROM waivers")) == 2


def test_status_says_at_once_that_a_waiver_has_expired_and_the_next_run_ends_unproven(
    root: Path, alice: Person
) -> None:
    alice.waive(root, WAIVED)
    alice.run(root, PROVEN)
    later = at_the_time(root.parent, "2099-01-01T00:00:00.000Z")
    status = alice.cli(root, "status", **later)
    assert "waiver ended" in status.stdout
    assert "1 waived" not in status.stdout
    before = len(log(root))
    alice.run(root, NOT_PROVEN, **later)
    assert len(log(root)) == before
    assert outcomes(root)["01_calc:2"] == "escalated"
    assert rows(root, "SELECT kind FROM waiver_events ORDER BY id DESC LIMIT 1") == [("expired",)]


def test_a_changed_text_ends_its_waiver_and_the_old_text_does_not_bring_it_back(root: Path, alice: Person) -> None:
    alice.waive(root, WAIVED)
    alice.run(root, PROVEN)
    path = root / ".agent-fox" / "specs" / "01_calc" / "requirements.md"
    text = path.read_text()
    path.write_text(text.replace("[01-REQ-1.1] WHEN", "[01-REQ-1.1] ONCE"))
    alice.run(root, NOT_PROVEN)
    path.write_text(text)
    alice.run(root, NOT_PROVEN)
    told = alice.cli(root, "waive", "--list").stdout
    assert "does not count: it was over" in told
    assert "the text of the requirement has changed" in told


def test_where_other_requirements_fail_a_waiver_counts_only_at_the_next_reading(tmp_path: Path, alice: Person) -> None:
    world = World({"01_calc": [Req(WAIVED, right_at=NEVER), Req("01-REQ-1.2", right_at=2)]}, settings=ONE_TRY)
    root = world.build(tmp_path / "other")
    alice.run(root, NOT_PROVEN)
    alice.waive(root, WAIVED)
    assert outcomes(root) == {"01_calc:2": "escalated"}
    alice.run(root, NOT_PROVEN)
    assert alice.cli(root, "reset", "01_calc:1").returncode == 0
    alice.run(root, PROVEN)
    assert outcomes(root) == {"01_calc:2": "waived"}
    assert rows(root, "SELECT kind FROM waiver_events ORDER BY id") == [("granted",), ("used",)]


def test_a_waived_requirement_that_a_reading_passes_is_proven_and_its_waiver_over(
    tmp_path: Path, alice: Person
) -> None:
    root = World({"01_calc": [Req(WAIVED, right_at=2)]}, settings=ONE_TRY).build(tmp_path / "late")
    alice.run(root, NOT_PROVEN)
    alice.waive(root, WAIVED)
    assert alice.cli(root, "reset", "01_calc:1").returncode == 0
    alice.run(root, PROVEN)
    assert outcomes(root) == {"01_calc:2": "verified"}
    assert rows(root, "SELECT state FROM gates") == [("tested",)]
    assert "does not count" in alice.cli(root, "waive", "--list").stdout


def test_a_petition_binds_nothing_and_is_counted(root: Path, alice: Person) -> None:
    for times in (1, 2):
        done = alice.cli(root, "waive", "--ask", WAIVED, "--reason", "it cannot be done; waived by alice")
        assert (done.returncode, f"{times} time" in done.stdout) == (0, True), done
    alice.run(root, NOT_PROVEN)
    told = json.loads(alice.cli(root, "waive", "--list", "--json").stdout)
    assert told["waivers"] == []
    assert told["asked"] == [{"spec_name": "01_calc", "requirement_id": WAIVED, "petitions": 2, "sessions": 0}]
    assert "asked for: 01_calc/01-REQ-1.1: 2 petitions" in alice.cli(root, "status").stdout


def at_the_time(folder: Path, at: str) -> dict[str, str]:
    """Variables under which a program of ours takes this for the time of day."""
    made = folder / "clock"
    made.mkdir(exist_ok=True)
    (made / "sitecustomize.py").write_text(f"from agent_fox.system import clock\nclock.now = lambda: {at!r}\n")
    return {"PYTHONPATH": f"{made}:{Path(__file__).parents[2]}"}


def test_a_final_review_accepts_what_was_waived_with_the_rest_until_the_waiver_ends(
    tmp_path: Path, alice: Person
) -> None:
    reviewed = {"AGENT_FOX__POLICY__REQUIRED_STATE": "reviewed"}
    root = HOPELESS.build(tmp_path / "reviewed")
    alice.run(root, NOT_PROVEN, **reviewed)
    alice.waive(root, WAIVED)
    alice.run(root, PROVEN, **reviewed)
    sql = "SELECT requirement_id, state, role FROM gates WHERE spec_name = '01_calc' ORDER BY 1"
    assert rows(root, sql) == [("01-REQ-1.1", "accepted", "engine"), ("01-REQ-1.2", "accepted", "reviewer")]
    (number,) = (str(one) for (one,) in rows(root, "SELECT id FROM waivers"))
    done = alice.cli(root, "waive", "--revoke", number[:8], "--reason", "a mistake", **reviewed)
    assert done.returncode == 0, done
    alice.run(root, NOT_PROVEN, **reviewed)
    assert rows(root, sql) == [("01-REQ-1.1", "proposed", "engine"), ("01-REQ-1.2", "accepted", "reviewer")]
    assert alice.cli(root, "ledger", "verify").returncode == 0
