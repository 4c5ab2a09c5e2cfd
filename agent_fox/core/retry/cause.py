"""Why a node stops for good, in the words of the history, of issues and of screens. Loads nothing: screens need it."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Self


class Cause(StrEnum):
    """Why a node is held back; the words stand in the blocking history and in issues.

    `row` is the row of the decision table that blocks for it (None: no row does), `remedy` what a person does about it.
    """

    row: int | None
    remedy: str

    NEEDS_PERSON = (
        "needs a person", 2, "do what the findings ask (often a change of the spec), then: agent-fox reset",
    )  # fmt: skip
    SPEC_FAULT = "spec fault", 2, "correct the spec: the next `agent-fox run` reads it again by itself"
    RETRY_DISABLED = "retry disabled", 4, "allow retries ([retry] retry_predecessor = true), then: agent-fox reset"
    CEILING = "ceiling", 5, "raise the ceiling in [limits], then: agent-fox reset"
    ATTEMPTS_SPENT = (
        "attempts spent", 6, "clarify the spec or set a stronger agent, then: agent-fox reset",
    )  # fmt: skip
    NO_PROGRESS = (
        "no progress",
        7,
        "set a stronger agent ([[agents.coder.rungs]]) or help by hand, then: agent-fox reset",
    )
    NOTHING_TO_PROVE = (
        "nothing to prove", 9, "write requirements with ids into the spec: it is then planned again by itself",
    )  # fmt: skip
    NO_CLEAR_VERDICT = (
        "no clear verdict",
        11,
        "see in its log why the verifier gave no clear answer, then: agent-fox reset",
    )
    CASCADE = "depends on a blocked node"

    def __new__(cls, words: str, row: int | None = None, remedy: str = "") -> Self:
        member = str.__new__(cls, words)
        member._value_, member.row, member.remedy = words, row, remedy
        return member
