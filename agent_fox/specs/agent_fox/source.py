"""The issue that a spec came from, as its prd.md names it. Whose repository that is, is not asked here."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from agent_fox.core.regex import regex
from agent_fox.core.spec import SourceIssue

if TYPE_CHECKING:
    from agent_fox.specs.document import Markdown

_SAYS = regex(r"source(?:\s+issue)?\s*[*_]{0,3}\s*:\s*[*_]{0,3}\s*", re.IGNORECASE)
_BEFORE = regex(r"[>*_\s-]{0,12}")
_WORDS = regex(r"(?:(?:github|gitea|issue)\b\s*:?\s*){0,3}", re.IGNORECASE)
_LINK = regex(r"\[[^]\n]{0,300}\]\(\s*<?")
_MARKS = "`<([*_'\" "

_NAME = r"[A-Za-z0-9_.-]{1,100}"
_ADDRESS = regex(
    rf"https?://(?P<host>[A-Za-z0-9.-]{{1,200}}(?::\d{{1,5}})?)/(?P<repository>{_NAME}/{_NAME})/issues/"
    r"(?P<number>[1-9]\d{0,8})(?![\w-])"
)
_SHORT = regex(rf"(?P<repository>{_NAME}/{_NAME})?(?:#|GH-)(?P<number>[1-9]\d{{0,8}})(?![\w-])")

_CODE_INDENT = 4


def source_in(prd: Markdown) -> SourceIssue | None:
    """The first line such as `> Source: [GitHub Issue #114](https://github.com/o/r/issues/114)`, `Source: #12`,
    `Source: o/r#12`. A source that is no issue is none; what stands in code does not count."""
    lines = (line.text for line in prd.lines if not line.is_code and line.indent < _CODE_INDENT)
    return next((source for line in lines if (source := _named(line)) is not None), None)


def _named(line: str) -> SourceIssue | None:
    start = _BEFORE.match(line)
    says = _SAYS.match(line, start.end() if start else 0)
    return _issue(line[says.end() :]) if says else None


def _issue(text: str) -> SourceIssue | None:
    """The issue that a text begins with: a link to one, or its address or number after a word or two."""
    link = _LINK.match(text)
    if link is not None:
        return _read(_ADDRESS, text[link.end() :])
    words = _WORDS.match(text)
    rest = text[words.end() if words else 0 :].lstrip(_MARKS)
    return _read(_ADDRESS, rest) or _read(_SHORT, rest)


def _read(pattern: re.Pattern[str], text: str) -> SourceIssue | None:
    match = pattern.match(text)
    if match is None:
        return None
    named = match.groupdict()
    return SourceIssue(int(named["number"]), named["repository"] or "", named.get("host") or "")
