"""What a report amounts to: SOUND, FAULTY or UNCLEAR. Which verdict counts, given what was read before on this tree.

Source of the rules: `docs/semantics.md`, "Verdicts" and "Judging".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from enum import StrEnum

from agent_fox.core.values import dataclass
from agent_fox.core.verdicts.verdict import Disposition, Report, Verdict, Word


class Judgement(StrEnum):
    SOUND = "SOUND"
    FAULTY = "FAULTY"
    UNCLEAR = "UNCLEAR"


@dataclass(frozen=True, slots=True)
class PastReading:
    """What an earlier reading on the same tree said of a requirement. `word` is what was read, before combining."""

    word: Word
    attempt: int
    reading: int


@dataclass(frozen=True, slots=True)
class Counted:
    """A verdict as it counts: `read` is what this report said (dispositions applied), `word` what it amounts to.

    `is_silent`: this report said nothing of it; `word` then comes from an earlier reading, or is UNKNOWN.
    """

    verdict: Verdict
    read: Word
    word: Word
    is_silent: bool = False


@dataclass(frozen=True, slots=True)
class Judged:
    """A report, judged: every expected id has its counted verdict. Ids stand in the order of the spec."""

    judgement: Judgement
    counted: Mapping[str, Counted]
    failing: tuple[str, ...]
    unknown: tuple[str, ...]
    waived: tuple[str, ...] = ()

    @property
    def is_expecting(self) -> bool:
        """Whether anything had to be proven at all."""
        return bool(self.counted)


NOT_THE_CODERS_FAULT = frozenset({Disposition.INFRASTRUCTURE, Disposition.ENVIRONMENT, Disposition.VERIFIER_FAULT})
PASSES_WHEN_PROVEN = frozenset({Disposition.FLAKY, Disposition.PRE_EXISTING})


def dispose(verdict: Verdict) -> Verdict:
    """Apply the disposition of a FAIL: proven flaky or pre-existing passes, what is not the code's fault is UNKNOWN."""
    if verdict.word is not Word.FAIL:
        return verdict
    if verdict.disposition in NOT_THE_CODERS_FAULT:
        return replace(
            verdict,
            word=Word.UNKNOWN,
            note=_noted(verdict, f"{verdict.disposition}, not a fault of the code"),
        )
    if verdict.disposition in PASSES_WHEN_PROVEN and verdict.is_proven:
        return replace(verdict, word=Word.PASS, note=_noted(verdict, f"proven {verdict.disposition}"))
    return verdict


def _noted(verdict: Verdict, note: str) -> str:
    return f"{verdict.note}; {note}" if verdict.note else note


def agree(words: tuple[Word, ...]) -> Word:
    """Combine definite readings of one requirement on one tree, oldest first.

    Once both PASS and FAIL were read, the last two must agree, else UNKNOWN.
    """
    if not words:
        return Word.UNKNOWN
    if len(set(words)) == 1:
        return words[-1]
    *_, before, last = words
    return last if last is before else Word.UNKNOWN


def count(
    requirement_id: str, verdict: Verdict | None, past: tuple[PastReading, ...], attempt: int, since: int, why: str = ""
) -> Counted:
    """The verdict that counts for one requirement.

    `past` holds the earlier readings on this tree, oldest first. Silence keeps a PASS of this attempt that was read
    after reading `since` (the last reopening); it never keeps a FAIL, and never makes one. `why` says what kept the
    whole report silent.
    """
    definite = tuple(reading.word for reading in past if reading.word is not Word.UNKNOWN)
    if verdict is None:
        return _silent(requirement_id, past, definite, attempt, since, why)
    disposed = dispose(verdict)
    if disposed.word is Word.UNKNOWN:
        return Counted(disposed, Word.UNKNOWN, Word.UNKNOWN)
    word = agree((*definite, disposed.word))
    if word is not disposed.word:
        unconfirmed = f"{disposed.word} not confirmed: another reading of this tree said otherwise"
        disposed = replace(disposed, note=_noted(disposed, unconfirmed))
    return Counted(disposed, disposed.word, word)


def _silent(
    requirement_id: str, past: tuple[PastReading, ...], definite: tuple[Word, ...], attempt: int, since: int, why: str
) -> Counted:
    mine = [reading.word for reading in past if reading.attempt == attempt and reading.reading > since]
    held = bool(mine) and mine[-1] is Word.PASS and agree(definite) is Word.PASS
    note = "read before on this tree" if held else "no verdict"
    word = Word.PASS if held else Word.UNKNOWN
    return Counted(Verdict(requirement_id, word, evidence=why, note=note), Word.UNKNOWN, word, is_silent=True)


def judge(
    report: Report,
    expected: tuple[str, ...],
    *,
    past: Mapping[str, tuple[PastReading, ...]] | None = None,
    waived: frozenset[str] = frozenset(),
    attempt: int = 1,
    since: int = 0,
) -> Judged:
    """FAULTY if any FAIL is left; SOUND if something is expected and all of it passes or is waived; else UNCLEAR."""
    readings = past or {}
    why = "" if report.is_readable else "; ".join(report.notes)
    counted = {
        part: count(part, report.verdicts.get(part), readings.get(part, ()), attempt, since, why) for part in expected
    }
    return amount(counted, waived)


def amount(counted: Mapping[str, Counted], waived: frozenset[str] = frozenset()) -> Judged:
    """What verdicts that count, one for each expected id, amount to."""
    open_parts = {part: c for part, c in counted.items() if part not in waived}
    failing = tuple(part for part, c in open_parts.items() if c.word is Word.FAIL)
    unknown = tuple(part for part, c in open_parts.items() if c.word is Word.UNKNOWN)
    used = tuple(part for part, c in counted.items() if part in waived and c.word is not Word.PASS)
    return Judged(_judgement(bool(counted), failing, unknown), counted, failing, unknown, used)


def _judgement(is_expecting: bool, failing: tuple[str, ...], unknown: tuple[str, ...]) -> Judgement:
    if failing:
        return Judgement.FAULTY
    if is_expecting and not unknown:
        return Judgement.SOUND
    return Judgement.UNCLEAR
