"""Waivers and agreements: what a person signs about a requirement or finding, and whether that holds now. Pure.

Who signed is found out in `evidence.waivers`; rows are in `store.waivers`; what a waiver does to the plan in `engine`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import ClassVar, assert_never

from agent_fox.core.ledger.evidence import SpecRef
from agent_fox.core.regex import regex
from agent_fox.core.values import Json, dataclass, to_document, to_object

FORMAT = 1
PAYLOAD_TYPE = "application/vnd.agent-fox.waiver+json"
NAMESPACE = "agent-fox-waiver"
TIME = regex(r"[0-9]{4}(?:-[0-9]{2}){2}T[0-9]{2}(?::[0-9]{2}){2}\.[0-9]{3}Z")
ID = regex(r"[0-9a-f]{20}")
LONGEST_REASON = 2000
SHOWN_ID = 12


@dataclass(frozen=True, slots=True)
class AboutRequirement:
    """One requirement of one spec, in one version of its text."""

    spec: str
    requirement: str
    version: str
    kind: ClassVar[str] = "requirement"

    @property
    def address(self) -> str:
        return f"{self.spec}/{self.requirement}"


@dataclass(frozen=True, slots=True)
class AboutFinding:
    """One finding of the close-out gate. `detail_hash`: 16 hex digits of SHA-256 over the finding's detail.

    A `task` without attempt, such as `04_gateway:2`, stands for every attempt of it.
    """

    task: str
    check: str
    detail_hash: str
    kind: ClassVar[str] = "finding"

    @property
    def address(self) -> str:
        return f"{self.task} {self.check} {self.detail_hash}"

    def is_of(self, task: str) -> bool:
        """Whether the finding is one of this task."""
        node, at, _ = task.rpartition("@")
        return task == self.task or (bool(at) and node == self.task)


@dataclass(frozen=True, slots=True)
class AboutExpectation:
    """The changed expectation of a requirement's committed test. `committed`, `changed`: SHA-256 of its versions."""

    spec: str
    requirement: str
    version: str
    test: str
    committed: str
    changed: str
    kind: ClassVar[str] = "expectation"

    @property
    def address(self) -> str:
        return f"{self.spec}/{self.requirement}"


@dataclass(frozen=True, slots=True)
class AboutHidden:
    """Hidden checks that an agent has written. `digest`: SHA-256 of all of them, with their paths."""

    digest: str
    kind: ClassVar[str] = "hidden"

    @property
    def address(self) -> str:
        return HIDDEN


@dataclass(frozen=True, slots=True)
class AboutTraining:
    """What may be learned from, or may not: a word of `core.ledger.training.Act`, and a selector."""

    act: str
    selector: str
    purpose: str
    license: str
    kind: ClassVar[str] = "training"

    @property
    def address(self) -> str:
        return self.selector


TRAINING = "training"
"""The name, in the rows of waivers, of a permission to learn from something."""

HIDDEN = "hidden checks"
"""The name, in the rows of waivers, of what an acceptance of hidden checks is about."""

Subject = AboutRequirement | AboutFinding | AboutExpectation | AboutHidden | AboutTraining

NEVER = "9999-12-31T23:59:59.999Z"
"""When an agreement expires: it ends with the versions that it is bound to, or by a person."""


@dataclass(frozen=True, slots=True)
class Statement:
    """What is signed. `dependencies`: name to hash, in order, `spec:NAME` or `file:PATH`; `id` is new every time.

    `signer` is the principal and `key` the fingerprint of the key. Times are ISO 8601, UTC, with milliseconds.
    """

    id: str
    repository: str
    subject: Subject
    dependencies: tuple[tuple[str, str], ...]
    reason: str
    granted_at: str
    expires_at: str
    signer: str
    key: str

    def content(self) -> dict[str, Json]:
        """The document whose canonical JSON is signed."""
        return {
            "format": FORMAT,
            **to_object(self),
            "subject": {"kind": self.subject.kind, **to_object(self.subject)},
            "dependencies": to_document(dict(self.dependencies)),
        }


