"""Reading a verifier's answer: what passes, what fails, and everything that is neither."""

from __future__ import annotations

import json
import time
from dataclasses import asdict, replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_fox.core.verdicts.answer import (
    BARE_ROW,
    CUT_OFF,
    LONGEST_NOTE,
    MOST_DIGITS,
    MOST_NOTES,
    MOST_TESTS,
    NO_ANSWER,
    OVERALL_FAILS,
    read_report,
    read_trials,
)
from agent_fox.core.verdicts.answer_rows import LONGEST_TEXT
from agent_fox.core.verdicts.answer_scan import DEEPEST, WRAPPER_KEYS
from agent_fox.core.verdicts.expectations import Expectation
from agent_fox.core.verdicts.proof import MOST_TRIED, Trials, Tried
from agent_fox.core.verdicts.scope import Scope
from agent_fox.core.verdicts.verdict import Disposition, Report, RunTest, Signal, Unproven, Verdict, Word

EXPECTED: dict[str, tuple[str, ...]] = {
    "05-REQ-1": ("05-REQ-1.1", "05-REQ-1.E1"),
    "05-REQ-2": (),
}
IDS = ("05-REQ-1.1", "05-REQ-1.E1", "05-REQ-2")
MEBIBYTE = 1 << 20
LENIENCE = 3  # a busy machine is slower than a free one


def row(part: str, word: object = "PASS", **more: object) -> dict[str, object]:
    return {"requirement_id": part, "verdict": word, **more}


def answer(*rows: object, **more: object) -> str:
    return json.dumps({"verdicts": list(rows), **more})


ALL_PASS = answer(*(row(part) for part in IDS))
ALL_FAIL = answer(*(row(part, "FAIL") for part in IDS))


def read(text: str) -> Report:
    return read_report(text, EXPECTED)


def words(text: str) -> dict[str, str]:
    """Expected id -> PASS, FAIL, UNKNOWN or silent."""
    verdicts = read(text).verdicts
    return {part: verdicts[part].word.value if part in verdicts else "silent" for part in IDS}


def all_are(word: str) -> dict[str, str]:
    return dict.fromkeys(IDS, word)


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("Requirement 1.2", "1.2"),
        ("Requirement 1.3 b", "1.3 b"),
        ("criterion `1.2`", ""),
        ("scenario 1.2", "1.2"),
        ("locks/1.2", ""),
        ("Test 1.2", ""),
    ],
)
def test_a_number_may_be_called_a_requirement_and_nothing_else(said: str, meant: str) -> None:
    verdicts = read_report(answer(row(said)), {"1": ("1.1", "1.2", "1.3 b")}).verdicts
    assert list(verdicts) == ([meant] if meant else [])


def test_an_answer_as_asked_for_is_read_whole() -> None:
    text = answer(
        row("05-REQ-1.1", evidence="3 passed"),
        row("05-REQ-2", "FAIL", evidence="boom"),
        overall_verdict="FAIL",
    )
    assert read(text) == Report(
        {
            "05-REQ-1.1": Verdict("05-REQ-1.1", Word.PASS, "PASS", "3 passed"),
            "05-REQ-2": Verdict("05-REQ-2", Word.FAIL, "FAIL", "boom"),
        },
        overall="FAIL",
    )


@pytest.mark.parametrize("said", ["PASS", "pass", " Pass\n", "FAIL", "fail "])
def test_case_and_surrounding_space_of_a_word_are_forgiven(said: str) -> None:
    assert words(answer(row("05-REQ-2", said)))["05-REQ-2"] == said.strip().upper()


@pytest.mark.parametrize(
    "said",
    [
        "PASSED",
        "PASS (minor)",
        "PARTIAL",
        "WEAK",
        "N/A",
        "SKIP",
        "UNCERTAIN",
        "human needed",
        "",
        "FAILED",
        "✅",
        "paß",
    ],
)
def test_every_other_word_is_unknown_and_is_kept(said: str) -> None:
    verdict = read(answer(row("05-REQ-2", said))).verdicts["05-REQ-2"]
    assert (verdict.word, verdict.said) == (Word.UNKNOWN, said)


@pytest.mark.parametrize("said", [True, None, 1, 1.5, ["PASS"], {"is": "PASS"}])
def test_a_word_that_is_no_text_is_unknown(said: object) -> None:
    assert words(answer(row("05-REQ-2", said)))["05-REQ-2"] == "UNKNOWN"


