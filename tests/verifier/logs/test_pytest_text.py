from __future__ import annotations

from dataclasses import replace

import pytest

from agent_fox.verifier.ground.results import Failure, FailureKind, Parsed, TestSummary
from agent_fox.verifier.logs.gathering import STILL_RUNNING
from agent_fox.verifier.logs.status import Ending, Readings, outcome_of
from tests.verifier.logs.samples import Samples, messages, parser_of, place, places, read_text

ROOT = "/workspace/pyt"
COUNTS = TestSummary(tests=40, passed=4, failures=28, errors=6, skipped=1, xfailed=1)


SAMPLES = Samples("pytest", "pytest", ROOT)
sample = SAMPLES.sample


def by_test(parsed: Parsed) -> dict[tuple[str | None, bool], str]:
    return {(failure.test_name, failure.is_error): place(failure) for failure in parsed.failures}


def named(parsed: Parsed, test_name: str) -> Failure:
    return next(failure for failure in parsed.failures if failure.test_name == f"tests/test_one.py::{test_name}")


def test_a_failed_assertion_has_its_place_its_message_and_the_name_of_its_test() -> None:
    failure = named(sample("long"), "test_add")
    assert replace(failure, evidence="") == Failure(
        FailureKind.TEST_FAILURE,
        "assert -1 == 5",
        file="tests/test_one.py",
        line=11,
        test_name="tests/test_one.py::test_add",
        exception="AssertionError",
    )
    assert failure.evidence == "assert -1 == 5\n+  where -1 = add(2, 3)"


def test_the_counts_are_those_of_the_last_line() -> None:
    assert sample("long").summary == COUNTS


@pytest.mark.parametrize("name", ["short", "native", "q", "v", "s", "xdistv"])
def test_each_way_of_printing_names_the_same_tests_and_places(name: str) -> None:
    assert by_test(sample(name)) == by_test(sample("long"))
    assert sample(name).summary == COUNTS


def test_the_long_format_of_pytest_6_names_the_same_places() -> None:
    assert set(by_test(sample("old-q")).values()) == set(by_test(sample("long")).values())


@pytest.mark.parametrize("name", ["long", "s", "rN", "line"])
def test_what_a_test_printed_is_no_failure_though_it_looks_like_one(name: str) -> None:
    assert not [failure for failure in sample(name).failures if "liar" in (failure.test_name or failure.message)]


def test_without_a_summary_the_blocks_are_the_failures() -> None:
    found = sample("rN")
    assert len(found.failures) == 34
    assert sorted(filter(None, places(found))) == sorted(place(f) for f in sample("long").failures if f.line)


def test_one_line_a_failure_keeps_its_place() -> None:
    assert place(named(sample("line"), "test_deep")) == "src.py:6"
    assert place(named(sample("line"), "test_add")) == "tests/test_one.py:11"


@pytest.mark.parametrize(
    ("test", "where", "message"),
    [
        ("test_deep", "src.py:6", "ValueError: too deep"),
        ("test_helper", "tests/test_one.py:7", "AssertionError: helper says 4"),
        ("test_chain", "tests/test_one.py:52", "RuntimeError: outer"),
        (
            "test_exit_in_stdlib",
            "tests/test_one.py:115",
            "json.decoder.JSONDecodeError: Expecting property name enclosed in double quotes: line 1 column 2 (char 1)",
        ),
        ("test_teardown", "conftest.py:6", "RuntimeError: teardown blew"),
        ("test_unknown_fixture", "tests/test_one.py:81", "fixture 'does_not_exist' not found"),
        ("test_missing", "conftest.py:8", "fixture 'nonexistent_fixture' not found"),
        ("test_param[a - b]", "tests/test_one.py:45", "AssertionError: assert 'a - b' == 'never'"),
        ("test_param[x::y]", "tests/test_one.py:45", "AssertionError: assert 'x::y' == 'never'"),
        ("test_xpass_strict", "tests/test_one.py", "[XPASS(strict)]"),
        ("test_fail_notrace", "tests/test_one.py", "called fail no trace"),
        ("TestClass::TestInner::test_in", "tests/test_one.py:135", "SystemError: inner"),
        ("TestUT::test_sub", "tests/test_one.py:145", "AssertionError: 1 == 1"),
    ],
)
def test_a_failure_is_where_the_code_of_the_project_was_last(test: str, where: str, message: str) -> None:
    failure = named(sample("long"), test)
    assert (place(failure), failure.message) == (where, message)


def test_what_breaks_around_a_test_is_an_error_of_it() -> None:
    errors = [failure for failure in sample("long").failures if failure.is_error]
    assert len(errors) == 6
    assert {failure.kind for failure in errors} == {FailureKind.TEST_FAILURE}


def test_an_exception_group_is_named_at_the_line_that_raised_it() -> None:
    group = next(f for f in sample("long").failures if (f.test_name or "").endswith("test_exc_group"))
    assert (place(group), group.exception) == ("tests/sub/test_two.py:8", "ExceptionGroup")


def test_a_path_may_hold_spaces() -> None:
    assert "tests/with space/test_sp.py:2" in places(sample("long"))


def test_files_that_cannot_be_collected_are_compile_errors_of_no_test() -> None:
    found = sample("collect", "/workspace/pcol")
    assert places(found) == ["d2/test_same.py", "test_as.py:2", "helper_z.py:1", "test_par.py"]
    assert {(failure.kind, failure.test_name) for failure in found.failures} == {(FailureKind.COMPILE_ERROR, None)}
    assert found.summary == TestSummary(errors=4)


