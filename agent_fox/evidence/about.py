"""What the ledger holds about one requirement: the records, what else is bound to it, and who it is. Judges nothing."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from agent_fox.core.ledger.gates import Gate
from agent_fox.core.values import dataclass
from agent_fox.core.words import did_you_mean
from agent_fox.evidence.documents import evidence_of
from agent_fox.evidence.library import Trust
from agent_fox.store.account import required_state
from agent_fox.store.ledger import ledger
from agent_fox.store.ledger.evidence import address
from agent_fox.store.plan import StoredPart, load_parts

if TYPE_CHECKING:
    from sqlite_utils import Database

    from agent_fox.core.formal.specification import Specification
    from agent_fox.core.ledger.evidence import Evidence, Kind
    from agent_fox.store.ledger.ledger import Kept

TRUSTING_SPECS = Trust("", tuple)
"""Where no signature is checked: what a spec says counts, and what a person adopted is doubted."""


class UnknownRequirement(ValueError):
    """There is no such requirement in the plan, or several. Its text names what there is."""


@dataclass(frozen=True, slots=True)
class Binding:
    """A checkable thing that was adopted, and binds a requirement. `kind` is one of `SpecKind`.

    `doubt`: why nobody can rely on its adoption; empty where all is well.
    """

    address: str
    kind: str
    version: str
    text: str
    is_formal: bool
    doubt: str


@dataclass(frozen=True, slots=True)
class Found:
    """A record of the ledger, read back. `kept` is its place in the chain."""

    kept: Kept
    record: Evidence

    @property
    def id(self) -> str:
        return self.kept.link.record_id


def parts_named(db: Database, name: str) -> tuple[StoredPart, ...]:
    """The requirement of the plan with this id (`04-REQ-1.2`, or `SPEC/04-REQ-1.2`), or the criteria of it.

    Raises UnknownRequirement.
    """
    spec, _, wanted = name.rpartition("/")
    parts = [part for part in load_parts(db) if spec in ("", part.spec_name)]
    named = [part for part in parts if part.id == wanted] or [part for part in parts if part.requirement_id == wanted]
    specs = tuple(dict.fromkeys(part.spec_name for part in named))
    if len(specs) > 1:
        ways = ", ".join(f"{name_of_spec}/{wanted}" for name_of_spec in specs)
        raise UnknownRequirement(f"{name}: several specs have it; say which one: {ways}")
    if not named:
        raise UnknownRequirement(f"{name}: there is no such requirement in the plan{_nearest(name, db)}")
    return tuple(named)


def _nearest(name: str, db: Database) -> str:
    parts = load_parts(db)
    names = [part.id for part in parts] + [address(part.spec_name, part.id) for part in parts]
    return did_you_mean(name, names, "; `agent-fox plan` shows what there is")


def required_by(db: Database) -> Gate:
    """The gate that the last run asked for, `[policy] required_state`."""
    return Gate(required_state(db) or Gate.TESTED)


def records_about(db: Database, place: str, *kinds: Kind) -> list[Found]:
    """The records about an address, in the order of the chain; of all kinds, or of these."""
    marks = ", ".join("?" * len(kinds))
    condition = "address = ?" + (f" AND kind IN ({marks})" if kinds else "")
    return read(ledger.records(db, condition, [place, *kinds]))


def read(kept: Iterable[Kept]) -> list[Found]:
    """Records read back. One that cannot be read is left out here: `ledger verify` names it."""
    entries = []
    for entry in kept:
        try:
            entries.append(Found(entry, evidence_of(entry.content)))
        except ValueError:
            continue
    return entries


def bound_to(part: StoredPart, adopted: Iterable[Specification]) -> tuple[Binding, ...]:
    """What of a spec's `adopted` things is bound to the requirement, by address."""
    binding = (specification for specification in adopted if specification.binds(part.spec_name, part.id))
    return tuple(
        Binding(
            specification.address,
            specification.kind,
            specification.version,
            specification.text,
            specification.is_formal,
            specification.doubt,
        )
        for specification in binding
    )
