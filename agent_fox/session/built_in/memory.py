"""The backend `memory`: what once failed, read before a verifier's judges. No settings name it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from agent_fox.session.backends import module_argv
from agent_fox.session.built_in.checks import FREE, of_launch
from agent_fox.session.built_in.registry import LIBRARY, MEMORY

if TYPE_CHECKING:
    from agent_fox.session.order import Agent, LaunchOrder, Paths


class MemoryBackend:
    """Runs the tests of items and prints one verdict for each requirement of which one fails."""

    name = MEMORY

    def missing(self, agent: Agent, root: Path) -> str | None:
        return None

    def argv(self, order: LaunchOrder, paths: Paths) -> list[str]:
        document = {key: value for key, value in order.document.items() if key != LIBRARY}
        own = document.pop(MEMORY, {})  # nothing where what was remembered ended since the launch was planned
        assert isinstance(own, dict)
        whole = {**own, "order": {**document, **of_launch(order, paths)}}
        paths.document.write_text(json.dumps(whole), encoding="utf-8")
        paths.result.write_text(FREE, encoding="utf-8")
        return module_argv("agent_fox.verifier.judging.remembered", [str(paths.document)])

    def environment(self, order: LaunchOrder, paths: Paths) -> dict[str, str]:
        return {}
