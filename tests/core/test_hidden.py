"""What of a hidden check is told, and what a requirement comes to with it."""

from __future__ import annotations

import pytest

from agent_fox.core.hidden import COMMAND, HiddenChecks, Reveal, told, with_hidden
from agent_fox.core.verdict import Signal, Unproven, Verdict, Word

SECRET = "assert total([17, 25]) == 42"
FAILS = Verdict(
    "R1", Word.FAIL, "FAIL", f"`pytest` (exit 1): {SECRET}\ntests/hidden/test_x.py::test_secret",
    signal=Signal("pytest -q", f"AssertionError: {SECRET}"), failing_tests=1, command="pytest tests/hidden/test_x.py",
)  # fmt: skip
CRASHES = Verdict("R1", Word.FAIL, "FAIL", SECRET, signal=Signal("pytest -q", "cart.money.MoneyError: 17"))
PASSES = Verdict("R1", Word.PASS, "PASS", "1 of 1 tests passed: tests/hidden/test_x.py::test_secret")
UNKNOWN = Verdict("R1", Word.UNKNOWN, "UNKNOWN")
SEEN = {word: Verdict("R1", word, word.value, f"the coder's own: {word}", command="pytest") for word in Word}


def hidden(verdict: Verdict) -> HiddenChecks:
    return HiddenChecks(verdict, "`total` SHALL return the sum.", "ab" * 32)


def text_of(verdict: Verdict) -> str:
    return repr(verdict)


@pytest.mark.parametrize("verdict", [FAILS, CRASHES, UNKNOWN])
def test_a_failing_one_tells_requirement_criterion_and_kind_and_never_the_test(verdict: Verdict) -> None:
    said = told(hidden(verdict), Reveal.CRITERION)
    assert "17" not in text_of(said)
    assert "test_" not in text_of(said)
    assert said.evidence.endswith("the criterion: `total` SHALL return the sum.")
    assert (said.word, said.command, said.note) == (verdict.word, COMMAND, f"hidden checks sha256:{'ab' * 32}")


def test_the_kind_of_a_failure_is_told() -> None:
    kinds = [told(hidden(one), Reveal.CRITERION).evidence.splitlines()[0] for one in (FAILS, CRASHES, UNKNOWN)]
    assert kinds == [
        "a hidden check of R1: what it asserts does not hold",
        "a hidden check of R1: it ends with MoneyError",
        "a hidden check of R1: it did not run, or could not be judged",
    ]


def test_more_is_told_where_the_settings_say_so() -> None:
    assertion = told(hidden(FAILS), Reveal.ASSERTION)
    assert SECRET in assertion.evidence
    assert "test_secret" not in text_of(assertion)
    assert "test_secret" in told(hidden(FAILS), Reveal.TEST).evidence


@pytest.mark.parametrize(
    ("seen", "found", "word"),
    [
        (Word.PASS, PASSES, Word.PASS), (Word.PASS, FAILS, Word.FAIL), (Word.PASS, UNKNOWN, Word.UNKNOWN),
        (Word.FAIL, PASSES, Word.FAIL), (Word.FAIL, FAILS, Word.FAIL), (Word.FAIL, UNKNOWN, Word.FAIL),
        (Word.UNKNOWN, PASSES, Word.UNKNOWN), (Word.UNKNOWN, FAILS, Word.FAIL), (Word.UNKNOWN, UNKNOWN, Word.UNKNOWN),
    ],
)  # fmt: skip
def test_the_worse_of_both_counts(seen: Word, found: Verdict, word: Word) -> None:
    both = with_hidden(SEEN[seen], hidden(found), Reveal.CRITERION, is_untested=False)
    assert both.word is word
    assert "test_secret" not in text_of(both)
    assert (both.how == "hidden") is (word is Word.PASS)


@pytest.mark.parametrize(("found", "word"), [(PASSES, Word.PASS), (FAILS, Word.FAIL), (UNKNOWN, Word.UNKNOWN)])
def test_a_requirement_that_no_other_test_names_is_theirs_alone(found: Verdict, word: Word) -> None:
    assert with_hidden(SEEN[Word.FAIL], hidden(found), Reveal.CRITERION, is_untested=True).word is word


def test_one_that_cannot_fail_is_a_persons_to_mend_and_sends_no_coder_back() -> None:
    vacuous = Verdict("R1", Word.FAIL, "FAIL", SECRET, disposition=Unproven.VACUOUS_TEST)
    both = with_hidden(SEEN[Word.PASS], hidden(vacuous), Reveal.CRITERION, is_untested=False)
    assert (both.word, both.needs_person, both.disposition) == (Word.UNKNOWN, True, Unproven.VACUOUS_TEST)
    assert "it cannot fail" in both.evidence
