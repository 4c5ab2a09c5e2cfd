"""Claude Code as an agent's command line: what it is started with, and which of its tools a role has.

Nothing of the workspace and nothing of a home is trusted: no settings file is read but ours (`--setting-sources ""`,
`--restricted`), no MCP server but ours (`--strict-mcp-config`), no memory file, no skill, no mention of a file. Tools
that a role does not have are not offered at all. What its lines mean is in `claude_reader`.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from pathlib import Path

from agent_fox.session.agents.claude.reader import ClaudeReader
from agent_fox.session.agents.clouds import BEDROCK, VERTEX
from agent_fox.session.agents.command_line import CommandLine, Facts, Start, direct
from agent_fox.session.agents.logins import CLAUDE_LOGIN
from agent_fox.session.agents.private_files import write_new
from agent_fox.session.agents.task import AgentTask, Door, Limits, Provider, Role
from agent_fox.system.files import remove_tree

READING = ("Read", "Grep", "Glob")
WRITING = ("Edit", "Write", "NotebookEdit", "Bash")
ANSWERING = "StructuredOutput"
"""The tool that the program itself adds where a schema is given."""

SERVER = "verifier"
MCP_PREFIX = f"mcp__{SERVER}__"

RETRIES = 2
"""How often the program repeats a failed request, seconds apart; longer waits are the engine's."""

SHORTEST_QUIET, LONGEST_QUIET = 10.0, 40.0
"""Seconds without a byte of the model's before a request is repeated: three tries end in about two minutes."""

OURS, THEIRS, TRANSCRIPTS = ".claude-session", ".claude", "projects"
"""Folders below a home: what we write, what the program writes, and what of it a resumed session reads."""

CONNECTING = 30.0
STOP_HOOK = 120.0
LONGEST_COMMAND = 3600.0
USUAL_COMMAND = 300.0
TURNS_AGAIN = 4
"""Turns of a session that is asked again: the structured answer is one, and a refused one may be repeated."""

ALWAYS: Mapping[str, str] = {
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "CLAUDE_CODE_DISABLE_OFFICIAL_MARKETPLACE_AUTOINSTALL": "1",
    "CLAUDE_CODE_DISABLE_AUTO_MEMORY": "1",
    "CLAUDE_CODE_DISABLE_BACKGROUND_TASKS": "1",
    "CLAUDE_CODE_DISABLE_BUNDLED_SKILLS": "1",
    "CLAUDE_CODE_DISABLE_CLAUDE_MDS": "1",
    "CLAUDE_CODE_DISABLE_CRON": "1",
    "CLAUDE_CODE_DISABLE_FILE_MENTIONS": "1",
    "CLAUDE_CODE_DISABLE_GIT_INSTRUCTIONS": "1",
    "CLAUDE_CODE_DISABLE_TERMINAL_TITLE": "1",
    "CLAUDE_CODE_DISABLE_WORKFLOWS": "1",
    "CLAUDE_ENABLE_BYTE_WATCHDOG": "1",
    "CLAUDE_ENV_FILE": "",
    "DISABLE_AUTOUPDATER": "1",
    "DISABLE_ERROR_REPORTING": "1",
    "DISABLE_TELEMETRY": "1",
    "ENABLE_TOOL_SEARCH": "false",
}
"""No traffic but the model's, no memory, nothing that outlives the session, nothing read that was not asked for."""

SEARCHING = (
    "Your tool Grep leaves out every file that an ignore file names (.gitignore, .ignore, .rgignore), and the work "
    'before you may have changed those. Always give it the argument glob with the value "**": it then leaves out none.'
)
"""A rule for who judges: no option of the program makes it search everything."""

OF_ANOTHER_SESSION = (
    *("CLAUDECODE", "CLAUDE_CODE_CHILD_SESSION", "CLAUDE_CODE_ENTRYPOINT", "CLAUDE_CODE_SESSION_ID"),
    *("CLAUDE_CODE_SSE_PORT", "CLAUDE_CODE_SIMPLE", "CLAUDE_CODE_RETRY_WATCHDOG", "CLAUDE_AUTO_BACKGROUND_TASKS"),
    *("ANTHROPIC_UNIX_SOCKET", "CLAUDE_CODE_SUBPROCESS_ENV_SCRUB"),
)
"""What a person's own session of this program may have set around us, and what would lead past our door."""

