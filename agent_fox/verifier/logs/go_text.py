"""Logs of go build, go vet and go test as text, `-v` or not."""

from __future__ import annotations

import re
from collections.abc import Iterable

from agent_fox.verifier.logs.drafts import Findings
from agent_fox.verifier.logs.go_build import GoBuildReader
from agent_fox.verifier.logs.go_packages import Packages
from agent_fox.verifier.logs.go_tests import GoTestReader
from agent_fox.verifier.logs.protocol import Workspace
from agent_fox.verifier.results import Failure, FailureKind, Parsed

_PACKAGE_ENDS = re.compile(
    r"(?P<how>ok  |FAIL|\?   )\t(?P<package>[\w.~/-]+)(?:\t(?P<time>[\d.]+s|\(cached\)))?[\t ]?"
    r"(?P<note>\[.*\])?(?:\tcoverage: .*)?$"
)
_BUILD_FAILED = re.compile(r"\[(?:build|setup) failed\]")


class GoLog:
    """Reads what the go command prints for people."""

    tools = ("go", "gotest", "gotestsum", "govet", "golangci-lint", "staticcheck")

    def parse(self, lines: Iterable[str], workspace: Workspace) -> Parsed:
        findings, packages = Findings(), Packages()
        build = GoBuildReader(findings, packages, workspace)
        tests = GoTestReader(packages, workspace)
        for line in lines:
            ended = _PACKAGE_ENDS.match(line) if "\t" in line else None
            if ended:
                packages.see(ended["package"])
                build.end_package()
                if _BUILD_FAILED.search(ended["note"] or "") and ended["package"] in build.told:
                    continue
                if _BUILD_FAILED.search(ended["note"] or ""):
                    findings.fall_back(_unbuilt(ended["package"], line), on_kind=True)
                else:
                    tests.end_package(ended["package"], line)
            elif not tests.feed(line):
                build.feed(line)
        build.finish()
        for draft in tests.failures():
            findings.keep(draft)
        return findings.parsed(tests.summary(), is_complete=not tests.is_running)


def _unbuilt(package: str, line: str) -> Failure:
    return Failure(FailureKind.COMPILE_ERROR, f"{package}: build failed", evidence=line)
