"""What Python's unittest prints, and runners built on it (Django's too), quiet or `-v`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from agent_fox.core.regex import regex
from agent_fox.verifier.ground.results import Failure, FailureKind, Parsed, TestSummary
from agent_fox.verifier.logs.drafts import Excerpt, Findings
from agent_fox.verifier.logs.frames import at, first_line, python_place
from agent_fox.verifier.logs.gathering import MOST_KEPT, still_running
from agent_fox.verifier.logs.line_log import last_line
from agent_fox.verifier.logs.python.pytest_blocks import distinct, exception_of

if TYPE_CHECKING:
    from agent_fox.verifier.logs.protocol import Workspace

UNEXPECTED = "UNEXPECTED SUCCESS"
_RULE = "=" * 70
_LINE = "-" * 70
_PASSED = regex(r"(?>(?:[^\n]* \.\.\. ok\n)+)")
_TITLE = regex(r"(?P<outcome>FAIL|ERROR|UNEXPECTED SUCCESS): (?P<name>\S.*)$")
_NAME = regex(r"(?P<method>\S+) \((?P<path>[\w.<>]+)\)(?P<subtest> [\[(].*)?$")
_BEGUN = regex(r"(?P<name>\S+ \([\w.]+\)) \.\.\.\s*$")
_RAN = regex(r"Ran (?P<tests>\d+) tests? in [\d.]+s$")
_RESULT = regex(r"(?P<result>OK|FAILED|NO TESTS RAN)(?: \((?P<counts>[a-z ]+=\d+(?:, [a-z ]+=\d+)*)\))?$")
_COUNT = regex(r"([a-z ]+)=(\d+)")
_RAISED = regex(r"(?P<exception>[A-Za-z_][\w.]*)(?:: .*)?$")
_OUTPUT = regex(r"(?:Stdout|Stderr):$")
_NOT_LOADED = regex(r"unittest\.loader\._?(?:FailedTest|ModuleImportFailure|LoadTestsFailure)")
_FIXTURES = ("setUpClass", "tearDownClass", "setUpModule", "tearDownModule")


@dataclass(slots=True)
class _Block:
    """One failure: a title, perhaps the test's description, and a traceback."""

    outcome: str
    name: str
    is_doubtful: bool = False
    shown: Excerpt = field(default_factory=Excerpt)
    raised: str = ""
    exception: str | None = None
    is_aside: bool = False
    _is_below_frame: bool = False

    def add(self, line: str) -> None:
        self.is_aside = self.is_aside or bool(_OUTPUT.match(line))
        if self.is_aside:
            return
        self.shown.add(line)
        if line.startswith("  "):
            self._is_below_frame = True
        elif self._is_below_frame and (raised := _RAISED.match(line)):
            self.raised, self.exception = line.strip(), raised["exception"]
            self._is_below_frame = False

    @property
    def test_name(self) -> str:
        """The path of the test: `test_u.T.test_x`, whatever the version of Python."""
        match = _NAME.match(self.name)
        if match is None:
            return self.name
        is_whole = match["path"].rpartition(".")[2] == match["method"]
        return match["path"] if is_whole else f"{match['path']}.{match['method']}"

    @property
    def is_import(self) -> bool:
        return bool(_NOT_LOADED.search(self.name))

    @property
    def is_of_test(self) -> bool:
        return not self.name.startswith(_FIXTURES)

    @property
    def message(self) -> str:
        if self.outcome == UNEXPECTED:
            return "unexpected success"
        return self.raised or first_line(self.shown.text) or self.outcome.lower()

    def failure(self, workspace: Workspace) -> Failure:
        place = python_place(self.shown.text, workspace)
        return Failure(
            FailureKind.COMPILE_ERROR if self.is_import else FailureKind.TEST_FAILURE,
            self.message,
            **at(place),
            test_name=None if self.is_import else self.test_name,
            evidence=self.shown.text,
            exception=self.exception or exception_of(self.message),
            is_error=self.outcome == "ERROR",
        )


class UnittestReader:
    """Reads failures, with one for each failed sub-test, and the counts at the end.

    The failures are shown last, and their number is known: what a test printed before them is none of them.
    """

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._blocks: list[_Block] = []
        self._open: _Block | None = None
        self._before = ""
        self._last = ""
        self._ran: int | None = None
        self._counts: dict[str, int] | None = None

    def skip(self, block: str, at: int) -> int:
        """Passes over tests that passed, as `-v` names them."""
        is_between = self._open is None and self._ran is None and self._before not in (_RULE, _LINE)
        match = _PASSED.match(block, at) if is_between else None
        if match:
            self._before = self._last = last_line(block, at, match.end())
        return match.end() if match else at

    def take(self, line: str) -> None:
        if self._before == _RULE and (title := _TITLE.match(line)):
            is_doubtful = self._open is not None and self._open.is_aside
            self._open = _Block(title["outcome"], title["name"].strip(), is_doubtful)
            self._keep(self._open)
        elif self._before == _LINE and (ran := _RAN.match(line)):
            self._ran, self._open, self._counts = int(ran["tests"]), None, {}
        elif self._ran is not None and (result := _RESULT.match(line)):
            self._counts = {name.strip(): int(number) for name, number in _COUNT.findall(result["counts"] or "")}
        elif self._open is not None and line not in (_RULE, _LINE):
            self._open.add(line)
        self._before = line
        self._last = line if line.strip() else self._last

    def _keep(self, block: _Block) -> None:
        """The last ones are the true ones, if there are more than can be kept or than the totals say."""
        self._blocks.append(block)
        del self._blocks[: -2 * MOST_KEPT]

    def parsed(self) -> Parsed:
        findings, blocks = Findings(), self._believable()
        for failure in distinct(block.failure(self._workspace) for block in blocks):
            findings.gathering.fail(failure)
        summary = self._summary(blocks)
        if self._counts and self._counts.get("unexpected successes"):
            findings.fall_back(Failure(FailureKind.TEST_FAILURE, "unexpected success"))
        if summary is not None and not summary.tests:
            findings.fall_back(Failure(FailureKind.UNKNOWN, "no tests ran"))
        if summary is None and (begun := _BEGUN.match(self._last)):
            name = _Block("ERROR", begun["name"]).test_name
            findings.fall_back(still_running(None, name, self._last))
        return findings.parsed(summary, is_complete=summary is not None)

    def _believable(self) -> list[_Block]:
        if self._counts is None:
            return self._blocks
        shown = sum(block.outcome == UNEXPECTED for block in self._blocks)  # none before Python 3.11
        failed = shown + sum(self._counts.get(word, 0) for word in ("failures", "errors"))
        certain = [block for block in self._blocks if not block.is_doubtful]
        blocks = certain if len(certain) >= failed else self._blocks
        return blocks[-failed:] if failed else []

    def _summary(self, blocks: list[_Block]) -> TestSummary | None:
        """A test may fail in several sub-tests, or both fail and break: it did not pass once."""
        if self._ran is None or self._counts is None:
            return None
        of = self._counts.get
        failures, errors, skipped = of("failures", 0) + of("unexpected successes", 0), of("errors", 0), of("skipped", 0)
        expected = of("expected failures", 0)
        unshown = of("unexpected successes", 0) - sum(block.outcome == UNEXPECTED for block in blocks)
        failed = unshown + len({block.test_name for block in blocks if block.is_of_test})
        passed = max(0, self._ran - failed - skipped - expected)
        return TestSummary(self._ran, passed, failures, errors, skipped, expected)
