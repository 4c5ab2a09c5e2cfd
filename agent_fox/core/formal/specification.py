"""What can be checked: its kinds, its version, the check that belongs to it, and who may make it count.

Reading files, keeping rows and running checks is elsewhere. Source: ADR 0031.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import field
from enum import StrEnum
from typing import Literal

from agent_fox.core.ids import digest_of
from agent_fox.core.spec import text_version
from agent_fox.core.values import dataclass, to_document

LIBRARY = "library"
"""The first part of the address of what belongs to no single spec."""

ALL = "all"
"""In place of a requirement's id: every requirement of the spec."""

VERSION_DIGITS = 16
EXAMPLES = 200
PROVING_SECONDS = 30.0


class SpecKind(StrEnum):
    """What a specification is about, from a line of code to a person's judgement."""

    REQUIREMENT = "requirement"
    ASSERTION = "assertion"
    CONTRACT = "contract"
    PROPERTY = "property"
    TEMPORAL = "temporal property"
    THEOREM = "theorem"
    CHECKLIST = "checklist"


class State(StrEnum):
    """Whether a specification counts. What is proposed binds nothing."""

    PROPOSED = "proposed"
    ADOPTED = "adopted"
    WITHDRAWN = "withdrawn"


class Who(StrEnum):
    """Who added a specification, or changed its state."""

    SPEC = "spec"
    PERSON = "person"
    AGENT = "agent"


@dataclass(frozen=True, slots=True)
class ChosenTests:
    """Tests by name (`tests/test_gate.py::test_closed`), or a whole command line; each must run and pass."""

    select: tuple[str, ...] = ()
    command: str = ""
    lane: Literal["tests"] = "tests"


@dataclass(frozen=True, slots=True)
class PropertyTests:
    """Tests that hypothesis feeds, with `examples` each, the same ones every time."""

    select: tuple[str, ...]
    examples: int = EXAMPLES
    lane: Literal["properties"] = "properties"


@dataclass(frozen=True, slots=True)
class TraceFormula:
    """A formula over what the coders' sessions recorded; see `core.temporal`."""

    formula: str
    lane: Literal["temporal"] = "temporal"


@dataclass(frozen=True, slots=True)
class FunctionContract:
    """What a function promises: `function` as `package.module:name`, conditions as Python expressions.

    `post` sees the arguments and `__return__`. `raises` names exceptions that it may raise.
    """

    function: str
    signature: str
    post: tuple[str, ...]
    pre: tuple[str, ...] = ()
    raises: tuple[str, ...] = ()
    seconds: float = PROVING_SECONDS
    lane: Literal["contract"] = "contract"


@dataclass(frozen=True, slots=True)
class TheoremStatement:
    """A formula in SMT-LIB that must follow from the `axioms` (declarations and assertions)."""

    goal: str
    axioms: str = ""
    seconds: float = PROVING_SECONDS
    lane: Literal["theorem"] = "theorem"


@dataclass(frozen=True, slots=True)
class Checklist:
    """Questions for a reviewer. No program answers them."""

    items: tuple[str, ...]
    lane: Literal["checklist"] = "checklist"


Check = ChosenTests | PropertyTests | TraceFormula | FunctionContract | TheoremStatement | Checklist

CHECK_OF: dict[SpecKind, type[Check]] = {
    SpecKind.ASSERTION: ChosenTests,
    SpecKind.CONTRACT: FunctionContract,
    SpecKind.PROPERTY: PropertyTests,
    SpecKind.TEMPORAL: TraceFormula,
    SpecKind.THEOREM: TheoremStatement,
    SpecKind.CHECKLIST: Checklist,
}
FORMAL = frozenset({SpecKind.CONTRACT, SpecKind.THEOREM})


@dataclass(frozen=True, slots=True)
class Specification:
    """One checkable thing. `address`: `04_gateway/04-REQ-1.2`, `04_gateway/retries-end`, `library/no-secrets`.

    `requirements`: the addresses of what it is evidence for (`04_gateway/all`: every requirement of that spec).
    `check` is None for requirements alone: the verifier judges them. `doubt` says why nothing that a check shows may
    count, such as an adoption that nobody signed who is trusted: it binds all the same, and holds what it binds back.
    """

    address: str
    kind: SpecKind
    text: str
    requirements: tuple[str, ...] = ()
    check: Check | None = None
    doubt: str = ""

    @property
    def version(self) -> str:
        """16 hex digits over text, check and links; of a requirement those of its text."""
        if self.check is None:
            return text_version(self.text)
        parts = {
            "kind": self.kind.value,
            "text": " ".join(self.text.split()),
            "requirements": sorted(self.requirements),
            "check": to_document(self.check),
        }
        spelled = json.dumps(parts, sort_keys=True)
        return digest_of(spelled, digits=VERSION_DIGITS)

    @property
    def is_formal(self) -> bool:
        return self.kind in FORMAL

    @property
    def has_lane(self) -> bool:
        """Whether a program can say if it holds."""
        return self.check is not None and not isinstance(self.check, Checklist)

    def is_about(self, spec_name: str) -> bool:
        return any(address.partition("/")[0] == spec_name for address in self.requirements)

    def binds(self, spec_name: str, part: str) -> bool:
        """Whether that requirement can only hold if this does."""
        return f"{spec_name}/{part}" in self.requirements or f"{spec_name}/{ALL}" in self.requirements


