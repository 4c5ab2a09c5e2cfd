from __future__ import annotations

import pytest

from agent_fox.verifier.ground.results import TestSummary
from tests.verifier.logs.samples import Samples, messages, place

TESTS = [
    ("spaced", "my dir/c.test.js:2:32"),
    ("math > adds", "test/a.test.js:5:23"),
    ("math > inner group > throws deep", "src/lib.js:2:41"),
    ("math > inner group > objects", "test/a.test.js:12:35"),
    ("math > inner group > async rejects", "test/a.test.js:15:28"),
    ("math > inner group > times out", "test/a.test.js:17:7"),
    ("top level > arrow › inside", "test/a.test.js:20:48"),
    ("throws string", "test/a.test.js"),
    ("throws nothing useful", "test/a.test.js:22:42"),
    ("snap", "test/b.test.js:2:52"),
    ("aft > three", "test/hooks.test.js:8:27"),
]


SAMPLES = Samples("vitest", "vitest", "/workspace/vt")
sample = SAMPLES.sample


@pytest.mark.parametrize("name", ["v1", "v2", "v3"])
def test_failed_tests_are_where_the_project_threw(name: str) -> None:
    found = [(f.test_name, place(f)) for f in sample(name).failures if not f.is_error]
    unplaced = ("math > inner group > times out", "test/a.test.js")  # before version 3
    assert [entry for entry in found if entry != unplaced] == [
        entry for entry in TESTS if name == "v3" or entry[0] != unplaced[0]
    ]


def test_what_did_not_load_and_hooks_of_suites_are_errors() -> None:
    assert [(f.kind.value, place(f), f.test_name) for f in sample("v3").failures if f.is_error] == [
        ("test_failure", "test/empty.test.js", None),
        ("test_failure", "test/hooks.test.js:3:27", "hooked"),
        ("compile_error", "test/missing.test.js:2:1", None),
        ("compile_error", "test/syntax.test.js:2:11", None),
    ]


def test_the_counts_are_those_at_the_end() -> None:
    assert sample("v3").summary == TestSummary(tests=17, passed=2, failures=11, errors=4, skipped=4)


def test_tests_that_failed_alike_are_one_failure_each() -> None:
    same = [f for f in sample("unhandled", "/workspace/unh").failures if (f.test_name or "").startswith("same")]
    assert [(f.test_name, place(f)) for f in same] == [(f"same {n}", "u.test.js:3:62") for n in (1, 2, 3)]


def test_several_soft_failures_of_one_test_all_count() -> None:
    soft = [f for f in sample("unhandled", "/workspace/unh").failures if f.test_name == "soft"]
    assert [place(f) for f in soft] == ["u.test.js:5:35", "u.test.js:5:59"]


def test_a_rejection_that_nothing_caught_is_a_failure_of_no_test() -> None:
    last = sample("unhandled", "/workspace/unh").failures[-1]
    assert (last.test_name, place(last), last.message, last.is_error) == (None, "u.test.js:2:36", "Error: late", True)


def test_no_test_files_is_said() -> None:
    found = sample("nothing")
    assert (messages(found), found.summary) == (["No test files found"], TestSummary())
