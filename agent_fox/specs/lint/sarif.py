"""Findings as SARIF 2.1.0, the form that code hosts and editors read. Nothing is decided here."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import PurePosixPath
from typing import TYPE_CHECKING
from urllib.parse import quote

from agent_fox.specs.lint.rules import RULES, Report

if TYPE_CHECKING:
    from agent_fox.core.values import Json
    from agent_fox.specs.lint.values import Edit, Finding, Rule

_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_ROOT = "SRCROOT"
_FINGERPRINT = "agentFoxFinding/v1"
_ENDS = (".", "?", "!")
_PLACES = {rule.id: place for place, rule in enumerate(RULES)}


def sarif_document(report: Report, version: str) -> dict[str, Json]:
    """One run with every rule, and a result for each finding. Paths count from the repository's root."""
    seen: Counter[str] = Counter()
    return {
        "$schema": _SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {"driver": {"name": "agent-fox lint", "version": version, "rules": [*map(_rule, RULES)]}},
                "columnKind": "unicodeCodePoints",
                "originalUriBaseIds": {_ROOT: {"description": {"text": "The root of the repository."}}},
                "invocations": [_invocation(report.not_checked)],
                "results": [_result(finding, seen) for finding in report.findings],
            }
        ],
    }


def _rule(rule: Rule) -> Json:
    return {
        "id": rule.id,
        "shortDescription": {"text": rule.meaning},
        "fullDescription": {"text": rule.meaning},
        "help": {"text": rule.remedy},
        "defaultConfiguration": {"level": rule.level.value},
    }


def _invocation(not_checked: Iterable[tuple[str, str]]) -> Json:
    left: list[Json] = [
        {
            "associatedRule": {"id": rule, "index": _PLACES[rule]},
            "level": "note",
            "message": {"text": f"{rule} was not checked: {why}"},
        }
        for rule, why in not_checked
    ]
    return {"executionSuccessful": True, "toolConfigurationNotifications": left}


def _result(finding: Finding, seen: Counter[str]) -> Json:
    """A result. Findings with the same fingerprint differ by their order."""
    seen[finding.fingerprint] += 1
    result: dict[str, Json] = {
        "ruleId": finding.rule,
        "ruleIndex": _PLACES[finding.rule],
        "level": finding.level.value,
        "message": {"text": f"{finding.what}{'' if finding.what.endswith(_ENDS) else '.'} {finding.remedy}"},
        "locations": [_location(finding)],
        "partialFingerprints": {_FINGERPRINT: f"{finding.fingerprint}:{seen[finding.fingerprint]}"},
    }
    if finding.edits:
        result["fixes"] = [{"description": {"text": finding.remedy}, "artifactChanges": _changes(finding.edits)}]
    return result


def _location(finding: Finding) -> Json:
    """Code hosts ask for a line, and for a full description of each rule: what is about a whole file is at its first.
    https://docs.github.com/en/code-security/code-scanning/integrating-with-code-scanning/sarif-support-for-code-scanning
    """
    region: Json = {"startLine": max(finding.line, 1)}
    return {"physicalLocation": {"artifactLocation": _artifact(finding.path), "region": region}}


def _artifact(path: str) -> Json:
    """A path below the root, relative to it; any other as an address."""
    if PurePosixPath(path).is_absolute():
        return {"uri": f"file://{quote(path, errors='surrogateescape')}"}
    return {"uri": quote(path, errors="surrogateescape"), "uriBaseId": _ROOT}


def _changes(edits: Iterable[Edit]) -> Json:
    by_path: dict[str, list[Json]] = {}
    for edit in edits:
        by_path.setdefault(edit.path, []).append(_replacement(edit))
    return [{"artifactLocation": _artifact(path), "replacements": made} for path, made in by_path.items()]


def _replacement(edit: Edit) -> Json:
    """A line that goes away takes its end with it."""
    region: dict[str, Json] = {"startLine": edit.line, "startColumn": 1}
    if edit.new is None:
        return {"deletedRegion": {**region, "endLine": edit.line + 1, "endColumn": 1}}
    deleted: dict[str, Json] = {**region, "endLine": edit.line, "endColumn": len(edit.old) + 1}
    return {"deletedRegion": deleted, "insertedContent": {"text": edit.new}}
