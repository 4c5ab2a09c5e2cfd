"""Changed expectations: committed tests that fail although the tests of the tree pass, and what follows. Pure.

Source of the rules: `docs/proof.md`, "The committed tests".
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum

from agent_fox.core.values import dataclass


class Seal(StrEnum):
    """What the tests that a person committed do, in the words in which they were committed.

    All but HOLDS: they fail although the tests of the tree pass. WEAKENED and CHANGED: without, and with, a reason that
    was stated. OLDER: with a reason, and the requirement's text is younger. ASKED: with a reason, and the final review
    is asked about it. AGREED: a person signed for it. REPORTED: nothing follows, by `[verify] sealed`.
    """

    HOLDS = "the committed tests pass"
    WEAKENED = "weakened test"
    CHANGED = "changed expectation"
    OLDER = "the committed test was older than the requirement"
    ASKED = "changed expectation, about which the final review is asked"
    AGREED = "agreed"
    REPORTED = "reported"

    @property
    def is_open(self) -> bool:
        """Whether the requirement's tests may count, as far as they can fail."""
        return self not in (Seal.WEAKENED, Seal.CHANGED)


class Sealed(StrEnum):
    """What follows where a committed test fails and the tests of the tree pass (`[verify] sealed`)."""

    REVIEW = "review"
    REFUSE = "refuse"
    REPORT = "report"


@dataclass(frozen=True, slots=True)
class Expectation:
    """A committed test that fails in the words in which it was committed.

    files: those of the test side that decide about it: its own, and what was changed beside files of tests.
    committed, changed: SHA-256 of these files, as they were committed and as they are now.
    reason: the coder's sentence about it, empty where none was stated; before, after: the lines that differ, bounded.
    is_asked: the final review is asked about it, and has the last word.
    """

    test: str
    files: tuple[str, ...]
    committed: str
    changed: str
    reason: str = ""
    before: str = ""
    after: str = ""
    is_asked: bool = False


@dataclass(frozen=True, slots=True)
class Agreed:
    """A person's signed word that an expectation may be changed: of this requirement, from and to these versions."""

    requirement: str
    committed: str
    changed: str
    by: str


def agreed_by(expectation: Expectation, requirement: str, agreements: Iterable[Agreed]) -> str:
    """Who agreed to just this change; empty where nobody did."""
    wanted = (requirement, expectation.committed, expectation.changed)
    return next(
        (
            agreement.by
            for agreement in agreements
            if (agreement.requirement, agreement.committed, agreement.changed) == wanted
        ),
        "",
    )


def seal_of(expectation: Expectation, sealed: Sealed, *, is_older: bool, by: str, is_reviewed: bool = False) -> Seal:
    """What a committed test that fails amounts to. `is_older`: than the requirement's text, by the person's history.

    `by`: who agreed to the change, or empty. `is_reviewed`: a final review reads the spec when it is verified.
    """
    if sealed is Sealed.REPORT:
        return Seal.REPORTED
    if sealed is Sealed.REFUSE:
        return Seal.WEAKENED
    if by:
        return Seal.AGREED
    if not expectation.reason:
        return Seal.WEAKENED
    if is_older:
        return Seal.OLDER
    return Seal.ASKED if is_reviewed else Seal.CHANGED
