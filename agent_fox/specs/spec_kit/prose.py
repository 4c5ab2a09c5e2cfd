"""What the prose of a spec says: which other specs it needs, and what it leaves open, such as questions that are marked
and words of the template. Whether the other specs are there is asked elsewhere."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from agent_fox.core.spec import Dependency
from agent_fox.specs.files import warning
from agent_fox.specs.lines import Line, listed, with_headings
from agent_fox.specs.spec_kit.words import Kind, kind_of
from agent_fox.specs.word_tables import patterns_in

if TYPE_CHECKING:
    from agent_fox.core.spec import Problem
    from agent_fox.specs.document import Markdown

_LIKE = patterns_in(__file__)
_HEAD = 40


def needs_in(
    markdown: Markdown, own: str, siblings: Iterable[str], *, header_only: bool = False
) -> Iterator[Dependency]:
    """The specs that a document's section about dependencies, or a line that says *depends on*, names.

    A bare number counts as the one sibling that begins with it. `header_only`: only the lines before the first section.
    """
    folders = [name for name in siblings if name != own]
    for line in _saying(markdown.lines, header_only):
        if _LIKE["needed_by"].search(line.text) is None:
            for name in _named(line.text, folders):
                if name != own:
                    yield Dependency(name, None, None, markdown.at(line.number), is_archived=True)


def _saying(lines: Iterable[Line], header_only: bool) -> Iterator[Line]:
    """Lines about what this spec needs: a label with the list below it, and all of such a section."""
    is_below_label = False
    chapter = ""
    for chain, line in with_headings(lines):
        if line.heading is not None:
            chapter = " / ".join(heading.title.lower() for _, heading in chain).partition(" / ")[2]
        if line.is_code or (header_only and (chapter or line.number > _HEAD)):
            continue
        is_label = _LIKE["needs"].match(line.text) is not None
        is_listed = line.text.lstrip()[:2] in ("- ", "* ", "+ ")
        is_below_label = is_label or (is_below_label and (line.is_blank or is_listed) and line.heading is None)
        if is_label or is_below_label or (not header_only and _LIKE["needs_section"].search(chapter)):
            yield line


def _named(text: str, folders: list[str]) -> Iterator[str]:
    yield from (match["name"] for match in _LIKE["folder"].finditer(text))
    for match in _LIKE["number"].finditer(text):
        meant = [name for name in folders if name.startswith(f"{match['number']}-")]
        yield from meant if len(meant) == 1 else []


_LONGEST = 160


def unfinished(markdown: Markdown) -> Iterator[Problem]:
    """A warning for each question that is marked, but below an aside such as a checklist, and one for the template's
    words."""
    placeholders: list[tuple[int, str]] = []
    aside = 0
    for line in markdown.lines:
        if line.heading is not None and not 0 < aside < line.heading.level:
            aside = line.heading.level if kind_of(line.heading.title) is Kind.ASIDE else 0
        if line.is_code or "[" not in line.text:
            continue
        placeholders += [(line.number, match[0].rstrip("]")) for match in _LIKE["placeholder"].finditer(line.text)]
        if not aside:
            for match in _LIKE["open"].finditer(line.text):
                yield warning(markdown.at(line.number), _asks(match["question"]))
    if placeholders:
        lines = listed(number for number, _ in placeholders)
        what = f"half-written: the template's words `{placeholders[0][1]}]` and such stand in {lines}. Replace them"
        yield warning(markdown.at(placeholders[0][0]), what)


def _asks(question: str) -> str:
    asked = " ".join(question.lstrip(":： ").split())[:_LONGEST]
    asked = asked or "no question is written"
    end = "" if asked.endswith(("?", "？", ".", "。")) else "."
    return f"needs clarification: {asked}{end} Planned as it stands; answer it in the text"
