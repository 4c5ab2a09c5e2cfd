"""The documents of a spec as the rules read them: raw lines, Markdown, and what a test specification has: its entries,
the requirements that they name, and who names the entries. No rule is here."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from agent_fox.core.regex import regex
from agent_fox.specs.common.id_ranges import PartIndex, index_of
from agent_fox.specs.document import Markdown, read_markdown
from agent_fox.specs.files import TextFile, read_text_file

if TYPE_CHECKING:
    from agent_fox.core.spec import Spec
    from agent_fox.specs.lines import Line


@dataclass(frozen=True)
class Page:
    """One document of a spec, by its name in the folder. Lines are numbered from 1, without their ends."""

    name: str
    file: TextFile

    @property
    def where(self) -> str:
        return self.file.where

    @cached_property
    def raw(self) -> list[str]:
        return self.file.text.split("\n")

    @cached_property
    def markdown(self) -> Markdown:
        """The page as Markdown; empty for a page of another kind."""
        return read_markdown(self.file) if self.name.endswith(".md") else Markdown(self.where, ())

    def at(self, number: int) -> str:
        return f"{self.where}:{number}"


def read_pages(spec: Spec, root: Path) -> Iterator[Page]:
    """Those documents that can be read; reading the spec reports what is wrong with the others."""
    for name, path in (spec.documents or _itself(spec)).items():
        read = read_text_file(root / path, root)
        if isinstance(read, TextFile):
            yield Page(name, read)


def _itself(spec: Spec) -> dict[str, str]:
    """A spec that is one file is its own document."""
    return {Path(spec.path).name: spec.path} if Path(spec.path).suffix else {}


_ENTRY = regex(r"(?<![\w-])TS-\d{1,9}-[A-Z]{0,10}-?\d{1,9}(?![A-Za-z0-9-])", re.IGNORECASE)
_JSON_ENTRY = regex(r'"id"[ \t]*:[ \t]*"(TS-[\w-]{1,60})"')
_REQUIREMENT = regex(r"(?<![\w-])(?:\d{1,9}-)?REQ-\d{1,9}(?:\.E?\d{1,9})*(?![A-Za-z0-9*])")
_FIELD = regex(r"\W{0,8}(?:requirements?|validates|verifies|covers|traces)\b[^:]{0,40}:", re.IGNORECASE)
_DECLARES = regex(r"\s*(?:\||\*\*|[-*+]\s|\d{1,4}[.)]\s)")
_DOCUMENTS = ("test_spec.md", "test_spec.json")


@dataclass(frozen=True)
class TestEntries:
    """`declared` entries; requirement ids they have `named`, or that the spec does not know (with their places);
    entries `mentioned` elsewhere, with their places."""

    __test__ = False

    declared: frozenset[str] = frozenset()
    named: frozenset[str] = frozenset()
    unknown: tuple[tuple[str, str], ...] = ()
    mentioned: tuple[tuple[str, str], ...] = ()


def entries_of(spec: Spec, pages: Iterable[Page]) -> TestEntries:
    """Read from the spec's own documents; empty where it has no test specification."""
    pages = tuple(pages)
    page = next((page for page in pages if page.name in _DOCUMENTS), None)
    if page is None:
        return TestEntries()
    declared = frozenset(_declared(page))
    index = index_of(spec.requirements, spec.name.partition("_")[0])
    named: set[str] = set()
    unknown: dict[tuple[str, str], None] = {}
    for number, text in _fields(page):
        ids, left = _read(index, text)
        named.update(ids)
        unknown.update(dict.fromkeys((name, f"{page.where}:{number}") for name in left))
    return TestEntries(declared, frozenset(named), tuple(unknown), tuple(_mentioned(pages, declared)))


def _declared(page: Page) -> Iterator[str]:
    if page.name.endswith(".json"):
        yield from (match[1].upper() for match in _JSON_ENTRY.finditer(page.file.text))
        return
    for line in page.markdown.lines:
        if not line.is_code and (line.heading is not None or _DECLARES.match(line.text)):
            yield from (name.upper() for name in _ENTRY.findall(line.text))


def _fields(page: Page) -> Iterator[tuple[int, str]]:
    """Lines that say which requirements an entry shows: fields, and the rows of tables."""
    if page.name.endswith(".json"):
        yield from ((number, line) for number, line in enumerate(page.raw, 1) if "REQ-" in line)
        return
    open_field = False
    for line in page.markdown.lines:
        open_field = _is_field(line) or (open_field and not line.is_blank and not line.text.lstrip().startswith("**"))
        if open_field and not line.is_code:
            yield line.number, line.text


def _is_field(line: Line) -> bool:
    return not line.is_code and (_FIELD.match(line.text) is not None or line.text.lstrip().startswith("|"))


def _read(index: PartIndex, text: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The ids that a line names. What it does not write as a whole id is no reference that could be stale."""
    body = text.partition(":")[2] if _FIELD.match(text) else text
    ids, unknown = index.expand(body.replace("|", " "))
    whole = set(_REQUIREMENT.findall(body))
    own = [name for name in unknown if name in whole and _is_own(name, index.prefix)]
    return ids, tuple(own)


def _is_own(name: str, prefix: str) -> bool:
    number = name.partition("-REQ-")[0]
    return "PROP" not in name and (not number.isdecimal() or not prefix.isdecimal() or int(number) == int(prefix))


def _mentioned(pages: Iterable[Page], declared: frozenset[str]) -> Iterator[tuple[str, str]]:
    """Entries that tasks name. An entry of another spec is that one's, so its number must be one that is used here."""
    numbers = {name.split("-")[1] for name in declared}
    for page in pages:
        if not page.name.startswith("tasks."):
            continue
        for number, line in _lines(page):
            if "TS-" in line.upper():
                names = _ENTRY.findall(line)
                yield from ((n.upper(), page.at(number)) for n in names if n.split("-")[1] in numbers)


def _lines(page: Page) -> Iterator[tuple[int, str]]:
    """The lines of a page that are neither code nor in a comment."""
    if page.name.endswith(".md"):
        return ((line.number, line.text) for line in page.markdown.lines if not line.is_code)
    return enumerate(page.raw, 1)
