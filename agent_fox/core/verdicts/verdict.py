"""Verdicts and reports: what a verifier said about each requirement, and which words count as what."""

from __future__ import annotations

from dataclasses import field
from enum import StrEnum
from typing import TYPE_CHECKING

from agent_fox.core.values import dataclass

if TYPE_CHECKING:
    from agent_fox.core.verdicts.expectations import Expectation
    from agent_fox.core.verdicts.proof import Trials
    from agent_fox.core.verdicts.scope import Scope


class Word(StrEnum):
    """The only three things a verdict can say."""

    PASS = "PASS"
    FAIL = "FAIL"
    UNKNOWN = "UNKNOWN"


class Disposition(StrEnum):
    """Why a FAIL failed."""

    REPAIRABLE = "repairable"
    FLAKY = "flaky"
    PRE_EXISTING = "pre-existing"
    INFRASTRUCTURE = "infrastructure"
    ENVIRONMENT = "environment"
    VERIFIER_FAULT = "verifier fault"
    POLICY = "policy"
    SPEC_FAULT = "spec fault"
    REGRESSION_DETECTED = "regression detected"


class Unproven(StrEnum):
    """Why tests that pass do not prove a requirement; in the place of a disposition. See `docs/proof.md`."""

    WEAKENED_TEST = "weakened test"
    CHANGED_EXPECTATION = "changed expectation"
    VACUOUS_TEST = "vacuous test"


@dataclass(frozen=True, slots=True)
class Signal:
    """A deterministic sign of a cause: the command that failed and its first error line, normalised."""

    command: str
    first_error: str


@dataclass(frozen=True, slots=True)
class RunTest:
    """One test that a verdict rests on. `line`: the command line that ran it, among others; `file`, `classes`, `name`:
    as `verifier.ground.cases.Case` has them; `id`: the three in the way of pytest."""

    line: str
    file: str
    classes: tuple[str, ...]
    name: str
    id: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """One requirement's verdict by one reading.

    `said` is the word as written, `word` what it means. `failing_tests` is a count where the judge can count.
    `is_proven` holds for a disposition that was shown by reruns (flaky on the same tree, pre-existing on the base
    tree), never for one that was merely claimed. `needs_person` is set where no coder can repair it. `command` shows it
    again, where one of our own judges ran it. `how` it is known, of a PASS: a word of `core.known.How`.
    `expectation`: the committed test that fails; `tests`: files of tests that are at fault, where tests are. `trials`:
    what was tried to see its tests fail. `rests_on`: what of the tree a PASS rests on; None where nothing was measured.
    `ran`: the tests that it rests on, where our own judge ran them; the first few.
    """

    requirement_id: str
    word: Word
    said: str = ""
    evidence: str = ""
    note: str = ""
    signal: Signal | None = None
    failing_tests: int | None = None
    disposition: Disposition | Unproven = Disposition.REPAIRABLE
    is_proven: bool = False
    needs_person: bool = False
    command: str = ""
    how: str = ""
    expectation: Expectation | None = None
    tests: tuple[str, ...] = ()
    trials: Trials | None = None
    rests_on: Scope | None = None
    ran: tuple[RunTest, ...] = ()


@dataclass(frozen=True, slots=True)
class Report:
    """All verdicts of one verifier session: one for each expected id that it spoke of.

    An id that is missing here was passed over in silence. `notes` say what was odd: foreign ids, doubled rows,
    truncation. `is_readable` is false where no complete answer was found at all.
    """

    verdicts: dict[str, Verdict] = field(default_factory=dict)
    overall: str = ""
    summary: str = ""
    notes: tuple[str, ...] = ()
    is_readable: bool = True


def read_word(answer: object) -> Word:
    """Exact PASS is PASS, exact FAIL is FAIL, case and surrounding space forgiven; every other word is UNKNOWN."""
    if not isinstance(answer, str) or not (word := answer.strip()).isascii():
        return Word.UNKNOWN
    match word.upper():
        case "PASS":
            return Word.PASS
        case "FAIL":
            return Word.FAIL
    return Word.UNKNOWN