@dataclass(frozen=True, slots=True)
class Author:
    """Who added something. `name`: a spec's folder, a signer's principal, or the agent and its session."""

    who: Who
    name: str

    def __str__(self) -> str:
        return f"{self.who}:{self.name}"


def read_author(text: str) -> Author:
    who, _, name = text.partition(":")
    return Author(Who(who), name)


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of the library's history: a specification in a state, by somebody, at a time (ISO 8601, UTC).

    `envelope`: the person's signature of an adoption or withdrawal, as JSON; empty where a spec or nobody signed.
    """

    id: int
    specification: Specification
    version: str
    state: State
    author: Author
    at: str
    note: str = ""
    envelope: str = ""


@dataclass(frozen=True, slots=True)
class Current:
    """Where an address stands: what was adopted last and still counts, and what is proposed for it."""

    adopted: Entry | None = None
    proposed: Entry | None = None
    last: Entry | None = None


def current_of(entries: Iterable[Entry]) -> Current:
    """The fold of an address's history, oldest first. A proposal never takes the place of what was adopted."""
    now = Current()
    for entry in entries:
        now = _after(now, entry)
    return now


def _after(now: Current, entry: Entry) -> Current:
    match entry.state:
        case State.PROPOSED:
            return Current(now.adopted, entry, entry)
        case State.ADOPTED:
            return Current(entry, _unless(now.proposed, entry.version), entry)
        case State.WITHDRAWN:
            return Current(_unless(now.adopted, entry.version), _unless(now.proposed, entry.version), entry)


def _unless(entry: Entry | None, version: str) -> Entry | None:
    return None if entry is not None and entry.version == version else entry


class NotAllowed(ValueError):
    """A change of the library that is not this author's to make. Its text says whose it is."""


@dataclass(frozen=True, slots=True)
class Change:
    """A row about to be written."""

    specification: Specification
    state: State
    author: Author
    note: str = ""
    envelope: str = field(default="", repr=False)


def allowed(now: Current, change: Change) -> Change:
    """The change, if its author may make it. Raises NotAllowed.

    Anybody proposes. A spec adopts and withdraws what lies under its own name; a person, by a signature, everything.
    """
    author, address = change.author, change.specification.address
    if change.state is State.PROPOSED:
        return change
    if author.who is Who.SPEC and address.partition("/")[0] != author.name:
        raise NotAllowed(f"{address} is not of the spec {author.name}: a spec speaks for itself alone")
    if author.who is Who.AGENT:
        raise NotAllowed(f"{address}: an agent may only propose; a person adopts it: agent-fox library adopt {address}")
    if author.who is Who.PERSON and not change.envelope:
        raise NotAllowed(f"{address}: a person's word needs a signature: agent-fox library adopt {address} --key FILE")
    if author.who is Who.PERSON and now.adopted is not None and now.adopted.author.who is Who.SPEC:
        raise NotAllowed(f"{address} is adopted by its spec; change the spec's specifications.toml, then run again")
    return change


def synced(entries: Sequence[Entry], wanted: Sequence[Specification], author: Author) -> list[Change]:
    """What brings a spec's part of the library in line with its files: adopted anew, or withdrawn."""
    histories: dict[str, list[Entry]] = {}
    for entry in entries:
        histories.setdefault(entry.specification.address, []).append(entry)
    standing = {address: current_of(history).adopted for address, history in histories.items()}
    of_spec = {address: each for address, each in standing.items() if each is not None and each.author == author}
    known = {specification.address for specification in wanted}
    gone = [
        Change(each.specification, State.WITHDRAWN, author, "no longer in the spec")
        for address, each in of_spec.items()
        if address not in known
    ]
    return gone + [
        Change(each, State.ADOPTED, author)
        for each in wanted
        if each.address not in of_spec or of_spec[each.address].version != each.version
    ]
