"""Findings as the document that `lint --json` prints. Its names are a contract; nothing is decided here."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from agent_fox.specs.lint.values import Finding, Level

if TYPE_CHECKING:
    from agent_fox.specs.lint.rules import Report

Json: TypeAlias = "str | int | bool | list[Json] | dict[str, Json] | None"


def report_document(report: Report) -> dict[str, Json]:
    """Findings, what could not be checked, counts, and the number of specs, ready for `json.dumps`."""
    return {
        "findings": [finding_document(finding) for finding in report.findings],
        "not_checked": [{"rule": rule, "why": why} for rule, why in report.not_checked],
        "counts": {level.value: report.count(level) for level in Level},
        "specs": report.specs,
    }


def finding_document(finding: Finding) -> dict[str, Json]:
    return {
        "rule": finding.rule,
        "severity": finding.level.value,
        "spec": finding.spec,
        "where": finding.where,
        "path": finding.path,
        "line": finding.line or None,
        "what": finding.what,
        "remedy": finding.remedy,
        "fixable": bool(finding.edits),
        "edits": [{"path": edit.path, "line": edit.line, "old": edit.old, "new": edit.new} for edit in finding.edits],
        "fingerprint": finding.fingerprint,
    }
