"""The node that a person means, the same for every command that takes NODE. What is done with it is not here."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from agent_fox.cli.errors import UserError
from agent_fox.core.ids import Archetype, parse_node_name
from agent_fox.core.late import late_module
from agent_fox.store.plan import PlannedNode, load_nodes

if TYPE_CHECKING:
    from sqlite_utils import Database

    from agent_fox.core import words
else:
    words = late_module("agent_fox.core.words")


def find_node(db: Database, name: str, *, others: Iterable[str] = ()) -> PlannedNode:
    """The node that a person names: by its id, `SPEC:0:verifier`, or a spec for its verifier. Raises UserError.

    `others` are names of something else that may have been meant.
    """
    nodes = [planned for planned in load_nodes(db) if planned.standing.status != "withdrawn"]
    known = {planned.node.id: planned for planned in nodes}
    verifiers = {p.node.spec_name: p for p in nodes if p.node.archetype is Archetype.VERIFIER}
    node = known.get(name) or verifiers.get(name) or _by_role(name, known, verifiers)
    if node is None:
        hint = words.did_you_mean(name, [*known, *verifiers, *others], "; `agent-fox plan` lists specs and nodes")
        raise UserError(f"{name}: there is no such node or spec in the plan{hint}")
    return node


def _by_role(name: str, known: dict[str, PlannedNode], verifiers: dict[str, PlannedNode]) -> PlannedNode | None:
    try:
        parsed = parse_node_name(name)
    except ValueError:
        return None
    return verifiers.get(parsed.spec) if parsed.role == Archetype.VERIFIER else known.get(str(parsed))
