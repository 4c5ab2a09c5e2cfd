"""The place that a trace names: the project's, not a library's; and paths in every spelling."""

from __future__ import annotations

import tomllib
from dataclasses import astuple

import pytest

from agent_fox.verifier.logs.frames import java_place, place_in
from agent_fox.verifier.logs.kinds import DATA
from tests.verifier.logs.at_hand import workspace

W = workspace("/workspace/app")
TABLES = tomllib.loads((DATA / "frames.toml").read_text(encoding="utf-8"))
ROWS = [(name, row["given"], row["says"]) for name, table in TABLES.items() for row in table.get("row", ())]


@pytest.mark.parametrize(("language", "given", "says"), ROWS)
def test_a_text_names_the_place_that_its_row_gives(language: str, given: str, says: list[str]) -> None:
    found = [place_in(text, workspace(), language) for text in says]
    assert says
    assert {":".join(str(part) for part in astuple(place) if part) for place in found if place} == {given}
    assert None not in found


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("    at f (/workspace/app/src/a.js:3:5)", ("src/a.js", 3, 5)),
        ("    at async file:///workspace/app/my%20dir/a.mjs:3:5", ("my dir/a.mjs", 3, 5)),
        ("    at f (/workspace/app/node_modules/x/i.js:1:1)\n    at g (src/b.ts:2:9)", ("src/b.ts", 2, 9)),
        ("    at f (node:internal/a:1:1)\n    at Object.<anonymous> (b.test.tsx:2:9)", ("b.test.tsx", 2, 9)),
        (" ❯ parse src/load.ts:5:35", ("src/load.ts", 5, 35)),
        (" ❯ src/load.ts:5:35", ("src/load.ts", 5, 35)),
        ("started 2026-01-01 10:20:30\n    at f (/elsewhere/a.js:1:1)", None),
    ],
)
def test_javascript(text: str, place: tuple[str, int, int] | None) -> None:
    found = place_in(text, W, "javascript")
    assert (found and (found.file, found.line, found.column)) == place


def test_python_takes_the_deepest_frame_of_the_project() -> None:
    trace = (
        'Traceback (most recent call last):\n  File "/workspace/app/tests/test_a.py", line 3, in test_a\n'
        '  File "/workspace/app/lib.py", line 9, in load\n  File "/usr/lib/python3.11/json/decoder.py", line 355\n'
        '  File "/workspace/app/.venv/lib/python3.11/site-packages/x.py", line 1\n'
        '  File "<string>", line 1\nValueError: at other.py:1:2'
    )
    found = place_in(trace, W, "python")
    assert (found and (found.file, found.line)) == ("lib.py", 9)


def test_java_without_a_frame_of_the_test_takes_the_first_of_the_project() -> None:
    trace = "\tat org.junit.Assert.fail(Assert.java:1)\n\tat com.acme.Base.check(Base.java:7)\n"
    found = java_place(trace, "com.acme.ATest", "api")
    assert (found and (found.file, found.line)) == ("api/src/main/java/com/acme/Base.java", 7)
    assert java_place("no frames", "com.acme.ATest") is None


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("tests/add.c:56:adds_null:FAIL: Expected 4 Was 5", ("tests/add.c", 56)),  # Unity
        ("tests/add.c:56:adds_null:FAIL", ("tests/add.c", 56)),
        ("tests/add.c:50:adds_one:PASS\ntests/add.c:56:adds_null:FAIL: Expected 4 Was 5", ("tests/add.c", 56)),
        ("check_money.c:18:F:Core:test_create:0: Assertion 'a == 1' failed: a == 2, 1 == 1", ("check_money.c", 18)),
        ("money.c:29:E:Core:test_b:0: (after this point) Received signal 11", ("money.c", 29)),  # Check
        ("Error: tests/example.c:145: assertion failed: a == b (1 == 2)", ("tests/example.c", 145)),  # munit
        ("[----] tests/simple.c:5: Assertion Failed", ("tests/simple.c", 5)),  # Criterion
        ("[   LINE   ] --- tests/test_x.c:12: error: Failure!", ("tests/test_x.c", 12)),  # cmocka
        ("tests/t.cpp:7: error: Failure in TEST(Sums, adds)", ("tests/t.cpp", 7)),  # CppUTest
        ('tests/t.cpp(12): error: in "sums/adds": check a == b has failed [1 != 2]', ("tests/t.cpp", 12)),  # Boost.Test
        ("FAIL!  : TestX::adds() Compared values differ\n   Loc: [tests/tst_x.cpp(23)]", ("tests/tst_x.cpp", 23)),  # Qt
        ("FAIL adds: expected 4 (tests/x.c:12)", ("tests/x.c", 12)),  # greatest
        ("  tests/x.c:12: Check a == b... failed", ("tests/x.c", 12)),  # acutest
        ("adds failed:\n\ttests/x.c:12: foo should be 7", ("tests/x.c", 12)),  # MinUnit
        ("prog: src/a.c:12: main: Assertion `x == 1' failed.", ("src/a.c", 12)),  # assert of glibc
        ("prog: ../../src/a.c:12: main: Assertion `x == 1' failed.", ("src/a.c", 12)),  # the same, built by Meson
        ("Assertion failed: (x == 1), function main, file src/a.c, line 12.", ("src/a.c", 12)),  # assert of macOS
        ("tests/x.cpp:12: FAILED:\n  REQUIRE( a == b )", ("tests/x.cpp", 12)),  # Catch2
        ("tests/x.cpp(12): ERROR: CHECK( a == b ) is NOT correct!", ("tests/x.cpp", 12)),  # doctest
        ("tests/x.cpp:12: ERROR: CHECK( a == b ) is NOT correct!", ("tests/x.cpp", 12)),
        ("tests/x.cc:12: Failure\nExpected equality of these values:", ("tests/x.cc", 12)),  # GoogleTest
        ("#   at tests/x.c line 12", ("tests/x.c", 12)),  # TAP of C
        ("tests/add.c:50:adds_one:PASS\ntests/add.c:51:adds_two:IGNORE: later", None),
        ("src/a.c:12: warning: unused variable 'x'", None),
        ("In file included from src/a.c:12:", None),
        ("reading tests/data/a.c:12: done", None),
        ("2026-01-01 10:20:30 loaded (tests/x.c:12)", None),
        ("/usr/include/gtest/gtest.h:7: Failure", None),
    ],
)
def test_c(text: str, place: tuple[str, int] | None) -> None:
    found = place_in(text, W, "c")
    assert (found and (found.file, found.line)) == place


def test_go() -> None:
    found = place_in("    a_test.go:7: x", W, "go")
    assert (found and (found.file, found.line)) == ("a_test.go", 7)


@pytest.mark.parametrize(
    ("path", "relative", "is_inside"),
    [
        ("/workspace/app/src/a.c", "src/a.c", True),
        ("./src/../a.c", "a.c", True),
        ("src\\win\\a.c", "src/win/a.c", True),
        ("file:///workspace/app/a%20b.c", "a b.c", True),
        ("/workspace/application/a.c", "/workspace/application/a.c", False),
        ("../a.c", "../a.c", False),
        ("C:\\x\\a.c", "C:/x/a.c", False),
        ("", "", False),
    ],
)
def test_paths_are_relative_to_the_workspace(path: str, relative: str, is_inside: bool) -> None:
    assert (W.relative(path), W.holds(path)) == (relative, is_inside)
