"""One failure as pytest shows it, and the end of its output: the short summary's entries and the totals. Which blocks
count is elsewhere."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from agent_fox.core.regex import regex
from agent_fox.verifier.ground.results import Failure, FailureKind, TestSummary
from agent_fox.verifier.logs.drafts import Excerpt
from agent_fox.verifier.logs.frames import Place, at, first_line, python_exception, python_place
from agent_fox.verifier.logs.gathering import MOST_KEPT

if TYPE_CHECKING:
    from agent_fox.verifier.logs.protocol import Workspace

MOST_SAID = 40  # lines marked E
_ASIDE = regex(r"-+ (?:Captured|live log|generated) .*-$")
_WORKER = regex(r"\[gw\d+\] ")
_SAID = regex(r"E(?:$| )")
_FRAME = regex(r'[ |]*File ".*", line \d+')
_RAISED = regex(r"(?: *[|] )?(?P<message>[A-Za-z_][\w.]*(?:: .*)?)$")
_GROUP_MARK = regex(r"^ *\|", re.MULTILINE)
_ENDING = regex(r"(?P<file>(?:[A-Za-z]:)?[^\s:][^:\n]*):(?P<line>\d+): (?P<exception>[A-Za-z_][\w.]*)$")
_FIXTURE = regex(r"(?P<file>(?:[A-Za-z]:)?[^\s:][^:\n]*\.py):(?P<line>\d+)$")
_PREFIX = regex(r"ERROR (?:collecting|at (?:setup|teardown) of) |\[doctest\] ")


@dataclass(slots=True)
class Block:
    """What stands below one title of the sections ERRORS and FAILURES."""

    title: str
    shown: Excerpt = field(default_factory=Excerpt)
    said: list[str] = field(default_factory=list)
    exception: str | None = None
    _is_aside: bool = False
    _was_said: bool = False
    _is_below_frame: bool = False

    @property
    def is_error(self) -> bool:
        """Whether the test broke before or after itself, or could not be collected."""
        return self.title.startswith(("ERROR at ", "ERROR collecting "))

    @property
    def is_of_collection(self) -> bool:
        return self.title.startswith("ERROR collecting ")

    @property
    def subject(self) -> str:
        """The test or file that the title names."""
        return _PREFIX.sub("", self.title, count=1).strip()

    def add(self, line: str) -> None:
        self._is_aside = self._is_aside or bool(_ASIDE.match(line))
        if self._is_aside or _WORKER.match(line):
            return
        self.shown.add(line)
        is_said = bool(_SAID.match(line))
        if is_said:
            self._say(line[1:].strip(), continues=self._was_said)
        elif ending := _ENDING.match(line):
            self.exception = ending["exception"]
        self._was_said = is_said
        self._follow_traceback(line)

    def _say(self, text: str, *, continues: bool) -> None:
        """Keep the last passage marked `E`: the causes of an exception come before it."""
        if not continues:
            self.said = []
        if len(self.said) < MOST_SAID:
            self.said.append(text)

    def _follow_traceback(self, line: str) -> None:
        """`--tb=native` and exception groups: what was raised follows its frames, further out than they."""
        if _FRAME.match(line):
            self._is_below_frame = True
        elif self._is_below_frame and (raised := _RAISED.match(line)):
            self._say(raised["message"], continues=False)
            self._is_below_frame = False

    @property
    def message(self) -> str:
        """The line that says what went wrong. A syntax error says it below the source it shows."""
        if self.title.startswith("[doctest] "):
            return self._doctest()
        if self.said and self.said[0].startswith('File "'):
            return self.said[-1]
        return next((line for line in self.said if line), first_line(self.shown.text))

    def _doctest(self) -> str:
        lines = [line.strip() for line in self.shown]
        start = next((at for at, line in enumerate(lines) if line.startswith(("Expected", "UNEXPECTED"))), 0)
        end = next((at for at, line in enumerate(lines) if at > start and not line), len(lines))
        return lines[start] if lines[start].startswith("UNEXPECTED") else " ".join(lines[start:end])

    def place(self, workspace: Workspace) -> Place | None:
        for line in reversed(list(self.shown)):
            if (fixture := _FIXTURE.match(line)) and workspace.holds(fixture["file"]):
                return Place(workspace.relative(fixture["file"]), int(fixture["line"]))
        return python_place(_GROUP_MARK.sub("", self.shown.text), workspace)

    def failure(self, workspace: Workspace, test_name: str | None, file: str | None) -> Failure:
        """What the block tells. `file` is the test's: it stands where no line of the project is shown."""
        place = self.place(workspace)
        return Failure(
            FailureKind.COMPILE_ERROR if self.is_of_collection else FailureKind.TEST_FAILURE,
            self.message,
            **at(place, file),
            test_name=test_name,
            evidence="\n".join(self.said) or self.shown.text,
            exception=python_exception(self.message) or self.exception,
            is_error=self.is_error,
        )


