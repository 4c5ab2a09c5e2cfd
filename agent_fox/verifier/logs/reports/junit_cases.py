"""The test cases of a JUnit XML report, one after another, as the report tells them. What they mean is in `junit`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import StrEnum
from typing import BinaryIO

from agent_fox.core.values import dataclass
from agent_fox.verifier.logs.decode import without_colours
from agent_fox.verifier.logs.streams.xml_stream import XmlCut, feed_xml

LONGEST_TEXT = 20_000  # characters kept of one test's trace: its beginning, and as much of its end
PYTEST = "pytest"
_ENDINGS = ("failure", "error", "skipped")
_SUITES = ("testsuite", "testsuites")
_OUTPUTS = ("system-out", "system-err")
_EXPECTED = "pytest.xfail"
_NOT_RUN = ("notrun", "disabled")  # CTest's and GoogleTest's, where nothing else is said
_COULD_NOT_RUN = ("Unable to find executable", "Required Files Missing", "Fixture dependency failed")  # CTest's
_TO_DO = "todo"  # Node's: such a test may fail


class CaseOutcome(StrEnum):
    """How one test ended, by what it counts as. One that failed as was expected shows nothing: it is neither a pass nor
    a failure."""

    PASSED = "passed"
    FAILED = "failures"
    BROKEN = "errors"
    SKIPPED = "skipped"
    EXPECTED_FAILURE = "xfailed"


@dataclass(frozen=True, slots=True)
class Ending:
    """A <failure>, <error> or <skipped> of a test. `text` is without colours, at most twice LONGEST_TEXT long."""

    tag: str
    type: str = ""
    message: str = ""
    text: str = ""


@dataclass(frozen=True, slots=True)
class JunitCase:
    """One test of a report; what the report leaves out is empty.

    `file` is as it stands in the report, of the test or else of its suite; `line` counts from 1. `suites` are the
    names of the suites around the test, outermost first; `base_folder` is where Maven ran it. `output` is the end of
    what a test printed that did not just pass.
    """

    name: str
    class_name: str = ""
    file: str = ""
    line: int | None = None
    suites: tuple[str, ...] = ()
    base_folder: str = ""
    endings: tuple[Ending, ...] = ()
    output: str = ""

    @property
    def decisive(self) -> Ending | None:
        """What the test's outcome follows from: a failure or error, unless the test is known to be still to do."""
        ranks = [1 if each.tag != "skipped" else 2 * (each.type != _TO_DO) for each in self.endings]
        return self.endings[ranks.index(min(ranks))] if ranks else None

    @property
    def outcome(self) -> CaseOutcome:
        ending = self.decisive
        if ending is None:
            return CaseOutcome.PASSED
        if ending.tag == "skipped":
            return CaseOutcome.EXPECTED_FAILURE if ending.type == _EXPECTED else CaseOutcome.SKIPPED
        return CaseOutcome.FAILED if ending.tag == "failure" else CaseOutcome.BROKEN

    @property
    def message(self) -> str:
        return self.decisive.message if self.decisive else ""

    @property
    def text(self) -> str:
        """The texts of all endings, such as a trace of the test and one of its teardown."""
        return "\n".join(ending.text for ending in self.endings if ending.text)


def read_cases(file: BinaryIO) -> Iterator[JunitCase]:
    """The tests of a report in its order, in flat memory.

    Raises XmlCut, after the tests that could be read, where the report is cut off, is no XML, holds a document type
    or has no <testsuite>.
    """
    reader = CaseReader(with_passed=True)
    for cases in reader.read(file):
        yield from cases
    if not reader.is_junit:
        raise XmlCut("it is no JUnit report: it has no <testsuite>")


