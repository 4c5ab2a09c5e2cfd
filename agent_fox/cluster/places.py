"""Which workers a session goes to: the tag of its queue, by `[places]`, else its archetype."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from agent_fox.core.ids import Archetype

if TYPE_CHECKING:
    from collections.abc import Mapping

    from agent_fox.config import PlaceSettings
    from agent_fox.session.order import LaunchOrder

QUEUE = "agent-fox-"
"""Before a tag in the name of its queue."""

URGENCY = {Archetype.VERIFIER: 2, Archetype.REVIEWER: 3, Archetype.CODER: 4}
"""From 1, the most urgent, to 5: what others wait for goes first."""


def tag_of(order: LaunchOrder, places: Mapping[str, PlaceSettings]) -> str:
    """The first place that the session fits in."""
    return next((tag for tag, place in places.items() if fits(order, place)), order.archetype.value)


def fits(order: LaunchOrder, place: PlaceSettings) -> bool:
    return (
        (not place.archetypes or order.archetype in place.archetypes)
        and (not place.specs or any(fnmatchcase(order.spec_name, pattern) for pattern in place.specs))
        and (not place.nodes or any(fnmatchcase(order.node_id, pattern) for pattern in place.nodes))
    )


def queue_of(tag: str) -> str:
    return f"{QUEUE}{tag}"