_OUTCOME = regex(r"(?P<outcome>FAILED|ERROR|SUBFAILED(?:\(.*?\)|\[.*?\])*) (?P<node>\S.*)$")
_COLLECTION_ERRORS = regex(r"!+ (?:Interrupted: )?(?P<count>\d+) errors? during collection !+$")
_TOTALS = regex(
    r"(?:=+ )?(?P<counts>\d+ [a-z]+(?: [a-z]+)?(?:, \d+ [a-z]+(?: [a-z]+)?)*|no tests (?:ran|collected)[^\n]*?)"
    r" in \d[\d.]*s?(?: \([\d:, a-z]+\))?(?: =+)?$"
)
_RESULT = regex(r" {3,}(?P<count>\d+) (?P<word>passed|failed|errors?|skipped|xfailed|xpassed)$")
_COUNT = regex(r"(\d+) ([a-z]+)(?=,|$| \w+,| \w+$)")
_WORDS = {
    *("passed", "failed", "error", "errors", "skipped", "xfailed", "xpassed", "warning", "warnings", "deselected"),
    *("rerun", "reruns", "subtests", "tests"),
}


@dataclass(slots=True)
class Entry:
    """A failed test or file as the summary, or a line of `-v`, names it."""

    outcome: str
    node: str
    message: str = ""

    @property
    def is_error(self) -> bool:
        return self.outcome == "ERROR"

    @property
    def is_test(self) -> bool:
        return "::" in self.node

    @property
    def file(self) -> str:
        return self.node.split("::", 1)[0]

    @property
    def subject(self) -> str:
        """As the title of its block names it."""
        before, bracket, parameters = self.node.partition("::")[2].partition("[")
        return before.replace("::", ".") + bracket + parameters if self.is_test else self.file

    def is_shown_by(self, block: Block) -> bool:
        if block.is_error is not self.is_error or block.is_of_collection is self.is_test:
            return False
        is_subtest = self.outcome.startswith("SUBFAILED") and block.subject.startswith(self.subject + " ")
        return is_subtest or block.subject == self.subject


@dataclass(slots=True)
class Summary:
    """The entries of one summary, and the last totals seen."""

    entries: list[Entry] = field(default_factory=list)
    collection_errors: int = 0
    counts: dict[str, int] | None = None

    def restart(self) -> None:
        """Forget a summary that was none: the true one comes last."""
        self.entries = []

    def take(self, line: str) -> None:
        if self.counts is not None and (count := _RESULT.match(line)):
            self.counts[count["word"]] = int(count["count"])
        elif errors := _COLLECTION_ERRORS.match(line):
            self.collection_errors = int(errors["count"])
        elif len(self.entries) < MOST_KEPT and (outcome := _OUTCOME.match(line)):
            node, message = _node_and_message(outcome["node"])
            self.entries.append(Entry(outcome["outcome"], node, message))

    def total(self, line: str) -> bool:
        """Whether the line holds the totals, which it then keeps."""
        totals = _TOTALS.match(line) if " in " in line else None
        if totals is None:
            return False
        counts = {word: int(number) for number, word in _COUNT.findall(totals["counts"])}
        if not counts.keys() <= _WORDS:
            return False
        self.counts = counts
        return True

    def tests(self) -> TestSummary | None:
        """The counts of tests; None before the totals. A file that cannot be collected is an error of no test."""
        if self.counts is None:
            return None
        of = self.counts.get
        passed, xfailed = of("passed", 0) + of("xpassed", 0), of("xfailed", 0)
        failed, skipped, errors = of("failed", 0), of("skipped", 0), of("error", 0) + of("errors", 0)
        files = self.collection_errors or sum(entry.is_error and not entry.is_test for entry in self.entries)
        tests = passed + failed + errors + skipped + xfailed - min(files, errors)
        return TestSummary(tests, passed, failed, errors, skipped, xfailed)


def _node_and_message(text: str) -> tuple[str, str]:
    """`tests/test_x.py::test_y[a - b] - message`: a parameter may hold the dash that divides the two."""
    depth = 0
    for n, letter in enumerate(text):
        depth += (letter == "[") - (letter == "]")
        if depth <= 0 and text.startswith(" - ", n):
            return text[:n].strip(), text[n + 3 :].strip()
    name, _, message = text.partition(" - ") if depth > 0 else (text, "", "")
    return name.strip(), message.strip()
