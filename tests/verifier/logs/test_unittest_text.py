from __future__ import annotations

import pytest

from agent_fox.verifier.ground.results import FailureKind, TestSummary
from agent_fox.verifier.logs.gathering import STILL_RUNNING
from tests.verifier.logs.samples import Samples, messages, parser_of, place, read_text

EXPECTED = [
    ("compile_error", "test_imp.py:1", None, "ModuleNotFoundError: No module named 'nope_nope'"),
    ("compile_error", "test_raise.py:1", None, "ValueError: at import"),
    ("compile_error", "test_syn.py:1", None, "SyntaxError: invalid syntax"),
    ("test_failure", "test_u.py:31", "test_u.D.test_a", "OSError: tear down"),
    ("test_failure", "test_u.py:28", "test_u.S.setUpClass", "OSError: class setup"),
    ("test_failure", "test_u.py:11", "test_u.T.test_chain", "RuntimeError: outer"),
    ("test_failure", "test_u.py:23", "test_u.T.test_lib", "json.decoder.JSONDecodeError: "),
    ("test_failure", "test_u.py:32", "test_u.D.test_a", "AssertionError: both"),
    ("test_failure", "test_u.py:12", "test_u.T.test_diff", "AssertionError: {'a': 1, "),
    ("test_failure", "test_u.py:3", "test_u.T.test_helper", "AssertionError: 4 != 3"),
    ("test_failure", "test_u.py:25", "test_u.T.test_stdout", "AssertionError: real"),
    ("test_failure", "test_u.py:21", "test_u.T.test_sub", "AssertionError: 0 == 0"),
    ("test_failure", "test_u.py:21", "test_u.T.test_sub #2", "AssertionError: 0 == 0"),
    ("test_failure", "", "test_u.T.test_unexp", "unexpected success"),
]


SAMPLES = Samples("unittest", "unittest", "/workspace/ut")
sample = SAMPLES.sample


@pytest.mark.parametrize("name", ["plain", "verbose", "buffered"])
def test_the_failures_are_read_and_not_those_that_a_test_printed(name: str) -> None:
    found = sample(name)
    assert [(f.kind.value, place(f), f.test_name) for f in found.failures] == [entry[:3] for entry in EXPECTED]
    assert all(f.message.startswith(entry[3]) for f, entry in zip(found.failures, EXPECTED, strict=True))


def test_names_are_the_same_in_older_pythons_which_show_no_unexpected_success() -> None:
    assert [(f.kind.value, f.test_name) for f in sample("old").failures] == [(e[0], e[2]) for e in EXPECTED[:-1]]


@pytest.mark.parametrize("name", ["plain", "verbose", "buffered", "old"])
def test_a_test_that_failed_in_several_ways_failed_to_pass_once(name: str) -> None:
    assert sample(name).summary == TestSummary(tests=14, passed=1, failures=7, errors=7, skipped=1, xfailed=1)


def test_an_error_is_told_from_a_failed_assertion() -> None:
    assert [f.is_error for f in sample("plain").failures] == [True] * 7 + [False] * 7


def test_a_test_that_does_not_exist_cannot_be_loaded() -> None:
    (failure,) = sample("no-such-test").failures
    assert (failure.kind, failure.exception) == (FailureKind.COMPILE_ERROR, "AttributeError")


def test_a_run_of_no_tests_is_said() -> None:
    assert (messages(sample("nothing")), sample("nothing").summary) == (["no tests ran"], TestSummary())


def test_a_run_cut_short_is_not_complete() -> None:
    found = read_text(parser_of("unittest"), "test_a (t.T.test_a) ... ok\ntest_b (t.T.test_b) ... ")
    assert (found.summary, found.is_complete) == (None, False)
    assert [(one.test_name, one.message) for one in found.failures] == [("t.T.test_b", STILL_RUNNING)]
