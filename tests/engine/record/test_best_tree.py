"""The best tree by what is recorded, and what going back to it records. No repository is here."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from agent_fox.core.policy import Policy
from agent_fox.core.retry.decision import Block, Cause, Recode
from agent_fox.core.retry.standing import Step
from agent_fox.core.verdicts.answer import read_report
from agent_fox.core.verdicts.judgement import judge
from agent_fox.engine.record.best_tree import Behind, WayBack, behind, undone
from agent_fox.engine.record.docket import Handled, Move
from agent_fox.engine.record.review_persistence import Judge
from agent_fox.engine.running.results import EndedSession
from agent_fox.session.workspaces.landing import Landing
from agent_fox.store.records import current_verdicts, decisions_of_spec
from agent_fox.store.sessions import SessionRow
from agent_fox.store.state import transaction
from tests.engine.desk import Desk, answer, small_spec

SPEC = "01_calc"
A, B, C = (f"01-REQ-1.{number}" for number in (1, 2, 3))
PATIENT = Policy(attempts=5, stop_without_progress=False)


@dataclass
class Rounds:
    """One spec of one group on a desk. `sizes`: the lines that the work up to a commit changed, where it matters."""

    desk: Desk
    sizes: dict[str, int]

    def code(self) -> None:
        """The coder's next attempt lands."""
        before, coder = self.desk.commit, self.desk.node(f"{SPEC}:1")
        self.desk.end(f"{SPEC}:1")
        number = self.desk.session(coder)
        with transaction(self.desk.db):
            sql = "UPDATE sessions SET status = 'completed', base_commit = ?, landed_commit = ? WHERE id = ?"
            self.desk.db.execute(sql, [before, self.desk.commit, number])
            self.desk.db.execute("UPDATE sessions SET is_landed = 1 WHERE id = ?", [number])

    def behind(self, words: str) -> Behind | None:
        """What is to be said of a report `PFU` about A, B and C, before it is decided about."""
        docket = self.desk.docket()
        planned, file = self.desk.node(f"{SPEC}:2"), docket.file_of(SPEC)
        judged = judge(read_report(answer(worded(words)), file.index), file.expected)
        return behind(docket, planned, judged, decisions_of_spec(self.desk.db, SPEC), self.size)

    def size(self, made: tuple[SessionRow, ...], commit: str) -> int:
        return self.sizes.get(commit, 0)

    def read(self, words: str, back: WayBack | None = None) -> Handled:
        planned = self.desk.node(f"{SPEC}:2")
        with transaction(self.desk.db):
            number, commit = self.desk.session(planned), self.desk.commit
            judges = (Judge("command", answer(worded(words))),)
            ended = EndedSession(planned.standing.ticket, commit, commit, judges, session_id=number, way_back=back)
            return self.desk.registry.handle(self.desk.docket(), planned.node.archetype, ended)

    def reopen(self) -> None:
        """The verifier is to read again, as at the end of a run whose tip is another tree."""
        planned = self.desk.node(f"{SPEC}:2")
        with transaction(self.desk.db):
            self.desk.docket().record(planned, "Reopen", [Move(planned, Step.REOPEN)])

    def round(self, words: str) -> None:
        self.code()
        self.read(words)


def worded(words: str) -> dict[str, str]:
    names = {"P": "PASS", "F": "FAIL", "U": "UNKNOWN"}
    return {part: names[word] for part, word in zip((A, B, C), words, strict=True)}


@pytest.fixture
def rounds(tmp_path: Path) -> Rounds:
    return Rounds(Desk.open(tmp_path, [small_spec(SPEC, {1: ("1.1", "1.2", "1.3")})], PATIENT), {})


def way(found: Behind | None) -> WayBack:
    assert found is not None
    return WayBack(found.best, found.lost, tuple(row.id for row in found.own), Landing("tip", "back"))


def test_a_worse_report_leads_back_to_the_best_tree_over_the_work_landed_since(rounds: Rounds) -> None:
    rounds.round("PPF")
    rounds.code()
    found = rounds.behind("FPF")
    assert found is not None
    assert (found.best.attempt, found.best.commit, found.lost) == (1, "c1", (A,))
    assert [row.landed for row in found.own] == ["c2"]
    assert found.best.judged.failing == (C,)


