"""What formatters and compileall print: prettier, black, isort, ruff format, gofmt, rustfmt."""

from __future__ import annotations

import pytest

from agent_fox.verifier.logs.row_reader import built_in
from tests.verifier.logs.samples import kinds, messages, places, read, read_text

FMT = "/workspace/fmt"


@pytest.mark.parametrize("name", ["three", "two", "list"])
def test_prettier_names_files_and_the_place_of_a_syntax_error(name: str) -> None:
    found = read(built_in("prettier"), f"prettier/{name}", FMT)
    assert (sorted(places(found)), kinds(found)) == (
        ["sp ace/x.json", "src/a.js", "src/syn.js:1:11"],
        {"format_failure"},
    )


def test_prettier_without_files_says_so_and_a_passing_run_says_nothing() -> None:
    nothing = read(built_in("prettier"), "prettier/nothing", FMT)
    assert (messages(nothing), kinds(nothing)) == (['No files matching the pattern were found: "nope".'], {"unknown"})
    assert read(built_in("prettier"), "prettier/passing", FMT).failures == ()


def test_prettier_finds_no_list_of_files_in_another_tools_output() -> None:
    assert read_text(built_in("prettier"), "PASS test/a.test.js\n\nTests: 1 passed").failures == ()


@pytest.mark.parametrize("name", ["plain", "diff"])
def test_black_names_files_once_and_the_place_of_a_syntax_error(name: str) -> None:
    found = read(built_in("black"), f"black/{name}", FMT)
    assert sorted(places(found)) == ["py/a.py", "py/sp ace/b.py", "py/syn.py:1:6"]
    assert kinds(found) == {"format_failure"}


def test_black_of_older_versions() -> None:
    log = "error: cannot format syn.py: Cannot parse for target version Python 3.11: 1:6: def f(:\nwould reformat a.py"
    found = read_text(built_in("black"), log)
    assert places(found) == ["syn.py:1:6", "a.py"]


def test_isort_names_files() -> None:
    assert places(read(built_in("isort"), "isort/plain", FMT)) == ["py/a.py"]


def test_ruff_format_names_the_first_difference_where_it_is_shown() -> None:
    found = read(built_in("ruff"), "ruff/format", FMT)
    assert (places(found), kinds(found)) == (
        ["py/a.py:1:6", "py/sp ace/b.py:1:2", "py/syn.py:1:7"],
        {"format_failure"},
    )


def test_ruff_format_as_a_diff_and_in_older_versions() -> None:
    assert places(read(built_in("ruff"), "ruff/format-diff", FMT)) == ["py/syn.py:1:7", "py/a.py", "py/sp ace/b.py"]
    old = read_text(built_in("ruff"), "Would reformat: a.py\nWould reformat: b c.py\n2 files would be reformatted")
    assert (places(old), kinds(old)) == (["a.py", "b c.py"], {"format_failure"})


def test_gofmt_lists_files_and_says_what_it_cannot_parse() -> None:
    log = "a.go\npkg/b.go\nbad.go:2:6: expected 'IDENT', found '{'"
    assert places(read_text(built_in("gofmt"), log)) == ["a.go", "pkg/b.go", "bad.go:2:6"]
    assert places(read_text(built_in("gofmt"), "diff a.go.orig a.go\n--- a.go.orig\n+++ a.go")) == ["a.go"]


def test_rustfmt_names_each_place() -> None:
    log = "Diff in /workspace/src/m.rs:1:\n-fn  main(){ }\nDiff in /workspace/src/n.rs at line 7:\n"
    assert places(read_text(built_in("rustfmt"), log)) == ["src/m.rs:1", "src/n.rs:7"]


@pytest.mark.parametrize("name", ["loud", "quiet", "py_compile"])
def test_compileall_names_the_line_that_does_not_compile(name: str) -> None:
    (failure,) = read(built_in("compileall"), f"compileall/{name}", FMT).failures
    assert (failure.kind.value, failure.file, failure.line, failure.message) == (
        "compile_error",
        "py/syn.py",
        1,
        "SyntaxError: invalid syntax",
    )


def test_compileall_errors_without_a_place_keep_their_file() -> None:
    log = "*** Error compiling './a.py'...\nValueError: source code string cannot contain null bytes\n"
    (failure,) = read_text(built_in("compileall"), log).failures
    assert (failure.file, failure.line, failure.exception) == ("a.py", None, "ValueError")