TOKEN = "CLAUDE_CODE_OAUTH_TOKEN"

LOGINS: Mapping[str, tuple[str, ...]] = {
    "CLAUDE_CODE_USE_BEDROCK": (
        *("AWS_BEARER_TOKEN_BEDROCK", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"),
    ),
    "CLAUDE_CODE_USE_VERTEX": ("GOOGLE_APPLICATION_CREDENTIALS",),
    "CLAUDE_CODE_USE_FOUNDRY": ("ANTHROPIC_FOUNDRY_API_KEY", "ANTHROPIC_FOUNDRY_AUTH_TOKEN"),
}
"""What says that the program logs in by itself, in the order of preference, and the secrets that go with it."""

FACTS = Facts(
    name="claude",
    program="claude",
    least=(2, 1, 330),
    install="npm install --global @anthropic-ai/claude-code, with Node.js 22 or newer",
    providers=(Provider.ANTHROPIC,),
    keys={Provider.ANTHROPIC: ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN")},
    direct=tuple(name for login, others in LOGINS.items() for name in (login, *others)),
    logins=tuple(LOGINS),
    login=CLAUDE_LOGIN,
    clouds=(BEDROCK, VERTEX),
    token=TOKEN,
    counts_resumed=True,
    tells_cost=True,
    beats=True,
    can_resume=True,
    has_schema=True,
    has_hooks=True,
)


class Claude(CommandLine):
    """The adapter. `prepare` writes three files below the home; every session gets them anew."""

    facts = FACTS

    def prepare(self, task: AgentTask, door: Door) -> None:
        _forget(task.home)
        folder = _folder(task)
        write_new(folder / "settings.json", json.dumps(_settings(task, door), indent=1))
        write_new(folder / "mcp.json", json.dumps(_servers(door), indent=1))
        write_new(folder / "system.md", _rules(task))

    def start(self, task: AgentTask, door: Door) -> Start:
        argv = [*_common(task), "--tools", ",".join(_tools(task.role))]
        allowed = _allowed(task, door)
        argv += ["--allowedTools", ",".join(allowed)] if allowed else []
        argv += ["--mcp-config", str(_folder(task) / "mcp.json")] if _is_served(task, door) else []
        argv += ["--max-turns", str(task.limits.turns)] if task.limits.turns is not None else []
        return Start((*argv, *task.arguments), _environment(task, door), task.prompt)

    def again(self, task: AgentTask, door: Door, session: str) -> Start:
        argv = [*_common(task), "--tools", "", "--max-turns", str(TURNS_AGAIN), *task.arguments, "--resume", session]
        return Start(tuple(argv), _environment(task, door), task.ask_again)

    def reader(self, task: AgentTask) -> ClaudeReader:
        return ClaudeReader()

    def own_tools(self, role: Role) -> tuple[str, ...]:
        return (*_tools(role), ANSWERING)


def _tools(role: Role) -> tuple[str, ...]:
    return (*READING, *WRITING) if role is Role.CODER else READING


def _is_served(task: AgentTask, door: Door) -> bool:
    return bool(door.mcp_url) and task.role is not Role.REVIEWER


def _allowed(task: AgentTask, door: Door) -> tuple[str, ...]:
    """What runs without a question. Reading stays in the workspace by itself; a rule for it would open the disk."""
    served = tuple(f"{MCP_PREFIX}{tool}" for tool in task.tools) if _is_served(task, door) else ()
    return ("Bash", *served) if task.role is Role.CODER else served


def _common(task: AgentTask) -> list[str]:
    folder = _folder(task)
    argv = [task.program, "--print", "--output-format", "stream-json", "--verbose", "--include-partial-messages"]
    argv += ["--restricted", "--setting-sources", "", "--strict-mcp-config", "--disable-slash-commands", "--no-chrome"]
    argv += ["--settings", str(folder / "settings.json")]
    argv += ["--permission-mode", "acceptEdits" if task.role is Role.CODER else "dontAsk"]
    argv += ["--append-system-prompt-file", str(folder / "system.md")] if _rules(task) else []
    argv += ["--model", task.model] if task.model else []
    argv += ["--effort", task.effort] if task.effort else []
    argv += ["--json-schema", json.dumps(dict(task.schema))] if task.schema is not None else []
    ceiling = task.limits.cost_usd
    return argv + (["--max-budget-usd", f"{ceiling:.6f}"] if ceiling is not None and ceiling > 0 else [])


def _rules(task: AgentTask) -> str:
    return task.system if task.role is Role.CODER else f"{task.system}\n\n{SEARCHING}\n".lstrip()


def _folder(task: AgentTask) -> Path:
    return task.home / OURS


def _settings(task: AgentTask, door: Door) -> dict[str, object]:
    settings: dict[str, object] = {
        "attribution": {"commit": "", "pr": ""},
        "autoMemoryEnabled": False,
        "claudeMdExcludes": ["**"],
        "includeGitInstructions": False,
    }
    if door.stop_command and task.role is Role.CODER:
        hook = {"type": "command", "command": shlex.join(door.stop_command), "timeout": int(STOP_HOOK)}
        return {**settings, "hooks": {"Stop": [{"hooks": [hook]}]}}
    return {**settings, "disableAllHooks": True}


def _servers(door: Door) -> dict[str, object]:
    if not door.mcp_url:
        return {"mcpServers": {}}
    headers = {"Authorization": f"Bearer {door.mcp_token}"}
    return {"mcpServers": {SERVER: {"type": "http", "url": door.mcp_url, "headers": headers}}}


def _key(door: Door) -> Mapping[str, str]:
    """What opens the way to its model: with a login it asks as one who is logged in."""
    if door.cloud:
        return door.cloud
    if not door.model_key:
        return _login(door.credentials)
    return {TOKEN if door.is_login else "ANTHROPIC_API_KEY": door.model_key}


def _environment(task: AgentTask, door: Door) -> dict[str, str]:
    key = _key(door)
    places = {
        "HOME": str(task.home),
        "CLAUDE_CONFIG_DIR": str(task.home / THEIRS),
        "TMPDIR": str(task.scratch),
        "CLAUDE_CODE_TMPDIR": str(task.scratch),
        "ANTHROPIC_BASE_URL": door.model_url,
    }
    emptied = {name: "" for name in OF_ANOTHER_SESSION if name in task.environment}
    return {**ALWAYS, **places, **key, **_times(task.limits), **emptied, **direct(task.environment)}


def _login(credentials: Mapping[str, str]) -> dict[str, str]:
    """The first login there is, with its own secrets: those of another login are not handed to the program."""
    login = next((name for name in LOGINS if name in credentials), None)
    names = (login, *LOGINS[login]) if login is not None else ()
    return {name: credentials[name] for name in names if name in credentials}


def _times(limits: Limits) -> dict[str, str]:
    quiet = min(max(limits.idle / 3, SHORTEST_QUIET), LONGEST_QUIET)
    command = min(limits.wall, LONGEST_COMMAND)
    seconds = {
        "API_TIMEOUT_MS": quiet,
        "CLAUDE_BYTE_STREAM_IDLE_TIMEOUT_MS": quiet,
        "MCP_TIMEOUT": CONNECTING,
        "MCP_TOOL_TIMEOUT": limits.answer,
        "CLAUDE_CODE_MCP_TOOL_IDLE_TIMEOUT": limits.answer,
        "BASH_DEFAULT_TIMEOUT_MS": min(command, USUAL_COMMAND),
        "BASH_MAX_TIMEOUT_MS": command,
    }
    return {
        "CLAUDE_CODE_MAX_RETRIES": str(RETRIES),
        **{name: str(int(value * 1000)) for name, value in seconds.items()},
    }


def _forget(home: Path) -> None:
    """Remove what an earlier session may have left for this one, all but the transcripts that can be resumed."""
    remove_tree(home / OURS)
    remove_tree(home / ".claude.json")
    if (home / THEIRS).is_symlink() or not (home / THEIRS).is_dir():
        remove_tree(home / THEIRS)
        return
    for left in (home / THEIRS).iterdir():
        if left.name != TRANSCRIPTS or left.is_symlink():
            remove_tree(left)


CLAUDE = Claude()