@pytest.mark.parametrize("words", ["FPP", "PFP", "PPF", "PPU"], ids=["a tie", "another tie", "the same", "no FAIL"])
def test_the_tip_is_kept_after(rounds: Rounds, words: str) -> None:
    rounds.round("PPF")
    rounds.code()
    assert rounds.behind(words) is None


def test_what_was_lost_without_work_of_its_own_is_anothers(rounds: Rounds) -> None:
    rounds.round("PPF")
    rounds.desk.commit = "of-another-spec"
    assert rounds.behind("FPF") is None


def test_of_equal_trees_the_one_with_the_smaller_change_is_the_best(rounds: Rounds) -> None:
    rounds.round("PPF")
    rounds.round("PFP")
    rounds.code()
    rounds.sizes = {"c1": 9, "c2": 5}
    smaller = rounds.behind("PFF")
    rounds.sizes = {"c1": 5, "c2": 5}
    earlier = rounds.behind("PFF")
    assert smaller is not None
    assert earlier is not None
    assert (smaller.best.commit, earlier.best.commit) == ("c2", "c1")
    assert [row.landed for row in earlier.own] == ["c3", "c2"]


def test_a_spec_that_was_proven_is_compared_with_nothing_from_before(rounds: Rounds) -> None:
    rounds.round("PPP")
    rounds.reopen()
    assert rounds.behind("FFF") is None


def test_what_passed_when_the_work_began_outweighs_what_passes_now(rounds: Rounds) -> None:
    rounds.round("PPP")
    rounds.reopen()
    rounds.desk.commit = "of-another-spec"
    rounds.read("FPP")
    rounds.code()
    found = rounds.behind("PFP")
    assert found is not None
    assert (found.best.commit, found.lost) == ("of-another-spec", (B,))


def test_going_back_writes_the_readings_anew_and_blames_by_them(rounds: Rounds) -> None:
    rounds.round("PPF")
    rounds.code()
    back = way(rounds.behind("FFP"))
    handled = rounds.read("FFP", back)
    assert isinstance(handled.decision, Recode)
    current = current_verdicts(rounds.desk.db, SPEC)
    assert {part: str(word) for part, (_, word) in current.items()} == {A: "PASS", B: "PASS", C: "FAIL"}
    last = decisions_of_spec(rounds.desk.db, SPEC)[-1]
    assert (last.facts["failing"], undone(decisions_of_spec(rounds.desk.db, SPEC))) == ([C], frozenset(back.undone))
    landing = "SELECT base_commit, landed_commit, is_landed FROM sessions WHERE archetype = 'verifier' ORDER BY id"
    assert rounds.desk.rows(landing)[-1] == ("tip", "back", 0)


def test_work_that_was_taken_off_is_not_taken_off_twice(rounds: Rounds) -> None:
    rounds.round("PPF")
    rounds.code()
    rounds.read("FPF", way(rounds.behind("FPF")))
    rounds.code()
    found = rounds.behind("FPF")
    assert found is not None
    assert [row.landed for row in found.own] == ["c3"]


def test_a_way_that_is_barred_changes_nothing_but_what_is_said(rounds: Rounds) -> None:
    rounds.round("PPF")
    rounds.code()
    barred = replace(way(rounds.behind("FPF")), landing=None, obstacle="others changed it")
    rounds.read("FPF", barred)
    last = decisions_of_spec(rounds.desk.db, SPEC)[-1]
    assert last.facts["failing"] == [A, C]
    assert rounds.desk.rows("SELECT 1 FROM verification_results WHERE restores IS NOT NULL") == []
    assert "the branch stays there, not at attempt 1: others changed it" in str(last.facts["best"])


def test_a_block_says_where_the_branch_stands(rounds: Rounds) -> None:
    rounds.round("PPF")
    rounds.code()
    rounds.desk.policy = replace(PATIENT, attempts=2)
    handled = rounds.read("FPF", way(rounds.behind("FPF")))
    assert handled.decision == Block(Cause.ATTEMPTS_SPENT)
    ((reason, parts),) = rounds.desk.rows("SELECT reason, requirements FROM blocking_history")
    assert "the last attempt lost 1 of 2; the branch stands at attempt 1" in str(reason)
    assert parts == f'["{C}"]'


def test_which_row_a_verdict_restores_never_changes(rounds: Rounds) -> None:
    rounds.round("PPF")
    with pytest.raises(Exception, match="which reading a row restores never changes"):
        rounds.desk.db.execute("UPDATE verification_results SET restores = 1 WHERE id = 2")
