"""The title and the block of an issue or a pull request: ours, kept current while nobody else edits them. Writes
nothing.

The block stands between two comments, of which the first seals block and title: an edit breaks its seal.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from agent_fox.core.regex import regex
from agent_fox.core.values import dataclass

Seal = Callable[[str], str]
"""Gives the seal of a text, in letters and digits."""

LONGEST_FRAME = 300
"""Characters that the two comments take."""

_END = "<!-- agent-fox status ends -->"
_BLOCK = regex(
    r"<!-- agent-fox status title=(?P<title>\w+) text=(?P<text>\w+) -->\r?\n(?P<shown>.*?)\r?\n"
    r"<!-- agent-fox status ends -->",
    re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class Current:
    """What to write so that an issue says what is so now: None where it stands. `edited` names what somebody else
    edited (`title`, `block`) and is left alone."""

    title: str | None = None
    body: str | None = None
    edited: tuple[str, ...] = ()


def told_edits(edited: Sequence[str]) -> str:
    """What is said where somebody edited these; empty where nobody did."""
    return f"a person's edit of its {' and its '.join(edited)} is left alone" if edited else ""


def framed(title: str, text: str, seal: Seal) -> str:
    """The block with its comments, as it goes to the top of an issue of this title."""
    return _framed(seal(f"title {title}"), text, seal) + "\n"


def _framed(title_seal: str, text: str, seal: Seal) -> str:
    return f"<!-- agent-fox status title={title_seal} text={seal(f'text {text}')} -->\n{text}\n{_END}"


def has_block(body: str) -> bool:
    """Whether there is a block at all, whoever edited it."""
    return _BLOCK.search(body) is not None


def current(body: str, title: str, new_title: str, text: str, seal: Seal) -> Current:
    """What becomes of an issue whose title should be `new_title` and whose block should say `text`.

    One without a block is left as it is. Where the block was edited its seal cannot be renewed, so that the title stays
    as well.
    """
    block = _BLOCK.search(body)
    if block is None:
        return Current()
    shown = block["shown"].replace("\r\n", "\n")
    is_title_ours = block["title"] == seal(f"title {title}")
    if block["text"] != seal(f"text {shown}"):
        return Current(edited=("block",) if is_title_ours else ("title", "block"))
    title_seal = seal(f"title {new_title}") if is_title_ours else block["title"]
    made = f"{body[: block.start()]}{_framed(title_seal, text, seal)}{body[block.end() :]}"
    return Current(
        new_title if is_title_ours and new_title != title else None,
        made if made != body else None,
        () if is_title_ours else ("title",),
    )