class CaseReader:
    """Follows the elements of a report; holds the tests of one chunk of it.

    Tests that passed are only counted, unless they are wanted too.
    """

    opening = b"<testcase"

    def __init__(self, *, with_passed: bool = False) -> None:
        self.is_junit, self.passed, self._with_passed = False, 0, with_passed
        self._ready: list[JunitCase] = []
        self._suites: list[tuple[str, str]] = []  # names and files
        self._base_folder = self._text = self._output = ""
        self._attributes: dict[str, str] = {}
        self._endings: list[Ending] = []
        self._ending: dict[str, str] | None = None
        self._is_output, self._depth = False, 0  # the depth of all elements
        self._names: tuple[str, ...] = ()
        self._alike: re.Pattern[bytes] | None = None  # tests that passed, with attributes of these names

    def read(self, file: BinaryIO) -> Iterator[list[JunitCase]]:
        """The tests as they come, some at a time. Raises XmlCut after what could be read."""
        try:
            for _ in feed_xml(file, self, None if self._with_passed else self):
                taken, self._ready = self._ready, []
                yield taken
        except XmlCut:
            if self._endings:
                yield [self._case()]
            raise

    def skip(self, data: bytes, at: int) -> int:
        """Passes over tests that stand right in a suite and hold nothing. Their form was understood once already."""
        if self._alike is None or not self._suites or self._depth != len(self._suites):
            return at
        match = self._alike.match(data, at)
        end = match.end() if match else at
        self._endings = self._endings if end == at else []
        self.passed += data.count(self.opening, at, end)
        return end

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        self._depth += 1
        if tag == "testcase":
            self._attributes, self._endings, self._output = attributes, [], ""
            if tuple(attributes) != self._names:
                self._names = tuple(attributes)
                self._alike = _passed_tests(self._names)
        elif tag in _ENDINGS:
            self._ending, self._text = attributes, ""
        elif tag in _SUITES:
            self.is_junit = True
            self._suites.append((attributes.get("name", ""), _file_of(attributes)))
        elif tag == "property" and attributes.get("name") == "basedir":
            self._base_folder = attributes.get("value", "")
        else:
            self._is_output = tag in _OUTPUTS and bool(self._endings)

    def characters(self, text: str) -> None:
        if self._ending is not None:
            text = self._text + text
            is_long = len(text) > 2 * LONGEST_TEXT
            self._text = text[:LONGEST_TEXT] + text[-LONGEST_TEXT:] if is_long else text
        elif self._is_output:
            self._output = (self._output + text)[-LONGEST_TEXT:]

    def end(self, tag: str) -> None:
        self._depth -= 1
        if tag == "testcase":
            if not self._endings and self._attributes.get("status") in _NOT_RUN:
                self._endings.append(Ending("skipped"))
            if self._endings or self._with_passed:
                self._ready.append(self._case())
            self.passed += not self._endings
            self._endings = []
        elif tag in _ENDINGS:
            of, self._ending = (self._ending or {}).get, None
            message, text = of("message", ""), without_colours(self._text).strip("\n")
            tag = "error" if tag == "skipped" and message.startswith(_COULD_NOT_RUN) else tag
            self._endings.append(Ending(tag, of("type", ""), message, text))
        elif tag in _SUITES:
            self._suites.pop()
        else:
            self._is_output = False

    def _case(self) -> JunitCase:
        """The test. pytest counts lines from 0, everybody else from 1."""
        of, suites, digits = self._attributes.get, [name for name, _ in self._suites], self._attributes.get("line", "")
        is_number = digits.isascii() and digits.isdigit() and len(digits) <= 9
        return JunitCase(
            name=of("name", "").strip(),
            class_name=of("classname", "").strip(),
            file=_file_of(self._attributes) or (self._suites[-1][1] if self._suites else ""),
            line=int(digits) + (PYTEST in suites) or None if is_number else None,
            suites=tuple(suites),
            base_folder=self._base_folder,
            endings=tuple(self._endings),
            output=self._output,
        )


def _passed_tests(names: tuple[str, ...]) -> re.Pattern[bytes] | None:
    """Elements that hold nothing. An attribute has the bytes that XML allows in one, references and a few others apart.

    Where a report tells by an attribute that a test did not run, each has to be read.
    """
    if "status" in names:
        return None
    attributes = b"".join(rb'\s++%s="[^"<&\xef]*+"' % re.escape(name.encode()) for name in names)
    return re.compile(rb"(?>(?:<testcase%s\s*+(?:/>|>\s*+</testcase>)\s*+)*)" % attributes)


def _file_of(attributes: dict[str, str]) -> str:
    return attributes.get("file", "") or attributes.get("filepath", "")
