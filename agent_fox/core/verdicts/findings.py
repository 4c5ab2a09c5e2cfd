"""What a reviewer printed: findings with a severity. Reading is as strict as with verdicts; silence is not approval."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from agent_fox.core.json_text import DoubledObject
from agent_fox.core.values import dataclass
from agent_fox.core.verdicts.answer_scan import Whole, scan

CRITICAL = frozenset({"critical", "blocker", "blocking"})
MILD = frozenset(
    {"high", "major", "medium", "moderate", "minor", "low", "info", "note", "nit", "suggestion", "observation"}
)
"""What a finding may be besides critical. Any other word, or none, says nothing: the review is not readable."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One finding. `severity` is the reviewer's word in lower case, one of CRITICAL or MILD."""

    severity: str
    text: str
    requirement_id: str = ""

    @property
    def is_critical(self) -> bool:
        return self.severity in CRITICAL


@dataclass(frozen=True, slots=True)
class Review:
    """All findings of one reviewer session. `is_readable` is false where no complete answer was found.

    `agreed`: requirements whose changed expectation it was asked about and agrees to.
    """

    findings: tuple[Finding, ...] = ()
    summary: str = ""
    is_readable: bool = True
    agreed: frozenset[str] = frozenset()

    @property
    def critical(self) -> tuple[Finding, ...]:
        return tuple(finding for finding in self.findings if finding.is_critical)

    def with_refusals(self, asked: Iterable[tuple[str, str]]) -> Review:
        """With a critical finding for each changed expectation that it does not agree to: (requirement, test)."""
        refused = ((id, test) for id, test in asked if id not in self.agreed)
        findings = (Finding("critical", f"{id}: the change of {test} is not agreed to", id) for id, test in refused)
        return replace(self, findings=(*self.findings, *findings))


UNREADABLE = Review(is_readable=False)


def read_review(text: str) -> Review:
    """The last complete object with a list `findings`; broken or cut off after it, or none at all: not readable."""
    last = UNREADABLE
    for piece in scan(text):
        if not isinstance(piece, Whole):
            last = UNREADABLE
        elif isinstance(piece.value, dict) and isinstance(piece.value.get("findings"), list):
            last = _review(piece.value)
        elif _holds_a_finding(piece.value):
            last = UNREADABLE
    return last


def _holds_a_finding(value: object) -> bool:
    """Whether a value outside of any answer is a finding, or a list that has one."""
    rows = value if isinstance(value, list) else [value]
    return any(isinstance(row, dict) and "severity" in row for row in rows)


def _review(answer: dict[str, object]) -> Review:
    rows = answer["findings"]
    assert isinstance(rows, list)
    if any(isinstance(each, DoubledObject) for each in (answer, *rows)):
        return UNREADABLE
    findings = tuple(_finding(row) for row in rows if isinstance(row, dict))
    if len(findings) != len(rows) or any(finding.severity not in CRITICAL | MILD for finding in findings):
        return UNREADABLE
    return Review(findings, _text(answer, "summary"), agreed=_agreed(answer.get("expectations")))


def _agreed(rows: object) -> frozenset[str]:
    """The ids that are agreed to in so many words; one that is answered otherwise as well is not."""
    objects = [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []
    answers = [(_text(row, "requirement_id").strip(), row.get("agree") is True) for row in objects]
    return frozenset(id for id, agrees in answers if agrees and id) - {id for id, agrees in answers if not agrees}


def _finding(row: dict[str, object]) -> Finding:
    words = (_text(row, key) for key in ("description", "finding", "text", "message"))
    text = next((word for word in words if word), "")
    return Finding(_text(row, "severity").strip().lower(), text, _text(row, "requirement_id"))


def _text(row: dict[str, object], key: str) -> str:
    value = row.get(key)
    return value if isinstance(value, str) else ""
