"""Numbers and ids as Kiro's documents write them, in headings and at the beginning of items."""

from __future__ import annotations

import re
from enum import Enum, auto

from agent_fox.core.regex import regex
from agent_fox.core.values import dataclass
from agent_fox.specs.kiro.words import CRITERIA, OTHER_SERIES, REQUIREMENT, STORY

_KNOWN = r"(?:REQ|NFR|FR|AC|EC|US|UC|BR|SR|TR|PR|IR|DR|CR|NF|RNF|RF|R|F)"
_DASHED = r"(?:[A-Z][A-Z0-9]{0,11}-){1,4}"
_TAIL = r"\d{1,6}[A-Za-z]?(?:\.[Ee]?\d{1,6}){0,4}"
_NUMBER = r"\d{1,6}[A-Za-z]?(?:[.．][Ee]?\d{1,6}[A-Za-z]?){0,4}"
_CLOSE = r"[\]*_`)）】]{0,4}"
_OPEN = r"[\[*_`(（【]{0,4}"
_SEPARATOR = r"[:：.．、|—–-]"
_ID_TITLE = regex(
    rf"(?:[^\W\d_]{{1,20}}[\s:：]{{1,3}})?{_OPEN}(?P<id>{_DASHED}{_TAIL}|{_KNOWN}\d{{1,4}}(?:\.\d{{1,4}}){{0,3}}(?=[\W_]))(?![\w-])"
    rf"{_CLOSE}\s{{0,4}}{_SEPARATOR}{{0,2}}{_CLOSE}\s{{0,4}}(?P<title>.*)$"
)
_NUMBER_TITLE = regex(
    rf"(?P<word>[^\W\d_][^\d:：]{{0,60}}?)??[\s#№.*_-]{{0,6}}(?P<number>{_NUMBER})(?![\w%]){_CLOSE}"
    rf"\s{{0,4}}(?P<separator>[:：.．、)）|—–-]{{0,2}}){_CLOSE}\s{{0,4}}(?P<title>.*)$"
)
_NOT_IDS = regex(r"(?:UTF|AES|SHA|ISO|RFC|HTTP|TLS|ADR|PHASE|STEP|TASK|COVID|GPT|IPV|ES)-", re.IGNORECASE)
_MARKS_BEFORE = regex(r"[^\w(\[（【]{0,12}")
_ITEM = regex(
    rf"(?P<bullet>[-*+•・]\s+)?(?P<box>\[[ xX~-]?\]\s+)?(?P<ordinal>[(（]?\d{{1,3}}[a-z]?[.)）．、](?!\d|[Ee]\d)\s*)?"
    rf"(?P<box_after>\[[ xX~-]?\]\s+)?{_OPEN}(?:"
    rf"(?P<id>{_KNOWN}[-_ ]?(?:[A-Z]{{1,12}}-){{0,2}}{_TAIL})(?=[\]*_`)）】:：.—–|]|\s[—–-]\s)"
    rf"|(?P<dotted>(?:\d{{1,6}}[A-Za-z]?|[A-Z])(?:[.．][Ee]?\d{{1,6}}){{1,4}}[a-z]?)(?![\w%])"
    rf"[.)）:：．]?(?=[\s*_`\]:：)）—–]|$))?"
    rf"(?P<close>{_CLOSE}\s{{0,3}}(?:[:：.．—–|-](?!\d)){{0,2}}{_CLOSE}\s{{0,3}})?(?P<rest>.*)$"
)
LETTERS = "abcdefghijklmnopqrstuvwxyz"
_SHORT = ("FR", "NFR")
_BEGINS = frozenset("-*+•・[(（【`_REQNFACUSBTPID")


class Kind(Enum):
    """How a heading is numbered: by an id, by a word such as *Requirement*, by an unknown word, by a number alone."""

    ID = auto()
    WORD = auto()
    STORY = auto()
    CRITERION = auto()
    OTHER = auto()
    BARE = auto()


@dataclass(frozen=True, slots=True)
class Numbered:
    """A heading with a number. `number` is an id as written, or the number with ASCII digits."""

    kind: Kind
    number: str
    title: str
    word: str = ""


@dataclass(frozen=True, slots=True)
class Mark:
    """How a line begins an item: with an id, a number such as `1.2`, a place in a list, or a bullet alone.

    `letter` stands after the place: `1a.` comes between `1.` and `2.`.
    """

    text: str
    id: str = ""
    dotted: str = ""
    ordinal: int | None = None
    is_bullet: bool = False
    letter: str = ""


def numbered(title: str) -> Numbered | None:
    """A heading such as `Requirement 1: T`, `要件1：T`, `REQ-1 T`, `1. T`; None for others."""
    text = title[_marks_before(title) :].rstrip("*_~` ")
    struck = "~~" if title.lstrip("* ").startswith("~~") else ""
    match = _ID_TITLE.match(text + " ")
    if match is not None and not _NOT_IDS.match(match["id"]):
        return Numbered(Kind.ID, match["id"], struck + match["title"].strip("*_~ "))
    plain = _NUMBER_TITLE.match(text)
    if plain is None:
        return None
    word = (plain["word"] or "").strip(" *_([（#.-")
    kind = _kind(word, bool(plain["separator"]), plain["title"])
    return Numbered(kind, ascii_number(plain["number"]), struck + plain["title"].strip("*_~ "), word) if kind else None


def _marks_before(title: str) -> int:
    match = _MARKS_BEFORE.match(title)
    return match.end() if match else 0


def _kind(word: str, has_separator: bool, title: str) -> Kind | None:
    """A word that is not known counts only where the number is set off: `Support for 2 formats` has no number."""
    if not word:
        return Kind.BARE
    words = len(word.split())
    if CRITERIA.search(word) and words <= 4:
        return Kind.CRITERION
    if (REQUIREMENT.search(word) or word in _SHORT) and words <= 4:
        return Kind.WORD
    if STORY.search(word) and words <= 3:
        return Kind.STORY
    is_set_off = words <= 2 and (has_separator or not title)
    return Kind.OTHER if is_set_off and not OTHER_SERIES.search(word) else None


def mark_of(text: str) -> Mark | None:
    """How a line, without its indentation, begins an item; None where it begins none."""
    match = _ITEM.match(text) if text[:1] in _BEGINS or text[:1].isdecimal() else None
    if match is None or not (match["bullet"] or match["ordinal"] or match["id"] or match["dotted"]):
        return None
    named = match["id"] or match["dotted"]
    begin = max(match.end(name) for name in ("bullet", "box", "ordinal", "box_after"))
    rest = match["rest"].strip() if named else text[max(begin, 0) :].strip()
    place = (match["ordinal"] or "").strip().strip("(（)）.．、").strip()
    digits = place.rstrip(LETTERS)
    return Mark(
        rest or text.strip(),
        (match["id"] or "").replace("_", "-").replace(" ", "-"),
        ascii_number(match["dotted"] or ""),
        int(digits) if digits else None,
        match["bullet"] is not None,
        place[len(digits) :],
    )


def ascii_number(written: str) -> str:
    """A number with ASCII digits and no zeros before them, a letter after it as it stands: `０１．２` is `1.2`."""
    if written.isascii() and written.replace(".", "").isdigit() and not written.startswith("0") and ".0" not in written:
        return written
    return ".".join(_part(part) for part in written.replace("．", ".").split("."))


def _part(part: str) -> str:
    head = part[:1] if part[:1] in ("E", "e") else ""
    digits = re.match(r"\d+", part[len(head) :])
    return f"{head.upper()}{int(digits[0])}{part[len(head) + digits.end() :]}" if digits else part
