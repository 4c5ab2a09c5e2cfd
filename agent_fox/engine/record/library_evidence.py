"""What the ledger holds about one specification, and whether each record still counts. Nothing is changed here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent_fox.core.ids import Archetype
from agent_fox.core.ledger.evidence import Freshness, Json, why_stale
from agent_fox.core.values import dataclass
from agent_fox.engine.record.environment import standpoint, with_bound
from agent_fox.store.ledger import ledger
from agent_fox.system import git

if TYPE_CHECKING:
    from sqlite_utils import Database

    from agent_fox.core.formal.specification import Current, Specification
    from agent_fox.engine.record.library import Shelf
    from agent_fox.store.ledger.ledger import Kept

UNADOPTED = "nothing of this is adopted now"


@dataclass(frozen=True, slots=True)
class Record:
    """One record about a specification. `stale`: why it does not count now, empty where it does."""

    id: str
    status: str
    at: str
    version: str
    tree: str
    limitation: str
    counterexample: str
    stale: tuple[str, ...]


def evidence_about(db: Database, shelf: Shelf, now: Current) -> list[Record]:
    """The records of lanes and verdicts about an address, newest first."""
    last = now.adopted or now.proposed or now.last
    if last is None:
        return []
    fresh = freshness_now(db, shelf, now.adopted.specification) if now.adopted is not None else None
    sql = "address = ? AND kind IN ('check', 'verdict')"
    records = list(ledger.records(db, sql, [last.specification.address]))
    return [record_of(kept, fresh) for kept in reversed(records)]


def freshness_now(db: Database, shelf: Shelf, one: Specification) -> Freshness:
    """What a record must be about to count: the files at the tip, the text, the environment and the judges as set."""
    spec_name = next((address.partition("/")[0] for address in (*one.requirements, one.address)), "")
    here = standpoint(shelf.settings, shelf.settings.agent_for(Archetype.VERIFIER, spec_name, 0))
    branch = f"refs/heads/{shelf.settings.git.integration_branch}"
    tip = git.commit_of(shelf.root, branch) or git.head(shelf.root)
    tree = git.tree_of(shelf.root, tip) if tip else ""
    verifier = with_bound(here.verifier, shelf.with_lane(db, spec_name))
    return Freshness(tree, one.version, here.environment, verifier)


def record_of(kept: Kept, fresh: Freshness | None) -> Record:
    document = kept.document
    context, outcome = part(document, "run_context"), part(document, "result")
    was = Freshness(kept.tree, kept.version, str(context["environment"]), str(context["verifier"]))
    if fresh is not None and kept.session_id is None:  # a proof of its own: the provers are its environment
        fresh = Freshness(fresh.tree, fresh.version, was.environment, was.verifier)
    stale = (UNADOPTED,) if fresh is None else why_stale(was, fresh)
    return Record(
        kept.link.record_id, kept.status, kept.at, kept.version, kept.tree, str(document["limitation"]),
        str(outcome["counterexample"]), stale,
    )  # fmt: skip


def part(document: dict[str, Json], name: str) -> dict[str, Json]:
    value = document[name]
    assert isinstance(value, dict), f"a record without {name}"
    return value
