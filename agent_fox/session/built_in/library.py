"""The backend `library`: the specifications that bind a spec, checked beside its judges. No settings name it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from agent_fox.session.backends import module_argv
from agent_fox.session.built_in.checks import FREE, of_launch
from agent_fox.session.built_in.registry import LIBRARY, MEMORY

if TYPE_CHECKING:
    from agent_fox.session.order import Agent, LaunchOrder, Paths

KEY = "library"
"""Where the order's document keeps what is to be checked; see `verifier.library_checks`."""


class LibraryBackend:
    """Runs the lanes and prints one verdict for each requirement that they are about."""

    name = LIBRARY

    def missing(self, agent: Agent, root: Path) -> str | None:
        return None

    def argv(self, order: LaunchOrder, paths: Paths) -> list[str]:
        document = {key: value for key, value in order.document.items() if key != MEMORY}
        own = dict(document.pop(KEY))
        own["order"] = {**document, **of_launch(order, paths)}
        paths.document.write_text(json.dumps(own), encoding="utf-8")
        paths.result.write_text(FREE, encoding="utf-8")
        return module_argv("agent_fox.verifier.judging.library_checks", [str(paths.document)])

    def environment(self, order: LaunchOrder, paths: Paths) -> dict[str, str]:
        return {}
