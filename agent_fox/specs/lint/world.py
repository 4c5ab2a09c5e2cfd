"""What the rules look at: the plan, one spec at a time, and its documents as raw lines and as Markdown, what its test
specification has; is it English? No rule is here."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from agent_fox.core.plan.blame import named_owners
from agent_fox.core.regex import regex
from agent_fox.specs.common.id_ranges import PartIndex, index_of
from agent_fox.specs.document import Markdown, read_markdown
from agent_fox.specs.files import TextFile, read_text_file
from agent_fox.specs.word_tables import patterns_in

if TYPE_CHECKING:
    from agent_fox.config import LintSettings
    from agent_fox.core.graph import Plan
    from agent_fox.core.spec import Spec

_LIKE = patterns_in(__file__)

ENTRY = regex(r"(?<![\w-])TS-\d{1,9}-[A-Z]{0,10}-?\d{1,9}(?![A-Za-z0-9-])", re.IGNORECASE)
OPEN_QUESTION = "needs clarification: "
"""How the sentence of a problem begins that is an open question."""
_COMMON = frozenset(
    re.findall(
        r"\w+",
        "a an and any are as at be been by can do does for from given has have if in into is it its may must no not of "
        "on only or shall should so than that the their then there they this to under was when where which while will "
        "with without",
    )
)
_FEWEST_WORDS = 6
_LEAST_SHARE = 0.15
_LONGEST_LOOK = 20_000


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

    @property
    def lines(self) -> Iterator[tuple[int, str]]:
        """The lines that are neither code nor in a comment."""
        if self.name.endswith(".md"):
            return ((line.number, line.text) for line in self.markdown.words)
        return enumerate(self.raw, 1)

    def at(self, number: int) -> str:
        return f"{self.where}:{number}"


@dataclass(frozen=True)
class World:
    """The plan as it was read, below `root`. `is_repository`: the files that specs speak of lie there too."""

    root: Path
    plan: Plan
    settings: LintSettings
    is_repository: bool

    @cached_property
    def first_modified(self) -> dict[tuple[str, str], tuple[Spec, str]]:
        """By capability and title the change that was seen first to modify it, with the place; as far as was looked."""
        return {}

    @cached_property
    def questions(self) -> frozenset[str]:
        """The places of open questions that reading tells itself."""
        return frozenset(problem.where for problem in self.plan.problems if problem.what.startswith(OPEN_QUESTION))


@dataclass(frozen=True)
class Case:
    """One spec under the rules. Its pages are those documents that can be read; reading the spec reports what is wrong
    with the others. A spec that is one file is its own document.

    Of several specs in one file only the first has pages: what a file says is found once.
    """

    world: World
    spec: Spec
    has_pages: bool = True

    @cached_property
    def pages(self) -> tuple[Page, ...]:
        spec, root = self.spec, self.world.root
        itself = {Path(spec.path).name: spec.path} if Path(spec.path).suffix else {}
        named = (spec.documents or itself).items() if self.has_pages else ()
        read = ((name, read_text_file(root / path, root)) for name, path in named)
        return tuple(Page(name, file) for name, file in read if isinstance(file, TextFile))

    @cached_property
    def is_english(self) -> bool:
        return is_english(" ".join(part.text for part in self.spec.parts))

    @cached_property
    def owners(self) -> Mapping[str, tuple[int, ...]]:
        """The groups that answer for each part; none where neither tasks nor rows name it."""
        return named_owners(self.spec)

    @cached_property
    def test_entries(self) -> TestEntries:
        page = self.page("test_spec.md", "test_spec.json")
        if page is None:
            return TestEntries()
        index = index_of(self.spec.requirements, self.spec.name.partition("_")[0])
        read = [(page.at(number), *_read(index, text)) for number, text in _fields(page)]
        named = (name for _, ids, _ in read for name in ids)
        unknown = dict.fromkeys((name, where) for where, _, left in read for name in left)
        lines = (line for line in page.markdown.words if line.heading is not None or _LIKE["declares"].match(line.text))
        written = _LIKE["json_entry"].findall(page.file.text) if page.name.endswith(".json") else []
        declared = (*written, *(name for line in lines for name in ENTRY.findall(line.text)))
        return TestEntries(frozenset(map(str.upper, declared)), frozenset(named), tuple(unknown))

    def page(self, *names: str) -> Page | None:
        """The first that has one of the names."""
        return next((page for name in names for page in self.pages if page.name == name), None)


@dataclass(frozen=True)
class TestEntries:
    """What a test specification has: `declared` entries, requirement ids they have `named`, and ids `unknown` to the
    spec, with their places."""

    __test__ = False

    declared: frozenset[str] = frozenset()
    named: frozenset[str] = frozenset()
    unknown: tuple[tuple[str, str], ...] = ()


def _fields(page: Page) -> Iterator[tuple[int, str]]:
    """Lines that say which requirements an entry shows: fields, and the rows of tables."""
    if page.name.endswith(".json"):
        yield from ((number, line) for number, line in enumerate(page.raw, 1) if "REQ-" in line)
    is_open = False
    for line in page.markdown.lines:
        bare = line.text.lstrip()
        is_field = not line.is_code and (_LIKE["entry_field"].match(line.text) is not None or bare.startswith("|"))
        is_open = is_field or (is_open and not line.is_blank and not bare.startswith("**"))
        if is_open and not line.is_code:
            yield line.number, line.text


def _read(index: PartIndex, text: str) -> tuple[tuple[str, ...], list[str]]:
    """The ids that a line names, and those that are unknown. What it does not write as a whole id is no reference that
    could be stale, nor is an id with the number of another spec."""
    body = text.partition(":")[2] if _LIKE["entry_field"].match(text) else text
    ids, unknown = index.expand(body.replace("|", " "))
    whole = {name: name.partition("-REQ-")[0] for name in _LIKE["requirement"].findall(body)}
    own = int(index.prefix) if index.prefix.isdecimal() else None
    others = {name for name, number in whole.items() if own is not None and number.isdecimal() and int(number) != own}
    return ids, [name for name in unknown if name in whole and name not in others and "PROP" not in name]


def is_english(text: str) -> bool:
    """Common English words are a good part of it. A text of few words is not judged."""
    words = _LIKE["word"].findall(text[:_LONGEST_LOOK].lower())
    if len(words) < _FEWEST_WORDS or not all(word.isascii() for word in words[: _FEWEST_WORDS * 2]):
        return False
    return sum(word in _COMMON for word in words) >= _LEAST_SHARE * len(words)
