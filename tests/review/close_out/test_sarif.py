"""What the gate found as SARIF: paths of writes, places that a command's words name, what a person signed for."""

from __future__ import annotations

from typing import Any

from agent_fox.core.ledger.close_out import CloseOut, FeedbackRecord, FindingWaiver, judge
from agent_fox.core.ledger.close_out_scope import ScopeReport
from agent_fox.review.close_out.sarif import sarif_document
from tests.sarif_schema import problems

GIVEN = CloseOut(
    "05_task",
    (FeedbackRecord("make test", 1, stderr="src/a.py:7: assert 1 == 2"),),
    ScopeReport(forbidden_writes=("infra/key.pem",), off_scope_writes=("docs/größe.md",)),
)


def results(*waivers: FindingWaiver) -> list[dict[str, Any]]:
    log = sarif_document(judge(GIVEN, waivers), "1.2.3")
    assert problems(log) == []
    runs: Any = log["runs"]
    shown: list[dict[str, Any]] = runs[0]["results"]
    return shown


def test_each_finding_stands_where_its_words_point() -> None:
    places = [
        (
            result["ruleId"],
            result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"],
            result["locations"][0]["physicalLocation"]["region"]["startLine"],
        )
        for result in results()
    ]
    assert places == [
        ("nonzero_exit", "src/a.py", 7),
        ("forbidden_write", "infra/key.pem", 1),
        ("off_scope_write", "docs/gr%C3%B6%C3%9Fe.md", 1),
    ]
    assert {result["level"] for result in results()} == {"error"}


def test_what_a_person_signed_for_is_suppressed() -> None:
    finding = judge(GIVEN).findings[1]
    waiver = FindingWaiver(finding.check.value, finding.detail_hash, "id", "alice", "on purpose")
    suppressed = [result.get("suppressions") for result in results(waiver)]
    assert suppressed == [
        None,
        [{"kind": "external", "status": "accepted", "justification": "waived by alice: on purpose"}],
        None,
    ]
