"""ESLint's and Ruff's JSON: severities, several findings on one line, and documents that break off."""

from __future__ import annotations

import json

import pytest

from agent_fox.verifier.ground.results import FailureKind
from agent_fox.verifier.logs.reports.findings import findings
from tests.verifier.logs.at_hand import places, read_document

ESLINT, RUFF = findings("eslint"), findings("ruff")


def eslint(*messages: dict[str, object], path: str = "/workspace/src/a b.js") -> dict[str, object]:
    return {"filePath": path, "messages": list(messages), "errorCount": 0}


def told(rule: str | None, severity: int, line: int, column: int, **more: object) -> dict[str, object]:
    return {"ruleId": rule, "severity": severity, "message": "No.", "line": line, "column": column, **more}


def test_errors_fail_warnings_warn_and_a_line_may_have_several() -> None:
    file = eslint(told("a", 2, 3, 5), told("a", 2, 3, 9), told("b", 1, 3, 9), told(None, 1, 1, 1, fatal=True))
    parsed = read_document(ESLINT, json.dumps([file, eslint()]))
    assert [(f.file, f.line, f.column, f.code, f.message) for f in parsed.failures] == [
        ("src/a b.js", 3, 5, "a", "No"),
        ("src/a b.js", 3, 9, "a", "No"),
        ("src/a b.js", 1, 1, None, "No"),
    ]
    assert [(w.line, w.code) for w in parsed.warnings] == [(3, "b")]


def test_eslint_may_wrap_its_files_and_stand_below_npms_lines() -> None:
    wrapped = "\n> lint\n> eslint -f json-with-metadata\n\n" + json.dumps(
        {"results": [eslint(told("a", 2, 1, 1))], "metadata": {}}
    )
    assert ESLINT.recognises(wrapped)
    assert places(read_document(ESLINT, wrapped)) == [("src/a b.js", 1)]


def test_windows_paths_lose_their_root() -> None:
    log = json.dumps([eslint(told("a", 2, 1, 1), path="C:\\work\\Proj\\src\\a.js")])
    assert places(read_document(ESLINT, log, "C:/Work/proj")) == [("src/a.js", 1)]


def ruff(code: str | None, row: int, column: int, **more: object) -> dict[str, object]:
    return {
        "cell": None,
        "code": code,
        "end_location": {"row": row, "column": column + 1},
        "filename": "/workspace/pkg/bad.py",
        "location": {"row": row, "column": column},
        "message": "No",
        "fix": {"edits": [{"location": {"row": 99, "column": 1}}]},
        **more,
    }


@pytest.mark.parametrize("indent", [None, 2])
def test_ruffs_array_is_read_plain_and_indented(indent: int | None) -> None:
    log = json.dumps([ruff("F401", 1, 8), ruff("F401", 1, 12), ruff(None, 4, 1, name="invalid-syntax")], indent=indent)
    parsed = read_document(RUFF, log)
    assert RUFF.recognises(log)
    assert [(f.file, f.line, f.column, f.code) for f in parsed.failures] == [
        ("pkg/bad.py", 1, 8, "F401"),
        ("pkg/bad.py", 1, 12, "F401"),
        ("pkg/bad.py", 4, 1, "invalid-syntax"),
    ]


def test_ruffs_lines_are_read_too() -> None:
    log = "warning: an old setting\n" + "".join(json.dumps(ruff("E1", n, 1)) + "\n" for n in (1, 2))
    assert RUFF.recognises(log)
    assert places(read_document(RUFF, log)) == [("pkg/bad.py", 1), ("pkg/bad.py", 2)]


def test_what_is_unformatted_is_a_format_failure_and_a_warning_no_failure() -> None:
    log = json.dumps([ruff("unformatted", 1, 1), ruff("E1", 2, 1, severity="warning")])
    parsed = read_document(RUFF, log)
    assert [f.kind for f in parsed.failures] == [FailureKind.FORMAT_FAILURE]
    assert len(parsed.warnings) == 1


def test_an_empty_array_is_a_clean_run_and_a_cut_one_is_not_complete() -> None:
    assert read_document(RUFF, "[]\n").is_complete
    cut = json.dumps([ruff("E1", 1, 1), ruff("E1", 2, 1)])[:-40]
    parsed = read_document(RUFF, cut)
    assert (places(parsed), parsed.is_complete) == ([("pkg/bad.py", 1)], False)
    assert not read_document(ESLINT, '[{"filePath":').is_complete


@pytest.mark.parametrize("value", [1, "x", None, [[1]], [{"messages": 3}], [{"messages": [{"line": "x"}]}], [{}]])
def test_other_shapes_do_no_harm(value: object) -> None:
    for parser in (ESLINT, RUFF):
        parsed = read_document(parser, json.dumps(value))
        assert all(failure.line is None for failure in (*parsed.failures, *parsed.warnings))
