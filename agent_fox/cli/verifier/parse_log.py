"""`agent-fox parse-log`: what a log that exists already says. Which parser reads what is the verifier's."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path, PurePosixPath

import click
from click.shell_completion import CompletionItem

from agent_fox.cli.errors import UserError
from agent_fox.cli.place import here
from agent_fox.cli.screen import json_option, plain, print_json
from agent_fox.core.regex import regex
from agent_fox.engine.planning.plugged_parsers import parsers_of
from agent_fox.plugins import load_plugins
from agent_fox.verifier.ground.results import Status
from agent_fox.verifier.logs.protocol import Workspace
from agent_fox.verifier.logs.reading import Run, read_run
from agent_fox.verifier.logs.registry import BUILT_IN, UnknownTool
from agent_fox.verifier.logs.status import Ending, Outcome, line_of, outcome_document

COLOURS = {Status.PASSED: "green", Status.SKIPPED: "yellow"}
UNSEEN = -1
_WINDOWS = regex(r"[A-Za-z]:[\\/]|\\\\")
_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


def tools(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """The words for tools, for the shell."""
    return [CompletionItem(word) for word in BUILT_IN.words() if word.startswith(incomplete)]


@click.command("parse-log", short_help="Read a build or test log: what failed, where and why.")
@click.argument("log", type=_FILE)
@click.option(
    "--tool", required=True, metavar="TOOL", shell_complete=tools, help="Which tool wrote it, such as `pytest`."
)
@click.option("--root", metavar="DIR", help="The folder the tool ran in. Unset: the root of this repository.")
@click.option("--report", "reports", multiple=True, type=_FILE, help="A report of the same run, such as JUnit XML.")
@click.option("--exit-code", type=int, metavar="N", help="How the tool exited. Unset, or -1: not known.")
@click.option("--timed-out", "has_timed_out", is_flag=True, help="The tool was stopped for running too long.")
@click.option(
    "--format", "formats", multiple=True, type=_FILE, help="A format of lines of your own (docs/contributing.md)."
)
@json_option
def command(
    log: Path,
    tool: str,
    root: str | None,
    reports: tuple[Path, ...],
    formats: tuple[Path, ...],
    exit_code: int | None,
    has_timed_out: bool,
    as_json: bool,
) -> None:
    """Read LOG, what a build tool, test runner, linter or formatter printed, and say what failed, where, and why.

    Exit code and structured reports decide the status; what a test printed does not. Without --exit-code, a log
    without failures is `errored`: nothing shows that the run passed. Exits 0 whatever the log says.
    """
    code = None if exit_code == UNSEEN else exit_code
    run = Run(Ending(tool, code, has_timed_out), log, reports)
    try:
        outcome = read_run(run, Workspace(_root(root)), parsers_of(load_plugins(), formats))
    except UnknownTool as unknown:
        raise UserError(str(unknown)) from unknown
    if as_json:
        print_json(outcome_document(outcome))
    else:
        click.echo("\n".join(_lines(outcome)))


def _root(root: str | None) -> PurePosixPath:
    """The root as logs name it: it need not exist here, nor be a path of this system."""
    if root is None:
        return PurePosixPath(here().as_posix())
    if _WINDOWS.match(root):
        return PurePosixPath(root.replace("\\", "/"))
    return PurePosixPath(Path(root).absolute().as_posix())


def _lines(outcome: Outcome) -> Iterator[str]:
    yield click.style(outcome.status, fg=COLOURS.get(outcome.status, "red"), bold=True) + _counts(outcome)
    yield from (plain(line_of(failure)) for failure in outcome.parsed.failures)
    yield from (f"warning: {plain(line_of(warning))}" for warning in outcome.parsed.warnings)


def _counts(outcome: Outcome) -> str:
    summary = outcome.parsed.summary
    if summary is None:
        return ""
    return (
        f" ({summary.tests} tests: {summary.passed} passed, {summary.failures} failed, "
        f"{summary.errors} broken, {summary.skipped} skipped)"
    )
