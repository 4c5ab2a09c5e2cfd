from __future__ import annotations

import pytest

from agent_fox.verifier.ground.results import FailureKind, Parsed, TestSummary
from tests.verifier.logs.samples import Samples, messages, parser_of, place, read_text

EXPECTED = {
    ("math > adds", "test/a.test.js:4:23"),
    ("math > inner group > throws deep", "src/lib.js:2:41"),
    ("math > inner group > objects", "test/a.test.js:11:35"),
    ("math > inner group > async rejects", "test/a.test.js:14:28"),
    ("math > inner group > times out", "test/a.test.js:16:5"),
    ("top level > arrow > inside", "test/a.test.js:19:48"),
    ("throws string", "test/a.test.js:20:1"),
    ("throws nothing useful", "test/a.test.js:21:42"),
    ("hooked > one", "test/hooks.test.js:2:27"),
    ("hooked > two", "test/hooks.test.js:2:27"),
    ("aft > three", "test/hooks.test.js:7:27"),
    ("snap", "test/b.test.js:1:52"),
    ("spaced", "my dir/c.test.js:1:32"),
}


SAMPLES = Samples("jest", "jest", "/workspace/js")
sample = SAMPLES.sample


@pytest.mark.parametrize("name", ["thirty", "twenty-nine", "coloured"])
def test_failed_tests_are_where_the_project_threw(name: str) -> None:
    assert {(f.test_name, place(f)) for f in sample(name).failures if f.test_name} == EXPECTED


@pytest.mark.parametrize("name", ["thirty", "twenty-nine"])
def test_suites_that_did_not_load_are_compile_errors(name: str) -> None:
    broken = {(f.kind.value, f.file, f.line) for f in sample(name).failures if f.test_name is None}
    assert broken == {
        ("compile_error", "test/syntax.test.js", 1),
        ("compile_error", "test/missing.test.js", 1),
        ("test_failure", "test/empty.test.js", None),
    }


def test_messages_say_what_was_thrown_not_how_jest_explains_itself() -> None:
    said = messages(sample("thirty"))
    assert "SyntaxError: /workspace/js/test/syntax.test.js: Unexpected token (1:10)" in said
    assert "Cannot find module './not-there' from 'test/missing.test.js'" in said
    assert "expect(received).toBe(expected) // Object.is equality" in said


def test_suites_count_as_errors_beside_the_tests() -> None:
    assert sample("thirty").summary == TestSummary(tests=17, passed=2, failures=13, errors=3, skipped=2)


def test_no_tests_found_is_said() -> None:
    found = sample("nothing")
    assert (messages(found), found.summary) == (["No tests found"], TestSummary())


def test_a_passing_run_has_no_failures() -> None:
    assert sample("passing") == Parsed(summary=TestSummary(tests=2, passed=1, skipped=1))


def test_failures_shown_again_at_the_end_count_once() -> None:
    block = "  ● adds\n\n    boom\n\n      at Object.<anonymous> (a.test.js:1:2)\n\n"
    twice = f"FAIL a.test.js\n{block}Summary of all failing tests\nFAIL a.test.js\n{block}"
    assert len(read_text(parser_of("jest"), f"{twice}\nTests:       1 failed, 1 total\n").failures) == 1


def test_each_compiler_error_of_a_suite_in_typescript_is_one() -> None:
    log = """FAIL src/a.test.ts
  ● Test suite failed to run

    src/a.test.ts:3:5 - error TS2322: Type 'number' is not assignable to type 'string'.

    3     const x: string = 1;
    src/b.ts:7:1 - error TS2304: Cannot find name 'y'.

Tests:       0 total
"""
    found = read_text(parser_of("jest"), log)
    assert [(f.kind, place(f), f.code) for f in found.failures] == [
        (FailureKind.COMPILE_ERROR, "src/a.test.ts:3:5", "TS2322"),
        (FailureKind.COMPILE_ERROR, "src/b.ts:7:1", "TS2304"),
    ]


@pytest.mark.parametrize(
    "said",
    [
        "Error: Could not find a config file based on provided values:\npath: /workspace",
        "Error: Can't find a root directory while resolving a config file path.\nProvided path to resolve: x.js",
    ],
)
def test_a_configuration_that_is_not_there_is_of_the_environment(said: str) -> None:
    at = "    at resolveConfigPath (/workspace/node_modules/jest-config/build/index.js:1:1)\n"
    assert [failure.kind for failure in read_text(parser_of("jest"), f"{said}\n{at}").failures] == [
        FailureKind.ENVIRONMENT_FAILURE
    ]
