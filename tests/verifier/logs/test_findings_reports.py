"""Reports of linters and compilers that several tools write: each finding with its place, counted from 1."""

from __future__ import annotations

import json
import tomllib

import pytest

from agent_fox.verifier.ground.results import Parsed
from agent_fox.verifier.logs.kinds import DATA
from agent_fox.verifier.logs.outside_formats import describe
from agent_fox.verifier.logs.protocol import DocumentParser
from agent_fox.verifier.logs.registry import BUILT_IN
from agent_fox.verifier.logs.reports.findings import findings
from tests.verifier.logs.at_hand import read_document

EXAMPLES = [
    (name, example["log"], example["gives"])
    for name, written in tomllib.loads((DATA / "findings.toml").read_text(encoding="utf-8")).items()
    for example in written["example"]
]

PYRIGHT = {
    "version": "1.1.400",
    "generalDiagnostics": [
        {
            "file": "/workspace/pkg/m.py",
            "severity": severity,
            "message": "wrong type",
            "range": {"start": {"line": 1, "character": 4}},
            "rule": "reportAssignmentType",
        }
        for severity in ("error", "warning")
    ],
}
CODE_QUALITY = [
    {
        "description": "F401: `os` imported but unused",
        "check_name": "F401",
        "severity": "major",
        "fingerprint": "abc",
        "location": {"path": "pkg/m.py", "positions": {"begin": {"line": 2, "column": 5}}},
    }
]
GOLANGCI = {
    "Issues": [
        {"FromLinter": "errcheck", "Text": "not checked", "Pos": {"Filename": "a/a.go", "Line": 2, "Column": 5}},
        {"FromLinter": "typecheck", "Text": "undefined: x", "Pos": {"Filename": "a/a.go", "Line": 3, "Column": 1}},
    ]
}
PYLINT = [
    {
        "type": "convention",
        "path": "pkg/m.py",
        "line": 2,
        "column": 4,
        "symbol": "missing-docstring",
        "message": "Missing docstring",
        "message-id": "C0116",
    }
]
PYLINT_2 = {
    "messages": [
        {"type": "convention", "symbol": "missing-docstring", "message": "Missing docstring"}
        | {"messageId": "C0116", "line": 2, "column": 4, "path": "pkg/m.py"}
    ],
    "statistics": {"score": 0.0},
}
GCC = [
    {
        "kind": kind,
        "message": "'y' undeclared",
        "locations": [{"caret": {"file": "src/a.c", "line": 2, "column": 5}}],
    }
    for kind in ("error", "warning", "note")
]


def parser_for(document: object) -> DocumentParser:
    parser = BUILT_IN.for_report(json.dumps(document))
    assert parser is not None
    return parser


def read(document: object) -> Parsed:
    return read_document(parser_for(document), json.dumps(document))


@pytest.mark.parametrize(
    ("document", "file", "code"),
    [
        (PYRIGHT, "pkg/m.py", "reportAssignmentType"),
        (CODE_QUALITY, "pkg/m.py", "F401"),
        (GOLANGCI, "a/a.go", "errcheck"),
        (PYLINT, "pkg/m.py", "missing-docstring"),
        (PYLINT_2, "pkg/m.py", "missing-docstring"),
        (GCC, "src/a.c", None),
    ],
    ids=["pyright", "code-quality", "golangci-lint", "pylint", "pylint-json2", "gcc"],
)
def test_a_finding_has_its_place_and_rule(document: object, file: str, code: str | None) -> None:
    first = read(document).failures[0]
    assert (first.file, first.line, first.column, first.code) == (file, 2, 5, code)


def test_mild_findings_are_warnings_and_notes_are_neither() -> None:
    assert [(len(read(one).failures), len(read(one).warnings)) for one in (PYRIGHT, GCC)] == [(1, 1), (1, 1)]


def test_what_linters_say_of_code_that_does_not_compile_is_a_compile_error() -> None:
    assert [failure.kind.value for failure in read(GOLANGCI).failures] == ["lint_failure", "compile_error"]


def test_a_message_is_without_the_rule_that_stands_before_it() -> None:
    assert read(CODE_QUALITY).failures[0].message == "`os` imported but unused"


CHECKSTYLE = """<?xml version="1.0" encoding="UTF-8"?>
<checkstyle version="10.3"><file name="/workspace/src/App.java">
<error line="3" column="5" severity="error" message="Missing a comment." source="com.puppycrawl.MissingJavadocCheck"/>
<error line="9" severity="warning" message="Line is too long." source="com.puppycrawl.LineLengthCheck"/>
</file></checkstyle>"""
PMD = """<pmd><file name="/workspace/src/App.java">
<violation beginline="4" begincolumn="2" rule="UnusedLocalVariable" priority="3">
Avoid unused local variables.
</violation></file></pmd>"""


def test_checkstyles_errors_fail_and_its_warnings_do_not() -> None:
    parsed = read_document(findings("checkstyle"), CHECKSTYLE)
    assert [(f.file, f.line, f.column, f.code) for f in parsed.failures] == [("src/App.java", 3, 5, "MissingJavadoc")]
    assert [(w.file, w.line, w.column, w.code) for w in parsed.warnings] == [("src/App.java", 9, None, "LineLength")]


def test_pmd_is_read_too() -> None:
    (failure,) = read_document(findings("checkstyle"), PMD).failures
    assert (failure.file, failure.line, failure.message) == ("src/App.java", 4, "Avoid unused local variables.")


def test_every_tools_report_may_be_checkstyles() -> None:
    assert BUILT_IN.for_report(CHECKSTYLE) is findings("checkstyle")
    assert any(entry.load() is findings("checkstyle") for entry in BUILT_IN.for_tool("gradle").of("documents"))


def test_a_report_of_pylint_that_found_nothing_can_be_read() -> None:
    clean = read({"messages": [], "statistics": {"messageTypeCount": {"error": 0}, "score": 10.0}})
    assert (clean.failures, clean.is_complete) == ((), True)


@pytest.mark.parametrize(("name", "log", "gives"), EXAMPLES)
def test_an_example_of_the_table_gives_what_stands_below_it(name: str, log: str, gives: list[str]) -> None:
    parser = findings(name)
    assert parser.recognises(log)
    assert list(describe(read_document(parser, log))) == gives
