from __future__ import annotations

import pytest

from agent_fox.verifier.ground.results import TestSummary
from tests.verifier.logs.samples import Samples, kinds, messages, places

SAMPLES = Samples("cargo", "cargo", "/workspace/rs")
sample = SAMPLES.sample
text = SAMPLES.text


def test_errors_have_the_place_of_their_first_arrow_and_summaries_are_none() -> None:
    parsed = sample("c1")
    assert places(parsed) == [f"src/lib.rs:{at}" for at in ("2:1", "8:45", "6:26", "7:26", "4:70", "4:78", "5:55")]
    assert parsed.failures[0].code == "E0583"
    assert [(warning.line, warning.code) for warning in parsed.warnings] == [(1, "unused_imports")]


def test_an_error_of_two_targets_counts_once() -> None:
    assert len(sample("c2").failures) == 3


def test_the_short_format_is_read_too() -> None:
    assert places(sample("short")) == ["src/lib.rs:2:79"]
    assert len(sample("short").warnings) == 3


def test_warnings_alone_are_no_failure() -> None:
    codes = [warning.code for warning in sample("warn").warnings]
    assert sample("warn").failures == ()
    assert codes == ["unused_imports", "unused_mut", "unused_variables", "dead_code"]


def test_what_clippy_finds_is_lint() -> None:
    assert [failure.code for failure in sample("clippy").failures if failure.kind.value == "lint_failure"] == [
        "clippy::len_zero"
    ]


@pytest.mark.parametrize("name", ["testnf", "nocap"])
def test_a_failed_test_is_placed_where_it_panicked(name: str) -> None:
    by_test = {failure.test_name: failure for failure in sample(name).failures}
    panics = by_test["tests::panics"]
    assert (panics.file, panics.line, panics.message) == ("src/lib.rs", 10, "attempt to divide by zero")
    assert by_test["tests::bad"].message == "assertion `left == right` failed: math\nmore\n  left: 3\n right: 4"
    assert by_test["tests::thr"].column == 74
    assert by_test["tests::shouldp"].line == 24
    assert "tests::fake" not in by_test


def test_counts_are_of_all_targets() -> None:
    assert sample("testnf").summary == TestSummary(tests=17, passed=2, failures=13, skipped=2)


def test_documentation_tests_have_places() -> None:
    docs = {failure.test_name: failure.line for failure in sample("testnf").failures if failure.test_name}
    assert (docs["src/lib.rs - add (line 3)"], docs["src/lib.rs - z (line 11)"]) == (5, 13)


@pytest.mark.parametrize(
    ("name", "kind", "place"),
    [
        ("dep", "dependency_resolution_failure", ""),
        ("notoml", "environment_failure", ""),
        ("toml", "compile_error", "Cargo.toml:7:5"),
        ("buildrs", "compile_error", "build.rs:1:12"),
        ("link", "compile_error", "src/main.rs:1"),
        ("fmt", "format_failure", ""),
    ],
)
def test_what_stops_cargo_is_one_failure(name: str, kind: str, place: str) -> None:
    parsed = sample(name)
    assert kinds(parsed) == {kind}
    assert name == "fmt" or places(parsed) == [place]


def test_an_old_rust_prints_the_place_of_a_panic_behind_its_message() -> None:
    parsed = text(
        "running 1 test",
        "failures:",
        "---- tests::adds stdout ----",
        "thread 'tests::adds' panicked at 'assertion failed: `(left == right)`",
        "  left: `1`,",
        " right: `2`', src/lib.rs:9:5",
        "note: run with `RUST_BACKTRACE=1` environment variable to display a backtrace",
        "",
        "failures:",
        "    tests::adds",
        "",
        "test result: FAILED. 0 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out",
    )
    assert places(parsed) == ["src/lib.rs:9:5"]
    assert messages(parsed) == ["assertion failed: `(left == right)`\n  left: `1`,\n right: `2`"]


def test_a_log_that_breaks_off_in_a_test_is_not_complete() -> None:
    assert not text("running 2 tests", "test a ... ok").is_complete
