"""What `black --check`, `isort --check-only`, `gofmt -l` and `rustfmt --check` print: files that would change."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from agent_fox.core.regex import regex
from agent_fox.verifier.ground.results import Failure, FailureKind, Parsed
from agent_fox.verifier.logs.diagnostics import diagnostic, first_match
from agent_fox.verifier.logs.drafts import Draft, Findings

if TYPE_CHECKING:
    from agent_fox.verifier.logs.protocol import Workspace

_BLACK = regex(r"would reformat (?P<file>\S.*)$")
_BLACK_UNREADABLE = (
    regex(r"error: (?P<message>cannot parse): (?P<file>\S.*):(?P<line>\d+):(?P<column>\d+)$"),
    regex(
        r"error: cannot format (?P<file>\S.*?): "
        r"(?P<message>(?:Cannot parse[^:\n]*: (?P<line>\d+):(?P<column>\d+): )?\D.*)$"
    ),
)
_BLACK_FAILED = regex(r"(?:Error|Usage): (?P<message>.+)$")
_DIFF = regex(r"--- (?P<file>\S.*?)(?:\t.*|:before.*)$")
_ISORT = regex(r"ERROR: (?P<file>\S.*?) (?P<message>Imports are incorrectly sorted.*)$")
_GOFMT = regex(r"(?!\+\+\+ |--- )(?P<file>(?:[A-Za-z]:)?[^\s:][^:\n]*\.go)$")
_GOFMT_DIFF = regex(r"diff (?:-u )?(?P<file>\S.*?)\.orig \S")
_GOFMT_UNREADABLE = regex(r"(?P<file>(?:[A-Za-z]:)?[^\s:][^:\n]*\.go):(?P<line>\d+):(?P<column>\d+): (?P<message>.*)$")
_RUST_LISTED = regex(r"(?P<file>(?:[A-Za-z]:)?[^\s:][^:\n]*\.rs)$")
_RUSTFMT = regex(r"Diff in (?P<file>\S.*?)(?: at line |:)(?P<line>\d+):?$")


class BlackLog:
    """Reads black's list; `-q --diff` leaves only the diff's headings."""

    tools = ("black",)

    def parse(self, lines: Iterable[str], workspace: Workspace) -> Parsed:
        findings, seen = Findings(), set[str]()
        for line in lines:
            if not line.startswith(("would ", "--- ", "error: ", "Error: ", "Usage: ")):
                continue
            if match := first_match((_BLACK, _DIFF), line):
                _keep_once(findings, seen, match, workspace)
            elif match := first_match(_BLACK_UNREADABLE, line):
                findings.keep(diagnostic(match, FailureKind.FORMAT_FAILURE, workspace))
            elif match := _BLACK_FAILED.match(line):
                findings.fall_back(Failure(FailureKind.UNKNOWN, match["message"], evidence=line))
        return findings.parsed()


class IsortLog:
    tools = ("isort",)

    def parse(self, lines: Iterable[str], workspace: Workspace) -> Parsed:
        findings, seen = Findings(), set[str]()
        for line in lines:
            if match := first_match((_ISORT, _DIFF), line):
                _keep_once(findings, seen, match, workspace)
        return findings.parsed()


class GofmtLog:
    tools = ("gofmt", "goimports", "gofumpt")

    def parse(self, lines: Iterable[str], workspace: Workspace) -> Parsed:
        findings, seen = Findings(), set[str]()
        for line in lines:
            if match := first_match((_GOFMT_DIFF, _GOFMT), line):
                _keep_once(findings, seen, match, workspace)
            elif match := _GOFMT_UNREADABLE.match(line):
                findings.keep(diagnostic(match, FailureKind.FORMAT_FAILURE, workspace))
        return findings.parsed()


class RustfmtLog:
    """Reads each place that would change, as `cargo fmt --check` shows it."""

    tools = ("rustfmt", "cargo-fmt")

    def parse(self, lines: Iterable[str], workspace: Workspace) -> Parsed:
        findings = Findings()
        for line in lines:
            if (match := _RUSTFMT.match(line)) or (match := _RUST_LISTED.match(line)):
                draft = diagnostic(match, FailureKind.FORMAT_FAILURE, workspace)
                draft.message = "would be reformatted"
                findings.keep(draft)
        return findings.parsed()


def _keep_once(findings: Findings, seen: set[str], match: re.Match[str], workspace: Workspace) -> None:
    file = workspace.relative(match["file"])
    if file not in seen and len(seen) < 10_000:
        seen.add(file)
        findings.keep(Draft(FailureKind.FORMAT_FAILURE, "would be reformatted", file=file, evidence=[match.string]))
