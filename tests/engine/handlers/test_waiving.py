"""What waivers do to a plan: real state, real keys and signatures; the ends of sessions are handed in by the test."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from agent_fox.core.ledger.gates import Gate, Role
from agent_fox.core.ledger.waivers import AboutRequirement, Statement
from agent_fox.core.policy import Policy
from agent_fox.core.retry.standing import Step
from agent_fox.core.spec import Spec
from agent_fox.engine.account.account import read_account
from agent_fox.engine.handlers import waiving
from agent_fox.engine.handlers.dockets import with_waivers
from agent_fox.engine.record.docket import Docket, Handled, Move
from agent_fox.evidence import granting
from agent_fox.evidence.granting import WaiverRefused
from agent_fox.evidence.signing import keys
from agent_fox.evidence.waivers import Grounds
from agent_fox.store.gates import GateMove, gates_of, record_moves
from agent_fox.store.plan import load_parts
from agent_fox.store.state import transaction
from agent_fox.testing.worlds import git, new_repository
from tests.engine.desk import AT, Desk, small_spec
from tests.evidence.waiver_world import PASSPHRASE, Person, person

A, B = "01-REQ-1.1", "01-REQ-1.2"
TOP = "02-REQ-1.1"
EXPIRY, LATER = "2026-04-01T00:00:00.000Z", "2026-05-01T00:00:00.000Z"
SPECS = (small_spec("01_a", {1: ("1.1", "1.2")}), small_spec("02_b", {1: ("1.1",)}, after="01_a"))


@dataclass
class WaivingDesk(Desk):
    """A desk of a repository in which alice may waive."""

    root: Path = Path()
    alice: Person | None = None
    at: str = AT
    granted: int = field(default=0)

    def docket(self) -> Docket:
        return replace(super().docket(), at=self.at)

    def grounds(self) -> Grounds:
        assert self.alice is not None
        return Grounds(self.root, self.alice.environ, "agent-fox/integration")

    def knowing(self) -> Docket:
        return with_waivers(self.docket(), self.grounds)

    def sign(self, part: str) -> str:
        """What alice signs about a requirement of the plan, as it is now."""
        assert self.alice is not None
        (found,) = (one for one in load_parts(self.db) if one.id == part)
        private = keys.load_key(self.alice.key, PASSPHRASE)
        about = AboutRequirement(found.spec_name, part, found.version)
        depends = granting.dependencies(self.db, self.grounds(), about, ())
        self.granted += 1
        said = Statement(
            f"{self.granted:020x}", self.grounds().repository, about, depends, "because", self.at, EXPIRY, "alice",
            keys.public_of(private).id,
        )  # fmt: skip
        return granting.sign_with_key(said, private)

    def waive(self, part: str) -> list[Handled]:
        with transaction(self.db):
            _, handled = waiving.grant(self.knowing(), self.grounds(), self.sign(part))
        return handled

    def settle(self) -> list[Handled]:
        with transaction(self.db):
            return waiving.settle(self.knowing(), self.grounds())

    def revoke(self, number: int = 1) -> list[Handled]:
        with transaction(self.db):
            return waiving.revoke(self.knowing(), self.grounds(), f"{number:020x}", "a mistake")[1]

    def outcome(self, node: str = "01_a:2") -> str:
        standing = self.node(node).standing
        return str(standing.outcome or standing.status)

    def gates(self) -> dict[str, str]:
        return {row.requirement_id: str(row.state) for row in gates_of(self.db)}


@pytest.fixture
def desk(tmp_path: Path) -> WaivingDesk:
    """One coder attempt is spent, A fails, B passes: 01_a is escalated, 02_b waits for it."""
    return escalated(tmp_path, {A: "FAIL", B: "PASS"})


def escalated(folder: Path, words: dict[str, str], specs: tuple[Spec, ...] = SPECS) -> WaivingDesk:
    root = folder / "repo"
    root.mkdir()
    new_repository(root)
    git(root, "commit", "-q", "--allow-empty", "-m", "start")
    opened = Desk.open(root, specs, Policy(attempts=1, readings=1))
    desk = WaivingDesk(
        opened.db, opened.policy, opened.registry, opened.shelf, opened.run_id, root=root,
        alice=person(folder / "people"),
    )  # fmt: skip
    desk.end("01_a:1")
    report(desk, words)
    return desk


def report(desk: WaivingDesk, words: dict[str, str]) -> None:
    """The verifier's session ends with these words, and its row with it."""
    desk.report("01_a:2", words)
    with transaction(desk.db):
        desk.db.execute("UPDATE sessions SET status = 'completed' WHERE archetype = 'verifier' AND status = 'running'")


