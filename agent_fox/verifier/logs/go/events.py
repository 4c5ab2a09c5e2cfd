"""`go test -json`: events of tests and builds, one a line, and the compiler's lines between them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from agent_fox.core.regex import regex
from agent_fox.verifier.logs.decode import without_colours
from agent_fox.verifier.logs.drafts import Findings
from agent_fox.verifier.logs.go.places import Packages
from agent_fox.verifier.logs.go.tests import GoTests, Package
from agent_fox.verifier.logs.go.text import GoBuildReader
from agent_fox.verifier.logs.line_log import LineStream
from agent_fox.verifier.logs.streams.records import Record, record_of, text

if TYPE_CHECKING:
    from agent_fox.verifier.ground.results import Parsed
    from agent_fox.verifier.logs.protocol import Workspace

_OURS = regex(r'^\{(?:"Time":"[^"]*",|"ImportPath":"[^"]*",)?"Action":"[a-z-]+"', re.MULTILINE)
_TEXT_RUN = regex(r"^(?:=== RUN|--- (?:FAIL|PASS|SKIP)|(?:FAIL|ok  )\t(?!.*\[(?:build|setup) failed\]))", re.MULTILINE)
_FRAMING = regex(r"^\s*(?:=== (?:RUN|PAUSE|CONT|NAME)|--- (?:PASS|FAIL|SKIP|BENCH):)")
_TIME = r'\{(?:"Time":"[^"\\]*+",)?"Action":'
_PASSED = regex(  # all events of a test that passed, with none of another's between them
    rf"""{_TIME}"run","Package":"(?P<package>[^"\\]++)","Test":"(?P<test>[^"\\]++)"\}}\n
        (?>(?:{_TIME}"output","Package":"(?P=package)","Test":"(?P=test)",
           "Output":"[^"\\\n]*+(?>(?:\\[^\n][^"\\\n]*+)*)"(?:,"OutputType":"[\w-]*+")?\}}\n)*)
        {_TIME}"pass","Package":"(?P=package)","Test":"(?P=test)"(?:,"Elapsed":[\d.e+-]++)?\}}\n""",
    re.VERBOSE,
)
_UNBUILT = regex(r"\[(?:build|setup) failed\]")


class _Reader:
    """Reads the events, which tell of each line whose it is."""

    def __init__(self, workspace: Workspace) -> None:
        self._findings, self._folders = Findings(), Packages()
        self._build = GoBuildReader(self._findings, self._folders, workspace)
        self._tests = GoTests(self._folders, workspace)
        self._open: dict[str, Package] = {}
        self._has_tests = False

    def skip(self, block: str, at: int) -> int:
        """Passes over tests that passed and have no sub-tests."""
        while (match := _PASSED.match(block, at)) and "/" not in match[2]:
            package = self._package(match[1])
            if match[2] in package.tests:
                break
            package.pass_test(match[2])
            self._has_tests, at = True, match.end()
        return at

    def take(self, line: str) -> None:
        event = record_of(line) if line.startswith("{") else None
        if event is None:
            self._build.feed(line)
            return
        action, name, output = text(event.get("Action")), text(event.get("Package")), text(event.get("Output"))
        if action == "build-output":
            self._build.feed(without_colours(output).rstrip("\n"))
        elif name:
            self._in_package(name, action, event, without_colours(output).rstrip("\n"))

    def _package(self, name: str) -> Package:
        if name not in self._open:
            self._folders.see(name)
            self._open[name] = Package(is_streamed=True, is_told=True)
        return self._open[name]

    def _in_package(self, name: str, action: str, event: Record, output: str) -> None:
        package, test = self._package(name), text(event.get("Test"))
        match action:
            case "run":
                package.run(test)
            case "output" if not (("--- " in output or "=== " in output) and _FRAMING.match(output)):
                package.says(test, output)
                package.is_unbuilt = package.is_unbuilt or bool(_UNBUILT.search(output))
            case "pass" | "fail" | "skip" if test:
                self._has_tests = package.end(test, action.upper()) is not None or self._has_tests
            case "pass" | "fail" | "skip":
                is_build = package.is_unbuilt or text(event.get("FailedBuild"))
                has_failed = action == "fail" and not is_build
                self._tests.end_package(package, name, f"FAIL {name}" if has_failed else "ok")
                del self._open[name]

    def parsed(self) -> Parsed:
        self._build.finish()
        for name, package in self._open.items():  # the log was cut
            self._tests.end_package(package, name, "")
        for draft in self._tests.drafts():
            self._findings.keep(draft)
        return self._findings.parsed(self._tests.summary() if self._has_tests else None, is_complete=not self._open)


def _recognises(head: str) -> bool:
    match = _OURS.search(head)
    return match is not None and not _TEXT_RUN.search(head, 0, match.start())


GO_JSON = LineStream(_Reader, _recognises)
