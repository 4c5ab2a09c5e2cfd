"""Finds ids that are no names by themselves, `1.2` or `FR-001`: other specs have them too. Fail closed.

A number is an id where it is called one (`Requirement 1.2`) or stands right beside the name of its spec; an id of
several specs only in a test that names this one, and no other. A wrong match would be a false proof.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import PurePosixPath

from agent_fox.core.regex import regex
from agent_fox.core.values import dataclass
from agent_fox.verifier.ground.sources import flat

COUNTED = regex(r"\d+(?:\.E?\d+)*")
"""An id that a number of a list is, without any letter of its own."""

_NUMBER = r"\d{1,9}(?:\.[eE]?\d{1,9}){0,8}"
_CALLED = regex(
    rf"(?<![^\W_])(?P<many>requirements?|reqs?\b\.?|acceptance criteri(?:on|a))[\s:#*_]{{0,4}}"
    rf"(?P<list>{_NUMBER}(?:(?:\s?[,;&]\s?|\s(?:and|or)\s|,\sand\s){_NUMBER}){{0,60}})"
    r"(?![^\W_]|-|\.\w|\s?[–—-]\s?\d|\sto\s\d|\.[*])(?P<after>\s+\w)?",
    re.IGNORECASE,
)
_ANY_NUMBER = regex(_NUMBER)
_END = r"(?![0-9a-z]|_\d)"


@dataclass(frozen=True, slots=True)
class NamedTest:
    """What a test says: its classes, its function, the words about it, and the file it is in."""

    classes: tuple[str, ...] = ()
    function: str = ""
    said: str = ""
    path: str = ""
    text: str = ""


class CountedIds:
    """Finds ids of one spec. `shared` are those that one of the `others` has, or had, too."""

    def __init__(self, ids: Iterable[str], spec: str = "", others: Iterable[str] = (), shared: Iterable[str] = ()):
        known = frozenset(ids)
        self._spec = spec
        self._shared = known & frozenset(shared)
        self._specs = SpecNames([spec, *others] if spec else others)
        self._numbers = {id.upper(): id for id in known if COUNTED.fullmatch(id)}
        self._words = {id.upper(): id for id in known if not COUNTED.fullmatch(id)}
        self._names = {flat(id): id for id in known}
        self._called_in_name = self._name_pattern(self._numbers.values(), r"(?<!\d_)(?:req|requirement)s?_")
        self._word_in_name = self._name_pattern(self._words.values(), "")
        beside = "|".join(self._specs.aliases(spec)) if spec else ""
        self._beside_in_name = self._name_pattern(known if beside else (), rf"(?:{beside})_(?:(?:req|requirement)s?_)?")
        self._word = _alternatives(self._words, r"(?<![\w-])", r"(?![\w-]|\.\w)")
        prose = beside.replace("_", "[-_]?").upper()
        of_spec = rf"(?<![\w-])(?:{prose})[`'\"*]?(?:/|#|:?\s{{1,2}})(?:REQ(?:UIREMENT)?S?[\s.:#]{{1,2}})?"
        self._beside = _alternatives(known if beside else (), of_spec, r"(?![\w-]|\.\w)")

    def named_by(self, test: NamedTest) -> frozenset[str]:
        """The ids that the test is about."""
        loose = frozenset(self._loose(test))
        return frozenset(self._beside_spec(test)) | self._allowed(loose, test)

    def _name_pattern(self, ids: Iterable[str], before: str) -> re.Pattern[str]:
        names = "|".join(sorted((re.escape(flat(id)) for id in ids), key=len, reverse=True))
        return re.compile(rf"(?<![0-9a-z]){before}({names or '(?!)'}){_END}")

    def _beside_spec(self, test: NamedTest) -> Iterator[str]:
        """Right after the name of the spec: `test_locking_service_1_2`, `locking-service/1.2`."""
        known = self._numbers | self._words
        for name in (*test.classes, test.function):
            yield from (self._names[each] for each in self._beside_in_name.findall(flat(name)))
        yield from (known[each] for each in self._beside.findall(test.said.upper()))

    def _loose(self, test: NamedTest) -> Iterator[str]:
        """Called an id, but not of which spec. Each class and the function speak for themselves."""
        for pattern in (self._called_in_name, self._word_in_name):
            for name in (*test.classes, test.function):
                yield from (self._names[each] for each in pattern.findall(flat(name)))
        yield from (self._words[each] for each in self._word.findall(test.said.upper()))
        for listed in _called(test.said):
            yield from (self._numbers[number] for number in listed if number in self._numbers)

    def _allowed(self, ids: frozenset[str], test: NamedTest) -> frozenset[str]:
        """Those of the ids that belong to this spec alone, as far as the test names a spec."""
        if not ids:
            return ids
        path = [PurePosixPath(test.path).name.partition(".")[0], *PurePosixPath(test.path).parts[:-1]]
        near = [self._specs.in_text(test.said), self._specs.in_names(test.classes), self._specs.in_names(path)]
        nearest = next((names for names in near if names), frozenset[str]())
        if nearest and self._spec not in nearest:
            return frozenset()
        owners = nearest or self._specs.in_text(test.text)
        return ids if owners == {self._spec} else ids - self._shared


def _called(text: str) -> Iterator[Sequence[str]]:
    """The lists of numbers that are called requirements. One without a dot is a count if more words follow it."""
    for each in _CALLED.finditer(text):
        numbers = [number.upper() for number in _ANY_NUMBER.findall(each["list"])]
        is_prose = bool(each["after"]) and not any("." in number for number in numbers)
        if not (is_prose and each["many"].lower().endswith(("s", "a"))):
            yield numbers


def _alternatives(ids: Iterable[str], before: str, after: str) -> re.Pattern[str]:
    words = "|".join(sorted((re.escape(id.upper()) for id in ids), key=len, reverse=True))
    return re.compile(rf"{before}({words or '(?!)'}){after}")


_NAMED_NUMBER = regex(r"^\d+[-_.]+(?=\D)")
_SAID = r"\b(?:feature|spec|change)s?[\s:=/`'\"*_]{1,4}"
_KIND_OF_TEST = regex(r"(?:^|(?<=_))(?:tests?|specs?|suite|unit|integration|e2e|property|properties)(?:_|$)")
_NOTHING = "(?!)"


class SpecNames:
    """The names of the specs of a plan, and where they are found."""

    def __init__(self, names: Iterable[str]) -> None:
        self._of = _aliases(names)
        many = [alias for alias in self._of if "_" in alias]
        single_words = [alias for alias in self._of if "_" not in alias]
        self._inside = re.compile(rf"(?<![0-9a-z])(?:{'|'.join(many) or _NOTHING})(?![0-9a-z])")
        words = rf"(?<![\w-])(?:{_prose(many)})(?![\w-])|{_SAID}(?:{_prose(single_words)})(?![\w-]|[./]\w)"
        self._in_prose = re.compile(words.replace("(?:)", _NOTHING))

    def aliases(self, name: str) -> list[str]:
        """What a spec may be called, flat: `locking_service`; the longest first."""
        return [alias for alias, spec in self._of.items() if spec == name]

    def in_text(self, text: str) -> frozenset[str]:
        """The specs that a docstring, a comment or a file names."""
        words_before = (re.split(r"[\s:=/`'\"*]", words)[-1] for words in self._in_prose.findall(text.lower()))
        bare = {alias.replace("_", ""): spec for alias, spec in self._of.items()}
        return frozenset(bare[word] for name in words_before if (word := re.sub("[-_]", "", name)) in bare)

    def in_names(self, names: Sequence[str]) -> frozenset[str]:
        """The specs that classes, or the parts of a path, are called after."""
        return frozenset(spec for name in names for spec in self._in_name(flat(name)))

    def _in_name(self, name: str) -> list[str]:
        whole = _KIND_OF_TEST.sub("", name).strip("_")
        return [self._of[whole]] if whole in self._of else [self._of[each] for each in self._inside.findall(name)]


def _aliases(names: Iterable[str]) -> dict[str, str]:
    """Flat name to spec, the longest first: as it is, and without its number where no other spec has that name."""
    wanted = {(flat(alias), name) for name in names for alias in (name, _NAMED_NUMBER.sub("", name))}
    times = Counter(alias for alias, _ in wanted)
    alone = [(alias, name) for alias, name in wanted if alias.isascii() and alias and times[alias] == 1]
    return dict(sorted(alone, key=lambda one: (-len(one[0]), one)))


def _prose(aliases: Iterable[str]) -> str:
    """`locking_service` as prose has it: `locking-service`, `locking_service`, `LockingService`."""
    return "|".join(alias.replace("_", "[-_]?") for alias in aliases)
