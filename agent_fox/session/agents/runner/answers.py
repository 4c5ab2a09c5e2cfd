"""The answer that a judging session leaves, and whether anybody can read it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from agent_fox.core.verdicts.answer import read_report
from agent_fox.core.verdicts.findings import read_review
from agent_fox.session.agents.task import Role

if TYPE_CHECKING:
    from agent_fox.session.agents.runner.tally import Tally


def answer_of(tally: Tally) -> str:
    """The structured answer if the program gave one, else its last words."""
    finished = tally.finished
    if finished is not None and finished.structured is not None:
        return json.dumps(finished.structured, ensure_ascii=False)
    return (finished.text if finished is not None else "") or tally.words


def why_unreadable(role: Role, answer: str) -> str:
    """Why nobody can read it; empty where somebody can, and for a coder, whose answer is its work."""
    match role:
        case Role.VERIFIER:
            report = read_report(answer, {})
            return "" if report.is_readable else "; ".join(report.notes) or "no verdicts in it"
        case Role.REVIEWER:
            return "" if read_review(answer).is_readable else "no findings in it"
    return ""
