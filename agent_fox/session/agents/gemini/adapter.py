"""Gemini CLI: `gemini --output-format stream-json`, prompt on standard input, everything else from its own home."""

from __future__ import annotations

import json
import secrets
from collections.abc import Collection

from agent_fox.session.agents.command_line import CommandLine, Facts, Reader, Start, direct
from agent_fox.session.agents.gemini.hiding import hiding
from agent_fox.session.agents.gemini.reader import GeminiReader
from agent_fox.session.agents.gemini.settings import SERVED, SERVER, policy, settings, tools_of
from agent_fox.session.agents.logins import GEMINI_LOGIN
from agent_fox.session.agents.private_files import keep_folder, write_new
from agent_fox.session.agents.task import AgentTask, Door, Provider, Role
from agent_fox.system.files import remove_tree

WORKING, ANSWERING, HIDING, SETTINGS = "working.toml", "answering.toml", "hiding.cjs", "settings.json"
WRITTEN = (WORKING, ANSWERING, HIDING, SETTINGS)

FACTS = Facts(
    name="gemini",
    program="gemini",
    least=(0, 61, 0),
    install="npm install --global @google/gemini-cli, with Node.js 20 or newer",
    providers=(Provider.GEMINI,),
    keys={Provider.GEMINI: ("GEMINI_API_KEY", "GOOGLE_API_KEY")},
    login=GEMINI_LOGIN,
    counts_resumed=False,
    has_hooks=True,
    most_idle=110.0,
)

AT_SIGNS = "In what follows, a backslash before an at sign only protects it: \\@name means the same without it.\n\n"

PINNED = {
    "GEMINI_CLI_NO_RELAUNCH": "1",
    "GEMINI_CLI_TRUST_WORKSPACE": "false",
    "GEMINI_SANDBOX": "false",
    "GEMINI_TELEMETRY_ENABLED": "false",
    "NO_BROWSER": "true",
    "NO_COLOR": "1",
    **dict.fromkeys(
        (
            *("GOOGLE_API_KEY", "GOOGLE_GENAI_USE_VERTEXAI", "GOOGLE_GENAI_USE_GCA", "GOOGLE_CLOUD_PROJECT"),
            *("GOOGLE_CLOUD_LOCATION", "GOOGLE_VERTEX_BASE_URL", "GOOGLE_GENAI_API_VERSION", "CODE_ASSIST_ENDPOINT"),
            *("GEMINI_API_KEY_AUTH_MECHANISM", "GEMINI_CLI_CUSTOM_HEADERS", "GEMINI_MODEL", "GEMINI_SYSTEM_MD"),
            *("GEMINI_WRITE_SYSTEM_MD", "GEMINI_CLI_ACTIVITY_LOG_TARGET", "GEMINI_CLI_IDE_WORKSPACE_PATH"),
            *("GEMINI_CLI_USE_COMPUTE_ADC", "CLOUD_SHELL", "DEBUG", "DEBUG_MODE", "SANDBOX"),
        ),
        "",
    ),
}
"""Set for every session, empty ones too: an environment file fills in only what is not set.

The workspace is not trusted while settings are read, so that none of its own count; `--skip-trust` then lets our
server and our hook work, which an untrusted folder may not have.
"""


class Gemini(CommandLine):
    """Gemini CLI 0.61 and later."""

    facts = FACTS
    served = (SERVED, f"mcp_{SERVER}_")

    def prepare(self, task: AgentTask, door: Door) -> None:
        """Settings, policies, rules, and what hides the workspace's own.

        The rules lie under a name nobody can know: the workspace is searched for it too.
        """
        folder = task.home / ".gemini"
        keep_folder(folder)
        rules = f"rules-{secrets.token_hex(16)}.md"
        for stale in (*folder.glob("rules-*.md"), *(folder / name for name in WRITTEN)):
            remove_tree(stale)
        write_new(folder / rules, _protected(task.system))
        write_new(folder / SETTINGS, json.dumps(settings(task, door, rules), indent=1))
        write_new(folder / HIDING, hiding(task.home, task.environment.get("NODE_OPTIONS", "")))
        write_new(folder / WORKING, policy(tools_of(task.role), task.tools if door.mcp_url else ()))
        write_new(folder / ANSWERING, policy((), ()))

    def start(self, task: AgentTask, door: Door) -> Start:
        return self._start(task, door, WORKING, task.prompt)

    def again(self, task: AgentTask, door: Door, session: str) -> Start:
        return self._start(task, door, ANSWERING, task.ask_again, "--resume", session)

    def reader(self, task: AgentTask) -> Reader:
        return GeminiReader(task.home)

    def own_tools(self, role: Role) -> Collection[str]:
        return tools_of(role)

    def _start(self, task: AgentTask, door: Door, rules: str, prompt: str, *more: str) -> Start:
        mode = "yolo" if task.role is Role.CODER and rules == WORKING else "default"
        argv = [task.program, "--output-format", "stream-json", "--skip-trust", "--approval-mode", mode]
        argv += ["--extensions", "none", "--allowed-mcp-server-names", SERVER]
        argv += ["--admin-policy", str(task.home / ".gemini" / rules)]
        argv += ["--model", task.model] if task.model else []
        return Start((*argv, *more, *task.arguments), _environment(task, door), _question(prompt))


def _environment(task: AgentTask, door: Door) -> dict[str, str]:
    script = json.dumps(str(task.home / ".gemini" / HIDING))
    options = (f"--require {script}", task.environment.get("NODE_OPTIONS", ""))
    return {
        **PINNED,
        "HOME": str(task.home),
        "GEMINI_CLI_HOME": str(task.home),
        **_way(door),
        "NODE_OPTIONS": " ".join(filter(None, options)),
        **direct(task.environment),
    }


def _way(door: Door) -> dict[str, str]:
    """With a login it asks the service for people who have one, with the word of its launch as the token."""
    if not door.is_login:
        return {"GEMINI_API_KEY": door.model_key, "GOOGLE_GEMINI_BASE_URL": door.model_url}
    word = {"GOOGLE_GENAI_USE_GCA": "true", "GOOGLE_CLOUD_ACCESS_TOKEN": door.model_key}
    return {**word, "CODE_ASSIST_ENDPOINT": door.model_url}


def _question(prompt: str) -> str:
    """The prompt so that nothing in it is a command: `/word` at its start is one, and `@path` attaches a file."""
    protected = _protected(prompt)
    shown = AT_SIGNS + protected if protected != prompt else prompt
    return f"\n{shown}" if shown.startswith("/") else shown


def _protected(text: str) -> str:
    return text.replace("\\@", "@").replace("@", "\\@")


GEMINI = Gemini()
