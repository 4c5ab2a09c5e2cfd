"""Whether what begins somewhere in a log is the log itself, or something that a test printed. Formats are elsewhere."""

from __future__ import annotations

import re

from agent_fox.core.regex import regex

MOST_LINES = 40  # before the start, of warnings that a wrapper printed
_PREAMBLE = regex(
    r"^\s*$|^\s*(?:[>$+#]|npm\b|yarn\b|pnpm\b|bun\b|warn|debug|info\b|\(node:|\(Use `node|\[\w+\] (?:warn|info)"
    r"|Browserslist|Progress:|Scope:|Lockfile|Already up to date|Done in |make\b|go: "
    r"|TAP version|1\.\.\d|Compiling|Downloading|error: Failed to parse )",
    re.IGNORECASE,
)


def stands_first(head: str, at: int) -> bool:
    """Whether only such lines stand before `at` as package managers and warnings print."""
    before = head[:at].split("\n")[:-1]
    return len(before) <= MOST_LINES and all(_PREAMBLE.match(line) for line in before)
