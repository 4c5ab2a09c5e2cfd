"""JSON that others wrote: read whole, or refused with the reason."""

from __future__ import annotations

import pytest

from agent_fox.core.json_text import Doubled, DoubledObject, NotJson, json_object, object_of, read_json

DEEP = "[" * 100_000


@pytest.mark.parametrize("is_strict", [False, True])
@pytest.mark.parametrize(
    ("text", "why", "place"),
    [
        ("", "it is not JSON: Expecting value", (1, 1)),
        ('{"a": 1,\n "b": }', "it is not JSON: Expecting value", (2, 7)),
        (DEEP, "it is nested too deeply", (0, 0)),
        (b'"caf\xff"', "it is not UTF-8", (0, 0)),
        ("[" + "7" * 5000 + "]", "it holds a number with too many digits", (0, 0)),
    ],
)
def test_what_is_no_json_is_refused_with_its_place(
    text: str | bytes, why: str, place: tuple[int, int], is_strict: bool
) -> None:
    with pytest.raises(NotJson) as refused:
        read_json(text, is_strict=is_strict)
    assert (str(refused.value), (refused.value.line, refused.value.column)) == (why, place)


@pytest.mark.parametrize("text", ['{"a": [1, null, {"b": "\\u00e9"}]}', '{"a": [1, null, {"b": "\u00e9"}]}'.encode()])
def test_a_strict_reading_takes_what_json_is(text: str | bytes) -> None:
    assert read_json(text, is_strict=True) == read_json(text) == {"a": [1, None, {"b": "\u00e9"}]}


def test_a_strict_reading_takes_no_other_encoding_than_utf_8() -> None:
    text = '{"a": "\u00e9"}'.encode("utf-16-le")
    with pytest.raises(NotJson, match=r"^it is not UTF-8$"):
        read_json(text, is_strict=True)
    assert read_json(text) == {"a": "\u00e9"}


def test_a_name_that_stands_twice_is_refused_where_reading_is_strict() -> None:
    name = "n" * 50
    text = f'{{"a": 1, "b": [{{"c": 3, "{name}": 1, "{name}": 2}}]}}'
    with pytest.raises(Doubled, match=f"^'{'n' * 40}' stands in it twice$") as refused:
        read_json(text, is_strict=True)
    assert refused.value.name == name
    assert read_json(text) == {"a": 1, "b": [{name: 2, "c": 3}]}


@pytest.mark.parametrize("word", ["NaN", "Infinity", "-Infinity"])
def test_what_is_no_number_is_refused_where_reading_is_strict(word: str) -> None:
    with pytest.raises(NotJson, match=f"^{word} is not a number$"):
        read_json(f"[{word}]", is_strict=True)
    assert isinstance(read_json(f"[{word}]"), list)


def test_the_pairs_of_a_doubled_object_are_kept() -> None:
    pairs: list[tuple[str, object]] = [("a", 1), ("b", 2), ("a", 3)]
    doubled = object_of(pairs)
    assert isinstance(doubled, DoubledObject)
    assert (doubled, doubled.pairs) == ({"a": 3, "b": 2}, pairs)
    assert type(object_of(pairs[:2])) is dict


@pytest.mark.parametrize("text", ["[1]", '"a"', "null", "{", DEEP, b"\xff", ""])
def test_an_object_is_asked_for_and_anything_else_is_none(text: str | bytes) -> None:
    assert json_object(text) is None
    assert json_object('{"a": NaN, "a": 1}') == {"a": 1}
