"""The settings of Gemini CLI in its own home: which tools there are, which server, which hook, and what is off."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping, Sequence

from agent_fox.session.agents.task import AgentTask, Door, Role

SERVER = "verifier"
SERVED = f"mcp__{SERVER}__"
"""What stands before the name of a tool of our server, in what is told."""

READING = ("list_directory", "read_file", "grep_search", "glob")
WRITING = ("replace", "write_file", "run_shell_command", "write_todos")
ATTEMPTS = 3
"""How often a request to the model is sent, with pauses of 5 and 10 seconds."""

CONNECTING = 30
"""Seconds that our server is given at least for an answer."""


def tools_of(role: Role) -> tuple[str, ...]:
    """The program's own tools that a role has."""
    return (*READING, *WRITING) if role is Role.CODER else READING


def known_as(tool: str) -> str:
    """The name that a tool is reported by: our server's as other programs name them, any other as it is."""
    own = tool.removeprefix(f"mcp_{SERVER}_")
    return tool if own == tool else f"{SERVED}{own}"


def policy(own: Sequence[str], served: Sequence[str]) -> str:
    """A policy file: what is named may be called without a question, the rest is not even offered."""
    rules = [_rule("*", "deny", 900)]
    if own:
        rules.append(_rule(own, "allow", 950) + "allowRedirection = true\n")
    if "run_shell_command" in own:
        pattern = json.dumps(r'"is_background":true')
        rules.append(_rule("run_shell_command", "deny", 960) + f"argsPattern = {pattern}\n")
    if served:
        rules.append(_rule(served, "allow", 950) + f'mcpName = "{SERVER}"\n')
    return "\n".join(rules)


def _rule(tools: str | Sequence[str], decision: str, priority: int) -> str:
    named = json.dumps(tools if isinstance(tools, str) else list(tools))
    return f'[[rule]]\ntoolName = {named}\ndecision = "{decision}"\npriority = {priority}\n'


def settings(task: AgentTask, door: Door, rules: str) -> dict[str, object]:
    """The settings file. rules: name of the only file of instructions that is looked for."""
    hooks = _hooks(task, door)
    return {
        "security": {
            "auth": {"selectedType": "gemini-api-key", "useExternal": True},
            "folderTrust": {"enabled": True},
            "environmentVariableRedaction": {"enabled": False},
        },
        "general": {
            "enableAutoUpdate": False,
            "enableAutoUpdateNotification": False,
            "maxAttempts": ATTEMPTS,
            "plan": {"enabled": False},
            "topicUpdateNarration": False,
            "checkpointing": {"enabled": False},
        },
        "privacy": {"usageStatisticsEnabled": False},
        "telemetry": {"enabled": False},
        "ide": {"enabled": False},
        "context": {
            "fileName": rules,
            "includeDirectoryTree": False,
            "memoryBoundaryMarkers": [],
            "includeDirectories": [],
            "loadMemoryFromIncludeDirectories": False,
            "fileFiltering": {
                "respectGeminiIgnore": False,
                "respectGitIgnore": task.role is Role.CODER,
                "enableRecursiveFileSearch": False,
            },
        },
        "tools": {
            "core": list(tools_of(task.role)),
            "sandbox": False,
            "shell": {"enableInteractiveShell": False, "inactivityTimeout": int(task.limits.wall)},
        },
        "advanced": {"ignoreLocalEnv": True, "autoConfigureMemory": False},
        "experimental": {"enableAgents": False, "extensionManagement": False, "autoMemory": False},
        "skills": {"enabled": False},
        "model": {"maxSessionTurns": task.limits.turns or -1, "skipNextSpeakerCheck": True},
        "modelConfigs": {"customAliases": _thinking(task.effort)},
        "mcpServers": _servers(task, door),
        "hooksConfig": {"enabled": bool(hooks), "notifications": False},
        "hooks": hooks,
    }


def _servers(task: AgentTask, door: Door) -> Mapping[str, object]:
    if not door.mcp_url:
        return {}
    server = {
        "httpUrl": door.mcp_url,
        "headers": {"Authorization": f"Bearer {door.mcp_token}"},
        "timeout": int(max(task.limits.answer, CONNECTING) * 1000),
        "trust": True,
        "includeTools": list(task.tools),
    }
    return {SERVER: server}


def _hooks(task: AgentTask, door: Door) -> Mapping[str, object]:
    if not door.stop_command or task.role is not Role.CODER:
        return {}
    hook = {"type": "command", "command": shlex.join(door.stop_command), "timeout": int(task.limits.wall * 1000)}
    return {"AfterAgent": [{"matcher": "*", "hooks": [hook]}]}


_LEVELS = {"minimal": "MINIMAL", "low": "LOW", "medium": "MEDIUM", "high": "HIGH"}
_BUDGETS = {"minimal": 512, "low": 2048, "medium": 8192, "high": 24576}


def _thinking(effort: str) -> Mapping[str, object]:
    """How hard models think: tokens in their second generation, a level from the third on. Else: as they like."""
    if effort not in _LEVELS:
        return {}
    return {
        "chat-base-2.5": _base({"thinkingBudget": _BUDGETS[effort]}),
        "chat-base-3": _base({"thinkingLevel": _LEVELS[effort]}),
    }


def _base(thinking: Mapping[str, object]) -> Mapping[str, object]:
    return {"extends": "chat-base", "modelConfig": {"generateContentConfig": {"thinkingConfig": thinking}}}
