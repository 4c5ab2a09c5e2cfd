"""The world of one session of the real Claude Code, for the tests beside this module."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent_fox.session.agents.task import Limits, Provider
from tests.agents.programs import VARIABLE, program
from tests.agents.world import World, world_of

FOUND = program("claude")
MARKS = [
    pytest.mark.agents,
    pytest.mark.skipif(FOUND is None, reason=f"claude is not below the folder that {VARIABLE} names"),
]

LIMITS = Limits(wall=600, idle=300, answer=60)
SECONDS = 90.0


@pytest.fixture
def world(tmp_path: Path) -> World:
    return world_at(tmp_path)


def world_at(root: Path) -> World:
    return world_of(root, "claude", FOUND, Provider.ANTHROPIC, limits=LIMITS)
