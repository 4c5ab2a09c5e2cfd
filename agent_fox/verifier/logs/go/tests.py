"""Logs of go build, go vet and go test as text, `-v` or not: the compiler's lines, results of tests and sub-tests, what
they logged, panics, and the end of each package; and what every log of go test comes to."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import field, replace

from agent_fox.core.values import dataclass
from agent_fox.verifier.ground.results import Failure, FailureKind, Parsed
from agent_fox.verifier.logs.frames import in_folder
from agent_fox.verifier.logs.gathering import MOST_KEPT, Counts, Excerpt, Gathering
from agent_fox.verifier.logs.go.places import Packages, logged_go, panicked_go, panicking
from agent_fox.verifier.logs.kinds import patterns_in
from agent_fox.verifier.logs.protocol import Workspace
from agent_fox.verifier.logs.row_reader import RowReader, built_in

_LIKE = patterns_in(__file__)
_RUNS = "=== RUN   "
MOST_TESTS = 100 * MOST_KEPT  # remembered of one package


@dataclass(slots=True)
class Test:
    """A test, its outcome once it is known, and what it logged. Results of sub-tests are indented by their depth."""

    name: str
    outcome: str = ""
    package: str = ""
    depth: int = 0
    shown: Excerpt = field(default_factory=Excerpt)
    panic: Excerpt | None = None
    has_failed: bool = False  # when it ran before


@dataclass(slots=True)
class Package:
    """The tests of a package. Of those that only passed each name counts once, while there are not too many."""

    tests: dict[str, Test] = field(default_factory=dict)
    passed: set[str] = field(default_factory=set)
    unnamed: int = 0
    current: Test | None = None
    is_streamed: bool = False  # `-v`: logs come before results
    panic: Excerpt | None = None
    owner: str | None = None  # whose panic it is, where that is known
    exit: str = ""
    is_told: bool = False  # of each test that it ended, and of each line whose it is
    is_unbuilt: bool = False
    said: Excerpt = field(default_factory=Excerpt)  # by no test

    def named(self, name: str) -> Test:
        test = self.tests.get(name) or Test(name)
        if len(self.tests) < MOST_TESTS:
            self.tests.setdefault(name, test)
        return test

    def pass_test(self, name: str) -> None:
        if len(self.passed) < MOST_TESTS:
            self.passed.add(name)
        else:
            self.unnamed += 1

    def run(self, name: str) -> None:
        """A test comes after all that ran before it, itself among them: it failed if it failed once."""
        self.is_streamed = True
        self.current = test = self.named(name)
        self.passed.difference_update((name, *_parents(name)))
        if self.tests.pop(name, None) is test:
            self.tests[name] = test
        test.has_failed, test.outcome = test.has_failed or test.outcome == "FAIL", ""
        if not test.has_failed:
            test.shown = Excerpt()

    def end(self, name: str, outcome: str) -> Test | None:
        """The test that ended; None where one printed it: Go says first that it runs one."""
        known = self.tests.get(name)
        if self.is_streamed and (known is None or known.outcome):
            return None
        test = known or self.named(name)
        test.outcome = "FAIL" if test.has_failed else outcome
        if self.owner == name and outcome != "FAIL":  # it recovered, or only printed that it panicked
            self.panic = self.owner = None
        return test

    def take_panic(self, line: str, owner: str | None = None) -> bool:
        """Whether a line belongs to the trace of a panic."""
        if self.panic is None:
            if line[:1] not in "pfruSW" or not _LIKE["panics"].match(line):
                return False
            self.panic, self.owner = Excerpt(), owner
        elif _LIKE["panic_ends"].match(line):
            return False
        self.panic.add(line)
        return True

    def says(self, name: str, line: str) -> None:
        """A line that a test is known to have printed, or none (`""`)."""
        if (self.panic is None or self.owner == name) and self.take_panic(line, name):
            return
        if name:
            self.tests.get(name, Test(name)).shown.add(line)
        elif not _LIKE["nothing_said"].match(line):
            self.said.add(line)

    @property
    def unfinished(self) -> frozenset[str]:
        return frozenset(test.name for test in self.tests.values() if not test.outcome)

    def leaves(self) -> list[Test]:
        """Tests without sub-tests, and failed tests without a failed sub-test."""
        tests = self.tests.values()
        parents = {parent for test in tests for parent in _parents(test.name)}
        guilty = {parent for test in tests if test.outcome == "FAIL" for parent in _parents(test.name)}
        return [each for each in tests if each.name not in (guilty if each.outcome == "FAIL" else parents)]


class GoLog:
    """What a log of go test comes to: what Go's compiler, vet and linters say, which tells where packages lie, and the
    tests of the packages that ended."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace, self._packages = workspace, Packages()
        self._findings = Gathering()
        self._rows = RowReader(built_in("go_build"), workspace, self._findings)
        self._built = ""  # the package that the compiler tells of
        self._told: set[str] = set()  # packages whose errors were shown
        self._ended: list[Test] = []
        self._counts = Counter[str]()

    def _build(self, line: str) -> None:
        if line.startswith("# ") and (match := _LIKE["package"].match(line)):
            self._built = match["package"].removesuffix("_test")
            self._packages.see(self._built)
        if self._rows.feed(line) and (file := self._rows.file):
            if self._built and "/vendor/" not in file:
                self._packages.lies(self._built, file.rpartition("/")[0])
            if len(self._told) < MOST_KEPT:
                self._told.add(self._built)

    def _end(self, of: Package, package: str, line: str) -> None:
        """The end of a package, which may have failed without a failed test: the process ended on its own."""
        has_failed = line.startswith("FAIL")
        parents = {parent for name in of.tests for parent in _parents(name)}
        self._counts["PASS"] += len(of.passed - parents) + of.unnamed
        for test in of.leaves():
            if not test.outcome and has_failed and (not of.is_told or of.owner == test.name):
                test.outcome = "FAIL"  # it ran when the process ended
            self._counts[test.outcome] += 1
            if test.outcome == "FAIL":
                self._fail(of, test, package)
        if has_failed and not any(test.outcome == "FAIL" for test in of.tests.values()):
            self._break(of, package, line)

    def _fail(self, of: Package, test: Test, package: str) -> None:
        test.package = package
        guilty = of.owner or (panicking(of.panic.text) or None if of.panic is not None else "")
        if guilty in (test.name, test.name.partition("/")[0]) or (guilty is None and not any(test.shown)):
            test.panic, of.panic = of.panic, None
        if len(self._ended) < MOST_KEPT:
            self._ended.append(test)

    def _break(self, of: Package, package: str, line: str) -> None:
        name, panic = panicking(of.panic.text) if of.panic else "", of.panic
        if panic is None and not any(of.said):
            panic = Excerpt([of.exit or line.replace("\t", " ").strip()])
        self._ended.append(Test(name, "FAIL", package, shown=of.said, panic=panic))

    def _parsed(self, *, is_counted: bool, is_complete: bool) -> Parsed:
        self._rows.finish()
        for test in self._ended:
            if test.panic is not None:
                failure = panicked_go(test.panic.text, self._workspace, self._packages, test.name)
            else:
                failure = logged_go(test.shown.text, self._workspace, "", test.name)
                folder = self._packages.folder(test.package) if test.package else ""
                failure = replace(failure, file=in_folder(failure.file, folder) if failure.file else None)
            self._findings.fail(failure)
        counts = Counts(self._counts["PASS"], self._counts["FAIL"], skipped=self._counts["SKIP"])
        return self._findings.parsed(counts.summary() if is_counted else None, is_complete=is_complete)


