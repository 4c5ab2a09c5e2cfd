"""Which requirement and which criterion of an earlier reading each one of a new reading is, by their texts.

What they are called then is not here.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import field
from typing import TypeVar

from agent_fox.core.plan.likeness import Near, Pairs, Words, by_place, common_words, exactly, words_of
from agent_fox.core.regex import regex
from agent_fox.core.spec import Criterion, Requirement, Spec, text_version
from agent_fox.core.values import dataclass

LEAST_LIKENESS = 0.5
LEAST_ABROAD = 0.65
"""For a criterion that may have moved to another requirement."""

_DIGITS = regex(r"\d{1,9}")

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Former:
    """A spec as it was read before, under the ids it was given then.

    `used`: every id that its parts ever had, with the version of the text that it had last; empty where that is lost.
    """

    spec: Spec
    used: Mapping[str, str] = field(default_factory=dict)

    @property
    def gone(self) -> dict[str, str]:
        """The ids that none of its parts has any more, with the versions of their last texts."""
        known = frozenset(all_ids(self.spec))
        return {id: version for id, version in self.used.items() if version and id not in known}


class Match:
    """Which requirement and which criterion of the earlier reading each one of this reading is.

    `pairs`: ids as they are counted now to ids as they were known. `doubts`: what a text could as well have been.
    `rewritten` were paired by their place alone.
    """

    def __init__(self, spec: Spec, known: Spec, pairs: Pairs) -> None:
        written = frozenset(all_ids(spec)) - spec.implied
        self._implied = spec.implied
        self._taken = {*written, *pairs.values()}
        self.pairs: Pairs = {**pairs, **{id: id for id in all_ids(known) if id in written}}
        self.doubts: dict[str, tuple[str, ...]] = {}
        self.rewritten: set[str] = set()

    @property
    def kept(self) -> Pairs:
        """What the ids that the source does not write were known as."""
        return {id: name for id, name in self.pairs.items() if id in self._implied}

    def exactly(self, new: Mapping[str, Hashable], known: Mapping[str, Hashable], *, only_once: bool = False) -> None:
        """Texts that are equal; in order where one stands more than once, or not at all (`only_once`)."""
        self._add(exactly(self._open(new).items(), self._free(known).items(), only_once=only_once))

    def nearest(self, new: Mapping[str, Words], known: Mapping[str, Words], least: float) -> None:
        pairs, doubts = Near(self._open(new), self._free(known), least).pairs()
        self._add(pairs)
        self.doubts.update(doubts)

    def by_place(self, new: Sequence[str], known: Sequence[str]) -> None:
        """What is left between the same neighbours."""
        at_home = frozenset(known)
        anchors = {id: self.pairs[id] for id in new if self.pairs.get(id) in at_home}
        anchored = frozenset(anchors.values())
        here = [id for id in new if id in anchors or self._is_open(id)]
        there = [id for id in known if id in anchored or id not in self._taken]
        pairs = by_place(here, there, anchors)
        self._add(pairs)
        self.rewritten.update(pairs)

    def _add(self, pairs: Pairs) -> None:
        self.pairs.update(pairs)
        self._taken.update(pairs.values())

    def _is_open(self, id: str) -> bool:
        return id in self._implied and id not in self.pairs

    def _open(self, new: Mapping[str, T]) -> dict[str, T]:
        return {id: text for id, text in new.items() if self._is_open(id)}

    def _free(self, known: Mapping[str, T]) -> dict[str, T]:
        return {id: text for id, text in known.items() if id not in self._taken}


def recognised(spec: Spec, former: Former) -> Match:
    """What was known before, by its text or else by its place. What is new stands in no pair."""
    return _as_it_was(spec, former.spec) or _compared(spec, former)


def _as_it_was(spec: Spec, known: Spec) -> Match | None:
    """The match where every text is what and where it was: the usual case, and the quick one."""
    if [*map(_whole, spec.requirements)] != [*map(_whole, known.requirements)]:
        return None
    pairs = dict(zip(all_ids(spec), all_ids(known), strict=True))
    if any(id != name for id, name in pairs.items() if id not in spec.implied):
        return None
    return Match(spec, known, {id: name for id, name in pairs.items() if id in spec.implied})


def _compared(spec: Spec, former: Former) -> Match:
    known, gone = former.spec, former.gone
    match = Match(spec, known, {})
    _match_requirements(match, spec.requirements, known.requirements, gone)
    _match_criteria(match, spec, known, gone)
    _match_returned(match, spec, gone, {*all_ids(known), *former.used})
    return match


def _match_requirements(
    match: Match, new: Sequence[Requirement], known: Sequence[Requirement], gone: Mapping[str, str]
) -> None:
    """As a whole first, then by what alone may have stayed: the head, the title, the criteria; then what comes back;
    then by likeness."""
    for text_of in (_whole, _head, _title, _children):
        here, there = (
            {requirement.id: text_of(requirement) for requirement in new},
            {requirement.id: text_of(requirement) for requirement in known},
        )
        match.exactly(here, there, only_once=text_of is not _whole)
    match.exactly(_versions(part for requirement in new if not listed(requirement) for part in requirement.parts), gone)
    words, was = _telling(
        {requirement.id: words_of(_prose(requirement)) for requirement in new},
        {requirement.id: words_of(_prose(requirement)) for requirement in known},
    )
    match.nearest(words, was, LEAST_LIKENESS)
    match.by_place([requirement.id for requirement in new], [requirement.id for requirement in known])


def _match_criteria(match: Match, spec: Spec, known: Spec, gone: Mapping[str, str]) -> None:
    """Equal texts first, at home, then anywhere, then of what was gone; then by likeness in the same order; then by
    place at home."""
    homes = _homes(match, spec, known)
    for requirement, other in (*homes, (None, None)):
        match.exactly(_texts(spec, requirement), _texts(known, other))
    match.exactly(_versions(part for requirement in spec.requirements for part in listed(requirement)), gone)
    words, was = _telling(_own_words(spec), _own_words(known))
    for requirement, other in homes:
        match.nearest(_of(requirement, words), _of(other, was), LEAST_LIKENESS)
    match.nearest({id: own for id, own in words.items() if id not in match.doubts}, was, LEAST_ABROAD)
    for requirement, other in homes:
        match.by_place([part.id for part in requirement.criteria], [part.id for part in other.criteria])
        match.by_place([part.id for part in requirement.edge_cases], [part.id for part in other.edge_cases])


def _match_returned(match: Match, spec: Spec, gone: Mapping[str, str], ever: set[str]) -> None:
    """A requirement whose criteria come back goes by what stands before the dot in their ids, if nothing else did."""
    prefixes = {requirement.id: _former_head(match, requirement, gone) for requirement in spec.requirements}
    match.exactly(prefixes, {head: head for head in prefixes.values() if head and head not in ever})


def _former_head(match: Match, requirement: Requirement, gone: Mapping[str, str]) -> str | None:
    names = [match.pairs[part.id] for part in listed(requirement) if part.id in match.pairs]
    prefixes = {name.rpartition(".")[0] for name in names if name in gone}
    return prefixes.pop() if len(prefixes) == 1 else None


def _versions(parts: Iterable[Criterion]) -> dict[str, str]:
    return {part.id: text_version(part.text) for part in parts}


def _homes(match: Match, spec: Spec, known: Spec) -> list[tuple[Requirement, Requirement]]:
    """The requirements that are in both readings."""
    there = {requirement.id: requirement for requirement in known.requirements}
    names = [
        (requirement, match.pairs[requirement.id]) for requirement in spec.requirements if requirement.id in match.pairs
    ]
    return [(requirement, there[name]) for requirement, name in names if name in there]


def all_ids(spec: Spec) -> list[str]:
    return [
        id for requirement in spec.requirements for id in (requirement.id, *(part.id for part in listed(requirement)))
    ]


def listed(requirement: Requirement) -> tuple[Criterion, ...]:
    return requirement.criteria + requirement.edge_cases


def _plain(text: str) -> str:
    return " ".join(text.split())


def _whole(requirement: Requirement) -> Hashable:
    criteria, edge_cases = (tuple(_plain(part.text) for part in parts) for parts in _parts(requirement))
    return (_plain(requirement.title), _plain(requirement.text), criteria, edge_cases)


def _parts(requirement: Requirement) -> tuple[tuple[Criterion, ...], tuple[Criterion, ...]]:
    return requirement.criteria, requirement.edge_cases


def _head(requirement: Requirement) -> Hashable:
    return (_without_numbers(requirement.title), _plain(requirement.text)) if requirement.text.strip() else None


def _title(requirement: Requirement) -> Hashable:
    """The title without its numbers, since those may be counted too."""
    return _without_numbers(requirement.title) or None


def _children(requirement: Requirement) -> Hashable:
    return tuple(_plain(part.text) for part in listed(requirement)) or None


def _without_numbers(text: str) -> str:
    return _plain(_DIGITS.sub(" ", text))


def _prose(requirement: Requirement) -> str:
    return "\n".join((requirement.title, requirement.text, *(part.text for part in listed(requirement))))


def _texts(spec: Spec, home: Requirement | None) -> dict[str, Hashable]:
    """The criteria of one requirement, or of all."""
    requirements = spec.requirements if home is None else (home,)
    return {part.id: _plain(part.text) for requirement in requirements for part in listed(requirement)}


def _own_words(spec: Spec) -> dict[str, Words]:
    """The words of each criterion, without what it only repeats of its requirement, if anything is left then."""
    words: dict[str, Words] = {}
    for requirement in spec.requirements:
        above = words_of(f"{requirement.title}\n{requirement.text}")
        words.update((part.id, (own := words_of(part.text)) - above or own) for part in listed(requirement))
    return words


def _telling(new: Mapping[str, Words], known: Mapping[str, Words]) -> tuple[dict[str, Words], dict[str, Words]]:
    """The words that tell one text from another."""
    common = common_words([*new.values(), *known.values()])
    new_words, was = ({id: own - common or own for id, own in words.items()} for words in (new, known))
    return new_words, was


def _of(requirement: Requirement, words: Mapping[str, Words]) -> dict[str, Words]:
    return {part.id: words[part.id] for part in listed(requirement)}
