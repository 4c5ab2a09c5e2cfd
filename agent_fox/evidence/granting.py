"""How a waiver comes into the world and ends: drawn up, signed, kept, revoked; and petitions, which bind nothing.

Functions with `db` write in the caller's open transaction, to the ledger too. What the plan makes of it is elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from agent_fox.core.ledger.evidence import Evidence, Kind, Outcome, ReviewerDecision, RunContext, SpecRef
from agent_fox.core.ledger.training import Act
from agent_fox.core.ledger.waivers import (
    LONGEST_REASON,
    NAMESPACE,
    PAYLOAD_TYPE,
    SHOWN_ID,
    TRAINING,
    AboutExpectation,
    AboutHidden,
    AboutRequirement,
    AboutTraining,
    Statement,
    Subject,
    columns_of,
    describe,
    reference,
    why_not,
)
from agent_fox.core.regex import regex
from agent_fox.evidence.signing import dsse, keys, ssh
from agent_fox.evidence.signing.keys import KeyTrouble, PublicKey
from agent_fox.evidence.waivers import (
    ABSENT,
    FILE,
    SPEC,
    Grounds,
    Held,
    as_waiver,
    dependency,
    payload_of,
    standing_now,
    statement_of,
)
from agent_fox.store import waivers as stored
from agent_fox.store.ledger import ledger
from agent_fox.store.plan import load_spec
from agent_fox.store.waivers import WaiverRow

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from sqlite_utils import Database

LONGEST_DAYS = 366
ACCEPTED = (AboutExpectation, AboutHidden, AboutTraining)
"""What is accepted by a signature, where all else is waived."""
_SPAN = regex(r"([1-9][0-9]{0,3})([hdw])")
_HOURS = {"h": 1, "d": 24, "w": 24 * 7}


class WaiverRefused(ValueError):
    """A waiver that cannot be granted, ended or asked for. Its text says why, and what to do."""


def expiry(text: str, now: str) -> str:
    """When a waiver ends: `30d`, `12h`, `2w` from now, or a date, to its end in UTC. Raises WaiverRefused."""
    begin, span = datetime.fromisoformat(now), _SPAN.fullmatch(text.strip())
    end = begin + timedelta(hours=int(span[1]) * _HOURS[span[2]]) if span else _date(text)
    if end is None:
        raise WaiverRefused(f"--expires {text}: not understood; write a span such as 30d, or a date such as 2030-01-31")
    if end <= begin:
        raise WaiverRefused(f"--expires {text}: this is past; a waiver ends in the future")
    if end > begin + timedelta(days=LONGEST_DAYS):
        raise WaiverRefused(
            f"--expires {text}: a waiver lasts {LONGEST_DAYS} days at most; it can be granted anew then"
        )
    return end.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _date(text: str) -> datetime | None:
    try:
        end = datetime.fromisoformat(text.strip())
        day = end + timedelta(days=1) if len(text.strip()) <= len("2030-01-31") else end
    except (ValueError, OverflowError):
        return None
    return day if day.tzinfo else day.replace(tzinfo=UTC)


def reason_of(text: str) -> str:
    """The reason as it is signed: one line. Raises WaiverRefused."""
    reason = " ".join("".join(letter if letter.isprintable() else " " for letter in text).split())
    if not reason:
        raise WaiverRefused("--reason: say why; it stands in every report as long as the waiver does")
    if len(reason) > LONGEST_REASON:
        raise WaiverRefused(f"--reason: {len(reason)} characters; say it in {LONGEST_REASON} at most")
    return reason


def dependencies(db: Database, grounds: Grounds, subject: Subject, files: Iterable[str]) -> tuple[tuple[str, str], ...]:
    """What a waiver depends on, with what it is now: every spec below the one it is about, and the files named.

    Raises WaiverRefused for a file that is not at the tip, or is a link.
    """
    specs = below(db, subject.spec) if isinstance(subject, AboutRequirement) else ()
    versions = {f"{SPEC}{name}": dependency(db, grounds, f"{SPEC}{name}") for name in specs}
    for path in files:
        digest = grounds.file(path)
        if digest == ABSENT or path.startswith(("/", "-")) or ".." in Path(path).parts:
            where = f"{grounds.branch}, {grounds.tip[:12] or 'no commit'}"
            raise WaiverRefused(
                f"--depends-on {path}: no such file at the tip ({where}); name it from the repository's root"
            )
        if grounds.is_link(path):
            raise WaiverRefused(
                f"--depends-on {path}: a link, which says nothing of what it leads to; name the file itself"
            )
        versions[f"{FILE}{path}"] = digest
    return tuple(sorted(versions.items()))


def below(db: Database, spec_name: str) -> tuple[str, ...]:
    """The specs of the plan that a spec depends on, directly or through others."""
    specs: set[str] = set()
    waiting = [spec_name]
    while waiting:
        for name in _direct(db, waiting.pop()):
            if name not in specs and name != spec_name:
                specs.add(name)
                waiting.append(name)
    return tuple(sorted(specs))


def _direct(db: Database, spec_name: str) -> list[str]:
    try:
        return [dependency.spec for dependency in load_spec(db, spec_name).dependencies]
    except KeyError:
        return []


def sign_with_key(statement: Statement, private: Ed25519PrivateKey) -> str:
    """The signed envelope, as text."""
    return dsse.sign(PAYLOAD_TYPE, payload_of(statement), private).to_json()


def sign_with_ssh(statement: Statement, path: Path, grounds: Grounds) -> str:
    """The same by `ssh-keygen`. Raises KeyTrouble."""
    return ssh.sign(PAYLOAD_TYPE, payload_of(statement), path, NAMESPACE, grounds.environ).to_json()


def principal_of(grounds: Grounds, key: PublicKey) -> str:
    """Whose key it is, among those who may waive. Raises KeyTrouble."""
    for signer in grounds.signers:
        if signer.key.id == key.id:
            return signer.principal
    where = keys.folder(grounds.environ) / keys.SIGNERS
    raise KeyTrouble(
        f"{where}: the key {key.id} is not trusted to waive; `agent-fox keys trust NAME --for waiver` adds it"
    )


def keep(db: Database, grounds: Grounds, at: str, envelope: str) -> Held:
    """Keep a granted waiver: its row, its event, its record. Raises WaiverRefused for one that would not count."""
    statement = statement_of(dsse.Envelope.from_json(envelope))
    row = WaiverRow(statement.id, columns_of(statement), envelope)
    now = standing_now(db, grounds, at, (statement,))
    stored.insert_waiver(db, row)
    stored.record_waiver_event(db, at, "granted", row.id, subject=statement.subject.address, note=statement.reason)
    ledger.append(db, [granted_record(statement, envelope, now.at)], row.columns.spec_name or None)
    waiver = as_waiver(db, grounds, row)
    refused = why_not(waiver, now)
    if refused:
        raise WaiverRefused(f"this waiver would not count: {refused}; nothing was granted")
    return Held(waiver, "")


def granted_record(statement: Statement, envelope: str, at: str) -> Evidence:
    """The whole envelope is in the record: who has an export can check the signature."""
    return Evidence(
        Kind.WAIVER, stored.identity(statement.id, "granted"), at, Outcome("granted"), reference(statement.subject),
        reviewer_decision=decided(statement.subject), limitation=limitation(statement),
        body={
            "waiver": statement.id, "subject": statement.subject.address, "signer": statement.signer,
            "key": statement.key, "expires_at": statement.expires_at, "envelope": envelope,
        },
    )  # fmt: skip


def decided(subject: Subject) -> ReviewerDecision:
    """An agreement accepts a test; what is waived is accepted without any."""
    return ReviewerDecision.ACCEPTED if isinstance(subject, ACCEPTED) else ReviewerDecision.WAIVED


def limitation(statement: Statement) -> str:
    if isinstance(statement.subject, ACCEPTED):
        return describe(statement)
    return f"accepted without evidence by {statement.signer} until {statement.expires_at}: {statement.reason}"


def end(db: Database, at: str, row: WaiverRow, kind: str, note: str) -> None:
    """Note that a waiver is over for ever: `revoked`, `expired`, or `over` for another reason."""
    subject = f"{row.columns.spec_name}/{row.columns.address}" if row.columns.spec_name else row.columns.address
    stored.record_waiver_event(db, at, kind, row.id, subject=subject, note=note)
    about = SpecRef("requirement" if row.columns.spec_name else "task", subject, row.columns.version)
    body = {"waiver": row.id, "subject": subject, "signer": row.columns.signer, "note": note}
    record = Evidence(
        Kind.WAIVER, stored.identity(row.id, kind), at, Outcome(kind), about,
        reviewer_decision=ReviewerDecision.REJECTED, limitation=note, body={**body},
    )  # fmt: skip
    ledger.append(db, [record], row.columns.spec_name or None)


def note_use(db: Database, at: str, waiver_id: str, subject: str, decision_id: int | None = None) -> None:
    """Note what rested on a waiver: an accepted spec's requirement, or a task whose finding it covers."""
    number = stored.record_waiver_event(db, at, "used", waiver_id, subject=subject, decision_id=decision_id)
    spec_name = subject.partition("/")[0] if "/" in subject else None
    record = Evidence(
        Kind.WAIVER, f"{stored.identity(waiver_id, 'used')}:{number}", at, Outcome("used"),
        SpecRef("requirement" if spec_name else "task", subject), RunContext(decision=decision_id),
        reviewer_decision=ReviewerDecision.WAIVED, body={"waiver": waiver_id, "subject": subject},
    )  # fmt: skip
    ledger.append(db, [record], spec_name)


