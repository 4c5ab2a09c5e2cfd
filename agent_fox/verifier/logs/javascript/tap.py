"""TAP 12 to 14, as Node, node-tap, tape, Mocha, Vitest, bats and Perl write it: test lines, sub-tests, YAML blocks."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from agent_fox.verifier.ground.results import Failure, FailureKind, Parsed
from agent_fox.verifier.logs.documents import stands_first
from agent_fox.verifier.logs.frames import is_file
from agent_fox.verifier.logs.gathering import LONGEST_EVIDENCE, Counts, Gathering
from agent_fox.verifier.logs.javascript.stacks import test_path
from agent_fox.verifier.logs.javascript.tap_failures import TapTest, crash_of, failure_of
from agent_fox.verifier.logs.kinds import patterns_in
from agent_fox.verifier.logs.line_log import LineStream

if TYPE_CHECKING:
    from agent_fox.verifier.logs.protocol import Workspace

_LIKE = patterns_in(__file__)

MOST_LINES = 120  # of what is said about one test
_STEP = 4  # columns a sub-test is indented by


class _Reader:
    """Reads test lines. A parent is neither counted nor a failure where one of its sub-tests failed."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._begin()
        self._braced: list[TapTest] = []
        self._test: TapTest | None = None
        self._yaml_indent: int | None = None
        self._indentation = ""
        self._is_dull = False  # the block is of a test that passed
        self._is_quoting = False  # a value in quotes goes on over lines of any indentation
        self._between: deque[str] = deque(maxlen=MOST_LINES)
        self._planned: int | None = None
        self._has_bailed = False

    def _begin(self) -> None:
        self._found, self._counts, self._top = Gathering(), Counts(), 0
        self._groups: dict[int, str] = {}
        self._seen: dict[int, bool] = {}  # depth of sub-tests read -> whether one failed

    def take(self, line: str) -> None:
        if self._yaml_indent is not None and self._take_yaml(line, self._yaml_indent):
            return
        if "ok" in line and (match := _LIKE["test"].match(line)):
            self._take_test(len(match[1]) // _STEP, not match[2], match[3])
        elif "# Subtest" in line and (match := _LIKE["subtest"].match(line)):
            self._settle()
            self._groups[len(match[1]) // _STEP] = _plain(match[2] or "")
        elif self._test and line.endswith("---") and line.strip() == "---":
            self._yaml_indent = len(line) - len(line.lstrip())
            self._indentation, self._is_dull = " " * self._yaml_indent, self._test.is_ok
        elif self._braced and line.strip() == "}":
            self._settle()
            self._end_test(test := self._braced.pop())
            self._groups.pop(test.depth, None)
            self._settle()
        elif line.startswith("TAP version") and self._planned is None:
            self._settle()  # what came before was printed by something else
            self._begin()
        elif "Bail" in line and (match := _LIKE["bail"].match(line)):
            self._settle()
            self._has_bailed = True
            message = f"Bail out! {match[1]}".strip()
            self._found.fail(Failure(FailureKind.TEST_FAILURE, message, evidence=message, is_error=True))
        elif line.startswith("1..") and (match := _LIKE["plan"].match(line)):
            self._planned = int(match[1])
        else:
            stripped = _LIKE["comment"].sub("", line)
            if self._test and len(self._test.after) < MOST_LINES:
                self._test.after.append(stripped)
            else:
                self._between.append(_plain(stripped))

    def skip(self, block: str, at: int) -> int:
        """Passes over tests that passed and have no sub-tests."""
        if self._yaml_indent is not None:
            return at
        deepest = max(self._seen, default=0)
        while (match := _LIKE["passed"].match(block, at)) and (depth := len(match[1]) // _STEP) >= deepest:
            self._settle()
            if match[2] is not None:
                self._groups[depth] = match[2]
            self._between.clear()
            self._seen.setdefault(depth, False)
            self._top += depth == 0
            self._counts.passed += 1
            deepest, at = depth, match.end()
        return at

    def _take_yaml(self, line: str, expected: int) -> bool:
        """Whether the line belongs to the YAML block, which also ends where its indentation does."""
        if self._is_quoting:
            self._is_quoting = not _LIKE["closes_quote"].search(line)
            if self._test and len(self._test.yaml[-1]) < LONGEST_EVIDENCE:
                self._test.yaml[-1] += f"\\n{line}"
            return True
        if self._is_dull and line.startswith(self._indentation) and line[-3:] != "...":
            return True
        stripped = line.lstrip()
        indent = len(line) - len(stripped)
        is_end = indent == expected and stripped.rstrip() == "..."
        if is_end or (stripped and indent < expected):
            self._settle()
            return is_end
        if self._test and not self._test.is_ok and len(self._test.yaml) < MOST_LINES:
            self._test.yaml.append(line)
            self._is_quoting = bool(_LIKE["open_quote"].match(line))
        return True

    def _take_test(self, depth: int, is_ok: bool, rest: str) -> None:
        self._settle()
        is_open = rest.endswith("{")
        is_excused = "#" in rest and bool(_LIKE["directive"].search(rest))
        name = _plain(_LIKE["time"].sub("", rest.removesuffix("{")).strip()) if "#" in rest or is_open else rest.strip()
        name = self._workspace.relative(name) if is_file(name) else name
        test = TapTest(depth, name, is_ok, is_excused, list(self._between))
        self._between.clear()
        self._top += depth == 0
        if is_open:
            self._groups[depth] = name
            self._braced.append(test)
        else:
            self._end_test(test)

    def _end_test(self, test: TapTest) -> None:
        """Which sub-tests the test had is known now; the next one starts without."""
        failed = [self._seen.pop(depth) for depth in [each for each in self._seen if each > test.depth]]
        test.has_children, test.has_failed = bool(failed), any(failed)
        self._seen[test.depth] = self._seen.get(test.depth, False) or test.fails
        self._test = test

    def _settle(self) -> None:
        """Counts the last test, and keeps it if it failed on its own account."""
        if self._test is None:
            return
        test, self._test, self._yaml_indent, self._is_quoting = self._test, None, None, False
        is_own = test.fails and not test.is_parents
        if is_own and not self._found.is_full:
            name = test_path([self._groups.get(depth, "") for depth in range(test.depth)] + [test.name])
            around = self._groups.get(0, "") if test.depth else ""  # the outermost test, perhaps named by its file
            file = self._workspace.relative(around) if is_file(around) else None
            self._found.fail(failure_of(test, name, self._workspace, file))
        if not test.has_children or is_own:
            self._counts.skipped += test.is_excused
            self._counts.passed += test.is_ok and not test.is_excused
            self._counts.failures += is_own
        if test.after and not test.yaml and not test.fails:
            self._between.extend(test.after)

    def parsed(self) -> Parsed:
        self._settle()
        is_whole = self._planned is not None and self._top >= self._planned and not self._has_bailed
        if self._planned is None and (crash := crash_of(list(self._between), self._workspace)):
            self._found.fail(crash)
        return self._found.parsed(self._counts.summary(), is_complete=is_whole)


def _plain(text: str) -> str:
    """Without TAP's escapes, nor a directive."""
    if "#" not in text:
        return text
    directive = _LIKE["directive"].search(text)
    return (text[: directive.start() + 1].rstrip(" #") if directive else text).replace("\\#", "#")


def _recognises(head: str) -> bool:
    match = _LIKE["starts"].search(head)
    if match is None:
        return False
    is_ours = match[0].startswith("TAP") or bool(_LIKE["planned"].search(head))
    if stands_first(head, match.start()):
        return is_ours or not _LIKE["spec"].search(head)
    return match[0].startswith("TAP") and not _LIKE["spec"].search(head)  # printed while a file was loaded


TAP = LineStream(_Reader, _recognises)
