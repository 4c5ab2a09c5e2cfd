"""The decision table of the docs, tried against every small world; and properties that hold for any report."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_fox.core.ids import Ticket
from agent_fox.core.retry.arms import Arm, Case, Chances, Cost, History, weighed
from agent_fox.core.retry.decision import (
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
    Switch,
    decide,
    decide_coder_failed,
    decide_review,
    next_rung,
    person_needed,
    why_ignored,
)
from agent_fox.core.retry.progress import Progress
from agent_fox.core.verdicts.judgement import Judged, Judgement, judge
from agent_fox.core.verdicts.verdict import Disposition, Report, Verdict, Word

DOC = Path(__file__).parents[3] / "docs" / "decision-table.md"
COLUMNS = (
    "settled or not awaited", "judgement", "needs a person", "spec fault shown", "retry disabled",
    "ceiling reached", "attempts spent", "not converging", "stronger rung left", "expects something", "readings left",
)  # fmt: skip
LADDER_COLUMNS = (
    "rungs above its own", "`[retry] switch`", "first Recode, next rung another agent", "not converging",
)  # fmt: skip
LADDERS = [(0, 0, False), (0, 1, False), (0, 1, True), (0, 2, True), (1, 1, True), (1, 2, False), (1, 2, True)]
"""A coder's rung, the last one of its ladder, and whether the second one is another agent."""
TICKET = Ticket("s:verifier", 1, 1)


@dataclass(frozen=True)
class Row:
    number: str
    conditions: dict[str, str]
    decision: str
    rung: str
    spends: str

    def fits(self, world: dict[str, str]) -> bool:
        return fits(self.conditions, world)


def fits(conditions: dict[str, str], world: dict[str, str]) -> bool:
    return all(wanted in ("any", world[column]) for column, wanted in conditions.items())


def test_a_report_that_changes_nothing_is_told_why() -> None:
    awaited = Awaited(TICKET, "pinned")
    late = Ticket("s:verifier", 1, 2)
    assert why_ignored(awaited, Facts(TICKET, "pinned")) is None
    assert why_ignored(replace(awaited, is_open=False), Facts(TICKET, "pinned")) == "the node is settled already"
    assert why_ignored(awaited, Facts(late, "pinned")) == "ticket s:verifier@1.2 is not the awaited s:verifier@1.1"
    moved = "the report is not about the commit pinned at its launch"
    assert why_ignored(awaited, Facts(TICKET, "other")) == moved


def section(title: str) -> list[list[str]]:
    """The cells of the table below a heading of the document, its header first."""
    text = DOC.read_text().split(f"## {title}")[1].split("\n## ")[0]
    lines = [line for line in text.splitlines() if line.startswith("|")]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return [cells[0], *cells[2:]]


@cache
def table() -> list[Row]:
    header, *rows = section("Deciding about a verifier's report")
    assert tuple(header[1:-3]) == COLUMNS
    return [Row(row[0], dict(zip(COLUMNS, row[1:-3], strict=True)), *row[-3:]) for row in rows]


@cache
def ladder_table() -> list[tuple[dict[str, str], str]]:
    header, *rows = section("The rung of each coder that is sent back")
    assert tuple(header[:-1]) == LADDER_COLUMNS
    return [(dict(zip(LADDER_COLUMNS, row[:-1], strict=True)), row[-1]) for row in rows]


def worlds() -> Iterator[dict[str, str]]:
    """Every small world; only a report that is unclear may expect nothing."""
    facts = [column for column in COLUMNS if column != "judgement"]
    for judgement in ("SOUND", "FAULTY", "UNCLEAR"):
        for values in itertools.product(("yes", "no"), repeat=len(facts)):
            world = {"judgement": judgement, **dict(zip(facts, values, strict=True))}
            if judgement == "UNCLEAR" or world["expects something"] == "yes":
                yield world


def report_of(world: dict[str, str]) -> Judged:
    reported = ("judgement", "expects something", "spec fault shown", "needs a person")
    return judged_as(*(world[column] for column in reported))


@cache
def judged_as(judgement: str, expects: str, spec_fault: str, person: str) -> Judged:
    expected = ("01-REQ-1.1", "01-REQ-1.2") if expects == "yes" else ()
    words = {"SOUND": Word.PASS, "FAULTY": Word.FAIL, "UNCLEAR": Word.UNKNOWN}
    is_fault = spec_fault == "yes"
    first = Verdict(
        "01-REQ-1.1",
        words[judgement],
        disposition=Disposition.SPEC_FAULT if is_fault else Disposition.REPAIRABLE,
        is_proven=is_fault,
        needs_person=person == "yes",
    )
    judged = judge(Report({"01-REQ-1.1": first, "01-REQ-1.2": Verdict("01-REQ-1.2", Word.PASS)}), expected)
    assert judged.judgement == Judgement(judgement)
    return judged


