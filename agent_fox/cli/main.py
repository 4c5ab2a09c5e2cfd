"""The door: the table of commands, the options before a command's name, the exit code. No command."""

from __future__ import annotations

import gc
import io
import os
import signal
import sys
import types
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

import click

from agent_fox.cli.errors import report
from agent_fox.cli.exits import Exit
from agent_fox.cli.lazy import Entry, LazyGroup

if TYPE_CHECKING:
    from typing_extensions import Buffer

NAME = "agent-fox"
COLLECTED_AT = 50_000
"""New values until circles among them are looked for. Modules are made of many: looking takes a tenth of a start."""

HELP_OPTIONS = ["-h", "--help"]
COMMANDS = {
    "init": Entry("agent_fox.cli.setup.init", "Set up a repository: a commented settings file, and what git ignores."),
    "plan": Entry("agent_fox.cli.specs.plan", "Read the specs; show what would be done and what is wrong with them."),
    "lint": Entry("agent_fox.cli.specs.lint", "Check the specs for weak spots; --fix repairs what is certain."),
    "run": Entry("agent_fox.cli.run.command", "Run the plan until everything is proven or needs you."),
    "worker": Entry("agent_fox.cli.run.worker", "Run sessions of runs on other hosts."),
    "status": Entry("agent_fox.cli.run.status", "Show what is proven, what needs you, what runs and what it cost."),
    "explain": Entry("agent_fox.cli.run.explain", "Show why a node or requirement stands as it does, and what to do."),
    "logs": Entry("agent_fox.cli.run.logs", "Show what a session printed; of a verifier, what its tests printed."),
    "report": Entry(
        "agent_fox.cli.page.report",
        "Write the run as one HTML page: what is proven, what needs you, why, what it cost.",
    ),
    "view": Entry("agent_fox.cli.page.view", "Show the page of a run in a browser, live, on this machine only."),
    "issues": Entry("agent_fox.cli.issues.commands", "List, show, send, export, link, move and take issues."),
    "trace": Entry("agent_fox.cli.run.trace", "Show what a session did step by step, and at which step it broke."),
    "replay-from": Entry(
        "agent_fox.cli.run.replay_from", "Let a coder's next session start from a step of an earlier one."
    ),
    "reset": Entry("agent_fox.cli.run.reset", "Give a node new attempts, and unblock what waits for it."),
    "waive": Entry(
        "agent_fox.cli.evidence.waive", "Accept an unproven requirement for a time, signed; list, revoke or ask."
    ),
    "agree": Entry("agent_fox.cli.evidence.agree", "Agree that a committed test was rightly changed, signed."),
    "hidden": Entry("agent_fox.cli.evidence.hidden", "List, write and accept checks that coders never see."),
    "training": Entry(
        "agent_fox.cli.evidence.training", "Decide what may be learned from, signed; list, revoke or ask."
    ),
    "export": Entry(
        "agent_fox.cli.evidence.export", "Write recorded work for training: trajectories, preference pairs or tasks."
    ),
    "memory": Entry("agent_fox.cli.evidence.memory", "Show what once failed, and why it should hold now."),
    "attest": Entry(
        "agent_fox.cli.evidence.attest", "Sign what is proven of a commit, for machines without this state."
    ),
    "ledger": Entry("agent_fox.cli.evidence.ledger", "Audit the recorded evidence: show, verify, export."),
    "keys": Entry("agent_fox.cli.evidence.keys", "Make signing keys, and choose whose signatures count."),
    "library": Entry("agent_fox.cli.evidence.library", "Show, propose, adopt and check reusable specifications."),
    "replay": Entry("agent_fox.cli.run.replay", "Show what would be decided about recorded verifier outputs."),
    "import": Entry("agent_fox.cli.run.import_upstream", "Tell what should have happened in runs of other systems."),
    "verify": Entry("agent_fox.cli.verifier.verify", "Build, test and check this checkout, without any agent."),
    "gate": Entry(
        "agent_fox.cli.evidence.gate", "Judge whether a task may be closed: what ran, what it wrote, which rules fired."
    ),
    "parse-log": Entry("agent_fox.cli.verifier.parse_log", "Read a build or test log: what failed, where and why."),
    "mcp": Entry("agent_fox.cli.verifier.mcp", "Serve tools to coding agents over MCP."),
    "hook": Entry("agent_fox.cli.chat.hook", "Block an agent from finishing until its work is reviewed."),
    "review": Entry("agent_fox.cli.chat.review", "List review tasks; set the password that clears them."),
    "doctor": Entry("agent_fox.cli.setup.doctor", "Check that everything a run needs is here."),
    "completion": Entry("agent_fox.cli.setup.completion", "Print the completion script of a shell."),
}


def _print_version(ctx: click.Context, _param: click.Parameter, wanted: bool) -> None:
    if wanted and not ctx.resilient_parsing:
        click.echo(f"{NAME} {import_module('agent_fox.cli.version').installed()}")
        ctx.exit()


