"""What Maven's Surefire and Failsafe print about tests: each failure's stack trace, and the list of results at the end.

The list comes after every test has ended, so it decides what failed; the traces before it tell where. What a test
prints lies between them and decides nothing.
"""

from __future__ import annotations

import re

from agent_fox.core.regex import regex
from agent_fox.verifier.ground.results import FailureKind, TestSummary
from agent_fox.verifier.logs.drafts import Draft
from agent_fox.verifier.logs.frames import java_file
from agent_fox.verifier.logs.gathering import MOST_KEPT
from agent_fox.verifier.logs.jvm.surefire_tests import LONGEST_TRACE, Entry, Owner, Trace, by_owner, from_trace

_Four = tuple[int, int, int, int]  # tests, failures, errors, skipped
_COUNTS = r"Tests run: *(\d+), *Failures: *(\d+), *Errors: *(\d+), *Skipped: *(\d+)"
_CLASS = regex(
    _COUNTS
    + r", *(?:Flakes: *\d+, *)?Time elapsed: [\d.,]+ ?s(?:ec)?(?: *<<< (?:FAILURE|ERROR)!)?(?: *--? in (?P<name>\S+))?"
)
_TOTAL = regex(_COUNTS + r"(?:, *Flakes: *\d+)?$")
_RUNNING = regex(r"Running (?P<name>[\w.$-]+)$")
_TRACE = regex(r"(?P<name>\S.*?)(?: --|\s{1,2}) *Time elapsed: [\d.,]+ ?s(?:ec)? +<<< (?P<how>FAILURE|ERROR)!$")
_OLD_NAME = regex(r"(?P<method>\S[^\n]*)\((?P<class>[\w.$]+)\)$")
_NEW_NAME = regex(r"(?P<class>(?:[a-z_][\w-]*\.)*[A-Z_$][\w$]*)(?:\.(?P<method>.+))?$")
_MARKS = regex(r"\s*(?:Results|Failures|Errors|Failed tests|Tests in error|Flakes|Tests run) ?:")
_LIST = regex(r"(?:Failures|Errors|Failed tests|Tests in error|Flakes): *(?P<rest>.*)$")
_ENTRY = regex(
    r"\s+(?:Run \d+: )?(?P<head>[\w$>.]+)(?P<params>(?:\([^)]*\)|\{[^}]*\})?(?:\[\d+\])?)"
    r"(?::(?P<line>\d+))?(?P<chain>(?:->\S+)*)(?: (?:» )?(?P<message>.*))?$"
)
_OLD_ENTRY = regex(r"\s+(?P<method>[^\s()]+)\((?P<class>[\w.$]+)\)(?:: (?P<message>.*))?$")
_RESULTS = regex(r"\s*Results ?: *$")


