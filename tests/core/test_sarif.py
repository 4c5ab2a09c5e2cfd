"""A SARIF log: as its schema has it, with places, suppressions, and what could not run."""

from __future__ import annotations

from typing import Any

from agent_fox.core.sarif import SarifResult, SarifRule, sarif_log
from agent_fox.core.values import Json
from tests.sarif_schema import problems

RULES = (SarifRule("a", "A.", "Do a."), SarifRule("b", "B.", "Do b.", "warning"))


def run_of(log: dict[str, Any]) -> dict[str, Any]:
    assert problems(log) == []
    [run] = log["runs"]
    assert isinstance(run, dict)
    return run


def test_places_count_from_the_root_and_a_result_may_have_none() -> None:
    results = (
        SarifResult("a", "error", "one", "src/größe 1.py", 7, 3, "x"),
        SarifResult("b", "warning", "two", "src/b.py", fingerprint="x"),
        SarifResult("a", "note", "three", fingerprint="y"),
        SarifResult("a", "note", "four", "/elsewhere/c.py", 2),
    )
    shown = run_of(sarif_log("t", "1", RULES, results, "print/v1"))["results"]
    places = [result.get("locations", [{}])[0].get("physicalLocation") for result in shown]
    assert places == [
        {
            "artifactLocation": {"uri": "src/gr%C3%B6%C3%9Fe%201.py", "uriBaseId": "SRCROOT"},
            "region": {"startLine": 7, "startColumn": 3},
        },
        {"artifactLocation": {"uri": "src/b.py", "uriBaseId": "SRCROOT"}, "region": {"startLine": 1}},
        None,
        {"artifactLocation": {"uri": "file:///elsewhere/c.py"}, "region": {"startLine": 2}},
    ]
    assert [result["ruleIndex"] for result in shown] == [0, 1, 0, 0]
    assert [result["partialFingerprints"] for result in shown] == [
        {"print/v1": "x:1"},
        {"print/v1": "x:2"},
        {"print/v1": "y:1"},
        {"print/v1": ":1"},
    ]


def test_paths_count_from_a_root_that_is_told_and_one_that_is_no_utf_8_keeps_its_bytes() -> None:
    results = [SarifResult("a", "note", "one", path) for path in ("caf\udce9.py", "/caf\udce9.py")]
    run = run_of(sarif_log("t", "1", RULES, results, "p"))
    assert run["originalUriBaseIds"] == {"SRCROOT": {"description": {"text": "The root of the repository."}}}
    places = [result["locations"][0]["physicalLocation"]["artifactLocation"] for result in run["results"]]
    assert places == [{"uri": "caf%E9.py", "uriBaseId": "SRCROOT"}, {"uri": "file:///caf%E9.py"}]


def test_what_mends_a_result_stands_with_it() -> None:
    fix: Json = {
        "description": {"text": "Take it out."},
        "artifactChanges": [
            {"artifactLocation": {"uri": "a.py"}, "replacements": [{"deletedRegion": {"startLine": 1, "endLine": 2}}]}
        ],
    }
    results = [SarifResult("a", "error", "one", "a.py", fixes=(fix,)), SarifResult("a", "error", "two", "a.py")]
    mended, other = run_of(sarif_log("t", "1", RULES, results, "p"))["results"]
    assert (mended["fixes"], "fixes" in other) == ([fix], False)


def test_what_could_not_run_is_no_success() -> None:
    good = run_of(sarif_log("t", "1", RULES, (), "p"))["invocations"][0]
    bad = run_of(sarif_log("t", "1", RULES, (), "p", troubles=("it timed out",)))["invocations"][0]
    assert (good["executionSuccessful"], bad["executionSuccessful"]) == (True, False)
    assert bad["toolExecutionNotifications"] == [{"level": "error", "message": {"text": "it timed out"}}]


def test_what_a_person_signed_for_is_suppressed_with_the_reason() -> None:
    result = SarifResult("a", "error", "one", waived="waived by alice: later")
    [shown] = run_of(sarif_log("t", "1", RULES, [result], "p"))["results"]
    assert shown["suppressions"] == [
        {"kind": "external", "status": "accepted", "justification": "waived by alice: later"}
    ]


def test_the_schema_finds_what_is_wrong() -> None:
    log: dict[str, Any] = dict(sarif_log("t", "1", RULES, [SarifResult("a", "error", "one")], "p"))
    log["runs"][0]["results"][0]["level"] = "fatal"
    assert [problem for problem in problems(log) if "fatal" in problem] != []
