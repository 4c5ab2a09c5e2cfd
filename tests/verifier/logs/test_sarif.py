"""SARIF: levels from results or rules, places from anywhere in the run, accepted findings left out."""

from __future__ import annotations

import json

import pytest

from agent_fox.verifier.ground.results import FailureKind
from agent_fox.verifier.logs.reports.findings import findings
from tests.verifier.logs.at_hand import places, read_document

PARSER = findings("sarif")


def result(uri: str | None, line: int, **more: object) -> dict[str, object]:
    location = {"artifactLocation": {"uri": uri} if uri else {"index": 0}, "region": {"startLine": line}}
    return {"ruleId": "R1", "message": {"text": "No"}, "locations": [{"physicalLocation": location}], **more}


def run(*results: dict[str, object], name: str = "ruff", **more: object) -> dict[str, object]:
    rules = [{"id": "R1", "defaultConfiguration": {"level": "error"}}, {"id": "R2"}]
    return {"results": list(results), "tool": {"driver": {"name": name, "rules": rules}}, **more}


def log(*runs: dict[str, object]) -> str:
    return json.dumps({"version": "2.1.0", "$schema": "https://json.schemastore.org/sarif-2.1.0.json", "runs": runs})


def test_a_level_comes_from_the_result_else_from_its_rule_else_is_warning() -> None:
    text = log(
        run(
            result("a.py", 1),
            result("a.py", 2, level="warning"),
            result("a.py", 3, ruleId="R2"),
            result("a.py", 4, level="note"),
        )
    )
    parsed = read_document(PARSER, text)
    assert PARSER.recognises(text)
    assert places(parsed) == [("a.py", 1)]
    assert [warning.line for warning in parsed.warnings] == [2, 3, 4]


def test_what_is_accepted_gone_or_passed_is_left_out() -> None:
    kept_out: tuple[dict[str, object], ...] = (
        {"suppressions": [{"kind": "inSource"}]},
        {"suppressions": [{"kind": "external", "status": "accepted"}]},
        {"baselineState": "absent"},
        {"kind": "pass"},
    )
    results = [result("a.py", n, **more) for n, more in enumerate(kept_out, 1)]
    rejected = result("a.py", 9, suppressions=[{"kind": "external", "status": "rejected"}])
    assert places(read_document(PARSER, log(run(*results, rejected)))) == [("a.py", 9)]


@pytest.mark.parametrize(
    ("uri", "file"),
    [
        ("file:///workspace/a%20b/c.py", "a b/c.py"),
        ("src/c%23.py", "src/c#.py"),
        ("./src/c.py", "src/c.py"),
        ("/workspace/c.py", "c.py"),
    ],
)
def test_an_address_becomes_a_path(uri: str, file: str) -> None:
    assert places(read_document(PARSER, log(run(result(uri, 1))))) == [(file, 1)]


def test_artifacts_and_bases_may_come_after_the_results() -> None:
    indexed = run(result(None, 3), artifacts=[{"location": {"uri": "x/y.c"}}])
    assert places(read_document(PARSER, log(indexed, run(result("z.c", 1))))) == [("x/y.c", 3), ("z.c", 1)]
    based = result("y.c", 4)
    based["locations"] = [
        {"physicalLocation": {"artifactLocation": {"uri": "y.c", "uriBaseId": "SRC"}, "region": {"startLine": 4}}}
    ]
    bases = {"SRC": {"uri": "file:///workspace/sub/"}}
    assert places(read_document(PARSER, log(run(based, originalUriBaseIds=bases)))) == [("sub/y.c", 4)]


def test_a_compilers_results_are_compile_errors_and_placeholders_are_filled() -> None:
    said = result("a.c", 1, message={"text": "'{0}' undeclared", "arguments": ["x"]})
    failure = read_document(PARSER, log(run(said, name="GNU C17"))).failures[0]
    assert (failure.kind, failure.message) == (FailureKind.COMPILE_ERROR, "'x' undeclared")


def test_a_document_that_breaks_off_gives_its_beginning() -> None:
    text = log(run(result("a.py", 1, level="error"), result("a.py", 2, level="error")))
    parsed = read_document(PARSER, text[: text.index('"startLine": 2')])
    assert (places(parsed), parsed.is_complete) == ([("a.py", 1)], False)


def test_other_json_is_no_sarif() -> None:
    assert not PARSER.recognises('[{"filePath": "sarif", "runs": []}]')
    assert not PARSER.recognises('{"results": []}')
