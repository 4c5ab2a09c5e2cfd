"""Several judges of one commit."""

from __future__ import annotations

import itertools

from agent_fox.core.verdicts.panel import Opinion, confer
from agent_fox.core.verdicts.scope import Scope
from agent_fox.core.verdicts.verdict import Report, Signal, Verdict, Word

P, F, U = Word.PASS, Word.FAIL, Word.UNKNOWN


def opinion(name: str, word: Word | None, **more: str) -> Opinion:
    verdicts = {} if word is None else {"a": Verdict("a", word, said=more.get("said", ""), note=more.get("note", ""))}
    return Opinion(name, Report(verdicts, summary=more.get("summary", "")))


def test_one_judge_speaks_for_itself() -> None:
    report = Report({"a": Verdict("a", P)}, summary="fine")
    assert confer([Opinion("checks", report)], ["a", "b"]) is report


def test_every_pair_of_words_passes_only_where_both_pass() -> None:
    for first, second in itertools.product([P, F, U, None], repeat=2):
        word = confer([opinion("checks", first), opinion("model", second)], ["a"]).verdicts["a"].word
        assert word is (F if F in (first, second) else P if (first, second) == (P, P) else U)


def test_a_deterministic_fail_is_not_outvoted_and_keeps_its_signal() -> None:
    signal = Signal("pytest", "E assert")
    checks = Opinion("checks", Report({"a": Verdict("a", F, note="seen", signal=signal)}))
    found = confer([checks, opinion("model", F)], ["a"]).verdicts["a"]
    assert (found.word, found.signal, found.note) == (F, signal, "seen; judged by checks")


def test_a_missing_judge_is_named() -> None:
    found = confer([opinion("checks", P), opinion("model", None)], ["a"])
    assert found.verdicts["a"] == Verdict("a", U, note="checks says PASS, model says nothing")


def test_who_is_unclear_says_why() -> None:
    why = Verdict("a", U, evidence="no-push (temporal property): no trace")
    found = confer([opinion("checks", P), Opinion("library", Report({"a": why}))], ["a"]).verdicts["a"]
    assert (found.word, found.evidence) == (U, "library: no-push (temporal property): no trace")


def test_where_all_pass_the_first_speaks_and_all_are_named() -> None:
    found = confer([opinion("checks", P, said="pass", summary="3 ran"), opinion("model", P, summary="fine")], ["a"])
    words = "checks says pass, model says PASS"
    assert found == Report({"a": Verdict("a", P, "pass", note=words)}, "", "checks: 3 ran; model: fine")


def test_where_all_pass_the_word_that_shows_most_counts_whoever_says_it() -> None:
    def passing(how: str) -> Opinion:
        return Opinion(how, Report({"a": Verdict("a", P, how=how)}))

    assert confer([passing("judged"), passing("red without")], ["a"]).verdicts["a"].how == "red without"


def test_what_a_person_must_settle_stays_so_beside_another_judge_that_is_unclear() -> None:
    first = Verdict("a", U, evidence="no trace", note="cut")
    second = Verdict("a", U, "UNKNOWN", evidence="it cannot fail", note="seen", needs_person=True, command="pytest")
    found = confer([Opinion("library", Report({"a": first})), Opinion("checks", Report({"a": second}))], ["a"])
    assert found.verdicts["a"] == Verdict(
        "a", U, "UNKNOWN", evidence="library: no trace\nchecks: it cannot fail",
        note="seen; library says UNKNOWN, checks says UNKNOWN", needs_person=True, command="pytest",
    )  # fmt: skip


def test_the_words_that_were_said_are_kept() -> None:
    found = confer([opinion("checks", P, note="ran"), opinion("model", P, said="Pass")], ["a"]).verdicts["a"]
    assert found.note == "ran; checks says PASS, model says Pass"


def test_notes_and_summaries_say_whose_they_are() -> None:
    broken = Opinion("model", Report(notes=("no complete answer was found",), is_readable=False))
    found = confer([opinion("checks", P, summary="3 ran"), broken], ["a"])
    assert (found.notes, found.summary, found.is_readable) == (
        ("model: no complete answer was found",),
        "checks: 3 ran",
        True,
    )


def test_with_no_readable_judge_the_report_is_not_readable() -> None:
    broken = Report(is_readable=False)
    found = confer([Opinion("checks", broken), Opinion("model", broken)], ["a"])
    assert (found.is_readable, found.verdicts["a"].word) == (False, U)


def partial(report: Report) -> Opinion:
    return Opinion("library", report, is_partial=True)


def test_a_partial_judge_has_no_say_where_it_is_silent() -> None:
    checks = Opinion("checks", Report({"a": Verdict("a", P), "b": Verdict("b", P)}))
    found = confer([checks, partial(Report({"b": Verdict("b", U)}))], ["a", "b", "c"])
    assert found.verdicts["a"] == Verdict("a", P)
    assert found.verdicts["b"].word is U
    assert "c" not in found.verdicts


def test_where_a_partial_judge_speaks_nothing_passes_without_it() -> None:
    for first, second in itertools.product([P, F, U, None], [P, F, U]):
        said = partial(Report({"a": Verdict("a", second)}))
        word = confer([opinion("checks", first), said], ["a"]).verdicts["a"].word
        assert word is (F if F in (first, second) else P if (first, second) == (P, P) else U)


def test_a_partial_judge_that_cannot_be_read_holds_everything_back() -> None:
    broken = partial(Report(notes=("crashed",), is_readable=False))
    found = confer([opinion("checks", P), broken], ["a"])
    assert (found.verdicts["a"].word, found.is_readable) == (U, True)


def test_a_partial_judge_does_not_make_a_report_of_nobody_readable() -> None:
    crashed = Opinion("checks", Report(notes=("crashed",), is_readable=False))
    found = confer([crashed, partial(Report({"b": Verdict("b", P)}))], ["a", "b"])
    assert not found.is_readable
    assert "a" not in found.verdicts
    assert found.verdicts["b"].word is U


def test_what_all_judges_rest_on_counts_and_with_one_that_is_not_measured_nothing_is_known() -> None:
    def passing(scope: Scope | None) -> Opinion:
        return Opinion("x", Report({"R": Verdict("R", Word.PASS, rests_on=scope)}))

    measured = Scope(files=("a.py",))
    assert confer([passing(measured), passing(None)], ["R"]).verdicts["R"].rests_on is None
    assert confer([passing(None), passing(measured)], ["R"]).verdicts["R"].rests_on is None
    both = confer([passing(measured), passing(Scope(files=("b.py",)))], ["R"]).verdicts["R"].rests_on
    assert both == Scope(files=("a.py", "b.py"))
