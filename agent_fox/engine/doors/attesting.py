"""What may be attested of a commit: which of its requirements are proven on its very tree. Signing is `evidence`'s."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from agent_fox.core.ledger.evidence import canonical
from agent_fox.engine.account.account import RunAccount, SpecAccount, read_account
from agent_fox.engine.account.run_document import states_of
from agent_fox.engine.handlers.waiving import notes_in_force
from agent_fox.evidence.about import read
from agent_fox.evidence.exports.attestation import About, Attestation, Requirement, WaivedUntil
from agent_fox.store import account as rows
from agent_fox.store import waivers as stored
from agent_fox.store.ledger import ledger
from agent_fox.store.plan import load_parts
from agent_fox.store.records import current_verdicts
from agent_fox.system import git

if TYPE_CHECKING:
    from sqlite_utils import Database

    from agent_fox.config import Settings
    from agent_fox.evidence.waivers import Grounds

STATES = {
    "failing": "fails", "unclear": "no clear verdict", "stale": "passed on other code", "unread": "not verified",
    "short": "lacks the review or the proof that was asked for", "elsewhere": "passed in another environment",
}  # fmt: skip
OTHER_CODE = STATES["stale"]
DECIDING = {"policy", "retry", "verify", "gate", "evidence"}
"""Tables of the settings that decide what counts as proven."""


def attestation_of(
    db: Database, grounds: Grounds, settings: Settings, commit: str, at: str, version: str, lost: str = ""
) -> Attestation:
    """What stands of a commit (its whole id) by this state. `lost`: why the history does not hold together."""
    tree = git.tree_of(grounds.root, commit)
    account = read_account(db, tip_tree=tree, in_force=lambda: notes_in_force(db, grounds, at), lost=lost)
    requirements = tuple(_requirements(db, account, tree))
    about = About(
        repository=grounds.repository, tree=tree, requirements=requirements,
        waivers=tuple(_waivers(db, account, requirements)), problems=tuple(_problems(account, requirements)),
    )  # fmt: skip
    policy = settings.model_dump(mode="json", include=DECIDING)
    digest = hashlib.sha256(canonical(policy).encode()).hexdigest()
    return Attestation(commit, at, version, digest, ledger.tip_of(db).head, about)


def _requirements(db: Database, account: RunAccount, tree: str) -> Iterator[Requirement]:
    trees = {(spec, part): read_on for spec, part, _, read_on, _ in rows.part_rows(db, None)}
    versions = {(part.spec_name, part.id): part.version for part in load_parts(db)}
    for spec in account.specs:
        records, untouched = _records(db, spec.name), {read.tree for read in ledger.read_for(db, spec.name, tree)}
        for part, listed in states_of(spec).items():
            state = STATES.get(listed, listed)
            read_on = trees.get((spec.name, part)) or ""
            if listed == "proven" and read_on != tree and read_on not in untouched:
                state = OTHER_CODE
            yield Requirement(
                spec=spec.name, requirement=part, version=versions.get((spec.name, part), ""), state=state,
                how=spec.how.get(part, ""), record=records.get(part, ""),
                readOn=read_on if read_on != tree and state == STATES.get("proven", "proven") else "",
            )  # fmt: skip


def _records(db: Database, spec_name: str) -> Mapping[str, str]:
    """The ids of the records of the current verdicts; without those that are older than the ledger."""
    numbers = {f"verdict:{number}": part for part, (number, _) in current_verdicts(db, spec_name).items()}
    wanted = f"identity IN ({', '.join('?' * len(numbers))})"
    return {numbers[entry.record.identity]: entry.id for entry in read(ledger.records(db, wanted, [*numbers]))}


def _waivers(db: Database, account: RunAccount, requirements: tuple[Requirement, ...]) -> Iterator[WaivedUntil]:
    waived = {(each.spec, each.requirement) for each in requirements if each.state == "waived"}
    envelopes = {row.id: row.envelope for row in stored.waivers_of(db)}
    for note in account.waivers:
        if (note.spec, note.address) in waived:
            digest = hashlib.sha256(envelopes[note.id].encode()).hexdigest()
            yield WaivedUntil(
                id=note.id, spec=note.spec, requirement=note.address, signer=note.signer, reason=note.reason,
                expiresAt=note.expires_at, envelope=digest,
            )  # fmt: skip


def _problems(account: RunAccount, requirements: tuple[Requirement, ...]) -> Iterator[str]:
    """What stands against the commit beside its requirements."""
    if account.disbelieved:
        yield account.disbelieved
    lacking = {each.spec for each in requirements if not each.counts}
    for spec in account.specs:
        if not spec.is_proven and spec.name not in lacking:
            yield _problem(spec)


def _problem(spec: SpecAccount) -> str:
    why = f" ({spec.problem})" if spec.problem else ""
    return f"{spec.name} is {spec.standing}{why}"
