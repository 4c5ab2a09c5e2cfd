"""The stop hook and the review server in the settings of Claude Code and codex: put in, found, taken out. No screen.

Everything is worked out first as `Change`s; they are written by `settings_files`. What a person wrote there stays; what
is ours is known by its mark.
"""

from __future__ import annotations

import json
import os
import shlex
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from pathlib import Path

from agent_fox.core.values import dataclass
from agent_fox.review.settings_files import (
    Change,
    Edit,
    InstallTrouble,
    JsonTable,
    json_change,
    keep,
    list_of,
    parsed,
    read,
    table_of,
    tables,
)

SERVER = "agent-fox-review"
MARK = "# agent-fox: stop hook"
"""Ends the command of our hook; a shell takes it for a comment."""

SECONDS, MARGIN = 120, 20
"""What a client gives the hook, and how much earlier the hook ends by itself: one that is ended lets the chat go on."""

TOOL_SECONDS = 900
BEGIN, END = "# agent-fox: review server, begin", "# agent-fox: review server, end"
OURS = ["mcp", "review"]


class Program(StrEnum):
    """Whose settings."""

    CLAUDE = "claude"
    CODEX = "codex"


class Scope(StrEnum):
    """For one project, or for everything that this user does."""

    PROJECT = "project"
    USER = "user"


@dataclass(frozen=True, slots=True)
class Place:
    """Where settings are: the project, and the folders of the user's. `state`: the project's `.agent-fox`."""

    project: Path
    claude_home: Path
    codex_home: Path

    @property
    def state(self) -> Path:
        return self.project / ".agent-fox"

    @classmethod
    def of(cls, project: Path, environ: Mapping[str, str]) -> Place:
        home = Path(environ.get("HOME") or Path.home())
        claude = Path(environ.get("CLAUDE_CONFIG_DIR") or home / ".claude")
        return cls(project.absolute(), claude, Path(environ.get("CODEX_HOME") or home / ".codex"))


def changes(
    programs: Sequence[Program], scope: Scope, place: Place, argv: Sequence[str], *, is_out: bool = False
) -> tuple[Change, ...]:
    """What is to be written so that the hook and the server are there (or are not). Raises InstallTrouble.

    argv: how `agent-fox` is started.
    """
    made: list[Change] = []
    for program in programs:
        make = _claude if program is Program.CLAUDE else _codex
        made += make(scope, place, argv, is_out)
    return tuple(made)


def _claude(scope: Scope, place: Place, argv: Sequence[str], is_out: bool) -> Iterator[Change]:
    """The server of a user is in a file that the program itself writes all the time: left to its own command."""
    command = hook_command(argv, place.state if scope is Scope.PROJECT else None)
    if scope is Scope.USER:
        yield json_change(place.claude_home / "settings.json", _hooked(command, is_out), is_out, follows_links=True)
        return
    edits = (_hooked(command, is_out), _approved(is_out))
    yield json_change(place.project / ".claude/settings.local.json", _each(*edits), is_out)
    yield json_change(place.project / ".mcp.json", _served(argv, is_out), is_out)


def _codex(scope: Scope, place: Place, argv: Sequence[str], is_out: bool) -> Iterator[Change]:
    is_user = scope is Scope.USER
    folder = place.codex_home if is_user else place.project / ".codex"
    command = hook_command(argv, None if is_user else place.state)
    yield json_change(folder / "hooks.json", _hooked(command, is_out), is_out, follows_links=is_user)
    yield _toml(
        folder / "config.toml", "" if is_out else _server_table(argv, None if is_user else place.project), is_user
    )


def hook_command(argv: Sequence[str], state: Path | None) -> str:
    """What a client's shell runs. A program that is gone, or ended by force, blocks too: `|| exit 2`."""
    words = [*argv, "hook", "stop", "--seconds", str(SECONDS - MARGIN)]
    words += ["--state", str(state)] if state is not None else []
    return f"{shlex.join(words)} || exit 2 {MARK}"


def server_argv(argv: Sequence[str]) -> list[str]:
    return [*argv, *OURS]


def _each(*edits: Edit) -> Edit:
    def edit(settings: JsonTable) -> None:
        for change in edits:
            change(settings)

    return edit


def _hooked(command: str, is_out: bool) -> Edit:
    """Our one entry of the event Stop: put in, brought up to date, or taken out with what it leaves empty."""

    def edit(settings: JsonTable) -> None:
        hooks = table_of(settings, "hooks")
        groups = list_of(hooks, "Stop", "hooks.Stop")
        ours = [entry for entry in _entries(groups) if is_ours(entry)]
        if is_out:
            _take_out(hooks, groups)
        elif ours:
            ours[0].update(_entry(command))
        else:
            groups.append({"hooks": [_entry(command)]})
        keep(settings, "hooks", keep(hooks, "Stop", groups))

    return edit


def _entry(command: str) -> JsonTable:
    return {"type": "command", "command": command, "timeout": SECONDS}


def _take_out(hooks: JsonTable, groups: list[object]) -> None:
    for group in list(groups):
        if not isinstance(group, dict) or not isinstance(inner := group.get("hooks"), list):
            continue
        left = [entry for entry in inner if not is_ours(entry)]
        if len(left) == len(inner):
            continue
        group["hooks"] = left
        if not left:
            groups.remove(group)


def _entries(groups: Sequence[object]) -> Iterator[JsonTable]:
    for group in groups:
        inner = group.get("hooks") if isinstance(group, dict) else None
        for entry in inner if isinstance(inner, list) else ():
            if isinstance(entry, dict):
                yield entry


def is_ours(entry: object) -> bool:
    """Whether a hook was written by us: its command ends with our mark."""
    command = entry.get("command") if isinstance(entry, dict) else None
    return isinstance(command, str) and command.endswith(MARK)


