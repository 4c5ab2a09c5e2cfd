"""All tests of a change on both sides, read, and expanded with what they call. They are judged elsewhere."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping
from functools import cached_property
from itertools import count, islice
from typing import NamedTuple

from agent_fox.verifier.policy.discovery import JAVASCRIPT, belongs_to_tests, home_of_tests, is_collected, language_of
from agent_fox.verifier.policy.expressions import Tokens, substituted, without_self
from agent_fox.verifier.policy.readers.definitions import Definitions, GoDefinitions, JavaDefinitions, NativeDefinitions
from agent_fox.verifier.policy.readers.javascript import JavaScriptDefinitions
from agent_fox.verifier.policy.readers.python import PythonDefinitions
from agent_fox.verifier.policy.readers.rust import RustDefinitions
from agent_fox.verifier.policy.readers.trees import parsed
from agent_fox.verifier.policy.reading import Assertion, Bind, Broken, Function, Reading, Rows, Step, Unreadable, Use
from agent_fox.verifier.policy.values import Change, Language, PolicyContext

LARGEST_SOURCE = 512 * 1024  # bytes; a larger file is no test a person wrote
_OTHER_TS = (b"# CMAKE generated file", b"<?xml", b"<!DOCTYPE TS")  # CMake's timestamps and Qt's translations are .ts

_OTHERS = (PythonDefinitions, RustDefinitions, GoDefinitions, JavaDefinitions, NativeDefinitions)
_READERS: Mapping[Language, type[Definitions]] = {
    **dict.fromkeys(JAVASCRIPT, JavaScriptDefinitions),
    **{Language(each.language): each for each in _OTHERS},
}


def read(text: str, is_test_file: bool, language: Language) -> Reading:
    """Raises Unreadable for what can't be parsed or is nested beyond measure, ImportError without its grammar."""
    try:
        return _READERS[language](parsed(text, language), is_test_file=is_test_file).reading()
    except (RecursionError, MemoryError) as error:
        raise Unreadable("nested too deeply") from error


class Side(NamedTuple):
    """One side of one file. `text` is empty and `reading` has nothing where the file is not there, or can't be read."""

    path: str
    text: str = ""
    reading: Reading = Reading()
    error: Unreadable | None = None


class SourceChange(NamedTuple):
    """One source file in a language that can be read; where one side can't be, neither says anything."""

    path: str
    before: Side
    after: Side

    @property
    def error(self) -> Unreadable | None:
        return self.before.error or self.after.error

    @property
    def is_test_source(self) -> bool:
        return belongs_to_tests(self.path) or belongs_to_tests(self.before.path) or bool(self.after.reading.tests)


def sources_of(change: Change, context: PolicyContext) -> tuple[SourceChange, ...]:
    """The source files of a change, both sides read. A script that had tests in a folder of tests, whatever its name,
    was found by its runner: so are those beside it.
    """
    begun = []
    for path, file in sorted(change.files.items()):
        old_path = file.renamed_from or path
        language = language_of(path, context.languages) or language_of(old_path, context.languages)
        is_test = language is not None and any(is_collected(each, language) for each in (old_path, path))
        is_other = all(side is None or side.startswith(_OTHER_TS) for side in (file.before, file.after))
        is_other = language is Language.CPP or (language is Language.TYPESCRIPT and is_other)
        if language is None or (is_other and not is_test):
            continue
        is_found = is_collected(old_path, language) or home_of_tests(old_path, language) != ""
        begun.append((path, language, _side(old_path, file.before, language, is_found)))
    homes = {home_of_tests(before.path, language) for _, language, before in begun if before.reading.tests} - {""}
    sources = []
    for path, language, before in begun:
        is_found = is_collected(path, language) or home_of_tests(path, language) in homes
        after = Side(path) if before.error else _side(path, change.files[path].after, language, is_found)
        sources.append(SourceChange(path, Side(before.path) if after.error else before, after))
    return tuple(sources)


