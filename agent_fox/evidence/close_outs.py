"""Close-outs judged again from their records alone: what each was made from, and what the rules give for that.

Nothing is read here but a record; where records are kept, and the report for people, are in `review`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from agent_fox.core.late import adapter, late_module
from agent_fox.core.ledger.close_out import CloseOut, Finding, FindingWaiver, Verification, judge
from agent_fox.core.values import dataclass

if TYPE_CHECKING:
    import pydantic

    from agent_fox.core.ledger.evidence import Evidence, Json
else:
    pydantic = late_module("pydantic")

PASSED, BLOCKED = "passed", "blocked"

_CLOSE_OUT = adapter(lambda: pydantic.TypeAdapter(CloseOut))

Covers = Callable[[str, str, Finding], bool]
"""Whether the waiver with this id, as far as it is recorded, is about this task's finding."""


class Damaged(ValueError):
    """A record that does not hold what it was made from, or does not come to what it says. Says which of the two."""


@dataclass(frozen=True, slots=True)
class ShownFinding:
    """What a record's report says of one finding."""

    check: str
    severity: str
    detail: str
    waiver: str | None


def given_in(body: Mapping[str, Json]) -> CloseOut:
    """What a judgement was made from. Raises Damaged."""
    try:
        return _CLOSE_OUT.validate_python(body.get("given"))
    except pydantic.ValidationError as error:
        raise Damaged("does not hold what it was made from") from error


def told_in(body: Mapping[str, Json]) -> list[ShownFinding]:
    """The findings that its report names. Raises Damaged."""
    report = body.get("report")
    rows = report.get("findings") if isinstance(report, dict) else None
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise Damaged("does not name its findings")
    return [_shown(row) for row in rows if isinstance(row, dict)]


def _shown(one: Mapping[str, Json]) -> ShownFinding:
    waiver = one.get("waived_by")
    return ShownFinding(
        str(one.get("check")), str(one.get("severity")), str(one.get("detail")), None if waiver is None else str(waiver)
    )


def judged_again(record: Evidence, covers: Covers) -> Verification:
    """The judgement made again, with those of the waivers that it names which are recorded.

    Raises Damaged where the record holds something else than it was made from, or names other findings.
    """
    given, shown = given_in(record.body), told_in(record.body)
    if given.task_id != record.about.address:
        raise Damaged("was made from what is about another task")
    plain = judge(given)
    if [(row.check, row.severity, row.detail) for row in shown] != [
        (finding.check.value, finding.severity.value, finding.detail) for finding in plain.findings
    ]:
        raise Damaged("does not come to the findings it names")
    return judge(
        given, [waiver for waiver in _waivers(plain, shown) if covers(waiver.id, given.task_id, _of(plain, waiver))]
    )


def _waivers(plain: Verification, findings: list[ShownFinding]) -> list[FindingWaiver]:
    return [
        FindingWaiver(finding.check.value, finding.detail_hash, shown.waiver, "", "")
        for finding, shown in zip(plain.findings, findings, strict=True)
        if shown.waiver is not None
    ]


def _of(found: Verification, waiver: FindingWaiver) -> Finding:
    return next(finding for finding in found.findings if waiver.covers(finding))


def status_of(found: Verification) -> str:
    """The word of a record that says this."""
    return PASSED if found.passed else BLOCKED