def _approved(is_out: bool) -> Edit:
    """The project's server is asked about once more by Claude Code, unless it stands here."""

    def edit(settings: JsonTable) -> None:
        names = list_of(settings, "enabledMcpjsonServers", "enabledMcpjsonServers")
        if is_out and SERVER in names:
            names.remove(SERVER)
        elif not is_out and SERVER not in names:
            names.append(SERVER)
        keep(settings, "enabledMcpjsonServers", names)

    return edit


def _served(argv: Sequence[str], is_out: bool) -> Edit:
    """Our server's entry. One that is there already keeps the arguments that a person gave it."""
    program, *arguments = server_argv(argv)

    def edit(settings: JsonTable) -> None:
        servers = table_of(settings, "mcpServers")
        served = servers.get(SERVER)
        if served is not None and not _is_our_server(served):
            raise InstallTrouble(f"mcpServers has another server of the name {SERVER!r}; rename that one first")
        if is_out:
            servers.pop(SERVER, None)
        elif not (isinstance(served, dict) and served.get("command") == program):
            servers[SERVER] = {"command": program, "args": arguments}
        keep(settings, "mcpServers", servers)

    return edit


def _is_our_server(entry: object) -> bool:
    words = entry.get("args") if isinstance(entry, dict) else None
    return isinstance(words, list) and any(words[at : at + 2] == OURS for at in range(len(words)))


def _server_table(argv: Sequence[str], project: Path | None) -> str:
    """Codex does not tell its servers the project; Claude Code does."""
    words = [*server_argv(argv), *(["--project", str(project)] if project is not None else [])]
    program, *arguments = (json.dumps(word, ensure_ascii=False) for word in words)
    lines = (BEGIN, f"[mcp_servers.{SERVER}]", f"command = {program}", f"args = [{', '.join(arguments)}]")
    return "\n".join((*lines, f"tool_timeout_sec = {TOOL_SECONDS}", END)) + "\n"


def _toml(path: Path, ours: str, follows_links: bool) -> Change:
    """A file of TOML with our table between its marks, or without it; not a character beside that is touched."""
    before = read(path, follows_links)
    text = before or ""
    others = _without_ours(path, text)
    known = tables(path, others)
    servers = known.get("mcp_servers", {})
    if ours and isinstance(servers, dict) and SERVER in servers:
        raise InstallTrouble(f"{path}: [mcp_servers.{SERVER}] stands there already, and is not ours; remove it first")
    if (ours and ours in text) or (not ours and others == text):
        return Change(path, before, before, follows_links)
    after = f"{others.rstrip()}\n\n{ours}".lstrip() if ours else others
    if ours:
        expected = tables(path, ours)["mcp_servers"]
        try:
            is_fine = _of_servers(tomllib.loads(after)) == {
                **_of_servers(known),
                **_of_servers({"mcp_servers": expected}),
            }
        except tomllib.TOMLDecodeError:
            is_fine = False
        if not is_fine:
            raise InstallTrouble(f"{path}: mcp_servers is written there in one line; write it as tables first")
    return Change(path, before, after if after.strip() else None, follows_links)


def _of_servers(tables: Mapping[str, object]) -> JsonTable:
    servers = tables.get("mcp_servers", {})
    return dict(servers) if isinstance(servers, dict) else {}


def _without_ours(path: Path, text: str) -> str:
    if (text.count(BEGIN), text.count(END)) == (0, 0):
        return text
    before, _, rest = text.partition(BEGIN)
    _, closing, after = rest.partition(END)
    if not closing or text.count(BEGIN) != 1 or text.count(END) != 1:
        raise InstallTrouble(f"{path}: `{BEGIN}` and `{END}` must stand there once each, in this order, or not at all")
    kept = before.rstrip("\n")
    return f"{kept}\n{after.lstrip(chr(10))}" if kept else after.lstrip("\n")


@dataclass(frozen=True, slots=True)
class Installed:
    """One place where the hook may stand. `command` is empty where it does not; `trouble` says why it cannot work."""

    program: Program
    scope: Scope
    path: Path
    command: str = ""
    trouble: str = ""


def installed(place: Place) -> tuple[Installed, ...]:
    """Every place, in a fixed order. Never raises: settings that cannot be read are its `trouble`."""
    files = {
        (Program.CLAUDE, Scope.PROJECT): place.project / ".claude/settings.local.json",
        (Program.CLAUDE, Scope.USER): place.claude_home / "settings.json",
        (Program.CODEX, Scope.PROJECT): place.project / ".codex/hooks.json",
        (Program.CODEX, Scope.USER): place.codex_home / "hooks.json",
    }
    return tuple(_found(program, scope, path) for (program, scope), path in files.items())


def _found(program: Program, scope: Scope, path: Path) -> Installed:
    try:
        before = read(path, follows_links=True)
        settings = parsed(path, before) if before is not None and before.strip() else {}
        groups = list_of(table_of(settings, "hooks"), "Stop", "hooks.Stop")
    except InstallTrouble as trouble:
        return Installed(program, scope, path, trouble=str(trouble))
    command = next((str(entry["command"]) for entry in _entries(groups) if is_ours(entry)), "")
    return Installed(program, scope, path, command, _trouble(settings, command) if command else "")


def _trouble(settings: JsonTable, command: str) -> str:
    """Why a hook that stands in the settings cannot work; empty where nothing speaks against it."""
    if settings.get("disableAllHooks") is True:
        return "disableAllHooks is set in the same file, so no hook runs"
    words = shlex.split(command.removesuffix(MARK).replace("|| exit 2", ""))
    if not words or not os.access(words[0], os.X_OK):
        return f"{words[0] if words else 'the program'} is not there any more; run `agent-fox hook install` again"
    return ""