class SurefireReader:
    """Takes the tests out of a Maven log. The level of a line is what stood in brackets before its text."""

    def __init__(self) -> None:
        self.module = 0
        self._traces: list[Trace] = []
        self._entries: list[Entry] = []
        self._pending: list[Entry] = []  # of a list that has not come to its total
        self._listed: set[int] = set()  # modules whose list of results was seen
        self._classes: dict[str, str] = {}  # by simple name
        self._counts: _Four | None = None  # of the totals
        self._class_counts: _Four | None = None
        self._open: Trace | None = None
        self._list = ""
        self._is_in_results = False
        self._running: set[str] = set()
        self._has_goals = False  # the log tells when a goal begins; a quiet one does not
        self._failed_since_total = 0

    @property
    def is_in_test(self) -> bool:
        return bool(self._running)

    @property
    def is_printing(self) -> bool:
        """Whether only a test can have printed the next line, unless that is marked as another's."""
        return self._open is None and bool(self._running)

    @property
    def is_between(self) -> bool:
        """Whether no test is running, and none is being reported."""
        return self._open is None and not self._running

    def next_module(self) -> None:
        self.module += 1
        self.goal_begins()

    def goal_begins(self) -> None:
        """Another goal: no test runs any more."""
        self._has_goals = True
        self._running.clear()
        self._is_in_results, self._list = False, ""

    def feed(self, level: str, text: str) -> bool:
        """Whether the line reports tests; between the start and the end of a class, a test may have printed it."""
        if self._open is not None and self._trace_line(self._open, level, text):
            return True
        if "Tests run:" in text and (match := _CLASS.match(text)):
            self._class_ended(match)
        elif "<<< " in text and level != "WARNING" and (match := _TRACE.match(text)):
            self._begin(match)
        elif text.startswith("Running ") and level in ("INFO", "") and (match := _RUNNING.match(text)):
            self._class_begins(match["name"])
        elif self.is_in_test:
            return False
        else:
            return self._result(level, text)
        return True

    def _result(self, level: str, text: str) -> bool:
        if not self._list and ((": " not in text and text.rstrip()[-1:] != ":") or not _MARKS.match(text)):
            return False
        if _RESULTS.match(text):
            self._is_in_results = True
        elif match := _LIST.match(text):
            self._list = text.partition(":")[0]
            self._is_in_results = True
            self._entry("  " + match["rest"])
        elif self._is_in_results and (match := _TOTAL.match(text)):
            self._total(match)
        elif self._list and level != "INFO" and text[:1] == " ":
            self._entry(text)
        elif not self._list:
            return False
        return True

    def _begin(self, found: re.Match[str]) -> None:
        name = found["name"].strip()
        old, new = _OLD_NAME.match(name), _NEW_NAME.match(name)
        class_name, method = (
            (old["class"], old["method"]) if old else (new["class"], new["method"] or "") if new else (name, "")
        )
        self._open = Trace(class_name, method, found["how"] == "ERROR", self.module)
        self._know(class_name)
        if len(self._traces) < MOST_KEPT:
            self._traces.append(self._open)

    def _trace_line(self, trace: Trace, level: str, text: str) -> bool:
        """A trace ends with a blank line after its frames, or with Maven's next line."""
        is_over = (
            level or (not text.strip() and (trace.has_frames or not trace.lines)) or len(trace.lines) >= LONGEST_TRACE
        )
        if is_over:
            self._open = None
            return not level
        trace.add(text)
        return True

    def pass_class(self, name: str, tests: int, skipped: int) -> None:
        """Skips a class that began and ended without a failure."""
        self._know(name)
        self._is_in_results, self._list = False, ""
        self._class_counts = _added(self._class_counts, (tests, 0, 0, skipped))

    def _class_begins(self, name: str) -> None:
        self._know(name)
        self._is_in_results, self._list = False, ""
        if len(self._running) < MOST_KEPT:
            self._running.add(name)

    def _class_ended(self, found: re.Match[str]) -> None:
        name = found["name"]
        if self._running and name and name not in self._running:
            return  # a test printed it
        self._running.discard(name) if name else self._running.clear()
        if name:
            self._know(name)
        self._failed_since_total += int(found[2]) + int(found[3])
        self._class_counts = _added(self._class_counts, _four(found))

    def _know(self, name: str) -> None:
        if len(self._classes) < MOST_KEPT:
            self._classes[name.rpartition(".")[2]] = name

    def _total(self, found: re.Match[str]) -> None:
        """The end of a list. In a quiet log, where a test may have printed it, it has to agree with the classes."""
        counts = _four(found)
        is_ours = self._has_goals or counts[1] + counts[2] == self._failed_since_total
        if is_ours:
            self._counts = _added(self._counts, counts)
            self._entries += self._pending
            self._listed.add(self.module)
            self._failed_since_total = 0
            self.module += not self._has_goals
        self._pending = []
        self._is_in_results, self._list = False, ""

    def _entry(self, text: str) -> None:
        if self._list == "Flakes" or len(self._entries) + len(self._pending) >= MOST_KEPT:
            return
        is_error = self._list in ("Errors", "Tests in error")
        if match := _OLD_ENTRY.match(text):
            simple = match["class"].rpartition(".")[2]
            self._know(match["class"])
            self._pending.append(Entry(simple, match["method"], None, match["message"] or "", is_error, self.module))
        elif (match := _ENTRY.match(text)) and "." in match["head"]:
            simple, method = _names(match["head"])
            line = int(match["line"]) if match["line"] else None
            self._pending.append(Entry(simple, method, line, match["message"] or "", is_error, self.module))

    def failures(self, folders: dict[int, str]) -> list[Draft]:
        """The failed tests, each once. `folders` names the folder of each module that has one."""
        entries = self._entries + (self._pending if self._has_goals else [])
        drafts: list[Draft] = []
        listed, traced = by_owner(entries), by_owner(self._traces)
        seen: set[tuple[int, str, str]] = set()
        for trace in self._traces:
            if (entry := self._confirmed(trace, listed)) and (
                key := (trace.module, trace.class_name, trace.method)
            ) not in seen:
                seen.add(key)
                drafts.append(from_trace(trace, entry, folders.get(trace.module, "")))
        for entry in entries:
            if not any(entry.tells_of(trace) for trace in traced.get(entry.owner, ())):
                drafts.append(self._from_entry(entry, folders.get(entry.module, "")))
        return drafts

    def summary(self) -> TestSummary | None:
        counts = self._counts or self._class_counts
        if counts is None:
            return None
        tests, failures, errors, skipped = counts
        return TestSummary(tests, tests - failures - errors - skipped, failures, errors, skipped)

    def _confirmed(self, trace: Trace, listed: dict[Owner, list[Entry]]) -> Entry | bool:
        """What the list says of a trace. Where the log was cut before the list, the trace stands alone."""
        if trace.module not in self._listed:
            return True
        return next((entry for entry in listed.get(trace.owner, ()) if entry.tells_of(trace)), False)

    def _from_entry(self, entry: Entry, folder: str) -> Draft:
        simple = entry.simple_class.split("$")[0]
        full = self._classes.get(entry.simple_class) or self._classes.get(simple) or entry.simple_class
        return Draft(
            kind=FailureKind.TEST_FAILURE,
            message=entry.message or "the test failed",
            file=java_file(full, f"{simple}.java", folder) if "." in full else None,
            line=entry.line,
            test_name=".".join(part for part in (full, entry.method) if part),
            is_error=entry.is_error,
            evidence=[f"{entry.simple_class}.{entry.method}:{entry.line} {entry.message}"],
        )


def _names(head: str) -> tuple[str, str]:
    """`Test.method`, `Test>Base.method` and `Outer$Inner.method` as class and method."""
    first, _, rest = head.partition(">")
    if rest:
        return first.rpartition(".")[2], rest.rpartition(".")[2]
    owner, _, method = head.rpartition(".")
    return owner.rpartition(".")[2], method


def _added(one: _Four | None, other: _Four) -> _Four:
    return other if one is None else (one[0] + other[0], one[1] + other[1], one[2] + other[2], one[3] + other[3])


def _four(found: re.Match[str]) -> _Four:
    return int(found[1]), int(found[2]), int(found[3]), int(found[4])
