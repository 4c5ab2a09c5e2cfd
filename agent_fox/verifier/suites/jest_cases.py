"""The tests of Jest's JSON report (`--json --outputFile`)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from pydantic import BaseModel, Field, ValidationError

from agent_fox.core.json_text import NotJson, read_json
from agent_fox.verifier.ground.cases import COLLECTION, Case, Outcome, ReportUnreadable
from agent_fox.verifier.logs.protocol import Workspace

LONGEST_TEXT = 20_000
_OUTCOMES = {"passed": Outcome.PASSED, "failed": Outcome.FAILED}


class _Test(BaseModel, defer_build=True):
    title: str
    status: str
    around: list[str] = Field(default=[], alias="ancestorTitles")
    failures: list[str] | None = Field(default=None, alias="failureMessages")


class _File(BaseModel, defer_build=True):
    name: str
    status: str
    message: str = ""
    tests: list[_Test] = Field(default=[], alias="assertionResults")


class _Report(BaseModel, defer_build=True):
    files: list[_File] = Field(alias="testResults")


def read_jest(path: Path, workspace: Path) -> tuple[Case, ...]:
    """The cases of one report; a file that could not be run is a case without classes. Raises ReportUnreadable."""
    try:
        report = _Report.model_validate(read_json(path.read_bytes()))
    except (OSError, NotJson, ValidationError) as error:
        raise ReportUnreadable(f"{path.name} is no readable report of Jest: {type(error).__name__}") from error
    return tuple(case for file in report.files for case in _cases(file, workspace))


def _cases(file: _File, workspace: Path) -> Iterator[Case]:
    name = Workspace(PurePosixPath(workspace)).relative(file.name)
    if file.status == "failed" and not file.tests:
        yield Case((), name, name, Outcome.FAILED, COLLECTION, file.message[:LONGEST_TEXT])
    for test in file.tests:
        text = "\n".join(test.failures or ())[:LONGEST_TEXT]
        outcome = _OUTCOMES.get(test.status, Outcome.SKIPPED)
        yield Case(tuple(test.around), test.title, name, outcome, text.partition("\n")[0], text)
