"""Go's events: packages run side by side, sub-tests count instead of parents, and imitations count for nothing."""

from __future__ import annotations

import json

import pytest

from agent_fox.verifier.ground.results import FailureKind, TestSummary
from agent_fox.verifier.logs.frames import in_folder
from agent_fox.verifier.logs.go.events import GO_JSON
from agent_fox.verifier.logs.go.places import module_of
from tests.verifier.logs.at_hand import kept, places, read_lines, told

PARSER = GO_JSON


def events(*rows: tuple[str, str, str], package: str = "example.com/lw") -> str:
    """A log of (action, test, output)."""
    return "".join(
        json.dumps({"Action": action, "Package": package, "Test": test, "Output": output}) + "\n"
        for action, test, output in rows
    )


def test_a_real_run_of_many_packages() -> None:
    parsed = read_lines(PARSER, kept("go-multi.json"), "/workspace/go/multi")
    assert [told(failure) for failure in parsed.failures] == [
        (None, "broken/b.go", 4, "undefined: undefinedCall"),
        (None, "broken/b.go", 5, "cannot use 5 (untyped int constant) as string value in return statement"),
        ("TestUp", "text/text_test.go", 8, "not up"),
        ("TestLog", "calc/calc_test.go", 11, "second"),
        ("TestHelper", "calc/calc_test.go", 21, "got 4"),
        ("TestTable/c/d/inner", "calc/calc_test.go", 28, "bad case"),
        ("TestPanic", "calc/calc.go", 4, "panic: runtime error: integer divide by zero"),
        (None, "initp/i_test.go", 3, "panic: init bad"),
        ("TestHang", "hang/h_test.go", 3, "panic: test timed out after 1s"),
    ]
    assert parsed.failures[-1].kind is FailureKind.TIMEOUT
    assert parsed.summary == TestSummary(tests=8, passed=2, failures=6)
    assert parsed.is_complete


def test_a_test_that_prints_another_tests_end_does_not_make_it_exist() -> None:
    assert "TestImitation" in kept("go-multi.json").decode()
    parsed = read_lines(PARSER, kept("go-multi.json"), "/workspace/go/multi")
    assert "TestImitation" not in [failure.test_name for failure in parsed.failures]


def test_a_parent_that_fails_by_itself_is_a_failure() -> None:
    log = events(
        ("run", "TestA", ""),
        ("run", "TestA/x", ""),
        ("pass", "TestA/x", ""),
        ("output", "TestA", "    a_test.go:9: got 1, want 2\n"),
        ("fail", "TestA", ""),
        ("fail", "", ""),
    )
    parsed = read_lines(PARSER, log)
    assert [told(failure) for failure in parsed.failures] == [("TestA", "a_test.go", 9, "got 1, want 2")]
    assert parsed.summary == TestSummary(tests=2, passed=1, failures=1)


def test_the_line_that_says_what_is_wrong_wins_over_a_log_line() -> None:
    log = events(
        ("run", "TestA", ""),
        ("output", "TestA", "    a_test.go:5: starting up\n"),
        ("output", "TestA", "    a_test.go:6: got 1, want 2\n"),
        ("output", "TestA", "    a_test.go:7: cleaning up\n"),
        ("fail", "TestA", ""),
    )
    assert places(read_lines(PARSER, log)) == [("a_test.go", 6)]


def test_testify_names_file_and_error_apart() -> None:
    log = events(
        ("run", "TestA", ""),
        ("output", "TestA", "    a_test.go:12: \n"),
        ("output", "TestA", "        \tError Trace:\t/workspace/pkg/a_test.go:12\n"),
        ("output", "TestA", "        \tError:      \tNot equal: \n"),
        ("fail", "TestA", ""),
    )
    assert [told(failure)[1:] for failure in read_lines(PARSER, log).failures] == [("pkg/a_test.go", 12, "Not equal:")]


