"""The hook that codex runs before each tool of a session that only judges. Standard library only.

Codex has no tool for reading but its shell, and its own read-only sandbox lets any program run. So a command line
of such a session must be one that only reads: known programs, joined by pipes and `&&`, without anything that a shell
would run, write or substitute. Exit 0: the call may go on. Exit 2: it may not, and standard error says why. What
cannot be understood may not go on.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import sys
from collections.abc import Callable, Mapping, Sequence

TOOLS = "AGENT_FOX_CODEX_TOOLS"
"""What a session may call: `read` (also where nothing is said), or `none`."""

SERVER = "mcp__verifier__"
SHELL = "Bash"
HARMLESS = frozenset({"view_image", "list_mcp_resources", "list_mcp_resource_templates", "read_mcp_resource"})

READING = frozenset(
    {
        *("cat", "head", "tail", "nl", "wc", "cut", "tr", "od", "hexdump", "column", "cmp", "diff", "jq"),
        *("ls", "stat", "du", "pwd", "cd", "basename", "dirname", "realpath", "readlink", "sha256sum", "md5sum"),
        *("grep", "egrep", "fgrep", "echo", "printf", "true", "false", "test", "["),
    }
)
"""Programs that write nothing and run nothing, whatever their arguments are."""

GIT_READING = frozenset(
    {"blame", "cat-file", "diff", "grep", "log", "ls-files", "ls-tree", "rev-parse", "show", "status"}
)

_QUIET = re.compile(r"(?<=[ \t\n])(?:2>&1|[12]?>[ \t]?/dev/null)(?=[ \t\n]|$)")
"""Between what a shell takes for blanks: beside another kind, such as a carriage return, it is part of a word."""

_QUOTED = re.compile(r"'[^']*'|\"(?:[^\"\\$`]|\\[^$`\n])*\"")
_PLAIN = re.compile(r"[\w./,:=@%+~^!-]*")
_PATTERN = re.compile(r"[\w./,:=@%+~^!*?-]*")
"""As plain, but a shell may put names of files in its place, which could look like options."""

_SED = re.compile(r"(?:\d+|\$)(?:,(?:\d+|\$))?p")
_JOINTS = re.compile(r"(\|\||&&|[|;\n])")


def why_not(tool: str, given: Mapping[str, object], tools: str) -> str:
    """Why a call may not go on; empty where it may."""
    if tools == "none":
        return "no tool may be called now: only the answer is wanted"
    if tool in HARMLESS or tool.startswith(SERVER):
        return ""
    command = given.get("command")
    if tool == SHELL and isinstance(command, str):
        return why_not_reading(command)
    return f"this session may only read: {tool} is not for it"


def why_not_reading(command: str) -> str:
    """Why a command line is not one that only reads; empty where it is."""
    quiet = _QUIET.sub("", command.strip())
    if not quiet or "\0" in quiet:
        return "this session may only read: an empty command"
    for part in _parts(quiet):
        reason = _why_not_one(part)
        if reason:
            return f"this session may only read, by commands such as cat, ls, rg, sed -n, git show; {reason}"
    return ""


def _parts(command: str) -> list[str]:
    """The commands of a line: cut at what joins them, outside of quotes."""
    parts, at = [""], 0
    while at < len(command):
        quoted = _QUOTED.match(command, at)
        joint = None if quoted else _JOINTS.match(command, at)
        if joint:
            parts.append("")
            at = joint.end()
            continue
        piece = quoted.group() if quoted else command[at]
        parts[-1] += piece
        at += len(piece)
    return parts


def _why_not_one(part: str) -> str:
    shown = part.strip()[:200]
    words = [word for word in _QUOTED.sub("", part).split() if word not in {"[", "]"}]
    try:
        name, *arguments = shlex.split(part)
    except ValueError as error:
        return f"this cannot be read ({error}): {shown}"
    if not all((_PATTERN if name in READING else _PLAIN).fullmatch(word) for word in words):
        return f"a shell would do more with this than read: {shown}"
    reads = name in READING or (name in _ONLY_SO and _ONLY_SO[name](arguments))
    return "" if reads else f"this is not allowed: {shown}"


def _rg(arguments: Sequence[str]) -> bool:
    runs = ("--pre", "--hostname-bin", "--search-zip")
    return not any(word.startswith(runs) or _has(word, "z") for word in arguments)


def _has(word: str, letter: str) -> bool:
    """Whether a word is a bundle of short options with this one in it."""
    return word.startswith("-") and not word.startswith("--") and letter in word


def _find(arguments: Sequence[str]) -> bool:
    return not any(word.startswith(("-exec", "-ok", "-delete", "-fprint", "-fls")) for word in arguments)


def _sed(arguments: Sequence[str]) -> bool:
    is_printing = len(arguments) >= 2 and arguments[0] == "-n" and _SED.fullmatch(arguments[1]) is not None
    return is_printing and not any(word.startswith("-") for word in arguments[2:])


def _sort(arguments: Sequence[str]) -> bool:
    return all(not word.startswith("-") or re.fullmatch(r"-[bdfghinruV]+", word) for word in arguments)


def _uniq(arguments: Sequence[str]) -> bool:
    return all(re.fullmatch(r"-[cdiu]+", word) for word in arguments)


def _git(arguments: Sequence[str]) -> bool:
    rest = [word for word in arguments if word != "--no-pager"]
    unsafe = ("--output", "--ext-diff", "--textconv", "--open-files-in-pager", "--exec", "--contents", "--filters")
    if not rest or rest[0] not in GIT_READING:
        return False
    return not any(word.startswith(unsafe) or _has(word, "O") for word in rest)


_ONLY_SO: Mapping[str, Callable[[Sequence[str]], bool]] = {
    "rg": _rg,
    "find": _find,
    "sed": _sed,
    "sort": _sort,
    "uniq": _uniq,
    "git": _git,
}


def main() -> int:
    try:
        call = json.load(sys.stdin)
        tool, given = call["tool_name"], call.get("tool_input")
        reason = why_not(str(tool), given if isinstance(given, dict) else {}, os.environ.get(TOOLS, "read"))
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        reason = f"the hook could not read the call: {error!r}"
    if reason:
        sys.stderr.write(f"{reason}\n")
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
