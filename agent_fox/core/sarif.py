"""A report in SARIF 2.1.0, the form that code hosts and editors read. What is reported is decided elsewhere.

https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING
from urllib.parse import quote

from agent_fox.core.values import dataclass

if TYPE_CHECKING:
    from agent_fox.core.values import Json

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
ROOT = "SRCROOT"


@dataclass(frozen=True, slots=True)
class SarifRule:
    """What results are about: `level` is error, warning or note."""

    id: str
    meaning: str
    help: str
    level: str = "error"


@dataclass(frozen=True, slots=True)
class SarifResult:
    """One result of a rule. `path` is empty where no file is meant; `line` 0 means the whole file.

    `fingerprint` stays the same for the same result after lines were moved; `fixes` are as SARIF has them. `waived`
    says by whom and why it was accepted.
    """

    rule: str
    level: str
    message: str
    path: str = ""
    line: int = 0
    column: int = 0
    fingerprint: str = ""
    fixes: Sequence[Json] = ()
    waived: str = ""


def sarif_log(
    tool: str, version: str, rules: Sequence[SarifRule], results: Sequence[SarifResult], fingerprints: str,
    notes: Sequence[Json] = (), troubles: Sequence[str] = (),
) -> dict[str, Json]:  # fmt: skip
    """One run with its rules and results. Paths count from the repository's root.

    `fingerprints` names their kind, such as `agentFoxFinding/v1`. `notes` are notifications about rules, as SARIF has
    them; `troubles` are checks that could not run, with which the whole has not succeeded.
    """
    places = {rule.id: place for place, rule in enumerate(rules)}
    seen: Counter[str] = Counter()
    return {
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {"driver": {"name": tool, "version": version, "rules": [*map(rule_object, rules)]}},
                "columnKind": "unicodeCodePoints",
                "originalUriBaseIds": {ROOT: {"description": {"text": "The root of the repository."}}},
                "invocations": [invocation_object(notes, troubles)],
                "results": [result_object(result, places, seen, fingerprints) for result in results],
            }
        ],
    }


def rule_object(rule: SarifRule) -> Json:
    return {
        "id": rule.id,
        "shortDescription": {"text": rule.meaning},
        "fullDescription": {"text": rule.meaning},
        "help": {"text": rule.help},
        "defaultConfiguration": {"level": rule.level},
    }


def invocation_object(notes: Sequence[Json], troubles: Sequence[str]) -> Json:
    invocation: dict[str, Json] = {"executionSuccessful": not troubles, "toolConfigurationNotifications": [*notes]}
    if troubles:
        invocation["toolExecutionNotifications"] = [
            {"level": "error", "message": {"text": trouble}} for trouble in troubles
        ]
    return invocation


def result_object(result: SarifResult, places: Mapping[str, int], seen: Counter[str], fingerprints: str) -> Json:
    """A result. Those with the same fingerprint differ by their order."""
    seen[result.fingerprint] += 1
    shown: dict[str, Json] = {
        "ruleId": result.rule,
        "ruleIndex": places[result.rule],
        "level": result.level,
        "message": {"text": result.message},
    }
    if result.path:
        shown["locations"] = [location_object(result)]
    shown["partialFingerprints"] = {fingerprints: f"{result.fingerprint}:{seen[result.fingerprint]}"}
    if result.fixes:
        shown["fixes"] = [*result.fixes]
    if result.waived:
        shown["suppressions"] = [{"kind": "external", "status": "accepted", "justification": result.waived}]
    return shown


def location_object(result: SarifResult) -> Json:
    """Code hosts ask for a line, and for a full description of each rule: what is about a whole file is at its first.
    https://docs.github.com/en/code-security/code-scanning/integrating-with-code-scanning/sarif-support-for-code-scanning
    """
    region: dict[str, Json] = {"startLine": max(result.line, 1)}
    if result.line and result.column:
        region["startColumn"] = result.column
    return {"physicalLocation": {"artifactLocation": artifact(result.path), "region": region}}


def artifact(path: str) -> Json:
    """A path below the root, relative to it; any other as an address."""
    if path.startswith("/"):
        return {"uri": f"file://{quote(path, errors='surrogateescape')}"}
    return {"uri": quote(path, errors="surrogateescape"), "uriBaseId": ROOT}
