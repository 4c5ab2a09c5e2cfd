"""What linters and type checkers print: tsc, mypy, pyright, eslint, ruff, flake8, pylint."""

from __future__ import annotations

import pytest

from agent_fox.verifier.ground.results import Parsed
from agent_fox.verifier.logs.row_reader import built_in
from tests.verifier.logs.samples import kinds, messages, place, places, read, read_text

TSC = [
    *("src/a.ts:1:25", "src/a.ts:2:21", "src/a.ts:4:9", "src/a.ts:5:14", "src/a.ts:8:16", "src/a.ts:8:29"),
    *("src/a.ts:10:16", "src/a.ts:11:7", "src/sp ace.ts:1:14", "src/sp ace.ts:1:39"),
]
MYPY_LINES = [1, 2, 5, 6, 10, 13, 13, 15]
MYPY_COLUMNS = [1, 1, 14, 14, 16, 5, 5, 1]
ESLINT = [
    ("src/a.js:1:15", "Missing semicolon", "semi"),
    ("src/a.js:2:17", "no ifs: error  please", "no-restricted-syntax"),
    ("src/a.js:2:23", "Expected '===' and instead saw '=='", "eqeqeq"),
    ("src/a.js:2:31", "'alert' is not defined", "no-undef"),
    ("src/a.js:2:41", "Missing semicolon", "semi"),
    ("src/sp ace/b.js:1:1", "'foo' is not defined", "no-undef"),
    ("src/syn.js:1:11", "Parsing error: Unexpected token ;", None),
]
RUFF = [
    ("py/a.py", 2, "E402"),
    ("py/a.py", 2, "E401"),
    ("py/a.py", 2, "I001"),
    ("py/a.py", 2, "F401"),
    ("py/a.py", 2, "F401"),
    ("py/syn.py", 1, "invalid-syntax"),
]


def found_by_eslint(parsed: Parsed) -> list[tuple[str, str, str | None]]:
    return [(place(f), f.message, f.code) for f in parsed.failures]


@pytest.mark.parametrize("name", ["five", "five-pretty", "7-pretty"])
def test_tsc_names_each_error_once_plain_or_pretty(name: str) -> None:
    found = read(built_in("tsc"), f"tsc/{name}", "/workspace/ts")
    assert (places(found), kinds(found)) == (TSC, {"compile_error"})
    assert found.failures[2].message == "Type 'number' is not assignable to type 'string'."
    assert found.failures[2].code == "TS2322"


def test_tsc_errors_of_the_configuration_have_a_place_only_if_it_names_one() -> None:
    assert places(read(built_in("tsc"), "tsc/five-badcfg", "/workspace/ts")) == [
        "",
        "tsconfig.bad.json:1:30",
        "tsconfig.bad.json:1:38",
    ]
    assert messages(read(built_in("tsc"), "tsc/five-badopt", "/workspace/ts")) == [
        "Unknown compiler option '--nonsense'."
    ]


def test_tsc_paths_may_hold_brackets_and_be_of_windows() -> None:
    brackets = "app/(shop)/[id]/page.tsx(3,7): error TS2304: Cannot find name 'x'."
    windows = "..\\lib\\a.ts(1,2): error TS1005: ';' expected."
    assert places(read_text(built_in("tsc"), f"{brackets}\n{windows}")) == [
        "app/(shop)/[id]/page.tsx:3:7",
        "../lib/a.ts:1:2",
    ]


@pytest.mark.parametrize("name", ["plain", "cols", "pretty", "ctx", "end", "json"])
def test_mypy_says_the_same_in_all_its_formats(name: str) -> None:
    found = read(built_in("mypy"), f"mypy/{name}", "/workspace/mypyx")
    expected = read(built_in("mypy"), "mypy/cols", "/workspace/mypyx")
    assert [(f.file, f.line) for f in found.failures] == [("pkg/m.py", line) for line in MYPY_LINES]
    assert [(f.message, f.code) for f in found.failures] == [(f.message, f.code) for f in expected.failures]
    assert found.warnings == ()


@pytest.mark.parametrize("name", ["cols", "pretty", "end", "json"])
def test_mypy_columns_are_read_where_shown(name: str) -> None:
    assert [f.column for f in read(built_in("mypy"), f"mypy/{name}", "/workspace/mypyx").failures] == MYPY_COLUMNS


