"""How far one spec has come, as its last reading left it: for what people are told of it. Writes no text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent_fox.core.ids import Archetype
from agent_fox.core.values import dataclass
from agent_fox.engine.account.account import SpecAccount, read_spec
from agent_fox.store.plan import PlannedNode, nodes_of_spec
from agent_fox.store.sessions import last_reading

if TYPE_CHECKING:
    from agent_fox.engine.record.docket import Docket


@dataclass(frozen=True, slots=True)
class SpecFindings:
    """`account` holds each expected id in one of its lists: `proven` are those that passed in the reading of `commit`,
    the last one; `waivers` are those in force, in words."""

    verifier: PlannedNode
    account: SpecAccount
    commit: str
    waivers: tuple[str, ...]

    @property
    def is_proven(self) -> bool:
        """Whether evidence stands for every requirement, and for as much as the run asked for."""
        return self.account.standing == "verified" and self.account.expected > 0 and not self.account.open_ids


def findings_of(tx: Docket, spec_name: str) -> SpecFindings | None:
    """None for a spec that has no verifier in the plan."""
    verifier = next((n for n in nodes_of_spec(tx.db, spec_name) if n.node.archetype is Archetype.VERIFIER), None)
    if verifier is None:
        return None
    read = last_reading(tx.db, verifier.node.uid)
    account = read_spec(tx.db, spec_name, tx.waived(spec_name), read.tree if read else None)
    if account is None:
        return None
    commit = (account.commit if account.is_proven else None) or (read.commit if read else "")
    return SpecFindings(verifier, account, commit, tx.waiver_lines(spec_name))
