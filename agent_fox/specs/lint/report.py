"""Findings as the document that `lint --json` prints. Its names are a contract; nothing is decided here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent_fox.core.values import Json, to_object
from agent_fox.specs.lint.values import Finding, Level

if TYPE_CHECKING:
    from agent_fox.specs.lint.rules import Report


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
        **to_object(finding, only=("spec", "where", "path")),
        "line": finding.line or None,
        **to_object(finding, only=("what", "remedy")),
        "fixable": bool(finding.edits),
        "edits": [to_object(edit, only=("path", "line", "old", "new")) for edit in finding.edits],
        "fingerprint": finding.fingerprint,
    }
