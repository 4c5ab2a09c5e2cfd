from __future__ import annotations

import pytest

from agent_fox.verifier.ground.results import Failure, FailureKind, Parsed, TestSummary
from tests.verifier.logs.samples import Samples, kinds, messages, parser_of, places, read_text

TEST = "src/test/java/com/acme"


SAMPLES = Samples("maven", "maven", "/workspace/maven")
sample = SAMPLES.sample
text = SAMPLES.text


def by_test(parsed: Parsed) -> dict[str | None, Failure]:
    return {failure.test_name: failure for failure in parsed.failures}


def test_an_error_that_is_printed_twice_counts_once() -> None:
    parsed = sample("testcompile")
    assert places(parsed) == [f"{TEST}/XTest.java:1:43"]
    assert (parsed.failures[0].message, parsed.failures[0].symbol) == ("cannot find symbol", "method undefined()")


def test_warnings_of_the_compiler_are_no_failures() -> None:
    parsed = sample("compile_warnings")
    assert [failure.line for failure in parsed.failures] == [4, 4]
    assert [warning.column for warning in parsed.warnings] == [61, 74, 92, 119]


@pytest.mark.parametrize("name", ["rich", "rich_quiet"])
def test_what_a_test_prints_in_mavens_words_is_no_failure(name: str) -> None:
    parsed = sample(name)
    assert parsed.summary == TestSummary(tests=16, passed=4, failures=7, errors=4, skipped=1)
    assert len(parsed.failures) == 11
    assert kinds(parsed) == {"test_failure"}
    assert not [failure for failure in parsed.failures if "Fake" in str(failure)]


def test_a_failed_test_has_its_line_in_the_test_its_message_and_its_exception() -> None:
    tests = by_test(sample("rich"))
    inner = tests["com.acme.RichTest$Inner.inner"]
    assert (inner.file, inner.line, inner.is_error) == (f"{TEST}/RichTest.java", 11, False)
    assert inner.message == "multi\nline ==> expected: <a\nb> but was: <a\nc>"
    caused = tests["com.acme.RichTest.caused"]
    assert (caused.message, caused.exception, caused.is_error) == ("outer", "java.lang.RuntimeException", True)
    assert tests["com.acme.RichTest.odd(int)[2]"].line == 8
    assert tests["com.acme.BeforeTest"].message == "init boom"


@pytest.mark.parametrize("name", ["modules", "modules_quiet"])
def test_a_test_lies_in_the_folder_of_its_module(name: str) -> None:
    files = [place.partition("/src")[0] for place in places(sample(name))]
    assert files == ["api", "api", "core", "core"]


def test_a_test_that_ends_the_process_is_a_failure_of_its_own() -> None:
    crash = by_test(sample("crash"))["com.acme.CrashTest"]
    assert (crash.file, crash.line, crash.is_error) == (f"{TEST}/CrashTest.java", None, True)
    assert crash.message == "The forked VM terminated without properly saying goodbye. VM crash or System.exit called?"


def test_a_log_that_breaks_off_in_a_test_is_not_complete() -> None:
    parsed = sample("hang")
    assert not parsed.is_complete
    assert places(parsed) == [f"{TEST}/GreetingServiceTest.java:23", f"{TEST}/GreetingServiceTest.java:17"]


def test_a_result_behind_what_a_test_printed_is_read() -> None:
    assert sample("fork_timeout").summary == TestSummary(tests=1, passed=1)


@pytest.mark.parametrize(
    ("name", "kind", "place"),
    [
        ("dependency", "dependency_resolution_failure", ""),
        ("no_plugin", "dependency_resolution_failure", ""),
        ("pom_syntax", "compile_error", "pom.xml:10:1"),
        ("pom_version", "compile_error", "pom.xml:4:27"),
        ("no_pom", "environment_failure", ""),
        ("release", "environment_failure", ""),
        ("fork_timeout", "timeout", ""),
        ("no_tests", "unknown", ""),
    ],
)
def test_what_stops_maven_is_one_failure(name: str, kind: str, place: str) -> None:
    parsed = sample(name)
    assert (kinds(parsed), places(parsed)) == ({kind}, [place])


