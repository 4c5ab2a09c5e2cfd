"""Which workers a session goes to: the tag of its queue, by `[places]`, else its archetype."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Protocol

from agent_fox.core.ids import Archetype

if TYPE_CHECKING:
    from collections.abc import Mapping

    from agent_fox.config import PlaceSettings, Settings

QUEUE = "agent-fox-"
"""Before a tag in the name of its queue."""

URGENCY = {Archetype.VERIFIER: 2, Archetype.REVIEWER: 3, Archetype.CODER: 4}
"""From 1, the most urgent, to 5: what others wait for goes first."""


class Placed(Protocol):
    """A node of a plan, or the order of a session of it; read by name."""

    @property
    def archetype(self) -> Archetype: ...

    @property
    def spec_name(self) -> str: ...


def tag_of(session: Placed, node_id: str, places: Mapping[str, PlaceSettings]) -> str:
    """The first place that a session of the node fits in."""
    return first(session.archetype, session.spec_name, node_id, places)


def first(archetype: Archetype, spec_name: str, node_id: str, places: Mapping[str, PlaceSettings]) -> str:
    for tag, place in places.items():
        is_of_spec = not place.specs or any(fnmatchcase(spec_name, pattern) for pattern in place.specs)
        is_of_node = not place.nodes or any(fnmatchcase(node_id, pattern) for pattern in place.nodes)
        if is_of_spec and is_of_node and (not place.archetypes or archetype in place.archetypes):
            return tag
    return archetype.value


def workers_of(session: Placed, node_id: str, settings: Settings) -> str:
    """The class of workers that does sessions of the node; empty for this machine."""
    return tag_of(session, node_id, settings.places) if settings.cluster.engine else ""


def verifiers_of(spec_name: str, settings: Settings) -> str:
    """The class that does the verifier's sessions of a spec, as far as its name tells."""
    return first(Archetype.VERIFIER, spec_name, f"{spec_name}:", settings.places)


def queue_of(tag: str) -> str:
    return f"{QUEUE}{tag}"