def reference(subject: Subject) -> SpecRef:
    """How the ledger names what a waiver is about."""
    match subject:
        case AboutRequirement() | AboutExpectation():
            return SpecRef(subject.kind, subject.address, subject.version)
        case AboutHidden():
            return SpecRef(subject.kind, subject.address, subject.digest)
        case AboutTraining():
            return SpecRef(subject.kind, subject.selector)
        case AboutFinding():
            return SpecRef("task", subject.task, subject.detail_hash)
        case _:
            assert_never(subject)


CHANGED = "changed expectation"
"""The name, in the rows of waivers, of what an agreement is about."""


@dataclass(frozen=True, slots=True)
class Columns:
    """What the row of a waiver says beside the envelope, to be asked by SQL: never believed without it."""

    kind: str
    spec_name: str
    address: str
    version: str
    check_name: str
    detail_hash: str
    reason: str
    signer: str
    granted_at: str
    expires_at: str


def columns_of(statement: Statement) -> Columns:
    terms = (statement.reason, statement.signer, statement.granted_at, statement.expires_at)
    match statement.subject:
        case AboutRequirement(spec, requirement, version):
            return Columns("requirement", spec, requirement, version, "", "", *terms)
        case AboutFinding(task, check, detail_hash):
            return Columns("finding", "", task, "", check, detail_hash, *terms)
        case AboutExpectation(spec, requirement, version, test, committed, changed):
            return Columns("finding", spec, requirement, version, CHANGED, f"{committed} {changed} {test}", *terms)
        case AboutHidden(digest):
            return Columns("finding", "", HIDDEN, "", HIDDEN, digest, *terms)
        case AboutTraining(act, selector, purpose, license):
            return Columns("finding", "", selector, "", TRAINING, f"{act} {purpose}\n{license}", *terms)
        case _:
            assert_never(statement.subject)


@dataclass(frozen=True, slots=True)
class Waiver:
    """A row of the state file, read. Everything that holds is in `statement`, as it was signed.

    statement: None where the envelope cannot be read, or nobody trusted signed it: `flaw` then says why.
    over: how it ended (`revoked on ...`), or that its gate has left `waived`, empty while it did not; is_ended: its
    end was noted; is_recorded: the ledger has its grant, the same.
    """

    id: str
    columns: Columns
    statement: Statement | None
    flaw: str = ""
    over: str = ""
    is_ended: bool = False
    is_recorded: bool = True


@dataclass(frozen=True, slots=True)
class Circumstances:
    """What a waiver is held against. `at`: the time, never before the last record of the ledger.

    versions: address of a requirement to the version of its text; dependencies: name to hash; trouble: why no waiver
    can be believed at all (nobody knows the repository, the ledger was put back), else empty.
    """

    at: str
    repository: str
    versions: Mapping[str, str]
    dependencies: Mapping[str, str]
    trouble: str = ""


def why_not(waiver: Waiver, now: Circumstances) -> str:
    """Why a waiver does not count now, in words for a person; empty where it counts."""
    if now.trouble:
        return now.trouble
    if waiver.statement is None:
        return waiver.flaw or "nobody trusted has signed it"
    return _why_other(waiver, waiver.statement) or waiver.over or _why_not_now(waiver.statement, now)


def _why_other(waiver: Waiver, statement: Statement) -> str:
    """What is signed is not what stands in the state file."""
    if waiver.id != statement.id:
        return f"its envelope belongs to waiver {statement.id[:SHOWN_ID]}"
    if waiver.columns != columns_of(statement):
        return "its row says something else than what was signed"
    if not waiver.is_recorded:
        return "the ledger has no record that it was granted"
    return ""