def ladders(world: dict[str, str]) -> list[tuple[int, int, bool]]:
    return [ladder for ladder in LADDERS if (ladder[0] < ladder[1]) == (world["stronger rung left"] == "yes")]


def decide_world(
    world: dict[str, str], *coders: tuple[int, int, bool], stop: bool = True, switch: Switch = Switch.SECOND,
    by_worth: bool = False,
) -> Decision:  # fmt: skip
    """What is decided in a world where the blamed coders stand on these ladders."""

    def yes(column: str) -> bool:
        return world[column] == "yes"

    spent, may_retry = 3 if yes("attempts spent") else 1, not yes("retry disabled")
    facts = Facts(
        ticket=TICKET,
        commit="c1",
        suspects=tuple(
            Suspect(f"s:coder:{n}", 3, spent, may_retry, *ladder) for n, ladder in enumerate(coders or LADDERS[:1], 1)
        ),
        progress=Progress.REPEAT if yes("not converging") else Progress.PROGRESS,
        stop_without_progress=stop,
        ceiling="$5" if yes("ceiling reached") else None,
        switch=switch,
        arms={f"s:coder:{n}": climbed(*ladder[:2]) for n, ladder in enumerate(coders, 1)} if by_worth else {},
    )
    standing = Awaited(TICKET, "c1", is_open=not yes("settled or not awaited"))
    return decide(report_of(world), standing, Budget(2, 1 if yes("readings left") else 2), facts)


def climbed(rung: int, top: int) -> tuple[Case, tuple[Arm, ...]]:
    """What a coder could try next that failed once with each agent up to its rung; the first costs nothing."""
    agents = tuple(f"agent {number}" for number in range(top + 1))
    case = Case(agents, agents[: rung + 1], 20.0)
    costs = {agent: Cost(50.0 * number, 1) for number, agent in enumerate(agents)}
    return case, weighed(case, Chances(4.0, (0.1,), (0.2,)), History((), costs))


def rungs_of(decision: Decision) -> dict[str, int]:
    return dict(decision.rungs) if isinstance(decision, Recode) else {}


def name(decision: Decision) -> str:
    return f"Block: {decision.cause}" if isinstance(decision, Block) else type(decision).__name__


def rung_by_the_table(ladder: tuple[int, int, bool], switch: Switch, stuck: str) -> int:
    rung, top, is_another = ladder
    values = ("yes" if rung < top else "no", switch.value, "yes" if rung == 0 and is_another else "no", stuck)
    world = dict(zip(LADDER_COLUMNS, values, strict=True))
    said = next(said for conditions, said in ladder_table() if fits(conditions, world))
    return rung + {"the same": 0, "the next": 1}[said]


def expected_rungs(row: Row, world: dict[str, str], switch: Switch, *coders: tuple[int, int, bool]) -> dict[str, int]:
    """By the tables: the rung of each coder that is sent back; empty where none is."""
    if row.rung == "–":
        return {}
    assert row.rung == "the table below"
    return {
        f"s:coder:{n}": rung_by_the_table(each, switch, world["not converging"]) for n, each in enumerate(coders, 1)
    }


@pytest.mark.parametrize("judgement", ["SOUND", "FAULTY", "UNCLEAR"])
@pytest.mark.parametrize("switch", Switch)
def test_every_small_world_is_decided_by_the_first_row_that_fits(judgement: str, switch: Switch) -> None:
    wrong = []
    for world in (world for world in worlds() if world["judgement"] == judgement):
        row = next(row for row in table() if row.fits(world))
        for ladder in ladders(world):
            decision = decide_world(world, ladder, switch=switch)
            found = (name(decision), rungs_of(decision))
            if found != (row.decision, expected_rungs(row, world, switch, ladder)):
                wrong.append((world, ladder, found))
    assert wrong == []


def test_a_choice_by_worth_changes_who_tries_next_and_nothing_else() -> None:
    for world in worlds():
        for ladder in ladders(world):
            decision, by_ladder = decide_world(world, ladder, by_worth=True), decide_world(world, ladder)
            assert name(decision) == name(by_ladder), world
            if isinstance(decision, Recode):
                assert rungs_of(decision) == {"s:coder:1": 0}
                assert decision.choices["s:coder:1"].ladder_rung == rungs_of(by_ladder)["s:coder:1"]
            else:
                assert decision == by_ladder


@pytest.mark.parametrize("switch", Switch)
@pytest.mark.parametrize("stuck", ["yes", "no"])
def test_each_of_two_blamed_coders_gets_the_rung_that_the_table_gives_it(stuck: str, switch: Switch) -> None:
    for pair in itertools.product(LADDERS, repeat=2):
        has_stronger = "yes" if any(rung < top for rung, top, _ in pair) else "no"
        world = {**FAULTY, "not converging": stuck, "stronger rung left": has_stronger}
        row = next(row for row in table() if row.fits(world))
        decision = decide_world(world, *pair, switch=switch)
        assert (name(decision), rungs_of(decision)) == (row.decision, expected_rungs(row, world, switch, *pair)), pair


