"""Which cases of proofs are decided; how each is decided is for `make proofs` to say."""

from __future__ import annotations

from collections import Counter
from datetime import date, timedelta

import pytest

from tools import proofs
from tools.proofs import CASES, NOT_PROVEN, PROVEN, Case, Ended, chosen, of_each, parser, read_cases, rows


def test_each_case_says_what_it_must_end_as_and_why() -> None:
    cases = list(read_cases(CASES))
    assert len({case.language for case in cases}) == 6
    assert not [case.name for case in cases if not (case.why and case.requirement and case.command)]


def test_two_of_each_kind_are_taken_and_all_of_them_within_some_days(monkeypatch: pytest.MonkeyPatch) -> None:
    cases, seen = list(read_cases(CASES)), set()
    largest = max(Counter((case.language, case.kind) for case in cases).values())
    for day in range(largest // 2 + 1):
        today = date(2026, 1, 1) + timedelta(days=day)
        monkeypatch.setattr(proofs, "date", type("Day", (date,), {"today": classmethod(lambda _, at=today: at)}))
        taken = of_each(cases, 2)
        assert max(Counter((case.language, case.kind) for case in taken).values()) == 2
        assert len(taken) == len({id(case) for case in taken})
        seen |= {(case.language, case.name) for case in taken}
    assert seen == {(case.language, case.name) for case in cases}


def test_a_seed_chooses_a_tenth_and_words_choose_by_kind_and_name() -> None:
    cases = list(read_cases(CASES))
    tenth = chosen(cases, parser().parse_args(["--part", "7"]))
    assert len(tenth) == len(cases) // 10
    assert (
        tenth
        == chosen(cases, parser().parse_args(["--part", "7"]))
        != chosen(cases, parser().parse_args(["--part", "8"]))
    )
    assert {case.kind for case in chosen(cases, parser().parse_args(["--select", "something-else"]))} == {
        "something-else"
    }
    assert chosen(cases, parser().parse_args([])) == cases


def test_an_honest_case_may_be_undecided_where_its_reason_says_so_and_never_vacuous() -> None:
    told = {"undecided": "UNKNOWN: not all of it could be tried", "vacuous": "FAIL\nvacuous test: no test noticed"}
    honest = Case("go", "raised", "a panic", PROVEN, "NOT DECIDED HERE: any will do.", "go test ./...", {})
    gamed = Case("go", "raised", "no panic", NOT_PROVEN, "Nothing is there.", "go test ./...", {})
    undecided, vacuous = (Ended(honest, NOT_PROVEN, words) for words in told.values())
    caught = Ended(gamed, NOT_PROVEN, told["vacuous"])
    assert [one.is_wrong for one in (undecided, vacuous, caught)] == [False, True, False]
    assert "honest, called vacuous: 1" in list(rows([undecided, vacuous, caught]))
