"""TAP 12 to 14, as Node, node-tap, tape, Mocha, Vitest, bats and Perl write it: test lines, sub-tests, YAML blocks; and
the failures that it tells of: a test's, a file's that could not be loaded, and the crash of a whole run."""

from __future__ import annotations

import re
import textwrap
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from agent_fox.verifier.ground.results import Failure, FailureKind, Parsed
from agent_fox.verifier.logs.frames import first_line, is_file, place_in
from agent_fox.verifier.logs.gathering import LONGEST_EVIDENCE, Counts, Gathering
from agent_fox.verifier.logs.javascript.stacks import broken_file, error_line, kind_of_broken, named_file, test_path
from agent_fox.verifier.logs.kinds import patterns_in
from agent_fox.verifier.logs.parsers import LineLog, stands_first
from agent_fox.verifier.logs.protocol import Workspace, at

_LIKE = patterns_in(__file__)
MOST_LINES = 120  # of what is said about one test
_PLACES = (("stack", "javascript"), ("at", "javascript", "written", "position"), ("location", "position"))
"""Where a block tells where it was thrown, and else where the test stands; and by which tables of frames."""
_STEP = 4  # columns a sub-test is indented by


class _Reader:
    """Reads test lines. A parent is neither counted nor a failure where one of its sub-tests failed."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._begin()
        self._braced: list[TapTest] = []
        self._test: TapTest | None = None
        self._yaml_indent: int | None = None
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
        stripped = line.lstrip()
        indent = len(line) - len(stripped)
        is_end = indent == expected and stripped.rstrip() == "..."
        if is_end or (stripped and indent < expected):
            self._settle()
            return is_end
        if self._test and self._test.fails and len(self._test.yaml) < MOST_LINES:
            self._test.yaml.append(line)
            self._is_quoting = bool(_LIKE["open_quote"].match(line))
        return True

    def _take_test(self, depth: int, is_ok: bool, rest: str) -> None:
        self._settle()
        is_open = rest.endswith("{")
        is_excused = "#" in rest and bool(_LIKE["directive"].search(rest))
        name = _plain(_LIKE["time"].sub("", rest.removesuffix("{")).strip()) if "#" in rest or is_open else rest.strip()
        name = self._workspace.relative(name) if is_file(name) else name
        outcome = "skipped" if is_excused else "passed" if is_ok else "failures"
        test = TapTest(depth, name, outcome, outcome == "failures", list(self._between))
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
        names_inner = test.has_failed or any("subtestsFailed" in line for line in test.yaml)
        kind = fields_of(test.yaml).get("failureType", "") if names_inner else ""
        is_parents = kind == "subtestsFailed" or (test.has_failed and not kind)  # it failed only as one that failed did
        is_own = test.fails and not is_parents
        if is_own and not self._found.is_full:
            name = test_path([self._groups.get(depth, "") for depth in range(test.depth)] + [test.name])
            around = self._groups.get(0, "") if test.depth else ""  # the outermost test, perhaps named by its file
            file = self._workspace.relative(around) if is_file(around) else None
            self._found.fail(failure_of(test, name, self._workspace, file))
        if is_own or not (test.has_children or test.fails):
            self._counts.add(test.outcome)
        if test.after and not test.yaml and not test.fails:
            self._between.extend(test.after)

    def parsed(self) -> Parsed:
        self._settle()
        is_whole = self._planned is not None and self._top >= self._planned and not self._has_bailed
        if self._planned is None and (error := error_line(self._between)):  # it ended the run before the plan
            text, exception = "\n".join(self._between), error.partition(":")[0]
            known = {**at(place_in(text, self._workspace)), "exception": exception, "evidence": text, "is_error": True}
            self._found.fail(Failure(kind_of_broken(text), error, **known))
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


@dataclass(slots=True)
class TapTest:
    """A test line with what follows it. `has_failed` is of its sub-tests."""

    depth: int
    name: str
    outcome: str
    fails: bool
    before: list[str]
    has_children: bool = False
    has_failed: bool = False
    yaml: list[str] = field(default_factory=list)
    after: list[str] = field(default_factory=list)


def failure_of(test: TapTest, name: str, workspace: Workspace, file: str | None) -> Failure:
    fields, text = fields_of(test.yaml), "\n".join(test.after)
    places = (place_in(fields.get(name, ""), workspace, *tables) for name, *tables in _PLACES)
    place = next(filter(None, places), None) or place_in(text, workspace, "bats", "perl") or place_in(text, workspace)
    error = fields.get("error", "")
    inner = fields_of(error.split("\n")) if re.match(r"(?:name|message): ", error) else {}
    reason = inner.get("message") or error or fields.get("message", "")
    message, evidence = first_line(reason) or first_line(text) or test.name, "\n".join(test.yaml) or text
    if is_file(test.name):
        wrapped = message if not error_line(test.before) else ""
        failure = broken_file(test.name, test.before, wrapped, place, workspace)
        return failure if failure.evidence != wrapped else replace(failure, evidence=evidence)
    known = {**at(place, file or named_file(message, workspace)), "test_name": name or None, "evidence": evidence}
    exception = inner.get("name") or fields.get("name") or None
    return Failure(FailureKind.TEST_FAILURE, message, **known, exception=exception)


def fields_of(lines: Sequence[str]) -> dict[str, str]:
    """The keys of a block with their values as text; a nested block as its lines."""
    fields: dict[str, str] = {}
    nested: dict[str, list[str]] = {}
    key = ""
    for line in textwrap.dedent("\n".join(lines)).split("\n"):
        match = _LIKE["key"].match(line)
        if match:
            key, value = match[1], (match[2] or "").strip()
            fields[key] = "" if _LIKE["block"].match(value) else _unquoted(value)
            nested[key] = []
        elif key:
            nested[key].append(line)
    blocks = {key: textwrap.dedent("\n".join(inner)).strip("\n") for key, inner in nested.items()}
    return {key: value or blocks[key] for key, value in fields.items()}


def _unquoted(value: str) -> str:
    if len(value) > 1 and value[0] == value[-1] and value[0] in "'\"":
        inner = value[1:-1]
        return inner.replace("''", "'") if value[0] == "'" else inner.replace('\\"', '"').replace("\\n", "\n")
    return value


TAP = LineLog(_Reader, recognises=_recognises)
