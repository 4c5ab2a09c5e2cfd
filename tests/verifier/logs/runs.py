"""A run's log read as `parse-log` reads it, and what came of it in a few words."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path, PurePosixPath

from agent_fox.verifier.ground.results import Failure, FailureKind
from agent_fox.verifier.logs.protocol import Workspace
from agent_fox.verifier.logs.reading import Run, read_run
from agent_fox.verifier.logs.registry import BUILT_IN
from agent_fox.verifier.logs.status import Ending, Outcome


def outcome(
    log: Path, tool: str, exit_code: int | None, *, has_timed_out: bool = False, reports: Sequence[Path] = ()
) -> Outcome:
    """The outcome of a run in `/workspace`."""
    run = Run(Ending(tool, exit_code, has_timed_out), log, tuple(reports))
    return read_run(run, Workspace(PurePosixPath("/workspace")), BUILT_IN)


def told(failure: Failure, *, with_name: bool) -> tuple[str, ...]:
    """Kind, place and, if wanted, test. Tests have no column: where in a line one failed is by the tool's taste."""
    is_of_test = failure.kind is FailureKind.TEST_FAILURE
    parts = (failure.file or "-", failure.line, None if is_of_test else failure.column)
    place = ":".join(str(part) for part in parts if part is not None)
    return (failure.kind.value, place, *([failure.test_name or ""] if with_name else []))
