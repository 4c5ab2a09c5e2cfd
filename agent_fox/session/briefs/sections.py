"""A Markdown text of sections within a budget of characters: who gets how much room, and what is left out first.

What stands in the sections is not here. The order of loss is the sections' `rank`: the highest goes first.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from agent_fox.core.markdown import fenced, how_many_fit
from agent_fox.core.regex import regex
from agent_fox.core.values import dataclass

LEAST_ROOM = 120
"""A section that gets less room than this is left out, and named in the last line."""

ROOM_FOR_LAST_LINE = 600
LONGEST_TICKS = 16
SHARE_OF_HEAD = 2 / 3
BETWEEN = "\n\n"

_TICKS = regex(rf"`{{{LONGEST_TICKS},}}")


@dataclass(frozen=True, slots=True)
class Section:
    """One section. `body` gives its text in at most so many characters, or nothing where it needs more.

    `share` is the part of the whole budget that it may take while sections of a higher rank still want room.
    """

    heading: str
    rank: int
    share: float
    body: Callable[[int], str]
    words: str = ""

    def within(self, room: int) -> str:
        """The whole section in at most `room` characters, or nothing."""
        frame = len(self.heading) + len(self.words) + len("## ") + 2 * len(BETWEEN)
        body = self.body(room - frame) if room - frame >= LEAST_ROOM else ""
        return BETWEEN.join(filter(None, (f"## {self.heading}", body, self.words))) if body else ""


def laid_out(opening: str, sections: Sequence[Section], limit: int) -> str:
    """`opening` and the sections in their order, in at most `limit` characters; the last line says what is left out.

    Room goes by rank: first each section gets up to its share, then what is left over makes up for what was cut.
    """
    texts = _with_room(sections, limit - len(opening) - ROOM_FOR_LAST_LINE, limit)
    shown = [texts[section.heading] for section in sections if texts[section.heading]]
    return BETWEEN.join((opening, *shown, *_last_line(sections, texts))) + "\n"


def _with_room(sections: Sequence[Section], room: int, limit: int) -> dict[str, str]:
    """Heading → the section's text, all together in at most `room` characters."""
    ranked = sorted(sections, key=lambda section: section.rank)
    texts: dict[str, str] = {}
    for section in ranked:
        text = section.within(min(room, int(limit * section.share)) - len(BETWEEN))
        texts[section.heading] = text
        room -= len(text) + len(BETWEEN)
    for section in ranked:
        text, before = section.within(len(texts[section.heading]) + room), len(texts[section.heading])
        if len(text) > before:
            texts[section.heading] = text
            room -= len(text) - before
    return texts


def _last_line(sections: Sequence[Section], texts: dict[str, str]) -> list[str]:
    missing = [section.heading for section in sections if not texts[section.heading]]
    if not missing:
        return []
    return [f"Left out for length, and in full in the JSON form of this brief: {'; '.join(missing)}."]


def shortened(text: str, limit: int) -> str:
    """Head and tail of `text` in at most `limit` characters, with a word on how much is missing between them."""
    if len(text) <= limit:
        return text
    if limit < LEAST_ROOM:
        return f"{text[: max(limit - 1, 0)]}…"
    kept = limit - len(_gap(len(text)))
    head = int(kept * SHARE_OF_HEAD)
    return f"{text[:head]}{_gap(len(text) - kept)}{text[len(text) - (kept - head) :]}"


def _gap(count: int) -> str:
    return f"\n… ({count:,} characters left out) …\n"


def boxed(text: str, room: int, info: str = "text") -> str:
    """`text` in a code block that it cannot end, in at most `room` characters; nothing where that is too little."""
    frame = 2 * LONGEST_TICKS + len(info) + 4
    if room < frame + LEAST_ROOM // 2:
        return ""
    return fenced(shortened(_TICKS.sub("`" * (LONGEST_TICKS - 1), text), room - frame), info)


def joined(parts: Sequence[str], room: int, between: str, more: str) -> str:
    """As many of `parts` as have room, from the first one on. `more` says how many (`{}`) are left out."""
    whole = between.join(parts)
    if len(whole) <= room:
        return whole
    shown = how_many_fit((part + between for part in parts), room - len(more.format(len(parts))))
    return between.join((*parts[:shown], more.format(len(parts) - shown))) if shown else ""
