"""Results of the last verification of a checkout, taken again where nothing that they may rest on differs.

What is looked at, and what is not, stands in `docs/verifier.md`, "Results that are taken again". Where it cannot be
known what a command saw, it runs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from agent_fox.core.ids import digest_of
from agent_fox.core.regex import regex
from agent_fox.core.values import dataclass
from agent_fox.system import git
from agent_fox.system.files import replace_file
from agent_fox.verifier.ground.results import FailureKind, Status, Tool, VerificationResult
from agent_fox.verifier.plans.reused_tests import REUSED, SHORT, ReusedTests, reused_note
from agent_fox.verifier.plans.standing import Ground, Moment, ground
from agent_fox.verifier.reporting.documents import ResultDocument, result_document, result_of
from agent_fox.verifier.running.guarded import environment_of

if TYPE_CHECKING:
    from agent_fox.verifier.ground.request import Prepared
    from agent_fox.verifier.profiles.context import RunContext
    from agent_fox.verifier.reporting.report import Step, StepOutcome

TOOLS = (Tool.COMPILE, Tool.UNIT_TESTS, Tool.SELECTED_TEST, Tool.LINT, Tool.FORMAT_CHECK)
"""Those whose results may be taken again. What the policy checks and scanners say rests on more than the files."""

_CLOCK_STEP = 40_000_000
"""Nanoseconds that a file's time may lie before the clock's."""


class _Kept(BaseModel, defer_build=True):
    """The results of one verification, and where each was seen, by the digest of the step and its command."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    format: Literal[1] = 1
    day: str
    source: str
    rest: str
    products: str
    environment: str
    results: dict[str, ResultDocument]
    seen_at: dict[str, str]

    @property
    def compared(self) -> tuple[str, ...]:
        return self.day, self.source, self.rest, self.products, self.environment


@dataclass(frozen=True, slots=True)
class SeenBefore:
    """The results of the last verification of one workspace with one profile, in a file outside of it.

    is_flaky: some tests of it are known to be flaky: then all tests run. short: seconds of a suite of which each call
    may be watched, by a Python that has nothing cheaper. is_fresh: everything runs, unwatched, and is kept.
    """

    context: RunContext
    file: Path
    is_flaky: bool = False
    short: float = SHORT
    is_fresh: bool = False

    def look(self, prepared: Mapping[Step, Prepared]) -> Look:
        """What of it holds for these steps and their commands now."""
        return Look(self, prepared)


class Look:
    """One verification beside the last one. `taken`: the steps that need not run, each with the result that was seen;
    `tests`: the steps of which only some tests may have to.
    """

    def __init__(self, seen: SeenBefore, prepared: Mapping[Step, Prepared]) -> None:
        self._seen, self._prepared = seen, prepared
        self._commands = {
            step: digest_of(step.title, command.cwd.as_posix(), *command.display, *variables_of(command))
            for step, command in prepared.items()
            if step.tool in TOOLS and not command.network and not command.missing
        }
        root, is_flaky = seen.context.root, seen.is_flaky
        self.tests = {
            step: ReusedTests(seen.file.with_name(f"{seen.file.stem}-tests.json"), command, seen.short)
            for step, command in self._commands.items()
            if not (is_flaky or seen.is_fresh) and ReusedTests.fits(step, prepared[step], root)
        }
        try:
            kept = None if seen.is_fresh else _Kept.model_validate_json(seen.file.read_bytes())
        except (OSError, ValidationError):  # what cannot be read was not seen
            kept = None
        is_known = kept is not None or any(tests.file.exists() for tests in self.tests.values())
        ground = self._ground() if is_known and self._commands else None
        self.taken: dict[Step, VerificationResult] = {}
        if kept and ground and kept.compared == (_day(), *ground.standing.compared):
            known = {step: key for step, key in self._commands.items() if key in kept.results}
            self.taken = {
                step: taken_again(replace(result_of(kept.results[key]), seen_at=kept.seen_at[key]))
                for step, key in known.items()
            }
        for step in self.tests.keys() - self.taken.keys():
            self.tests[step].begin(ground, _day())
            if (result := self.tests[step].unrun()) is not None:
                self.taken[step] = result

    def keep(self, outcomes: Sequence[StepOutcome], began: int) -> None:
        """Keep what may be taken again, where nothing was changed since `began` (nanoseconds of the clock)."""
        ours = {each.step: each.result for each in outcomes if each.step in self._commands}
        if all(result.seen_at for result in ours.values()):
            return
        passed = {step: result for step, result in ours.items() if is_plain(result)}
        ground = self._ground()
        if ground is None or ground.standing.newest > began - _CLOCK_STEP:
            self._seen.file.unlink(missing_ok=True)
            return
        root, now = self._seen.context.root, ground.standing
        head = git.head(root) if git.is_repository(root) else None
        moment = Moment(ground, _day(), head or "", datetime.now(UTC).isoformat(timespec="seconds"))
        self._seen.file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        for step, tests in self.tests.items():
            if step in passed and not passed[step].seen_at:
                tests.keep(moment, passed[step])
        if self._seen.is_flaky or moment.asks_clock_or_chance():
            passed = {step: result for step, result in passed.items() if not step.tool.runs_tests}
        seen_at = {}
        for step, result in passed.items():
            oldest = self.tests[step].oldest if step in self.tests else None
            at = result.seen_at or (oldest.commit or oldest.at if oldest else moment.commit or moment.at)
            seen_at[self._commands[step]] = at
        kept = _Kept(
            day=moment.day, source=now.source, rest=now.rest, products=now.products, environment=now.environment,
            results={self._commands[step]: result_document(result) for step, result in passed.items()}, seen_at=seen_at,
        )  # fmt: skip
        replace_file(self._seen.file, kept.model_dump_json().encode(), is_durable=False)

    def _ground(self) -> Ground | None:
        return ground(
            self._seen.context,
            self._prepared.values(),
            self._seen.file.with_name(f"{self._seen.file.stem}-folders.json"),
        )


def variables_of(command: Prepared) -> Iterator[str]:
    """What its environment says, without the folder that is made for each run anew."""
    shown = {**environment_of(Path("/own"), command.environment)}
    for name in sorted(shown):
        yield f"{name}={_OF_ONE_RUN.sub('OWN', shown[name])}"


def is_plain(result: VerificationResult) -> bool:
    """Whether it passed without anything that reruns had to excuse."""
    is_excused = any(warning.kind is FailureKind.TEST_FAILURE for warning in result.warnings)
    return result.status is Status.PASSED and not is_excused and not result.changed_sources


def taken_again(result: VerificationResult) -> VerificationResult:
    """The result as it is told now: how much of it was not run, and where and when it was seen."""
    counts = result.test_summary
    commit = "" if ":" in result.seen_at else result.seen_at
    note = reused_note(
        f"{counts.tests} of {counts.tests} tests" if counts else "all of it", commit, result.completed_at
    )
    notes = (*(note for note in result.notes if not note.startswith(REUSED)), note)
    return replace(result, seconds=0.0, notes=notes)


def _day() -> str:
    return datetime.now(UTC).date().isoformat()


_OF_ONE_RUN = regex(r"/[^ :]*/agent-fox-tool-[^/ :]*")