def test_a_test_that_passes_when_it_is_repeated_is_no_failure() -> None:
    parsed = text(
        "[INFO] --- maven-surefire-plugin:3.2.5:test (default-test) @ a ---",
        "[INFO] Running a.FlakyTest",
        "[ERROR] Tests run: 1, Failures: 1, Errors: 0, Skipped: 0, Time elapsed: 0.1 s <<< FAILURE! -- in a.FlakyTest",
        "[ERROR] a.FlakyTest.flaky -- Time elapsed: 0.1 s <<< FAILURE!",
        "org.opentest4j.AssertionFailedError: no",
        "\tat a.FlakyTest.flaky(FlakyTest.java:9)",
        "",
        "[INFO] Results:",
        "[WARNING] Flakes: ",
        "[WARNING] a.FlakyTest.flaky",
        "[ERROR]   Run 1: FlakyTest.flaky:9 no",
        "[INFO]   Run 2: PASS",
        "[WARNING] Tests run: 1, Failures: 0, Errors: 0, Skipped: 0, Flakes: 1",
        "[INFO] BUILD SUCCESS",
    )
    assert parsed == Parsed(summary=TestSummary(tests=1, passed=1))


def test_an_old_surefire_names_the_method_first_and_prints_no_levels() -> None:
    parsed = text(
        "Running a.OldTest",
        "Tests run: 1, Failures: 1, Errors: 0, Skipped: 0, Time elapsed: 0,1 sec <<< FAILURE!",
        "adds(a.OldTest)  Time elapsed: 0.003 sec  <<< FAILURE!",
        "java.lang.AssertionError: expected:<1> but was:<2>",
        "\tat a.OldTest.adds(OldTest.java:7)",
        "",
        "Results :",
        "",
        "Failed tests:   adds(a.OldTest): expected:<1> but was:<2>",
        "",
        "Tests run: 1, Failures: 1, Errors: 0, Skipped: 0",
    )
    assert by_test(parsed)["a.OldTest.adds"].line == 7
    assert parsed.summary == TestSummary(tests=1, failures=1)


def test_violations_of_style_and_format_are_their_own_kinds() -> None:
    parsed = text(
        "[ERROR] src/main/java/a/A.java:[5,13] (naming) MemberName: Name 'X' must match pattern.",
        "[WARN] /workspace/src/main/java/a/A.java:7: Missing a Javadoc comment. [MissingJavadocMethod]",
        "[INFO] PMD Failure: a.A:9 Rule:UnusedPrivateField Priority:3 Avoid unused private fields such as 'x'..",
        "[ERROR] High: Null pointer dereference in a.A.f() [a.A, a.A] At A.java:[line 12] NP_ALWAYS_NULL",
        "[ERROR] Failed to execute goal com.diffplug.spotless:spotless-maven-plugin:2.43.0:check (default-cli)"
        " on project a: The following files had format violations:",
        "[ERROR]     src/main/java/a/B.java",
        "[ERROR]         @@ -1,5 +1,5 @@",
        "[ERROR] Run 'mvn spotless:apply' to fix these violations. -> [Help 1]",
    )
    assert places(parsed) == [
        "src/main/java/a/A.java:5:13",
        "src/main/java/a/A.java:9",
        "src/main/java/a/A.java:12",
        "src/main/java/a/B.java",
    ]
    assert [failure.kind for failure in parsed.failures][-1] is FailureKind.FORMAT_FAILURE
    assert [(warning.line, warning.code) for warning in parsed.warnings] == [(7, "MissingJavadocMethod")]


def test_a_windows_path_below_the_root_is_relative() -> None:
    parsed = read_text(parser_of("maven"), "[ERROR] /C:/work/src/main/java/A.java:[3,5] ';' expected", "C:/work")
    assert places(parsed) == ["src/main/java/A.java:3:5"]


def test_a_goal_whose_failures_are_not_named_still_fails() -> None:
    line = "[ERROR] Failed to execute goal x:maven-surefire-plugin:3:test (t) on project a: There are test failures."
    parsed = text(line, "[ERROR] -> [Help 1]")
    assert (kinds(parsed), messages(parsed)) == ({"test_failure"}, ["There are test failures."])


def test_an_error_that_javac_gives_no_line_for_names_its_file() -> None:
    error = "[ERROR] /workspace/src/main/java/p/A.java: warnings found and -Werror specified"
    goal = "[ERROR] Failed to execute goal o.m.p:maven-compiler-plugin:3:compile (d) on project a: Compilation failure"
    parsed = text(error, "[INFO] 1 error", goal, error, "[ERROR] -> [Help 1]")
    assert places(parsed) == ["src/main/java/p/A.java"]
    assert messages(parsed) == ["warnings found and -Werror specified"]


def test_classes_without_end_are_all_counted() -> None:
    lines = [
        line
        for number in range(2_500)
        for line in (
            f"[INFO] Running a.B{number}Test",
            f"[INFO] Tests run: 2, Failures: 0, Errors: 0, Skipped: 1, Time elapsed: 0.1 s -- in a.B{number}Test",
        )
    ]
    assert text(*lines).summary == TestSummary(tests=5_000, passed=2_500, skipped=2_500)
