"""Parts of a JSON document come one after another, and a document that breaks off still gives its beginning."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_fox.verifier.logs.parsers import Cut, begin_of
from agent_fox.verifier.logs.streams.json_stream import EACH, parts

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@given(st.lists(values), st.integers(1, 7), st.sampled_from([None, 1]))
def test_elements_are_the_same_however_the_text_is_torn(elements: list[object], size: int, indent: int | None) -> None:
    text = json.dumps({"before": elements, "runs": [{"results": elements}]}, indent=indent)
    torn = [text[at : at + size] for at in range(0, len(text), size)]
    path = ("runs", EACH, "results", EACH)
    assert [value for _, value in parts(torn, [path])] == elements


def test_the_end_of_a_part_is_told() -> None:
    text = '[{"a": [1], "b": 2}, {"a": []}]'
    found = list(parts([text], [(EACH, "a", EACH)], closing=(EACH,)))
    assert found == [((EACH, "a", EACH), 1), ((EACH,), None), ((EACH,), None)]


def test_lines_before_the_document_are_skipped() -> None:
    text = '> lint\n[webpack] {oops}\n\n  ["a", 2]\ntrailing'
    assert [value for _, value in parts([text], [(EACH,)])] == ["a", 2]
    assert [value for _, value in parts(["warning: x\n[{}]\n"], [(EACH,)])] == [{}]
    assert begin_of("no document [1] here") is None


@pytest.mark.parametrize("text", ["", "words", '[{"a": 1}, {"a"', "[{} {}]", "[{}, nul", "[[[[", '[{}, "\\u12'])
def test_what_breaks_off_is_an_error_after_what_came_before(text: str) -> None:
    found: list[object] = []

    def read() -> None:
        found.extend(value for _, value in parts([text], [(EACH,)]))

    with pytest.raises(Cut):
        read()
    assert all(value in ({}, {"a": 1}) for value in found)


@pytest.mark.parametrize("text", ["[" + "[" * 200_000, '[{"a":' * 100_000, "[" + "9" * 10_000 + "]"])
def test_hostile_documents_are_refused_not_crashed_on(text: str) -> None:
    with pytest.raises(Cut):
        list(parts([text], [(EACH,)]))
