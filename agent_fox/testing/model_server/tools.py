"""An action as calls of the tools that the request offers: each agent has other names for the same deeds. Pure."""

from __future__ import annotations

import json
import re
import shlex
import sys
from collections.abc import Sequence
from pathlib import PurePosixPath

from pydantic import JsonValue

from agent_fox.testing.model_server.conversation import Call, Conversation, Offered, Speaker, Ticket
from agent_fox.testing.model_server.script import Deed, Mcp, Tool
from agent_fox.testing.scripted.script import Append, Delete, Replace, Run, Write

WRITERS = ("Write", "write_file", "write")
EDITORS = ("Edit", "replace", "edit")
READERS = ("Read",)
SHELLS = ("Bash", "run_shell_command", "bash", "exec_command", "shell_command", "shell", "local_shell")

SEARCH = "ToolSearch"
"""Claude's tool that makes others known: it only names most of them."""

_PATHS = ("file_path", "filePath", "path")
_REPLACE = (
    "import pathlib, sys; p = pathlib.Path(sys.argv[1]); t = p.read_text(encoding='utf-8'); "
    "sys.argv[2] in t or sys.exit(66); p.write_text(t.replace(sys.argv[2], sys.argv[3]), encoding='utf-8')"
)


_PROGRAM = "const result = await tools.%s(%s); text(result.output ?? result);"
_FIND = (
    "const found = ALL_TOOLS.find((tool) => tool.name.endsWith(%s)); "
    "const result = await tools[found.name](%s); text(result);"
)
LONGEST_WAIT = 30_000
"""Milliseconds that codex may wait for a command before it lets it run on behind the scenes."""


class NotOffered(ValueError):
    """The request offers no tool for an action. The message names both."""


def filled(text: str, ticket: Ticket) -> str:
    """The words that a script may hold, as the scripted backend fills them in."""
    words = {
        "{python}": sys.executable,
        "{spec}": ticket.spec,
        "{node}": ticket.node,
        "{attempt}": str(ticket.attempt),
        "{reading}": str(ticket.reading),
    }
    for word, value in words.items():
        text = text.replace(word, value)
    return text


def calls_for(deed: Deed, talk: Conversation, ticket: Ticket) -> tuple[Call, ...]:
    """The calls that do this. Raises NotOffered."""
    match deed:
        case Tool(tool=name, arguments=arguments):
            tool = talk.offered(name)
            return (_call(tool, arguments) if tool else Call(name, arguments),)
        case Mcp(mcp=name, arguments=arguments):
            return (_mcp(name, arguments, talk),)
        case Write(write=path, text=text, executable=executable):
            return _write(filled(path, ticket), filled(text, ticket), talk, executable=executable)
        case Append(append=path, text=text):
            return (_shell(f"{_folder(filled(path, ticket))}{_put(filled(text, ticket), '>>', path, ticket)}", talk),)
        case Replace(replace=path, old=old, new=new):
            return _replace(path, old, new, talk)
        case Delete(delete=path):
            return (_shell(_remove(shlex.quote(path)), talk),)
        case Run(run=words):
            return (_shell(shlex.join(filled(word, ticket) for word in words), talk),)


def _mcp(name: str, arguments: dict[str, JsonValue], talk: Conversation) -> Call:
    tool = talk.ending_in(name)
    if tool is not None:
        return _call(tool, arguments)
    if talk.host is not None:
        return Call(talk.host.name, {}, talk.host.space, source=_FIND % (json.dumps(name), json.dumps(arguments)))
    name_in_text = re.search(
        rf"^mcp__\S*__{re.escape(name)}$", talk.text_by(Speaker.SYSTEM, Speaker.USER), re.MULTILINE
    )
    if name_in_text is None or talk.offered(SEARCH) is None:
        raise NotOffered(f"no tool of the request ends in {name!r}; it offers {_names(talk)}")
    if talk.searched():
        return Call(name_in_text[0], arguments)
    return Call(SEARCH, {"query": f"select:{name_in_text[0]}", "max_results": 1}, is_search=True)


