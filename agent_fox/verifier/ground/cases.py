"""One test of a run, as a value: where it stands, what it is called, how it ended. Reading reports is elsewhere."""

from __future__ import annotations

from enum import StrEnum
from pathlib import PurePosixPath

from agent_fox.core.regex import regex
from agent_fox.core.values import dataclass

_ARGUMENTS = regex(r"\([\w\s,.$<>]*\)$")


class Outcome(StrEnum):
    """How one test ended. An expected failure is neither a pass nor a failure: the test shows nothing.

    FLAKY: it failed, and each of its recorded reruns on the same tree passed.
    """

    PASSED = "passed"
    FAILED = "failed"
    SKIPPED = "skipped"
    EXPECTED_FAILURE = "expected failure"
    FLAKY = "flaky"


COLLECTION = "collection failure"
"""The message of a case that stands for a whole file which could not be loaded."""
SHOWN = frozenset({Outcome.PASSED, Outcome.FLAKY})
"""Outcomes that show what the test is about."""


class ReportUnreadable(ValueError):
    """A report that cannot be read to its end, or is none. The message says why."""


@dataclass(frozen=True, slots=True)
class Case:
    """One test. `classes` hold it, outermost first: classes, suites, packages where the file is not known.

    `file` is relative to the workspace, empty where nobody says it. `name` is as the tool writes it, with parameters.
    `is_cut_off`: its process ended before it did, so that it failed without having found anything.
    """

    classes: tuple[str, ...]
    name: str
    file: str = ""
    outcome: Outcome = Outcome.PASSED
    message: str = ""
    text: str = ""
    is_cut_off: bool = False

    @property
    def function(self) -> str:
        """The test's name without its parameters."""
        return _ARGUMENTS.sub("", self.name.split("[", 1)[0].strip()).strip() or self.name

    @property
    def id(self) -> str:
        """In the way of pytest: `tests/test_x.py::TestY::test_z[1]`. Packages that the file names are left out."""
        stem = PurePosixPath(self.file).stem
        inner = self.classes[self.classes.index(stem) :] if stem in self.classes else self.classes
        return "::".join(part for part in (self.file, *inner, self.name) if part)
