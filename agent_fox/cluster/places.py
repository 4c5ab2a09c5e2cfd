"""Where a session is held: the first of `[places]` that it fits in; its class of workers, its runner, its container."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Protocol

from agent_fox.core.ids import Archetype
from agent_fox.core.late import late_module
from agent_fox.core.regex import regex
from agent_fox.system.sandbox.bubblewrap import Container

if TYPE_CHECKING:
    from collections.abc import Mapping

    from agent_fox.config import PlaceSettings, Settings
    from agent_fox.system.sandbox import containers
else:
    containers = late_module("agent_fox.system.sandbox.containers")

QUEUE = "agent-fox-"
"""Before a tag in the name of its queue."""

URGENCY = {Archetype.VERIFIER: 2, Archetype.REVIEWER: 3, Archetype.CODER: 4}
"""From 1, the most urgent, to 5: what others wait for goes first."""

_LABEL = regex(r"(?<!\S)#([\w-]+)")


class Placed(Protocol):
    """A node of a plan; read by name."""

    @property
    def id(self) -> str: ...

    @property
    def archetype(self) -> Archetype: ...

    @property
    def spec_name(self) -> str: ...

    @property
    def title(self) -> str: ...


def tag_of(node: Placed, places: Mapping[str, PlaceSettings]) -> str:
    """The first place that sessions of the node fit in, else their archetype."""
    return first(node.archetype, node.spec_name, node.id, node.title, places)


def first(archetype: Archetype, spec_name: str, node_id: str, title: str, places: Mapping[str, PlaceSettings]) -> str:
    labels = set(_LABEL.findall(title))
    for tag, place in places.items():
        is_of_spec = not place.specs or any(fnmatchcase(spec_name, pattern) for pattern in place.specs)
        is_of_node = not place.nodes or any(fnmatchcase(node_id, pattern) for pattern in place.nodes)
        is_of_label = not place.labels or not labels.isdisjoint(place.labels)
        if is_of_spec and is_of_node and is_of_label and (not place.archetypes or archetype in place.archetypes):
            return tag
    return archetype.value


def verifiers_of(spec_name: str, settings: Settings) -> str:
    """The place of the verifier's sessions of a spec, as far as its name tells."""
    return first(Archetype.VERIFIER, spec_name, f"{spec_name}:", "", settings.places)


def class_of(tag: str, settings: Settings) -> str:
    """The class of workers that a place is; empty for this machine."""
    is_there = tag in settings.places and settings.places[tag].ssh
    return tag if settings.cluster.engine or is_there else ""


def runner_of(tag: str, settings: Settings) -> str:
    """The name of the runner that a place has of its own; empty where it has none."""
    ssh = settings.places[tag].ssh if tag in settings.places else ""
    return f"ssh://{ssh}" if ssh else ""


def are_elsewhere(archetype: str, settings: Settings) -> bool:
    """Whether a place over ssh, or with an image, may take sessions of an archetype: its programs are not here."""
    apart = [place for place in settings.places.values() if place.ssh or place.image]
    return any(not place.archetypes or archetype in place.archetypes for place in apart)


def queue_of(tag: str) -> str:
    return f"{QUEUE}{tag}"


def container_at(tag: str, settings: Settings, launch: str = "") -> str:
    """The container of a place as an order has it, for a launch; empty where there is none. An image of this machine is
    named by its digest.
    """
    place = settings.places.get(tag)
    if place is None or not place.image:
        return ""
    is_there = bool(place.ssh or settings.cluster.engine)
    image = place.image if is_there else containers.named_by_digest(place.program, place.image)
    return Container(place.program, image, place.network, launch).spelled()
