"""In which lines of a JSON document its strings stand."""

from __future__ import annotations

from agent_fox.specs.agent_fox.json_form import strings_of
from agent_fox.specs.files import TextFile


def test_a_string_stands_where_it_is_written_first() -> None:
    strings = strings_of(TextFile("a.json", '{\n"id": "1.1",\n"refs": ["1.1", "1.2"]\n}'))
    assert strings.lines["1.1"] == [2, 3]
    assert strings.places(["1.1", "1.2", "1.3"]) == {"1.1": "a.json:2", "1.2": "a.json:3"}


def test_what_is_not_found_stands_in_the_document() -> None:
    assert strings_of(TextFile("a.json", "{}")).place("1.1") == "a.json"


def test_an_escaped_quote_ends_no_string() -> None:
    strings = strings_of(TextFile("a.json", r'{"title": "run \"all\" in C:\\", "id": "1.1"}'))
    assert strings.place("1.1") == "a.json:1"
