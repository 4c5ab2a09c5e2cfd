"""Sentences are judged as their dialect words them: what its own template writes is no finding."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent_fox.core.spec import Criterion, Requirement, Spec
from agent_fox.specs.lint.rules import lint
from tests.specs.lint.worlds import REQUIREMENTS, found, made, of_rule

OBLIGES = Criterion("FR-001", "The system MUST let a user see each of the albums that are shared.")
WITHOUT = "When a user opens an album that is shared then each of its pictures is shown."
OPEN = """# Feature Specification: Albums

## Requirements

### Functional Requirements

- **FR-001**: System MUST let users log in with [NEEDS CLARIFICATION: which way?]
"""


def judged(root: Path, dialect: str, *parts: Criterion) -> list[str]:
    spec = Spec("a", dialect, "specs/a", requirements=(Requirement("R", "t", criteria=(OBLIGES, *parts)),))
    return [one.what.split()[0] for one in lint(made(root, spec)).findings if one.rule == "no-obligation"]


@pytest.mark.parametrize(
    ("dialect", "expected"),
    [("agent-fox", ["1.1"]), ("kiro", ["1.1"]), ("spec-kit", []), ("openspec", []), ("plain", [])],
)
def test_given_when_then_is_a_form_where_ears_is_not_the_only_one(
    dialect: str, expected: list[str], tmp_path: Path
) -> None:
    assert judged(tmp_path, dialect, Criterion("1.1", WITHOUT)) == expected


def test_success_criteria_and_answers_of_spec_kit_are_worded_otherwise(tmp_path: Path) -> None:
    outcome = Criterion("SC-001", "Users can create an album of all of their pictures in under two minutes.")
    answer = Criterion("EC.E1", "What happens when an album is empty? It is shown with a picture of a frame.")
    assert judged(tmp_path, "spec-kit", outcome, answer) == []
    assert judged(tmp_path, "spec-kit", Criterion("FR-002", outcome.text)) == ["FR-002"]


def test_a_question_that_reading_tells_is_told_once(tmp_path: Path) -> None:
    findings = found(tmp_path, {"001-albums/spec.md": OPEN, "001-albums/plan.md": "# Plan\n"})
    (told,) = of_rule("needs-clarification", findings)
    assert told[0] == "001-albums/spec.md:7"
    assert "which way?" in told[1]
    assert of_rule("plan-warning", findings) == []


def test_a_question_is_told_where_something_else_is_said_of_its_line(tmp_path: Path) -> None:
    text = REQUIREMENTS + "\n<<<<<<< [NEEDS CLARIFICATION: which?]\n"
    findings = found(tmp_path, {"01_sum/requirements.md": text})
    assert [rule.rule for rule in findings if rule.line] == ["merge-conflict", "needs-clarification"]
