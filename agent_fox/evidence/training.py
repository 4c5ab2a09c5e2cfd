"""What may be learned from, as persons signed it: permissions in force, petitions, what exports held, tombstones.

A permission is a waiver of the kind `training`: drawn up, signed, kept and ended by the same code. Functions with `db`
that write do so in the caller's open transaction.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from agent_fox.core.ledger.evidence import Evidence, Kind, Outcome, RunContext, SpecRef
from agent_fox.core.ledger.training import Act, Permission
from agent_fox.core.ledger.waivers import TRAINING, AboutTraining, Statement
from agent_fox.core.values import Json, dataclass
from agent_fox.evidence import waivers
from agent_fox.evidence.about import read
from agent_fox.store import waivers as stored
from agent_fox.store.ledger import ledger

if TYPE_CHECKING:
    from sqlite_utils import Database

    from agent_fox.evidence.waivers import Grounds, Held

EXPORTS = "training exports"
"""The address of the records about exports, and about what was taken back after one."""


@dataclass(frozen=True, slots=True)
class Exported:
    """One export that was made: `digest` names its bytes, `records` are the ids of what it holds."""

    at: str
    kind: str
    purpose: str
    digest: str
    records: tuple[str, ...]


def held(db: Database, grounds: Grounds, at: str) -> list[Held]:
    """Every permission, with why it does not count now, if so."""
    rows = [row for row in stored.waivers_of(db, "finding") if row.columns.check_name == TRAINING]
    return waivers.held(db, grounds, at, rows)


def in_force(db: Database, grounds: Grounds, at: str) -> list[Permission]:
    """What counts now. A lock counts for ever: neither its end nor a person's word ends it."""
    return [
        _permission(each.waiver.statement, each.waiver.statement.subject)
        for each in held(db, grounds, at)
        if each.waiver.statement is not None
        and isinstance(each.waiver.statement.subject, AboutTraining)
        and (not each.why_not or (each.waiver.statement.subject.act == Act.LOCK and each.waiver.is_recorded))
    ]


def _permission(statement: Statement, subject: AboutTraining) -> Permission:
    act = Act(subject.act)
    terms = (subject.purpose, subject.license, statement.id, statement.signer, statement.granted_at)
    return Permission(act, subject.selector, *terms)


def ask(db: Database, at: str, selector: str, reason: str) -> int:
    """Somebody asks that something may be learned from. It allows nothing; gives how often that was asked for."""
    number = stored.record_waiver_event(db, at, "asked", None, subject=f"training {selector}", note=reason)
    record = Evidence(
        Kind.TRAINING, f"training:asked:{number}", at, Outcome("asked"), SpecRef(TRAINING, selector),
        limitation="a petition: it allows nothing", body={"selector": selector, "reason": reason},
    )  # fmt: skip
    ledger.append(db, [record])
    return sum(1 for event in asked(db) if event[0] == selector)


def asked(db: Database) -> list[tuple[str, str, str]]:
    """Selector, time and reason of every petition, oldest first."""
    records = read(ledger.records(db, "kind = ? AND status = 'asked'", [Kind.TRAINING]))
    return [(each.record.about.address, each.record.timestamp, str(each.record.body["reason"])) for each in records]


def note_export(db: Database, at: str, made: Exported, permissions: Iterable[Permission]) -> None:
    body: dict[str, Json] = {
        "export": made.kind, "purpose": made.purpose, "digest": made.digest, "records": list(made.records),
        "permissions": [each.id for each in permissions],
    }  # fmt: skip
    identity = f"training:exported:{ledger.tip_of(db).position + 1}"
    ledger.append(
        db, [Evidence(Kind.TRAINING, identity, at, Outcome("exported"), SpecRef(TRAINING, EXPORTS), body=body)]
    )


def exports(db: Database) -> list[Exported]:
    """Every export that was made from this state, oldest first."""
    return [
        Exported(
            each.record.timestamp, str(body["export"]), str(body["purpose"]), str(body["digest"]),
            _texts(body["records"]),
        )
        for each in read(ledger.records(db, "kind = ? AND status = 'exported'", [Kind.TRAINING]))
        if (body := each.record.body)
    ]  # fmt: skip


def bury(db: Database, at: str, statement: Statement, why: str) -> list[str]:
    """A tombstone for a permission that was taken back: which exports were made under it. Gives their digests."""
    records = read(ledger.records(db, "kind = ? AND status = 'exported'", [Kind.TRAINING]))
    made = [each.record.body for each in records if statement.id in _texts(each.record.body["permissions"])]
    digests = sorted({str(body["digest"]) for body in made})
    about = SpecRef(TRAINING, statement.subject.address)
    body: dict[str, Json] = {"waiver": statement.id, "reason": why, "exports": list(digests)}
    record = Evidence(
        Kind.TRAINING, f"training:revoked:{statement.id}", at, Outcome("revoked"), about, RunContext(), body=body
    )
    ledger.append(db, [record])
    return digests


def _texts(value: Json) -> tuple[str, ...]:
    return tuple(str(each) for each in value) if isinstance(value, Sequence) and not isinstance(value, str) else ()


def vendored(paths: Iterable[str]) -> Iterator[str]:
    """Of a tree's files those that lie in folders for the work of others."""
    return (path for path in paths if not FOLDERS.isdisjoint(path.split("/")[:-1]))


FOLDERS = frozenset({"vendor", "vendored", "third_party", "third-party", "thirdparty", "external", "node_modules"})
