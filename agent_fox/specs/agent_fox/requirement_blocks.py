"""requirements.md cut into blocks: one heading with the lines below it. Ids are not made here."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import field
from typing import TYPE_CHECKING, NamedTuple

from agent_fox.core.regex import regex
from agent_fox.core.values import dataclass
from agent_fox.specs.lines import aside_below
from agent_fox.specs.outline import cells_of
from agent_fox.specs.word_tables import words_in

if TYPE_CHECKING:
    from agent_fox.specs.lines import Heading, Line

_N = r"\d{1,9}"
_TAIL = rf"{_N}(?:\.[Ee]?{_N})*"
_TITLE = regex(
    rf"""[\[*`_~ ]{{0,6}}(?:Requirement\s{{1,3}})?
    (?:(?:(?P<prefix>{_N})-)?REQ-(?P<tail>{_TAIL})|(?<=\s)(?P<plain>{_TAIL}))(?![\w.-]*\w)
    [\]*`_~]{{0,6}}\s*[:.—–-]?\s*(?P<title>.*)$""",
    re.VERBOSE | re.IGNORECASE,
)
_ITEM = regex(
    rf"""\ *+(?P<mark>[-*+]\ |\d{{1,3}}[.)](?:\ |$))?\ *+(?:\[[ xX~-]\]\ *+)?
    (?P<open>[\[`*_~(]{{0,6}})(?:(?P<prefix>{_N})-)?REQ-(?P<tail>{_TAIL})(?P<close>[\]`*_~:).]{{0,6}})
    (?![\w-])\s*(?P<rest>.*)$""",
    re.VERBOSE,
)
_AT_THE_END = regex(
    rf"""(?P<sign>^|[.!?;,:)\]}}*_`"'»”—–-])?\s*
    (?P<open>[\[`*_(]{{0,6}})(?<![\w-])(?:(?P<prefix>{_N})-)?REQ-(?P<tail>{_TAIL})[\]`*_)]{{0,6}}\s*[.;,]?\s*$""",
    re.VERBOSE,
)
_DEMANDS = regex(r"\b(?:SHALL|MUST)\b")
_SENTENCE_ENDS = frozenset(".!?;—–")
_MENTIONS = regex(
    r"(?:\b(?:as|in|by|of|to|see|per|with|from|under|than|and|or|for|via)|\bREQ-[\d.E]+[\]`*_)]*\s*[,–—-]?)\s*$",
    re.IGNORECASE,
)
"""`THE lock SHALL close. `02-REQ-1.1``; not `THE lock SHALL do as in `02-REQ-1.1``, which only mentions it."""
_WORDS = words_in(__file__)


class Declared(NamedTuple):
    """An id that a heading, an item, or the end of an item declares: `tail` is what follows `REQ-`, `text` what stands
    beside it. It `is_sure` with a whole id in a heading, behind an item's mark, or marked as one at the end of a whole
    sentence: another may be a mention, and declares what no other line does."""

    tail: str
    prefix: str
    text: str
    is_sure: bool


@dataclass(slots=True)
class Block:
    """One requirement heading and what stands below it. `tail` is empty for text under other headings."""

    tail: str
    title: str
    level: int
    line: int
    is_numbered_only: bool = False
    lines: list[Line] = field(default_factory=list)


def requirement_title(text: str) -> Declared | None:
    """A heading such as `Requirement 1: T`, `[01-REQ-1] T`, `04-REQ-1.1: T`, `REQ-1: T`; None for others."""
    match = _TITLE.match(text)
    if match is None:
        return None
    tail = (match["tail"] or match["plain"]).upper()
    return Declared(tail, match["prefix"] or "", match["title"].strip("*_ "), match["plain"] is None)


