"""Which spec a test is about, by the names that it gives: in its words, its class, its path. Fail closed.

A name of one word, such as `auth`, is an ordinary word too: in prose it counts only where it is said to be a spec.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from agent_fox.core.regex import regex
from agent_fox.verifier.ground.sources import flat

_NUMBER = regex(r"^\d+[-_.]+(?=\D)")
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
    """Flat name to spec, the longest first: as it is, and without its number where nobody else is called that."""
    wanted = {(flat(alias), name) for name in names for alias in (name, _NUMBER.sub("", name))}
    times = Counter(alias for alias, _ in wanted)
    alone = [(alias, name) for alias, name in wanted if alias.isascii() and alias and times[alias] == 1]
    return dict(sorted(alone, key=lambda one: (-len(one[0]), one)))


def _prose(aliases: Iterable[str]) -> str:
    """`locking_service` as prose has it: `locking-service`, `locking_service`, `LockingService`."""
    return "|".join(alias.replace("_", "[-_]?") for alias in aliases)
