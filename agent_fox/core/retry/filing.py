"""What is done to an issue, by how it stands in the tracker and what is to be said of it: a table, total and pure.

How an issue is found, and how it is written to, is the tracker's.
"""

from __future__ import annotations

from enum import StrEnum


class Seen(StrEnum):
    """How the issue of a cause stands in the tracker when something is to be said of it."""

    NEVER = "never filed"
    OPEN = "open"
    SPOKEN = "open, and a person has spoken since"
    PROVEN = "closed by us"
    FINISHED = "closed by a person as completed"
    OLD = "closed long ago"
    REFUSED = "closed by a person as not planned"
    MOVED = "moved to where we may not write"
    GONE = "deleted"


class Says(StrEnum):
    """What is to be said of a cause: that it fails (again), that part of it is repaired, that all of it is proven."""

    FAILING = "failing"
    PROGRESS = "progress"
    PROOF = "proof"


class Act(StrEnum):
    """What comes of it. Reopening and closing bring a comment with them."""

    CREATE = "create"
    COMMENT = "comment"
    REOPEN = "reopen"
    CLOSE = "close"
    NOTHING = "nothing"


TABLE: dict[Seen, tuple[Act, Act, Act]] = {
    Seen.NEVER: (Act.CREATE, Act.NOTHING, Act.NOTHING),
    Seen.OPEN: (Act.COMMENT, Act.COMMENT, Act.CLOSE),
    Seen.SPOKEN: (Act.COMMENT, Act.COMMENT, Act.COMMENT),
    Seen.PROVEN: (Act.REOPEN, Act.NOTHING, Act.NOTHING),
    Seen.FINISHED: (Act.REOPEN, Act.COMMENT, Act.COMMENT),
    Seen.OLD: (Act.CREATE, Act.NOTHING, Act.NOTHING),
    Seen.REFUSED: (Act.NOTHING, Act.NOTHING, Act.NOTHING),
    Seen.MOVED: (Act.NOTHING, Act.NOTHING, Act.NOTHING),
    Seen.GONE: (Act.CREATE, Act.NOTHING, Act.NOTHING),
}
"""For each sight what is done for FAILING, PROGRESS and PROOF. A person's no is never overruled: REFUSED and MOVED stay
as they are; what a person closed as completed is opened again when it fails again, for then it was not."""


def act(seen: Seen, says: Says) -> Act:
    """The cell of the table."""
    return TABLE[seen][list(Says).index(says)]
