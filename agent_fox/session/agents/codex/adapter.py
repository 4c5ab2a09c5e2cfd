"""Codex CLI as an agent's command line: what it is started with, and which of its tools a role has.

Its configuration is in `settings`, what its lines mean in `reader`. A session that only judges has codex's
shell for reading, there is no other way; `guard` looks at each command before it runs.

Codex asks its stop hook again and again, without end: whoever answers the hook must let it go at some time.
"""

from __future__ import annotations

import json
from pathlib import Path

from agent_fox.session.agents.codex import guard
from agent_fox.session.agents.codex.reader import CodexReader
from agent_fox.session.agents.codex.settings import KEY, SERVER, TOKEN, config, home_of, hooks, is_served
from agent_fox.session.agents.codex.trace import LEVELS
from agent_fox.session.agents.command_line import CommandLine, Facts, Start, direct
from agent_fox.session.agents.logins import CHATGPT_LOGIN
from agent_fox.session.agents.private_files import keep_folder, write_new
from agent_fox.session.agents.task import AgentTask, Door, Provider, Role
from agent_fox.system.files import remove_tree

ACCESS_TOKEN = "CODEX_ACCESS_TOKEN"

JUDGING = frozenset(
    {
        *("exec_command", "write_stdin", "shell", "shell_command", "local_shell", "view_image", "update_plan"),
        *("list_mcp_resources", "list_mcp_resource_templates", "read_mcp_resource", "tool_search"),
        *("exec", "wait", "clock__curr_time", "clock__sleep", "send_user_message_async"),
    }
)
"""Tools that change nothing by themselves; `exec` and `wait` run a script that calls the others."""

KEPT = ("sessions", "installation_id", "*.sqlite*")
"""What an earlier process of the same task may leave in codex's folder: what it is resumed from."""

FACTS = Facts(
    name="codex",
    program="codex",
    least=(0, 169, 0),
    install="npm install --global @openai/codex, with Node.js 16 or newer",
    providers=(Provider.OPENAI,),
    keys={Provider.OPENAI: ("CODEX_API_KEY", "OPENAI_API_KEY")},
    direct=(ACCESS_TOKEN,),
    login=CHATGPT_LOGIN,
    counts_resumed=True,
    tells_cost=False,
    beats=False,
    can_resume=True,
    has_schema=True,
    has_hooks=True,
)


class Codex(CommandLine):
    """The adapter. `prepare` writes its files below the home; every session gets them anew."""

    facts = FACTS

    def prepare(self, task: AgentTask, door: Door) -> None:
        folder = home_of(task)
        _cleared(folder)
        write_new(folder / "config.toml", config(task, door))
        events = hooks(task, door)
        if events:
            write_new(folder / "hooks.json", json.dumps({"hooks": events}, indent=1))
        if task.schema is not None:
            write_new(_schema(task), json.dumps(dict(task.schema)))

    def start(self, task: AgentTask, door: Door) -> Start:
        return Start(_argv(task, door), _environment(task, door), task.prompt)

    def again(self, task: AgentTask, door: Door, session: str) -> Start:
        """Without its shell and without the verifier; whatever is left is stopped by the hook and the sandbox."""
        less = ["features.shell_tool=false", 'sandbox_mode="read-only"']
        less += [f"mcp_servers.{SERVER}.enabled=false"] if is_served(task, door) else []
        words = [word for setting in less for word in ("-c", setting)]
        environment = {**_environment(task, door), guard.TOOLS: "none"}
        return Start(_argv(task, door, *words, session=session), environment, task.ask_again)

    def reader(self, task: AgentTask) -> CodexReader:
        return CodexReader(task)

    def own_tools(self, role: Role) -> frozenset[str]:
        return JUDGING | {"apply_patch"} if role is Role.CODER else JUDGING


def _argv(task: AgentTask, door: Door, *words: str, session: str = "") -> tuple[str, ...]:
    """`--dangerously-bypass-hook-trust` lets hooks of configuration that is read run: of ours, no other is."""
    argv = [task.program, "exec", *(["resume"] if session else [])]
    argv += ["--json", "--strict-config", "--skip-git-repo-check", "--ignore-rules"]
    argv += ["--dangerously-bypass-hook-trust"] if hooks(task, door) else []
    argv += ["--output-schema", str(_schema(task))] if task.schema is not None else []
    return (*argv, *task.arguments, *words, *([session] if session else []), "-")


def _environment(task: AgentTask, door: Door) -> dict[str, str]:
    key = {KEY: door.model_key} if door.model_key else dict(door.credentials)
    token = {TOKEN: door.mcp_token} if is_served(task, door) else {}
    return {
        "HOME": str(task.home),
        "CODEX_HOME": str(home_of(task)),
        "TMPDIR": str(task.scratch),
        "RUST_LOG": LEVELS,
        **direct(task.environment),
        **key,
        **token,
    }


def _schema(task: AgentTask) -> Path:
    return home_of(task) / "answer.schema.json"


def _cleared(folder: Path) -> None:
    """Whatever an earlier session may have left there to be read as configuration goes."""
    keep_folder(folder)
    for path in folder.iterdir():
        is_kept = not path.is_symlink() and any(path.match(pattern) for pattern in KEPT)
        if not is_kept:
            remove_tree(path)


CODEX = Codex()
