"""What a runner prints about its tests: a block of lines for each that failed, and counts. The rows of a format tell
which lines these are; how the text of a block is read, is in READERS."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from agent_fox.core.regex import regex
from agent_fox.verifier.ground.results import Failure, FailureKind, TestSummary
from agent_fox.verifier.logs.drafts import Excerpt
from agent_fox.verifier.logs.frames import asserted_c, thrown_python
from agent_fox.verifier.logs.gathering import MOST_KEPT, still_running
from agent_fox.verifier.logs.go.places import in_folder, logged_go
from agent_fox.verifier.logs.javascript.stacks import node_failure, thrown_javascript, thrown_vitest, uncaught
from agent_fox.verifier.logs.kinds import kind_in
from agent_fox.verifier.logs.rows import COUNTED

if TYPE_CHECKING:
    from agent_fox.verifier.logs.protocol import Workspace
    from agent_fox.verifier.logs.rows import Row, Rows

Groups = Mapping[str, str | None]
_COUNT = regex(r"(\d+) ([a-z]+(?: [a-z]+)*)|([a-z ]+)=(\d+)")


@dataclass(slots=True)
class Block:
    """A failed test (or several that failed alike, by `names`), and the lines about it."""

    row: Row
    groups: Groups
    file: str
    names: list[list[str]]
    is_doubtful: bool = False
    """Whether the test before it may have printed it."""
    is_printing: bool = False
    shown: Excerpt = field(default_factory=Excerpt)


@dataclass(slots=True)
class _Told:
    """What came of a block."""

    failures: list[Failure]
    block: Block


class Blocks:
    """The tests of one log."""

    def __init__(self, of: Rows, workspace: Workspace) -> None:
        self._format, self._workspace = of, workspace
        self.open: Block | None = None
        self._told: deque[_Told] = deque(maxlen=2 * MOST_KEPT)
        self._counts: dict[str, int] | None = None
        self.last = ""

    def begin(self, row: Row, groups: Groups, file: str | None) -> bool:
        """Whether a test failed whose title a line is, rather than that one was printed like it."""
        number = len(self._told) + (self.open is not None) + 1
        is_next = number <= (self._counts or {}).get("failed", number)
        if (written := groups.get("number")) and not (is_next and int(written) == number):
            return False
        names = self._names(groups)
        if row.is_alike and self.open is not None and self.open.row == row and not self.open.shown.text.strip():
            self.open.names.append(names)
            return True
        is_doubtful = self.open is not None and self.open.is_printing
        self.end()
        self.open = Block(row, groups, file or "", [names], is_doubtful)
        if groups.get("message"):
            self.open.shown.add(groups["message"] or "")
        return True

    def _names(self, groups: Groups) -> list[str]:
        """The parts of a test's name, outermost first."""
        parts = [groups.get("suite") or "", *(groups.get("test") or "").split(self._format.divider)]
        return [part.strip() for part in parts if part.strip()]

    def name(self, groups: Groups) -> bool:
        """Whether a line is more of the open test's title."""
        if self.open is None or any(self.open.shown):
            return False
        self.open.names[-1].extend(self._names(groups))
        return True

    def pass_over(self, block: str, at: int, end: int) -> None:
        """Whole lines, each with its end, that no row takes."""
        if self.open is not None and not self.open.is_printing:
            self.open.shown.extend(block[at : end - 1].split("\n"))
        if last := len(block[max(at, end - 2_000) : end].rstrip()):
            last += max(at, end - 2_000)
            self.last = block[max(at, block.rfind("\n", at, last) + 1) : block.find("\n", last)]

    def print(self) -> None:
        """The rest of the open block was printed by the test."""
        if self.open is not None:
            self.open.is_printing = True

    def end(self) -> None:
        block, self.open = self.open, None
        if block is None or (len(self._told) >= MOST_KEPT and not self._format.are_last):
            return
        if failures := list(self._failures(block)):
            block.shown = Excerpt()
            self._told.append(_Told(failures, block))

    def _failures(self, block: Block) -> Iterator[Failure]:
        of, row, text, folder = self._format, block.row, block.shown.text, block.groups.get("folder") or ""
        inner = row.inner.parse(map(str.strip, block.shown), self._workspace).failures if row.inner else ()
        if inner:
            yield from inner
            return
        found = READERS[row.reads or of.reads](text, self._workspace, block.file)
        if found is None or (row.is_alike and not text.strip()):
            return
        file = in_folder(found.file, folder.removeprefix(".")) if found.file else None
        said = (row.message or "").format(**{name: value or "" for name, value in block.groups.items()})
        failure = replace(
            found,
            message=found.message or said,
            file=file if found.line else self._workspace.relative(block.file) or file,
            evidence=text,
            is_error=row.is_error,
        )
        for names in block.names:
            kind = (kind_in(row.kinds, text) if row.kinds and not names else None) or row.kind
            kind = found.kind if row.kind is FailureKind.UNKNOWN else kind
            yield replace(failure, kind=kind, test_name=of.joint.join(names) or None)

    def restart(self) -> None:
        self.open, self._counts = None, None
        self._told.clear()

    def count(self, groups: Groups) -> None:
        """Counts in a line, by groups with the names of COUNTED, or by words. What is no number counts one."""
        counts = self._counts = self._counts if self._counts is not None else {}
        if (words := groups.get("counts")) is not None or "counts" in groups:
            self._counts = counts = {name: number for name, number in counts.items() if name == "tests"}
            for number, word, other, its_number in _COUNT.findall(words or ""):
                if name := self._format.words.get((word or other).strip()):
                    counts[name] = counts.get(name, 0) + int(number or its_number)
        for name in COUNTED:
            if text := groups.get(name):
                counts[name] = int(text) if text.isdigit() else counts.get(name, 0) + 1

    def told(self) -> list[Failure]:
        """The failures that are believed."""
        self.end()
        self._told = deque(self._believed())
        failures = (failure for told in self._outermost() for failure in told.failures)
        return list(numbered(failures) if self._format.has_subtests else failures)

    def _believed(self) -> list[_Told]:
        """As many of the last as were counted. What a test may have printed counts only where others are too few."""
        told = list(self._told)
        if self._counts is None or not self._format.are_last:
            return told
        unexpected = sum(each.block.row.passes for each in told)  # not shown by each version
        failed = unexpected + self._counts.get("failed", 0) + self._counts.get("errors", 0)
        certain = [each for each in told if not each.block.is_doubtful]
        told = certain if len(certain) >= failed else told
        return told[-failed:] if failed else []

    def _outermost(self) -> Iterable[_Told]:
        """Without tests of which a test within them failed."""
        within = {_name(told).rpartition(self._format.nested)[0] for told in self._told if self._format.nested}
        return (told for told in self._told if not (self._format.nested and _name(told) in within))

    def summary(self) -> TestSummary | None:
        """The counts, after what was told. A file that could not be run is an error of no test."""
        if self._counts is None:
            return None
        of = self._counts.get
        failed, errors, others = (
            of("failed", 0) + of("xpassed", 0),
            of("errors", 0),
            of("skipped", 0) + of("xfailed", 0),
        )
        tests = of("tests", of("passed", 0) + failed + errors + others)
        passed = of("passed", max(0, tests - others - self._failed_tests(failed + errors)))
        broken = sum(told.block.row.uncounted for told in self._told)
        return TestSummary(tests, passed, failed, errors or broken, of("skipped", 0), of("xfailed", 0))

    def _failed_tests(self, failed: int) -> int:
        """Of how many tests the failures are: one may have several, and some are shown by no block."""
        if not self._format.has_subtests:
            return failed
        first = [told.failures[0] for told in self._told if not told.block.row.uncounted]
        return max(0, failed - len(self._told)) + len({each.test_name or each.evidence for each in first})

    def running(self, groups: Groups) -> Failure:
        """What the last line of a log without counts begins."""
        file = self._workspace.relative(groups.get("file") or "") or None
        return still_running(file, self._format.joint.join(self._names(groups)) or None, self.last)


def _name(told: _Told) -> str:
    return f"{told.block.groups.get('folder')} {told.block.groups.get('test')}"


def numbered(failures: Iterable[Failure]) -> Iterator[Failure]:
    """The failures, where sub-tests of one test fail alike numbered by their names: `test_x`, `test_x #2`."""
    seen: Counter[tuple[object, ...]] = Counter()
    for failure in failures:
        key = (failure.file, failure.line, failure.test_name, failure.message, failure.is_error)
        seen[key] += 1
        is_repeated = seen[key] > 1 and failure.test_name is not None
        yield replace(failure, test_name=f"{failure.test_name} #{seen[key]}") if is_repeated else failure


READERS: Mapping[str, Callable[[str, Workspace, str], Failure | None]] = {
    "javascript": thrown_javascript,
    "vitest": thrown_vitest,
    "node": uncaught,
    "crash": node_failure,
    "python": thrown_python,
    "go": logged_go,
    "c": asserted_c,
}