@pytest.mark.parametrize("wrapper", WRAPPER_KEYS)
def test_rows_may_stand_under_any_of_the_wrapper_keys(wrapper: str) -> None:
    assert words(json.dumps({wrapper: [row("05-REQ-2")]}))["05-REQ-2"] == "PASS"


@pytest.mark.parametrize(
    "value",
    [
        {"verdicts": row("05-REQ-2")},
        {"verdicts": {"05-REQ-2": "PASS"}},
        {"verdicts": {"05-REQ-2": {"verdict": "PASS", "evidence": "x"}}},
        {"results": {"`05-REQ-2`": {"status": "PASS"}}},
        [row("05-REQ-2")],
        [{"id": "05-REQ-2", "result": "PASS"}],
        [{"req": "[05-REQ-2]", "status": "PASS"}],
        [{"requirement": "The gate opens", "id": "**05-REQ-2**", "verdict": "PASS"}],
    ],
)
def test_the_shapes_that_verifiers_choose_are_read(value: object) -> None:
    assert words(json.dumps(value)) == {**all_are("silent"), "05-REQ-2": "PASS"}


@pytest.mark.parametrize(
    "text",
    [
        f"```json\n{ALL_PASS}\n```",
        f"I ran the tests {{all of them}} [see above].\n{ALL_PASS}\nDone; 3 of 3.",
        f"Example: {ALL_FAIL}\nNow the report: {ALL_PASS}",
        json.dumps(json.loads(ALL_PASS), indent=2),
        f"\ufeff{ALL_PASS}",
        f'The log says {{"level": "info", "msg": tru}} and {ALL_PASS}',
        f'The log was cut: {{"level":"info","msg":"star\n```json\n{ALL_PASS}\n```',
        ALL_PASS.replace('"verdict"', '"evidence": "two\nlines", "verdict"', 1),
    ],
)
def test_what_stands_around_the_answer_does_not_matter(text: str) -> None:
    assert words(text) == all_are("PASS")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", NO_ANSWER),
        ("PASS", NO_ANSWER),
        ("All requirements verified: PASS", NO_ANSWER),
        (json.dumps(row("05-REQ-2")), BARE_ROW),
        (ALL_PASS[:-2], CUT_OFF),
        ('{"verd', NO_ANSWER),
        (json.dumps({"report": json.loads(ALL_PASS)}), NO_ANSWER),
        (json.dumps({"result": ALL_PASS}), NO_ANSWER),
        (json.dumps({"verdict": "PASS"}), NO_ANSWER),
        (ALL_PASS.replace('"', "'"), CUT_OFF),
        (ALL_PASS.replace("]", ",,]"), CUT_OFF),
        (
            '{"note": "it says "hi"", "verdicts": [{"requirement_id": "05-REQ-2", "verdict": "PASS"}]}',
            CUT_OFF,
        ),
        ("[" * (DEEPEST + 1) + ALL_PASS, CUT_OFF),
    ],
)
def test_what_is_no_complete_answer_gives_no_verdict(text: str, problem: str) -> None:
    assert read(text) == Report(notes=(problem,), is_readable=False)


def test_an_answer_cut_off_anywhere_after_a_complete_one_takes_it_away() -> None:
    for length in range(2, len(ALL_FAIL)):
        for tail in (ALL_FAIL[:length], "[" + ALL_FAIL[14:length]):
            assert words(f"{ALL_PASS}\n{tail}")["05-REQ-2"] != "PASS" or tail in ("[{", "["), tail


def test_a_broken_answer_before_a_complete_one_is_forgotten() -> None:
    assert words(f"{ALL_FAIL.replace(':', ';', 2)}\nAgain, correctly:\n{ALL_PASS}") == all_are("PASS")


def test_rows_inside_a_broken_answer_never_count_even_behind_a_fence() -> None:
    failing = '{"verdicts": [{"requirement_id": "05-REQ-2", "verdict": "FAIL", "evidence": "the file says'
    quoted = f'{failing}\n```json\n{ALL_PASS}\n```"'
    assert read(quoted).is_readable is False


