"""Beside compilers: clang-tidy, clang-format, sanitizers, and CTest's tests with what they printed."""

from __future__ import annotations

from agent_fox.verifier.ground.results import TestSummary
from tests.verifier.logs.samples import messages, parser_of, place, places, read, read_text

CTEST = """    Start 1: bad
1/3 Test #1: bad ..............................Subprocess aborted***Exception:   0.00 sec
hello
t2: /workspace/src/t2.c:3: main: Assertion `1==2' failed.

    Start 2: crash
2/3 Test #2: crash ............................***Exception: SegFault  0.00 sec
    Start 3: good
3/3 Test #3: good .............................   Passed    0.00 sec

33% tests passed, 2 tests failed out of 3
"""


def test_checks_are_lint_formatting_is_format_and_errors_of_the_compiler_stay_its_own() -> None:
    found = read(parser_of("gcc"), "clang_tools/tidy", "/workspace")
    assert [(failure.kind.value, place(failure)) for failure in found.failures] == [
        ("lint_failure", "src/a.c:3:5"),
        ("compile_error", "src/a.c:12:3"),
        ("format_failure", "src/b.c:1:10"),
    ]
    assert [warning.code for warning in found.warnings] == ["misc-no-recursion"]


def test_a_sanitizers_report_is_told_where_the_project_was() -> None:
    found = read(parser_of("gcc"), "c_build/asan", "/workspace")
    assert (places(found), messages(found)) == (["src/asan.c:2"], ["AddressSanitizer: heap-buffer-overflow"])


def test_a_failed_test_of_ctest_has_the_place_of_its_assertion() -> None:
    found = read_text(parser_of("gcc"), CTEST)
    assert [(failure.test_name, place(failure)) for failure in found.failures] == [("bad", "src/t2.c:3"), ("crash", "")]
    assert found.summary == TestSummary(tests=3, passed=1, failures=2)
