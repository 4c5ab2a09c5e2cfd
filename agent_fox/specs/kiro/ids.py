"""Numbers and ids as Kiro's documents write them: in headings, at the beginning of items, and where they name
requirements; and which parts of the spec these mean."""

from __future__ import annotations

import re
from collections.abc import Iterable
from enum import Enum

from agent_fox.core.spec import Criterion, Requirement
from agent_fox.core.values import dataclass
from agent_fox.specs.common.id_ranges import PartIndex, ascii_number, index_of, key_of
from agent_fox.specs.word_tables import patterns_in

_LIKE = patterns_in(__file__)

LETTERS = "abcdefghijklmnopqrstuvwxyz"
_SHORT = ("FR", "NFR")
_PLAIN = str.maketrans("，、；：．〜～~＆（）", ",,;:.---,()")
_OPENED = str.maketrans("()", "  ")
_BEGINS = frozenset("-*+•・[(（【`_REQNFACUSBTPID")


Kind = Enum("Kind", "ID WORD STORY CRITERION OTHER BARE")
"""How a heading is numbered: by an id, by a word such as *Requirement*, by an unknown word, by a number alone."""


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
    words = len(word.split())
    # a word that is not known counts only where the number is set off: `Support for 2 formats` has no number
    is_set_off = words <= 2 and (bool(plain["separator"]) or not plain["title"])
    if not word:
        kind = Kind.BARE
    elif _LIKE["criteria"].search(word) and words <= 4:
        kind = Kind.CRITERION
    elif (_LIKE["requirement"].search(word) or word in _SHORT) and words <= 4:
        kind = Kind.WORD
    elif _LIKE["story"].search(word) and words <= 3:
        kind = Kind.STORY
    elif is_set_off and not _LIKE["other_series"].search(word):
        kind = Kind.OTHER
    else:
        return None
    return Numbered(kind, ascii_number(plain["number"]), struck + plain["title"].strip("*_~ "), word)


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


@dataclass(frozen=True, slots=True)
class Named:
    """What a list of requirements names: ids of parts, and what the spec does not have."""

    ids: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()
    is_vague: bool = False


@dataclass(frozen=True, slots=True)
class References:
    """Finds the parts of one spec. `defects` may be named and are not expected."""

    index: PartIndex
    defects: frozenset[str] = frozenset()

    def read(self, written: str) -> Named:
        """The ids of a list such as `1.1, 2.3-2.5`, `Requirements 2`, `要件 1.1、1.2`, `all`."""
        names = [name.strip() for name in written.split(",")]
        if all(name in self.index.names for name in names):
            return Named(self._expected(dict.fromkeys(i for name in names for i in self.index.names[name])))
        text = _normal(written)
        if _LIKE["all"].search(text) and not re.search(r"\d", text):
            return Named(self._expected(self.index.every))
        if not _LIKE["token"].search(text) or not re.search(r"\d", text):
            # Kiro itself writes `Expected Behavior Properties from design` into the tasks of a bugfix
            of_bugfix = (_LIKE["expected"], _LIKE["unchanged"]) if self.defects else ()
            is_meant = _LIKE["none"].match(written.strip()) or any(like.search(written) for like in of_bugfix)
            return Named(is_vague=not is_meant)
        listed = _LIKE["criteria_of"].sub(self._criteria, _LIKE["other_letters"].sub(" ", text))
        listed = _LIKE["letters_then_number"].sub(r"\1-", listed)
        listed = _LIKE["range_of_ids"].sub(self._written_out, _LIKE["every"].sub(r"\1", listed))
        ids, unknown = self.index.expand(listed)
        if not ids and not unknown:
            ids, unknown = self.index.expand(listed.translate(_OPENED))
        unknown += tuple(name for name in _LIKE["lettered"].findall(listed) if name not in self.index.names)
        return Named(self._expected(ids), unknown, is_vague=not ids and not unknown)

    def only_names(self, written: str) -> bool:
        """Whether a text is a list of this spec's ids and nothing else."""
        rest = _LIKE["words"].sub("", _normal(written))
        named = self.read(written)
        return bool(named.ids) and not named.unknown and re.fullmatch(r"[\d.,;\sE-]{1,400}", rest) is not None

    def _written_out(self, found: re.Match[str]) -> str:
        """`R2.1-R2.3` as the ids between the two; what is no range of this spec stays as it is written."""
        names, every = self.index.names, self.index.every
        first, last = found["first"], found["last"]
        if last[0].isdigit():  # the end may be short: `R2.3` after `R2.1` is written `2.3` or `3`
            short = [first.rstrip("0123456789.E"), *([f"{first.rpartition('.')[0]}."] if "." not in last else [])]
            last = next((f"{head}{last}" for head in short if f"{head}{last}" in names), last)
        begin, end = names.get(first, ()), names.get(last, ())
        if not (begin and end) or begin[0] not in every or end[-1] not in every:
            return found[0]
        return ", ".join(every[every.index(begin[0]) : every.index(end[-1]) + 1]) or found[0]

    def _criteria(self, found: re.Match[str]) -> str:
        """`FR-1 AC-4, AC-5` as `FR-1.4, FR-1.5`, if the spec has those."""
        named = [f"{found['head']}.{number}" for number in re.findall(r"\d+", found["list"])]
        return ", ".join(named) if all(name in self.index.names for name in named) else found[0]

    def _expected(self, ids: Iterable[str]) -> tuple[str, ...]:
        return tuple(i for i in ids if i not in self.defects)


def references_of(requirements: Iterable[Requirement], defects: Iterable[str] = ()) -> References:
    """The references of a spec: ids as written, without zeros, and by their numbers alone where those are clear: the
    first id with a number has it, and one that a regular id has is never taken."""
    wrong = tuple(defects)
    known = tuple(requirements)
    defect = Requirement("1", "", criteria=tuple(Criterion(i, "") for i in wrong))
    index = index_of((*known, defect) if wrong else known, "")
    parts, by_requirement = index.parts, index.by_requirement
    for name, ids in [*index.names.items()]:
        short = re.sub(r"(?<=-)0+(?=\d)", "", name)  # `FR-001` is written `FR-1`, `FR1` and `FR 1` too
        glued = re.sub(r"^([A-Z]{1,4})(?=\d)", r"\1-", name)
        for alias in (short, short.replace("-", ""), name.replace("-", ""), glued):
            index.names.setdefault(alias, ids)
        tail = _LIKE["tail"].search(name)
        if tail is not None and tail.start() > 0 and not name[0].isdigit():  # `R1.2`, `FR-001`
            key = key_of(tail[1])
            if ids == (name,) and key not in by_requirement:
                parts.setdefault(key, name)
            elif ids != (name,) and key not in parts:
                by_requirement.setdefault(key, ids)
    index.every = tuple(i for i in index.every if i not in wrong)
    return References(index, frozenset(wrong))


def _normal(written: str) -> str:
    text = _LIKE["from_to"].sub("-", written.translate(_PLAIN))
    if not text.isascii():
        text = "".join(str(int(c)) if c.isdecimal() and not c.isascii() else c for c in text)
    return _LIKE["word_then_number"].sub(" ", _LIKE["of_another_series"].sub(" ", text))
