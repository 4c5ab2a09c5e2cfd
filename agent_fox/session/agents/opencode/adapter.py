"""opencode as an agent's command line. What it is started with stands in `agent.toml`."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from pathlib import Path

from agent_fox.session.agents.described import Described, fill
from agent_fox.session.agents.opencode.reader import OpencodeReader
from agent_fox.session.agents.task import AgentTask, Door, Limits, Provider

SEARCHER, SEARCHING = "rg", ("glob", "grep")
"""The program that these tools need; opencode would download it where it is missing."""

SHORTEST_QUIET, LONGEST_QUIET = 10.0, 60.0
"""Seconds without a byte of the model's before a request is given up; one that was silent is repeated once."""

CONNECTING = 30.0
USUAL_COMMAND = 300.0

SIDES: Mapping[Provider, tuple[str, str]] = {
    Provider.ANTHROPIC: ("anthropic", "v1"),
    Provider.OPENAI: ("openai", "v1"),
    Provider.GEMINI: ("google", "v1beta"),
}
"""What the program calls a provider, and the version of its interface that the program asks."""

_FAMILIES: Mapping[str, Provider] = {
    "claude": Provider.ANTHROPIC,
    "gpt": Provider.OPENAI,
    "o3": Provider.OPENAI,
    "o4": Provider.OPENAI,
    "gemini": Provider.GEMINI,
}


class Opencode(Described):
    """opencode 1.18.33 and later."""

    def provider(self, model: str) -> Provider:
        """By the word before the slash, else by the model's family. Raises ValueError for one that is not known."""
        before, slash, _ = model.partition("/")
        if not slash:
            fitting = (provider for family, provider in _FAMILIES.items() if model.startswith(family))
            return next(fitting, Provider.ANTHROPIC)
        named = next((provider for provider, (name, _) in SIDES.items() if name == before), None)
        if named is None:
            known = ", ".join(name for name, _ in SIDES.values())
            raise ValueError(f"model {model!r}: opencode can be used with the providers {known}; write provider/model")
        return named

    def places(self, task: AgentTask, door: Door) -> dict[str, object]:
        usual, side, folder = super().places(task, door), task.model_side, task.home / ".config/opencode"
        is_whole = not task.model or "/" in task.model
        model = task.model if is_whole else f"{SIDES[self.provider(task.model)][0]}/{task.model}"
        name, command = model.partition("/")[2], str(int(min(task.limits.wall, USUAL_COMMAND) * 1000))
        known = {key: value for key, value in self.table.environment.items() if key.startswith("OPENCODE_")}
        return {
            **usual,
            "named_model": model or None,
            "models": {name: {}} if name else {},
            "provider": SIDES[side][0],
            "base_url": base_url(side, door.model_url),
            "command": command,
            "known": fill(known, {"command": command}),
            "rules": task.system,
            "instructions": [str(folder / "rules.md")] if task.system else [],
            "plugin_url": (task.home / ".agent-fox/plugin.js").as_uri(),
            "guard": self.beside("opencode_guard.js"),
            "plugin": self.beside("opencode_plugin.js"),
            "places": [str(place.resolve()) for place in (task.workspace, *_places(task))],
            "permission": self.permissions(task, is_served=bool(usual["is_served"])),
            "quiet": int(quiet_of(task.limits) * 1000),
            "answer": int(max(task.limits.answer, CONNECTING) * 1000),
        }

    def permissions(self, task: AgentTask, *, is_served: bool) -> dict[str, object]:
        """What may be called; the last that fits decides."""
        offered = self.own_tools(task.role)
        if not shutil.which(SEARCHER, path=task.environment.get("PATH", os.defpath)):
            offered = tuple(tool for tool in offered if tool not in SEARCHING)
        served = [f"{self.served[0]}{tool}" for tool in task.tools] if is_served else []
        return {
            "*": "deny",
            **dict.fromkeys((*offered, *served), "allow"),
            "read": {"*": "allow", "mcp:*": "deny"},
            "external_directory": {"*": "deny", **dict.fromkeys((f"{place}/*" for place in _places(task)), "allow")},
            "doom_loop": "allow",
        }

    def prepare(self, task: AgentTask, door: Door) -> None:
        super().prepare(task, door)
        (task.home / ".config/opencode/node_modules").mkdir()

    def reader(self, task: AgentTask) -> OpencodeReader:
        return OpencodeReader()


def quiet_of(limits: Limits) -> float:
    """Seconds; two tries end before our own watchdog calls the session silent."""
    return min(max(limits.idle * 0.45, SHORTEST_QUIET), LONGEST_QUIET)


def base_url(provider: Provider, url: str) -> str:
    """The address with the version of the provider's interface, as the program's libraries want it."""
    bare, version = url.rstrip("/"), SIDES[provider][1]
    last = bare.rpartition("/")[2]
    return bare if last in {"v1", "v1beta", "v1alpha"} else f"{bare}/{version}"


def _places(task: AgentTask) -> list[Path]:
    """Folders outside of the workspace that tools may name files in."""
    outputs = task.home / ".local" / "share" / "opencode" / "tool-output"
    readable = [Path(path) for path in task.readable if Path(path).is_dir()]
    return [task.scratch, outputs, *readable]


OPENCODE = Opencode(__file__)
