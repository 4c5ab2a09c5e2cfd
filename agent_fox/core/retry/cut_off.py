"""A coder's session that was cut off: what is remembered of the files it left, as a value and in words."""

from __future__ import annotations

from enum import StrEnum

from agent_fox.core.values import dataclass
from agent_fox.core.words import counted

KEPT_DAYS = 14
"""For so long the files of a session that was cut off are kept under a reference."""

DIGITS = 12


class Resume(StrEnum):
    """What the next attempt is given of it (`[retry] resume`): the difference as a file, the files themselves, or
    nothing.
    """

    HANDOFF = "handoff"
    CONTINUE = "continue"
    FRESH = "fresh"


@dataclass(frozen=True, slots=True)
class CutOff:
    """What a session that was cut off had done, as one commit on the commit it was pinned to.

    `why` is how it ended, `until` the last day (ISO 8601) that it is kept. `left_out` names paths that are not kept,
    each with the reason. Where nothing could be kept, `commit` and `ref` are empty.
    """

    session: int
    attempt: int
    why: str
    until: str
    base: str
    commit: str
    ref: str
    files: int = 0
    added: int = 0
    removed: int = 0
    left_out: tuple[str, ...] = ()

    @property
    def size(self) -> str:
        """How much it had changed."""
        return f"{counted(self.files, 'file')}, +{self.added} -{self.removed} lines"

    @property
    def command(self) -> str:
        """The command that shows it, in the person's repository as well as in a workspace."""
        return f"git diff {self.base[:DIGITS]} {self.commit[:DIGITS]}"

    @property
    def in_words(self) -> str:
        """In a sentence, for a person."""
        lost = f"not kept: {'; '.join(self.left_out)}" if self.left_out else ""
        kept = f"what it had done ({self.size}) is kept as {self.ref} until {self.until}: {self.command}"
        return "; ".join(filter(None, (kept if self.commit else "", lost)))
