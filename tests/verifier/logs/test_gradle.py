from __future__ import annotations

import pytest

from agent_fox.verifier.ground.results import TestSummary
from tests.verifier.logs.samples import Samples, kinds, messages, places

TEST = "src/test/java/com/acme/GTest.java"


SAMPLES = Samples("gradle", "gradle", "/workspace/gradle")
sample = SAMPLES.sample
text = SAMPLES.text


def test_an_error_that_is_glued_to_the_name_of_its_task_is_found() -> None:
    parsed = sample("compile_glued")
    assert places(parsed) == ["src/main/java/com/acme/G.java:2:54", "src/main/java/com/acme/G.java:3:13"]
    assert parsed.failures[1].symbol == "method undefinedCall()"


def test_warnings_of_the_compiler_are_kept_apart() -> None:
    assert [warning.code for warning in sample("lint").warnings] == ["rawtypes", "deprecation"]


@pytest.mark.parametrize("name", ["tests_short", "tests_full"])
def test_failed_tests_have_their_places_whether_told_in_short_or_in_full(name: str) -> None:
    parsed = sample(name)
    assert places(parsed) == [f"{TEST}:10", f"{TEST}:17", f"{TEST}:15", f"{TEST}:7"]
    assert [failure.is_error for failure in parsed.failures] == [True, True, False, False]
    assert parsed.summary == TestSummary(tests=6, passed=1, failures=4, skipped=1)
    assert parsed.failures[3].test_name == "com.acme.GTest.rejects"


def test_messages_are_those_of_the_exceptions() -> None:
    assert messages(sample("tests_full"))[1:3] == ["outer", "wrong a expected:<2> but was:<3>"]


def test_a_file_lies_in_the_folder_of_its_project() -> None:
    assert {place.partition("/")[0] for place in places(sample("projects"))} == {"api", "core"}


@pytest.mark.parametrize(
    ("name", "kind", "place"),
    [
        ("dependency", "dependency_resolution_failure", ""),
        ("no_task", "environment_failure", ""),
        ("script_syntax", "compile_error", "build.gradle:4"),
        ("script_method", "compile_error", "build.gradle:3"),
    ],
)
def test_what_stops_gradle_is_one_failure(name: str, kind: str, place: str) -> None:
    parsed = sample(name)
    assert (kinds(parsed), places(parsed)) == ({kind}, [place])


def test_errors_that_new_versions_print_again_at_the_end_count_once() -> None:
    error = ("/workspace/src/main/java/A.java:3: error: ';' expected", "int a", "     ^")
    parsed = text(
        "> Task :compileJava FAILED",
        *error,
        "1 error",
        "",
        "* What went wrong:",
        "Execution failed for task ':compileJava'.",
        "> Compilation failed; see the compiler output below.",
        *(f"  {line}" for line in error),
        "  1 error",
        "",
        "* Try:",
    )
    assert places(parsed) == ["src/main/java/A.java:3:6"]


def test_a_class_without_its_package_is_found_by_its_frames() -> None:
    parsed = text(
        "> Task :app:integrationTest",
        "CartTest > Inner > adds() FAILED",
        "    org.opentest4j.AssertionFailedError: expected: <1> but was: <2>",
        "        at app//org.junit.jupiter.api.Assertions.assertEquals(Assertions.java:531)",
        "        at app//com.shop.CartTest$Inner.adds(CartTest.java:7)",
    )
    assert places(parsed) == ["app/src/integrationTest/java/com/shop/CartTest.java:7"]
    assert parsed.failures[0].test_name == "CartTest.Inner.adds()"


def test_kotlin_and_style_checks_have_their_places() -> None:
    parsed = text(
        "> Task :compileKotlin FAILED",
        "e: file:///workspace/src/main/kotlin/A.kt:3:5 Unresolved reference: x",
        "e: /workspace/src/main/kotlin/B.kt: (4, 6): Type mismatch",
        "w: file:///workspace/src/main/kotlin/A.kt:9:1 Variable 'y' is never used",
        "> Task :checkstyleMain FAILED",
        "[ant:checkstyle] [ERROR] /workspace/src/main/java/A.java:5:13: Missing a Javadoc comment. [JavadocMethod]",
    )
    assert sorted(places(parsed)) == [
        "src/main/java/A.java:5:13",
        "src/main/kotlin/A.kt:3:5",
        "src/main/kotlin/B.kt:4:6",
    ]
    assert [warning.line for warning in parsed.warnings] == [9]


def test_formatting_is_told_by_file() -> None:
    parsed = text(
        "* What went wrong:",
        "Execution failed for task ':spotlessJavaCheck'.",
        "> The following files had format violations:",
        "      src/main/java/A.java",
        "          @@ -1 +1 @@",
        "  Run './gradlew :spotlessApply' to fix these violations.",
        "* Try:",
    )
    assert (kinds(parsed), places(parsed)) == ({"format_failure"}, ["src/main/java/A.java"])


def test_a_log_without_an_end_is_not_complete() -> None:
    assert not text(":compileJava", ":test").is_complete
    assert sample("tests_short").is_complete
