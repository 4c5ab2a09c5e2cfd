"""The end of pytest's output: the short summary's entries and the totals. The blocks before it are elsewhere."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from agent_fox.core.regex import regex
from agent_fox.verifier.ground.results import TestSummary
from agent_fox.verifier.logs.gathering import MOST_KEPT

if TYPE_CHECKING:
    from agent_fox.verifier.logs.pytest_blocks import Block

_OUTCOME = regex(r"(?P<outcome>FAILED|ERROR|SUBFAILED(?:\(.*?\)|\[.*?\])*) (?P<node>\S.*)$")
_COLLECTION_ERRORS = regex(r"!+ (?:Interrupted: )?(?P<count>\d+) errors? during collection !+$")
_TOTALS = regex(
    r"(?:=+ )?(?P<counts>\d+ [a-z]+(?: [a-z]+)?(?:, \d+ [a-z]+(?: [a-z]+)?)*|no tests (?:ran|collected)[^\n]*?)"
    r" in \d[\d.]*s?(?: \([\d:, a-z]+\))?(?: =+)?$"
)
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
        if errors := _COLLECTION_ERRORS.match(line):
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
    for at, letter in enumerate(text):
        depth += (letter == "[") - (letter == "]")
        if depth <= 0 and text.startswith(" - ", at):
            return text[:at].strip(), text[at + 3 :].strip()
    name, _, message = text.partition(" - ") if depth > 0 else (text, "", "")
    return name.strip(), message.strip()
