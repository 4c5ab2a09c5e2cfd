"""Foreign text for a tracker that acts on what it reads: nobody is notified, nothing linked, closed or drawn by it.

`plain` is for text outside code, `in_code` for what stands in a code block or span, `to_copy` for commands, `tame` for
whole Markdown that was written elsewhere. Which text goes where is not here.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from agent_fox.core.markdown import cut, in_span, one_line, printable
from agent_fox.core.regex import regex

BREAK = "\u200b"
"""What parts `@` from a name: seen by no person, and by every reader of mentions."""

HEX = 6
"""Commits are linked from seven digits on."""

LONGEST_WORD = 100
"""More than the word on what was left out needs."""

_HEX = regex(r"(?<![A-Za-z0-9])[0-9a-f]{7,}(?![A-Za-z0-9])", re.IGNORECASE)
_ACTS = (
    r"@"
    r"|\#(?=\d|\Z)"
    r"|(?<![a-z0-9])(?:GH|GHSA|CVE)\\?-(?=\w|\Z)"
    r"|:(?=\\?/\\?/)"
    r"|(?<![a-z0-9])www(?=\\?\.)"
    r"|/(?:issues|pulls?|commits?|discussions|compare)/(?=\w)"
    r"|:(?=[a-z+-][a-z0-9_+-]{0,40}:)"
    r"|\[(?=[!^]|[ x]\]|\Z)"
)
_CALMED = regex(_ACTS, re.IGNORECASE)
_TAMED = regex(
    _ACTS + r"|\["
    r"|\](?=[(:\[])"
    r"|<(?=[a-z/!?])"
    r"|&(?!(?:lt|gt|amp|quot);)(?=\#?\w+;)"
    r"|\\(?=[!-/:-@\[-`{}~]|\Z)"
    r"|(?:(?<!`)`{3,}|(?<!~)~{3,})(?=[ \t]*[a-z])(?!(?:text|sh)$)"
    r"|\$",
    re.IGNORECASE | re.MULTILINE,
)
_SPANS = regex(r"(`[^`\n|]+`)(?!`)")
_MARKUP = regex(r"[\\`*\[\]|~]|<(?=[a-z/!?]|\Z)|(?<![a-z0-9])_|_(?![a-z0-9])|&(?=\#?\w+;|\#?\w*\Z)", re.IGNORECASE)
_START = regex(r"^(?:[-+=:>\#]|\d{1,9}(?=[.)]))")
_RUN = regex(r"`{20}(?=`)")
_MENTION = regex(r"@(?=[A-Za-z0-9])")


def plain(text: str, limit: int) -> str:
    """`text` as words on one line, for any place outside of code: a heading, a list, a table's cell."""
    return within(printable(text), limit, _escaped, one_line)


def plain_title(text: str, limit: int) -> str:
    """`text` for a title, which is no Markdown."""
    return within(printable(text), limit, calm, one_line)


def plain_lines(text: str, limit: int) -> str:
    """`text` as a block quote of the same lines, each of them words and nothing else."""
    return within(printable(text).strip(), limit, _quoted)


def in_code(text: str) -> str:
    """`text` for inside a code block: the marks of code do not survive a reply by e-mail, so names are parted."""
    return _RUN.sub(_part_run, printable(text).replace("@", f"@{BREAK}"))


def to_copy(command: str) -> str:
    """A command for a code block: `@` is left as it is where no name can follow it."""
    return _RUN.sub(_part_run, _MENTION.sub(f"@{BREAK}", printable(command)))


def span(text: str, limit: int = 200) -> str:
    """`text` as a code span."""
    return in_span(within(printable(text), limit, in_code, one_line))


def span_in_cell(text: str, limit: int = 100) -> str:
    """`text` as a code span in a table's cell; as words where it holds what a table reads first."""
    return plain(text, limit) if "|" in text or "\\" in text else span(text, limit)


def calm(text: str) -> str:
    """`text` with every name, reference, commit id and address parted; the same however often it is done."""
    return _parted(_CALMED, text)


def tame(markdown: str) -> str:
    """Markdown from elsewhere, its form kept as far as it acts on nothing, wherever a reader sees code begin.

    Only where code can begin nowhere but in plain spans on one line, these are left as they are, commits above all.
    The same however often it is done.
    """
    pieces = _SPANS.split(printable(markdown))
    if any("`" in words for words in pieces[::2]):
        return _parted(_TAMED, markdown)
    pieces[::2] = [_parted(_TAMED, words) for words in pieces[::2]]
    pieces[1::2] = [in_code(code) for code in pieces[1::2]]
    return "".join(pieces)


def within(text: str, limit: int, render: Callable[[str], str], shorten: Callable[[str, int], str] = cut) -> str:
    """`text` rendered, and shortened before that until the result has at most about `limit` characters.

    What says how much is missing may be beyond it, by at most LONGEST_WORD.
    """
    room = limit
    shown = render(shorten(text, room))
    while len(shown) > limit + (LONGEST_WORD if shorten is not one_line else 0) and room > 1:
        room = max(1, room * limit // len(shown))
        shown = render(shorten(text, room))
    return shown


def _parted(pattern: re.Pattern[str], text: str) -> str:
    parted = pattern.sub(lambda found: found[0] + BREAK, printable(text))
    return _HEX.sub(_split, parted)


def _split(found: re.Match[str]) -> str:
    digits = found[0]
    return BREAK.join(digits[start : start + HEX] for start in range(0, len(digits), HEX))


def _part_run(found: re.Match[str]) -> str:
    """A run of backticks is parted, lest the fence around it is as long as the text."""
    return found[0] + BREAK


def _quoted(text: str) -> str:
    return "\n".join(f"> {_indented(line)}".rstrip() for line in text.splitlines())


def _indented(line: str) -> str:
    """A line whose indentation is no Markdown."""
    words = line.expandtabs(4).lstrip(" ")
    return "\u00a0" * min(len(line.expandtabs(4)) - len(words), 40) + _escaped(words)


def _escaped(line: str) -> str:
    """One line with all that Markdown and GitHub act on taken literally."""
    escaped = _MARKUP.sub(r"\\\g<0>", calm(line))
    started = _START.sub(lambda each: f"{each[0]}\\" if each[0].isdigit() else f"\\{each[0]}", escaped)
    return started.replace("$", "<span>$</span>")
