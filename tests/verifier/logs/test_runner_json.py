"""The JSON reports of jest, vitest and mocha: what failed, where, and how many."""

from __future__ import annotations

import json

from agent_fox.verifier.ground.results import TestSummary
from agent_fox.verifier.logs.registry import BUILT_IN
from agent_fox.verifier.logs.reports.findings import findings
from tests.verifier.logs.at_hand import read_document, told

JEST_JSON, MOCHA_JSON = findings("jest"), findings("mocha")
FAILED = {
    "ancestorTitles": ["math", "inner"],
    "title": "adds",
    "status": "failed",
    "failureMessages": [
        "Error: \x1b[2mexpect(\x1b[22mreceived).toBe(expected)\n\nExpected: 3\n"
        "    at Object.toBe (/workspace/test/a.test.js:3:40)\n    at run (/workspace/node_modules/jest/x.js:1:1)"
    ],
}
BROKEN = {
    "name": "/workspace/test/b.test.js",
    "status": "failed",
    "assertionResults": [],
    "message": "  ● Test suite failed to run\n\n    Cannot find module './nothere' from 'test/b.test.js'\n\n"
    "      at Object.require (test/b.test.js:1:11)\n",
}
TESTS = [FAILED, *({"title": word, "status": word, "failureMessages": []} for word in ("passed", "pending", "todo"))]
JEST = {
    "numFailedTestSuites": 2,
    "numTotalTests": 4,
    "testResults": [{"name": "/workspace/test/a.test.js", "status": "failed", "assertionResults": TESTS}, BROKEN],
}
MOCHA = {
    "stats": {"suites": 2, "tests": 4, "passes": 1, "pending": 2, "failures": 1},
    "tests": [],
    "failures": [
        {
            "title": "throws",
            "fullTitle": "math inner throws",
            "file": "/workspace/test/a.js",
            "err": {"stack": "TypeError: too deep\n    at Context.<anonymous> (test/a.js:7:56)", "message": "too deep"},
        }
    ],
}


def test_jest_names_failed_tests_and_files_that_did_not_load() -> None:
    parsed = read_document(JEST_JSON, json.dumps(JEST))
    assert [told(failure) for failure in parsed.failures] == [
        ("math > inner > adds", "test/a.test.js", 3, "expect(received).toBe(expected)"),
        (None, "test/b.test.js", 1, "Cannot find module './nothere' from 'test/b.test.js'"),
    ]
    assert [failure.kind.value for failure in parsed.failures] == ["test_failure", "compile_error"]
    assert parsed.summary == TestSummary(tests=4, passed=1, failures=1, errors=1, skipped=2)


def test_a_report_of_jest_that_breaks_off_is_not_complete() -> None:
    parsed = read_document(JEST_JSON, json.dumps(JEST)[:-30])
    assert (parsed.is_complete, len(parsed.failures)) == (False, 1)


def test_mocha_names_the_test_below_its_groups() -> None:
    parsed = read_document(MOCHA_JSON, json.dumps(MOCHA, indent=2))
    assert [told(failure) for failure in parsed.failures] == [
        ("math inner > throws", "test/a.js", 7, "TypeError: too deep")
    ]
    assert parsed.summary == TestSummary(tests=4, passed=1, failures=1, skipped=2)


def test_the_reports_are_known_by_what_they_hold() -> None:
    assert BUILT_IN.for_report(json.dumps(JEST)) is JEST_JSON
    assert BUILT_IN.for_report(json.dumps(MOCHA, indent=2)) is MOCHA_JSON
