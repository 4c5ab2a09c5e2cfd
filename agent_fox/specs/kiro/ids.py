"""Numbers and ids as Kiro's documents write them, in headings and at the beginning of items."""

from __future__ import annotations

import re
from enum import Enum, auto

from agent_fox.core.values import dataclass
from agent_fox.specs.word_tables import patterns_in

_LIKE = patterns_in(__file__)

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

    @property
    def is_numbered(self) -> bool:
        return bool(self.id or self.dotted or self.ordinal is not None)


def numbered(title: str) -> Numbered | None:
    """A heading such as `Requirement 1: T`, `要件1：T`, `REQ-1 T`, `1. T`; None for others."""
    before = _LIKE["marks_before"].match(title)
    text = title[before.end() if before else 0 :].rstrip("*_~` ")
    struck = "~~" if title.lstrip("* ").startswith("~~") else ""
    match = _LIKE["id_title"].match(text + " ")
    if match is not None and not _LIKE["not_ids"].match(match["id"]):
        return Numbered(Kind.ID, match["id"], struck + match["title"].strip("*_~ "))
    plain = _LIKE["number_title"].match(text)
    if plain is None:
        return None
    word = (plain["word"] or "").strip(" *_([（#.-")
    kind = _kind(word, bool(plain["separator"]), plain["title"])
    return Numbered(kind, ascii_number(plain["number"]), struck + plain["title"].strip("*_~ "), word) if kind else None


def _kind(word: str, has_separator: bool, title: str) -> Kind | None:
    """A word that is not known counts only where the number is set off: `Support for 2 formats` has no number."""
    if not word:
        return Kind.BARE
    words = len(word.split())
    if _LIKE["criteria"].search(word) and words <= 4:
        return Kind.CRITERION
    if (_LIKE["requirement"].search(word) or word in _SHORT) and words <= 4:
        return Kind.WORD
    if _LIKE["story"].search(word) and words <= 3:
        return Kind.STORY
    is_set_off = words <= 2 and (has_separator or not title)
    return Kind.OTHER if is_set_off and not _LIKE["other_series"].search(word) else None


def mark_of(text: str) -> Mark | None:
    """How a line, without its indentation, begins an item; None where it begins none."""
    match = _LIKE["item"].match(text) if text[:1] in _BEGINS or text[:1].isdecimal() else None
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
    parts = []
    for part in written.replace("．", ".").split("."):
        match = re.match(r"([Ee]?)(\d+)(.*)", part)
        parts.append(f"{match[1].upper()}{int(match[2])}{match[3]}" if match else part)
    return ".".join(parts)
