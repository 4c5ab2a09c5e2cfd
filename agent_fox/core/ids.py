"""Names of things: nodes and tickets. How a node's name is written and read; nothing about what happens to it."""

from __future__ import annotations

import hashlib
from enum import StrEnum

from agent_fox.core.regex import regex
from agent_fox.core.values import dataclass


class Archetype(StrEnum):
    """What a node does: coders write, reviewers read, verifiers give one verdict per requirement."""

    CODER = "coder"
    REVIEWER = "reviewer"
    VERIFIER = "verifier"


class Mode(StrEnum):
    """What a reviewer looks at."""

    PRE_REVIEW = "pre-review"
    DRIFT_REVIEW = "drift-review"
    AUDIT_REVIEW = "audit-review"
    FINAL_REVIEW = "final-review"


@dataclass(frozen=True, slots=True, order=True)
class Ticket:
    """Names one session for ever. `attempt` counts the node's tries, `reading` a verifier's tries at one attempt.

    Both start at 1; a coder's reading is always 1.
    """

    node_uid: str
    attempt: int
    reading: int = 1

    def __str__(self) -> str:
        return f"{self.node_uid}@{self.attempt}.{self.reading}"


@dataclass(frozen=True, slots=True)
class NodeName:
    """A node's name as a person writes it: `spec:group[:role[:mode]]`."""

    spec: str
    group: int | None
    role: str | None = None
    mode: str | None = None

    def __str__(self) -> str:
        parts = [self.spec, "" if self.group is None else str(self.group), self.role, self.mode]
        return ":".join(part for part in parts if part)


_NAME = regex(r"^(?P<spec>[^:]+):(?P<group>\d+)(?::(?P<role>[a-z_-]+))?(?::(?P<mode>[a-z_-]+))?$")


def parse_node_name(text: str) -> NodeName:
    """Read `spec:group[:role[:mode]]`. Raises ValueError for anything else.

    The older spelling `SPEC:N:auditor` is read as `SPEC:N:reviewer:audit-review`.
    """
    match = _NAME.match(text.strip())
    if match is None:
        raise ValueError(f"{text!r} is not a node id; expected SPEC:GROUP[:ROLE[:MODE]], such as 04_gateway:3")
    role, mode = match["role"], match["mode"]
    if role == "auditor" and mode is None:
        role, mode = Archetype.REVIEWER.value, Mode.AUDIT_REVIEW.value
    return NodeName(match["spec"], int(match["group"]), role, mode)


def digest_of(*parts: str, digits: int | None = None) -> str:
    """Names texts by what they say: SHA-256 over them, with a zero byte between two; its first `digits` alone."""
    return hashlib.sha256("\0".join(parts).encode(errors="surrogatepass")).hexdigest()[:digits]
