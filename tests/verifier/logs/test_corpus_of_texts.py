"""The text logs of a shared corpus with hand-made truth, where it is at hand."""

from __future__ import annotations

import json
from pathlib import Path, PurePosixPath
from typing import Any

import pytest

from agent_fox.verifier.ground.results import Failure, TestSummary
from agent_fox.verifier.logs import decode
from agent_fox.verifier.logs.protocol import LogParser, Workspace
from agent_fox.verifier.logs.row_reader import built_in
from tests.verifier.logs.samples import parser_of

CORPUS = Path(__file__).parents[4] / "shared" / "data" / "logs"
PARSERS: dict[str, LogParser] = {
    "eslint/stylish": built_in("eslint"),
    "mypy/type-errors": built_in("mypy"),
    "pytest/collection-error": parser_of("pytest"),
    "pytest/fail-error-skip-xfail-param": parser_of("pytest"),
    "pytest/no-tests-collected": parser_of("pytest"),
    "ruff/check-concise": built_in("ruff"),
    "ruff/check-full": built_in("ruff"),
    "unittest/fail-and-error": parser_of("unittest"),
}

pytestmark = pytest.mark.skipif(not CORPUS.is_dir(), reason="the corpus is not at hand")


def said(failure: Failure) -> tuple[object, ...]:
    return (failure.file, failure.line, failure.message, failure.test_name)


def wanted(truth: dict[str, Any]) -> tuple[object, ...]:
    return (truth["file"], truth["line"], truth["message"], truth.get("testName"))


@pytest.mark.parametrize("case", PARSERS)
def test_the_failures_and_counts_are_those_of_the_truth(case: str) -> None:
    truth = json.loads((CORPUS / case / "expected.json").read_text())
    with (CORPUS / case / "log.txt").open("rb") as log:
        found = PARSERS[case].parse(decode.Lines(log), Workspace(PurePosixPath(truth["workspaceRoot"])))
    assert sorted(map(said, found.failures), key=str) == sorted(map(wanted, truth["failures"]), key=str)
    assert len(found.warnings) == len(truth["warnings"])
    counts = truth["testSummary"]
    assert found.summary == (TestSummary(**{"xfailed": 0, **counts}) if counts else None)