def _side(path: str, data: bytes | None, language: Language, is_test_file: bool) -> Side:
    if data is None:
        return Side(path)
    try:
        if len(data) > LARGEST_SOURCE:
            raise Unreadable(f"larger than {LARGEST_SOURCE} bytes")
        text = data.decode("utf-8-sig")
        return Side(path, text, read(text, is_test_file, language))
    except UnicodeDecodeError:
        error: Unreadable = Broken("not UTF-8")
    except ImportError:  # all but Python's need an extra
        error = Unreadable(f"reading {language} needs the extra `policy`: pip install 'agent-fox[policy]'")
    except Unreadable as unreadable:
        error = unreadable
    return Side(path, error=error)


DEEPEST_HELPER = 4
MOST_ASSERTIONS = 2_000  # of one test; more are of no interest to a comparison
MOST_STEPS = 20_000  # of one test, helpers and rows counted in


class Test:
    """A test, or a function that may once have been one."""

    __test__ = False  # not a test class, whatever its name begins with

    def __init__(self, path: str, function: Function, helpers: Helpers) -> None:
        self.path = path
        self.function = function
        self.name = f"{path}::{function.name}"
        self.place = (path, function.name)
        self._helpers = helpers

    @property
    def is_run(self) -> bool:
        return all(skip.is_conditional for skip in self.function.skips)

    @cached_property
    def assertions(self) -> tuple[Assertion, ...]:
        """All that it asserts, helpers counted in."""
        asserted = islice(self._helpers.walk(self.function.steps, {}, 0, count()), MOST_ASSERTIONS)
        return tuple(
            each._replace(subject=without_self(each.subject), expected=without_self(each.expected)) for each in asserted
        )

    @cached_property
    def keys(self) -> list[Hashable]:
        return [each.key for each in self.assertions]


def tests_of(sources: Iterable[SourceChange], is_after: bool) -> tuple[Test, ...]:
    """Every function of one side, tests and others, expanded with the helpers of its file and of the other files."""
    sides = [source.after if is_after else source.before for source in sources]
    own = [{each.leaf: each for each in side.reading.functions if not each.is_test} for side in sides]
    everywhere = {leaf: each for helpers in own for leaf, each in helpers.items()}
    known = [Helpers(everywhere | helpers, frozenset(helpers)) for helpers in own]
    return tuple(
        Test(side.path, each, helpers)
        for side, helpers in zip(sides, known, strict=True)
        for each in side.reading.functions
    )


class Helpers(NamedTuple):
    """The helpers that a test may call, by their last name. own: those that stand in its file."""

    functions: Mapping[str, Function]
    own: frozenset[str] = frozenset()

    def walk(
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
                case Assertion():
                    yield step.put(known)
                case Use():
                    yield from self._called(step, known, depth, taken)
                case Rows(names, rows, inner):
                    for row in rows:
                        yield from self.walk(inner, known | dict(zip(names, row, strict=False)), depth, taken)

    def _called(self, use: Use, values: dict[str, Tokens], depth: int, taken: Iterator[int]) -> Iterator[Assertion]:
        """What a helper asserts: an argument `name=value` is given by name, the others in order."""
        helper = self.functions.get(use.function)
        if helper is None or depth >= DEEPEST_HELPER:
            if use.otherwise is not None:
                yield use.otherwise._replace(guard=use.guard).put(values)
            return
        free, given = list(helper.parameters), {}
        for argument in (substituted(each, values) for each in use.arguments):
            if len(argument) > 2 and argument[1] == "=" and argument[0] in helper.parameters:
                given[argument[0]] = argument[2:]
            elif free:
                given[free.pop(0)] = argument
        for assertion in self.walk(helper.steps, given, depth + 1, taken):
            guard = (*substituted(use.guard, values), *assertion.guard)
            origin = assertion.place if use.function in self.own else None
            yield assertion._replace(guard=guard, line=use.line, origin=origin)
