"""What a runner prints about its tests: a block of lines for each that failed, and counts. The rows of a format tell
which lines these are; how the text of a block is read, is in `data/tools.toml`."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial

from agent_fox.core.regex import regex
from agent_fox.verifier.ground.results import Failure, FailureKind, TestSummary
from agent_fox.verifier.logs.frames import in_folder
from agent_fox.verifier.logs.gathering import MOST_KEPT, STILL_RUNNING, Excerpt
from agent_fox.verifier.logs.kinds import DATA, kind_in, made, written
from agent_fox.verifier.logs.protocol import LogParser, Workspace
from agent_fox.verifier.logs.rows import COUNTED, SAID, Row, Rows

Groups = Mapping[str, str | None]
_COUNT = regex(r"(\d+) ([a-z]+(?: [a-z]+)*)|([a-z ]+)=(\d+)")


@dataclass(slots=True)
class Block:
    """A failed test, or several that failed alike by `names`, and the lines about it: none where a list names it."""

    row: Row
    groups: Groups
    file: str
    names: list[list[str]]
    is_doubtful: bool = False  # whether the test before it may have printed it
    is_printing: bool = False
    shown: Excerpt = field(default_factory=Excerpt)
    failures: list[Failure] | None = None

    @property
    def key(self) -> str:
        owner = self.groups.get("folder") or self.groups.get("owner")
        return " ".join(filter(None, [owner, ".".join(self.names[0]) or self.file]))

    def shows(self, listed: Block) -> bool:
        """Whether it is of a test that a list names."""
        is_alike = (self.row.is_error, self.row.uncounted) == (listed.row.is_error, listed.row.uncounted)
        is_part = listed.row.is_part and self.key.startswith(listed.key + " ")
        return is_alike and (is_part or self.key == listed.key)

    def says(self, listed: Block) -> bool:
        """Whether it has no name, and says what a list says of a test, perhaps cut short."""
        message = (listed.groups.get("message") or "").removesuffix("...").strip()
        is_said = bool(message) and (self.groups.get("message") or "").startswith(message)
        return is_said and not self.names[0] and not listed.row.is_error


class Blocks:
    """The tests of one log."""

    def __init__(self, of: Rows, workspace: Workspace) -> None:
        self._format, self._workspace = of, workspace
        self.open: Block | None = None
        self._kept: deque[Block] = deque(maxlen=2 * MOST_KEPT)
        self.listed: list[Block] = []
        self._seen: list[Block] = []
        self._lines: list[Block] = []
        self.counts: dict[str, int] | None = None
        self.last = ""

    def begin(self, row: Row, groups: Groups, file: str | None) -> bool:
        """Whether a test failed whose title a line is, rather than that one was printed like it."""
        number = len(self._kept) + (self.open is not None) + 1
        is_next = number <= (self.counts or {}).get("failed", number)
        if (written := groups.get("number")) and not (is_next and int(written) == number):
            return False
        if row.place == "inside" and not self._workspace.holds(file or ""):
            return False
        names = self._names(groups)
        if row.is_alike and self.open is not None and self.open.row == row and not self.open.shown.text.strip():
            self.open.names.append(names)
            return True
        if row.is_whole:
            self._lines += [Block(row, groups, file or "", [names])] if len(self._lines) < MOST_KEPT else []
            return True
        is_doubtful = self.open is not None and self.open.is_printing
        self.end()
        self.open = Block(row, groups, file or "", [names], is_doubtful)
        if groups.get("message"):
            self.open.shown.add(groups["message"] or "")
        return True

    def enlist(self, row: Row, groups: Groups) -> None:
        """A list of failed tests names one; or a test was seen to fail, of which a list would tell more."""
        tests = self._seen if row.gives == "seen" else self.listed
        test = Block(row, groups, groups.get("file") or "", [self._names(groups)])
        if row.passes:
            tests[:] = [each for each in tests if each.key != test.key]
        elif len(tests) < MOST_KEPT and not (row.opens and any(each.key == test.key for each in tests)):
            tests.append(test)
        if row.opens:
            self.end()
            self.open = test

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

    def add(self, line: str) -> None:
        """A line that no row takes."""
        if self.open is not None and not self.open.is_printing:
            self.open.shown.add(line)
        self.last = line if line.strip() else self.last

    def pass_over(self, block: str, at: int, end: int) -> None:
        """Many of these, each with its end."""
        if self.open is not None and not self.open.is_printing:
            self.open.shown.extend(block[at : end - 1].split("\n"))
        if last := len(block[max(at, end - 2_000) : end].rstrip()):
            last += max(at, end - 2_000)
            self.last = block[max(at, block.rfind("\n", at, last) + 1) : block.find("\n", last)]

    def end(self) -> None:
        block, self.open = self.open, None
        if block is None or (len(self._kept) >= MOST_KEPT and not self._format.are_last):
            return
        if not self._format.has_lists:  # nothing more is needed of its lines
            block.failures = list(self._failures(block))
            block.shown = Excerpt()
        if block.failures is None or block.failures:
            self._kept.append(block)

    def _failures(self, block: Block) -> Iterator[Failure]:
        of, row, text, folder = self._format, block.row, block.shown.text, block.groups.get("folder") or ""
        compiler: LogParser | None = made("row_reader:built_in")(row.inner) if row.inner else None
        if compiler and (errors := compiler.parse(map(str.strip, block.shown), self._workspace).failures):
            yield from errors
            return
        text = text or block.groups.get("message") or ""
        own_file, name = self._workspace.relative(block.file), of.joint.join(block.names[-1])
        failure = reader_of(row.reads or of.reads)(text, self._workspace, block.file, name)
        if failure is None or (row.is_alike and not text.strip()):
            return
        if not failure.line:
            line, column = (int(block.groups.get(each) or 0) or None for each in ("line", "column"))
            failure = replace(failure, file=own_file or failure.file, line=line, column=column)
        elif failure.file:
            failure = replace(failure, file=in_folder(failure.file, folder.removeprefix(".")))
        groups = {name: value or "" for name, value in block.groups.items()}
        written = (row.message or "").format(**{SAID: failure.message}, **groups)
        message = written if f"{{{SAID}}}" in (row.message or "") else failure.message or written
        failure = replace(failure, message=message, evidence=failure.evidence or text, is_error=row.is_error)
        for names in block.names:
            kind = (kind_in(row.kinds, text) if row.kinds and not names else None) or row.kind
            kind = failure.kind if row.kind is FailureKind.UNKNOWN else kind
            yield replace(failure, kind=kind, test_name=of.joint.join(names) or None)

    def restart(self) -> None:
        self.open, self.counts = None, None
        self._kept.clear()

    def count(self, groups: Groups) -> None:
        """Counts in a line, by groups with the names of COUNTED, or by words. What is no number counts one."""
        counts = self.counts = self.counts if self.counts is not None else {}
        if (words := groups.get("counts")) is not None or "counts" in groups:
            self.counts = counts = {name: counts[name] for name in ("tests", "broken") if name in counts}
            for number, word, other, its_number in _COUNT.findall(words or ""):
                if name := self._format.words.get((word or other).strip()):
                    counts[name] = counts.get(name, 0) + int(number or its_number)
        for name in COUNTED:
            if text := groups.get(name):
                counts[name] = int(text) if text.isdigit() else counts.get(name, 0) + 1

    def believed(self) -> list[Failure]:
        """The failures that are believed. A list decides which there are."""
        self.end()
        listed = self.listed or (self._seen if len(self._seen) >= len(self._kept) else [])
        self._kept = deque(self._of_list(listed) if listed else self._believed())
        for block in self._kept:
            block.failures = list(self._failures(block)) if block.failures is None else block.failures
        nested = self._format.nested  # a test counts for those around it
        around = {block.key.rpartition(nested)[0] for block in self._kept} if nested else set()
        failures = [each for block in self._kept if block.key not in around for each in block.failures or ()]
        seen: Counter[tuple[object, ...]] = Counter()
        for n, failure in enumerate(failures if self._format.has_subtests else ()):  # those alike: `test_x #2`
            key = (failure.file, failure.line, failure.test_name, failure.message, failure.is_error)
            seen[key] += 1
            if seen[key] > 1 and failure.test_name is not None:
                failures[n] = replace(failure, test_name=f"{failure.test_name} #{seen[key]}")
        return failures

    def _of_list(self, listed: list[Block]) -> Iterator[Block]:
        """For each test of a list the first block left that shows it; one without is what the list says of it."""
        keys, blocks = {each.key for each in listed}, [block for block in self._kept if not block.row.is_apart]
        left: list[Block] = [] if self._format.list_tells else list(blocks)
        for block in blocks if self._format.list_tells else ():
            if not left or (block.key in keys and block.key != left[-1].key):
                left.append(block)
            else:  # printed by the test of the block before it, or more of the same
                left[-1].shown.extend(list(block.shown))
        lines = list(self._lines)
        shown = [_taken(left, partial(Block.shows, listed=each)) for each in listed]
        broken = {block.key: block for block in left if block.row.is_error and not block.row.uncounted}
        for each, its in zip(listed, shown, strict=True):
            names = [[each.file, *each.names[0]]] if self._format.has_files and each.names[0] else each.names
            block = its or broken.get(each.key) or _taken(lines, partial(Block.says, listed=each)) or each
            row, groups = (each.row, each.groups) if self._format.list_tells else (block.row, block.groups)
            yield replace(block, names=names, file=block.file or each.file, row=row, groups=groups)
        yield from (block for block in self._kept if block.row.is_apart)

    def _believed(self) -> list[Block]:
        """As many of the last as were counted. What a test may have printed counts only where others are too few."""
        kept = [block for block in self._kept if not block.row.only_listed] or self._lines
        of = (self.counts or {}).get
        if self.counts is None or not (self._format.are_last or self._format.has_lists):
            return kept
        unexpected = sum(block.row.passes for block in kept)  # not shown by each version
        failed = unexpected + of("failed", 0) + of("errors", 0)
        if self._format.has_lists:
            surplus = len(kept) - failed
            doubtful = [block for block in kept if surplus > 0 and not any(f.line for f in self._failures(block))]
            return [block for block in kept if block not in doubtful[:surplus] or block.row.is_apart]
        certain = [block for block in kept if not block.is_doubtful]
        kept = certain if len(certain) >= failed else kept
        return kept[-failed:] if failed else []

    def summary(self) -> TestSummary | None:
        """The counts, after what was told. A file that could not be run is an error of no test."""
        if self.counts is None:
            return None
        of, broken = self.counts.get, sum(block.row.uncounted for block in self._kept)
        failed, errors = of("failed", 0) + of("xpassed", 0), of("errors", broken)
        skipped, xfailed, passed = of("skipped", 0), of("xfailed", 0), of("passed", 0)
        tests = of("tests")
        if tests is None:
            tests = passed + failed + errors + skipped + xfailed - min(of("broken") or broken, errors)
        elif "passed" not in self.counts:
            unpassed = failed + of("errors", 0)
            if self._format.has_subtests:  # a test may have several failures, and some are shown by no block
                shown = [block.failures[0] for block in self._kept if block.failures and not block.row.uncounted]
                names = {each.test_name or each.evidence for each in shown}
                unpassed = max(0, unpassed - len(self._kept)) + len(names)
            passed = max(0, tests - skipped - xfailed - unpassed)
        return TestSummary(tests, passed, failed, errors, skipped, xfailed)

    def running(self, groups: Groups) -> Failure:
        """What the last line of a log without counts begins: it hung, or ended the runner."""
        file = groups.get("file") or ""
        names = self._names(groups)
        names = [file, *names] if self._format.has_files and names else names
        file, test = self._workspace.relative(file), self._format.joint.join(names) or None
        failure = Failure(FailureKind.TEST_FAILURE, STILL_RUNNING, file or None, test_name=test, is_error=True)
        return replace(failure, evidence=self.last)


def _taken(blocks: list[Block], fits: Callable[[Block], bool]) -> Block | None:
    """The first block that fits, which is taken out of them."""
    block = next(filter(fits, blocks), None)
    if block is not None:
        blocks.remove(block)
    return block


def reader_of(how: str) -> Callable[..., Failure | None]:
    """What reads the text of a failed test: given that, the workspace, and the file and name that its title tells."""
    reader: Callable[..., Failure | None] = made(written(DATA / "tools.toml")["readers"][how])
    return reader