def test_what_a_waiver_completes_is_accepted_as_waived_and_frees_what_it_held(desk: WaivingDesk) -> None:
    assert (desk.outcome(), desk.outcome("02_b:1")) == ("escalated", "blocked")
    desk.waive(A)
    assert (desk.outcome(), desk.outcome("02_b:1"), desk.outcome("02_b:2")) == ("waived", "pending", "pending")
    assert desk.gates() == {A: "waived", B: "tested", TOP: "proposed"}
    kinds = [kind for (kind,) in desk.rows("SELECT kind FROM decisions WHERE node_id = '01_a:2' ORDER BY id")]
    assert kinds[-2:] == ["Reopen", "Accept"]
    assert desk.rows("SELECT kind FROM waiver_events ORDER BY id") == [("granted",), ("used",)]


def test_the_board_follows_what_was_decided(desk: WaivingDesk) -> None:
    board = desk.board()
    for one in desk.waive(A):
        board.apply(one)
    taken = board.take()
    assert taken is not None
    assert taken.node.id == "02_b:1"


def test_settling_again_changes_nothing(desk: WaivingDesk) -> None:
    desk.waive(A)
    before = desk.rows("SELECT count(*) FROM ledger")
    assert desk.settle() == []
    assert desk.rows("SELECT count(*) FROM ledger") == before


def test_other_failures_keep_a_spec_escalated(tmp_path: Path) -> None:
    desk = escalated(tmp_path, {A: "FAIL", B: "FAIL"})
    desk.waive(A)
    assert desk.outcome() == "escalated"
    assert desk.gates()[A] == "waived"
    desk.waive(B)
    assert desk.outcome() == "waived"


def test_an_unclear_requirement_can_be_waived_too(tmp_path: Path) -> None:
    desk = escalated(tmp_path, {A: "UNKNOWN", B: "PASS"})
    desk.waive(A)
    assert desk.outcome() == "waived"


def test_a_pass_on_another_tree_does_not_complete_a_spec(desk: WaivingDesk) -> None:
    """B's PASS must be of the last reading: here a later one says nothing of it, on a new tree."""
    desk.commit = "c99"
    with transaction(desk.db):
        planned = desk.node("01_a:2")
        desk.docket().record(planned, "Reopen", [Move(planned, Step.REOPEN)])
    report(desk, {A: "FAIL", B: "nonsense"})
    desk.waive(A)
    assert desk.outcome() == "escalated"


def test_a_revoked_waiver_leaves_its_spec_escalated_with_an_issue(desk: WaivingDesk) -> None:
    desk.waive(A)
    desk.revoke()
    assert (desk.outcome(), desk.outcome("02_b:1")) == ("escalated", "blocked")
    assert desk.gates()[A] == "proposed"
    assert desk.rows("SELECT cause FROM blocking_history ORDER BY id DESC LIMIT 1") == [("depends on a blocked node",)]
    assert desk.rows("SELECT state FROM issues") == [("open",)]


def test_an_expired_waiver_is_noted_once_and_runs_nothing(desk: WaivingDesk) -> None:
    desk.waive(A)
    sessions = desk.rows("SELECT count(*) FROM sessions")
    desk.at = LATER
    assert len(desk.settle()) == 2
    assert desk.settle() == []
    assert desk.outcome() == "escalated"
    assert desk.rows("SELECT kind FROM waiver_events WHERE kind = 'expired'") == [("expired",)]
    assert desk.rows("SELECT count(*) FROM sessions") == sessions
    assert desk.rows("SELECT data FROM events WHERE kind = 'waiver ended'") != []


