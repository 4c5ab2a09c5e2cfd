"""What ESLint and Ruff write as JUnit XML: a suite for each file, and in it each problem as a test that failed."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from agent_fox.core.regex import regex
from agent_fox.verifier.ground.results import Failure, FailureKind

if TYPE_CHECKING:
    from agent_fox.verifier.logs.junit_cases import JunitCase
    from agent_fox.verifier.logs.protocol import Workspace

_RULE = regex(r"org\.(?:eslint|ruff)\.(?P<rule>\S+)$")
_PLACE = regex(r"line (?P<line>\d+), col (?P<column>\d+), (?P<message>.*)", re.DOTALL)


def lint_failure(case: JunitCase, workspace: Workspace) -> Failure | None:
    """The problem that a case tells of; None where it is a test's."""
    rule, place = _RULE.match(case.name), _PLACE.match(case.text.strip())
    if rule is None or place is None:
        return None
    return Failure(
        kind=FailureKind.LINT_FAILURE,
        message=case.message.removesuffix(".") or place["message"],
        file=workspace.relative(case.suites[-1]) if case.suites else None,
        line=int(place["line"]) or None,
        column=int(place["column"]) or None,
        evidence=case.text,
        code=rule["rule"],
    )
