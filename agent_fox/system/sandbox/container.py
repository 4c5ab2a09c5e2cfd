"""A container as a value: which program runs which image, for which launch. Starting it is in `containers`."""

from __future__ import annotations

from dataclasses import field

from agent_fox.core.values import dataclass

OPEN, CLOSED = "open", "closed"


@dataclass(frozen=True, slots=True)
class Container:
    """Which `program` runs which `image`, for the launch `owner`. `network`: agents' programs reach all of it."""

    program: str
    image: str
    network: bool = False
    owner: str = field(default="", compare=False)

    def __str__(self) -> str:
        return f"{self.program} {self.image} {OPEN if self.network else CLOSED}"

    def spelled(self) -> str:
        """As it stands in an order, in one line."""
        return f"{self} {self.owner}".rstrip()


def container_of(text: str) -> Container:
    """Raises ValueError for a text that `spelled` did not make."""
    program, image, network, *owner = text.split(" ")
    if network not in (OPEN, CLOSED) or len(owner) > 1:
        raise ValueError(f"{text!r} names no container")
    return Container(program, image, network == OPEN, owner[0] if owner else "")