def test_what_has_started_goes_on_when_a_waiver_ends(desk: WaivingDesk) -> None:
    desk.waive(A)
    desk.end("02_b:1")
    desk.revoke()
    assert desk.outcome("02_b:1") == "landed"


def test_a_waived_requirement_that_fails_again_is_nobodys_task(tmp_path: Path) -> None:
    desk = escalated(tmp_path, {A: "FAIL", B: "FAIL"})
    desk.waive(A)
    with transaction(desk.db):
        assert desk.knowing().waived("01_a") == {A}
        assert desk.knowing().waived("02_b") == frozenset()
        assert "01_a/01-REQ-1.1 waived by alice" in desk.knowing().waiver_lines("01_a")[0]


def test_an_account_counts_what_is_waived_only_where_the_waiver_counts(desk: WaivingDesk) -> None:
    desk.waive(A)

    def account(at: str) -> tuple[int, int, str]:
        found = read_account(desk.db, in_force=lambda: waiving.notes_in_force(desk.db, desk.grounds(), at))
        return found.waived, found.not_proven, found.specs[0].standing

    assert account(AT) == (1, 1, "waived")
    assert account(LATER)[::2] == (0, "waiver ended")
    assert read_account(desk.db).specs[0].standing == "waiver ended"


def test_what_is_proven_or_waived_already_is_not_waived(desk: WaivingDesk) -> None:
    parts = {part.id: part for part in load_parts(desk.db)}
    with pytest.raises(WaiverRefused, match="has passed: there is nothing to waive"):
        waiving.waivable(desk.knowing(), desk.grounds(), parts[B])
    desk.waive(A)
    with pytest.raises(WaiverRefused, match=f"waived until {EXPIRY} by alice"):
        waiving.waivable(desk.knowing(), desk.grounds(), parts[A])
    with pytest.raises(WaiverRefused, match="is tested"):
        waiving.waivable(desk.knowing(), desk.grounds(), parts[B])


def test_what_was_not_read_yet_can_be_waived_beforehand(desk: WaivingDesk) -> None:
    desk.waive(TOP)
    assert desk.gates()[TOP] == "waived"
    assert desk.outcome("02_b:2") == "blocked"


def test_a_changed_plan_that_withdraws_a_waived_requirement_ends_its_waiver(desk: WaivingDesk) -> None:
    desk.waive(A)
    desk.db.execute("UPDATE plan_parts SET version = 'v9' WHERE id = ?", [A])
    desk.db.conn.commit()
    desk.settle()
    assert desk.rows("SELECT kind, note FROM waiver_events ORDER BY id DESC LIMIT 1") == [
        ("over", "the text of the requirement has changed")
    ]


def test_a_gate_that_was_accepted_around_a_waiver_goes_back_with_it(desk: WaivingDesk) -> None:
    desk.waive(A)
    version = next(part.version for part in load_parts(desk.db) if part.id == A)
    with transaction(desk.db):
        record_moves(desk.db, AT, "01_a", [GateMove(A, version, Gate.WAIVED, Gate.ACCEPTED, Role.ENGINE)])
    assert desk.settle() == []
    desk.revoke()
    assert (desk.gates()[A], desk.outcome()) == ("proposed", "escalated")


def test_where_a_proof_is_required_what_is_tested_can_be_waived(tmp_path: Path) -> None:
    desk = escalated(tmp_path, {A: "PASS", B: "PASS"})
    desk.policy = replace(desk.policy, required_state=Gate.PROVED)
    assert (desk.outcome(), desk.gates()[A]) == ("verified", "tested")
    with transaction(desk.db):
        part = next(part for part in load_parts(desk.db) if part.id == A)
        assert waiving.waivable(desk.knowing(), desk.grounds(), part).requirement == A
    desk.waive(A)
    assert (desk.outcome(), desk.gates()[A]) == ("verified", "waived")
    desk.at = LATER
    desk.settle()
    assert desk.gates()[A] == "proposed"
