"""Words of a template that nobody replaced. Where they stand is not found here."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from agent_fox.specs.files import warning

if TYPE_CHECKING:
    from agent_fox.core.spec import Problem
    from agent_fox.specs.document import Markdown

_SHOWN = 5


def half_written(markdown: Markdown, lines: Iterable[int]) -> Iterator[Problem]:
    """One warning for all lines of a document that still say what its template says, or nothing."""
    if places := sorted(set(lines)):
        shown = ", ".join(map(str, places[:_SHOWN])) + (" and others" if len(places) > _SHOWN else "")
        what = f"half-written: no more than a template says, in {'line' if len(places) == 1 else 'lines'} {shown}"
        yield warning(markdown.at(places[0]), f"{what}. Fill it in")
