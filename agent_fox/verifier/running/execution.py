"""One prepared command, run and read: source watched, log masked and kept, reports found. Judges nothing."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from time import time_ns
from typing import TYPE_CHECKING

from agent_fox.core.values import dataclass
from agent_fox.verifier.ground.command_line import expanded
from agent_fox.verifier.ground.results import Artifact, ArtifactKind, Status
from agent_fox.verifier.logs.protocol import Workspace
from agent_fox.verifier.logs.reading import Run, read_report, read_run
from agent_fox.verifier.logs.status import Ending, Outcome
from agent_fox.verifier.profiles.context import Progress, Report, RunContext
from agent_fox.verifier.running.guarded import CommandEnd, CommandOrder, run_command
from agent_fox.verifier.running.limits import Limits
from agent_fox.verifier.source.scope import SourceScope
from agent_fox.verifier.source.watch import Change, TreeState, changed, read_tree

if TYPE_CHECKING:
    from agent_fox.verifier.artifacts.store import ArtifactStore
    from agent_fox.verifier.ground.request import Prepared

COVERAGE = (
    *("coverage.xml", "coverage.out", "lcov.info", "coverage/lcov.info", "coverage/cobertura-coverage.xml"),
    "**/target/site/jacoco/jacoco.xml",
)
MOST_REPORTS = 2_000
TAIL = 16_384
"""Bytes of a log's end that a result and its dispositions may look at."""
_CLOCK_STEP = 20_000_000
"""Nanoseconds that a file's time may lie before the clock's: kernels stamp files by a coarser clock."""


@dataclass(frozen=True, slots=True)
class Executed:
    """A command that is over: how it ended, what its log and reports say, what it changed, what was kept.

    tail: the end of its log. is_reported: false where it ended well without the report that it was told to write, or
    with one that cannot be read to its end.
    """

    end: CommandEnd
    outcome: Outcome
    changes: tuple[Change, ...]
    artifacts: tuple[Artifact, ...]
    tree: TreeState
    tail: str
    is_reported: bool


@dataclass(frozen=True, slots=True)
class Bench:
    """Where a command runs: the attempt's context and store, a private folder, a limit, and who may stop it.

    copy: a copy of the workspace that it runs in. caches: a folder that it may write to beside the workspace, and the
    variables that name caches of build tools in it.
    """

    context: RunContext
    store: ArtifactStore
    private: Path
    name: str
    seconds: float
    stop: threading.Event
    report: Report
    copy: Path | None = None
    caches: tuple[Path, Mapping[str, str]] | None = None

    @property
    def tree(self) -> Path:
        """Where the files lie that it works on."""
        return self.copy or self.context.root

    @property
    def reports(self) -> Path:
        return self.private / "reports"


def execute(bench: Bench, prepared: Prepared, before: TreeState | None) -> Executed:
    """Run it and read what it left. `before` is an earlier look at the same workspace, which makes this one cheaper.

    Raises SourceMissing where the workspace is gone, SandboxMissing where one is required and there is none.
    """
    scope = scope_of(bench.context, prepared.products)
    tree = read_tree(bench.tree, scope, before)
    since = time_ns() - _CLOCK_STEP
    end, log, program = _run(bench, prepared)
    after = read_tree(bench.tree, scope, tree)
    reports = tuple(_written(bench, prepared.reports, since))
    outcome = _read(bench, prepared, end, log, reports, program)
    is_reported = outcome.status is not Status.PASSED or _is_reported(bench, prepared, reports)
    kept = [bench.store.keep_file(path, _kind(path), f"{bench.name}-{path.name}") for path in reports]
    kept += [bench.store.keep_file(path, ArtifactKind.COVERAGE, path.name) for path in _written(bench, COVERAGE, since)]
    return Executed(
        end, outcome, changed(tree, after), (log, *kept), after, bench.store.end_of(log.uri, TAIL), is_reported
    )


