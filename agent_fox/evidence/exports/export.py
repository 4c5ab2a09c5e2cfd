"""The ledger for another machine: one signed statement a line, and a signed checkpoint as the last.

One file of JSON lines, the form of in-toto's bundles: it can be written and checked as a stream, sent as one piece, and
a record that is left out leaves a gap in it; in a folder it would only be a file that is not there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from agent_fox.core.ledger.evidence import GENESIS, canonical
from agent_fox.evidence.exports.checkpoints import Checkpoint, gate_lines, run_lines
from agent_fox.evidence.exports.statements import PAYLOAD_TYPE, statement_of
from agent_fox.evidence.signing import dsse
from agent_fox.evidence.signing.dsse import Envelope
from agent_fox.evidence.verify import Checked, remembered_by_runs
from agent_fox.evidence.walk import Entry
from agent_fox.store.ledger import audit
from agent_fox.store.plan import load_parts

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from sqlite_utils import Database

Sign = Callable[[bytes], Envelope]


class LedgerFaulty(Exception):
    """The ledger cannot be vouched for, so nothing of it is signed. Its text says what is wrong, and what to do."""


def signing(private: Ed25519PrivateKey) -> Sign:
    """Every statement signed with this key."""
    return lambda payload: dsse.sign(PAYLOAD_TYPE, payload, private)


def unsigned(payload: bytes) -> Envelope:
    """A statement that nobody vouches for."""
    return Envelope(PAYLOAD_TYPE, payload, ())


def lines(db: Database, sign: Sign, *, repository: str, at: str) -> Iterator[str]:
    """The lines of the export, in one snapshot of the file (the caller's transaction). Raises LedgerFaulty.

    `repository`: what it is known by, see Checkpoint.
    """
    run_heads = audit.run_heads(db)
    wanted = {head for run in run_heads for head in (run.begin, run.end)}
    checked = Checked(passed={GENESIS: 0})
    for _, kept in audit.ledger_rows(db):
        entry = Entry(kept.link, kept.content)
        record = checked.take(entry, wanted)
        if record is None or checked.findings.faults:
            raise refusal(checked)
        yield sign(canonical(statement_of(entry, record)).encode()).to_json() + "\n"
    checked.findings.add(*remembered_by_runs(checked, run_heads))
    if checked.findings.faults:
        raise refusal(checked)
    yield sign(_checkpoint(db, checked, repository, at).payload()).to_json() + "\n"


def refusal(checked: Checked) -> LedgerFaulty:
    first = checked.findings.faults[0]
    where = f"record {first.position}: " if first.position else ""
    return LedgerFaulty(f"the ledger is not sound ({where}{first.what}); look with `agent-fox ledger verify`")


def _checkpoint(db: Database, checked: Checked, repository: str, at: str) -> Checkpoint:
    walk = checked.walk
    planned = {(part.spec_name, part.id) for part in load_parts(db)}
    return Checkpoint(
        count=checked.count, head=walk.head, at=walk.at, exported_at=at, repository=repository,
        gates=gate_lines(checked.fold, planned), runs=run_lines(audit.run_heads(db)),
    )  # fmt: skip
