"""The rows of one answer: which ids they name, which word they say, and what is odd about them."""

from __future__ import annotations

import pytest

from agent_fox.core.json_text import DoubledObject
from agent_fox.core.verdicts.answer_rows import Row, is_answer, plain, rows_of
from agent_fox.core.verdicts.verdict import Word

KNOWN = frozenset({"a", "b"})
P, F, U = Word.PASS, Word.FAIL, Word.UNKNOWN


def rows(answer: object) -> list[Row]:
    return list(rows_of(answer, KNOWN))


def troubles(*fields: dict[str, object]) -> list[str]:
    return [row.trouble for row in rows(list(fields))]


def test_a_row_has_its_ids_its_word_and_what_was_said() -> None:
    fields: dict[str, object] = {"id": " `a` ", "verdict": "pass"}
    assert rows([fields]) == [Row(("a",), "a", P, "pass", frozenset({P}), "", fields)]


def test_a_row_without_an_id_names_nothing() -> None:
    fields: dict[str, object] = {"verdict": "FAIL"}
    assert rows([fields]) == [Row((), "", F, "FAIL", frozenset({F}), "", fields)]


def test_a_foreign_id_is_named_and_not_known() -> None:
    fields: dict[str, object] = {"id": "z", "verdict": "PASS"}
    for answer in ([fields], {"verdicts": fields}, {"verdicts": [fields]}, {"verdicts": {"z": fields}}):
        assert rows(answer) == [Row((), "z", P, "PASS", frozenset({P}), "", fields)]


def test_what_is_odd_about_a_row_is_said_in_words() -> None:
    assert troubles({"id": "a"}, {"id": "a", "verdict": "PASS", "result": "FAIL"}) == [
        "the row has no verdict",
        "the row says both PASS and FAIL",
    ]
    assert troubles({"id": "a", "req": "b", "verdict": "PASS"}) == ["the row names a and b"]
    doubled = DoubledObject([("id", "a"), ("verdict", "PASS"), ("verdict", "PASS")])
    assert [row.trouble for row in rows([doubled])] == ["a key stands twice in the row"]


def test_rows_of_a_second_wrapper_count_where_they_say_a_word() -> None:
    answer = {
        "verdicts": [{"id": "a", "verdict": "PASS"}],
        "results": [{"id": "b", "status": "PARTIAL"}, {"id": "z", "level": 3}],
        "requirements": [{"id": "a", "status": "FAIL"}, {"id": "z", "text": "what it asks for"}],
    }
    assert [(row.named, row.word, row.said) for row in rows(answer)] == [
        ("a", P, "PASS"),
        ("b", U, "PARTIAL"),
        ("a", F, "FAIL"),
    ]


def test_a_list_is_an_answer_only_where_a_row_has_a_word() -> None:
    assert is_answer([{"id": "a"}, {"id": "b", "verdict": "PASS"}])
    assert not is_answer([{"id": "a"}])
    assert not is_answer([{"id": "a", "verdict": "PASS"}, 1])
    assert not is_answer([])


def test_an_object_is_an_answer_only_where_it_wraps_rows() -> None:
    assert is_answer({"verdicts": []})
    assert is_answer({"verdicts": {}})
    assert not is_answer({"verdicts": "PASS"})
    assert not is_answer("verdicts")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, ""),
        ("3 passed", "3 passed"),
        (["one", "two"], "one\ntwo"),
        (["one", 2], '["one", 2]'),
        ({"ä": "ö"}, '{"ä": "ö"}'),
    ],
)
def test_any_value_becomes_text_that_a_person_can_read(value: object, text: str) -> None:
    assert plain(value) == text


def test_what_is_nested_too_deep_is_not_shown() -> None:
    value: object = "x"
    for _ in range(100_000):
        value = [value]
    assert plain(value) == "(nested too deep)"