def test_a_verdict_that_stands_alone_after_the_answer_makes_it_unreadable() -> None:
    text = f"{ALL_PASS}\nCorrection: {json.dumps(row('05-REQ-2', 'FAIL'))}"
    assert read(text) == Report(notes=(BARE_ROW,), is_readable=False)
    assert words(f"{ALL_PASS}\n{json.dumps(row('99-REQ-1', 'FAIL'))}") == all_are("PASS")


def test_the_last_complete_answer_counts() -> None:
    assert words(f"{ALL_PASS} {ALL_FAIL}") == all_are("FAIL")
    assert words(f'{ALL_PASS} {{"verdicts": []}}') == all_are("silent")


def test_a_fail_under_keys_in_another_case_is_the_last_answer() -> None:
    assert words(f"{ALL_PASS}\n{ALL_FAIL.replace('verdict', 'Verdict')}") == all_are("FAIL")
    both = '{"verdicts": [{"id": "05-REQ-2", "verdict": "PASS", "Verdict": "FAIL"}]}'
    assert words(both)["05-REQ-2"] == "UNKNOWN"


@pytest.mark.parametrize("opening", ["// as asked\n", "note: 1, ", "“note”: 1, "])
def test_rows_of_an_answer_that_cannot_be_read_never_count_as_a_list_of_their_own(opening: str) -> None:
    text = "{" + opening + ALL_PASS[1:-1] + ', "overall_verdict": "FAIL"}'
    assert read(text) == Report(notes=(CUT_OFF,), is_readable=False)
    assert read(f"{ALL_PASS}\n{text}") == Report(notes=(CUT_OFF,), is_readable=False)


def test_silence_gives_no_verdict() -> None:
    assert words(answer(row("05-REQ-1.1"))) == {**all_are("silent"), "05-REQ-1.1": "PASS"}


def test_foreign_ids_and_rows_without_one_are_noted_and_pass_nothing() -> None:
    report = read(answer(row("07-REQ-1.1"), {"verdict": "PASS"}, {"note": "x"}, row("05-req-2")))
    assert report == Report(
        notes=(
            "07-REQ-1.1 is not expected",
            "a row without an id says PASS",
            "a row without an id says nothing",
            "05-req-2 is not expected",
        )
    )


def test_a_row_at_odds_with_itself_says_why() -> None:
    report = read(answer(row("05-REQ-2", result="FAIL")))
    why = "the row says both PASS and FAIL"
    assert report == Report(
        {"05-REQ-2": Verdict("05-REQ-2", Word.UNKNOWN, "PASS", "", why)}, notes=(f"05-REQ-2: {why}",)
    )


def test_notes_are_few_enough_to_be_read() -> None:
    report = read(answer(*(row(f"07-REQ-{number}") for number in range(500))))
    assert len(report.notes) == MOST_NOTES + 1
    assert report.notes[-1] == "and 480 more"


@pytest.mark.parametrize(("odd", "last"), [(MOST_NOTES, "07-REQ-19 is not expected"), (MOST_NOTES + 1, "and 1 more")])
def test_notes_say_that_some_are_left_out_only_where_some_are(odd: int, last: str) -> None:
    assert read(answer(*(row(f"07-REQ-{number}") for number in range(odd)))).notes[-1] == last


def test_rows_that_agree_count_once_and_rows_that_disagree_are_unknown() -> None:
    report = read(answer(row("05-REQ-2"), row("05-REQ-2"), row("05-REQ-1.1"), row("05-REQ-1.1", "FAIL")))
    assert report.verdicts["05-REQ-2"] == Verdict("05-REQ-2", Word.PASS, "PASS", "", "said in 2 rows")
    assert report.verdicts["05-REQ-1.1"].word is Word.UNKNOWN
    assert report.verdicts["05-REQ-1.1"].said == "PASS"
    assert "05-REQ-1.1: 2 rows disagree: FAIL, PASS" in report.notes


