"""Where a Go failure is: the module of packages, and the line of a test's log."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from agent_fox.core.regex import regex
from agent_fox.verifier.logs.frames import Place

if TYPE_CHECKING:
    from agent_fox.verifier.logs.protocol import Workspace

_HOSTS_WITH_OWNERS = ("github.com", "gitlab.com", "bitbucket.org", "codeberg.org", "gitee.com")
_LOG_LINE = regex(r"^\s+(?:[\w./-]*/)?([\w.-]+\.go):(\d+): ?(.*)$")
_SAYS_WRONG = regex(
    r"!=|\b(?:want(?:ed)?|got|expected|unexpected|errors?|fail(?:ed|ure)?|not|should|must|mismatch|differ\w*|bad"
    r"|invalid|missing|wrong)\b",
    re.IGNORECASE,
)
_TESTIFY = regex(r"Error Trace:\s+(\S+\.go):(\d+)")
_TESTIFY_ERROR = regex(r"^\s+Error:\s+(\S.*)$", re.MULTILINE)


def module_of(packages: Iterable[str]) -> str:
    """The module that packages belong to, by what is common to their import paths.

    A module named by a host is at least the host and a name (and an owner, where the host has owners).
    """
    paths = [package.split("/") for package in sorted(set(packages))]
    if not paths:
        return ""
    first, last = paths[0], paths[-1]
    common = next((n for n, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), min(len(first), len(last)))
    usual = 3 if first[0] in _HOSTS_WITH_OWNERS else 2 if "." in first[0] else 1
    if len(first) > usual and re.fullmatch(r"v\d+", first[usual]):
        usual += 1
    return "/".join(first[: min(common, usual)])


def in_folder(file: str, folder: str) -> str:
    """The path of a file that Go names without its folder; one that has a folder is there already."""
    return f"{folder}/{file}" if folder and "/" not in file else file


def logged_failure(lines: Sequence[str], workspace: Workspace) -> tuple[Place, str] | None:
    """The place and message of what a test logged as wrong: the first line that sounds like it, else the last."""
    text = "\n".join(lines)
    trace, error = _TESTIFY.search(text), _TESTIFY_ERROR.search(text)
    if trace and error:
        return Place(workspace.relative(trace[1]), int(trace[2])), error[1].strip()
    logged = [(match, n) for n, line in enumerate(lines) if (match := _LOG_LINE.match(line))]
    if not logged:
        return None
    match, n = next(((f, n) for f, n in logged if _SAYS_WRONG.search(f[3])), logged[-1])
    message = match[3].strip() or next((line.strip() for line in lines[n + 1 :] if line.strip()), "")
    return Place(match[1], int(match[2])), message
