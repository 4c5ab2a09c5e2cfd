"""A spec's source issue hears once a run how much is proven, in honest counts, and is left alone otherwise."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agent_fox.core.policy import Policy
from agent_fox.core.spec import SourceIssue
from agent_fox.engine.issues.effects import effect_of
from agent_fox.engine.reports.source_comment import comment_sources, place_of
from agent_fox.store import outbox
from agent_fox.store.state import transaction
from agent_fox.trackers.local import LocalTracker
from agent_fox.trackers.protocol import EffectKind
from tests.engine.desk import AT, small_spec
from tests.engine.reading_desk import CALC, PARTS, A, B, C, ReadingDesk, from_issue, reading_desk

PLACE = "github.com/octo/project"
OURS = from_issue(CALC, SourceIssue(114, "Octo/Project", "github.com"))
ALL_PASS = dict.fromkeys(PARTS, "PASS")


@pytest.fixture
def desk(tmp_path: Path) -> ReadingDesk:
    return reading_desk(tmp_path, [OURS])


def told(desk: ReadingDesk, place: str = PLACE) -> list[str]:
    """The texts that are asked for now."""
    with transaction(desk.db):
        effects = comment_sources(desk.docket(), place)
    payloads = (desk.rows(f"SELECT payload FROM outbox WHERE id = '{effect}'")[0][0] for effect in effects)
    return [json.loads(str(payload))["body"] for payload in payloads]


def test_what_is_all_proven_is_told_in_one_sentence_and_nothing_is_closed(desk: ReadingDesk) -> None:
    desk.read(ALL_PASS)
    assert told(desk) == [
        "All 3 requirements of `01_calc` are proven on commit `c1`.\n\n"
        "- 3 known as judged: `01-REQ-1.1`, `01-REQ-1.2`, `01-REQ-1.3`\n\n"
        "This issue is left as it is: closing it is a person's decision.\n"
    ]


def test_what_is_not_proven_is_counted_by_what_the_last_report_said(desk: ReadingDesk) -> None:
    desk.read({A: "FAIL", B: "PASS", C: "PERHAPS"})
    (text,) = told(desk)
    assert text.startswith("Not fully proven: 1 of 3 requirements of `01_calc` passed on commit `c1`.\n")
    for line in ("- 1 fails: `01-REQ-1.1`\n", "- 1 has no clear verdict: `01-REQ-1.3`\n", "a person must act"):
        assert line in text, (line, text)
    assert "implemented" not in text


def test_a_waiver_is_no_proof(desk: ReadingDesk) -> None:
    desk.waived = frozenset({C})
    desk.read({A: "PASS", B: "PASS", C: "FAIL"})
    (text,) = told(desk)
    assert text.startswith("Not fully proven: 2 of 3 requirements of `01_calc` are proven on commit `c1`.\n")
    assert "- 1 is waived, which proves nothing: `01-REQ-1.3`\n- 01-REQ-1.3 waived by alice until 2030" in text


def test_a_review_that_is_required_and_missing_is_told(tmp_path: Path) -> None:
    desk = reading_desk(tmp_path, [OURS])
    desk.db.execute("UPDATE runs SET required_state = 'reviewed'")
    desk.read(ALL_PASS)
    (text,) = told(desk)
    assert text.startswith("Not fully proven: 0 of 3")
    assert "- 3 passed, but not the review or the proof that is asked for: `01-REQ-1.1`" in text


def test_the_comment_is_one_effect_of_its_own_on_the_persons_issue(desk: ReadingDesk) -> None:
    desk.read(ALL_PASS)
    told(desk)
    (row,) = [row for row in outbox.undelivered(desk.db, AT) if row.fingerprint.startswith("source:")]
    effect = effect_of(row)
    assert (effect.kind, effect.target, effect.number) == (EffectKind.COMMENT, "octo/project#114", None)
    assert (effect.fingerprint, len(effect.slot), effect.state_reason) == ("source:octo/project#114", 24, None)
    assert desk.rows("SELECT * FROM issues") == []


def test_the_same_is_not_asked_for_twice(desk: ReadingDesk) -> None:
    desk.read(ALL_PASS)
    assert (len(told(desk)), told(desk)) == (1, [])


def test_a_run_that_goes_on_writes_its_comment_anew_and_another_run_one_of_its_own(tmp_path: Path) -> None:
    desk = reading_desk(tmp_path, [OURS], Policy(attempts=3))
    for words in ({**ALL_PASS, A: "FAIL"}, {**ALL_PASS, B: "FAIL"}):
        desk.read(words)
        told(desk)
    desk.next_run()
    desk.read(ALL_PASS)
    told(desk)
    slots = [row[0] for row in desk.rows("SELECT json_extract(payload, '$.slot') FROM outbox ORDER BY position")]
    assert (slots[0] == slots[1], slots[1] == slots[2]) == (True, False)


def test_two_specs_of_one_issue_have_a_comment_each(tmp_path: Path) -> None:
    other = from_issue(small_spec("02_more", {1: ("1.1",)}), SourceIssue(114))
    desk = reading_desk(tmp_path, [OURS, other])
    desk.read(ALL_PASS)
    desk.read({"02-REQ-1.1": "PASS"}, "02_more:2")
    first, second = told(desk)
    assert "All 3 requirements of `01_calc`" in first
    assert "The one requirement of `02_more` is proven" in second
    assert len(desk.rows("SELECT DISTINCT json_extract(payload, '$.slot') FROM outbox")) == 2


@pytest.mark.parametrize("source", [None, SourceIssue(1, "octo/other"), SourceIssue(1, "octo/project", "example.org")])
def test_an_issue_elsewhere_is_left_alone(tmp_path: Path, source: SourceIssue | None) -> None:
    desk = reading_desk(tmp_path, [from_issue(CALC, source)])
    desk.read(ALL_PASS)
    assert told(desk) == []


def test_nothing_is_told_of_a_spec_that_this_run_has_not_decided_about(desk: ReadingDesk) -> None:
    assert told(desk) == []
    desk.end("01_calc:1")
    assert told(desk) == []
    desk.next_run()
    assert told(desk) == []


def test_a_coder_that_is_blocked_is_told_although_nothing_was_read(desk: ReadingDesk) -> None:
    desk.end("01_calc:1", failure="it crashed")
    (text,) = told(desk)
    assert text.startswith("Not fully proven: 0 of 3 requirements of `01_calc` passed.\n")
    assert "- 3 were not read yet: `01-REQ-1.1`, `01-REQ-1.2`, `01-REQ-1.3`\n" in text


def test_without_a_place_nothing_is_asked_for(tmp_path: Path) -> None:
    desk = reading_desk(tmp_path, [from_issue(CALC, SourceIssue(1))])
    desk.read(ALL_PASS)
    assert told(desk, place_of(LocalTracker(tmp_path / "issues"))) == []
