"""The labelled failures under `fixtures/dispositions`: read, run through the parsers, and made into facts."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Literal

from pydantic import BaseModel, ConfigDict

from agent_fox.core.verdicts.verdict import Disposition
from agent_fox.verifier.ground.disposition_facts import (
    FailureFacts,
    PolicyDoubt,
    Rerun,
    RerunTree,
    SpecDoubt,
    SpecSource,
    ToolEnd,
)
from agent_fox.verifier.ground.results import Failure, FailureKind, Scope, Status, Tool
from agent_fox.verifier.logs.protocol import Workspace
from agent_fox.verifier.logs.reading import Run, read_run
from agent_fox.verifier.logs.registry import BUILT_IN
from agent_fox.verifier.logs.status import Ending, Outcome

FOLDER = Path(__file__).parents[2] / "fixtures" / "dispositions"
TAIL = 16_384
"""Letters of a log's end that the rules may look at, as many as in a run."""

_OUTCOMES = {"pass": True, "fail": False, "?": None}


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Policy(_Strict):
    rule: str
    message: str
    needs_person: bool = False


class Spec(_Strict):
    source: SpecSource
    message: str
    reading: str = ""


class Case(_Strict):
    """One labelled failure. `source`: `run` (a tool's real log), `recorded` (after a tool's known words), or `made`.

    same, base: what reruns on that tree came to, each `pass`, `fail` or `?`.
    """

    id: str
    language: str
    source: Literal["run", "recorded", "made"]
    command: str = ""
    parser: str
    tool: Tool
    expect: Disposition
    needs_person: bool | None = None
    log: str = ""
    exit_code: int | None = None
    timed_out: bool = False
    cancelled: bool = False
    start_error: str = ""
    out_of_memory: bool = False
    process_limit_hit: bool = False
    report_unreadable: bool = False
    network: bool = False
    scope: Scope | None = None
    files_changed: frozenset[str] = frozenset()
    own_tests: frozenset[str] = frozenset()
    declared: frozenset[str] = frozenset()
    known_flaky: frozenset[str] = frozenset()
    same: tuple[Literal["pass", "fail", "?"], ...] = ()
    base: tuple[Literal["pass", "fail", "?"], ...] = ()
    changed_sources: tuple[str, ...] = ()
    base_changes_sources: bool | None = None
    policy: tuple[Policy, ...] = ()
    spec: tuple[Spec, ...] = ()


@dataclass(frozen=True, slots=True)
class Labelled:
    """A case and whether it was held back while the rules were made."""

    case: Case
    is_held_back: bool


def labelled() -> Iterator[Labelled]:
    """Every case, those held back last."""
    for folder in (FOLDER / "known", FOLDER / "held_back"):
        for file in sorted(folder.glob("*.toml")):
            for table in tomllib.loads(file.read_text(encoding="utf-8"))["case"]:
                yield Labelled(Case.model_validate(table), folder.name == "held_back")


def facts_of(case: Case, scratch: Path) -> list[FailureFacts]:
    """The facts of each of the case's failures, as the parsers read them from its log."""
    outcome = _outcome(case, scratch / "log.txt")
    failures = outcome.parsed.failures or (Failure(FailureKind.UNKNOWN, "no failure was reported"),)
    return [_facts(case, outcome, failure) for failure in failures]


def _outcome(case: Case, log: Path) -> Outcome:
    log.write_text(case.log, encoding="utf-8")
    ending = Ending(case.parser, case.exit_code, case.timed_out)
    return read_run(Run(ending, log), Workspace(PurePosixPath("/workspace")), BUILT_IN)


def _facts(case: Case, outcome: Outcome, failure: Failure) -> FailureFacts:
    return FailureFacts(
        failure=failure,
        tool=case.tool,
        status=Status.ERRORED if case.report_unreadable else outcome.status,
        end=_end(case, outcome),
        scope=case.scope,
        has_network=case.network,
        tail=case.log[-TAIL:],
        files_changed=case.files_changed,
        own_tests=case.own_tests,
        declared=case.declared,
        reruns=_reruns(case),
        changed_sources=case.changed_sources,
        base_changes_sources=case.base_changes_sources,
        policy=tuple(PolicyDoubt(one.rule, one.message, one.needs_person) for one in case.policy),
        spec=tuple(SpecDoubt(one.source, one.message, one.reading) for one in case.spec),
        known_flaky=case.known_flaky,
    )


def _end(case: Case, outcome: Outcome) -> ToolEnd:
    summary = outcome.parsed.summary
    return ToolEnd(
        exit_code=case.exit_code,
        timed_out=case.timed_out,
        cancelled=case.cancelled,
        start_error=case.start_error,
        out_of_memory=case.out_of_memory,
        process_limit_hit=case.process_limit_hit,
        is_report_readable=not case.report_unreadable,
        tests_run=summary.tests if summary else None,
    )


def _reruns(case: Case) -> tuple[Rerun, ...]:
    trees = ((RerunTree.SAME, case.same), (RerunTree.BASE, case.base))
    return tuple(Rerun(tree, tuple(_OUTCOMES[one] for one in said)) for tree, said in trees if said)
