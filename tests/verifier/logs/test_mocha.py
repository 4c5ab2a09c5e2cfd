from __future__ import annotations

import pytest

from agent_fox.verifier.ground.results import TestSummary
from tests.verifier.logs.samples import Samples, messages, place

EXPECTED = [
    ("root level", "test/a.js:19:26"),
    ("math > adds", "test/a.js:4:29"),
    ("math > inner > deep", "lib/lib.js:2:41"),
    ("math > inner > deepEqual", "test/a.js:8:36"),
    ("math > inner > message", "test/a.js:9:34"),
    ("math > inner > async", "test/a.js:11:37"),
    ("math > inner > timeouts", "test/a.js"),
    ("math > inner > done twice", "test/a.js:13:42"),
    ("math > inner > string", ""),
    ('hooks > "before all" hook: named hook for "never"', "test/a.js:17:62"),
    ('aft > "after each" hook for "x"', "test/a.js:18:49"),
]


SAMPLES = Samples("mocha", "mocha", "/workspace/mo")
sample = SAMPLES.sample


@pytest.mark.parametrize("name", ["spec", "dot"])
def test_the_list_at_the_end_is_read_and_not_what_a_test_printed(name: str) -> None:
    assert [(f.test_name, place(f)) for f in sample(name).failures] == EXPECTED


def test_the_counts_include_hooks_that_failed() -> None:
    assert sample("spec").summary == TestSummary(tests=16, passed=3, failures=11, skipped=2)


@pytest.mark.parametrize(
    ("name", "where", "message"),
    [
        ("syn", "s/syn.js:1:11", "SyntaxError: Unexpected token ';'"),
        ("mod", "s/mod.js:1:1", "Error: Cannot find module './nope'"),
    ],
)
def test_a_file_that_does_not_load_is_a_compile_error(name: str, where: str, message: str) -> None:
    (failure,) = sample(name).failures
    assert (failure.kind.value, place(failure), failure.message) == ("compile_error", where, message)


def test_no_test_files_is_said() -> None:
    found = sample("none")
    assert (messages(found), found.summary) == (['No test files found: "nothing.js"'], TestSummary())