def test_a_broken_conftest_is_a_compile_error_there() -> None:
    (failure,) = sample("conftest", "/workspace/pconf").failures
    assert (failure.kind, place(failure)) == (FailureKind.COMPILE_ERROR, "conftest.py:1")
    assert failure.message == "ModuleNotFoundError: No module named 'nope_x'"


def test_an_internal_error_is_placed_in_the_plugin_that_raised_it() -> None:
    (failure,) = sample("internal", "/workspace/pint").failures
    assert (failure.kind, place(failure), failure.message) == (
        FailureKind.UNKNOWN,
        "conftest.py:2",
        "ValueError: plugin bug",
    )


def test_a_doctest_names_what_it_expected_and_got() -> None:
    (failure,) = sample("doctest", "/workspace/pdoc").failures
    assert (place(failure), failure.test_name, failure.message) == ("m.py:3", "m.py::m.add", "Expected: 2 Got: 0")


@pytest.mark.parametrize(
    ("name", "kind"), [("timeout", FailureKind.TEST_FAILURE), ("timeoutthread", FailureKind.TIMEOUT)]
)
def test_a_test_out_of_time_is_placed_at_the_line_it_hung_on(name: str, kind: FailureKind) -> None:
    (failure,) = sample(name, "/workspace/pdoc").failures
    assert (failure.kind, place(failure)) == (kind, "test_t.py:2")


@pytest.mark.parametrize(
    ("name", "message"),
    [("deselect", "no tests ran"), ("missingfile", "file or directory not found: nope.py")],
)
def test_a_run_of_no_tests_says_why(name: str, message: str) -> None:
    found = sample(name, "/workspace/pdoc")
    assert (messages(found), found.summary) == ([message], TestSummary())


def test_a_run_cut_short_is_not_complete_and_knows_what_v_had_named() -> None:
    found = read_text(
        parser_of("pytest"), "tests/test_a.py::test_x FAILED      [ 10%]\ntests/test_a.py::test_hang ", "/workspace"
    )
    assert not found.is_complete
    assert [(failure.file, failure.test_name) for failure in found.failures] == [
        ("tests/test_a.py", "tests/test_a.py::test_x")
    ]


def test_a_crash_of_the_interpreter_is_placed_in_the_test() -> None:
    log = (
        "Fatal Python error: Segmentation fault\n\nCurrent thread 0x1 (most recent call first):\n"
        '  File "/workspace/lib.py", line 3 in poke\n  File "/workspace/test_a.py", line 9 in test_it\n'
    )
    (failure,) = read_text(parser_of("pytest"), log).failures
    assert (failure.message, place(failure)) == ("Fatal Python error: Segmentation fault", "lib.py:3")


def test_usage_errors_printed_by_a_passing_test_are_none() -> None:
    assert read_text(parser_of("pytest"), ".pytest: error: nonsense\n\n1 passed in 0.01s").failures == ()


def test_sub_tests_that_fail_alike_all_count() -> None:
    log = """=================================== FAILURES ===================================
_____________________________ T.test_sub (i=1) _____________________________
>   self.assertTrue(0)
E   AssertionError: False is not true

test_s.py:5: AssertionError
_____________________________ T.test_sub (i=2) _____________________________
>   self.assertTrue(0)
E   AssertionError: False is not true

test_s.py:5: AssertionError
=========================== short test summary info ============================
SUBFAILED(i=1) test_s.py::T::test_sub - AssertionError: False is not true
SUBFAILED(i=2) test_s.py::T::test_sub - AssertionError: False is not true
2 failed, 1 passed in 0.1s"""
    found = read_text(parser_of("pytest"), log)
    assert [failure.test_name for failure in found.failures] == ["test_s.py::T::test_sub", "test_s.py::T::test_sub #2"]
    assert places(found) == ["test_s.py:5", "test_s.py:5"]


@pytest.mark.parametrize(
    ("last", "file", "test"),
    [
        ("tests/test_a.py::test_b ", "tests/test_a.py", "tests/test_a.py::test_b"),
        ("tests/test_a.py::TestC::test_d[x y] ", "tests/test_a.py", "tests/test_a.py::TestC::test_d[x y]"),
        ("tests/test_a.py ..F", "tests/test_a.py", None),
        ("tests/test_a.py ", "tests/test_a.py", None),
    ],
)
def test_what_a_log_without_an_end_names_last_is_what_hung(last: str, file: str, test: str | None) -> None:
    log = f"===== test session starts =====\n\ntests/test_0.py::test_a PASSED [ 10%]\n{last}"
    found = read_text(parser_of("pytest"), log)
    assert [(one.message, one.file, one.test_name) for one in found.failures] == [(STILL_RUNNING, file, test)]
    readings = Readings(Parsed(), found, ())
    hung = outcome_of(Ending("pytest", None, has_timed_out=True), readings)
    assert [(one.kind, one.file, one.test_name) for one in hung.parsed.failures] == [(FailureKind.TIMEOUT, file, test)]


def test_a_log_that_ends_between_two_tests_names_none() -> None:
    log = "===== test session starts =====\ntests/test_a.py::test_b PASSED [ 50%]\n"
    assert read_text(parser_of("pytest"), log).failures == ()
