"""What stands in an issue and in the comments on it, for a file and for GitHub: complete, and within the limits.

Which of them is written, and where, is the tracker's. What one section says is in `sections`.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, groupby
from shlex import quote
from typing import TYPE_CHECKING

from agent_fox.core.markdown import how_many_fit
from agent_fox.core.retry.filing import Says
from agent_fox.core.values import dataclass
from agent_fox.core.words import counted
from agent_fox.trackers.protocol import Effect, EffectKind
from agent_fox.trackers.text.pen import Pen, PlainPen, Style
from agent_fox.trackers.text.sections import (
    END_FOLD,
    LONGEST_REASON,
    LONGEST_STATUS,
    OPEN_FOLD,
    Block,
    blocks,
    reason,
    repaired,
    sections,
    status_text,
    where,
)
from agent_fox.trackers.text.template import PARTS, fence_after, filled, uses

if TYPE_CHECKING:
    from agent_fox.trackers.facts import IssueFacts, IssueStatus

__all__ = ["LONGEST", "LONGEST_TITLE", "Style", "Written", "plain_issue", "plain_status", "written"]

LONGEST_TITLE = 200
LONGEST = 60_000
RESERVED = 400
"""What the tracker puts above: its marker, and the number of an earlier issue."""

ROOM = LONGEST - RESERVED - LONGEST_STATUS - 2_000
"""What is left beside the block at the top, its first lines and its marks."""

MOST_COMMENTS = 5
LONGEST_IDS = 1_000

ISSUE = "\n\n".join(f"${name}" for name in PARTS)
AGAIN = "\n\n".join(f"${name}" for name in PARTS if name not in {"what_happened", "repaired", "blocked"})


@dataclass(frozen=True, slots=True)
class Written:
    """One issue or comment, and the comments that take what did not fit into it. `status`: the block at the top of the
    issue as it is to stand now; empty where that is not known."""

    title: str
    body: str
    more: tuple[str, ...] = ()
    status: str = ""


def written(effect: Effect, style: Style) -> Written:
    """The whole issue where the effect files one, a comment otherwise. Never raises, whatever the effect holds."""
    pen = Pen(style)
    title = pen.title(effect.status.title if effect.status else effect.title, LONGEST_TITLE) or "Not proven"
    status = status_text(effect.status, pen) if effect.status else ""
    if effect.says is not Says.FAILING or not effect.facts or effect.target:
        return Written(title, _page_text(effect, pen), status=status)
    if effect.kind is EffectKind.FILE:
        body, more = _fitted(style.template or ISSUE, effect.facts, effect.title, pen)
    else:
        body, more = _fitted(AGAIN, effect.facts, effect.title, pen, _again(effect, pen))
    return Written(title, body, more, status)


def plain_issue(facts: Sequence[IssueFacts], title: str) -> tuple[str, str]:
    """Title and body for a file: Markdown that nobody acts on, of at most LONGEST_TITLE and LONGEST characters."""
    pen = PlainPen(Style())
    body, _ = _fitted(ISSUE, facts, title, pen, has_comments=False)
    return pen.title(title, LONGEST_TITLE), body


def plain_status(status: IssueStatus) -> tuple[str, str]:
    """Title and block for a file."""
    pen = PlainPen(Style())
    return pen.title(status.title, LONGEST_TITLE), status_text(status, pen)


def _page_text(effect: Effect, pen: Pen) -> str:
    """A text that was written elsewhere, with the commit that it is about and what changed, where that is known."""
    facts = effect.facts[:1]
    pieces = [
        pen.whole(effect.body).strip(),
        repaired(effect.facts, pen),
        *(f"This is about {where(each, pen)}." for each in facts),
    ]
    node = effect.facts[0].node if effect.facts else effect.spec
    text = "\n\n".join(piece for piece in pieces if piece) or pen.words(effect.title, LONGEST_TITLE)
    return _clipped(f"{text}\n", pen.command(f"agent-fox explain {quote(node)}") if node else "agent-fox status")


def _again(effect: Effect, pen: Pen) -> str:
    """What changed, in one line; and what of it is fixed."""
    first = effect.facts[0]
    count = sum(len(facts.failing) for facts in effect.facts)
    every = f" of {len(effect.status.parts)}" if effect.status and len(effect.status.parts) >= count else ""
    what = f"{count}{every}, {pen.words(first.cause)}" if count else pen.words(first.cause)
    others = f" and {counted(len(effect.facts) - 1, 'more spec')}" if len(effect.facts) > 1 else ""
    word = "Also failing" if effect.status and effect.status.is_digest else "Still failing"
    line = f"**{word}**: {what} ({where(first, pen)}{others})."
    best = pen.lines(first.best, LONGEST_REASON) if first.best else ""
    return "\n\n".join(piece for piece in (line, repaired(effect.facts, pen), best, reason(first, pen)) if piece)


def _fitted(
    template: str, facts: Sequence[IssueFacts], title: str, pen: Pen, above: str = "", *, has_comments: bool = True
) -> tuple[str, tuple[str, ...]]:
    """The template filled; requirements that do not fit go to comments, or are named where there are none."""
    values = sections(facts, title, pen)
    explain = pen.command(f"agent-fox explain {quote(facts[0].node)}")
    parts = blocks(facts, pen, is_first_shown=uses(template, "what_happened") > 0)
    frame = _joined(above, template, {**values, "failing": ""})
    room = (ROOM - len(frame)) // max(uses(template, "failing"), 1) - LONGEST_IDS - RESERVED
    shown = how_many_fit([f"{part.text}\n\n" for part in parts], room)
    more = _comments(parts[shown:], explain, pen) if has_comments else ()
    place = "more in the comments below" if has_comments else "more"
    body = _joined(above, template, {**values, "failing": _failing(parts, shown, place, pen)})
    return _clipped(body, explain), more


def _joined(above: str, template: str, values: dict[str, str]) -> str:
    """Filled, without the gaps that empty sections leave."""
    text = "\n\n".join(piece for piece in (above, filled(template, values)) if piece)
    return "".join(f"{line}\n" for line in _without_gaps(text.strip("\n").split("\n")))


def _without_gaps(lines: Sequence[str]) -> list[str]:
    """One empty line for many, outside of code."""
    fences = accumulate(lines, fence_after, initial="")
    marked = [(bool(fence), not line.strip(), line) for fence, line in zip(fences, lines, strict=False)]
    kept = []
    for (in_code, is_empty), group in groupby(marked, key=lambda line: line[:2]):
        rows = [line for _, _, line in group]
        kept += [""] if is_empty and not in_code else rows
    return kept


def _failing(parts: Sequence[Block], shown: int, place: str, pen: Pen) -> str:
    if not parts:
        return ""
    rest = parts[shown:]
    named = pen.ids((part.id for part in rest), LONGEST_IDS - 100)
    more = [f"{len(rest):,} {place}: {named}"] if rest else []
    return "\n\n".join(["## What fails", *(part.text for part in parts[:shown]), *more])


def _comments(parts: Sequence[Block], explain: str, pen: Pen) -> tuple[str, ...]:
    """At most MOST_COMMENTS, and in the last one a word on what none of them holds."""
    pages: list[list[Block]] = []
    rest = list(parts)
    while rest and len(pages) < MOST_COMMENTS:
        fit = max(1, how_many_fit([f"{part.text}\n\n" for part in rest], ROOM - LONGEST_IDS - RESERVED))
        pages.append(rest[:fit])
        rest = rest[fit:]
    texts = ["\n\n".join(part.text for part in page) for page in pages]
    if rest:
        named = pen.ids((part.id for part in rest), LONGEST_IDS - 100)
        texts[-1] += f"\n\n{len(rest):,} more: {named}\n\n```sh\n{explain}\n```"
    return tuple(
        _clipped(f"## What fails ({number} of {len(texts)} more)\n\n{text}\n", explain)
        for number, text in enumerate(texts, start=1)
    )


def _clipped(text: str, explain: str) -> str:
    """`text` within the limit: cut at the end of a line, its code block closed, with how to see the rest."""
    if len(text) <= ROOM:
        return text
    start = text[: ROOM - 2 * RESERVED - len(explain)]
    kept = start[: start.rfind("\n") + 1] or start
    fence = ""
    for line in kept.split("\n"):
        fence = fence_after(fence, line)
    closing = f"{fence[:RESERVED]}\n" if fence else ""
    folds = kept.count(f"\n{OPEN_FOLD}") - kept.count(f"\n{END_FOLD}\n")
    closing += f"\n{END_FOLD}\n" * max(0, folds)
    return f"{kept}{closing}\n{len(text) - len(kept):,} more characters:\n\n```sh\n{explain}\n```\n"
