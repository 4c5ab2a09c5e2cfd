"""What mocha prints, with the reporters that end in a list of failures: spec, dot, min, list, nyan, landing."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from agent_fox.core.regex import regex
from agent_fox.verifier.ground.results import Failure, FailureKind, Parsed, TestSummary
from agent_fox.verifier.logs.drafts import Excerpt, Findings
from agent_fox.verifier.logs.frames import at, first_line
from agent_fox.verifier.logs.gathering import MOST_KEPT, too_little
from agent_fox.verifier.logs.javascript.stacks import exception_of, named_file, node_failure, thrown_at

if TYPE_CHECKING:
    from agent_fox.verifier.logs.protocol import Workspace

_PASSING = regex(r"  (?P<count>\d+) passing(?: \(.*\))?$")
_PENDING = regex(r"  (?P<count>\d+) pending$")
_FAILING = regex(r"  (?P<count>\d+) failing$")
_TITLE = regex(r"  (?P<number>\d+)\) (?P<title>\S.*)$")
_CRASH = regex(r"\s*(?:✖ ERROR: |Exception during run: )(?P<rest>.*)$")
_REFUSED = regex(r"(?:Error: )?(?P<message>No test files found.*)$")


@dataclass(slots=True)
class _Block:
    """One numbered failure: its titles, one a line and further in each time, the last with a colon; then the error."""

    number: int
    titles: list[str] = field(default_factory=list)
    shown: Excerpt = field(default_factory=Excerpt)
    _is_named: bool = False

    def add(self, line: str) -> None:
        if self._is_named:
            self.shown.add(line)
        else:
            self.name(line.strip())

    def name(self, title: str) -> None:
        self._is_named = title.endswith(":")
        self.titles.append(title.removesuffix(":"))

    def failure(self, workspace: Workspace) -> Failure:
        text = self.shown.text
        place, message = thrown_at(text, workspace), first_line(text)
        file = named_file(message, workspace)
        return Failure(
            FailureKind.TEST_FAILURE,
            message,
            **at(place, file),
            test_name=" > ".join(title for title in self.titles if title) or None,
            evidence=text,
            exception=exception_of(message),
        )


class MochaReader:
    """Reads the list at the end, and what kept mocha from loading its files.

    The list begins after the last count of passing tests: what a test printed comes before it.
    """

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._findings = Findings()
        self._blocks: list[_Block] = []
        self._counts: dict[str, int] = {}
        self._crash: Excerpt | None = None
        self._has_no_tests = False

    def take(self, line: str) -> None:
        if " passing" in line and (passing := _PASSING.match(line)):
            self._counts, self._blocks = {"passing": int(passing["count"])}, []
        elif line.startswith("ERROR: Coverage") and (covered := too_little(line)):
            self._findings.fall_back(covered)
        elif self._crash is not None:
            self._crash.add(line)
        elif self._counts:
            self._list(line)
        elif "un: " in line or "ROR: " in line or "No test files" in line:
            self._refuse(line)

    def _refuse(self, line: str) -> None:
        if crash := _CRASH.match(line):
            self._crash = Excerpt()
            self._crash.add(crash["rest"])
        elif refused := _REFUSED.match(line):
            self._findings.fall_back(Failure(FailureKind.UNKNOWN, refused["message"], evidence=line))
            self._has_no_tests = True

    def _list(self, line: str) -> None:
        if pending := _PENDING.match(line):
            self._counts["pending"] = int(pending["count"])
        elif failing := _FAILING.match(line):
            self._counts["failing"] = int(failing["count"])
        elif (title := _TITLE.match(line)) and int(title["number"]) == self._next_number():
            block = _Block(int(title["number"]))
            block.name(title["title"].strip())
            self._blocks.append(block)
        elif self._blocks:
            self._blocks[-1].add(line)

    def _next_number(self) -> int:
        """The number of the next failure, or 0 where no more is listed or kept."""
        number = len(self._blocks) + 1
        return number if number <= min(self._counts.get("failing", 0), MOST_KEPT) else 0

    def parsed(self) -> Parsed:
        for block in self._blocks:
            self._findings.gathering.fail(block.failure(self._workspace))
        if self._crash is not None:
            self._findings.gathering.fail(node_failure(self._crash.text, self._workspace))
        of = self._counts.get
        passed, failed, skipped = of("passing", 0), of("failing", 0), of("pending", 0)
        summary = TestSummary(passed + failed + skipped, passed, failed, 0, skipped)
        has_counts = bool(self._counts) or self._has_no_tests
        is_complete = has_counts or self._crash is not None
        return self._findings.parsed(summary if has_counts else None, is_complete=is_complete)
