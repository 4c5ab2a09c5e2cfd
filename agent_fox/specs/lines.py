"""Markdown as lines that know what they are: text or code, no comments. Meaning is not here."""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterable, Iterator
from functools import partial
from operator import attrgetter
from typing import NamedTuple

from agent_fox.core.regex import regex

_TAB = 4
MARK = regex(r"(?P<mark>[-*+]|\d{1,9}[.)])(?: +|$)")
"""What a list's item begins with."""
_FENCE = regex(r" *(?:[-*+] +)?(`{3,}|~{3,})([^`]*)$")
_BEGINS = "<!--"
_END = regex(r"--!?>")  # as browsers end it
_EMPTY = regex(r"-?>")  # `<!-->` is a whole comment
_WORD = regex(r"\S")
_NEW_BLOCK = regex(r"\n[ \t]*(?:\n|$|[-*+][ \t]|\d{1,9}[.)][ \t]|#{1,6}[ \t]|```|~~~)")
_TICKS = regex(r"`+")
_OWN_LINE = ("|", "- ", "* ", "+ ")
MARKS = frozenset("-*+0123456789")
"""With one of which a list's item begins."""
_STATES = frozenset({"", " ", "x", "X", "~", "/", "-"})
_HEADING = regex(r" {0,3}(#{1,6})(?:[ ]+(.*))?$")
_UNDERLINE = regex(r" {0,3}(?:=+|-{4,}) *$")
_NO_TITLE = regex(r"[|>#<=]|[-*+] |---|\d{1,9}[.)] ")
_LONGEST_TITLE = 120
_BOLD = ("**", "__")
_MARKED = frozenset("#*_")
"""With what a line begins that is a heading, or bold."""
_BOLD_NUMBER = regex(r"(?P<indent> *)(?P<bold>\*\*|__)(?P<number>\d{1,4}[.)])(?P=bold)(?= )")


class Heading(NamedTuple):
    level: int
    title: str


Chain = tuple[tuple[int, Heading], ...]
"""Headings, each with its line."""


class Line(NamedTuple):
    """One line: `text` with tabs expanded and comments taken out, `indent` in columns."""

    number: int
    text: str
    indent: int
    is_code: bool = False
    heading: Heading | None = None

    @property
    def is_blank(self) -> bool:
        return not self.text or self.text.isspace()


class Scan(NamedTuple):
    """What a first look at a text finds: its lines, and the lines of fences and comments that never close."""

    lines: tuple[Line, ...]
    open_fences: tuple[int, ...]
    open_comment: int | None


def scan(text: str) -> Scan:
    """Split into lines, mark fenced code, take comments out, and write what people write in two ways in one."""
    text, open_comment = _without_comments(text)
    expanded = text.expandtabs(_TAB) if "\t" in text else text
    texts = [line.rstrip() for line in expanded.split("\n")]
    code, open_fences = _code_lines(texts, expanded)
    if "\n==" in expanded or "\n----" in expanded:
        _write_titles(texts, code)
    made = partial(tuple.__new__, Line)  # without the call of Python's that a named tuple makes for itself
    lines: list[Line] = []
    for number, text in enumerate(texts, 1):
        bare, is_code, heading = text.lstrip(), number in code, None
        if bare[:1] in _MARKED and not is_code:
            if match := _HEADING.match(text):
                heading = Heading(len(match[1]), (match[2] or "").strip())
            elif bare[:2] in _BOLD and bare[2:3].isdigit():
                text = _BOLD_NUMBER.sub(r"\g<indent>\g<number>", text, count=1)
                bare = text.lstrip()
        lines.append(made((number, text, len(text) - len(bare), is_code, heading)))
    return Scan(tuple(lines), tuple(open_fences), open_comment)


def with_headings(
    lines: Iterable[Line], heading_at: Callable[[Line], Heading | None] = attrgetter("heading")
) -> Iterator[tuple[Chain, Line]]:
    """Each line with the headings it stands under, the highest first; with itself, where it is one."""
    chain: Chain = ()
    for line in lines:
        heading = heading_at(line)
        if heading is not None:
            chain = (*(step for step in chain if step[1].level < heading.level), (line.number, heading))
        yield chain, line


def aside_below(heading: Heading, before: int | None, words: re.Pattern[str]) -> int | None:
    """The rank of the heading, such as a glossary's, under which all is set aside: the one `before`, if this heading
    stands below it, or this one's own, if it begins with the words; None where nothing is."""
    if before is not None and heading.level > before:
        return before
    return heading.level if words.match(heading.title.lower()) else None


def beside_box(text: str) -> str | None:
    """What stands behind the box of a list item; None where there is none: `[x](y)` is a link."""
    item = text.lstrip()
    box = box_at_start(item.lstrip("-*+0123456789.) ")) if item[:1] in MARKS else None
    return box[1].lstrip("* ") if box is not None else None


def box_at_start(text: str) -> tuple[str, str] | None:
    """What stands in the box that a text begins with, and what stands behind it."""
    end = text.find("]", 1, 3) if text[:1] == "[" else -1
    behind = text[end + 1 :]
    return (text[1:end], behind) if end > 0 and text[1:end] in _STATES and behind[:1] != "(" else None


def in_bold(line: Line) -> str:
    """The words of a line that is bold as a whole, at the left edge, such as `**Requirements**:`; else nothing."""
    text = line.text if not line.is_code and line.text[:2] in _BOLD else ""
    text = text.rstrip(":：")
    inner = text[2:-2].strip(" :：")
    return inner if len(text) > 4 and text[-2:] == text[:2] and text[:2] not in inner else ""


