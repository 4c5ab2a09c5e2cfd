"""TAP 12 to 14, as Node, node-tap, tape, Mocha, Vitest, bats and Perl write it: test lines, sub-tests, YAML blocks."""

from __future__ import annotations

import re
from collections import deque
from dataclasses import dataclass, field, replace

from agent_fox.verifier.logs.frames import Place, any_place, first_line
from agent_fox.verifier.logs.gathering import LONGEST_EVIDENCE, Counts, Gathering
from agent_fox.verifier.logs.javascript_files import broken_file, error_line, is_file, kind_of_broken_file, test_path
from agent_fox.verifier.logs.line_log import LineLog, LineReader
from agent_fox.verifier.logs.opening import stands_first
from agent_fox.verifier.logs.protocol import Workspace
from agent_fox.verifier.logs.tap_yaml import Fields, exception_of, fields_of, message_of, place_of
from agent_fox.verifier.results import Failure, FailureKind, Parsed

MOST_LINES = 120  # of what is said about one test
_STEP = 4  # columns a sub-test is indented by
_STARTS = re.compile(r"^(?:TAP version 1[234]|(?:not )?ok 1\b)", re.MULTILINE)
_OPEN_QUOTE = re.compile(r'^\s*[\w-]+: "(?:[^"\\]|\\.)*$')
_CLOSES_QUOTE = re.compile(r'(?<!\\)"\s*$')
_TEST = re.compile(r"^((?: {4})*)(not )?ok\b(?: +\d+)?(?: +- +| +|$)(.*)$")
_SUBTEST = re.compile(r"^((?: {4})*)# Subtest(?:: (.*))?$")
_DIRECTIVE = re.compile(r"(?:^|[^\\])# *(SKIP|TODO)\b", re.IGNORECASE)
_TIME = re.compile(r"\s+# (?:time|duration_ms)[ =]\S+")
_COMMENT = re.compile(r"^\s*# ?")
_SPEC = re.compile(r"^\s*[✔✖▶✓✗×] ", re.MULTILINE)
_PLAN = re.compile(r"^1\.\.(\d+)")
_BAIL = re.compile(r"^\s*Bail out!\s*(.*)$")
_BATS = re.compile(r"in (?:test )?file ([^,\n]+), line (\d+)")
_PERL = re.compile(r"\bat (\S+) line (\d+)\.")


class Tap(LineLog):
    """Reads test lines. A parent is neither counted nor a failure where one of its sub-tests failed."""

    tools = ("tap", "node-test", "mocha", "vitest", "jest", "bats", "prove")
    stands_alone = True

    def recognises(self, head: str) -> bool:
        found = _STARTS.search(head)
        if found is None or stands_first(head, found.start()):
            return found is not None
        return found[0].startswith("TAP") and not _SPEC.search(head)  # something was printed while a file was loaded

    def reader(self, workspace: Workspace) -> LineReader:
        return _Reader(workspace)


@dataclass(slots=True)
class _Test:
    """A test line with what follows it. `has_failed` is of its sub-tests."""

    depth: int
    name: str
    is_ok: bool
    is_excused: bool
    before: list[str]
    has_children: bool = False
    has_failed: bool = False
    yaml: list[str] = field(default_factory=list)
    after: list[str] = field(default_factory=list)


