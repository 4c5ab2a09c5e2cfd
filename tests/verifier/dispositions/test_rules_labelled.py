"""The rules against the labelled failures: who was charged, what was lost, and the confusion matrix."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

import pytest

from agent_fox.core.verdicts.judgement import NOT_THE_CODERS_FAULT, PASSES_WHEN_PROVEN
from agent_fox.core.verdicts.verdict import Disposition
from agent_fox.verifier.dispositions.rules import dispose
from agent_fox.verifier.ground.results import Disposed
from tests.verifier.disposition_cases import Case, facts_of, labelled

MOST_LOST = 0.02
"""The share of the coder's failures that may be called infrastructure, environment or a verifier fault."""


@dataclass(frozen=True, slots=True)
class Met:
    """A labelled failure, and what the rules make of it."""

    case: Case
    is_held_back: bool
    found: Disposed


@pytest.fixture(scope="module")
def met(tmp_path_factory: pytest.TempPathFactory) -> list[Met]:
    scratch = tmp_path_factory.mktemp("logs")
    return [
        Met(one.case, one.is_held_back, dispose(facts)) for one in labelled() for facts in facts_of(one.case, scratch)
    ]


def test_infrastructure_is_never_charged_to_a_coder(met: list[Met]) -> None:
    blameless = [one for one in met if one.case.expect in NOT_THE_CODERS_FAULT]
    assert len(blameless) > 100
    assert _told(one for one in blameless if one.found.disposition not in NOT_THE_CODERS_FAULT) == []


def test_hardly_any_failure_of_a_coder_is_lost_as_nobodys(met: list[Met]) -> None:
    theirs = [one for one in met if one.case.expect is Disposition.REPAIRABLE]
    lost = [one for one in theirs if one.found.disposition in NOT_THE_CODERS_FAULT]
    assert len(lost) <= MOST_LOST * len(theirs), _told(lost)


def test_a_failure_is_excused_exactly_where_reruns_prove_it(met: list[Met]) -> None:
    excused = {one.case.id: one.found.disposition for one in met if one.found.is_proven}
    deserved = {one.case.id: one.case.expect for one in met if one.case.expect in PASSES_WHEN_PROVEN}
    assert excused == deserved


def test_every_other_label_is_met_and_needs_a_person_where_it_says(met: list[Met]) -> None:
    wrong = [one for one in met if one.found.disposition is not one.case.expect or _differs_on_person(one)]
    assert _told(wrong) == []


def test_the_set_is_large_mostly_real_and_covers_every_language_and_disposition(met: list[Met]) -> None:
    """Shows the confusion matrix where output is not captured (`-s`)."""
    sys.stdout.write(f"\n{_matrix(met)}\n")
    cases = {one.case.id: one for one in met}
    assert len(cases) >= 150
    assert sum(one.is_held_back for one in cases.values()) >= 40
    assert sum(one.case.source == "run" for one in cases.values()) >= len(cases) / 2
    assert {one.case.language for one in met} == {"c", "go", "java", "javascript", "python", "rust"}
    assert {one.case.expect for one in met} == set(Disposition) - {
        Disposition.REGRESSION_DETECTED
    }  # of remembered tests alone


def _differs_on_person(one: Met) -> bool:
    return one.case.needs_person is not None and one.case.needs_person is not one.found.requires_human


def _told(those: Iterable[Met]) -> list[str]:
    return [f"{one.case.id}: {one.case.expect}, called {one.found.disposition}: {one.found.reason}" for one in those]


def _matrix(met: list[Met]) -> str:
    """Rows: what was deserved; columns: what was found, in the order of the rows."""
    counts = Counter((one.case.expect, one.found.disposition) for one in met)
    head = " " * 18 + "".join(f"{word[:11]:>12}" for word in Disposition)
    rows = (
        f"{row:<18}" + "".join(f"{counts[row, column] or '.':>12}" for column in Disposition) for row in Disposition
    )
    return "\n".join([head, *rows])
