"""What tasks name in their words: requirements of the change, and other tasks. Where tasks begin is not read here."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING

from agent_fox.specs.openspec.words import ids_in, same
from agent_fox.specs.word_tables import patterns_in

if TYPE_CHECKING:
    from agent_fox.specs.common.id_ranges import PartIndex

_LIKE = patterns_in(__file__)
_LONGEST, _LONGEST_TEXT = 400, 20_000
_FEWEST_LETTERS, _FEWEST_WORDS, _MOST_WORDS = 6, 3, 16


class Names:
    """The parts that a capability's name, a requirement's title or id, or a scenario's title stands for."""

    def __init__(
        self,
        titles: Mapping[str, Sequence[str]],
        scenarios: Mapping[str, Sequence[str]],
        capabilities: Mapping[str, Sequence[str]],
        index: PartIndex,
    ) -> None:
        self.index = index
        self._headings = {**capabilities, **titles}
        self._titles = {**scenarios, **titles}
        self._capabilities = capabilities
        # titles of several words are found where they stand in a text without any marks around them; one of one or two
        # words may be an ordinary phrase, and of a long one its first words count
        self._phrases: dict[tuple[str, ...], list[str]] = {}
        self._lengths: dict[str, list[int]] = {}
        for title, parts in self._titles.items():
            words = tuple(_LIKE["word"].findall(title)[:_MOST_WORDS])
            is_phrase = " " in title or not title.isascii()
            if is_phrase and len(words) >= _FEWEST_WORDS and sum(map(len, words)) >= _FEWEST_LETTERS:
                self._phrases.setdefault(words, []).extend(parts)
        for words in sorted(self._phrases, key=len, reverse=True):
            lengths = self._lengths.setdefault(words[0], [])
            lengths += [len(words)] if len(words) not in lengths else []

    def headed(self, headings: Iterable[str]) -> Iterator[str]:
        """The parts that headings are about: those that are a capability's name or a requirement's title, no more."""
        for name in dict.fromkeys(map(same, headings)):
            yield from self._headings.get(name) or self._capabilities.get(name.replace(" ", "-"), ())

    def parts_in(self, lines: Iterable[str], wrapped: Iterable[str] = ()) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The parts that lines name, in their order, and what a field names that is not there. In wrapped texts, fields
        are not looked for: where they end can't be told."""
        sequences: dict[int, Sequence[str]] = {}
        unknown: dict[str, None] = {}
        for text in (text[:_LONGEST_TEXT] for text in lines):
            sequences.update((id(parts), parts) for parts in self._mentioned(text))
            field = _LIKE["field"].search(text)
            if field is not None:
                in_field, missing = self._in_field(field["named"])
                sequences.update((id(parts), parts) for parts in in_field)
                unknown.update(dict.fromkeys([missing] if missing and _LIKE["field_begins"].match(text) else []))
        for text in wrapped:
            sequences.update((id(parts), parts) for parts in self._mentioned(text[:_LONGEST_TEXT]))
        return tuple(dict.fromkeys(part for parts in sequences.values() for part in parts)), tuple(unknown)

    def _mentioned(self, text: str) -> Iterator[Sequence[str]]:
        """What a text names anywhere: in quotes, by an id, or by a title of several words."""
        yield from (self._meant(name) for name in _names(text))
        words = _LIKE["word"].findall(text.casefold()) if self._lengths else ()
        for place, word in enumerate(words):  # the longest title that begins at each
            titles = (tuple(words[place : place + length]) for length in self._lengths.get(word, ()))
            yield from islice((parts for title in titles if (parts := self._phrases.get(title))), 1)

    def _in_field(self, written: str) -> tuple[list[Sequence[str]], str]:
        """`Requirement: T`, or several with commas between; ids of the change count too."""
        whole = written.strip('_*`"()[] .')
        if parts := self._titled(whole):
            return [parts], ""
        items = [item.strip('_*`"()[] .') for item in re.split(r"[,;、，；]", whole)]
        meant = [parts for item in items if (parts := self._meant(item))]
        if meant or any(self._meant(name) for name in _names(written)):
            return meant, ""
        expanded, missing = self.index.expand(whole)
        return [expanded], ", ".join(missing) if expanded else whole

    def _meant(self, name: str) -> Sequence[str]:
        """What a name stands for. That of a capability counts where it is marked as a name: in backticks or quotes."""
        capability = same(name.removeprefix("specs/").removesuffix("/spec.md"))
        return self._titled(name) or self._capabilities.get(capability, ())

    def _titled(self, title: str) -> Sequence[str]:
        if parts := self._titles.get(same(title)):
            return parts
        match = _LIKE["scenario_of"].match(title[:_LONGEST])
        return self._titles.get(same(match["title"]), ()) if match else ()


def _names(text: str) -> list[str]:
    quoted = [next(group for group in groups if group) for groups in _LIKE["quoted"].findall(text)]
    return [*quoted, *ids_in(text), *_LIKE["kebab"].findall(text)]


def tasks_named(texts: Iterable[str], known: frozenset[str], own: str) -> tuple[str, ...]:
    """The numbers of other tasks that texts say must be done before."""
    numbers: dict[str, None] = {}
    for text in texts:
        for waits in _LIKE["after"].finditer(text[:_LONGEST_TEXT]):
            if not _LIKE["no_task"].search(waits["named"][:40]):
                numbers |= dict.fromkeys(_LIKE["task"].findall(waits["named"]))
    return tuple(number for number in numbers if number in known and number != own)