class _Reader:
    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._found = Gathering()
        self._counts = Counts()
        self._groups: dict[int, str] = {}
        self._seen: dict[int, bool] = {}  # depth of sub-tests read -> whether one failed
        self._braced: list[_Test] = []
        self._test: _Test | None = None
        self._yaml_indent: int | None = None
        self._indentation = ""
        self._is_dull = False  # the block is of a test that passed
        self._is_quoting = False  # a value in quotes goes on over lines of any indentation
        self._between: deque[str] = deque(maxlen=MOST_LINES)
        self._top = 0
        self._planned: int | None = None
        self._has_bailed = False

    def take(self, line: str) -> None:
        if self._yaml_indent is not None and self._take_yaml(line):
            return
        if "ok" in line and (found := _TEST.match(line)):
            self._take_test(len(found[1]) // _STEP, not found[2], found[3])
        elif "# Subtest" in line and (found := _SUBTEST.match(line)):
            self._settle()
            self._groups[len(found[1]) // _STEP] = _plain(found[2] or "")
        elif self._test and line.endswith("---") and line.strip() == "---":
            self._yaml_indent = len(line) - len(line.lstrip())
            self._indentation, self._is_dull = " " * self._yaml_indent, self._test.is_ok
        elif self._braced and line.strip() == "}":
            self._close_brace()
        elif line.startswith("TAP version") and self._planned is None:
            self._restart()
        elif "Bail" in line and (found := _BAIL.match(line)):
            self._bail(found[1])
        elif line.startswith("1..") and (found := _PLAN.match(line)):
            self._planned = int(found[1])
        else:
            self._take_other(line)

    def _restart(self) -> None:
        """What came before the first line of TAP was printed by something else."""
        self._settle()
        self._found, self._counts, self._top, self._seen, self._groups = Gathering(), Counts(), 0, {}, {}

    def _take_yaml(self, line: str) -> bool:
        """Whether the line belongs to the YAML block, which also ends where its indentation does."""
        if self._is_quoting:
            self._quote(line)
            return True
        if self._is_dull and line.startswith(self._indentation) and line[-3:] != "...":
            return True
        said = line.lstrip()
        indent = len(line) - len(said)
        if indent == self._yaml_indent and said.rstrip() == "...":
            self._settle()
            return True
        if said and indent < (self._yaml_indent or 0):
            self._settle()
            return False
        if self._test and not self._test.is_ok and len(self._test.yaml) < MOST_LINES:
            self._test.yaml.append(line)
            self._is_quoting = bool(_OPEN_QUOTE.match(line))
        return True

    def _quote(self, line: str) -> None:
        self._is_quoting = not _CLOSES_QUOTE.search(line)
        if self._test and len(self._test.yaml[-1]) < LONGEST_EVIDENCE:
            self._test.yaml[-1] += f"\\n{line}"

    def _take_test(self, depth: int, is_ok: bool, rest: str) -> None:
        self._settle()
        is_open = rest.endswith("{")
        is_excused = "#" in rest and bool(_DIRECTIVE.search(rest))
        name = _plain(_TIME.sub("", rest.removesuffix("{")).strip()) if "#" in rest or is_open else rest.strip()
        name = self._workspace.relative(name) if is_file(name) else name
        test = _Test(depth, name, is_ok, is_excused, list(self._between))
        self._between.clear()
        self._top += depth == 0
        if is_open:
            self._groups[depth] = name
            self._braced.append(test)
            return
        test.has_children, test.has_failed = self._take_children(depth)
        self._seen[depth] = self._seen.get(depth, False) or not (is_ok or is_excused)
        self._test = test

    def _take_children(self, depth: int) -> tuple[bool, bool]:
        """Whether there were sub-tests below `depth`, and whether one failed; the next test starts without."""
        deeper = [level for level in self._seen if level > depth]
        if not deeper:
            return False, False
        failed = [self._seen.pop(level) for level in deeper]
        return bool(deeper), any(failed)

    def _close_brace(self) -> None:
        self._settle()
        test = self._braced.pop()
        test.has_children, test.has_failed = self._take_children(test.depth)
        self._seen[test.depth] = self._seen.get(test.depth, False) or not (test.is_ok or test.is_excused)
        self._groups.pop(test.depth, None)
        self._test = test
        self._settle()

    def _take_other(self, line: str) -> None:
        said = _COMMENT.sub("", line)
        if self._test and len(self._test.after) < MOST_LINES:
            self._test.after.append(said)
        else:
            self._between.append(_plain(said))

    def _bail(self, reason: str) -> None:
        self._settle()
        self._has_bailed = True
        message = f"Bail out! {reason}".strip()
        self._found.fail(Failure(FailureKind.TEST_FAILURE, message, evidence=message, is_error=True))

    def _settle(self) -> None:
        """Count the last test, and keep it if it failed by itself."""
        test, self._test, self._yaml_indent, self._is_quoting = self._test, None, None, False
        if test is None:
            return
        fails = not (test.is_ok or test.is_excused)
        fields = fields_of(test.yaml) if fails else {}
        is_own = fails and not _is_parents(test, fields)
        if is_own and not self._found.is_full:
            self._found.fail(_failure(test, fields, self._name(test), self._workspace))
        if not test.has_children or is_own:
            self._counts.skipped += test.is_excused
            self._counts.passed += test.is_ok and not test.is_excused
            self._counts.failures += is_own
        if test.after and not test.yaml and not fails:
            self._between.extend(test.after)

    def _name(self, test: _Test) -> str:
        return test_path([self._groups.get(depth, "") for depth in range(test.depth)] + [test.name])

    def parsed(self) -> Parsed:
        self._settle()
        is_whole = self._planned is not None and self._top >= self._planned and not self._has_bailed
        if self._planned is None and (crash := _crash(list(self._between), self._workspace)):
            self._found.fail(crash)
        return self._found.parsed(self._counts.summary(), is_complete=is_whole)


def _is_parents(test: _Test, fields: Fields) -> bool:
    """Whether a test failed only as the parent of one that did."""
    kind = fields.get("failureType", "")
    return kind == "subtestsFailed" or (test.has_failed and not kind)


def _failure(test: _Test, fields: Fields, name: str, workspace: Workspace) -> Failure:
    said = "\n".join(test.after)
    place = place_of(fields, workspace) or _place_in(said, workspace)
    message = first_line(message_of(fields)) or first_line(said) or test.name
    evidence = "\n".join(test.yaml) or said
    if is_file(test.name):
        wrapped = message if not error_line(test.before) else ""
        failure = broken_file(test.name, test.before, wrapped, place, workspace)
        return failure if failure.evidence != wrapped else replace(failure, evidence=evidence)
    return Failure(
        kind=FailureKind.TEST_FAILURE,
        message=message,
        file=place.file if place else None,
        line=place.line if place else None,
        column=place.column if place else None,
        test_name=name or None,
        evidence=evidence,
        exception=exception_of(fields),
    )


def _place_in(said: str, workspace: Workspace) -> Place | None:
    """The place in the comments that bats and Perl write below a test line, or in a stack trace there."""
    found = _BATS.search(said) or _PERL.search(said)
    return Place(workspace.relative(found[1]), int(found[2])) if found else any_place(said, workspace)


def _crash(lines: list[str], workspace: Workspace) -> Failure | None:
    """What ended the run before it printed a plan."""
    error = error_line(lines)
    if not error:
        return None
    text = "\n".join(lines)
    place = any_place(text, workspace)
    return Failure(
        kind=kind_of_broken_file(text),
        message=error,
        file=place.file if place else None,
        line=place.line if place else None,
        column=place.column if place else None,
        evidence=text,
        exception=error.partition(":")[0],
        is_error=True,
    )


def _plain(text: str) -> str:
    """Without TAP's escapes, nor a directive."""
    if "#" not in text:
        return text
    directive = _DIRECTIVE.search(text)
    return (text[: directive.start() + 1].rstrip(" #") if directive else text).replace("\\#", "#")