def scope_of(context: RunContext, products: Sequence[str] = ()) -> SourceScope:
    """What counts as source in this workspace, by its profile; neither what builds make, nor our own artifacts."""
    source, root, artifacts = context.profile.source, context.root.resolve(), context.artifacts.resolve()
    own = (f"{artifacts.relative_to(root).as_posix()}/",) if artifacts.is_relative_to(root) else ()
    return SourceScope(tuple(source.include), (*source.exclude, *products, *own))


def _run(bench: Bench, prepared: Prepared) -> tuple[CommandEnd, Artifact, str]:
    """All of its commands in turn, in one log; the first that fails ends it. With the name of the last program."""
    with bench.store.log(f"{bench.name}.log") as log:
        left = bench.seconds
        folder = bench.tree / prepared.cwd.relative_to(bench.context.root)
        for words in (*prepared.before, prepared.argv):
            argv = expanded(words, folder) if prepared.expands else words
            end = run_command(
                _order(bench, prepared, argv, left), log, bench.context.sandbox, bench.stop, _progress(bench)
            )
            left = max(0.1, left - end.seconds)
            if end.exit_code != 0:
                break
    return end, log.artifact, Path(argv[0]).name


def _order(bench: Bench, prepared: Prepared, argv: tuple[str, ...], seconds: float) -> CommandOrder:
    context = bench.context
    limits = Limits(seconds, prepared.output_bytes, context.memory, context.processes)
    return CommandOrder(
        argv=argv,
        cwd=prepared.cwd,
        root=context.root,
        private=bench.private,
        environment={**(bench.caches[1] if bench.caches else {}), **prepared.environment},
        limits=limits,
        network=prepared.network,
        own_caches=prepared.network,
        readable=(*context.readable, *prepared.readable),
        secrets=context.secrets,
        writable=(context.root, bench.caches[0]) if bench.caches else None,
        stand_in=bench.copy,
    )


def _progress(bench: Bench) -> Callable[[float, int], None]:
    def tell(seconds: float, printed: int) -> None:
        bench.report(Progress(seconds, bench.seconds, printed))

    return tell


def _read(
    bench: Bench, prepared: Prepared, end: CommandEnd, log: Artifact, reports: Sequence[Path], program: str
) -> Outcome:
    """What it came to. A tool that exits with 0 whatever it finds fails where it printed anything."""
    code = end.exit_code
    if code == 0 and prepared.fails_on_output and log.bytes:
        code = 1
    ending = Ending("tsc" if program == "tsc" else prepared.parser, code, end.timed_out)
    run = Run(ending, bench.store.path_of(log.uri), tuple(reports))
    return read_run(run, _workspace(bench), bench.context.parsers)


def _is_reported(bench: Bench, prepared: Prepared, reports: Sequence[Path]) -> bool:
    """Whether a report at the place that was asked for is there and complete. Projects may report elsewhere."""
    if not any(Path(each).is_absolute() for each in prepared.reports):
        return True
    own = [path for path in reports if path.is_relative_to(bench.private)]
    return bool(own) and all(read_report(path, _workspace(bench), bench.context.parsers).is_complete for path in own)


def _workspace(bench: Bench) -> Workspace:
    return Workspace(PurePosixPath(bench.context.root.as_posix()))


def _written(bench: Bench, globs: Sequence[str], since: int) -> Iterator[Path]:
    """The files that fit, are inside the workspace or the private folder, and were written since then."""
    paths: dict[Path, None] = {}
    for each in globs:
        base = bench.private if Path(each).is_absolute() else bench.tree
        pattern = Path(each).relative_to(base).as_posix() if Path(each).is_absolute() else each
        paths |= dict.fromkeys(sorted(base.glob(pattern)))
    fresh = [path for path in paths if _is_fresh(path, bench, since)]
    yield from fresh[:MOST_REPORTS]


def _is_fresh(path: Path, bench: Bench, since: int) -> bool:
    homes = (bench.tree.resolve(), bench.private.resolve())
    if path.is_symlink() or not any(path.resolve().is_relative_to(home) for home in homes):
        return False
    return path.is_file() and path.stat().st_ctime_ns >= since


def _kind(path: Path) -> ArtifactKind:
    return ArtifactKind.JUNIT_XML if path.suffix == ".xml" else ArtifactKind.REPORT
