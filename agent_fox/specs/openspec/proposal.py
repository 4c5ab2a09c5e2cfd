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
        for line in document.lines:
            if line.heading is not None and line.heading.level == 1:
                named = _LIKE["kind_of_document"].sub("", line.heading.title, count=1)
                title = _LIKE["kind_after"].sub("", named).strip("*_` ")
                if title:
                    return title
                break
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
            names = _names(sentence, 0 if is_section or waits is None else waits.end(), is_change)
            if names and not _LIKE["no_wait"].search(_without(names, sentence)):
                yield from ((name, _line_of(name, lines)) for name in names)


def _names(sentence: str, begins: int, is_change: Callable[[str], bool]) -> list[str]:
    """The changes that a sentence names. A name that may be an ordinary word counts in backticks alone."""
    names = []
    for match in _LIKE["name"].finditer(sentence, begins):
        quoted, plain = (match["quoted"] or "").strip("/"), (match["plain"] or "").rstrip("-_")
        names.append(quoted.rpartition("/")[2] or (plain if "-" in plain or "_" in plain else ""))
    return [name for name in names if name and is_change(name)]


def _without(names: list[str], sentence: str) -> str:
    """A sentence without the names in it: `remove-not-found` denies nothing."""
    for name in names:
        sentence = sentence.replace(name, " ")
    return sentence


def _line_of(name: str, lines: list[Line]) -> int:
    return next((line.number for line in lines if name in line.text), lines[0].number)


def _paragraphs(lines: Iterable[Line]) -> Iterator[tuple[bool, list[Line]]]:
    """Paragraphs and list items, each with whether it stands in a section about what is waited for."""
    section: int | None = None
    text: list[Line] = []
    for line in lines:
        if text and (line.heading or line.is_blank or line.is_code or _LIKE["item"].match(line.text)):
            yield section is not None, text
            text = []
        if line.heading is not None:
            is_below = section is not None and line.heading.level > section
            section = (
                section if is_below else line.heading.level if _LIKE["section"].match(line.heading.title) else None
            )
        elif not line.is_blank and not line.is_code:
            text.append(line)
    if text:
        yield section is not None, text
