"""One record of the evidence ledger: its fields, its address and its link in the chain. Where it is kept is not here.

A record is named by the hash of its content, and chained to the one before it: who removes, moves or changes a record
breaks every head after it. Source of the fields: ADR 0024; of the rows: ADR 0052.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import field, replace
from enum import StrEnum

from agent_fox.core.values import Json as Json
from agent_fox.core.values import dataclass, to_object

FORMAT, OLD_FORMAT = 2, 1
"""Records of the old format name no repository, and nothing binds the rows beside them."""

GENESIS = hashlib.sha256(b"agent-fox evidence ledger 1").hexdigest()
"""The head of a ledger without records."""


class Kind(StrEnum):
    """What a record is about."""

    RUN = "run"
    SESSION = "session"
    DECISION = "decision"
    BLOCK = "block"
    VERDICT = "verdict"
    CHECK = "check"
    GATE = "gate"
    CLOSE_OUT = "close-out"
    WAIVER = "waiver"
    SPECIFICATION = "specification"
    REVIEW = "review"
    FRESH = "fresh"
    """Nothing that the verdicts of a spec rest on differs between the tree that was read and a later one."""
    TRAINING = "training"
    """What may be learned from: asked for, exported, taken back after an export."""
    HIDDEN = "hidden"
    MEMORY = "memory"
    LOSS = "loss"
    ROWS = "rows"
    """What became of the rows of the state file in one transaction; see `Change`."""


class ReviewerDecision(StrEnum):
    """What a reviewer or a person has made of what the record is about."""

    PENDING = "pending"
    ACCEPTED = "accepted"
    REJECTED = "rejected"
    WAIVED = "waived"


@dataclass(frozen=True, slots=True)
class SpecRef:
    """What a record is evidence about: one checkable thing, in one version. Empty where it is about no such thing.

    `kind` is a kind of the specification library (`requirement`, `property`, ...), or `node`, `task`, `run`, or
    `expectation`, of a requirement's committed test;
    `address` as in `04_gateway/04-REQ-1.1`; `version` the hash of its text.
    """

    kind: str = ""
    address: str = ""
    version: str = ""


@dataclass(frozen=True, slots=True)
class RunContext:
    """Who produced a record, and how. `environment` and `verifier` are what the record counts for, besides its tree.

    command: the command line that ran, if one did; environment: a hash, see `environment_hash`; ticket: as in
    `04_gateway:3@1.1`.
    """

    command: str = ""
    environment: str = ""
    verifier: str = ""
    ticket: str = ""
    run: int | None = None
    session: int | None = None
    decision: int | None = None


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of it. `status` is a word of its kind (PASS, FAIL, UNKNOWN; Accept, Recode; tested, rejected; ...)."""

    status: str
    counterexample: str = ""
    diff_ref: str = ""
    log_ref: str = ""


@dataclass(frozen=True, slots=True)
class Feedback:
    """What may once be learned from a record. Nothing is, until a person says so: `used_for_training` is explicit."""

    kind: str = ""
    payload_ref: str = ""
    teacher_context_ref: str = ""
    credit_scope: str = ""
    used_for_training: bool = False


@dataclass(frozen=True, slots=True)
class Artifact:
    """The files that a record is about: the id of their git tree, and of the commit."""

    tree: str = ""
    commit: str = ""


@dataclass(frozen=True, slots=True)
class Repository:
    """Whose record it is: a random id of the state, and the first commit of the repository's work (empty where it has
    none yet, or its history is not complete). No id: a record of the old format."""

    id: str = ""
    root: str = ""


@dataclass(frozen=True, slots=True)
class Evidence:
    """One record before it is chained. `identity` names the event for ever: the same event is never recorded twice.

    `timestamp` is ISO 8601 in UTC. `body` holds what this kind has beside the fields that all have.
    """

    kind: Kind
    identity: str
    timestamp: str
    outcome: Outcome
    about: SpecRef = SpecRef()
    context: RunContext = RunContext()
    artifact: Artifact = Artifact()
    feedback: Feedback = Feedback()
    reviewer_decision: ReviewerDecision = ReviewerDecision.PENDING
    limitation: str = ""
    body: Mapping[str, Json] = field(default_factory=dict)
    repository: Repository = Repository()

    def limited(self, why: str) -> Evidence:
        """The same with one more limitation."""
        return replace(self, limitation=f"{self.limitation}; {why}" if self.limitation else why)


@dataclass(frozen=True, slots=True)
class Link:
    """A record's place in the chain: `record_id` is the hash of its content, `head` that of all up to it."""

    position: int
    record_id: str
    previous: str
    head: str


def content_of(record: Evidence, repository: Repository | None = None) -> dict[str, Json]:
    """The record as the JSON document whose hash names it; in the ledger of another repository than it names, if one
    is given. Its body is taken as it stands, which is JSON already."""
    repository = repository or record.repository
    return {
        "format": FORMAT if repository.id else OLD_FORMAT,
        **({"repository": to_object(repository)} if repository.id else {}),
        "kind": record.kind.value,
        "identity": record.identity,
        "spec_ref": to_object(record.about),
        "run_context": to_object(record.context),
        "result": to_object(record.outcome),
        "feedback": to_object(record.feedback),
        "artifact": to_object(record.artifact),
        "reviewer_decision": record.reviewer_decision.value,
        "limitation": record.limitation,
        "timestamp": record.timestamp,
        "body": dict(record.body),
    }


