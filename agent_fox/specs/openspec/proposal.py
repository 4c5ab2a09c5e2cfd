"""What a change says in prose: its title, and the other changes that it waits for. Tasks are not read here."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import TYPE_CHECKING

from agent_fox.core.spec import Dependency, Problem
from agent_fox.specs.files import warning
from agent_fox.specs.word_tables import patterns_in

if TYPE_CHECKING:
    from agent_fox.specs.document import Markdown
    from agent_fox.specs.lines import Line

_LIKE = patterns_in(__file__)
_LONGEST = 4_000


def title_in(documents: Iterable[Markdown]) -> str:
    """The first heading of rank 1, without what it says about the kind of document."""
    for document in documents:
        tops = (line.heading.title for line in document.lines if line.heading is not None and line.heading.level == 1)
        named = _LIKE["kind_of_document"].sub("", next(tops, ""), count=1)
        if title := _LIKE["kind_after"].sub("", named).strip("*_` "):
            return title
    return ""


def waits_for(
    documents: Iterable[Markdown], is_change: Callable[[str], bool]
) -> tuple[tuple[Dependency, ...], tuple[Problem, ...]]:
    """The other changes that prose says this one depends on, each once, and a word about each."""
    waits: dict[str, str] = {}
    is_known = cache(is_change)
    for document in documents:
        for name, line in _named(document, is_known):
            waits.setdefault(name, document.at(line))
    rows = tuple(Dependency(name, None, None, where, is_archived=True) for name, where in waits.items())
    what = "waits for {}: read from prose. Correct the sentence if it does not"
    return rows, tuple(warning(where, what.format(name)) for name, where in waits.items())


def _named(document: Markdown, is_change: Callable[[str], bool]) -> Iterator[tuple[str, int]]:
    for is_section, lines in _paragraphs(document.lines):
        text = " ".join(line.text.strip() for line in lines)[:_LONGEST]
        for sentence in _LIKE["sentence_ends"].split(text):
            waits = _LIKE["waits"].search(sentence)
            if waits is None and not is_section:
                continue
            begins = 0 if is_section or waits is None else waits.end()
            names = [name for name in _names(sentence, begins) if name and is_change(name)]
            rest = sentence
            for name in names:  # `remove-not-found` denies nothing
                rest = rest.replace(name, " ")
            if names and not _LIKE["no_wait"].search(rest):
                for name in names:
                    yield name, next((line.number for line in lines if name in line.text), lines[0].number)


def _names(sentence: str, begins: int) -> Iterator[str]:
    """What may be names of changes. One that may be an ordinary word counts in backticks alone."""
    for match in _LIKE["name"].finditer(sentence, begins):
        quoted, plain = (match["quoted"] or "").strip("/"), (match["plain"] or "").rstrip("-_")
        yield quoted.rpartition("/")[2] or (plain if "-" in plain or "_" in plain else "")


def _paragraphs(lines: Iterable[Line]) -> Iterator[tuple[bool, list[Line]]]:
    """Paragraphs and list items, each with whether it stands in a section about what is waited for."""
    section: int | None = None
    text: list[Line] = []
    for line in lines:
        if text and (line.heading or line.is_blank or line.is_code or _LIKE["item"].match(line.text)):
            yield section is not None, text
            text = []
        if line.heading is not None:
            level, is_one = line.heading.level, _LIKE["section"].match(line.heading.title) is not None
            section = section if section is not None and level > section else level if is_one else None
        elif not line.is_blank and not line.is_code:
            text.append(line)
    if text:
        yield section is not None, text
