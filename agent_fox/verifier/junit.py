"""Reading JUnit XML: a stream of test cases, in flat memory, with document types and entities refused."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from xml.parsers import expat

LONGEST_TEXT = 20_000  # characters kept of one failure's text
_CHUNK = 65_536
_OUTCOMES = ("failure", "error", "skipped")


class Outcome(StrEnum):
    """How one test ended. An expected failure is neither a pass nor a failure: the test shows nothing."""

    PASSED = "passed"
    FAILED = "failed"
    SKIPPED = "skipped"
    EXPECTED_FAILURE = "expected failure"


class ReportUnreadable(ValueError):
    """A report that is not XML, holds a document type, or is no JUnit report. The message says which."""


@dataclass(frozen=True, slots=True)
class Case:
    """One test of a report. `file` is relative to where the tests ran; empty where the tool omits it."""

    classname: str
    name: str
    file: str = ""
    outcome: Outcome = Outcome.PASSED
    message: str = ""
    text: str = ""

    @property
    def classes(self) -> tuple[str, ...]:
        """The classes that hold the test, outermost first: what `classname` says beyond the file's module."""
        module = re.sub(r"\.\w+$", "", self.file).replace("/", ".")
        if module and (self.classname + ".").startswith(module + "."):
            rest = self.classname[len(module) + 1 :]
        else:
            rest = self.classname
        return tuple(part for part in re.split(r"[.:$]+", rest) if part)

    @property
    def function(self) -> str:
        """The test's name without its parameters."""
        return self.name.split("[", 1)[0].removesuffix("()")

    @property
    def id(self) -> str:
        """As pytest names it: `tests/test_x.py::TestY::test_z[1]`."""
        return "::".join(part for part in (self.file, *self.classes, self.name) if part)


def read_junit(path: Path) -> tuple[Case, ...]:
    """The cases of one report, in its order. Raises ReportUnreadable, never follows an entity."""
    reader = _Reader()
    parser = expat.ParserCreate()
    parser.buffer_text = True
    parser.StartElementHandler = reader.start
    parser.EndElementHandler = reader.end
    parser.CharacterDataHandler = reader.characters
    parser.StartDoctypeDeclHandler = _refuse_doctype
    try:
        with path.open("rb") as file:
            while chunk := file.read(_CHUNK):
                parser.Parse(chunk, False)
        parser.Parse(b"", True)
    except (expat.ExpatError, OSError) as error:
        raise ReportUnreadable(f"{path.name} is not a readable XML file: {error}") from error
    if not reader.is_junit:
        raise ReportUnreadable(f"{path.name} is no JUnit report: it has no <testsuite>")
    return tuple(reader.cases)


def _refuse_doctype(name: str, system_id: str | None, public_id: str | None, has_subset: bool) -> None:
    raise ReportUnreadable(f"the report declares a document type ({name}), which is refused")


class _Reader:
    """Follows the elements of a report and keeps one case at a time."""

    def __init__(self) -> None:
        self.cases: list[Case] = []
        self.is_junit = False
        self._case: Case | None = None
        self._inside = ""
        self._text = ""

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        if tag in ("testsuite", "testsuites"):
            self.is_junit = True
        elif tag == "testcase":
            self._case = Case(attributes.get("classname", ""), attributes.get("name", ""), attributes.get("file", ""))
        elif self._case is not None and tag in _OUTCOMES:
            self._inside, self._text = tag, ""
            self._case = _with_outcome(self._case, tag, attributes)

    def characters(self, text: str) -> None:
        if self._inside:
            self._text += text[: max(0, LONGEST_TEXT - len(self._text))]

    def end(self, tag: str) -> None:
        if self._case is None:
            return
        if tag == self._inside:
            self._case = replace(self._case, text=(self._case.text + self._text)[:LONGEST_TEXT])
            self._inside = ""
        elif tag == "testcase":
            self.cases.append(self._case)
            self._case = None


def _with_outcome(case: Case, tag: str, attributes: dict[str, str]) -> Case:
    if case.outcome is Outcome.FAILED:
        return case
    message = attributes.get("message", "")
    if tag != "skipped":
        return replace(case, outcome=Outcome.FAILED, message=message)
    is_expected = attributes.get("type") == "pytest.xfail"
    outcome = Outcome.EXPECTED_FAILURE if is_expected else Outcome.SKIPPED
    return replace(case, outcome=outcome, message=message)
