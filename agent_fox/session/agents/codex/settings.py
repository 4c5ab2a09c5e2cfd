"""Codex's configuration for one session: its `config.toml` and `hooks.json`, below the session's own home.

Everything that a workspace could say is off: its own `.codex` folder (the project is not trusted), project documents,
skills, plugins, rules. Off too is whatever would reach another host than the model's.
"""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from agent_fox.core.regex import regex
from agent_fox.session.agents.codex import guard as codex_guard
from agent_fox.session.agents.task import AgentTask, Door, Limits, Role
from agent_fox.system.sandbox.bubblewrap import is_used, mode_of

SERVER = "verifier"
PROVIDER = "door"
KEY, TOKEN = "AGENT_FOX_MODEL_KEY", "AGENT_FOX_VERIFIER_TOKEN"
"""Variables of codex itself that hold what no command of its shell is given."""

RETRIES = 2
"""How often a request is repeated, and how often a broken stream; longer waits are the engine's."""

SHORTEST_QUIET, LONGEST_QUIET = 10.0, 40.0
"""Seconds without a byte in a stream before it is asked for again."""

CONNECTING = 30.0
STOP_HOOK, GUARD = 120, 60
"""Seconds that a hook may take: codex goes on without one that takes longer."""

OFF = (
    *("apps", "browser_use", "browser_use_external", "computer_use", "daemon_auto_start", "goals", "guardian_approval"),
    *("image_generation", "in_app_browser", "memories", "plugins", "remote_plugin", "shell_snapshot", "skill_search"),
    *("skill_mcp_dependency_install", "tool_suggest", "unbounded_connection_retries"),
)
"""Features of codex that a session does not have."""

Value = str | bool | int | Sequence[str] | Mapping[str, "Value"]
_BARE = regex(r"[A-Za-z0-9_-]+")


def home_of(task: AgentTask) -> Path:
    return task.home / ".codex"


def is_guarded(role: Role) -> bool:
    """Whether each tool call of such a session is looked at before it runs."""
    return role is not Role.CODER


def is_served(task: AgentTask, door: Door) -> bool:
    return bool(door.mcp_url) and task.role is not Role.REVIEWER


def sandbox_of(task: AgentTask) -> str:
    """Codex's own sandbox. It cannot be nested into ours, where nobody makes namespaces: there ours is the only one.

    Raises SandboxMissing where ours is required and there is none.
    """
    if is_used(mode_of(task.sandbox)):
        return "danger-full-access"
    return "workspace-write" if task.role is Role.CODER else "read-only"


def config(task: AgentTask, door: Door) -> str:
    """The text of `config.toml`."""
    tables: dict[str, Value] = {
        **_top(task),
        "features": {**dict.fromkeys(OFF, False), "hooks": bool(hooks(task, door))},
        "agents": {"enabled": False},
        "tools": {"web_search": False, "experimental_request_user_input": {"enabled": False}},
        "skills": {"include_instructions": False, "bundled": {"enabled": False}},
        "analytics": {"enabled": False},
        "feedback": {"enabled": False},
        "history": {"persistence": "none"},
        "projects": {str(task.workspace): {"trust_level": "untrusted"}},
        "shell_environment_policy": _shell(task),
        "sandbox_workspace_write": {
            "network_access": True,
            "writable_roots": _writable(task),
            "exclude_slash_tmp": True,
        },
        "model_providers": {PROVIDER: _provider(door, task.limits)},
    }
    if is_served(task, door):
        tables["mcp_servers"] = {
            SERVER: {
                "url": door.mcp_url,
                "bearer_token_env_var": TOKEN,
                "required": True,
                "enabled_tools": list(task.tools),
                "default_tools_approval_mode": "approve",
                "startup_timeout_sec": int(CONNECTING),
                "tool_timeout_sec": max(1, int(task.limits.answer)),
            }
        }
    return _toml(tables)


def _top(task: AgentTask) -> dict[str, Value]:
    settings: dict[str, Value] = {
        "model_provider": PROVIDER,
        "approval_policy": "never",
        "sandbox_mode": sandbox_of(task),
        "web_search": "disabled",
        "project_doc_max_bytes": 0,
        "check_for_update_on_startup": False,
        "allow_login_shell": False,
        "cli_auth_credentials_store": "ephemeral",
    }
    given = {"model": task.model, "model_reasoning_effort": task.effort, "developer_instructions": task.system}
    return settings | {name: value for name, value in given.items() if value}


def _shell(task: AgentTask) -> dict[str, Value]:
    """What codex's commands get of its environment: all but its own secrets and our ways of watching it."""
    kept = {name: task.environment[name] for name in ("RUST_LOG",) if name in task.environment}
    excluded = [KEY, TOKEN, "CODEX_HOME", "RUST_LOG", "CODEX_ACCESS_TOKEN", codex_guard.TOOLS]
    return {"inherit": "all", "ignore_default_excludes": True, "exclude": excluded, "set": kept}


def _writable(task: AgentTask) -> list[str]:
    """Beside the workspace: its git folder, so that a coder can commit, and its home, but not codex's part of it."""
    git = task.workspace / ".git"
    return [str(git), str(task.home)] if git.is_dir() and not git.is_symlink() else [str(task.home)]


def _provider(door: Door, limits: Limits) -> dict[str, Value]:
    quiet = min(max(limits.idle / 3, SHORTEST_QUIET), LONGEST_QUIET)
    way: dict[str, Value] = {"base_url": door.model_url, "env_key": KEY}
    if not door.model_key:
        way = {"requires_openai_auth": True}
    return {
        "name": PROVIDER,
        **way,
        "wire_api": "responses",
        "supports_websockets": False,
        "request_max_retries": RETRIES,
        "stream_max_retries": RETRIES,
        "stream_idle_timeout_ms": int(quiet * 1000),
    }


def hooks(task: AgentTask, door: Door) -> Mapping[str, object]:
    """The events of `hooks.json`, empty where there are none."""
    events: dict[str, object] = {}
    if is_guarded(task.role):
        guard = shlex.join((sys.executable, "-I", "-S", str(Path(codex_guard.__file__))))
        events["PreToolUse"] = _hook(f"{guard} || exit 2", GUARD)
    elif door.stop_command:
        events["Stop"] = _hook(shlex.join(door.stop_command), STOP_HOOK)
    return events


def _hook(command: str, seconds: int) -> list[object]:
    return [{"hooks": [{"type": "command", "command": command, "timeout": seconds}]}]


def _toml(tables: Mapping[str, Value], above: str = "") -> str:
    """TOML of nested tables, plain values of a table before the tables in it."""
    plain = {name: value for name, value in tables.items() if not isinstance(value, Mapping)}
    lines = [f"{_name(name)} = {_value(value)}\n" for name, value in plain.items()]
    for name, value in tables.items():
        if isinstance(value, Mapping):
            path = f"{above}{_name(name)}"
            lines.append(f"\n[{path}]\n{_toml(value, f'{path}.')}")
    return "".join(lines)


def _name(name: str) -> str:
    return name if _BARE.fullmatch(name) else _string(name)


def _value(value: Value) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return _string(value)
    return str(value) if isinstance(value, int) else f"[{', '.join(_string(word) for word in value)}]"


def _string(text: str) -> str:
    """A JSON string is one of TOML, but for lone surrogates and the one control character that JSON leaves alone."""
    clean = text.encode("utf-8", "replace").decode("utf-8")
    return json.dumps(clean, ensure_ascii=False).replace("\x7f", "\\u007F")
