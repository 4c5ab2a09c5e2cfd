"""Which verdict counts, and what a report amounts to."""

from __future__ import annotations

import itertools

import pytest

from agent_fox.core.verdicts.judgement import Counted, Judgement, PastReading, agree, count, dispose, judge
from agent_fox.core.verdicts.verdict import Disposition, Report, Verdict, Word, read_word

P, F, U = Word.PASS, Word.FAIL, Word.UNKNOWN


def report(**words: Word) -> Report:
    return Report({part: Verdict(part, word) for part, word in words.items()})


@pytest.mark.parametrize("said", ["PASS", " pass ", "Pass\n"])
def test_an_exact_pass_is_a_pass(said: str) -> None:
    assert read_word(said) is P


@pytest.mark.parametrize("said", ["FAIL", "fail", "\tFail "])
def test_an_exact_fail_is_a_fail(said: str) -> None:
    assert read_word(said) is F


@pytest.mark.parametrize("said", ["PASSED", "PASS (minor)", "PARTIAL", "N/A", "", "OK", None, True, 1, ["PASS"]])
def test_every_other_word_is_unknown(said: object) -> None:
    assert read_word(said) is U


def test_of_many_readings_the_last_two_count() -> None:
    assert agree((F, P, F, F)) is F
    assert agree((P, P, F, P)) is U


def test_every_counted_verdict_is_whole_and_under_its_id() -> None:
    said = Verdict("a", U, "WEAK", note="said so")
    judged = judge(Report({"a": said}), ("a", "b"))
    assert judged.counted == {
        "a": Counted(said, U, U),
        "b": Counted(Verdict("b", U, note="no verdict"), U, U, is_silent=True),
    }


def test_what_was_passed_over_has_no_evidence_unless_it_is_said_what_kept_it_from_being_read() -> None:
    silent = Counted(Verdict("a", U, note="no verdict"), U, U, is_silent=True)
    assert count("a", None, (), 1, 0) == silent
    assert count("a", None, (), 1, 0, "cut off").verdict.evidence == "cut off"


def test_an_empty_expected_set_is_never_sound() -> None:
    judged = judge(report(a=P), ())
    assert (judged.judgement, judged.is_expecting) == (Judgement.UNCLEAR, False)


def test_every_small_report_is_judged_by_its_worst_expected_word() -> None:
    for first, second in itertools.product([P, F, U, None], repeat=2):
        said = {part: word for part, word in (("a", first), ("b", second)) if word is not None}
        judged = judge(report(**said), ("a", "b"))
        if F in (first, second):
            assert judged.judgement is Judgement.FAULTY
        elif first is P and second is P:
            assert judged.judgement is Judgement.SOUND
        else:
            assert judged.judgement is Judgement.UNCLEAR


def test_failing_and_unknown_ids_stand_in_the_order_of_the_spec() -> None:
    judged = judge(report(c=F, a=F, d=U), ("a", "b", "c", "d"))
    assert (judged.failing, judged.unknown) == (("a", "c"), ("b", "d"))


def test_a_waiver_stands_for_what_did_not_pass_and_is_named() -> None:
    judged = judge(report(a=P, b=F, c=U), ("a", "b", "c"), waived=frozenset({"a", "b", "c"}))
    assert (judged.judgement, judged.waived) == (Judgement.SOUND, ("b", "c"))


@pytest.mark.parametrize(
    "disposition", [Disposition.INFRASTRUCTURE, Disposition.ENVIRONMENT, Disposition.VERIFIER_FAULT]
)
def test_what_is_not_the_codes_fault_is_unknown(disposition: Disposition) -> None:
    verdict = dispose(Verdict("a", F, disposition=disposition, note="seen"))
    assert (verdict.word, verdict.note) == (U, f"seen; {disposition}, not a fault of the code")


