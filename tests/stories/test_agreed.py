"""A coder changes what a committed test expects and says why; a person agrees, signed, and takes it back."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path

import pytest
from sqlite_utils import Database

from agent_fox.config import load
from agent_fox.engine.handlers.dockets import with_waivers
from agent_fox.engine.issues.kept_commands import keep_new
from agent_fox.engine.planning.from_settings import policy_of
from agent_fox.engine.record.docket import Docket, SpecShelf
from agent_fox.engine.running.commands import carry_out
from agent_fox.evidence.waivers import Grounds, grounds_of
from agent_fox.store import outbox
from agent_fox.store.state import open_state
from agent_fox.system import clock
from agent_fox.system.state_folders import STATE
from agent_fox.testing.worlds import issue_files, rows
from agent_fox.trackers.upkeep import Command, Commands
from tests.engine.running.test_commands import Mailbox
from tests.evidence.waiver_world import Person, person
from tests.stories.scene import NOT_PROVEN, PROVEN, decisions, outcomes
from tests.stories.test_checks_in_a_run import AGENT, TEST, world

WRONG = "def total(prices):\n    return sum(prices) + 1\n"
REASON = "The test test_total expected 3, but a bag is sold with every cart now."
TELLING = f"pathlib.Path(os.environ['AGENT_FOX_RESULT']).write_text(json.dumps({{'summary': {REASON!r}}}))\n"
VERDICT = "SELECT verdict, disposition, note FROM verification_results WHERE superseded_by IS NULL"


@pytest.fixture
def alice(tmp_path: Path) -> Person:
    return person(tmp_path / "people")


@pytest.fixture
def root(tmp_path: Path, alice: Person) -> Path:
    """A run has stopped at a changed expectation."""
    files = {"cart.py": WRONG, "tests/test_cart.py": TEST.replace("== 3", "== 4")}
    made = world(tmp_path / "repo", {"1": files})
    (tmp_path / "agent.py").write_text(AGENT.format(steps=json.dumps({"1": files})) + TELLING)
    alice.run(made, NOT_PROVEN)
    return made


def agree(root: Path, who: Person, *words: str) -> str:
    done = who.cli(root, "agree", *words, *who.signing)
    assert done.returncode == 0, done
    return done.stdout


def test_a_changed_expectation_waits_for_a_person_who_agrees_and_can_take_it_back(root: Path, alice: Person) -> None:
    assert decisions(root, "01_cart:2") == ["Block"]  # no second reading
    assert rows(root, VERDICT) == [("UNKNOWN", "changed expectation", "")]
    (issue,) = issue_files(root)
    told = issue.read_text()
    for words in ("== 3", "== 4", REASON, "agent-fox agree 01_cart 01-REQ-1.1", "needs a person"):
        assert words in told
    shown = alice.cli(root, "explain", "01_cart").stdout
    assert "(changed expectation)" in shown
    assert "agent-fox agree 01_cart 01-REQ-1.1" in shown

    lines = agree(root, alice, "01_cart", "01-REQ-1.1").splitlines()
    assert lines[0].endswith(f"is agreed to by alice: as the coder said: {REASON}")
    assert "verified again by the next run: 01_cart:2" in lines
    assert lines[-1] == "next: agent-fox run"
    again = alice.cli(root, "agree", "01_cart", "01-REQ-1.1", *alice.signing)
    assert (again.returncode, "alice has agreed already" in again.stderr) == (1, True)

    alice.run(root, PROVEN)
    assert outcomes(root) == {"01_cart:2": "verified"}
    (verdict,) = rows(root, VERDICT)
    assert verdict[:2] == ("PASS", None)
    assert str(verdict[2]).startswith("agreed by alice: ")
    assert issue_files(root) == []
    assert "no waivers" in alice.cli(root, "waive", "--list").stdout
    (listed,) = json.loads(alice.cli(root, "agree", "--list", "--json").stdout)["agreements"]
    assert (listed["in_force"], listed["signer"]) == (True, "alice")
    assert alice.cli(root, "ledger", "verify").returncode == 0

    agree(root, alice, "--revoke", listed["id"][:12], "--reason", "the bag costs nothing after all")
    alice.run(root, NOT_PROVEN)
    assert rows(root, VERDICT) == [("UNKNOWN", "changed expectation", "")]


def test_an_agreement_that_stands_in_a_comment_with_its_signature_counts(root: Path, alice: Person) -> None:
    comment = agree(root, alice, "01_cart", "01-REQ-1.1", "--comment")
    assert rows(root, "SELECT count(*) FROM waivers") == [(0,)]
    first, _, below = comment.partition("\n")
    assert first == "/agent-fox agree"
    settings = load(root, alice.environ)

    def grounds() -> Grounds:
        return grounds_of(root, settings, alice.environ)

    def docket_at(db: Database) -> Docket:
        return with_waivers(Docket(db, clock.now(), policy_of(settings), SpecShelf(), None), grounds)

    with closing(open_state(root / STATE)) as db:
        [fingerprint] = outbox.issues_of_spec(db, "01_cart")
        asked = [Command(id, "1", fingerprint, "pat", (word,), below) for id, word in (("1", "agree"), ("2", "waive"))]
        keep_new(db, "here", Mailbox(Commands(tuple(asked))))
        agreed, refused = carry_out(db, "here", docket_at, grounds)
    assert "is agreed to by alice" in agreed.line
    assert "what is signed waives no requirement" in refused.line
    alice.run(root, PROVEN)
    assert outcomes(root) == {"01_cart:2": "verified"}