def test_newer_builds_tell_compile_errors_as_events() -> None:
    log = (
        '{"ImportPath":"example.com/lw","Action":"build-output","Output":"# example.com/lw\\n"}\n'
        '{"ImportPath":"example.com/lw","Action":"build-output","Output":"./x.go:3:5: undefined: y\\n"}\n'
        '{"ImportPath":"example.com/lw","Action":"build-fail"}\n'
        '{"Action":"fail","Package":"example.com/lw","Elapsed":0,"FailedBuild":"example.com/lw"}\n'
    )
    assert PARSER.recognises(log)
    parsed = read_lines(PARSER, log)
    assert [(f.kind, f.file, f.line, f.column) for f in parsed.failures] == [(FailureKind.COMPILE_ERROR, "x.go", 3, 5)]


def test_a_missing_module_is_a_dependency() -> None:
    line = "n.go:2:8: no required module provides package example.org/x; to add it:\n"
    assert read_lines(PARSER, line).failures[0].kind is FailureKind.DEPENDENCY_RESOLUTION_FAILURE


def test_a_run_that_was_cut_off_is_not_complete() -> None:
    log = events(("run", "TestA", ""), ("output", "TestA", "    a_test.go:5: x\n")) + '{"Action":"fa'
    parsed = read_lines(PARSER, log)
    assert (parsed.failures, parsed.is_complete) == ((), False)


def test_text_output_is_not_taken_for_events() -> None:
    assert not PARSER.recognises('=== RUN   TestA\n{"Action":"fail","Package":"x"}\n')


@pytest.mark.parametrize(
    ("packages", "module"),
    [
        (["example.com/lw"], "example.com/lw"),
        (["example.com/lw/sub"], "example.com/lw"),
        (["example.com/lw/a", "example.com/lw/b/c"], "example.com/lw"),
        (["github.com/o/r/internal/a", "github.com/o/r/internal/b"], "github.com/o/r"),
        (["github.com/o/r/v2/a"], "github.com/o/r/v2"),
        (["lw/a", "lw"], "lw"),
    ],
)
def test_the_module_is_what_packages_have_in_common(packages: list[str], module: str) -> None:
    assert module_of(packages) == module


def test_a_file_without_a_folder_lies_in_its_package() -> None:
    assert in_folder("a_test.go", "sub") == "sub/a_test.go"
    assert in_folder("a_test.go", "") == "a_test.go"
    assert in_folder("other/a.go", "sub") == "other/a.go"


def test_events_below_a_package_that_was_not_built_are_read() -> None:
    head = "# example.com/a\n./a_test.go:5:28: undefined: nope\nFAIL\texample.com/a [build failed]\n"
    log = head + events(
        ("run", "TestS", ""),
        ("output", "TestS", "    s_test.go:5: s\n"),
        ("fail", "TestS", ""),
        ("fail", "", ""),
        package="example.com/a/sub",
    ).replace('{"Action": ', '{"Action":')
    assert PARSER.recognises(log)
    assert [told(failure)[:3] for failure in read_lines(PARSER, log).failures] == [
        (None, "a_test.go", 5),
        ("TestS", "sub/s_test.go", 5),
    ]


def test_colours_within_what_a_test_printed_are_gone() -> None:
    log = events(
        ("run", "TestA", ""),
        ("output", "TestA", "    a_test.go:5: \x1b[31mbad\x1b[0m\n"),
        ("fail", "TestA", ""),
        ("fail", "", ""),
    )
    (failure,) = read_lines(PARSER, log).failures
    assert (failure.message, failure.evidence) == ("bad", "    a_test.go:5: bad")


def test_a_panic_that_a_passing_test_prints_takes_nothing_from_the_next_test() -> None:
    event = '{"Action":"%s","Package":"example.com/a","Test":"%s"%s}'
    log = [
        event % ("run", "TestFine", ""),
        event % ("output", "TestFine", ',"Output":"panic: only printed\\n"'),
        event % ("pass", "TestFine", ""),
        event % ("run", "TestOdd", ""),
        event % ("output", "TestOdd", ',"Output":"    a_test.go:9: got 1, want 2\\n"'),
        event % ("fail", "TestOdd", ""),
        '{"Action":"fail","Package":"example.com/a"}',
    ]
    (failure,) = read_lines(GO_JSON, "\n".join(log)).failures
    assert (failure.test_name, failure.line, failure.message) == ("TestOdd", 9, "got 1, want 2")
