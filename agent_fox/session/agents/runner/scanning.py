"""What a coder's tool calls try that they must not: leaving the workspace, pushing, reading other people's secrets.

Calls are only read here; what keeps them from working is the sandbox. A hit is told to a person, not held against the
work: a command line can be written in more ways than anybody can list.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import PurePosixPath

from agent_fox.core.regex import regex

PLACES = ("file_path", "path", "filePath", "absolute_path", "notebook_path", "dir_path")
"""Arguments that name a file."""

COMMANDS = ("command", "cmd", "script")

_DEEDS = tuple(
    (what, regex(pattern))
    for what, pattern in (
        ("a push", r"\bgit\s+(?:-\S+\s+\S+\s+)*push\b"),
        ("becoming another user", r"(?:^|[;&|(]\s*)(?:sudo|su|doas)\s"),
        ("credentials", r"(?:~|\$HOME|/root|/home/\w+)/\.(?:ssh|aws|netrc|config/gh|claude|codex|gnupg)\b"),
        ("another process's memory or environment", r"/proc/(?:\d+|\$\w+)/(?:environ|mem|root|fd)\b"),
        ("the plan's state", r"\.agent-fox/(?:state\.db|config\.toml)"),
    )
)

_WRITTEN = regex(r"(?:(?<![^\s\d&>])>|\btee\s+(?:-a\s+)?)\s*(/[^\s'\"\\;&|()<>]+)")
"""A file that a command line writes by its full name."""

ANYBODYS = (PurePosixPath("/dev"), PurePosixPath("/tmp"), PurePosixPath("/var/tmp"))


def forbidden(arguments: Mapping[str, object], allowed: Iterable[PurePosixPath]) -> str:
    """What a call tries that it must not, in words; empty where nothing is known against it.

    allowed: absolute folders that it may name files in.
    """
    allowed = tuple(allowed)
    for name in PLACES:
        named = arguments.get(name)
        if isinstance(named, str) and named.startswith("/") and not _is_inside(named, allowed):
            return f"a path outside of its workspace: {named}"
    words = " ".join(_text(arguments.get(name)) for name in COMMANDS)
    deed = next((what for what, pattern in _DEEDS if pattern.search(words)), "")
    targets = (match[1] for match in _WRITTEN.finditer(words))
    place = next((place for place in targets if not _is_inside(place, (*allowed, *ANYBODYS))), "")
    return deed or (f"writing outside of its workspace: {place}" if place else "")


def _is_inside(place: str, allowed: Iterable[PurePosixPath]) -> bool:
    path = PurePosixPath(place)
    return ".." not in path.parts and any(path.is_relative_to(folder) for folder in allowed)


def _text(value: object) -> str:
    return " ".join(map(str, value)) if isinstance(value, list) else value if isinstance(value, str) else ""
