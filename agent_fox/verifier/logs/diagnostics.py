"""What compilers and linters share: one problem to a line, with its place. Each tool's wording is elsewhere."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from agent_fox.verifier.logs.drafts import Draft, Findings

if TYPE_CHECKING:
    from agent_fox.verifier.ground.results import FailureKind, Parsed
    from agent_fox.verifier.logs.gathering import Gathering
    from agent_fox.verifier.logs.protocol import Workspace


def diagnostic(found: re.Match[str], kind: FailureKind, workspace: Workspace) -> Draft:
    """The problem that a match names by its groups `file`, `line`, `column`, `message`, `code` and `severity`."""
    parts = found.groupdict()
    file = parts.get("file")
    return Draft(
        kind=kind,
        message=(parts.get("message") or "").strip(),
        file=workspace.relative(file) if file else None,
        line=position(parts.get("line")),
        column=position(parts.get("column")),
        code=(parts.get("code") or "").strip().rstrip(":") or None,
        is_warning=is_mild(parts.get("severity")),
        evidence=[found.string],
    )


def position(digits: str | None) -> int | None:
    """A line or column, which count from 1; None where the tool names none."""
    return int(digits) or None if digits else None


def is_mild(severity: str | None) -> bool:
    return (severity or "").strip().lower() in ("warning", "warn", "info", "information", "note", "message")


class Diagnostics:
    """Problems as they come, each with the lines below it as its evidence."""

    def __init__(self) -> None:
        self.findings = Findings()
        self.open: Draft | None = None

    @property
    def gathering(self) -> Gathering:
        return self.findings.gathering

    def begin(self, draft: Draft) -> None:
        self.close()
        self.open = draft

    def add(self, line: str) -> None:
        if self.open is not None:
            self.open.add(line)

    def close(self) -> None:
        if self.open is not None:
            self.findings.keep(self.open)
        self.open = None

    def parsed(self) -> Parsed:
        self.close()
        return self.findings.parsed()


class DiagnosticReader:
    """A reader of one log whose failures are all diagnostics."""

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace
        self.found = Diagnostics()

    def parsed(self) -> Parsed:
        return self.found.parsed()


def first_match(patterns: Iterable[re.Pattern[str]], line: str) -> re.Match[str] | None:
    return next((match for pattern in patterns if (match := pattern.match(line))), None)