def test_mypy_errors_without_a_line_and_of_usage() -> None:
    assert places(read(built_in("mypy"), "mypy/none", "/workspace/mypyx")) == ["nope.py"]
    usage = read(built_in("mypy"), "mypy/dup", "/workspace/mypyx")
    assert (places(usage), messages(usage)) == ([""], ["Missing target module, package, files, or command."])


def test_pyright_rules_may_stand_below_the_first_line() -> None:
    found = read(built_in("pyright"), "pyright/plain", "/workspace/mypyx")
    assert [(place(f), f.code) for f in found.failures] == [
        ("pkg/m.py:1:8", "reportMissingImports"),
        ("pkg/m.py:5:14", "reportAssignmentType"),
        ("pkg/m.py:6:14", "reportArgumentType"),
        ("pkg/m.py:10:21", "reportAttributeAccessIssue"),
        ("pkg/m.py:13:9", "reportIncompatibleMethodOverride"),
    ]
    assert [place(f) for f in found.warnings] == ["pkg/m.py:14:13"]


@pytest.mark.parametrize("name", ["stylish", "coloured", "compact", "unix", "visualstudio"])
def test_eslint_says_the_same_in_all_its_formats(name: str) -> None:
    found = read(built_in("eslint"), f"eslint/{name}", "/workspace/lint")
    assert found_by_eslint(found) == ESLINT
    assert [place(f) for f in found.warnings] == ["src/a.js:1:5", "src/a.js:2:10", "src/ok.js:1:1"]


def test_eslint_warnings_fail_where_there_are_too_many() -> None:
    found = read(built_in("eslint"), "eslint/max-warnings", "/workspace/lint")
    assert (places(found), found.warnings) == (["src/ok.js:1:1"], ())


def test_eslint_says_why_it_could_not_run() -> None:
    found = read(built_in("eslint"), "eslint/nothing", "/workspace/lint")
    assert (messages(found), kinds(found)) == (['No files matching the pattern "nothere" were found.'], {"unknown"})


@pytest.mark.parametrize("name", ["concise", "full", "grouped", "pylint", "github"])
def test_ruff_says_the_same_in_all_its_formats(name: str) -> None:
    found = read(built_in("ruff"), f"ruff/{name}", "/workspace/fmt")
    assert [(f.file, f.line, f.code) for f in found.failures][:6] == RUFF
    assert len(found.failures) == 7
    assert kinds(found) == {"lint_failure"}


def test_ruff_lines_of_a_suggested_fix_are_no_findings() -> None:
    log = "F401 [*] `os` imported but unused\n --> a.py:1:8\n  |\nhelp: Remove\n  - import os\n1 | E501 b.py:1:1: x\n"
    assert places(read_text(built_in("ruff"), log)) == ["a.py:1:8"]


def test_ruff_of_older_versions_and_of_notebooks() -> None:
    old = "bad.py:1:8: F401 [*] `os` imported but unused\n  |\n1 | import os"
    notebook = "nb.ipynb:cell 2:3:1: E402 Module level import"
    assert places(read_text(built_in("ruff"), f"{old}\n{notebook}")) == ["bad.py:1:8", "nb.ipynb:3:1"]


def test_ruff_says_why_it_could_not_run() -> None:
    found = read(built_in("ruff"), "ruff/badsel", "/workspace/fmt")
    assert messages(found) == ["Unknown rule selector `XYZ1` in `select` from the CLI"]


def test_flake8_findings_and_the_parseable_form() -> None:
    plain, parseable = (read(built_in("flake8"), f"flake8/{name}", "/workspace/fmt") for name in ("plain", "parseable"))
    assert places(plain)[:3] == ["py/a.py:1:6", "py/a.py:1:10", "py/a.py:1:12"]
    assert [(f.file, f.line, f.code) for f in parseable.failures] == [(f.file, f.line, f.code) for f in plain.failures]


def test_pylint_counts_columns_from_0() -> None:
    log = "************* Module a\na.py:3:0: C0116: Missing function or method docstring (missing-function-docstring)"
    (failure,) = read_text(built_in("flake8"), log).failures
    assert (place(failure), failure.code) == ("a.py:3:1", "C0116")
