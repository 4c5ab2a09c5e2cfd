"""A world in which something is planted, and what shows that a plant has had an effect."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from agent_fox.testing.model_server import ModelServer
from tests.agents.world import World, script


@dataclass(frozen=True)
class Planted:
    """A world with plants, the folder of their canaries, and the server that traffic would be moved to."""

    world: World
    canaries: Path
    elsewhere: ModelServer

    def command(self, name: str) -> str:
        return f"touch {self.canaries / name}"

    @property
    def sung(self) -> list[str]:
        return sorted(path.name for path in self.canaries.iterdir())


@contextmanager
def planted_in(world: World) -> Iterator[Planted]:
    """Nothing is planted yet, and no canary has sung."""
    canaries = world.root / "canaries"
    canaries.mkdir()
    with ModelServer(script({"say": "from elsewhere"})) as elsewhere:
        yield Planted(world, canaries, elsewhere)
