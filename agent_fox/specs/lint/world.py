"""What the rules look at: the plan, and one spec at a time with its documents; is it English? No rule is here."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from agent_fox.core.plan.blame import named_owners
from agent_fox.core.regex import regex
from agent_fox.specs.lint.pages import Page, TestEntries, entries_of, read_pages

if TYPE_CHECKING:
    from agent_fox.config import LintSettings
    from agent_fox.core.graph import Plan
    from agent_fox.core.spec import Spec

OPEN_QUESTION = "needs clarification: "
"""How the sentence of a problem begins that is an open question."""
_WORD = regex(r"[^\W\d_]{1,40}")
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
class World:
    """The plan as it was read, below `root`. `is_repository`: the files that specs speak of lie there too."""

    root: Path
    plan: Plan
    settings: LintSettings
    is_repository: bool

    @cached_property
    def questions(self) -> frozenset[str]:
        """The places of open questions that reading tells itself."""
        return frozenset(problem.where for problem in self.plan.problems if problem.what.startswith(OPEN_QUESTION))


@dataclass(frozen=True)
class Case:
    """One spec under the rules. Its pages are read once, and are gone with it.

    Of several specs in one file only the first has pages: what a file says is found once.
    """

    world: World
    spec: Spec
    has_pages: bool = True

    @cached_property
    def pages(self) -> tuple[Page, ...]:
        return tuple(read_pages(self.spec, self.world.root)) if self.has_pages else ()

    @cached_property
    def is_english(self) -> bool:
        return is_english(" ".join(part.text for part in self.spec.parts))

    @cached_property
    def owners(self) -> Mapping[str, tuple[int, ...]]:
        """The groups that answer for each part; none where neither tasks nor rows name it."""
        return named_owners(self.spec)

    @cached_property
    def test_entries(self) -> TestEntries:
        return entries_of(self.spec, self.pages)

    def page(self, *names: str) -> Page | None:
        return next((page for name in names for page in self.pages if page.name == name), None)


def is_english(text: str) -> bool:
    """Common English words are a good part of it. A text of few words is not judged."""
    words = _WORD.findall(text[:_LONGEST_LOOK].lower())
    if len(words) < _FEWEST_WORDS or not all(word.isascii() for word in words[: _FEWEST_WORDS * 2]):
        return False
    return sum(word in _COMMON for word in words) >= _LEAST_SHARE * len(words)