@pytest.mark.parametrize(
    "rows",
    [
        '{"requirement_id": "05-REQ-2", "verdict": "PASS", "verdict": "FAIL"}',
        '{"requirement_id": "05-REQ-2", "verdict": "FAIL", "verdict": "PASS"}',
        '{"requirement_id": "05-REQ-2", "requirement_id": "05-REQ-2", "verdict": "PASS"}',
        '{"requirement_id": "05-REQ-2", "verdict": "PASS", "result": "FAIL"}',
        '{"requirement_id": "05-REQ-2", "id": "05-REQ-1.1", "verdict": "PASS"}',
        '{"requirement_id": "05-REQ-2"}, {"requirement_id": "05-REQ-2", "verdict": "PASS"}',
    ],
)
def test_a_row_at_odds_with_itself_is_unknown(rows: str) -> None:
    assert words(f'{{"verdicts": [{rows}]}}')["05-REQ-2"] == "UNKNOWN"


def test_a_map_that_names_an_id_twice_is_read_as_two_rows() -> None:
    assert words('{"verdicts": {"05-REQ-2": "PASS", "05-REQ-2": "FAIL"}}')["05-REQ-2"] == "UNKNOWN"
    assert words('{"verdicts": {"05-REQ-2": "PASS", "05-REQ-2": "PASS"}}')["05-REQ-2"] == "PASS"


def test_an_answer_with_two_sets_of_rows_under_one_key_is_broken() -> None:
    assert words('{"verdicts": [], "verdicts": [{"id": "05-REQ-2", "verdict": "PASS"}]}') == all_are("silent")


def test_a_requirement_that_fails_as_a_whole_fails_each_of_its_criteria() -> None:
    report = read(answer(row("05-REQ-1", "FAIL", evidence="no such file"), row("05-REQ-1.1")))
    assert report.verdicts == {
        "05-REQ-1.1": Verdict("05-REQ-1.1", Word.FAIL, "PASS", "no such file", "05-REQ-1 fails as a whole"),
        "05-REQ-1.E1": Verdict("05-REQ-1.E1", Word.FAIL, "FAIL", "no such file", "said only of 05-REQ-1 as a whole"),
    }


def test_a_requirement_that_passes_as_a_whole_proves_none_of_its_criteria() -> None:
    assert words(answer(row("05-REQ-1"))) == {
        "05-REQ-1.1": "UNKNOWN",
        "05-REQ-1.E1": "UNKNOWN",
        "05-REQ-2": "silent",
    }
    assert words(answer(row("05-REQ-1"), row("05-REQ-1.1")))["05-REQ-1.1"] == "PASS"


def test_rows_about_the_whole_that_disagree_leave_no_criterion_proven() -> None:
    why = "rows about 05-REQ-1 as a whole disagree"
    for whole in ([row("05-REQ-1"), row("05-REQ-1", "FAIL")], [row("05-REQ-1", "PASS", result="FAIL")]):
        verdict = read(answer(*whole, row("05-REQ-1.1"))).verdicts["05-REQ-1.1"]
        assert verdict == Verdict("05-REQ-1.1", Word.UNKNOWN, "PASS", "", why)


@pytest.mark.parametrize(
    "more",
    [
        {"overall_verdict": "FAIL"},
        {"overall": "fail"},
        {"overall_result": "FAILED"},
        {"overall_verdict": False},
        {"overall": {"verdict": "FAIL"}},
        {"verdict": "FAIL"},
        {"status": "**FAIL**"},
    ],
)
def test_an_overall_fail_without_a_failing_row_leaves_nothing_proven(more: dict[str, object]) -> None:
    report = read(answer(*(row(part) for part in IDS), **more))
    assert {verdict.word for verdict in report.verdicts.values()} == {Word.UNKNOWN}
    assert {verdict.said for verdict in report.verdicts.values()} == {"PASS"}
    assert {verdict.note for verdict in report.verdicts.values()} == {OVERALL_FAILS}
    assert report.notes == (OVERALL_FAILS,)


def test_an_overall_fail_changes_only_what_passed() -> None:
    verdict = read(answer(row("05-REQ-2", "WEAK"), overall_verdict="FAIL")).verdicts["05-REQ-2"]
    assert verdict == Verdict("05-REQ-2", Word.UNKNOWN, "WEAK")


def test_a_failing_row_without_an_id_leaves_nothing_proven() -> None:
    report = read(answer({"verdict": "FAIL", "evidence": "something"}, row("05-REQ-2")))
    why = "a row without an id says FAIL"
    assert report == Report({"05-REQ-2": Verdict("05-REQ-2", Word.UNKNOWN, "PASS", "", why)}, notes=(why,))


def test_the_summary_is_kept() -> None:
    assert read(answer(row("05-REQ-2"), summary="all is well")).summary == "all is well"


