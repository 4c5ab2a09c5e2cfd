"""SARIF: what is printed is what the standard asks for, and points at what was found."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent_fox.core.spec import Problem, Severity
from agent_fox.specs.lint.rules import lint
from agent_fox.specs.lint.sarif import sarif_document
from tests.specs.lint.examples import EXAMPLES
from tests.specs.lint.sarif_model import Log, Result
from tests.specs.lint.worlds import made, read, write


def results(root: Path, files: dict[str, str]) -> list[Result]:
    log = Log.model_validate(sarif_document(lint(read(write(root, files))), "1.2.3"))
    return log.runs[0].results


@pytest.mark.parametrize("rule", EXAMPLES)
def test_every_rules_findings_are_what_the_standard_asks_for(rule: str, tmp_path: Path) -> None:
    told = [result for result in results(tmp_path, EXAMPLES[rule][0]) if result.ruleId == rule]
    place = told[0].locations[0].physicalLocation
    path, _, line = EXAMPLES[rule][1].partition(":")
    assert (place.artifactLocation.uri, place.region.startLine) == (f"specs/{path}", int(line or 1))


def test_a_path_is_escaped_and_counts_from_the_root(tmp_path: Path) -> None:
    problems = (
        Problem(Severity.ERROR, "specs/01_größe 1%/a#b.md:3", "wrong"),
        Problem(Severity.ERROR, "/elsewhere/a b.md", "wrong"),
        Problem(Severity.ERROR, "specs/\udcff.md", "wrong"),
    )
    log = Log.model_validate(sarif_document(lint(made(tmp_path, problems=problems)), "1"))
    artifacts = [result.locations[0].physicalLocation.artifactLocation for result in log.runs[0].results]
    assert [(artifact.uri, artifact.uriBaseId) for artifact in artifacts] == [
        ("file:///elsewhere/a%20b.md", None),
        ("specs/01_gr%C3%B6%C3%9Fe%201%25/a%23b.md", "SRCROOT"),
        ("specs/%FF.md", "SRCROOT"),
    ]


def test_a_message_is_sentences(tmp_path: Path) -> None:
    problems = (Problem(Severity.ERROR, "a.md", "wrong. Did you mean b?"), Problem(Severity.ERROR, "b.md", "wrong"))
    log = Log.model_validate(sarif_document(lint(made(tmp_path, problems=problems)), "1"))
    assert [result.message.text for result in log.runs[0].results] == [
        "wrong. Did you mean b? Do what it says.",
        "wrong. Do what it says.",
    ]


def test_a_repair_is_a_replacement_of_the_line(tmp_path: Path) -> None:
    (result,) = results(tmp_path, EXAMPLES["upper-case-box"][0])
    assert result.fixes is not None
    (change,) = result.fixes[0].artifactChanges
    region = change.replacements[0].deletedRegion
    assert (region.startLine, region.startColumn, region.endLine) == (4, 1, 4)
    assert change.replacements[0].insertedContent == {"text": "  - [x] 1.1 Write tests of the sum"}


def test_a_line_that_goes_away_takes_its_end_with_it(tmp_path: Path) -> None:
    (result,) = results(tmp_path, EXAMPLES["doubled-dependency"][0])
    assert result.fixes is not None
    replacement = result.fixes[0].artifactChanges[0].replacements[0]
    assert (replacement.deletedRegion.endLine, replacement.deletedRegion.endColumn) == (9, 1)
    assert replacement.insertedContent is None


def test_what_was_not_checked_is_told(tmp_path: Path) -> None:
    root = write(tmp_path, {})
    (root / ".git").rmdir()
    log = Log.model_validate(sarif_document(lint(read(root)), "1"))
    (told,) = log.runs[0].invocations[0].toolConfigurationNotifications
    assert told.associatedRule.id == "missing-file"
