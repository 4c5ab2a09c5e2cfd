"""What lanes mean for requirements: nothing passes that is not decided, and nothing is proved by half."""

from __future__ import annotations

import itertools
from dataclasses import replace

from agent_fox.core.formal.specification import (
    Checklist,
    ChosenTests,
    FunctionContract,
    Specification,
    SpecKind,
    TheoremStatement,
)
from agent_fox.core.verdicts.verdict import Word
from agent_fox.verifier.lanes.binding import proofs, provable, verdicts
from agent_fox.verifier.lanes.order import RESULTS, lanes_in
from agent_fox.verifier.lanes.results import LaneResult, failed, passed, unknown

P, F, U = Word.PASS, Word.FAIL, Word.UNKNOWN
R1 = ("01_a/R1",)
TESTS = Specification("01_a/tests", SpecKind.ASSERTION, "x", R1, ChosenTests(("t.py",)))
CONTRACT = Specification("01_a/contract", SpecKind.CONTRACT, "x", R1, FunctionContract("m:f", "() -> int", ("True",)))
THEOREM = Specification("library/theorem", SpecKind.THEOREM, "x", ("01_a/all",), TheoremStatement("true"))
ASKED = Specification("01_a/asked", SpecKind.CHECKLIST, "x", ("01_a/all",), Checklist(("is it clear?",)))


def said(one: Specification, word: Word) -> LaneResult:
    return {P: passed(one), F: failed(one, "n = 3"), U: unknown(one, "timed out")}[word]


def proved(one: Specification) -> LaneResult:
    return replace(passed(one), is_proof=True)


def test_a_requirement_that_nothing_is_linked_to_is_not_spoken_of() -> None:
    assert verdicts(["R2"], "01_a", [TESTS, ASKED], [said(TESTS, P)]) == ()
    assert verdicts(["R1"], "02_b", [TESTS], [said(TESTS, P)]) == ()


def test_every_pair_of_results_passes_only_where_both_hold() -> None:
    for first, second in itertools.product([P, F, U], repeat=2):
        (bound,) = verdicts(["R1"], "01_a", [TESTS, THEOREM], [said(TESTS, first), said(THEOREM, second)])
        assert bound.word is (F if F in (first, second) else P if (first, second) == (P, P) else U)


def test_what_was_not_checked_is_unknown() -> None:
    (bound,) = verdicts(["R1"], "01_a", [TESTS, CONTRACT], [said(TESTS, P)])
    assert (bound.word, "01_a/contract: it was not checked" in bound.evidence) == (U, True)


def test_the_counterexample_is_the_evidence() -> None:
    (bound,) = verdicts(["R1"], "01_a", [CONTRACT], [replace(said(CONTRACT, F), command="crosshair check m.f")])
    assert bound.evidence == "01_a/contract (contract) does not hold: n = 3"
    assert bound.command == "crosshair check m.f"


def test_a_requirement_is_proved_when_every_formal_thing_about_it_is() -> None:
    objects = [TESTS, CONTRACT, THEOREM]
    found = proofs(["R1", "R2"], "01_a", objects, [said(TESTS, F), proved(CONTRACT), proved(THEOREM)])
    assert [one.is_proved for one in found.values()] == [True, True]


def test_a_requirement_is_not_proved_by_less() -> None:
    for result, why in (
        (said(CONTRACT, P), "is not proved"),
        (said(CONTRACT, U), "timed out"),
        (said(CONTRACT, F), "n = 3"),
        (replace(proved(CONTRACT), version="0" * 16), "not checked in this version"),
        (replace(proved(CONTRACT), status=U), "is not proved"),
    ):
        found = proofs(["R1"], "01_a", [CONTRACT, THEOREM], [result, proved(THEOREM)])["R1"]
        assert (found.is_proved, why in found.why) == (False, True), result
    assert not proofs(["R1"], "01_a", [CONTRACT], [])["R1"].is_proved


def test_what_has_nothing_formal_cannot_be_proved_and_says_what_to_write() -> None:
    found = proofs(["R1"], "01_a", [TESTS, ASKED], [said(TESTS, P)])["R1"]
    assert (found.is_proved, "write one into specifications.toml" in found.why) == (False, True)
    assert provable(["R1", "R2"], "01_a", [TESTS, CONTRACT]) == {"R1": True, "R2": False}
    assert provable(["R1", "R2"], "01_a", [THEOREM]) == {"R1": True, "R2": True}


def test_results_are_read_back_as_they_were_written_and_nothing_else_is() -> None:
    results = (proved(CONTRACT), said(TESTS, F))
    written = RESULTS.dump_json(results).decode()
    assert lanes_in(f'{{"verdicts": [], "lanes": {written}}}') == results
    for text in ("", "[]", "{}", '{"lanes": [{}]}', f'{{"lanes": {written}}} and more'):
        assert lanes_in(text) == ()
