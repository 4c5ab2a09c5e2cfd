"""The decision table of the docs, tried against every small world; and properties that hold for any report."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_fox.core.decision import (
    Accept,
    Awaited,
    Block,
    Budget,
    Cause,
    Decision,
    Facts,
    Ignore,
    Land,
    Recode,
    Reread,
    Retry,
    SendBack,
    Suspect,
    decide,
    decide_coder_failed,
    decide_review,
    next_rung,
    why_ignored,
)
from agent_fox.core.ids import Ticket
from agent_fox.core.judgement import Judged, Judgement, judge
from agent_fox.core.progress import Progress
from agent_fox.core.verdict import Disposition, Report, Verdict, Word

DOC = Path(__file__).parents[2] / "docs" / "decision-table.md"
COLUMNS = (
    "settled or not awaited", "judgement", "needs a person", "spec fault shown", "retry disabled",
    "ceiling reached", "attempts spent", "not converging, no stronger rung", "expects something", "readings left",
)  # fmt: skip
TICKET = Ticket("s:verifier", 1, 1)


@dataclass(frozen=True)
class Row:
    number: str
    conditions: dict[str, str]
    decision: str
    spends: str

    def fits(self, world: dict[str, str]) -> bool:
        return all(self.conditions[column] in ("any", world[column]) for column in COLUMNS)


def test_a_report_that_changes_nothing_is_told_why() -> None:
    awaited = Awaited(TICKET, "pinned")
    late = Ticket("s:verifier", 1, 2)
    assert why_ignored(awaited, Facts(TICKET, "pinned")) is None
    assert why_ignored(replace(awaited, is_open=False), Facts(TICKET, "pinned")) == "the node is settled already"
    assert why_ignored(awaited, Facts(late, "pinned")) == "ticket s:verifier@1.2 is not the awaited s:verifier@1.1"
    moved = "the report is not about the commit pinned at its launch"
    assert why_ignored(awaited, Facts(TICKET, "other")) == moved


def table() -> list[Row]:
    section = DOC.read_text().split("## Deciding about a verifier's report")[1].split("\n## ")[0]
    lines = [line for line in section.splitlines() if line.startswith("|")]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    header = cells[0]
    assert tuple(header[1:-2]) == COLUMNS
    return [Row(row[0], dict(zip(header[1:-2], row[1:-2], strict=True)), row[-2], row[-1]) for row in cells[2:]]


def worlds() -> list[dict[str, str]]:
    yes_no = [["yes", "no"]] * 8
    found = []
    for judgement in ("SOUND", "FAULTY", "UNCLEAR"):
        for values in itertools.product(*yes_no):
            settled, person, fault, disabled, ceiling, spent, stuck, readings = values
            for expects in ("yes", "no") if judgement == "UNCLEAR" else ("yes",):
                values_in_order = (
                    settled,
                    judgement,
                    person,
                    fault,
                    disabled,
                    ceiling,
                    spent,
                    stuck,
                    expects,
                    readings,
                )
                found.append(dict(zip(COLUMNS, values_in_order, strict=True)))
    return found


def report_of(world: dict[str, str]) -> Judged:
    expected = ("01-REQ-1.1", "01-REQ-1.2") if world["expects something"] == "yes" else ()
    words = {"SOUND": Word.PASS, "FAULTY": Word.FAIL, "UNCLEAR": Word.UNKNOWN}
    is_fault = world["spec fault shown"] == "yes"
    first = Verdict(
        "01-REQ-1.1",
        words[world["judgement"]],
        disposition=Disposition.SPEC_FAULT if is_fault else Disposition.REPAIRABLE,
        is_proven=is_fault,
        needs_person=world["needs a person"] == "yes",
    )
    judged = judge(Report({"01-REQ-1.1": first, "01-REQ-1.2": Verdict("01-REQ-1.2", Word.PASS)}), expected)
    assert judged.judgement == Judgement(world["judgement"])
    return judged


def decide_world(world: dict[str, str], *, stop: bool = True) -> Decision:
    def yes(column: str) -> bool:
        return world[column] == "yes"

    suspect = Suspect(
        "s:coder:1", attempts=3, spent=3 if yes("attempts spent") else 1, retry_predecessor=not yes("retry disabled")
    )
    facts = Facts(
        ticket=TICKET,
        commit="c1",
        suspects=(suspect,),
        progress=Progress.REPEAT if yes("not converging, no stronger rung") else Progress.PROGRESS,
        stop_without_progress=stop,
        ceiling="$5" if yes("ceiling reached") else None,
    )
    standing = Awaited(TICKET, "c1", is_open=not yes("settled or not awaited"))
    return decide(report_of(world), standing, Budget(2, 1 if yes("readings left") else 2), facts)


def name(decision: Decision) -> str:
    return f"Block: {decision.cause}" if isinstance(decision, Block) else type(decision).__name__


@pytest.mark.parametrize("world", worlds(), ids=lambda world: "-".join(world.values()))
def test_every_small_world_is_decided_by_the_first_row_that_fits(world: dict[str, str]) -> None:
    row = next(row for row in table() if row.fits(world))
    assert name(decide_world(world)) == row.decision


def test_every_row_of_the_table_is_the_first_to_fit_some_world() -> None:
    rows = table()
    used = {rows.index(next(row for row in rows if row.fits(world))) for world in worlds()}
    assert used == set(range(len(rows)))


def test_only_recode_spends_an_attempt_and_only_reread_a_reading() -> None:
    spends = {row.decision: row.spends for row in table() if row.spends != "–"}
    assert spends == {"Recode": "an attempt", "Reread": "a reading"}


FAULTY = {**{column: "no" for column in COLUMNS}, "judgement": "FAULTY", "expects something": "yes"}


@pytest.mark.parametrize(
    ("ticket", "commit"),
    [
        (Ticket("s:verifier", 2, 1), "c1"),
        (Ticket("s:verifier", 1, 2), "c1"),
        (Ticket("t:verifier", 1, 1), "c1"),
        (TICKET, "c2"),
        (TICKET, None),
    ],
)
def test_a_report_of_another_ticket_or_about_another_commit_is_ignored(ticket: Ticket, commit: str | None) -> None:
    facts = Facts(ticket, commit, (Suspect("c", 3, 1),))
    decision = decide(report_of(FAULTY), Awaited(TICKET, "c1"), Budget(2, 1), facts)
    assert isinstance(decision, Ignore)
    assert decision.why


def test_a_failing_report_that_blames_nobody_is_blocked_not_retried() -> None:
    decision = decide(report_of(FAULTY), Awaited(TICKET, "c1"), Budget(2, 1), Facts(TICKET, "c1"))
    assert decision == Block(Cause.ATTEMPTS_SPENT)


def test_a_sound_report_with_a_waiver_is_accepted_as_waived() -> None:
    judged = judge(Report(), ("a",), waived=frozenset({"a"}))
    assert decide(judged, Awaited(TICKET, "c1"), Budget(2, 1), Facts(TICKET, "c1")) == Accept(is_waived=True)


def test_a_repeat_climbs_to_the_stronger_rung_before_it_stops() -> None:
    weak, strong = Suspect("a", 5, 1, rung=0, top_rung=1), Suspect("b", 5, 1, rung=0, top_rung=0)
    facts = Facts(TICKET, "c1", (weak, strong), Progress.REPEAT)
    decision = decide(report_of(FAULTY), Awaited(TICKET, "c1"), Budget(2, 1), facts)
    assert decision == Recode(("a", "b"), {"a": 1, "b": 0})


def test_a_repeat_at_the_top_rung_stops() -> None:
    facts = Facts(TICKET, "c1", (Suspect("a", 5, 2, rung=1, top_rung=1),), Progress.OSCILLATION)
    assert decide(report_of(FAULTY), Awaited(TICKET, "c1"), Budget(2, 1), facts) == Block(Cause.NO_PROGRESS)


def test_progress_stays_on_its_rung() -> None:
    facts = Facts(TICKET, "c1", (Suspect("a", 5, 2, rung=1, top_rung=2),), Progress.PROGRESS)
    assert decide(report_of(FAULTY), Awaited(TICKET, "c1"), Budget(2, 1), facts) == Recode(("a",), {"a": 1})


def test_without_the_stop_a_repeat_goes_on_until_the_attempts_are_spent() -> None:
    stuck = {**FAULTY, "not converging, no stronger rung": "yes"}
    assert decide_world(stuck, stop=False) == Recode(("s:coder:1",), {"s:coder:1": 0})


def test_one_spent_coder_among_the_blamed_blocks_all() -> None:
    facts = Facts(TICKET, "c1", (Suspect("a", 3, 1), Suspect("b", 3, 3)))
    assert decide(report_of(FAULTY), Awaited(TICKET, "c1"), Budget(2, 1), facts) == Block(Cause.ATTEMPTS_SPENT)


def test_one_coder_that_may_not_be_retried_blocks_all() -> None:
    facts = Facts(TICKET, "c1", (Suspect("a", 3, 1), Suspect("b", 3, 1, retry_predecessor=False)))
    assert decide(report_of(FAULTY), Awaited(TICKET, "c1"), Budget(2, 1), facts) == Block(Cause.RETRY_DISABLED)


def test_a_spec_fault_by_one_models_word_is_a_plain_fail() -> None:
    verdict = Verdict("a", Word.FAIL, disposition=Disposition.SPEC_FAULT)
    facts = Facts(TICKET, "c1", (Suspect("c", 3, 1),))
    decision = decide(judge(Report({"a": verdict}), ("a",)), Awaited(TICKET, "c1"), Budget(2, 1), facts)
    assert isinstance(decision, Recode)


def test_a_reread_asks_only_about_what_is_unclear() -> None:
    judged = judge(Report({"a": Verdict("a", Word.PASS)}), ("a", "b"))
    assert decide(judged, Awaited(TICKET, "c1"), Budget(2, 1), Facts(TICKET, "c1")) == Reread(("b",))


@pytest.mark.parametrize(("rung", "climbs", "top", "expected"), [(0, True, 2, 1), (2, True, 2, 2), (1, False, 2, 1)])
def test_a_rung_is_climbed_one_at_a_time_and_never_past_the_top(
    rung: int, climbs: bool, top: int, expected: int
) -> None:
    assert next_rung(Suspect("a", 3, 1, rung=rung, top_rung=top), climbs) == expected


def test_a_failed_coder_is_tried_again_at_its_rung_until_its_attempts_are_spent() -> None:
    assert decide_coder_failed(Suspect("a", 3, 2, rung=1, top_rung=1), None) == Retry(1)
    assert decide_coder_failed(Suspect("a", 3, 3), None) == Block(Cause.ATTEMPTS_SPENT)
    assert decide_coder_failed(Suspect("a", 3, 1), "$5") == Block(Cause.CEILING)


def test_a_reviewer_without_critical_findings_lets_the_plan_go_on() -> None:
    assert decide_review(True, False, (), Budget(2, 1)) == Accept()


def test_a_review_that_cannot_be_read_is_no_approval() -> None:
    assert decide_review(False, False, (), Budget(2, 1)) == Reread(())
    assert decide_review(False, False, (), Budget(2, 2)) == Block(Cause.NO_CLEAR_VERDICT)


def test_critical_findings_send_the_tests_back_on_a_budget_of_their_own() -> None:
    assert decide_review(True, True, (Suspect("t", 2, 1),), Budget(2, 1)) == SendBack(("t",))
    assert decide_review(True, True, (Suspect("t", 2, 2),), Budget(2, 1)) == Block(Cause.ATTEMPTS_SPENT)


def test_who_must_not_be_sent_back_is_not_by_a_review_either() -> None:
    blamed = (Suspect("a", 2, 1), Suspect("b", 2, 1, retry_predecessor=False))
    assert decide_review(True, True, blamed, Budget(2, 1)) == Block(Cause.RETRY_DISABLED)


def test_a_ceiling_that_is_reached_ends_a_review_before_its_budget_does() -> None:
    assert decide_review(True, True, (Suspect("a", 2, 2),), Budget(2, 1), "$5") == Block(Cause.CEILING)


def test_critical_findings_about_the_spec_need_a_person() -> None:
    assert decide_review(True, True, (), Budget(2, 1)) == Block(Cause.NEEDS_PERSON)


def test_a_landing_says_whether_anything_changed() -> None:
    assert Land(is_unchanged=True) != Land(is_unchanged=False)


words = st.sampled_from(list(Word))
verdicts = st.dictionaries(st.sampled_from(["a", "b", "c"]), words).map(
    lambda said: Report({part: Verdict(part, word) for part, word in said.items()})
)
suspects = st.lists(
    st.builds(
        Suspect, st.sampled_from(["x", "y"]), st.integers(1, 3), st.integers(0, 4), st.booleans(),
        st.integers(0, 2), st.integers(0, 2),
    ),
    max_size=2,
).map(tuple)  # fmt: skip
facts = st.builds(Facts, st.just(TICKET), st.just("c1"), suspects, st.sampled_from(list(Progress)), st.booleans())


@given(verdicts, facts, st.integers(1, 3))
def test_nothing_is_accepted_unless_every_expected_id_passed(report: Report, known: Facts, spent: int) -> None:
    judged = judge(report, ("a", "b"))
    decision = decide(judged, Awaited(TICKET, "c1"), Budget(2, spent), known)
    passed = all(part in report.verdicts and report.verdicts[part].word is Word.PASS for part in ("a", "b"))
    assert isinstance(decision, Accept) == passed


@given(verdicts, facts, st.integers(1, 3))
def test_a_coder_is_charged_only_for_a_fail(report: Report, known: Facts, spent: int) -> None:
    judged = judge(report, ("a", "b"))
    decision = decide(judged, Awaited(TICKET, "c1"), Budget(2, spent), known)
    if isinstance(decision, Recode):
        assert judged.failing
        assert all(not suspect.is_spent and suspect.retry_predecessor for suspect in known.suspects)


@given(verdicts, facts, st.integers(1, 3))
def test_deciding_twice_gives_the_same_decision(report: Report, known: Facts, spent: int) -> None:
    judged = judge(report, ("a", "b"))
    standing, budget = Awaited(TICKET, "c1"), Budget(2, spent)
    assert decide(judged, standing, budget, known) == decide(judged, standing, budget, known)
