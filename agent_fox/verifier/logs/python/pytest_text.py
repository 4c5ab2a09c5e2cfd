"""What pytest prints for people, at any verbosity and with any `--tb`. Blocks and the summary are read elsewhere."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from agent_fox.core.regex import regex
from agent_fox.verifier.ground.results import Failure, FailureKind, Parsed
from agent_fox.verifier.logs.blocks import numbered
from agent_fox.verifier.logs.drafts import Excerpt, Findings
from agent_fox.verifier.logs.frames import at, python_exception, python_place
from agent_fox.verifier.logs.gathering import MOST_KEPT, still_running, too_little
from agent_fox.verifier.logs.line_log import last_line
from agent_fox.verifier.logs.python.pytest_blocks import Block, Entry, Summary

if TYPE_CHECKING:
    from agent_fox.verifier.logs.protocol import Workspace

_SECTION = regex(
    r"=+ (?P<name>ERRORS|FAILURES|X?PASSES|XFAILURES|SUBPASSES|warnings summary(?: \(final\))?|test session starts"
    r"|short test summary info|slowest (?:\d+ )?(?:test )?durations|tests coverage) =+$"
)
_SUMMARY, _STARTS = "short test summary info", "test session starts"
_RESULTS = "results"  # of pytest-sugar: a count a line
_PASSED = regex(r"(?>(?:[^\s:=_EI/\[][^\s:]*\.py::[^\n]* PASSED(?: +\[ *\d+%\])?\n)+)")
_BLOCKS = ("ERRORS", "FAILURES")
_TITLE = regex(r"(?P<rule>[_―])(?P=rule)* (?P<title>.*[^_ ―].*?) (?P=rule)+$")
_VERBOSE = regex(
    r"(?:\[gw\d+\] (?:\[ *\d+%\] )?(?P<early>FAILED|ERROR) (?P<early_node>\S.*)"
    r"|(?P<node>\S(?:(?!::).)*::.*?) (?P<outcome>FAILED|ERROR)(?: +\[ *\d+%\])?)$"
)
_UNENDED = regex(
    r"(?!.* (?:PASSED|FAILED|ERROR|SKIPPED|XFAIL|XPASS)\b)"
    r"(?:(?P<verbose>\S[^:\s]*\.py::\S.*?) ?$|(?P<file>\S+\.py) [.FEsxX]*$)"
)
_NOTABLE = ("FAILED", "ERROR", "error: ", "ImportError while", "+ Timeout +", "Fatal Python", "FAIL Req")
_TB_LINE = regex(r"(?P<file>(?:[A-Za-z]:)?[^\s:][^:\n]*):(?P<line>\d+): (?P<message>.+)$")
_CONFTEST = regex(r"ImportError while loading conftest '(?P<file>.+)'\.$")
_USAGE = regex(r"(?:ERROR: (?!usage:)(?P<error>.+)|(?:\S+: )?error: (?P<usage>.+))$")
_INTERNAL = "INTERNALERROR> "
_STUCK = regex(r"(?:.* )?\++ Timeout \++$")
_CRASHED = regex(r"Fatal Python error: ")


@dataclass(slots=True)
class PytestReader:
    """Reads failures with their places, errors of collection, and the counts of the last line.

    The short summary decides which failures there are: what a test printed may look like a block.
    """

    workspace: Workspace
    findings: Findings = field(default_factory=Findings)
    summary: Summary = field(default_factory=Summary)
    section: str = ""
    blocks: list[Block] = field(default_factory=list)
    open: Block | None = None
    verbose: list[Entry] = field(default_factory=list)
    by_line: list[Failure] = field(default_factory=list)
    internal: Excerpt = field(default_factory=Excerpt)
    crash: Excerpt = field(default_factory=Excerpt)
    usage: list[Failure] = field(default_factory=list)
    conftest: Block | None = None
    last: str = ""
    _root: str = ""
    _of_root: str = ""

    def __post_init__(self) -> None:
        self._root = f"{self.workspace.root}/"
        self._of_root = self._root[0]

    def skip(self, block: str, at: int) -> int:
        """Passes over tests that passed, as `-v` names them."""
        if self.section in ("", _STARTS) and self.conftest is None and self._of_root == "/":
            match = _PASSED.match(block, at)
            if match:
                self.last, at = last_line(block, at, match.end()), match.end()
        return at

    def take(self, line: str) -> None:
        first = line[:1]
        if first.strip():
            self.last = line
        if first in self._of_root and self.section and line.startswith(self._root):
            self._keep_line(line)
        if first == "I" and line.startswith(_INTERNAL):
            self.internal.add(line.removeprefix(_INTERNAL))
        elif " in " in line and self.summary.total(line):
            self.section = self.section if self.section in _BLOCKS else "end"
        elif first == "=" and (section := _SECTION.match(line)):
            self._enter(section["name"])
        elif first == "―" and (title := _TITLE.match(line)):
            self._begin(title["title"].strip())
        elif first == "R" and line.startswith("Results ("):
            self.section, self.summary.counts = _RESULTS, {}
        elif first == "_" and self.section in (*_BLOCKS, _SUMMARY, "end") and (title := _TITLE.match(line)):
            self._begin(title["title"].strip())
        elif self.section in (_SUMMARY, _RESULTS):
            self.summary.take(line)
        elif self.section in _BLOCKS:
            self._explain(line)
        elif self.section == "crash":
            self.crash.add(line)
        else:
            self._progress(line)

    def _enter(self, section: str) -> None:
        self.summary.restart()
        self.section, self.open = section, None

    def _begin(self, title: str) -> None:
        """A block; after a summary it shows that a test had printed that summary."""
        if self.section not in _BLOCKS:
            self._enter("FAILURES")
        self.open = Block(title)
        if len(self.blocks) < MOST_KEPT:
            self.blocks.append(self.open)

    def _explain(self, line: str) -> None:
        if self.open is not None:
            self.open.add(line)

    def _keep_line(self, line: str) -> None:
        """`--tb=line` shows no titles, and absolute paths, which blocks do not."""
        if (short := _TB_LINE.match(line)) and len(self.by_line) < MOST_KEPT and self.workspace.holds(short["file"]):
            self.by_line.append(_of_one_line(short, self.workspace))

    def _progress(self, line: str) -> None:
        """Progress, and what keeps pytest from running at all."""
        if self.conftest is not None:
            self.conftest.add(line)
        elif not any(map(line.__contains__, _NOTABLE)):
            return
        elif conftest := _CONFTEST.match(line):
            self.conftest = Block(f"ERROR collecting {conftest['file']}")
        elif _STUCK.match(line) or _CRASHED.match(line):
            self.section = "crash"
            self.crash.add(line)
        elif len(self.verbose) < MOST_KEPT and (verbose := _VERBOSE.match(line.rstrip())):
            node = verbose["early_node"] or verbose["node"]
            self.verbose.append(Entry(verbose["early"] or verbose["outcome"], node.strip()))
        elif len(self.usage) < MOST_KEPT and (usage := _USAGE.match(line)):
            self.usage.append(Failure(FailureKind.UNKNOWN, usage["error"] or usage["usage"], evidence=line))
        elif covered := too_little(line):
            self.findings.fall_back(covered)

    def parsed(self) -> Parsed:
        for failure in (*numbered(self._failures()), *self._breakdowns()):
            self.findings.gathering.fail(failure)
        tests = self.summary.tests()
        if tests is None or not (tests.tests or tests.errors):
            nothing_ran = [Failure(FailureKind.UNKNOWN, "no tests ran")] if tests else []
            for failure in self.usage or nothing_ran:
                self.findings.fall_back(failure)
        if tests is None and (hung := _still_running(self.last, self.workspace)):
            self.findings.fall_back(hung)
        return self.findings.parsed(tests, is_complete=tests is not None or self.conftest is not None)

    def _failures(self) -> Iterator[Failure]:
        entries = self.summary.entries or self._unsummarised()
        if not entries:
            yield from map(self._failure_of_block, self._believable())
            yield from () if self.blocks else self.by_line
        yield from map(self._failure, entries, _blocks_of(entries, self.blocks), _lines_of(entries, self.by_line))

    def _failure(self, entry: Entry, block: Block | None, line: Failure | None) -> Failure:
        if block is None:
            return self._of_entry(entry, line)
        file = self.workspace.relative(entry.file)
        return block.failure(self.workspace, entry.node if entry.is_test else None, file)

    def _unsummarised(self) -> list[Entry]:
        """Without a summary (`-rN`, or a run cut short), the lines of `-v` name the tests."""
        return self.verbose if len(self.verbose) >= len(self.blocks) else []

    def _believable(self) -> list[Block]:
        """The blocks, without those beyond the totals that show no place: a test had printed them."""
        tests = self.summary.tests()
        surplus = len(self.blocks) - (tests.failures + tests.errors) if tests else 0
        doubtful = [block for block in self.blocks if surplus > 0 and block.place(self.workspace) is None][:surplus]
        return [block for block in self.blocks if block not in doubtful]

    def _failure_of_block(self, block: Block) -> Failure:
        if block.is_of_collection:
            return block.failure(self.workspace, None, self.workspace.relative(block.subject))
        return block.failure(self.workspace, block.subject, None)

    def _of_entry(self, entry: Entry, line: Failure | None) -> Failure:
        """A failure that has no block (`--tb=no`, `--tb=line`)."""
        message = line.message if line else entry.message or entry.outcome.lower()
        return Failure(
            FailureKind.TEST_FAILURE if entry.is_test else FailureKind.COMPILE_ERROR,
            message,
            file=line.file if line else self.workspace.relative(entry.file),
            line=line.line if line else None,
            test_name=entry.node if entry.is_test else None,
            evidence=line.evidence if line else entry.message,
            exception=python_exception(message),
            is_error=entry.is_error,
        )

    def _breakdowns(self) -> Iterator[Failure]:
        """What ended pytest itself."""
        if self.conftest is not None:
            yield self.conftest.failure(self.workspace, None, self.workspace.relative(self.conftest.subject))
        if internal := [line for line in self.internal if line.strip()]:
            raised = next((line for line in reversed(internal) if not line[0].isspace()), internal[-1])
            yield self._broken(FailureKind.UNKNOWN, raised, "\n".join(internal))
        if crash := list(self.crash):
            is_stuck = bool(_STUCK.match(crash[0]))
            kind = FailureKind.TIMEOUT if is_stuck else FailureKind.TEST_FAILURE
            frames = crash if is_stuck else crash[::-1]
            yield self._broken(kind, "a test ran out of its time" if is_stuck else crash[0], "\n".join(frames))

    def _broken(self, kind: FailureKind, message: str, text: str) -> Failure:
        place = python_place(text, self.workspace)
        return Failure(
            kind,
            message,
            **at(place),
            evidence="\n".join(text.splitlines()[-20:]),
            exception=python_exception(message),
            is_error=True,
        )


def _still_running(last: str, workspace: Workspace) -> Failure | None:
    """The test, or the file, that the last line of a log without an end begins and does not end."""
    match = _UNENDED.match(last)
    if match is None:
        return None
    node = match["verbose"]
    file = workspace.relative(node.partition("::")[0] if node else match["file"])
    return still_running(file, node, last)


def _of_one_line(short: re.Match[str], workspace: Workspace) -> Failure:
    """`--tb=line` has no titles, and one line for each failure."""
    return Failure(
        FailureKind.TEST_FAILURE,
        short["message"],
        file=workspace.relative(short["file"]),
        line=int(short["line"]),
        evidence=short.string,
        exception=python_exception(short["message"]),
    )


def _blocks_of(entries: list[Entry], blocks: list[Block]) -> list[Block | None]:
    """For each entry the first block left that tells of it. What broke around a test, pytest-sugar calls failed."""
    left, shown = list(blocks), list[Block | None]()
    for entry in entries:
        at = next((at for at, block in enumerate(left) if entry.is_shown_by(block)), None)
        shown.append(None if at is None else left.pop(at))
    broken = {block.subject: block for block in left if block.is_error and not block.is_of_collection}
    return [block or broken.get(entry.subject) for entry, block in zip(entries, shown, strict=True)]


def _lines_of(entries: list[Entry], lines: list[Failure]) -> Iterator[Failure | None]:
    """For each entry the first line left that says what it, perhaps cut short, says."""
    left = list(lines)
    for entry in entries:
        message = entry.message.removesuffix("...").strip()
        is_said = bool(message) and not entry.is_error
        at = next((at for at, line in enumerate(left) if is_said and line.message.startswith(message)), None)
        yield None if at is None else left.pop(at)
