"""From an exception to one line on standard error and an exit code: nothing else prints an error."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from agent_fox.cli.exits import Exit
from agent_fox.cli.place import OWN, here
from agent_fox.cli.screen import plain
from agent_fox.core.late import late_module

if TYPE_CHECKING:
    import tempfile
    import traceback

    from agent_fox.system import outside
else:
    outside = late_module("agent_fox.system.outside")
    traceback = late_module("traceback")
    tempfile = late_module("tempfile")

# Named, not imported: printing the help must not load any of these modules.
LOWER = {
    "agent_fox.config.ConfigError": Exit.INPUT,
    "agent_fox.cluster.engine.EngineError": Exit.INPUT,
    "agent_fox.cluster.connection.EngineAway": Exit.STUCK,
    "agent_fox.plugins.PluginError": Exit.INPUT,
    "agent_fox.specs.places.SpecsMissing": Exit.INPUT,
    "agent_fox.system.git.GitError": Exit.INPUT,
    "agent_fox.system.git.GitStuck": Exit.STUCK,
    "agent_fox.store.state.StateError": Exit.INPUT,
    "agent_fox.store.state.StateStuck": Exit.STUCK,
    "agent_fox.store.state.StateGone": Exit.STUCK,
    "agent_fox.store.state.LockHeld": Exit.STUCK,
    "agent_fox.review.settings_files.InstallTrouble": Exit.INPUT,
    "agent_fox.engine.doors.gating.GateRefused": Exit.INPUT,
    "agent_fox.core.formal.specification.NotAllowed": Exit.INPUT,
    "agent_fox.engine.record.library.LibraryBroken": Exit.INPUT,
    "agent_fox.engine.planning.from_settings.RunRefused": Exit.INPUT,
    "agent_fox.evidence.about.UnknownRequirement": Exit.INPUT,
    "agent_fox.engine.planning.from_settings.RunStuck": Exit.STUCK,
    "agent_fox.engine.handlers.reset.NothingToReset": Exit.INPUT,
    "agent_fox.engine.doors.verifying.NothingToVerify": Exit.INPUT,
    "agent_fox.evidence.granting.WaiverRefused": Exit.INPUT,
    "agent_fox.evidence.exports.export.LedgerFaulty": Exit.UNPROVEN,
    "agent_fox.evidence.rebuild.CannotRebuild": Exit.UNPROVEN,
    "agent_fox.evidence.signing.keys.KeyTrouble": Exit.INPUT,
    "agent_fox.evidence.witness.WitnessBroken": Exit.INPUT,
    "agent_fox.review.close_out.report.ReportTrouble": Exit.INPUT,
    "agent_fox.review.hooks.push_hook.HookTrouble": Exit.INPUT,
    "agent_fox.verifier.artifacts.index.ArtifactError": Exit.INPUT,
    "agent_fox.verifier.dispositions.flaky.FlakyListDamaged": Exit.INPUT,
    "agent_fox.verifier.plans.steps.UnknownPlan": Exit.INPUT,
    "agent_fox.verifier.profiles.context.ProfileUnconfirmed": Exit.INPUT,
    "agent_fox.verifier.profiles.loading.UnknownProfile": Exit.INPUT,
    "agent_fox.verifier.logs.outside_formats.BadFormat": Exit.INPUT,
    "agent_fox.verifier.ground.request.Refused": Exit.INPUT,
}
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT)


class UserError(Exception):
    """Something a person can put right. Its text says what, where, and what to do."""

    def __init__(self, text: str, code: Exit = Exit.INPUT) -> None:
        super().__init__(text)
        self.code = code


def report(error: BaseException) -> Exit:
    """Say in one line what happened; the exit code for it. The unforeseen leaves its traceback in a file."""
    match error:
        case click.UsageError() if error.ctx and error.message == error.ctx.get_help():  # a group without its command
            click.echo(error.message, err=True)
            return Exit.INPUT
        case click.ClickException():
            return _say(_usage(error), Exit.INPUT)
        case click.Abort() | KeyboardInterrupt():
            return _say("interrupted", Exit.INTERRUPTED)
        case UserError():
            return _say(str(error), error.code)
        case BrokenPipeError():
            return _give_up_output()
        case OSError() if error.errno in _NO_ROOM:
            return _say(f"{error.filename or 'disk'}: {error.strerror}; free some space", Exit.STUCK)
        case OSError() if outside.trouble_of_system(error).is_of_the_world:
            text = f"{error.filename or 'the system'}: {error.strerror}; see to that, then run it again"
            return _say(text, Exit.STUCK)
    code = known(type(error))
    return _crash(error) if code is None else _say_each(str(error).splitlines(), code)


def known(kind: type[BaseException]) -> Exit | None:
    """The exit code for an exception of a lower package that a person can act on, None for any other."""
    names = (f"{base.__module__}.{base.__qualname__}" for base in kind.__mro__)
    return next((LOWER[name] for name in names if name in LOWER), None)


def _say(text: str, code: Exit) -> Exit:
    return _say_each([text], code)


def _say_each(lines: Iterable[str], code: Exit) -> Exit:
    """A line for each thing that is wrong, where several were found at once."""
    click.echo("\n".join(f"agent-fox: {plain(line)}" for line in lines), err=True)
    return code


def _usage(error: click.ClickException) -> str:
    context = error.ctx if isinstance(error, click.UsageError) else None
    hint = f" (see `{context.command_path} --help`)" if context else ""
    return f"{error.format_message()}{hint}"


def _give_up_output() -> Exit:
    """Nobody reads on, as in `agent-fox plan | head`: what is still buffered must not fail a second time."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return Exit.INPUT


def _crash(error: BaseException) -> Exit:
    own = here() / OWN
    file = (own if own.is_dir() else Path(tempfile.mkdtemp(prefix="agent-fox-"))) / "crash.log"
    try:
        file.write_text("".join(traceback.format_exception(error)), encoding="utf-8", errors="backslashreplace")
        saved = f"the traceback is in {file}"
    except OSError as broken:
        saved = f"its traceback could not be saved ({broken})"
    return _say(f"internal error: {type(error).__name__}: {error}; {saved}", Exit.INPUT)
