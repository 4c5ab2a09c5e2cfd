"""What Maven's Surefire and Failsafe print about tests: each failure's stack trace, and the list of results at the end.

The list comes after every test has ended, so it decides what failed; the traces before it tell where. What a test
prints lies between them and decides nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from agent_fox.verifier.ground.results import Failure, FailureKind, TestSummary
from agent_fox.verifier.logs.frames import java_file, java_place
from agent_fox.verifier.logs.gathering import MOST_KEPT, Counts, summed
from agent_fox.verifier.logs.kinds import patterns_in
from agent_fox.verifier.logs.protocol import at

_LIKE = patterns_in(__file__)
LONGEST_TRACE = 200  # lines kept of one stack trace
Owner = tuple[int, str]  # a module, and the simple name of an outermost class


@dataclass(slots=True)
class _Test:
    """One failed test as its stack trace tells it, or the list at the end, with its class without a package, and a
    line. `module` counts the modules of the build."""

    class_name: str
    method: str
    is_error: bool
    module: int
    line: int | None = None
    message: str = ""
    trace: list[str] = field(default_factory=list)

    @property
    def owner(self) -> Owner:
        return self.module, self.class_name.rpartition(".")[2].split("$")[0]

    def tells_of(self, traced: _Test) -> bool:
        """Whether an entry of the list is of the test of a trace, where both are of one class."""
        is_same = self.method.partition("(")[0] == re.split(r"[({\[]", traced.method)[0]
        return is_same or not traced.method or any(f":{self.line})" in line for line in traced.trace)

    def failure(self, class_name: str, entry: _Test, folder: str) -> Failure:
        """What is known of the test of a class, by its trace and by its entry in the list."""
        text, (match, message) = "\n".join(self.trace), java_thrown(self.trace, _LIKE["exception"])
        exception = match["type"] if match else None
        known = at(java_place(text, class_name, folder)) if self.trace else {"file": None}
        if not known["file"] and ("." in class_name or entry is not self):
            known = {"file": java_file(class_name, module=folder)}
        listed = f"{entry.class_name}.{entry.method}:{entry.line} {entry.message}"
        return Failure(
            FailureKind.TEST_FAILURE,
            message or exception or entry.message or "the test failed",
            **{"line": entry.line, **known},
            test_name=".".join(filter(None, (class_name, self.method))),
            exception=exception,
            is_error=self.is_error,
            evidence=listed if entry is self else text,
        )


class SurefireReader:
    """Takes the tests out of a Maven log. The level of a line is what stood in brackets before its text."""

    def __init__(self) -> None:
        self.module = 0
        self._traces: dict[tuple[int, str, str], _Test] = {}
        self._entries: list[_Test] = []
        self._pending: list[_Test] = []  # of a list that has not come to its total
        self._listed: set[int] = set()  # modules whose list of results was seen
        self._classes: dict[str, str] = {}  # by simple name
        self._counts: TestSummary | None = None  # of the totals
        self._class_counts: TestSummary | None = None
        self._over = Counts()  # tests of classes that were skipped
        self.open: _Test | None = None
        self._list: str | None = None  # the name of a list of results, empty above all of them
        self.running: set[str] = set()
        self._has_goals = False  # the log tells when a goal begins; a quiet one does not
        self._failed_since_total = 0

    def goal_begins(self) -> None:
        """Another goal: no test runs any more."""
        self._has_goals, self._list = True, None
        self.running.clear()

    def feed(self, level: str, text: str) -> bool:
        """Whether the line reports tests; between the start and the end of a class, a test may have printed it."""
        if (trace := self.open) is not None:
            is_over = not text.strip() and (not trace.trace or _LIKE["frame"].match(trace.trace[-1]))
            if not (level or is_over or len(trace.trace) >= LONGEST_TRACE):
                trace.trace.append(text)
                return True
            self.open = None
            if not level:
                return True
        if "Tests run:" in text and (match := _LIKE["class"].match(text)):
            class_name, counts = match["name"], _counts(match)
            if self.running and class_name and class_name not in self.running:
                return True  # a test printed it
            if class_name:
                self.running.discard(class_name)
                self._know(class_name)
            else:
                self.running.clear()
            self._failed_since_total += counts.failures + counts.errors
            self._class_counts = summed((self._class_counts, counts))
        elif "<<< " in text and level != "WARNING" and (match := _LIKE["trace"].match(text)):
            name = match["name"].strip()
            known = _LIKE["old_name"].match(name) or _LIKE["new_name"].match(name)
            class_name, method = (known["class"], known["method"] or "") if known else (name, "")
            self.open = _Test(class_name, method, match["how"] == "ERROR", self.module)
            self._know(class_name)
            if len(self._traces) < MOST_KEPT:
                self._traces.setdefault((self.module, class_name, method), self.open)
        elif text.startswith("Running ") and level in ("INFO", "") and (match := _LIKE["running"].match(text)):
            self._know(match["name"])
            self._list = None
            if len(self.running) < MOST_KEPT:
                self.running.add(match["name"])
        else:
            return not self.running and self._result(level, text)
        return True

    def _result(self, level: str, text: str) -> bool:
        if not self._list and ((": " not in text and text.rstrip()[-1:] != ":") or not _LIKE["marks"].match(text)):
            return False
        if _LIKE["results"].match(text):
            self._list = self._list or ""
        elif match := _LIKE["list"].match(text):
            self._list = match["name"]
            self._entry("  " + match["rest"])
        elif self._list is not None and (match := _LIKE["total"].match(text)):
            counts = _counts(match)
            # In a quiet log, where a test may have printed the end of a list, it has to agree with the classes.
            if self._has_goals or counts.failures + counts.errors == self._failed_since_total:
                self._counts = summed((self._counts, counts))
                self._entries += self._pending
                self._listed.add(self.module)
                self._failed_since_total = 0
                self.module += not self._has_goals
            self._pending, self._list = [], None
        elif self._list and level != "INFO" and text[:1] == " ":
            self._entry(text)
        else:
            return bool(self._list)
        return True

    def pass_class(self, name: str, tests: int, skipped: int) -> None:
        """Skips a class that began and ended without a failure."""
        self._know(name)
        self._list = None
        self._over.passed += tests - skipped
        self._over.skipped += skipped
        self._class_counts = self._class_counts or TestSummary()

    def _know(self, name: str) -> None:
        if len(self._classes) < MOST_KEPT:
            self._classes[name.rpartition(".")[2]] = name

    def _entry(self, text: str) -> None:
        if self._list == "Flakes" or len(self._entries) + len(self._pending) >= MOST_KEPT:
            return
        if match := _LIKE["old_entry"].match(text):
            self._know(match["class"])
            owner, method, line = match["class"].rpartition(".")[2], match["method"], None
        elif (match := _LIKE["entry"].match(text)) and "." in match["head"]:  # `Test.method`, `Test>Base.method`
            first, _, base = match["head"].partition(">")
            own, _, method = (base or first).rpartition(".")
            owner, line = (first if base else own).rpartition(".")[2], match["line"]
        else:
            return
        is_error = self._list in ("Errors", "Tests in error")
        place = int(line) if line else None
        self._pending.append(_Test(owner, method, is_error, self.module, place, match["message"] or ""))

    def failures(self, folders: dict[int, str]) -> list[Failure]:
        """The failed tests, each once. `folders` names the folder of each module that has one.

        Where the log was cut before a module's list, its traces stand alone.
        """
        entries = self._entries + (self._pending if self._has_goals else [])
        failures, listed, traced = list[Failure](), _by_owner(entries), _by_owner(self._traces.values())
        for trace in self._traces.values():
            known = (each for each in listed.get(trace.owner, ()) if each.tells_of(trace))
            entry = next(known, None) if trace.module in self._listed else _Test("", "", False, trace.module)
            if entry:
                failures.append(trace.failure(trace.class_name, entry, folders.get(trace.module, "")))
        for entry in entries:
            if not any(entry.tells_of(trace) for trace in traced.get(entry.owner, ())):
                full = self._classes.get(entry.class_name) or self._classes.get(entry.owner[1]) or entry.class_name
                failures.append(entry.failure(full, entry, folders.get(entry.module, "")))
        return failures

    def summary(self) -> TestSummary | None:
        of_classes = summed((self._class_counts, self._over.summary())) if self._class_counts else None
        return self._counts or of_classes


def _by_owner(tests: Iterable[_Test]) -> dict[Owner, list[_Test]]:
    groups: dict[Owner, list[_Test]] = {}
    for each in tests:
        groups.setdefault(each.owner, []).append(each)
    return groups


def _counts(found: re.Match[str]) -> TestSummary:
    tests, failures, errors, skipped = map(int, found.groups()[:4])
    return TestSummary(tests, tests - failures - errors - skipped, failures, errors, skipped)


def java_thrown(lines: Sequence[str], named: re.Pattern[str]) -> tuple[re.Match[str] | None, str]:
    """The exception that a trace begins with, as `named` finds it, and what is said before the first frame."""
    first = lines[0] if lines else ""
    match, ends = named.match(first), (n for n, line in enumerate(lines) if n and _LIKE["frame"].match(line))
    lines = [match["message"] or "", *lines[1 : next(ends, None)]] if match else [first]
    return match, "\n".join(lines).strip()