def test_an_overall_fail_is_no_contradiction_where_a_requirement_fails() -> None:
    text = answer(row("05-REQ-1.1", "FAIL"), row("05-REQ-2"), overall_verdict="FAIL")
    assert words(text) == {"05-REQ-1.1": "FAIL", "05-REQ-1.E1": "silent", "05-REQ-2": "PASS"}


def test_an_overall_pass_proves_nothing() -> None:
    assert words(answer(overall_verdict="PASS", verdict="PASS")) == all_are("silent")


def test_what_our_own_checks_found_is_taken_over_only_when_trusted() -> None:
    found = row(
        "05-REQ-2",
        "FAIL",
        command="pytest -q",
        first_error="E  assert 3 == 4",
        failing_tests=2,
        disposition="flaky",
        disposition_proven=True,
        needs_person=True,
    )
    claimed = read_report(answer(found), EXPECTED).verdicts["05-REQ-2"]
    assert claimed == Verdict("05-REQ-2", Word.FAIL, "FAIL")
    assert read_report(answer(found), EXPECTED, trusted=True).verdicts["05-REQ-2"] == Verdict(
        "05-REQ-2",
        Word.FAIL,
        "FAIL",
        signal=Signal("pytest -q", "E assert # == #"),
        failing_tests=2,
        disposition=Disposition.FLAKY,
        is_proven=True,
        needs_person=True,
        command="pytest -q",
    )


def test_a_changed_expectation_is_taken_over_whole_and_only_when_trusted() -> None:
    found = Expectation(
        "t.py::test_a", ("t.py", "conftest.py"), "0" * 64, "1" * 64, "a reason", "assert 3", "assert 4", is_asked=True
    )
    text = answer(row("05-REQ-2", "UNKNOWN", expectation=asdict(found), test_files=["t.py"], note="told"))
    said = read_report(text, EXPECTED, trusted=True).verdicts["05-REQ-2"]
    assert (said.expectation, said.tests, said.note) == (found, ("t.py",), "told")
    claimed = read_report(text, EXPECTED).verdicts["05-REQ-2"]
    assert (claimed.expectation, claimed.tests) == (None, ())


def trusted(**more: object) -> Verdict:
    return read_report(answer(row("05-REQ-2", "FAIL", **more)), EXPECTED, trusted=True).verdicts["05-REQ-2"]


RAN = RunTest("pytest -q", "t.py", ("TestGate", "TestShut"), "test_shut", "t.py::TestGate::TestShut::test_shut")
RUN = asdict(RAN)
BROKEN = Tried("broken", "killed", "`shut` returns another value", "gate.py", 12, "t.py::test_shut")


def test_tests_and_trials_and_what_a_verdict_rests_on_are_taken_over_whole_and_only_when_trusted() -> None:
    tried = Trials("discriminates", "red", "0" * 40, 7, True, (BROKEN, Tried("false twin", "unnoticed")), 4)
    scope = Scope(("gate.py", "t.py"), ("data",), ("tests",), ("gate",), "a link leads out of it")
    told: dict[str, object] = {"trials": asdict(tried), "rests_on": asdict(scope), "ran": [RUN]}
    assert trusted(**told) == Verdict("05-REQ-2", Word.FAIL, "FAIL", trials=tried, rests_on=scope, ran=(RAN,))
    assert read(answer(row("05-REQ-2", **told))).verdicts["05-REQ-2"] == Verdict("05-REQ-2", Word.PASS, "PASS")


def test_trials_are_read_from_a_record_whose_counts_are_numbers() -> None:
    tried = Trials("discriminates", "red", "0" * 40, 7, True, (BROKEN,), 4)
    assert read_trials(json.loads(json.dumps(asdict(tried)))) == tried
    odd = {"runs": True, "left_out": -1, "tried": [{"how": "broken", "line": 10**MOST_DIGITS}]}
    assert read_trials(odd) == replace(NO_TRIALS, tried=(Tried("broken", ""),))
    largest = read_trials({"runs": 10**MOST_DIGITS - 1, "left_out": 0})
    assert largest == replace(NO_TRIALS, runs=10**MOST_DIGITS - 1)


