"""Verdicts supersede each other as the rules say; decisions come back as they were recorded."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from itertools import product
from pathlib import Path

import pytest
from sqlite_utils import Database

from agent_fox.core.ids import Ticket
from agent_fox.core.verdicts.judgement import Counted, PastReading
from agent_fox.core.verdicts.proof import Trials, Tried
from agent_fox.core.verdicts.verdict import Disposition, Signal, Verdict, Word
from agent_fox.store import records
from agent_fox.store.history import unclear_after_fail
from agent_fox.store.records import DecisionRow, NewDecision
from tests.store.world import AT, SPEC, VERIFIER, add_nodes, counted, decide, fill_in, origin, report, writing

PASS, FAIL, UNKNOWN = Word.PASS, Word.FAIL, Word.UNKNOWN
LINES = [line for length in range(1, 5) for line in product(Word, repeat=length)]


def current_word(words: tuple[Word, ...]) -> Word:
    """The rule: the newest counts, but an UNKNOWN after a FAIL leaves the FAIL."""
    counts = words[0]
    for word in words[1:]:
        counts = FAIL if counts is FAIL and word is UNKNOWN else word
    return counts


def test_one_verdict_is_current_and_it_is_the_one_the_rule_says(tmp_path: Path) -> None:
    """Each line is the story of a requirement of its own."""
    stories = {f"R{number}": words for number, words in enumerate(LINES)}
    with writing(tmp_path) as db:
        add_nodes(db, VERIFIER)
        for place in range(max(map(len, LINES))):
            report(db, None, 1, **{name: words[place] for name, words in stories.items() if place < len(words)})
        current = {name: word for name, (_, word) in records.current_verdicts(db, SPEC).items()}
        kept = list(db.execute("SELECT requirement_id, verdict FROM verification_results ORDER BY id"))
    assert current == {name: current_word(words) for name, words in stories.items()}
    assert {name: tuple(Word(word) for about, word in kept if about == name) for name in stories} == stories


def superseded(db: Database) -> list[tuple[Word, int | None]]:
    rows = db.execute("SELECT verdict, superseded_by FROM verification_results ORDER BY id")
    return [(Word(word), by) for word, by in rows]


def test_an_unknown_after_a_fail_is_stored_as_superseded_by_that_fail(tmp_path: Path) -> None:
    with writing(tmp_path) as db:
        add_nodes(db, VERIFIER)
        for word in (FAIL, UNKNOWN, UNKNOWN, PASS, UNKNOWN):
            report(db, R1=word)
        assert superseded(db) == [(FAIL, 4), (UNKNOWN, 1), (UNKNOWN, 1), (PASS, 5), (UNKNOWN, None)]


def test_requirements_are_superseded_each_by_its_own_verdicts(tmp_path: Path) -> None:
    with writing(tmp_path) as db:
        add_nodes(db, VERIFIER)
        report(db, R1=FAIL, R2=PASS, R3=PASS)
        report(db, R1=PASS, R2=FAIL)
        found = records.current_verdicts(db, SPEC)
        assert {part: word for part, (_, word) in found.items()} == {"R1": PASS, "R2": FAIL, "R3": PASS}
        assert records.current_verdicts(db, "other") == {}


def test_silence_takes_a_pass_away_and_repeats_none(tmp_path: Path) -> None:
    with writing(tmp_path) as db:
        add_nodes(db, VERIFIER)
        report(db, R1=PASS, R2=PASS, R3=FAIL)
        silent = {part: counted(part, word, is_silent=True) for part, word in (("R1", PASS), ("R2", UNKNOWN))}
        records.store_verdicts(db, origin(decide(db)), silent, {})
        words = {part: word for part, (_, word) in records.current_verdicts(db, SPEC).items()}
        assert words == {"R1": PASS, "R2": UNKNOWN, "R3": FAIL}
        assert len(superseded(db)) == 4


def test_a_verdict_is_stored_with_all_that_was_said_about_it(tmp_path: Path) -> None:
    verdict = Verdict(*("R1", FAIL, "fail", "1 != 2", "a note", Signal("pytest -q", "assert N"), 3, Disposition.FLAKY))
    names = (
        "requirement_id, verdict, read_as, said, evidence, note, command, first_error, failing_tests, disposition, "
        "text_version, node_uid, session_id, decision_id, attempt, reading, commit_id, tree, at"
    )
    with writing(tmp_path) as db:
        add_nodes(db, VERIFIER)
        records.store_verdicts(db, origin(decide(db)), {"R1": Counted(verdict, FAIL, FAIL)}, {"R1": "v7"})
        assert db.execute(f"SELECT {names} FROM verification_results").fetchone() == (
            *("R1", "FAIL", "FAIL", "fail", "1 != 2", "a note", "pytest -q", "assert N", 3, "flaky"),
            *("v7", VERIFIER.uid, None, 1, 1, 1, "c0ffee", "tree", AT),
        )


@pytest.mark.parametrize("word", Word)
def test_a_changed_text_takes_any_verdict_away_a_fail_too(tmp_path: Path, word: Word) -> None:
    with writing(tmp_path) as db:
        add_nodes(db, VERIFIER)
        report(db, R1=word, R2=FAIL)
        changed = {"R1": "v2", "never judged": "v1"}
        records.supersede_by_change(db, SPEC, changed, is_removed=False, decision_id=decide(db), at=AT)
        words = {part: word for part, (_, word) in records.current_verdicts(db, SPEC).items()}
        assert words == {"R1": UNKNOWN, "R2": FAIL}
        assert superseded(db) == [(word, 3), (FAIL, None), (UNKNOWN, None)]


def test_a_removed_requirement_has_no_current_verdict_and_keeps_its_history(tmp_path: Path) -> None:
    with writing(tmp_path) as db:
        add_nodes(db, VERIFIER)
        report(db, R1=FAIL)
        for _ in range(2):
            records.supersede_by_change(db, SPEC, {"R1": "v1"}, is_removed=True, decision_id=decide(db), at=AT)
        assert records.current_verdicts(db, SPEC) == {}
        assert superseded(db) == [(FAIL, 2), (UNKNOWN, 2)]
        report(db, R1=PASS)
        assert [word for _, word in records.current_verdicts(db, SPEC).values()] == [PASS]


def test_past_readings_are_those_of_this_tree_and_this_text_by_a_session(tmp_path: Path) -> None:
    with writing(tmp_path) as db:
        fill_in(db)
        for reading, (tree, version, session) in enumerate(
            [("t", "v2", 2), ("u", "v2", 2), ("t", "v1", 2), ("t", "v2", None), ("t", "v2", 2)], 1
        ):
            place = origin(decide(db), session, reading, tree)
            records.store_verdicts(db, place, {"R1": counted("R1", PASS)}, {"R1": version})
        found = records.past_readings(db, SPEC, "t", {"R1": "v2"})
        assert found == {"R1": (PastReading(PASS, 1, 1), PastReading(PASS, 1, 5))}
        assert records.past_readings(db, SPEC, None, {"R1": "v2"}) == {}


def test_a_last_pass_is_named_by_its_decision_though_it_was_superseded(tmp_path: Path) -> None:
    with writing(tmp_path) as db:
        add_nodes(db, VERIFIER)
        report(db, R1=PASS, R2=FAIL)
        report(db, R1=PASS)
        report(db, R1=FAIL)
        assert records.last_passes(db, SPEC, ["R1", "R2"]) == {"R1": 2}
        assert records.last_passes(db, SPEC, []) == {}


def test_what_failed_after_a_session_is_what_the_first_report_after_it_says(tmp_path: Path) -> None:
    with writing(tmp_path) as db:
        fill_in(db)
        assert records.failing_after(db, SPEC, 1) == ["R2", "R1"]
        assert records.failing_after(db, SPEC, 2) == records.failing_after(db, "other", 1) == []


def test_a_decision_comes_back_as_it_was_recorded(tmp_path: Path) -> None:
    step: records.StepRow = {"uid": VERIFIER.uid, "step": "escalate", "rung": None}
    facts = {"limits": {"attempts": 3}, "failures": [["R1", "cause", 2]]}
    ticket = Ticket(VERIFIER.uid, 3, 2)
    new = NewDecision(
        *(VERIFIER.uid, VERIFIER.id, SPEC, "Block", ticket, (step,), "attempts spent", 1, "c0ffee", facts, "why")
    )
    with writing(tmp_path) as db:
        fill_in(db)
        before = records.decisions_of_spec(db, SPEC)
        number = records.record_decision(db, AT, 1, new)
        assert records.decisions_of_spec(db, SPEC) == [
            *before,
            DecisionRow(
                *(number, AT, 1, VERIFIER.uid, VERIFIER.id, "Block", "attempts spent", ticket, 1, "c0ffee"),
                *((step,), facts, "why"),
            ),
        ]
        assert records.decisions_of_spec(db, "other") == []


def test_what_was_tried_stands_in_the_record_of_its_verdict_alone(tmp_path: Path) -> None:
    tried = (
        Tried("false twin", "failed"),
        Tried("broken", "killed", "the value is changed", "cart.py", 3, "test_total"),
    )
    trials = Trials("discriminates", "red", "c" * 40, 4, is_recalled=False, tried=tried)
    verdicts = {part: counted(part, PASS) for part in ("R1", "R2")}
    with_trials = replace(verdicts["R1"], verdict=replace(verdicts["R1"].verdict, trials=trials))
    with writing(tmp_path) as db:
        add_nodes(db, VERIFIER)
        records.store_verdicts(db, origin(decide(db)), verdicts | {"R1": with_trials}, {})
        sql = "SELECT json_extract(content, '$.body.trials') FROM ledger WHERE kind = 'verdict' ORDER BY position"
        first, second = (row[0] for row in db.execute(sql))
    assert (json.loads(first), second) == (json.loads(json.dumps(asdict(trials))), None)


def test_a_fail_is_told_with_the_unclear_reading_that_came_after_it_and_only_that(tmp_path: Path) -> None:
    with writing(tmp_path) as db:
        add_nodes(db, VERIFIER)
        report(db, R1=FAIL, R2=FAIL, R3=UNKNOWN, R4=UNKNOWN)
        report(db, R1=UNKNOWN, R2=PASS, R3=UNKNOWN, R4=FAIL)
        found = unclear_after_fail(db, SPEC)
    assert {part: last.evidence for part, last in found.items()} == {"R1": "R1 is UNKNOWN"}
