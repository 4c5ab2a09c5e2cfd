"""Lines of code that an output names."""

from __future__ import annotations

import pytest

from agent_fox.trackers.facts import MOST_PLACES, Place, places_in


@pytest.mark.parametrize(
    ("output", "place"),
    [
        ("tests/test_gate.py:12: AssertionError", Place("tests/test_gate.py", 12)),
        ('  File "src/the gate.py", line 3, in open', Place("src/the gate.py", 3)),
        ("./src/main.ts(10,5): error TS1", Place("src/main.ts", 10)),
        (" --> src/main.rs:10:5", Place("src/main.rs", 10)),
        ("    at open (src/gate.js:7:1)", Place("src/gate.js", 7)),
        (".github/checks.yml:4: bad", Place(".github/checks.yml", 4)),
        ("node_modules/@a/b.js:1", Place("node_modules/@a/b.js", 1)),
    ],
)
def test_a_line_of_code_is_found_as_tools_write_it(output: str, place: Place) -> None:
    assert places_in(output) == (place,)


@pytest.mark.parametrize(
    "output",
    [
        *("/usr/lib/x.py:3", 'File "/usr/x.py", line 3', "../x.py:3", "a/../../x.py:3", 'File "../x.py", line 3'),
        *("https://example.org:443/x", "127.0.0.1:80", "C:\\x\\gate.py:3", "~/x.py:3", "gate.py:0", "gate:3", "12:30"),
        *('File "<string>", line 1', "example.org:443/x"),
    ],
)
def test_what_cannot_be_a_file_below_the_root_is_no_place(output: str) -> None:
    assert places_in(output) == ()


def test_each_place_is_named_once_in_order_and_not_too_many() -> None:
    assert places_in("b.py:2 a.py:1 b.py:2") == (Place("b.py", 2), Place("a.py", 1))
    assert len(places_in("".join(f"a.py:{n}\n" for n in range(1, 100)))) == MOST_PLACES


def test_a_megabyte_of_what_is_nearly_a_place_is_read_in_no_time() -> None:
    for text in ("a+", "a.b", 'File "', "./", "a.py:1/", "a.b:"):
        assert len(places_in(text * 300_000)) <= 1
