"""The settings of opencode in its own home: the model and where it is, which tools there are, the server, what is off.

opencode 1.18.33 has two readers of configuration. `OPENCODE_DISABLE_PROJECT_CONFIG` stops the old one only: the new one
still imports plugins that a workspace names. The guard, a script that is loaded before the program itself, stops both.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Mapping
from pathlib import Path

from agent_fox.session.agents.command_line import direct
from agent_fox.session.agents.private_files import write_new
from agent_fox.session.agents.task import AgentTask, Door, Limits, Provider, Role
from agent_fox.system.files import remove_tree

SERVER = "verifier"
MCP_PREFIX = f"{SERVER}_"
AGAIN = "again"
"""The agent that has no tool at all."""

READING = ("read", "list")
SEARCHING = ("glob", "grep")
WRITING = ("edit", "write", "apply_patch", "bash", "todowrite")
SEARCHER = "rg"
"""The program that glob and grep need; opencode would download it where it is missing."""

RETRIES = 2
"""How often a failed request is repeated, after about 2 and 4 seconds; longer waits are the engine's."""

LONGEST_WAIT = 30.0
SHORTEST_QUIET, LONGEST_QUIET = 10.0, 60.0
"""Seconds without a byte of the model's before a request is given up; one that was silent is repeated once."""

CONNECTING = 30.0
USUAL_COMMAND = 300.0

NAMES: Mapping[Provider, str] = {
    Provider.ANTHROPIC: "anthropic",
    Provider.OPENAI: "openai",
    Provider.GEMINI: "google",
}
_VERSIONS: Mapping[Provider, str] = {Provider.ANTHROPIC: "v1", Provider.OPENAI: "v1", Provider.GEMINI: "v1beta"}
_FAMILIES: Mapping[str, Provider] = {
    "claude": Provider.ANTHROPIC,
    "gpt": Provider.OPENAI,
    "o3": Provider.OPENAI,
    "o4": Provider.OPENAI,
    "gemini": Provider.GEMINI,
}
_HERE = Path(__file__).parent

SWITCHES: Mapping[str, str] = dict.fromkeys(
    (
        "OPENCODE_DISABLE_AUTOUPDATE",
        "OPENCODE_DISABLE_CLAUDE_CODE",
        "OPENCODE_DISABLE_DEFAULT_PLUGINS",
        "OPENCODE_DISABLE_EXTERNAL_SKILLS",
        "OPENCODE_DISABLE_FFF",
        "OPENCODE_DISABLE_LSP_DOWNLOAD",
        "OPENCODE_DISABLE_MODELS_FETCH",
        "OPENCODE_DISABLE_PROJECT_CONFIG",
        "OPENCODE_DISABLE_SHARE",
        "OPENCODE_DISABLE_TERMINAL_TITLE",
        "OPENCODE_EXPERIMENTAL_DISABLE_FILEWATCHER",
    ),
    "1",
)
"""Nothing is fetched but the model's answers, and nothing read that was not asked for."""


def provider_of(model: str) -> Provider:
    """By the word before the slash, else by the model's family. Raises ValueError for a provider that is not known."""
    before, slash, _ = model.partition("/")
    if not slash:
        return next(
            (provider for family, provider in _FAMILIES.items() if model.startswith(family)), Provider.ANTHROPIC
        )
    named = next((provider for provider, name in NAMES.items() if name == before), None)
    if named is None:
        known = ", ".join(NAMES.values())
        raise ValueError(f"model {model!r}: opencode can be used with the providers {known}; write provider/model")
    return named


def model_of(task: AgentTask) -> str:
    """The model as provider/model; empty where none was asked for."""
    if not task.model or "/" in task.model:
        return task.model
    return f"{NAMES[provider_of(task.model)]}/{task.model}"


def configuration_folder(task: AgentTask) -> Path:
    return task.home / ".config" / "opencode"


def guard_folder(task: AgentTask) -> Path:
    return task.home / ".agent-fox"


def write_settings(task: AgentTask, door: Door) -> None:
    """Everything that the program reads, anew. What an earlier session has left in these places is removed."""
    folder, guard = configuration_folder(task), guard_folder(task)
    for stale in (folder, guard, task.home / ".opencode", task.home / ".cache" / "opencode"):
        remove_tree(stale)
    remove_tree(task.home / ".local" / "share" / "opencode" / "auth.json")
    write_new(folder / "opencode.json", json.dumps(_settings(task, door), indent=1))
    write_new(folder / "rules.md", task.system)
    write_new(folder / "package-lock.json", json.dumps(_INSTALLED))
    (folder / "node_modules").mkdir()
    write_new(
        guard / "guard.json",
        json.dumps(
            {
                "configuration": str(configuration_folder(task)),
                "plugin": str(guard_folder(task) / "plugin.js"),
                "environment": _known(task),
                "model": door.model_url,
                "retries": RETRIES,
                "wait": LONGEST_WAIT,
                "places": [str(place.resolve()) for place in (task.workspace, *_places(task))],
            },
            indent=1,
        ),
    )
    for name in ("guard", "plugin"):
        write_new(guard / f"{name}.js", (_HERE / f"opencode_{name}.js").read_text(encoding="utf-8"))