@click.command(
    cls=LazyGroup,
    table=COMMANDS,
    invoke_without_command=True,
    context_settings={"help_option_names": HELP_OPTIONS},
    epilog="Exit codes: " + "; ".join(f"{code.value} {code.meaning}" for code in Exit) + ".",
)
@click.option(
    "-C",
    "folder",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    metavar="DIR",
    help="Run as if started in DIR.",
)
@click.option(
    "--version",
    is_flag=True,
    expose_value=False,
    is_eager=True,
    callback=_print_version,
    help="Print the version and exit.",
)
@click.pass_context
def cli(ctx: click.Context, folder: Path | None) -> Exit | None:
    """Run coding agents over many specs until a verifier has proven every requirement."""
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        ctx.color = False
    if folder:
        os.chdir(folder)
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help(), err=True)
        return Exit.INPUT
    return None


def run(arguments: Sequence[str]) -> int:
    """Run one command line; its exit code. Errors are printed to standard error, never raised."""
    gc.set_threshold(COLLECTED_AT)
    _leave_out_pydantics_plugins()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    try:
        code = cli.main(list(arguments), prog_name=NAME, standalone_mode=False)
    except (Exception, KeyboardInterrupt) as error:  # noqa: BLE001 - the one place that words every error
        return report(error)
    return int(code or Exit.DONE)


def _leave_out_pydantics_plugins() -> None:
    """Pydantic asks `importlib.metadata` for plugins of its own, which takes as long to load as pydantic itself.

    None is wanted here: whatever is installed beside us has no part in how settings and reports are read. A version of
    pydantic that looks for them elsewhere does so as always.
    """
    loader = types.ModuleType("pydantic.plugin._loader")
    loader.get_plugins = tuple  # type: ignore[attr-defined]
    sys.modules.setdefault(loader.__name__, loader)


class Lasting(io.FileIO):
    """Standard output or error that may stop taking anything, and work goes on: its reader is gone, as in
    `agent-fox run | head`, or its disk is full. `lost` says why something that was written is nowhere.
    """

    lost = ""

    def write(self, data: Buffer, /) -> int:
        try:
            return super().write(data)
        except BrokenPipeError:
            _send_nowhere(self.fileno())
            return super().write(data)
        except OSError as error:
            if not self.lost and self.fileno() != _STANDARD_ERROR:
                _tell(f"standard output cannot be written ({error.strerror}); the work goes on, and this is not shown")
            self.lost = error.strerror or str(error)
            return memoryview(data).nbytes


_STANDARD_ERROR = 2


def _tell(text: str) -> None:
    """Past the buffers: the line that is lost is being written just now."""
    with suppress(OSError):
        os.write(_STANDARD_ERROR, f"{NAME}: {text}\n".encode())


def _send_nowhere(number: int) -> None:
    """Standard error too, where it leads to the same place (`2>&1 | head`)."""
    nowhere, broken = os.open(os.devnull, os.O_WRONLY), os.fstat(number)
    for other in {number, _STANDARD_ERROR}:
        with suppress(OSError):  # standard error may be closed
            if os.path.samestat(os.fstat(other), broken):
                os.dup2(nowhere, other)
    os.close(nowhere)


def open_streams() -> Lasting | None:
    """Standard output and error that can always be written: closed (`>&-`), full, or left by their reader.

    Gives standard output where it is not a terminal.
    """
    output = _lasting(sys.stdout)
    if output:
        sys.stdout = io.TextIOWrapper(io.BufferedWriter(output), encoding=sys.stdout.encoding, errors=sys.stdout.errors)
    error = _lasting(sys.stderr)
    if error:
        sys.stderr = io.TextIOWrapper(
            io.BufferedWriter(error), encoding=sys.stderr.encoding, errors=sys.stderr.errors, line_buffering=True
        )
    sys.stdout = sys.stdout or Path(os.devnull).open("w")  # noqa: SIM115 - open as long as the program runs
    sys.stderr = sys.stderr or Path(os.devnull).open("w")  # noqa: SIM115 - the same
    return output


def _lasting(stream: TextIO | None) -> Lasting | None:
    return None if stream is None or stream.isatty() else Lasting(stream.fileno(), "w", closefd=False)


DECIDING = frozenset({"run", "verify", "gate"})
"""Commands whose exit code tells what came of their work; that of all others tells whether they could say it."""


def ended(arguments: Sequence[str], code: int, output: Lasting | None) -> int:
    """The exit code: who asked for a text that could not be written has not got what was asked for."""
    sys.stdout.flush()
    is_deciding = next((word for word in arguments if word in COMMANDS), "") in DECIDING
    return int(Exit.INPUT) if output and output.lost and code == Exit.DONE and not is_deciding else code


def main() -> None:
    """The program `agent-fox`."""
    output = open_streams()
    code = ended(sys.argv[1:], run(sys.argv[1:]), output)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a late Ctrl-C while Python leaves would end it without its exit code
    sys.exit(code)


if __name__ == "__main__":
    main()
