"""All tests of a change on both sides, read, expanded and matched. What a match means is judged elsewhere."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field, replace
from itertools import count, islice
from typing import TYPE_CHECKING

from agent_fox.core.values import dataclass
from agent_fox.verifier.policy.discovery import JAVASCRIPT, belongs_to_tests, home_of_tests, is_collected, language_of
from agent_fox.verifier.policy.expressions import Tokens, substituted, without_self
from agent_fox.verifier.policy.readers.compiled import (
    GoDefinitions,
    JavaDefinitions,
    NativeDefinitions,
    RustDefinitions,
)
from agent_fox.verifier.policy.readers.javascript import JavaScriptDefinitions
from agent_fox.verifier.policy.readers.python import PythonDefinitions
from agent_fox.verifier.policy.readers.trees import parsed
from agent_fox.verifier.policy.reading import (
    Assertion,
    Bind,
    Broken,
    Check,
    Function,
    Reading,
    Rows,
    Step,
    Unreadable,
    Use,
    put,
)
from agent_fox.verifier.policy.values import Change, FileChange, Language, PolicyContext

if TYPE_CHECKING:
    from agent_fox.verifier.policy.readers.definitions import Definitions

LARGEST_SOURCE = 512 * 1024  # bytes; a larger file is no test a person wrote

_READERS: Mapping[Language, tuple[str, type[Definitions | JavaScriptDefinitions]]] = {
    Language.PYTHON: ("python", PythonDefinitions),
    **dict.fromkeys(JAVASCRIPT, ("javascript", JavaScriptDefinitions)),
    Language.JAVA: ("java", JavaDefinitions),
    Language.GO: ("go", GoDefinitions),
    Language.RUST: ("rust", RustDefinitions),
    Language.CPP: ("cpp", NativeDefinitions),
}


def read(text: str, is_test_file: bool, language: Language) -> Reading:
    """Raises Unreadable for what the grammar does not take and for what is nested beyond measure, and ImportError where
    the grammar is not installed.
    """
    family, definitions = _READERS[language]
    try:
        return definitions(family, parsed(text, language), is_test_file=is_test_file).reading()
    except (RecursionError, MemoryError) as error:
        raise Unreadable("nested too deeply") from error


@dataclass(frozen=True, slots=True)
class Side:
    """One side of one file. `text` is empty and `reading` has nothing where the file is not there."""

    path: str
    text: str = ""
    reading: Reading = field(default_factory=Reading)
    is_there: bool = False


@dataclass(frozen=True, slots=True)
class SourceChange:
    """One source file in a language that can be read; `error` says why it could not be.

    is_broken: the change itself left it so, with its first error in `line`; before, it could be read or was not there.
    """

    path: str
    language: Language
    before: Side
    after: Side
    error: str = ""
    is_broken: bool = False
    line: int | None = None

    @property
    def is_test_source(self) -> bool:
        return belongs_to_tests(self.path) or belongs_to_tests(self.before.path) or bool(self.after.reading.tests)


@dataclass(frozen=True, slots=True)
class Test:
    """A test, or a function that may once have been one, with all that it asserts."""

    __test__ = False  # not a test class, whatever its name begins with

    path: str
    function: Function
    assertions: tuple[Assertion, ...]

    @property
    def name(self) -> str:
        return f"{self.path}::{self.function.name}"


def sources_of(change: Change, context: PolicyContext) -> tuple[SourceChange, ...]:
    """The source files of a change, both sides read.

    A script that had tests in a folder of tests, whatever its name, was found by its runner: so are those beside it.
    """
    begun = [_begun(path, file, context) for path, file in sorted(change.files.items())]
    sources = [source for source in begun if source is not None]
    homes = {home_of_tests(each.before.path, each.language) for each in sources if each.before.reading.tests} - {""}
    return tuple(source if source.error else _ended(source, change.files[source.path], homes) for source in sources)


_OTHER_TS = (b"# CMAKE generated file", b"<?xml", b"<!DOCTYPE TS")  # CMake's timestamps and Qt's translations are .ts


def _begun(path: str, file: FileChange, context: PolicyContext) -> SourceChange | None:
    """The file as it was; None for one that is in no language that can be read."""
    old_path = file.renamed_from or path
    language = language_of(path, context.languages) or language_of(old_path, context.languages)
    is_test = any(is_collected(each, language) for each in (old_path, path)) if language else False
    is_other = not is_test and all(side is None or side.startswith(_OTHER_TS) for side in (file.before, file.after))
    if language is None or (language is Language.CPP and not is_test) or (language is Language.TYPESCRIPT and is_other):
        return None
    unread = SourceChange(path, language, Side(old_path), Side(path))
    is_found = is_collected(old_path, language) or home_of_tests(old_path, language) != ""
    try:
        return replace(unread, before=_side(old_path, file.before, language, is_found))
    except Unreadable as error:
        return replace(unread, error=str(error))


def _ended(source: SourceChange, file: FileChange, homes: set[str]) -> SourceChange:
    path, language = source.path, source.language
    is_found = is_collected(path, language) or home_of_tests(path, language) in homes
    try:
        return replace(source, after=_side(path, file.after, language, is_found))
    except Unreadable as error:
        line, is_broken = (error.line, True) if isinstance(error, Broken) else (None, False)
        return replace(source, before=Side(source.before.path), error=str(error), is_broken=is_broken, line=line)


def _side(path: str, data: bytes | None, language: Language, is_test_file: bool) -> Side:
    if data is None:
        return Side(path)
    if len(data) > LARGEST_SOURCE:
        raise Unreadable(f"larger than {LARGEST_SOURCE} bytes")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise Broken("not UTF-8") from error
    try:
        return Side(path, text, read(text, is_test_file, language), True)
    except ImportError as error:  # all but Python's need an extra
        raise Unreadable(f"reading {language} needs the extra `policy`: pip install 'agent-fox[policy]'") from error


def tests_of(sources: Iterable[SourceChange], is_after: bool) -> tuple[Test, ...]:
    """Every function of one side, tests and others, expanded with the helpers of its file and of the other files."""
    sides = [source.after if is_after else source.before for source in sources]
    helpers = [{each.leaf: each for each in side.reading.functions if not each.is_test} for side in sides]
    everywhere = {leaf: each for own in helpers for leaf, each in own.items()}
    made = []
    for side, own in zip(sides, helpers, strict=True):
        expansion = Expansion(everywhere | own, frozenset(own))
        for function in side.reading.functions:
            plain = (
                replace(each, subject=without_self(each.subject), expected=without_self(each.expected))
                for each in expansion.assertions(function)
            )
            made.append(Test(side.path, function, tuple(plain)))
    return tuple(made)


DEEPEST_HELPER = 4
MOST_ASSERTIONS = 2_000  # of one test; more are of no interest to a comparison
MOST_STEPS = 20_000  # of one test, helpers and rows counted in


@dataclass(frozen=True, slots=True)
class Expansion:
    """The helpers that a test may call, by their last name. own: those that stand in its file."""

    helpers: Mapping[str, Function]
    own: frozenset[str] = frozenset()

    def assertions(self, test: Function) -> tuple[Assertion, ...]:
        return tuple(islice(self._walk(test.steps, {}, 0, count()), MOST_ASSERTIONS))

    def _walk(
        self, steps: tuple[Step, ...], values: dict[str, Tokens], depth: int, taken: Iterator[int]
    ) -> Iterator[Assertion]:
        times_bound = Counter(step.name for step in steps if isinstance(step, Bind))
        known = dict(values)
        for step in steps:
            if next(taken) > MOST_STEPS:
                return
            match step:
                case Bind(name, value):
                    known.pop(name, None)
                    if times_bound[name] == 1:
                        known[name] = substituted(value, known)
                case Check(assertion):
                    yield put(assertion, known)
                case Use():
                    yield from self._called(step, known, depth, taken)
                case Rows(names, rows, inner):
                    for row in rows:
                        yield from self._walk(inner, known | dict(zip(names, row, strict=False)), depth, taken)

    def _called(self, use: Use, values: dict[str, Tokens], depth: int, taken: Iterator[int]) -> Iterator[Assertion]:
        helper = self.helpers.get(use.function)
        if helper is None or depth >= DEEPEST_HELPER:
            if use.otherwise is not None:
                yield put(replace(use.otherwise, guard=use.guard), values)
            return
        given = [substituted(argument, values) for argument in use.arguments]
        for assertion in self._walk(helper.steps, dict(bound_arguments(helper.parameters, given)), depth + 1, taken):
            guard = (*substituted(use.guard, values), *assertion.guard)
            origin = assertion.place if use.function in self.own else None
            yield replace(assertion, guard=guard, line=use.line, origin=origin)


def bound_arguments(parameters: tuple[str, ...], given: list[Tokens]) -> Iterator[tuple[str, Tokens]]:
    """Which parameter gets which argument: `name=value` by name, the others in order."""
    free = list(parameters)
    for argument in given:
        if len(argument) > 2 and argument[1] == "=" and argument[0] in parameters:
            yield argument[0], argument[2:]
        elif free:
            yield free.pop(0), argument
