from __future__ import annotations

import pytest

from agent_fox.verifier.ground.results import Parsed, TestSummary
from tests.verifier.logs.samples import Samples, kinds, messages, places

SAMPLES = Samples("go", "go", "/workspace/go")
sample = SAMPLES.sample
text = SAMPLES.text


def test_the_compilers_errors_have_places() -> None:
    assert places(sample("build"))[:3] == ["comp/c.go:3:8", "comp/c.go:4:8", "comp/c.go:7:14"]
    assert kinds(sample("build")) == {"compile_error"}


def test_what_vet_finds_is_lint_and_what_does_not_compile_is_not() -> None:
    assert [failure.kind.value for failure in sample("vet").failures] == [
        "lint_failure",
        "compile_error",
        "compile_error",
    ]


@pytest.mark.parametrize("name", ["testnopanic", "testnopanicv"])
def test_leaf_tests_fail_and_their_parents_do_not(name: str) -> None:
    parsed = sample(name)
    assert [(failure.test_name, failure.line) for failure in parsed.failures] == [
        ("TestHelperLog", 16),
        ("TestFatalNested/outer/inner_one", 25),
        ("TestPar/q", 32),
        ("TestUnprinted", None),
        ("FuzzX/seed#0", 34),
        ("ExampleS", None),
    ]
    assert messages(parsed)[1] == "boom inner"


def test_a_test_lies_in_the_folder_of_its_package() -> None:
    assert {failure.file for failure in sample("testnopanic").failures} == {"sub/s_test.go", None}


def test_a_heading_that_names_an_absolute_path_as_a_package_is_survived() -> None:
    log = "# /etc/hosts", "--- FAIL: TestA (0.00s)", "    a_test.go:3: no", "FAIL", "FAIL\texample.com/x/sub\t0.1s"
    assert messages(text(*log))[0] == "no"


def test_counts_need_the_names_of_tests_that_passed() -> None:
    assert sample("testnopanicv").summary == TestSummary(tests=9, passed=2, failures=6, skipped=1)
    assert sample("testnopanic").summary is None


def test_a_panic_is_told_where_the_project_threw_it() -> None:
    panic = sample("testv").failures[-1]
    assert (panic.file, panic.line, panic.test_name) == ("sub/s.go", 3, "TestPanic")
    assert panic.message == "panic: runtime error: integer divide by zero"


def test_a_result_that_a_test_printed_is_none_where_go_names_what_it_runs() -> None:
    assert "TestFake" not in {failure.test_name for failure in sample("testv").failures}


def test_a_test_that_takes_too_long_is_a_timeout_with_its_line() -> None:
    parsed = sample("timeout")
    assert (kinds(parsed), places(parsed), parsed.failures[0].test_name) == (
        {"timeout"},
        ["sub/s_test.go:18"],
        "TestSlow",
    )


def test_a_process_that_ends_on_its_own_is_a_failure() -> None:
    assert messages(sample("exit")) == ["exit status 3"]
    assert sample("exitv").failures[0].test_name == "TestExit"


@pytest.mark.parametrize(
    ("name", "kind"),
    [("dep", "dependency_resolution_failure"), ("cyc", "compile_error"), ("missingpkg", "environment_failure")],
)
def test_what_stops_go_is_one_failure(name: str, kind: str) -> None:
    assert [failure.kind.value for failure in sample(name).failures] == [kind]


def test_no_tests_are_no_failure() -> None:
    assert sample("none") == Parsed()


def test_a_log_that_breaks_off_in_a_test_is_not_complete() -> None:
    parsed = text("=== RUN   TestA", "--- PASS: TestA (0.00s)", "=== RUN   TestHang", "waiting")
    assert not parsed.is_complete


def test_a_folder_follows_from_the_root_package() -> None:
    log = ("--- FAIL: TestA (0.00s)", "    a_test.go:3: want 1", "FAIL", "FAIL\tacme.dev/team/app/in/a\t0.1s")
    assert places(text("?   \tacme.dev/team/app\t[no test files]", *log)) == ["in/a/a_test.go:3"]


def test_linters_name_their_rules() -> None:
    parsed = text("a/a.go:6:12: Error return value is not checked (errcheck)", "a/b.go:1:2: unused value (SA4017)")
    assert [(failure.kind.value, failure.code) for failure in parsed.failures] == [
        ("lint_failure", "errcheck"),
        ("lint_failure", "SA4017"),
    ]


def test_a_test_that_ran_twice_failed_if_it_failed_once() -> None:
    failed = ("=== RUN   TestA", "    a_test.go:9: got 1, want 2", "--- FAIL: TestA (0.00s)")
    passed = ("=== RUN   TestA", "    a_test.go:8: fine", "--- PASS: TestA (0.00s)")
    for runs in (failed + passed, passed + failed):
        parsed = text(*runs, "FAIL", "FAIL\texample.com/a\t0.1s")
        assert messages(parsed) == ["got 1, want 2"]
        assert parsed.summary == TestSummary(tests=1, failures=1)


def test_a_panic_after_a_test_that_passed_is_not_that_tests() -> None:
    parsed = text("=== RUN   TestA", "    a_test.go:8: fine", "--- PASS: TestA (0.00s)", "panic: late")
    assert [(failure.test_name, failure.message) for failure in parsed.failures] == [(None, "panic: late")]