class GoReader(GoLog):
    """Reads what the go command prints for people; a package's name comes after its tests."""

    def __init__(self, workspace: Workspace) -> None:
        super().__init__(workspace)
        self._package = Package()
        self._before, self._ended_before, self._counts_before = Package(), 0, Counter[str]()
        self._unfinished: frozenset[str] = frozenset()
        self._is_verbose = False  # `-v` alone names the tests that passed

    def skip(self, block: str, at: int) -> int:
        """Passes over tests that passed and have no sub-tests, where no later line may be about an earlier test."""
        package, last, passed = self._package, None, _LIKE["passed"].match
        if package.panic is not None:
            return at
        while (match := passed(block, at)) and match[1] not in package.tests and match[1] not in self._unfinished:
            package.pass_test(match[1])
            last, at = match, match.end()
        if last is not None:
            self._is_verbose = package.is_streamed = True
            package.current = Test(last[1], "PASS", shown=Excerpt(last[2].splitlines()[:1]))
        return at

    def take(self, line: str) -> None:
        if "\t" in line and (match := _LIKE["package_ends"].match(line)):
            package, of = match["package"], self._package
            self._packages.see(package)
            self._rows.leave()
            self._built = ""
            if not _LIKE["unbuilt"].search(match["note"] or ""):
                # Everything since the last package was this one's.
                self._before, self._ended_before, self._counts_before = of, len(self._ended), self._counts.copy()
                self._unfinished = of.unfinished
                self._end(of, package, line)
                self._package = Package()
            elif package not in self._told:
                unbuilt = Failure(FailureKind.COMPILE_ERROR, f"{package}: build failed", evidence=line)
                self._findings.fall_back(unbuilt, on_kind=True)
        elif not self._is_of_test(line):
            self._build(line)

    def parsed(self) -> Parsed:
        """What failed; of the last package too, where the log was cut before its end."""
        of = self._package
        is_complete = not of.unfinished
        panicking = of.current if of.panic is not None and of.current and not of.current.outcome else None
        cut = [test for test in of.leaves() if test.outcome == "FAIL" or test is panicking]
        for test in cut:
            self._fail(of, test, "")
        if of.panic is not None and not cut:
            self._break(of, "", "")
        return self._parsed(is_counted=self._is_verbose, is_complete=is_complete)

    def _is_of_test(self, line: str) -> bool:
        """Whether the line was about a test."""
        package, current = self._package, self._package.current
        if package.panic is not None and package.take_panic(line):
            return True
        if line.startswith(_RUNS):
            self._is_verbose = True
            package.run(line[len(_RUNS) :])
        elif "=== " in line[:5] and (match := _LIKE["now"].match(line)):
            self._is_verbose = package.is_streamed = True
            if match["what"] == "RUN":
                package.run(match["name"])
            else:
                package.current = package.named(match["name"]) if match["what"] != "PAUSE" else None
        elif "--- " in line and (match := _LIKE["result"].match(line) or _LIKE["glued"].search(line)):
            return self._result(match)
        elif line[:4] == "    " and ".go:" in line and (match := _LIKE["logged"].match(line)):
            if not package.is_streamed:  # a log is indented below its test's result
                depth = len(match["indent"]) - 4
                owners = (test for test in reversed(package.tests.values()) if test.depth == depth)
                package.current = current = next(owners, current)
            if current is not None:
                current.shown.add(line)
        elif current is not None and any(current.shown) and _LIKE["more"].match(line):
            current.shown.add(line)
        elif package.take_panic(line):
            return True
        elif line[:1] in "es" and _LIKE["exited"].match(line):
            package.exit = line
        else:
            if current is not None and current.outcome == "FAIL" and line not in ("FAIL", "PASS"):
                current.shown.add(line)
            return False
        return True

    def _result(self, found: re.Match[str]) -> bool:
        if found["name"] not in self._package.tests and found["name"] in self._unfinished:
            self._return()
        test = self._package.end(found["name"], found["how"])
        if test is None:
            return False
        test.depth = found.start("how") - len("--- ") if found.re == _LIKE["result"] else 0
        if not any(test.shown) or not self._package.is_streamed:
            self._package.current = test
        return True

    def _return(self) -> None:
        """The package had not ended: one of its tests printed that."""
        self._package, self._before = self._before, Package()
        self._package.current, self._package.panic, self._package.exit = None, None, ""
        self._counts = self._counts_before
        del self._ended[self._ended_before :]
        for name in self._unfinished:
            self._package.tests[name].outcome = ""


def _parents(name: str) -> list[str]:
    return [name[:at] for at, letter in enumerate(name) if letter == "/"] if "/" in name else []
