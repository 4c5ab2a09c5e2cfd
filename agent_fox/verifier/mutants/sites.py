"""Places of a text that a test must notice when they are broken, and the text with some of them broken. No grammars."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterable, Sequence
from enum import StrEnum

from agent_fox.core.values import dataclass

Piece = tuple[int, int, str]
"""What a stretch of the text (start, end: offsets in its UTF-8 bytes) becomes; an insertion has start == end."""


class Unreadable(ValueError):
    """The text cannot be parsed."""


class Kind(StrEnum):
    """What is done to a place."""

    VALUE = "value"
    """What a function returns is perturbed while its body still runs."""
    STATEMENT = "statement"
    """One statement is left out."""
    OTHER_ERROR = "other error"
    """Another error is raised in the place of one."""
    UNWRITTEN = "unwritten"
    """What a language has for code that is still to be written is left out. Counts where the requirement names it."""
    ONLY_ERROR = "only error"
    """What raises the error that a function always comes to is left out. Counts with OTHER_ERROR of its function."""
    COMPARISON = "comparison"
    """One comparison, or `and`, `or`, `not`, is turned round."""
    CONSTANT = "constant"
    """One constant inside a function is changed."""
    BODY = "body"
    """A constant or attribute of a module or class body is changed."""
    BASE = "base"
    """A class loses a base class. Counts by an assertion alone, as what is missing is no more than a definition."""
    PROPERTY = "property"
    """What an attribute of an object is given is changed or left out. Counts by an assertion alone, as BASE."""
    EMPTIED = "emptied"
    """A function's body does nothing, or a `return` is left out. Never enough by itself."""


@dataclass(frozen=True, slots=True)
class Site:
    """One place. `line`, `end_line`: from 1, of what is changed, in the original text.

    `owner`: dotted name of the innermost function that it stands in, "" for a module or class body. `owner_line`: that
    function's first line as the language's runtime reports it, 0 for none. `pieces`: in the order of the text, never
    overlapping; insertions before and behind an expression are neighbours. `what`: a short phrase for people.
    `owner_range`: where the function starts and ends, in UTF-16 code units, for runtimes that measure by offsets.
    """

    kind: Kind
    line: int
    end_line: int
    owner: str
    owner_line: int
    pieces: tuple[Piece, ...]
    what: str
    owner_range: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class Helper:
    """What pieces may call by `name`: `text` is inserted at the offset `at`, before all that is inserted there."""

    name: str
    text: str
    at: int


def broken(text: str, chosen: Iterable[Site], helper: Helper | None = None) -> str:
    """The text with the chosen sites broken at once. Of two that overlap only the outer one is broken.

    The helper is inserted if a piece that is used names it.
    """
    pieces = [piece for site in _apart(chosen) for piece in _ranked(site.pieces)]
    if helper and any(helper.name in becomes for _, _, _, becomes in pieces):
        pieces.append((helper.at, helper.at, (-1, 0), helper.text))
    written, made, done = text.encode(), bytearray(), 0
    for start, end, _, becomes in sorted(pieces):
        made += written[done:start] + becomes.encode()
        done = end
    return (made + written[done:]).decode()


def _apart(chosen: Iterable[Site]) -> list[Site]:
    """The sites that do not overlap an outer one. To touch the edge of another's piece is not to overlap it."""
    kept: list[Site] = []
    taken: list[tuple[int, int]] = []
    wide = {site: max(end - start for start, end, _ in site.pieces) for site in chosen}
    for site in sorted(wide, key=wide.__getitem__, reverse=True):
        if not any(_overlaps(taken, start, end) for start, end, _ in site.pieces):
            kept.append(site)
            for start, end, _ in site.pieces:
                if start < end:
                    insort(taken, (start, end))
    return kept


def _overlaps(taken: Sequence[tuple[int, int]], start: int, end: int) -> bool:
    """Whether a stretch reaches into one of those taken, which are sorted and apart."""
    place = bisect_left(taken, (start, end))
    before = place > 0 and taken[place - 1][1] > start
    return before or (place < len(taken) and (taken[place][0] < end or taken[place] == (start, end)))


def _ranked(pieces: Sequence[Piece]) -> Iterable[tuple[int, int, tuple[int, int], str]]:
    """The pieces with their rank among those of the same place: what closes first, the inner before the outer; then
    what opens, the outer before the inner.
    """
    for index, (start, end, becomes) in enumerate(pieces):
        closes = index % 2
        partner = pieces[index - 1] if closes else pieces[min(index + 1, len(pieces) - 1)]
        yield start, end, (1 - closes, -partner[0]), becomes
