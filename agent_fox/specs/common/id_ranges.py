"""Requirement ids as people list them: no prefix, ranges, `.*`, `all`. Expands them to a spec's ids."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property

from agent_fox.core.spec import Requirement
from agent_fox.specs.word_tables import patterns_in

_LIKE = patterns_in(__file__)

Key = tuple[tuple[bool, int], ...]


def key_of(tail: str) -> Key:
    """What follows `REQ-` as a value that sorts as the file does: criteria first, then edge cases."""
    return tuple((part[:1] in "Ee", int(part.lstrip("Ee"))) for part in tail.split("."))


@dataclass
class PartIndex:
    """The ids that a spec expects, found by what people write for them: `every` part, and with the requirements' ids
    all `names`. Keys are made when something else than a name is written."""

    prefix: str
    names: dict[str, tuple[str, ...]] = field(default_factory=dict)
    every: tuple[str, ...] = ()
    requirements: tuple[str, ...] = ()

    @cached_property
    def parts(self) -> dict[Key, str]:
        return {key: identifier for identifier in self.every for key in _keys(identifier)}

    @cached_property
    def by_requirement(self) -> dict[Key, tuple[str, ...]]:
        return {key: self.names[identifier] for identifier in self.requirements for key in _keys(identifier)}

    def expand(self, text: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The ids that a list names, in its order, and what it names that this spec does not have."""
        listed = [self.names.get(name.strip()) for name in text.split(",")]
        if None not in listed:  # most lists
            return tuple(dict.fromkeys(identifier for ids in listed for identifier in ids or ())), ()
        written = _LIKE["aside"].sub(" ", " ".join(text.split()))
        if _LIKE["all"].search(written) and not _LIKE["reference"].search(written):
            return self.every, ()
        names: dict[str, None] = {}
        unknown: dict[str, None] = {}
        for name, ids in self._read(_LIKE["dashes"].sub("-", written)):
            names.update(dict.fromkeys(ids))
            if not ids:
                unknown[name] = None
        return tuple(names), tuple(unknown)

    def _read(self, text: str) -> Iterator[tuple[str, tuple[str, ...]]]:
        """Each name with its ids. A bare number names a requirement only where nothing else stands beside it."""
        for item in _LIKE["between"].split(text):
            name = item.replace("**", "").strip("[]`_.:\"'()")
            if name in self.names:
                yield name, self.names[name]
                continue
            references = [
                match
                for match in _LIKE["reference"].finditer(name)
                if match["req"] or "." in match["tail"] or match["every"] or match[0] == name
            ]
            for reference in references:
                yield from self._named(reference)
            if not references and _LIKE["looks_like_an_id"].match(name):
                yield name, ()

    def _named(self, found: re.Match[str]) -> Iterator[tuple[str, tuple[str, ...]]]:
        name, key = found[0], key_of(found["tail"])
        end = _LIKE["tail_end"].match(found["end"] or "")
        foreign = (found["spec"], end[1] if end else None)
        if not all(map(self._is_own, filter(None, foreign))) or (found["end"] and not end):
            yield name, ()
        elif found["every"]:
            only_edges = "E" in found["every"].upper()
            below = (i for k, i in self.parts.items() if _is_below(k, key) and (k[-1][0] or not only_edges))
            yield name, tuple(below)
        elif end:  # all between two ends, in the order of the file; an end that does not exist is returned too
            last = key_of(end[2])
            last = (*key[: max(len(key) - len(last), 0)], *last)
            yield name, tuple(i for k, i in self.parts.items() if key <= k and (k <= last or _is_below(k, last)))
            yield f"an end of {name}", self._at(key) and self._at(last)
        else:
            yield name, self._at(key)

    def _is_own(self, number: str) -> bool:
        own = self.prefix
        return number == own or (number.isdigit() and own.isdigit() and int(number) == int(own))

    def _at(self, key: Key) -> tuple[str, ...]:
        return (self.parts[key],) if key in self.parts else self.by_requirement.get(key, ())


def index_of(requirements: Iterable[Requirement], prefix: str) -> PartIndex:
    """The index of a spec's requirements; `prefix` is the number its ids begin with, such as `04`."""
    names: dict[str, tuple[str, ...]] = {}
    every: list[str] = []
    known = tuple(requirements)
    for requirement in known:
        ids = tuple(part.id for part in requirement.parts)
        every += ids
        names[requirement.id] = ids
        names.update({i: (i,) for i in ids})
    return PartIndex(prefix, names, tuple(every), tuple(requirement.id for requirement in known))


def _keys(identifier: str) -> tuple[Key, ...]:
    """The key of a regular id; an id of another make is known by its name alone."""
    tail = identifier.rpartition("REQ-")[2]
    return (key_of(tail),) if _LIKE["regular"].fullmatch(tail) else ()


def _is_below(key: Key, above: Key) -> bool:
    return key[: len(above)] == above and len(key) > len(above)


def ascii_number(written: str) -> str:
    """A number with ASCII digits and no zeros before them, a letter after it as it stands: `０１．２` is `1.2`."""
    if written.isascii() and written.replace(".", "").isdigit() and not written.startswith("0") and ".0" not in written:
        return written
    parts = []
    for part in written.replace("．", ".").split("."):
        match = re.match(r"([Ee]?)(\d+)(.*)", part)
        parts.append(f"{match[1].upper()}{int(match[2])}{match[3]}" if match else part)
    return ".".join(parts)