def test_every_row_of_the_table_of_rungs_is_the_first_to_fit_some_ladder() -> None:
    used = set()
    for (rung, top, is_another), switch, stuck in itertools.product(LADDERS, Switch, ("yes", "no")):
        values = ("yes" if rung < top else "no", switch.value, "yes" if rung == 0 and is_another else "no", stuck)
        world = dict(zip(LADDER_COLUMNS, values, strict=True))
        used.add(next(n for n, (conditions, _) in enumerate(ladder_table()) if fits(conditions, world)))
    assert used == set(range(len(ladder_table())))


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
    stuck = {**FAULTY, "not converging": "yes"}
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


def test_another_agent_has_the_second_attempt_although_the_first_made_progress() -> None:
    coder = Suspect("a", 3, 1, rung=0, top_rung=2, has_second_agent=True)
    facts = Facts(TICKET, "c1", (coder,), Progress.FIRST)
    standing, budget = Awaited(TICKET, "c1"), Budget(2, 1)
    assert decide(report_of(FAULTY), standing, budget, facts) == Recode(("a",), {"a": 1})
    patient = replace(facts, switch=Switch.REPEAT)
    assert decide(report_of(FAULTY), standing, budget, patient) == Recode(("a",), {"a": 0})
    third = replace(facts, suspects=(replace(coder, spent=2, rung=1),), progress=Progress.PROGRESS)
    assert decide(report_of(FAULTY), standing, budget, third) == Recode(("a",), {"a": 1})


def test_the_first_recode_of_a_coder_whose_own_sessions_failed_before_is_its_first_all_the_same() -> None:
    assert next_rung(Suspect("a", 5, 3, top_rung=1, has_second_agent=True), climbs=False) == 1


@pytest.mark.parametrize(("rung", "climbs", "top", "expected"), [(0, True, 2, 1), (2, True, 2, 2), (1, False, 2, 1)])
def test_a_rung_is_climbed_one_at_a_time_and_never_past_the_top(
    rung: int, climbs: bool, top: int, expected: int
) -> None:
    assert next_rung(Suspect("a", 3, 1, rung=rung, top_rung=top), climbs) == expected


def test_a_failed_coder_is_tried_again_at_its_rung_until_its_attempts_are_spent() -> None:
    assert decide_coder_failed(Suspect("a", 3, 2, rung=1, top_rung=1), None) == Retry(1)
    assert decide_coder_failed(Suspect("a", 3, 2, rung=0, top_rung=1), None) == Retry(0)
    assert decide_coder_failed(Suspect("a", 3, 2), None, is_too_long=True) == Retry(0)
    assert decide_coder_failed(Suspect("a", 3, 3), None) == Block(Cause.ATTEMPTS_SPENT)
    assert decide_coder_failed(Suspect("a", 3, 1), "$5") == Block(Cause.CEILING)


def test_the_table_of_a_context_that_was_too_long_is_the_rule() -> None:
    header, *rows = section("A coder's context that was too long")
    columns = ("ceiling reached", "brief was short", "stronger rung left", "attempts spent")
    assert tuple(header) == (*columns, "decision", "rung")
    for values in itertools.product(("yes", "no"), repeat=4):
        world = dict(zip(columns, values, strict=True))
        ceiling, was_short, stronger, spent = (value == "yes" for value in values)
        found = [row[4:] for row in rows if fits(dict(zip(columns, row, strict=False)), world)]
        coder = Suspect("a", 3, 3 if spent else 1, rung=0 if stronger else 1, top_rung=1)
        decision = decide_coder_failed(coder, "$5" if ceiling else None, is_too_long=True, was_short=was_short)
        match decision:
            case Block(cause):
                told = [f"Block: {cause}", "–"]
            case Retry(rung):
                told = ["Retry", "the next" if rung > coder.rung else "the same"]
        assert found == [told], world


def test_a_reviewer_without_critical_findings_lets_the_plan_go_on() -> None:
    assert decide_review(True, False, (), Budget(2, 1)) == Accept()


def test_a_change_that_a_final_review_does_not_agree_to_is_a_persons() -> None:
    assert decide_review(True, False, (), Budget(2, 1), is_agreed=False) == Block(Cause.NEEDS_PERSON)


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


def test_what_is_unclear_waits_for_a_person_only_once_nothing_fails() -> None:
    unclear = Verdict("a", Word.UNKNOWN, needs_person=True)
    for word, needed in ((Word.PASS, Cause.NEEDS_PERSON), (Word.FAIL, None)):
        assert person_needed(judge(Report({"a": unclear, "b": Verdict("b", word)}), ("a", "b"))) is needed


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
        st.integers(0, 2), st.integers(0, 2), st.booleans(),
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
