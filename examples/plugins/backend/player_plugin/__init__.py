"""The backend `player`: runs `player.py` of this package for every session."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from agent_fox.plugins import hookimpl
from agent_fox.session.backends import Backend
from agent_fox.session.order import Agent, LaunchOrder, Paths

PLAYER = Path(__file__).with_name("player.py")


class PlayerBackend:
    name = "player"

    def missing(self, agent: Agent, root: Path) -> str | None:
        return None if PLAYER.exists() else f"{PLAYER} is gone; install player-plugin again"

    def argv(self, order: LaunchOrder, paths: Paths) -> list[str]:
        return [sys.executable, "-I", str(PLAYER), order.archetype.value]

    def environment(self, order: LaunchOrder, paths: Paths) -> dict[str, str]:
        return {"PLAYER_OF": order.spec_name}


@hookimpl
def agent_fox_backends() -> Sequence[Backend]:
    return [PlayerBackend()]
