"""Findings of the linter as SARIF 2.1.0. Nothing is decided here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent_fox.core.sarif import SarifResult, SarifRule, artifact, sarif_log
from agent_fox.specs.lint.values import rules

if TYPE_CHECKING:
    from agent_fox.core.values import Json
    from agent_fox.specs.lint.rules import Report
    from agent_fox.specs.lint.values import Edit, Finding

_FINGERPRINT = "agentFoxFinding/v1"
_ENDS = (".", "?", "!")


def sarif_document(report: Report, version: str) -> dict[str, Json]:
    """One run with every rule, and a result for each finding. Paths count from the repository's root."""
    every = [SarifRule(rule.id, rule.meaning, rule.remedy, rule.level.value) for rule in rules().values()]
    places = {name: place for place, name in enumerate(rules())}
    notes: list[Json] = [
        {
            "associatedRule": {"id": rule, "index": places[rule]},
            "level": "note",
            "message": {"text": f"{rule} was not checked: {why}"},
        }
        for rule, why in report.not_checked
    ]
    return sarif_log("agent-fox lint", version, every, [*map(_result, report.findings)], _FINGERPRINT, notes)


def _result(finding: Finding) -> SarifResult:
    message = f"{finding.what}{'' if finding.what.endswith(_ENDS) else '.'} {finding.remedy}"
    by_path: dict[str, list[Json]] = {}
    for edit in finding.edits:
        by_path.setdefault(edit.path, []).append(_replacement(edit))
    changes: list[Json] = [{"artifactLocation": artifact(path), "replacements": made} for path, made in by_path.items()]
    fixes: list[Json] = [{"description": {"text": finding.remedy}, "artifactChanges": changes}] if changes else []
    place = (finding.path, finding.line)
    return SarifResult(finding.rule, finding.level.value, message, *place, fingerprint=finding.fingerprint, fixes=fixes)


def _replacement(edit: Edit) -> Json:
    """A line that goes away takes its end with it."""
    region: dict[str, Json] = {"startLine": edit.line, "startColumn": 1}
    if edit.new is None:
        return {"deletedRegion": {**region, "endLine": edit.line + 1, "endColumn": 1}}
    deleted: dict[str, Json] = {**region, "endLine": edit.line, "endColumn": len(edit.old) + 1}
    return {"deletedRegion": deleted, "insertedContent": {"text": edit.new}}
