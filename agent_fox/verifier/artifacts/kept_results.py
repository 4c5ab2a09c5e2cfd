"""The results of one attempt, kept beside its artifacts: each as a document, and the report of a whole plan."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, TypeVar

from pydantic import ValidationError

from agent_fox.core.regex import regex
from agent_fox.verifier.artifacts.index import ArtifactError
from agent_fox.verifier.ground.results import Artifact, ArtifactKind, VerificationResult
from agent_fox.verifier.reporting.comparison import key_of
from agent_fox.verifier.reporting.documents import (
    ReportDocument,
    ResultDocument,
    report_document,
    report_of,
    result_document,
    result_of,
)
from agent_fox.verifier.reporting.report import Step, StepOutcome, VerificationReport

if TYPE_CHECKING:
    from agent_fox.verifier.artifacts.store import ArtifactStore

_RESULT = regex(r"\.result(?:-\d+)?\.json$")
_REPORT = regex(r"^report(?:-\d+)?\.json$")
_Kept = TypeVar("_Kept", ReportDocument, ResultDocument)
ONE_BY_ONE = "tools called one by one"


def keep_result(store: ArtifactStore, name: str, result: VerificationResult) -> None:
    """Keep one result under its name (`003-run_compile`)."""
    store.keep_text(result_document(result).model_dump_json(indent=2), ArtifactKind.REPORT, f"{name}.result.json")


def keep_report(store: ArtifactStore, report: VerificationReport) -> Artifact:
    """Keep the report of a whole plan; the last one of an attempt is the one that counts."""
    return store.keep_text(report_document(report).model_dump_json(indent=2), ArtifactKind.REPORT, "report.json")


def last_report(store: ArtifactStore, profile: str) -> VerificationReport | None:
    """The attempt's last report; of tools that were called one by one, all last results together. None: nothing ran.

    Raises ArtifactError for a document that cannot be understood.
    """
    kept = [artifact for artifact in store.listed() if artifact.kind is ArtifactKind.REPORT]
    newest = next((artifact for artifact in reversed(kept) if _is_telling(artifact)), None)
    if newest is None:
        return None
    if _REPORT.search(newest.name):
        return report_of(_read(store, newest, ReportDocument))
    results = (result_of(_read(store, each, ResultDocument)) for each in kept if _RESULT.search(each.name))
    outcomes = tuple(StepOutcome(_step(result), result) for result in latest(results))
    created = max(outcome.result.completed_at for outcome in outcomes)
    return VerificationReport(store.run, store.attempt, profile, ONE_BY_ONE, "", outcomes, created_at=created)


def latest(results: Iterable[VerificationResult]) -> tuple[VerificationResult, ...]:
    """Of the results for one tool, module and selector the last; in the order of their last run."""
    kept: dict[object, VerificationResult] = {}
    for result in results:
        kept.pop(key_of(result), None)
        kept[key_of(result)] = result
    return tuple(kept.values())


def _is_telling(artifact: Artifact) -> bool:
    return bool(_RESULT.search(artifact.name) or _REPORT.search(artifact.name))


def _step(result: VerificationResult) -> Step:
    return Step(result.tool, module=result.module, selector=result.selector)


def _read(store: ArtifactStore, artifact: Artifact, kind: type[_Kept]) -> _Kept:
    with store.open(artifact.uri) as file:
        text = file.read()
    try:
        return kind.model_validate_json(text)
    except ValidationError as error:
        first = error.errors()[0]
        raise ArtifactError(f"{artifact.uri} cannot be understood: {first['loc']}: {first['msg']}") from error