SPELLED = json.JSONEncoder(sort_keys=True, separators=(",", ":"), allow_nan=False)
WEIGHED = json.JSONEncoder(sort_keys=True, separators=(",", ":"))


def canonical(content: Mapping[str, Json]) -> str:
    """JSON with sorted keys and no space, ASCII only: one spelling for one content, on every machine.

    Raises ValueError for a number that JSON has no spelling for.
    """
    return SPELLED.encode(content)


def record_id(content: str) -> str:
    """The address of a record: SHA-256 of its canonical JSON, in hex."""
    return hashlib.sha256(content.encode()).hexdigest()


def head_after(previous: str, record: str) -> str:
    """The head of the chain once the record with this id stands behind `previous`."""
    return hashlib.sha256(f"{previous}:{record}".encode()).hexdigest()


def linked(position: int, previous: str, content: str) -> Link:
    """The link of the record with this canonical content."""
    name = record_id(content)
    return Link(position, name, previous, head_after(previous, name))


OF_CHECKS: Mapping[str, object] = {
    "commands": [], "reports": [], "untested": "fail", "network": False, "profile": None,
}  # fmt: skip
"""Settings of `[verify]` that say what the judge `checks` runs, with what they are where nobody sets them."""


def environment_parts(
    platform: str, machine: str, python: tuple[int, int], chosen: Mapping[str, object], *, is_open: bool
) -> dict[str, str]:
    """What an environment is named by. `chosen`: the settings of `OF_CHECKS`; `is_open`: commands run without a
    sandbox."""
    return {
        "platform": platform,
        "machine": machine,
        "python": ".".join(map(str, python)),
        "sandbox": "no" if is_open else "yes",
        "verify": json.dumps({key: chosen[key] for key in OF_CHECKS}, sort_keys=True, default=str),
    }


def environment_hash(facts: Mapping[str, str]) -> str:
    """The name of an environment: 16 hex digits over its facts (platform, sandbox, settings of the judge)."""
    return hashlib.sha256(json.dumps(dict(facts), sort_keys=True).encode()).hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class Freshness:
    """What a record must agree with to count now."""

    tree: str
    version: str
    environment: str
    verifier: str


def why_stale(record: Freshness, now: Freshness) -> tuple[str, ...]:
    """In which respects a record is about something else than what stands now; empty where it counts."""
    pairs = (
        ("the code", record.tree, now.tree),
        ("the text of the specification", record.version, now.version),
        ("the environment", record.environment, now.environment),
        ("the verifier", record.verifier, now.verifier),
    )
    return tuple(f"{what} has changed" for what, then, current in pairs if then != current)


# Rows of the state file as evidence: what became of them in one transaction, and sums that stand for all of them. The
# state is a fold of these changes. A sum over rows is moved by every change without looking at the others, so that
# whether the rows that stand are those of the ledger can be asked without reading its history.

Cell = None | int | float | str
Row = Mapping[str, Cell]
"""A row by its columns; a column that has the default of its table is left out, so that a new column changes no sum."""

CLAIMS = frozenset({"plan_specs", "plan_nodes", "plan_edges", "plan_parts", "verification_results", "gate_history"})
"""What a screen says to be proven is read from these tables; their sum is kept apart, to be held against each time."""

MODULUS = 1 << 256
DIGITS = 64


class NotSums(ValueError):
    """A text that no sums are written in."""


@dataclass(frozen=True, slots=True)
class Change:
    """One row before and after; None: there was, or there is, no such row."""

    table: str
    before: Row | None
    after: Row | None


@dataclass(frozen=True, slots=True)
class Sums:
    """The sums over the rows of CLAIMS, and over all rows that are evidence."""

    claims: int = 0
    whole: int = 0

    def moved(self, change: Change) -> Sums:
        by = _weight(change.table, change.after) - _weight(change.table, change.before)
        claims = (self.claims + by) % MODULUS if change.table in CLAIMS else self.claims
        return Sums(claims, (self.whole + by) % MODULUS)

    def __str__(self) -> str:
        return f"{self.claims:0{DIGITS}x}.{self.whole:0{DIGITS}x}"

    @classmethod
    def read(cls, text: str) -> Sums:
        """Raises NotSums."""
        try:
            sums = cls(int(text[:DIGITS], 16), int(text[DIGITS + 1 :], 16))
        except ValueError as error:
            raise NotSums(f"no sums of rows: {text[:40]!r}") from error
        if str(sums) != text:
            raise NotSums(f"no sums of rows: {text[:40]!r}")
        return sums


def _weight(table: str, row: Row | None) -> int:
    """A row as a number; none weighs nothing."""
    if row is None:
        return 0
    text = WEIGHED.encode([table, row])
    return int.from_bytes(hashlib.sha256(text.encode()).digest())
