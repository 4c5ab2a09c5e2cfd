"""Finding JSON in what was printed: what is a value, what is a broken answer, and what is neither."""

from __future__ import annotations

import pytest

from agent_fox.core.answer_scan import DEEPEST, Broken, Whole, scan

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
    ['{"id": "a", "status": FAIL}', '{"status": FAIL, "id": "a"}', '{"verdicts": [}', '{"ver', "{", "[{", '{"id": "a'],
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
