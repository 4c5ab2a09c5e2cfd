"""The events of `go test -json`, one a line, which tell of each line of output whose it is."""

from __future__ import annotations

from agent_fox.verifier.ground.results import Parsed
from agent_fox.verifier.logs.decode import without_colours
from agent_fox.verifier.logs.go.tests import GoLog, Package
from agent_fox.verifier.logs.kinds import patterns_in
from agent_fox.verifier.logs.parsers import LineLog, is_stream
from agent_fox.verifier.logs.protocol import Workspace
from agent_fox.verifier.logs.streams.records import record_of, text

_LIKE = patterns_in(__file__)


class _Reader(GoLog):
    def __init__(self, workspace: Workspace) -> None:
        super().__init__(workspace)
        self._open: dict[str, Package] = {}
        self._has_tests = False

    def skip(self, block: str, at: int) -> int:
        """Passes over tests that passed and have no sub-tests."""
        while (match := _LIKE["passed"].match(block, at)) and "/" not in match[2]:
            package = self._package(match[1])
            if match[2] in package.tests:
                break
            package.pass_test(match[2])
            self._has_tests, at = True, match.end()
        return at

    def take(self, line: str) -> None:
        event = record_of(line) if line.startswith("{") else None
        of = (event or {}).get
        action, name, output = text(of("Action")), text(of("Package")), without_colours(text(of("Output"))).rstrip("\n")
        if event is None or action == "build-output":
            self._build(line if event is None else output)
            return
        if not name:
            return
        package, test = self._package(name), text(of("Test"))
        match action:
            case "run":
                package.run(test)
            case "output" if not (("--- " in output or "=== " in output) and _LIKE["framing"].match(output)):
                package.says(test, output)
                package.is_unbuilt = package.is_unbuilt or bool(_LIKE["unbuilt"].search(output))
            case "pass" | "fail" | "skip" if test:
                self._has_tests = package.end(test, action.upper()) is not None or self._has_tests
            case "pass" | "fail" | "skip":
                is_build = package.is_unbuilt or text(of("FailedBuild"))
                has_failed = action == "fail" and not is_build
                self._end(package, name, f"FAIL {name}" if has_failed else "ok")
                del self._open[name]

    def _package(self, name: str) -> Package:
        if name not in self._open:
            self._packages.see(name)
            self._open[name] = Package(is_streamed=True, is_told=True)
        return self._open[name]

    def parsed(self) -> Parsed:
        for name, package in self._open.items():  # the log was cut
            self._end(package, name, "")
        return self._parsed(is_counted=self._has_tests, is_complete=not self._open)


GO_JSON = LineLog(_Reader, recognises=is_stream(_LIKE["ours"], _LIKE["text_run"]))
