"""Short logs of whole runs: what no parser knows stays vague, and what stands around a tool's output does no harm."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agent_fox.verifier.ground.results import FailureKind, Status
from agent_fox.verifier.logs.registry import BUILT_IN
from agent_fox.verifier.logs.status import Outcome
from tests.verifier.logs.runs import outcome, told

TOOLS = sorted(BUILT_IN.words())


def written(folder: Path, text: str, name: str = "log.txt") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize("text", ["something odd happened\nno idea what\n", ""])
def test_what_nobody_understands_is_one_vague_failure_without_a_place(text: str, tmp_path: Path) -> None:
    log = written(tmp_path, text)
    found = {tool: outcome(log, tool, 1) for tool in TOOLS}
    failures = {tool: [told(failure, with_name=True) for failure in found[tool].parsed.failures] for tool in TOOLS}
    assert failures == {tool: [("unknown", "-", "")] for tool in TOOLS}
    assert {tool for tool in TOOLS if found[tool].status not in (Status.FAILED, Status.ERRORED)} == set()


@pytest.mark.parametrize(("code", "text"), [(127, "sh: 1: nothing-here: not found\n"), (137, "Killed\n")])
def test_a_tool_that_is_missing_or_killed_is_the_environments_failure(code: int, text: str, tmp_path: Path) -> None:
    log = written(tmp_path, text)
    found = {tool: statuses(outcome(log, tool, code)) for tool in TOOLS}
    assert found == dict.fromkeys(TOOLS, (Status.ERRORED, [FailureKind.ENVIRONMENT_FAILURE]))


def test_words_of_failure_do_not_fail_a_run_that_succeeded(tmp_path: Path) -> None:
    log = written(tmp_path, "ERROR everything failed!\nFAILED (failures=3)\nerror: could not find it\n")
    assert {tool: statuses(outcome(log, tool, 0)) for tool in TOOLS} == dict.fromkeys(TOOLS, (Status.PASSED, []))


def test_a_run_that_was_stopped_timed_out_once(tmp_path: Path) -> None:
    log = written(tmp_path, "starting\nsome outp")
    found = {tool: statuses(outcome(log, tool, None, has_timed_out=True))[1] for tool in TOOLS}
    assert found == {tool: [FailureKind.TIMEOUT] for tool in TOOLS}


def statuses(found: Outcome) -> tuple[Status, list[FailureKind]]:
    return found.status, [failure.kind for failure in found.parsed.failures]


@pytest.mark.parametrize(
    ("tool", "text", "failure"),
    [
        (
            "pytest",
            "ERROR: Could not find a version that satisfies the requirement nope==9 (from versions: none)\n"
            "ERROR: No matching distribution found for nope==9\n",
            ("dependency_resolution_failure", "-"),
        ),
        (
            "mocha",
            "\nError: Cannot find module 'no-such-package'\nRequire stack:\n- /workspace/test/a.js\n"
            "    at Module._resolveFilename (node:internal/modules/cjs/loader:1207:15)\n"
            "    at Object.<anonymous> (/workspace/test/a.js:1:11)\n",
            ("compile_error", "test/a.js:1:11"),
        ),
        ("gcc", "a.s: Assembler messages:\na.s:3: Error: no such instruction: `foo'\n", ("compile_error", "a.s:3")),
        (
            "tsc",
            "src/(group)/a b/[id].tsx(1,7): error TS2322: Type 'string' is not assignable to type 'number'.\n",
            ("compile_error", "src/(group)/a b/[id].tsx:1:7"),
        ),
        (
            "gradle",
            "> Task :app:compileKotlin FAILED\n"
            "e: file:///workspace/app/src/main/kotlin/App.kt:3:18 Type mismatch: inferred type is String\n"
            "\nFAILURE: Build failed with an exception.\n\n* What went wrong:\n"
            "Execution failed for task ':app:compileKotlin'.\n> Compilation error. See log for more details\n",
            ("compile_error", "app/src/main/kotlin/App.kt:3:18"),
        ),
        (
            "jest",
            "FAIL src/a.test.ts\n  ● Test suite failed to run\n\n"
            "    src/a.ts:3:7 - error TS2322: Type 'string' is not assignable to type 'number'.\n\n"
            "    3 const x: number = 's';\n            ~\n\nTest Suites: 1 failed, 1 total\nTests:       0 total\n",
            ("compile_error", "src/a.ts:3:7"),
        ),
        (
            "make",
            "In file included from a.c:1:\nh.h:3:5: error: unknown type name 'foo'\n"
            "make: *** [Makefile:3: a.o] Error 1\n"
            "In file included from b.c:1:\nh.h:3:5: error: unknown type name 'foo'\n"
            "make: *** [Makefile:3: b.o] Error 1\n",
            ("compile_error", "h.h:3:5"),
        ),
        (
            "pytest",
            "==================================== ERRORS ====================================\n"
            "___________________________ ERROR at setup of test_a ___________________________\n"
            "file /workspace/test_a.py, line 1\n  def test_a(nofix):\nE       fixture 'nofix' not found\n"
            ">       available fixtures: cache\n\n/workspace/test_a.py:1\n"
            "=========================== short test summary info ============================\n"
            "ERROR test_a.py::test_a\n"
            "=============================== 1 error in 0.01s ===============================\n",
            ("test_failure", "test_a.py:1"),
        ),
    ],
    ids=["pip", "mocha-9", "assembler", "odd-path", "kotlin", "ts-jest", "header-twice", "no-fixture"],
)
def test_one_failure_is_found_where_it_is(tool: str, text: str, failure: tuple[str, str], tmp_path: Path) -> None:
    found = outcome(written(tmp_path, text), tool, 1)
    assert [told(one, with_name=False) for one in found.parsed.failures] == [failure]


def test_a_report_that_says_failed_outweighs_an_exit_code_of_zero(tmp_path: Path) -> None:
    report = written(
        tmp_path,
        '<testsuite name="p.ATest" tests="1" failures="1"><testcase name="bad" classname="p.ATest">'
        '<failure message="no" type="E">E: no\n\tat p.ATest.bad(ATest.java:9)\n</failure></testcase></testsuite>',
        "TEST-p.ATest.xml",
    )
    found = outcome(written(tmp_path, "[INFO] BUILD SUCCESS\n"), "maven", 0, reports=[report])
    assert found.status is Status.FAILED
    assert [one.test_name for one in found.parsed.failures] == ["p.ATest.bad"]


def test_a_document_is_read_below_a_complaint_about_a_file_that_could_not_be_parsed(tmp_path: Path) -> None:
    entry = {
        "description": "(F401) `os` imported but unused",
        "fingerprint": "abc",
        "location": {"path": "a.py", "lines": {"begin": 1, "end": 1}},
        "severity": "major",
    }
    log = written(tmp_path, "error: Failed to parse s.py:1:7: Unexpected token ':'\n" + json.dumps([entry], indent=2))
    found = outcome(log, "ruff", 1)
    assert [told(one, with_name=False) for one in found.parsed.failures] == [("lint_failure", "a.py:1")]


def test_a_suite_without_a_title_is_no_part_of_a_tests_name(tmp_path: Path) -> None:
    test = {"ancestorTitles": ["", "sum"], "title": "adds", "status": "failed", "failureMessages": ["Error: no"]}
    file = {"name": "/workspace/a.test.js", "status": "failed", "message": "", "assertionResults": [test]}
    log = written(tmp_path, json.dumps({"numTotalTests": 1, "testResults": [file]}))
    found = outcome(log, "vitest", 1)
    assert [one.test_name for one in found.parsed.failures] == ["sum > adds"]


@pytest.mark.parametrize("what", ["Configuration", "Execution"])
def test_a_file_that_a_scanner_could_not_read_is_a_finding_and_advice_is_none(what: str, tmp_path: Path) -> None:
    place = {"physicalLocation": {"artifactLocation": {"uri": "s.js"}, "region": {"startLine": 1, "startColumn": 11}}}
    told_of = [
        {"level": "error", "message": {"text": "Parsing error"}, "locations": [place], "descriptor": {"id": "P1"}},
        {"level": "error", "message": {"text": "about no file"}},
        {"level": "note", "message": {"text": "took long"}, "locations": [place]},
    ]
    run = {"tool": {"driver": {"name": "x"}}, "results": [], "invocations": [{f"tool{what}Notifications": told_of}]}
    schema = "https://json.schemastore.org/sarif-2.1.0.json"
    log = written(tmp_path, json.dumps({"version": "2.1.0", "$schema": schema, "runs": [run]}))
    found = outcome(log, "eslint", 1)
    assert [(told(one, with_name=False), one.code) for one in found.parsed.failures] == [
        (("lint_failure", "s.js:1:11"), "P1")
    ]
