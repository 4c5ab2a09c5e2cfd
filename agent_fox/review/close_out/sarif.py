"""What the close-out gate found, as SARIF 2.1.0: each finding at the file, and the line, that it names. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent_fox.core.ids import digest_of
from agent_fox.core.ledger.close_out import PATHS, Check, Finding, Severity, Verification
from agent_fox.core.markdown import one_line
from agent_fox.core.sarif import SarifResult, SarifRule, sarif_log
from agent_fox.trackers.facts import Place, places_in

if TYPE_CHECKING:
    from agent_fox.core.values import Json

FINGERPRINT = "agentFoxGate/v1"
LONGEST = 2_000
DIGITS = 32
LEVELS = {Severity.BLOCK: "error", Severity.WARN: "warning"}
HELP = "Put it right and judge again, or have a person sign: `agent-fox waive --finding TASK CHECK HASH`."


def sarif_document(verification: Verification, version: str) -> dict[str, Json]:
    """One run with a rule for each check; what a person signed for is suppressed, with the reason."""
    rules = [SarifRule(check.value, f"{check.value.replace('_', ' ').capitalize()}.", HELP) for check in Check]
    results = [result_of(verification, finding) for finding in verification.findings]
    return sarif_log("agent-fox gate", version, rules, results, FINGERPRINT)


def result_of(verification: Verification, finding: Finding) -> SarifResult:
    waiver, place = verification.waiver_of(finding), place_of(finding)
    return SarifResult(
        rule=finding.check.value,
        level=LEVELS[finding.severity],
        message=one_line(finding.detail, LONGEST),
        path=place.path,
        line=place.line,
        fingerprint=digest_of(finding.check.value, finding.detail, digits=DIGITS),
        waived=f"waived by {waiver.signer}: {waiver.reason}" if waiver else "",
    )


def place_of(finding: Finding) -> Place:
    """The file that a finding is about, or the first place that its words name; an empty path where there is none."""
    words = PATHS.get(finding.check)
    if words is not None:
        return Place(finding.detail.removeprefix(words.format("")), 0)
    return next(iter(places_in(finding.detail)), Place("", 0))
