"""What tasks name in their words: requirements of the change, and other tasks. Where tasks begin is not read here."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from agent_fox.specs.id_ranges import PartIndex
from agent_fox.specs.openspec.words import ids_in, same

_QUOTED = re.compile(r"`([^`]{1,300})`|\"([^\"]{1,300})\"|“([^”]{1,300})”|「([^」]{1,300})」|\*\*([^*]{1,300})\*\*")
_FIELD = re.compile(
    r"(?:^|(?<=[\s(_*\[>]))(?:requirements?|scenarios?|需求|要件|要求|场景)[*_]{0,3}\s?[:\uff1a]\s?[*_]{0,3}\s?(?P<named>\S.*)$",
    re.IGNORECASE,
)
_FIELD_BEGINS = re.compile(r"[\s_*(\[>-]{0,8}(?:requirements?|需求|要件|要求)[*_]{0,3}\s?[:\uff1a]", re.IGNORECASE)
_SCENARIO_OF = re.compile(r"^(?P<title>.+?)\s*(?:[/>→]|\s-\s|\bscenario\b)", re.IGNORECASE)
_AFTER = re.compile(
    r"(?:\b(?:depend(?:s|encies|ency)?(?:\s(?:up)?on)?|blocked by|after\stasks?)\b|依赖|依存)[*_]{0,3}\s{0,3}[:\uff1a]?"
    r"(?P<named>(?:[^.;。；\n]|\.(?=\d))*)",
    re.IGNORECASE,
)
_TASK = re.compile(r"(?<![\w.])(?:T-?\d{1,5}|\d{1,6}(?:\.\d{1,6}){0,5})(?![\w])")
_KEBAB = re.compile(r"(?<![\w/.`-])[a-z0-9]{1,60}(?:-[a-z0-9]{1,60})+(?![\w/-]|\.\w)")
_LONGEST, _LONGEST_TEXT = 400, 20_000
_NO_TASK = re.compile(r"\b(?:none|nothing|no|not)\b|无", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Names:
    """The parts that a capability's name, a requirement's title or id, or a scenario's title stands for."""

    titles: Mapping[str, Sequence[str]]
    capabilities: Mapping[str, Sequence[str]]
    index: PartIndex

    def parts_in(self, texts: Iterable[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The parts that texts name, in the order of the texts, and what a field names that is not there."""
        found: dict[str, None] = {}
        unknown: dict[str, None] = {}
        for text in (text[:_LONGEST_TEXT] for text in texts):
            parts = [part for name in _names(text) for part in self._titled(name) or self._of_capability(name)]
            field = _FIELD.search(text)
            if field is not None:
                in_field, missing = self._in_field(field["named"])
                parts += in_field
                unknown.update(dict.fromkeys([missing] if missing and _FIELD_BEGINS.match(text) else []))
            found.update(dict.fromkeys(parts))
        return tuple(found), tuple(unknown)

    def _in_field(self, written: str) -> tuple[Sequence[str], str]:
        """`Requirement: T`, or several with commas between; ids of the change count too."""
        whole = written.strip('_*`"()[] .')
        if parts := self._titled(whole):
            return parts, ""
        items = [item.strip('_*`"()[] .') for item in re.split(r"[,;、，；]", whole)]
        parts = [part for item in items for part in self._titled(item) or self._of_capability(item)]
        parts = parts or list(self.index.expand(whole)[0])
        is_named = parts or any(self._titled(name) or self._of_capability(name) for name in _names(written))
        return parts, "" if is_named else whole

    def _titled(self, title: str) -> Sequence[str]:
        if parts := self.titles.get(same(title)):
            return parts
        found = _SCENARIO_OF.match(title[:_LONGEST])
        return self.titles.get(same(found["title"]), ()) if found else ()

    def _of_capability(self, name: str) -> Sequence[str]:
        """All that a capability asks for. A name of one word counts in backticks or quotes alone."""
        return self.capabilities.get(same(name.removeprefix("specs/").removesuffix("/spec.md")), ())


def _names(text: str) -> list[str]:
    quoted = [next(group for group in found if group) for found in _QUOTED.findall(text)]
    return [*quoted, *ids_in(text), *_KEBAB.findall(text)]


def tasks_named(texts: Iterable[str], known: frozenset[str], own: str) -> tuple[str, ...]:
    """The numbers of other tasks that texts say must be done before."""
    found: dict[str, None] = {}
    for text in texts:
        for waits in _AFTER.finditer(text[:_LONGEST_TEXT]):
            if not _NO_TASK.search(waits["named"][:40]):
                found.update(dict.fromkeys(n for n in _TASK.findall(waits["named"]) if n in known and n != own))
    return tuple(found)