_INSTALLED = {"lockfileVersion": 3, "packages": {"": {"dependencies": {"@opencode-ai/plugin": "*"}}}}
"""With it, the program takes for installed what it would otherwise fetch before it loads a plugin."""


def environment(task: AgentTask) -> dict[str, str]:
    """What comes over the task's own variables. Loopback is reached without a proxy."""
    home = task.home
    return {
        **_known(task),
        "HOME": str(home),
        "XDG_CONFIG_HOME": str(home / ".config"),
        "XDG_DATA_HOME": str(home / ".local" / "share"),
        "XDG_STATE_HOME": str(home / ".local" / "state"),
        "XDG_CACHE_HOME": str(home / ".cache"),
        "TMPDIR": str(task.scratch),
        **direct(task.environment),
        "BUN_INSPECT_PRELOAD": str(guard_folder(task) / "guard.js"),
    }


def _known(task: AgentTask) -> dict[str, str]:
    """The program's own variables that stay; the guard removes all others."""
    command = int(min(task.limits.wall, USUAL_COMMAND) * 1000)
    return {**SWITCHES, "OPENCODE_EXPERIMENTAL_BASH_DEFAULT_TIMEOUT_MS": str(command)}


def _settings(task: AgentTask, door: Door) -> dict[str, object]:
    permission = permissions(task, door)
    return {
        "autoupdate": False,
        "share": "disabled",
        "snapshot": False,
        "lsp": False,
        "formatter": False,
        "enabled_providers": [NAMES[task.model_side]],
        "provider": {NAMES[task.model_side]: _provider(task, door)},
        "plugin": [(guard_folder(task) / "plugin.js").as_uri()],
        "instructions": [str(configuration_folder(task) / "rules.md")] if task.system else [],
        "default_agent": task.role.value,
        "permission": permission,
        "agent": {
            task.role.value: {"mode": "primary", "permission": permission},
            AGAIN: {"mode": "primary", "permission": {"*": "deny"}},
        },
        "mcp": _servers(task, door),
    }


def _provider(task: AgentTask, door: Door) -> dict[str, object]:
    quiet = quiet_of(task.limits) * 1000
    options = {
        "baseURL": base_url(task.model_side, door.model_url),
        "apiKey": door.model_key,
        "headerTimeout": int(quiet),
        "chunkTimeout": int(quiet),
    }
    name = model_of(task).partition("/")[2]
    return {"options": options, "models": {name: {}} if name else {}}


def quiet_of(limits: Limits) -> float:
    """Seconds; two tries end before our own watchdog calls the session silent."""
    return min(max(limits.idle * 0.45, SHORTEST_QUIET), LONGEST_QUIET)


def base_url(provider: Provider, url: str) -> str:
    """The address with the version of the provider's interface, as the program's libraries want it."""
    bare, version = url.rstrip("/"), _VERSIONS[provider]
    last = bare.rpartition("/")[2]
    return bare if last in {"v1", "v1beta", "v1alpha"} else f"{bare}/{version}"


def tools_of(role: Role) -> tuple[str, ...]:
    """The program's own tools that a role has."""
    reading = (*READING, *SEARCHING)
    return (*reading, *WRITING) if role is Role.CODER else reading


def is_served(task: AgentTask, door: Door) -> bool:
    return bool(door.mcp_url) and task.role is not Role.REVIEWER


def permissions(task: AgentTask, door: Door) -> dict[str, object]:
    """Last match wins. Nothing is asked: a question that nobody answers would end the session."""
    offered = tools_of(task.role)
    if not shutil.which(SEARCHER, path=task.environment.get("PATH", os.defpath)):
        offered = tuple(tool for tool in offered if tool not in SEARCHING)
    served = [f"{MCP_PREFIX}{tool}" for tool in task.tools] if is_served(task, door) else []
    return {
        "*": "deny",
        **dict.fromkeys((*offered, *served), "allow"),
        "read": {"*": "allow", "mcp:*": "deny"},
        "external_directory": {"*": "deny", **dict.fromkeys((f"{place}/*" for place in _places(task)), "allow")},
        "doom_loop": "allow",
    }


def _places(task: AgentTask) -> list[Path]:
    """Folders outside of the workspace that tools may name files in."""
    outputs = task.home / ".local" / "share" / "opencode" / "tool-output"
    readable = [Path(path) for path in task.readable if Path(path).is_dir()]
    return [task.scratch, outputs, *readable]


def _servers(task: AgentTask, door: Door) -> dict[str, object]:
    if not is_served(task, door):
        return {}
    server = {
        "type": "remote",
        "url": door.mcp_url,
        "enabled": True,
        "oauth": False,
        "headers": {"Authorization": f"Bearer {door.mcp_token}"},
        "timeout": int(max(task.limits.answer, CONNECTING) * 1000),
    }
    return {SERVER: server}
