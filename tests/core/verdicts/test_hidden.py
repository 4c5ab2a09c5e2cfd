"""What of a hidden check is told, and what a requirement comes to with it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from agent_fox.core.verdicts.expectations import Expectation
from agent_fox.core.verdicts.hidden import COMMAND, HiddenChecks, Reveal, revealed, with_hidden
from agent_fox.core.verdicts.scope import Scope
from agent_fox.core.verdicts.verdict import Signal, Unproven, Verdict, Word

SECRET = "assert total([17, 25]) == 42"
FAILS = Verdict(
    "R1", Word.FAIL, "FAIL", f"`pytest` (exit 1): {SECRET}\ntests/hidden/test_x.py::test_secret",
    signal=Signal("pytest -q", f"AssertionError: {SECRET}"), failing_tests=1, command="pytest tests/hidden/test_x.py",
)  # fmt: skip
CRASHES = Verdict("R1", Word.FAIL, "FAIL", SECRET, signal=Signal("pytest -q", "cart.money.MoneyError: 17"))
PASSES = Verdict("R1", Word.PASS, "PASS", "1 of 1 tests passed: tests/hidden/test_x.py::test_secret")
UNKNOWN = Verdict("R1", Word.UNKNOWN, "UNKNOWN")
CRITERION = "the criterion: `total` SHALL return the sum."
NOTE = f"hidden checks sha256:{'ab' * 32}"
SEEN = {word: Verdict("R1", word, word.value, f"the coder's own: {word}", command="pytest") for word in Word}


def hidden(verdict: Verdict) -> HiddenChecks:
    return HiddenChecks(verdict, "`total` SHALL return the sum.", "ab" * 32)


def text_of(verdict: Verdict) -> str:
    return repr(verdict)


@pytest.mark.parametrize("verdict", [FAILS, CRASHES, UNKNOWN])
def test_a_failing_one_tells_requirement_criterion_and_kind_and_never_the_test(verdict: Verdict) -> None:
    said = revealed(hidden(verdict), Reveal.CRITERION)
    assert "17" not in text_of(said)
    assert "test_" not in text_of(said)
    assert said.evidence.endswith("the criterion: `total` SHALL return the sum.")
    assert (said.word, said.command, said.note) == (verdict.word, COMMAND, f"hidden checks sha256:{'ab' * 32}")


@pytest.mark.parametrize(
    ("verdict", "kind"),
    [
        (FAILS, "what it asserts does not hold"),
        (CRASHES, "it ends with MoneyError"),
        (replace(CRASHES, signal=Signal("pytest -q", "exit code 3")), "what it asserts does not hold"),
        (replace(CRASHES, signal=None), "it fails"),
        (UNKNOWN, "it did not run, or could not be judged"),
        (
            replace(FAILS, disposition=Unproven.VACUOUS_TEST),
            "it cannot fail: what it executes was broken, and it did not notice",
        ),
    ],
)
def test_the_kind_of_a_failure_is_told(verdict: Verdict, kind: str) -> None:
    assert revealed(hidden(verdict), Reveal.CRITERION).evidence == f"a hidden check of R1: {kind}\n{CRITERION}"


def test_a_failure_is_told_with_its_kind_alone_or_with_its_first_line_or_whole() -> None:
    noted = replace(FAILS, note="seen", is_proven=True, needs_person=True)
    line = f"AssertionError: {SECRET}"
    told_with_kind = Verdict(
        "R1", Word.FAIL, "FAIL", f"a hidden check of R1: what it asserts does not hold\n{CRITERION}", NOTE,
        signal=Signal("hidden checks", "R1: what it asserts does not hold"), failing_tests=1, is_proven=True,
        needs_person=True, command="hidden checks",
    )  # fmt: skip
    assert revealed(hidden(noted), Reveal.CRITERION) == told_with_kind
    assert revealed(hidden(noted), Reveal.ASSERTION) == replace(
        told_with_kind, evidence=f"{told_with_kind.evidence}\n{line}", signal=Signal("hidden checks", f"R1: {line}")
    )
    assert revealed(hidden(noted), Reveal.TEST) == replace(noted, note=f"seen; {NOTE}")


def test_what_could_not_be_judged_has_no_sign_of_a_cause() -> None:
    assert revealed(hidden(UNKNOWN), Reveal.ASSERTION) == Verdict(
        "R1", Word.UNKNOWN, "UNKNOWN",
        f"a hidden check of R1: it did not run, or could not be judged\n{CRITERION}", NOTE, command="hidden checks",
    )  # fmt: skip


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


def test_a_pass_of_both_is_the_coders_verdict_with_the_hidden_checks_beside_it() -> None:
    seen = replace(SEEN[Word.PASS], note="3 ran", failing_tests=0, how="red without")
    both = with_hidden(seen, hidden(PASSES), Reveal.CRITERION, is_untested=False)
    evidence = "the coder's own: PASS\nits hidden checks pass"
    assert both == replace(seen, evidence=evidence, how="hidden", note=f"3 ran; {NOTE}")


def test_a_pass_that_rests_on_an_agreement_says_so_whatever_the_hidden_checks_say() -> None:
    seen = replace(SEEN[Word.PASS], how="agreed by Ada", expectation=Expectation("t", (), "0" * 64, "1" * 64))
    assert with_hidden(seen, hidden(PASSES), Reveal.CRITERION, is_untested=False).how == "agreed by Ada"


def test_a_pass_of_hidden_checks_alone_keeps_nothing_of_what_no_test_had_shown() -> None:
    both = with_hidden(SEEN[Word.FAIL], hidden(PASSES), Reveal.CRITERION, is_untested=True)
    assert both == Verdict(
        "R1", Word.PASS, "PASS", "its hidden checks pass", NOTE, command="pytest", how="hidden"
    )  # fmt: skip


def test_a_fail_of_both_tells_of_both_and_its_cause_is_the_coders() -> None:
    seen = replace(SEEN[Word.FAIL], signal=Signal("pytest", "AssertionError: own"))
    for reveal in (Reveal.CRITERION, Reveal.ASSERTION):
        both = with_hidden(seen, hidden(FAILS), reveal, is_untested=False)
        assert both == replace(seen, evidence=f"the coder's own: FAIL\n{revealed(hidden(FAILS), reveal).evidence}")


def test_one_that_cannot_fail_is_a_persons_to_mend_and_sends_no_coder_back() -> None:
    vacuous = Verdict("R1", Word.FAIL, "FAIL", SECRET, disposition=Unproven.VACUOUS_TEST)
    both = with_hidden(SEEN[Word.PASS], hidden(vacuous), Reveal.CRITERION, is_untested=False)
    assert both == Verdict(
        "R1", Word.UNKNOWN, "UNKNOWN",
        f"a hidden check of R1: it cannot fail: what it executes was broken, and it did not notice\n{CRITERION}", NOTE,
        disposition=Unproven.VACUOUS_TEST, needs_person=True, command="hidden checks",
    )  # fmt: skip


@pytest.mark.parametrize("is_untested", [True, False])
def test_what_passes_with_hidden_checks_rests_on_more_than_was_measured(is_untested: bool) -> None:
    scope = Scope(files=("cart.py", "tests/hidden/test_x.py"))
    seen, found = replace(SEEN[Word.PASS], rests_on=scope), hidden(replace(PASSES, rests_on=scope))
    verdict = with_hidden(seen, found, Reveal.CRITERION, is_untested=is_untested)
    assert (verdict.word, verdict.rests_on) == (Word.PASS, None)