def test_what_is_left_out_of_too_many_trials_is_counted_with_what_was_left_out_before() -> None:
    tried = [{"how": "broken", "effect": "void", "line": number} for number in range(1, MOST_TRIED + 3)]
    trials = trusted(trials={"tried": tried, "left_out": 4}).trials
    assert trials is not None
    assert [trial.line for trial in trials.tried] == [*range(1, MOST_TRIED), MOST_TRIED + 2]
    assert trials.left_out == 4 + 2


NO_TRIALS = Trials("", "", "", 0, False, ())


@pytest.mark.parametrize(
    ("told", "read_as"),
    [
        ({"trials": {}, "rests_on": {}}, {"trials": NO_TRIALS, "rests_on": Scope()}),
        ({"trials": {"tried": "broken", "runs": -1, "is_recalled": 1}}, {"trials": NO_TRIALS}),
        ({"trials": {"tried": ["x", {}]}}, {"trials": replace(NO_TRIALS, tried=(Tried("", ""),))}),
        ({"rests_on": {"files": "gate.py", "whole": None}}, {"rests_on": Scope()}),
        ({"expectation": {"is_asked": 1, "files": 7}}, {"expectation": Expectation("", (), "", "")}),
        ({"trials": "none", "rests_on": ["gate.py"], "ran": "t.py", "expectation": [], "test_files": "t.py"}, {}),
        ({"ran": [{**RUN, "line": ""}, {**RUN, "name": ""}, "t.py", {}]}, {}),
        ({"ran": [{"line": "make", "name": "x", "classes": "y"}]}, {"ran": (RunTest("make", "", (), "x", ""),)}),
        ({"disposition_proven": 1, "needs_person": "yes"}, {}),
        ({"disposition": "vacuous test"}, {"disposition": Unproven.VACUOUS_TEST}),
    ],
)
def test_what_is_missing_or_of_another_kind_is_told_as_nothing(
    told: dict[str, object], read_as: dict[str, object]
) -> None:
    assert trusted(**told) == replace(Verdict("05-REQ-2", Word.FAIL, "FAIL"), **read_as)  # type: ignore[arg-type]


def test_the_first_tests_that_ran_are_kept() -> None:
    ran = [{**RUN, "name": f"test_{number}"} for number in range(MOST_TESTS + 1)]
    assert trusted(ran=["t.py", *ran]).ran == tuple(replace(RAN, name=f"test_{number}") for number in range(MOST_TESTS))


def test_what_an_answer_says_of_itself_is_kept_and_bounded() -> None:
    assert read(answer(overall="x" * (LONGEST_NOTE + 1))).overall == "x" * LONGEST_NOTE
    assert read(answer(overall_verdict=None, overall={"is": "ok"}, status="PASS")).overall == '{"is": "ok"}'
    assert read(answer(overall=["ok"], summary=["all", "is well"])) == Report(overall="ok", summary="all\nis well")
    assert read(answer(verdict={}, status="PASS")).overall == "PASS"
    assert read(answer(row("9" * 300))).notes == ("9" * LONGEST_NOTE,)


def test_how_a_requirement_is_known_and_what_was_remarked_are_taken_over_when_trusted() -> None:
    found = row("05-REQ-2", note="3 ran", how="red without")
    said = read_report(answer(found, found), EXPECTED, trusted=True).verdicts["05-REQ-2"]
    assert said == Verdict("05-REQ-2", Word.PASS, "PASS", note="said in 2 rows; 3 ran", how="red without")
    assert read_report(answer(found), EXPECTED).verdicts["05-REQ-2"] == Verdict("05-REQ-2", Word.PASS, "PASS")


def test_a_check_is_the_command_that_shows_it_again_where_no_other_is_named() -> None:
    assert trusted(check="make", command="pytest -q").command == "pytest -q"
    assert trusted(check="make").command == "make"


def test_a_check_is_a_command_and_comes_before_one() -> None:
    signal = Signal("ruff", "E501")
    assert trusted(check="ruff", command="make", first_error="E501").signal == replace(signal, first_error="E#")
    assert trusted(check="", command="ruff", first_error="boom").signal == replace(signal, first_error="boom")


def test_a_signal_needs_a_command_and_an_error() -> None:
    assert trusted(command="pytest -q").signal is None
    assert trusted(first_error="E  assert").signal is None


