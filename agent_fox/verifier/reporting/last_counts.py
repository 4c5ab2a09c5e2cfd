"""How many tests the last run of each scope had, so that tests that vanish are noticed. A note, never a verdict."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from agent_fox.core.late import adapter, late_module
from agent_fox.core.values import dataclass
from agent_fox.system.files import replace_file
from agent_fox.verifier.ground.results import (
    Scope,  # noqa: TC001 - pydantic reads it
    TestSummary,  # noqa: TC001 - pydantic reads it
)
from agent_fox.verifier.reporting.comparison import fewer_tests

if TYPE_CHECKING:
    import pydantic

    from agent_fox.verifier.ground.results import VerificationResult
    from agent_fox.verifier.reporting.report import StepOutcome
else:
    pydantic = late_module("pydantic")


@dataclass(frozen=True, slots=True)
class LastCount:
    """What one scope of one tool came to when it last ran to its end."""

    profile: str
    tool: str
    module: str
    selector: str
    scope: Scope
    counts: TestSummary

    @property
    def key(self) -> tuple[str, ...]:
        return self.profile, self.tool, self.module, self.selector, self.scope


_COUNTS = adapter(lambda: pydantic.TypeAdapter(tuple[LastCount, ...]))


def noted(file: Path, outcomes: Sequence[StepOutcome]) -> tuple[StepOutcome, ...]:
    """The outcomes, with a note where fewer tests ran than last time in the same scope; `file` is kept up to date."""
    known = {last.key: last for last in _read(file)}
    counted = {id(outcome): last for outcome in outcomes if (last := _count(outcome.result))}
    with_notes = tuple(_with_note(outcome, counted.get(id(outcome)), known) for outcome in outcomes)
    _write(file, {**known, **{last.key: last for last in counted.values()}})
    return with_notes


def _count(result: VerificationResult) -> LastCount | None:
    if result.test_summary is None or result.scope is None:
        return None
    module, selector = result.module or "", result.selector or ""
    return LastCount(result.profile, result.tool, module, selector, result.scope, result.test_summary)


def _with_note(outcome: StepOutcome, now: LastCount | None, known: Mapping[tuple[str, ...], LastCount]) -> StepOutcome:
    before = known.get(now.key) if now else None
    if now is None or before is None:
        return outcome
    fewer = fewer_tests(before.scope, before.counts, now.scope, now.counts)
    if not fewer:
        return outcome
    note = f"fewer than in the last run of the same scope: {fewer}"
    return replace(outcome, result=replace(outcome.result, notes=(*outcome.result.notes, note)))


def _read(file: Path) -> tuple[LastCount, ...]:
    try:
        return _COUNTS.validate_json(file.read_bytes())
    except (FileNotFoundError, pydantic.ValidationError):  # what is damaged says nothing
        return ()


def _write(file: Path, counts: Mapping[tuple[str, ...], LastCount]) -> None:
    file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    replace_file(file, _COUNTS.dump_json(tuple(counts.values()), indent=1), is_durable=False)