@pytest.mark.parametrize("disposition", [Disposition.FLAKY, Disposition.PRE_EXISTING])
def test_flaky_and_pre_existing_pass_only_when_proven(disposition: Disposition) -> None:
    assert dispose(Verdict("a", F, disposition=disposition)).word is F
    proven = dispose(Verdict("a", F, disposition=disposition, is_proven=True))
    assert (proven.word, proven.note) == (P, f"proven {disposition}")


@pytest.mark.parametrize("disposition", [Disposition.REPAIRABLE, Disposition.POLICY, Disposition.SPEC_FAULT])
def test_other_dispositions_stay_a_fail(disposition: Disposition) -> None:
    assert dispose(Verdict("a", F, disposition=disposition, is_proven=True)).word is F


@pytest.mark.parametrize("word", [P, U])
def test_a_disposition_is_about_a_fail_only(word: Word) -> None:
    verdict = Verdict("a", word, disposition=Disposition.INFRASTRUCTURE)
    assert dispose(verdict) == verdict


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ((), U), ((P,), P), ((F,), F), ((P, P), P), ((F, P), U), ((P, F), U), ((F, P, P), P), ((P, F, F), F),
        ((F, P, F), U), ((P, P, F), U), ((F, F, P), U),
    ],
)  # fmt: skip
def test_once_readings_differ_the_last_two_must_agree(words: tuple[Word, ...], expected: Word) -> None:
    assert agree(words) is expected


def past(*words: Word, attempt: int = 1) -> tuple[PastReading, ...]:
    return tuple(PastReading(word, attempt, number) for number, word in enumerate(words, 1))


def test_a_pass_after_a_fail_on_the_same_tree_needs_a_second_one() -> None:
    first = count("a", Verdict("a", P, said="PASS"), past(F), attempt=2, since=0)
    assert (first.read, first.word, first.verdict.said) == (P, U, "PASS")
    assert first.verdict.note == "PASS not confirmed: another reading of this tree said otherwise"
    assert count("a", Verdict("a", P), past(F, P), attempt=2, since=0).word is P


def test_an_unknown_reading_neither_confirms_nor_denies() -> None:
    counted = count("a", Verdict("a", U), past(P), attempt=1, since=0)
    assert (counted.read, counted.word, counted.is_silent) == (U, U, False)
    assert count("a", Verdict("a", P), past(P, U), attempt=1, since=0).word is P


def test_silence_keeps_a_pass_of_this_attempt_on_this_tree() -> None:
    counted = count("a", None, past(P), attempt=1, since=0)
    assert (counted.word, counted.is_silent, counted.verdict.note) == (P, True, "read before on this tree")


def test_silence_keeps_no_pass_of_another_attempt_or_before_a_reopening() -> None:
    assert count("a", None, past(P, attempt=1), attempt=2, since=0).word is U
    assert count("a", None, past(P), attempt=1, since=1).word is U


def test_silence_never_keeps_a_fail_and_never_makes_one() -> None:
    counted = count("a", None, past(F), attempt=1, since=0)
    assert (counted.word, counted.read, counted.verdict.note) == (U, U, "no verdict")
    assert count("a", None, (), attempt=1, since=0).word is U


def test_silence_keeps_no_pass_that_was_taken_back() -> None:
    assert count("a", None, past(P, U), attempt=1, since=0).word is U
    assert count("a", None, past(F, P), attempt=1, since=0).word is U


def test_two_readings_of_one_attempt_add_up() -> None:
    judged = judge(report(b=P), ("a", "b"), past={"a": past(P), "b": past(U)})
    assert judged.judgement is Judgement.SOUND


def test_a_report_that_cannot_be_read_says_why_beside_each_id() -> None:
    judged = judge(Report(notes=("exit 3", "cut off"), is_readable=False), ("a",))
    assert judged.counted["a"].verdict == Verdict("a", U, evidence="exit 3; cut off", note="no verdict")
    assert judge(Report(notes=("odd",)), ("a",)).counted["a"].verdict.evidence == ""