@pytest.mark.parametrize("word", [None, "weather", 7])
def test_a_disposition_that_is_not_known_is_a_repairable_fail(word: object) -> None:
    assert trusted(disposition=word) == Verdict("05-REQ-2", Word.FAIL, "FAIL")


@pytest.mark.parametrize(
    ("count", "read_as"),
    [(["a", "b"], 2), (7, 7), (999_999_999, 999_999_999), (10**9, None), ("many", None), (10**40, None), (-1, None)],
)
def test_a_count_of_tests_is_a_number_or_a_list_of_names(count: object, read_as: int | None) -> None:
    text = answer(row("05-REQ-2", "FAIL", failing_tests=count))
    assert read_report(text, EXPECTED, trusted=True).verdicts["05-REQ-2"].failing_tests == read_as


def test_an_id_written_as_a_number_is_read_as_it_was_written() -> None:
    text = '{"verdicts": [{"id": 1.10, "verdict": "PASS"}, {"id": 2, "verdict": "PASS"}]}'
    assert set(read_report(text, {"1": ("1.1", "1.10"), "2": ()}).verdicts) == {"1.10", "2"}


def test_evidence_is_printable_and_bounded() -> None:
    text = answer(row("05-REQ-2", "FAIL", evidence="\x00\x1b[31mred\ud800" + "x" * 10_000))
    evidence = read(text).verdicts["05-REQ-2"].evidence
    assert evidence.startswith("redxxx")
    assert len(evidence) < LONGEST_TEXT + 50
    evidence.encode("utf-8")


@pytest.mark.parametrize(
    ("pattern", "mebibytes"),
    [
        *((pattern, 16) for pattern in ("[", '{"', "\\")),
        *((pattern, 2) for pattern in ('{"\\', "[{", '{"a":', '{"\n```\n', '{"verdicts": [', "\n", "{ ", '"', '{"x} ')),
    ],
)
def test_megabytes_of_anything_are_read_in_time(pattern: str, mebibytes: int) -> None:
    text = '"verdict": ' + pattern * (mebibytes * MEBIBYTE // len(pattern))
    start = time.process_time()
    assert read(text).verdicts == {}
    assert time.process_time() - start < 2 * LENIENCE


PIECES = st.sampled_from(
    [
        *("{", "}", "[", "]", ",", ":", '"', "\\", "\n", "```", " ", "null", "1"),
        *('"verdicts"', '"verdict"', '"requirement_id"', '"PASS"', '"FAIL"', '"05-REQ-2"', '"05-REQ-1"'),
        *('"overall_verdict"', ALL_PASS, ALL_FAIL, ALL_PASS[:40], json.dumps(row("05-REQ-2"))),
    ]
)
TEXTS = st.one_of(st.text(max_size=200), st.lists(PIECES, max_size=25).map("".join))


@given(TEXTS)
def test_no_text_makes_reading_fail(text: str) -> None:
    report = read(text)
    assert set(report.verdicts) <= set(IDS)
    assert report.is_readable or not report.verdicts


SAID = st.sampled_from(["PASS", "FAIL", "pass ", "PASSED", "", None, True])
NAMED = st.sampled_from([*IDS, "05-REQ-1", "07-REQ-1", "", None])
ROWS = st.lists(st.builds(lambda part, said: {"id": part, "verdict": said}, NAMED, SAID), max_size=6)


@given(ROWS, ROWS)
@settings(max_examples=300)
def test_an_id_passes_only_by_its_own_exact_pass_in_the_last_answer(
    first: list[dict[str, object]], last: list[dict[str, object]]
) -> None:
    text = f"{json.dumps({'verdicts': first})} and then {json.dumps({'verdicts': last})}"
    for part, word in words(text).items():
        said = [entry["verdict"] for entry in last if entry["id"] == part]
        if word == "PASS":
            assert said
            assert all(isinstance(one, str) and one.strip().upper() == "PASS" for one in said)


@given(TEXTS, st.text(alphabet=st.characters(exclude_characters="{}[]`~"), max_size=50))
def test_prose_around_an_answer_changes_nothing(text: str, prose: str) -> None:
    complete = f"{text}\n{ALL_PASS}"
    assert read(f"{prose}\n{complete}").verdicts == read(complete).verdicts
    assert read(f"{ALL_PASS}\n{prose}") == read(ALL_PASS)