def to_revoke(db: Database, name: str) -> WaiverRow:
    """The waiver that a person names by its id, or the beginning of it. Raises WaiverRefused."""
    waivers = stored.waiver_by_prefix(db, name) if name else []
    if len(waivers) != 1:
        what = "no waiver has this id" if not waivers else f"{len(waivers)} waivers begin so"
        raise WaiverRefused(f"--revoke {name}: {what}; `agent-fox waive --list` shows them")
    if waivers[0].columns.check_name == TRAINING and not waivers[0].columns.detail_hash.startswith(Act.ALLOW):
        raise WaiverRefused(
            f"--revoke {name}: only what allows can be taken back without a signature. A lock is for ever; after a "
            "denial, sign `agent-fox training allow` for the same selector"
        )
    ended = stored.over(db, waivers[0].id)
    if ended:
        raise WaiverRefused(f"--revoke {name}: the waiver {waivers[0].id[:SHOWN_ID]} is over already: {ended}")
    return waivers[0]


def petition(db: Database, at: str, address: str, reason: str) -> int:
    """Somebody asks for a waiver. It binds nothing; it is counted. Gives how often that was asked for by now."""
    number = stored.record_waiver_event(db, at, "asked", None, subject=address, note=reason)
    record = Evidence(
        Kind.WAIVER, f"waiver:asked:{number}", at, Outcome("asked"), SpecRef("requirement", address),
        limitation="a petition: it binds nothing", body={"subject": address, "reason": reason},
    )  # fmt: skip
    ledger.append(db, [record], address.partition("/")[0])
    return sum(row.petitions for row in stored.asked(db) if f"{row.spec_name}/{row.requirement_id}" == address)