def _write(path: str, text: str, talk: Conversation, *, executable: bool) -> tuple[Call, ...]:
    """By one command where the bit is wanted: some agents make the calls of one turn at the same time."""
    chosen = talk.offered(*WRITERS)
    if chosen is None or executable:
        mark = f" && chmod +x {shlex.quote(path)}" if executable else ""
        return (_shell(f"{_folder(path)}printf %s {shlex.quote(text)} > {shlex.quote(path)}{mark}", talk),)
    return (*_read_first(path, talk), _called(chosen, path, talk, content=text))


def _replace(path: str, old: str, new: str, talk: Conversation) -> tuple[Call, ...]:
    chosen = talk.offered(*EDITORS)
    if chosen is None:
        return (_shell(shlex.join([sys.executable, "-I", "-S", "-c", _REPLACE, path, old, new]), talk),)
    words = {"old_string": old, "new_string": new, "oldString": old, "newString": new}
    words |= {"instruction": f"Replace text in {path}"}
    every: dict[str, JsonValue] = {"replace_all": True, "replaceAll": True, "allow_multiple": True}
    return (*_read_first(path, talk), _called(chosen, path, talk, **words, **every))


def _read_first(path: str, talk: Conversation) -> tuple[Call, ...]:
    """Some agents refuse to change a file that was not read; reading what is not there does no harm."""
    reader = talk.offered(*READERS)
    return (_called(reader, path, talk),) if reader else ()


def _called(tool: Offered, path: str, talk: Conversation, **values: JsonValue) -> Call:
    """A call with those of the values that the tool knows, the path in full where the agent says its folder."""
    place = str(PurePosixPath(talk.folder or ".") / path)
    known = {name: value for name, value in values.items() if name in tool.arguments}
    where = next((name for name in _PATHS if name in tool.arguments), _PATHS[0])
    return _call(tool, {where: place, **known})


def _shell(line: str, talk: Conversation) -> Call:
    tool = talk.offered(*SHELLS)
    if tool is None:
        raise NotOffered(f"no tool of the request runs {line[:80]!r}; it offers {_names(talk)}")
    return _call(tool, _shell_arguments(tool, line))


def _call(tool: Offered, arguments: dict[str, JsonValue]) -> Call:
    """A call, by a program where only programs can call the tool."""
    if tool.host is None:
        return Call(tool.name, arguments, tool.space)
    return Call(tool.host, {}, tool.space, source=_PROGRAM % (tool.name, json.dumps(arguments)))


def _shell_arguments(tool: Offered, line: str) -> dict[str, JsonValue]:
    if "cmd" in tool.arguments:
        return {"cmd": line, "yield_time_ms": LONGEST_WAIT}
    if tool.name == "shell":
        return {"command": ["bash", "-c", line]}
    description: dict[str, JsonValue] = (
        {"description": "A step of the script"} if "description" in tool.arguments else {}
    )
    return {"command": line, **description}


def shell_call(line: str, talk: Conversation) -> Call:
    """A command line by the agent's own shell. Raises NotOffered."""
    return _shell(line, talk)


def _folder(path: str) -> str:
    folder = str(PurePosixPath(path).parent)
    return "" if folder == "." else f"mkdir -p {shlex.quote(folder)} && "


def _remove(path: str) -> str:
    """Without `-f`, which codex refuses to run."""
    return f"if [ -e {path} ] || [ -L {path} ]; then rm -r -- {path}; fi"


def _put(text: str, how: str, path: str, ticket: Ticket) -> str:
    return f"printf %s {shlex.quote(text)} {how} {shlex.quote(filled(path, ticket))}"


def _names(talk: Conversation) -> str:
    names: Sequence[str] = [tool.name for tool in talk.tools]
    return ", ".join(names) or "none"