def _why_not_now(statement: Statement, now: Circumstances) -> str:
    if statement.repository != now.repository:
        return "it was signed for another repository"
    if not TIME.fullmatch(statement.granted_at) or not TIME.fullmatch(statement.expires_at):
        return "its times cannot be read"
    if now.at < statement.granted_at:
        return f"it was granted at {statement.granted_at}, and the clock stands before that"
    if now.at >= statement.expires_at:
        return f"it expired at {statement.expires_at}"
    return _why_outdated(statement, now)


def _why_outdated(statement: Statement, now: Circumstances) -> str:
    subject = statement.subject
    if not isinstance(subject, AboutFinding | AboutHidden | AboutTraining):  # these are bound to no text
        version = now.versions.get(subject.address)
        if version is None:
            return f"{subject.requirement} is not in the plan any more"
        if version != subject.version:
            return "the text of the requirement has changed"
    moved = [name for name, digest in statement.dependencies if now.dependencies.get(name) != digest]
    return f"what it depends on has changed: {', '.join(moved)}" if moved else ""


@dataclass(frozen=True, slots=True)
class Ending:
    """That a waiver ends for good: `expired`, or `over` for any other reason."""

    kind: str
    why: str


def ending(waiver: Waiver, now: Circumstances) -> Ending | None:
    """What ends a waiver for good, now. None where it counts, was ended, or only cannot be judged here and now."""
    if now.trouble or waiver.is_ended:
        return None
    statement, why = waiver.statement, why_not(replace(waiver, over=""), now) or waiver.over
    if not why or (statement is not None and not waiver.over and now.at < statement.granted_at):
        return None
    is_expired = statement is not None and not waiver.over and now.at >= statement.expires_at
    return Ending("expired" if is_expired else "over", why)


def describe(statement: Statement) -> str:
    """A waiver in one line, for reports and issues: about what, by whom, until when, why."""
    subject = statement.subject
    if isinstance(subject, AboutExpectation):
        return f"{subject.address}: the change of {subject.test} is agreed to by {statement.signer}: {statement.reason}"
    if isinstance(subject, AboutHidden):
        return f"hidden checks {subject.digest[:SHOWN_ID]} were read by {statement.signer}: {statement.reason}"
    if isinstance(subject, AboutTraining):
        until = "" if statement.expires_at == NEVER else f" until {statement.expires_at[:16]}Z"
        terms = f" for {subject.purpose}" if subject.purpose else ""
        named = f", under {subject.license}" if subject.license else ""
        return (
            f"{subject.selector}: training {subject.act}{terms}{named} by {statement.signer}{until}: {statement.reason}"
        )
    return f"{subject.address} waived by {statement.signer} until {statement.expires_at[:16]}Z: {statement.reason}"


_WORD = r"(?:waive|waives|waived|waiving|waiver|waivers)"
_NOT = regex(rf"\b(?:no|not|never|without|nor|isn't|don't|doesn't|didn't|cannot)\b[^.!?;,\n]{{0,40}}\b{_WORD}\b", re.I)
_ASKS = regex(
    rf"\b(?:please|ask(?:s|ed|ing)?|request(?:s|ed|ing)?|petition(?:s|ed|ing)?|need(?:s|ed)?|require(?:s|d)?|suggest"
    rf"(?:s|ed|ing)?|recommend(?:s|ed|ing)?|propos(?:e|es|ed|ing)|grant|want(?:s|ed)?|should|could|must|would)\b"
    rf"[^.!?\n]{{0,60}}\b{_WORD}\b"
    rf"|\b{_WORD}\b[^.!?\n]{{0,40}}\b(?:please|requested|needed|required|recommended|suggested|proposed)\b",
    re.I,
)


def asks_for_waiver(text: str) -> bool:
    """Whether a text asks a person to waive something. Cautious: a text that only mentions waivers does not."""
    return any(_ASKS.search(part) and not _NOT.search(part) for part in re.split(r"(?<=[.!?\n])\s+", text))