def declared(line: Line) -> Declared | None:
    """The id that a line declares: after a list mark, or decorated where there is no mark."""
    if "REQ-" not in line.text or line.is_code:
        return None
    if line.text.lstrip().startswith("|"):
        return _declared_by_row(line)
    match = _ITEM.match(line.text)
    if match is None or not (match["mark"] or set(match["open"]) & set("[`*")):
        return None
    tail = match["tail"].upper()
    struck = "~~" if "~~" in match["open"] else ""
    return Declared(tail, match["prefix"] or "", struck + match["rest"].lstrip(" :—–-."), bool(match["mark"]))


def _declared_by_row(line: Line) -> Declared | None:
    """The id in the first cell of a row that demands something; tables that only name ids declare none."""
    first, *others = cells_of(line.text)
    match = _TITLE.fullmatch(first)
    rest = " — ".join(cell for cell in others if cell)
    if match is None or match["tail"] is None or match["title"] or not _DEMANDS.search(rest):
        return None
    return Declared(match["tail"].upper(), match["prefix"] or "", rest, False)


def closing_id(text: str) -> Declared | None:
    """The id that a text declares at its end: marked as an id, or behind a whole sentence; None where it has none."""
    match = _AT_THE_END.search(text) if "REQ-" in text else None
    if match is None:
        return None
    text_before, sign = text[: match.start("open")].rstrip(), match["sign"] or ""
    if not (match["open"] or (sign and sign in _SENTENCE_ENDS)) or _MENTIONS.search(text_before):
        return None
    is_sure = match["sign"] is not None and bool(match["open"])
    return Declared(match["tail"].upper(), match["prefix"] or "", text_before.rstrip(" —–-"), is_sure)


def ids_in(lines: Iterable[Line], number: str) -> tuple[str, frozenset[str]]:
    """What this file's ids begin with: the folder's number if any id has it, else the most common one. And what follows
    `REQ-` in all ids that a line begins with, or surely ends with."""
    seen: Counter[str] = Counter()
    sure: set[str] = set()
    for line in lines:
        has_id = "REQ-" in line.text
        begins = requirement_title(line.heading.title) if line.heading else declared(line) if has_id else None
        ends = closing_id(line.text) if begins is None and has_id else None
        own = begins or (ends if line.heading is None else None)
        if own is not None and own.prefix:
            seen[own.prefix] += 1
        if has_id and not line.is_code:
            sure |= {begins.tail} if begins else {ends.tail} if ends and ends.is_sure else set()
    same = [prefix for prefix in seen if number and int(prefix) == int(number)]
    return (same or [prefix for prefix, _ in seen.most_common(1)] or [number])[0], frozenset(sure)


def blocks_of(lines: Iterable[Line], prefix: str) -> list[Block]:
    """Cut at every requirement heading of this spec, and where another of its rank or higher ends it."""
    blocks = [Block("", "", 0, 0)]
    elsewhere: int | None = None
    for line in lines:
        heading = line.heading
        title = _own_title(heading, prefix)
        current = blocks[-1]
        if heading is None or _is_part(heading, title, blocks):
            if elsewhere is None:
                current.lines.append(line)
        elif title is not None:
            elsewhere = None
            blocks.append(Block(title.tail, title.text, heading.level, line.number, not title.is_sure))
        else:
            elsewhere = aside_below(heading, elsewhere, _WORDS["elsewhere"])
            blocks.append(Block("", "", heading.level, line.number))
    return blocks


def _own_title(heading: Heading | None, prefix: str) -> Declared | None:
    title = requirement_title(heading.title) if heading is not None else None
    is_foreign = title is not None and title.prefix and int(title.prefix) != int(prefix or title.prefix)
    return None if is_foreign else title


def _is_part(heading: Heading, title: Declared | None, blocks: list[Block]) -> bool:
    """A heading below a requirement's own is a part of it: a label, or a criterion that has a heading."""
    current = blocks[-1]
    if title is None:
        return bool(current.tail) and heading.level > current.level
    parent = title.tail.rpartition(".")[0]
    return bool(current.tail) and parent == current.tail and title.is_sure
