"""Finding JSON in what was printed: what is a value, what is a broken answer, and what is neither."""

from __future__ import annotations

import pytest

from agent_fox.core.verdicts.answer_scan import DEEPEST, Broken, Whole, scan

ANSWER = '{"verdicts": []}'
READ = Whole({"verdicts": []})


@pytest.mark.parametrize(
    "text",
    [
        '{"a": 1}',
        '{"level": "inf',
        '{"lev',
        '{"status": tru}',
        '{"id": tru}',
        '{"status": tru} id: 7',
        '{"id": tru} status: done',
    ],
)
def test_what_is_not_like_an_answer_takes_none_away(text: str) -> None:
    assert list(scan(f"{ANSWER} {text}")) == [READ]


@pytest.mark.parametrize(
    "text",
    [
        '{"id": "a", "status": FAIL}',
        '{"status": FAIL, "id": "a"}',
        '{"ID": "a", "STATUS": FAIL}',
        '{"verdicts": [}',
        '{"Verdicts": [}',
        '{"ver',
        '{"Ver',
        "{",
        "[{",
        '{"id": "a',
    ],
)
def test_what_is_like_an_answer_and_cannot_be_read_is_broken(text: str) -> None:
    assert list(scan(f"{ANSWER} {text}")) == [READ, Broken()]


def test_a_value_without_any_key_of_an_answer_is_passed_over() -> None:
    assert list(scan(f'{{"a": 1}} {ANSWER}')) == [READ]


def test_a_key_may_be_written_with_escapes() -> None:
    assert list(scan(f'{ANSWER} {{"\\u0076erdicts": [1]}}')) == [READ, Whole({"verdicts": ["1"]})]


def test_no_value_runs_over_a_fence() -> None:
    text = f'{{"note": [\n```json\n{ANSWER}\n```\n]}}'
    assert list(scan(text)) == [READ]


def test_numbers_stay_as_they_were_written() -> None:
    assert list(scan('{"id": 1.10, "verdict": 2}')) == [Whole({"id": "1.10", "verdict": "2"})]


def test_brackets_are_followed_to_the_deepest_and_no_deeper() -> None:
    inner = DEEPEST - 2
    deepest = "[{" + "[" * inner + "]" * inner + "}]"
    assert list(scan(f"{deepest} {ANSWER}")) == [READ]
    assert list(scan(f"[{deepest}] {ANSWER}".replace("[[{", "[{[{"))) == [Broken()]


@pytest.mark.parametrize(
    "text",
    [
        '{ // as asked\n"verdicts": [{"id": "a", "verdict": "PASS"}], "overall_verdict": "FAIL"}',
        '{note: "x", verdicts: [{"id": "a", "verdict": "PASS"}], overall_verdict: "FAIL"}',
        '{“overall_verdict”: "FAIL", "verdicts": [{"id": "a", "verdict": "PASS"}]}',
        'dict": "FAIL", "verdicts": [{"id": "a", "verdict": "PASS"}]',
        f'{{note: "x", report: {ANSWER}\n}}',
        f'{{note: "x", report: {ANSWER}, overall: "FAIL"}}',
        '{ // as asked\n"findings": [{"severity": "critical"}]}',
        f'": {ANSWER}',
    ],
)
def test_what_stands_inside_something_that_cannot_be_read_is_never_given_on_its_own(text: str) -> None:
    assert list(scan(text)) == [Broken()]


@pytest.mark.parametrize(
    "text",
    [
        *(f"Report: {ANSWER}", f'the "verdicts":\n{ANSWER}', f"{ANSWER}\n, as said", f"({ANSWER})"),
        f'see "a"X: {ANSWER}',
    ],
)
def test_an_answer_in_prose_stands_on_its_own(text: str) -> None:
    assert list(scan(text)) == [READ]


def test_a_value_that_is_no_answer_takes_none_away_where_it_stands_inside_another() -> None:
    assert list(scan(f'{ANSWER} {{level: x, "at": [{{"n": 1}}], "s": 2}}')) == [READ]


def test_only_a_key_on_its_own_line_belongs_to_a_value() -> None:
    assert list(scan(f'{ANSWER} id:\n{{"status": "x"}},')) == [READ]


def test_keys_of_an_answer_are_known_in_any_case() -> None:
    assert list(scan('{"Verdicts": [{"ID": "A", "Verdict": "PASS"}], "Else": 1}')) == [
        Whole({"verdicts": [{"id": "A", "verdict": "PASS"}], "Else": "1"})
    ]
