"""Which languages have mutants and twins here, and where they are."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

from agent_fox.core.values import dataclass
from agent_fox.verifier.policy.discovery import language_of as spoken_in
from agent_fox.verifier.policy.values import Language

if TYPE_CHECKING:
    from agent_fox.verifier.mutants.sites import Site

Named = tuple[tuple[str, ...], str]
"""A test by its classes, from outside to inside, and its function."""

_SCRIPT = ("script_sites", "script_twins")
_COMPILED = ("compiled_sites", "compiled_twins")
_SCRIPTS = (Language.JAVASCRIPT, Language.TYPESCRIPT, Language.TSX)
_MODULES = {
    Language.PYTHON: ("python_sites", "python_twin"),
    **dict.fromkeys(_SCRIPTS, _SCRIPT),
    **dict.fromkeys((Language.GO, Language.JAVA, Language.RUST), _COMPILED),
}


@dataclass(frozen=True, slots=True)
class Mutants:
    """What can be broken in a text of one language, and its tests with a false assertion at their end.

    The modules are loaded when they are first asked: they load grammars. Raises ImportError where these are missing.
    """

    language: Language

    def sites(self, text: str) -> tuple[Site, ...]:
        """Every place, in the order of the text. Raises Unreadable."""
        made: tuple[Site, ...] = self._module(0).sites(text, *self._arguments)
        return made

    def broken(self, text: str, chosen: Iterable[Site]) -> str:
        """The text with these places broken at once."""
        made: str = self._module(0).broken(text, chosen, *self._arguments)
        return made

    def twins(self, text: str, tests: Sequence[Named], mark: str) -> tuple[str, frozenset[Named]]:
        """The text in which each of these tests ends with a false assertion, and those for which that could be made.

        In Python all at once, in other languages one after the other.
        """
        if self.language is Language.PYTHON:
            made: tuple[str, frozenset[Named]] = self._module(1).twins(text, tests, mark)
            return made
        done = set()
        for classes, function in tests:
            twin = self._module(1).twin(text, classes, function, mark, *self._arguments)
            if twin is not None:
                text = twin
                done.add((classes, function))
        return text, frozenset(done)

    def turned(self, text: str, lines: Iterable[int], mark: str) -> tuple[str, frozenset[int]]:
        """The text in which what is asserted on these lines is turned round, and the lines where that could be done."""
        if self._is_compiled:
            return text, frozenset()
        made: tuple[str, frozenset[int]] = self._module(1).turned(text, lines, mark, *self._arguments)
        return made

    def is_sheltered(self, text: str, line: int) -> bool:
        """Whether a line stands in a block that may keep an error to itself; where that is not known, it does not."""
        return not self._is_compiled and bool(self._module(1).is_sheltered(text, line, *self._arguments))

    def is_passed_by(self, text: str, line: int) -> bool:
        """Whether a Python test may end without coming to a line; of other languages it is not asked."""
        return self.language is Language.PYTHON and bool(self._module(1).is_passed_by(text, line))

    def asserted(self, text: str, through: Iterable[int]) -> frozenset[int]:
        """The lines of Python on which something is asserted, but for what those lines call that an error came through;
        empty where that cannot be told of all.
        """
        is_python = self.language is Language.PYTHON
        made: frozenset[int] = self._module(1).asserted(text, through) if is_python else frozenset()
        return made

    def is_for_others(self, text: str, line: int) -> bool:
        """Whether a line of JavaScript stands in what is run once for several tests."""
        return self.language in _SCRIPTS and bool(self._module(1).is_for_others(text, line, self.language))

    def restated(self, text: str) -> str:
        """The text said otherwise, to the same effect; in other languages than Python as it is."""
        made: str = self._module(1).restated(text) if self.language is Language.PYTHON else text
        return made

    @property
    def _is_compiled(self) -> bool:
        return _MODULES[self.language] == _COMPILED

    @property
    def _arguments(self) -> tuple[Language, ...]:
        return () if self.language is Language.PYTHON else (self.language,)

    def _module(self, which: int) -> Any:  # noqa: ANN401 - one of three pairs of modules
        return import_module(f"agent_fox.verifier.mutants.{_MODULES[self.language][which]}")


def language_of(path: str) -> Mutants | None:
    """The mutants of a file's language; None for a file that is not code, or of a language without mutants here."""
    language = spoken_in(path, {})
    return Mutants(language) if language in _MODULES else None