def listed(lines: Iterable[int], most: int = 12) -> str:
    """`line 4`, `lines 4, 5 and 9`; only the first of very many, and how many more."""
    numbers = [str(line) for line in sorted(set(lines))]
    if len(numbers) == 1:
        return f"line {numbers[0]}"
    more = len(numbers) - most
    last = f"{more} more" if more > 0 else numbers[-1]
    return f"lines {', '.join(numbers[:most] if more > 0 else numbers[:-1])} and {last}"


def plain(text: str) -> str:
    """Text without the marks around it: emphasis, code, brackets."""
    return text.strip().strip("*_`[]~ ").strip()


def joined(lines: Iterable[Line]) -> str:
    """Wrapped lines as one text; code, table rows and list items keep lines of their own."""
    parts: list[str] = []
    for line in lines:
        text = line.text.strip()
        if text and parts:
            parts.append("\n" if line.is_code or text.startswith(_OWN_LINE) else " ")
        if text:
            parts.append(text)
    return "".join(parts)


def _write_titles(texts: list[str], code: Container[int]) -> None:
    """A title with a line of `=` or of four or more `-` below it is written with `#`, as a heading of rank 1 or 2
    (three `-` are a rule). A title is one line, and nothing but a heading stands right above it."""
    for place in range(1, len(texts)):
        if texts[place][:1] not in ("=", "-") or place in code or not _UNDERLINE.match(texts[place]):
            continue
        title, before = texts[place - 1], texts[place - 2].strip() if place > 1 else ""
        is_title = bool(title.strip()) and len(title) <= _LONGEST_TITLE and not _NO_TITLE.match(title.lstrip())
        if is_title and (not before or before.startswith("#")):
            mark = "#" if texts[place][0] == "=" else "##"
            texts[place - 1 : place + 1] = [f"{mark} {title.strip()}", ""]


def _code_lines(texts: list[str], text: str) -> tuple[set[int], list[int]]:
    """Numbers of the lines in fences (the fences too), and of fences that never close: only those go.

    A fence inside a list item ends with the item, as soon as a line stands further left.
    """
    code: set[int] = set()
    never_closed: list[int] = []
    opened, mark, indent, looked_at = 0, "", 0, 0
    has_any = "```" in text or "~~~" in text
    for number in [n for n, line in enumerate(texts, 1) if "```" in line or "~~~" in line] if has_any else ():
        line = texts[number - 1]
        inside = texts[max(opened, looked_at) : number] if opened and indent >= 2 else ()
        looked_at = number
        if any(each.strip() and len(each) - len(each.lstrip()) < indent for each in inside):
            never_closed.append(opened)
            opened = 0
        match = _FENCE.match(line)
        if match and not opened:
            opened, mark, indent = number, match[1], len(line) - len(line.lstrip())
        elif match and match[1].startswith(mark) and not match[2].strip():
            code.update(range(opened, number + 1))
            opened = 0
    if opened:
        never_closed.append(opened)
    code.update(never_closed)
    return code, never_closed


def _without_comments(text: str) -> tuple[str, int | None]:
    """The text with its comments blanked out, and the line of one that never closes: that one stays text."""
    if _BEGINS not in text:
        return text, None
    code, _ = _code_lines(text.split("\n"), text)
    spans, never_closed = _comments(text, code)
    parts, end = [], 0
    for start, stop in spans:
        parts += [text[end:start], "\n" * text.count("\n", start, stop)]
        end = stop
    return "".join([*parts, text[end:]]), never_closed


def _comments(text: str, code: Container[int]) -> tuple[list[tuple[int, int]], int | None]:
    """Where comments stand in the text; none begins in code. And the line of one that never closes.

    One that begins behind other words ends with their paragraph: where it is still open there, a page shows it and
    what follows, so that it hides nothing here either.
    """
    spans: list[tuple[int, int]] = []
    left_open: int | None = None
    line, seen, ticks, is_behind_words = 1, 0, 0, False
    ends, blocks = _Next(_END, text), _Next(_NEW_BLOCK, text)
    while (begun := text.find(_BEGINS, seen)) >= 0:
        if breaks := text.count("\n", seen, begun):
            line, seen, ticks, is_behind_words = line + breaks, text.rindex("\n", seen, begun), 0, False
        ticks += len(_TICKS.findall(text, seen, begun))
        is_behind_words = is_behind_words or _WORD.search(text, seen, begun) is not None
        seen = begun + len(_BEGINS)
        if ticks % 2 or line in code:
            is_behind_words = True
            continue
        end, block = _EMPTY.match(text, seen) or ends.after(seen), blocks.after(seen)
        if end is None:
            return spans, left_open or line
        if is_behind_words and block is not None and block.start() < end.start():
            left_open = left_open or line
            continue
        seen, is_behind_words = end.end(), False
        spans.append((begun, seen))
        breaks = text.count("\n", begun, seen)
        line, ticks = line + breaks, 0 if breaks else ticks
    return spans, left_open


class _Next:
    """Where a pattern matches next; each place of the text is looked at once, however often it is asked."""

    def __init__(self, pattern: re.Pattern[str], text: str) -> None:
        self._pattern, self._text = pattern, text
        self._found = pattern.search(text)

    def after(self, place: int) -> re.Match[str] | None:
        if self._found is not None and self._found.start() < place:
            self._found = self._pattern.search(self._text, place)
        return self._found


def is_rule(text: str, marks: str = "-*_") -> bool:
    """Whether a text is a horizontal rule: `---`, three or more of one mark and nothing else."""
    return len(text) >= 3 and text[0] in marks and text == text[0] * len(text)
