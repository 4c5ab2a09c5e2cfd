"""`agent-fox gate`: may this task be closed? Judging is the engine's; a person's signature is `agent-fox waive`'s."""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from agent_fox.cli.errors import UserError
from agent_fox.cli.exits import Exit
from agent_fox.cli.place import here
from agent_fox.cli.screen import json_option, plain, print_json, refuse_link, sarif_option, write_sarif
from agent_fox.core.late import late_module
from agent_fox.core.ledger.close_out import Finding, Severity, Verification
from agent_fox.core.words import counted, quote

if TYPE_CHECKING:
    from agent_fox.cli import opening, version
    from agent_fox.cli.evidence import attest
    from agent_fox.engine.doors import gate_recording, gating
    from agent_fox.review.close_out import report as close_out_report
    from agent_fox.review.close_out import sarif as close_out_sarif
    from agent_fox.review.hooks import push_hook
else:
    version = late_module("agent_fox.cli.version")
    opening = late_module("agent_fox.cli.opening")
    attest = late_module("agent_fox.cli.evidence.attest")
    gate_recording = late_module("agent_fox.engine.doors.gate_recording")
    gating = late_module("agent_fox.engine.doors.gating")
    close_out_report = late_module("agent_fox.review.close_out.report")
    close_out_sarif = late_module("agent_fox.review.close_out.sarif")
    push_hook = late_module("agent_fox.review.hooks.push_hook")

FOLDER = click.Path(file_okay=False, path_type=Path)
FILE = click.Path(dir_okay=False, path_type=Path)
SIGNS = {Severity.BLOCK: ("✗", "red"), Severity.WARN: ("!", "yellow")}
LONGEST_LINE = 400
MOST_LINES = 50


@click.group(
    "gate",
    invoke_without_command=True,
    short_help="Judge whether a task may be closed: what ran, what it wrote, which rules fired.",
)
@click.option("--task-id", metavar="ID", help="The task: a run's node and attempt (`04_gateway:2@1`), or any name.")
@click.option("--output-dir", type=FOLDER, metavar="DIR", help="Where its report goes. Unset: `outputs/verification`.")
@click.option("--input-dir", type=FOLDER, metavar="DIR", help="Where its files are. Unset: here, or in --output-dir.")
@click.option("--base", metavar="REF", help="What the change is counted from. Unset: where it left the main branch.")
@click.option("--commit", metavar="REF", help="Judge what is committed there. Unset: the files as they are.")
@click.option(
    "--summary",
    "markdown",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Append the report as Markdown, as for `$GITHUB_STEP_SUMMARY`.",
)
@click.option("--evidence", type=FILE, metavar="FILE", help="Judge --commit by this, which `agent-fox attest` wrote.")
@click.option(
    "--key", metavar="PUB", help="With --evidence: who must have signed it: a public key's file, or its name."
)
@sarif_option
@click.option("--install-hook", is_flag=True, help="Install a pre-push hook here that asks this gate.")
@json_option
@click.pass_context
def command(
    ctx: click.Context, task_id: str | None, output_dir: Path | None, input_dir: Path | None, base: str | None,
    commit: str | None, markdown: Path | None, evidence: Path | None, key: str | None, sarif: Path | None,
    install_hook: bool, as_json: bool,
) -> Exit:  # fmt: skip
    """Judge a task by what is recorded of it, without any model: `feedback_record.jsonl`, `scope_report.json`,
    `rule_report.json` and the change itself, or, for a task of a run, the run's own records.

    With --evidence, judge a commit by the signed statement about it alone: no state is needed, and no run.

    Exits 0 where it passed, 2 where something holds it back, 1 for a mistake in what was asked. Only a signed waiver
    overrides a finding.
    """
    if ctx.invoked_subcommand is not None:
        return Exit.DONE
    if install_hook:
        return _install(as_json)
    if evidence is not None or key is not None:
        if evidence is None or any((task_id, output_dir, input_dir, base, sarif)):
            raise click.UsageError("--evidence FILE and --key go with --commit, --summary and --json alone", ctx)
        tell = None if markdown is None else partial(_append, markdown)
        return attest.judge(evidence, key, commit or "HEAD", tell, as_json=as_json)
    if task_id is None:
        raise click.UsageError("--task-id is missing: name the task to be judged", ctx)
    asked = gating.Asked(task_id, here(), Path.cwd(), os.environ, input_dir, output_dir, base, commit)
    answer = gating.close(asked)
    if markdown is not None:
        _append(markdown, close_out_report.summary(answer.judged))
    if sarif is not None:
        write_sarif(sarif, close_out_sarif.sarif_document(answer.judged.verification, version.installed()))
    if as_json:
        print_json({**close_out_report.document_of(answer.judged), "path": str(answer.path)})
    else:
        click.echo("\n".join(_lines(answer)))
    return Exit.DONE if answer.judged.verification.passed else Exit.UNPROVEN


@command.command("record", short_help="Run the task's commands, look at its change, and write the gate's three files.")
@click.option("--task-id", required=True, metavar="ID", help="The task: any name.")
@click.option("--output-dir", type=FOLDER, metavar="DIR", help="Where the files go. Unset: `outputs/verification`.")
@click.option("--base", metavar="REF", help="What the change is counted from. Unset: where it left the main branch.")
@click.argument("words", nargs=-1, metavar="[-- COMMAND...]", type=click.UNPROCESSED)
@json_option
def record(task_id: str, output_dir: Path | None, base: str | None, words: tuple[str, ...], as_json: bool) -> None:
    """Run `[gate] commands`, and COMMAND if any, here, each in the sandbox of `[verify] sandbox`, and write what came
    of them, where the change went, and what the policy checks say of it: all three files anew.

    Nothing is judged: `agent-fox gate` does that. Exits 0 also where a command failed, which is on record then.
    """
    asked = gating.Asked(task_id, here(), Path.cwd(), os.environ, None, output_dir, base)
    recorded = gate_recording.record(asked, words)
    if as_json:
        print_json(
            {
                "folder": str(recorded.folder), "commands": dict(recorded.commands), "off_scope": recorded.off_scope,
                "rules": recorded.rules,
            }
        )  # fmt: skip
        return
    for line, code in recorded.commands.items():
        click.echo(plain(f"{line}: {'no exit code of its own' if code is None else f'exit {code}'}"))
    scope, rules = counted(recorded.off_scope, "path"), counted(recorded.rules, "rule")
    click.echo(f"{scope} out of scope, {rules} fired; written to {_near(recorded.folder)}")
    click.echo(plain(f"next: agent-fox gate --task-id {quote(task_id)}"))


def _install(as_json: bool) -> Exit:
    installed = push_hook.install_hook(here())
    if as_json:
        print_json({"path": str(installed.path), "is_new": installed.is_new})
    else:
        click.echo(f"{'wrote' if installed.is_new else 'kept'} {installed.path}")
    return Exit.DONE


def _append(path: Path, text: str) -> None:
    refuse_link("--summary", path)
    try:
        with path.open("a", encoding="utf-8", errors="backslashreplace") as file:
            file.write(text)
    except OSError as error:
        raise UserError(f"--summary {path}: {error.strerror}; name a file that can be written") from error


def _lines(answer: gating.Answer) -> Iterator[str]:
    verification = answer.judged.verification
    yield from (_line(verification, finding) for finding in verification.findings[:MOST_LINES])
    if len(verification.findings) > MOST_LINES:
        yield f"  and {len(verification.findings) - MOST_LINES} more findings, in the report"
    verdict = click.style("passed", fg="green") if verification.passed else click.style("blocked", fg="red")
    counts = (
        f"{counted(len(verification.blocking), 'finding')} in the way, {counted(len(verification.warnings), 'warning')}"
    )
    yield f"{verdict}: {plain(verification.task_id)}: {counts}"
    yield f"report: {_near(answer.path)}" + (f" (record {answer.judged.record[:12]})" if answer.judged.record else "")
    if not answer.can_be_waived:
        yield "no waiver counts before the ledger can be believed again: look with `agent-fox ledger verify`"
    elif verification.blocking:
        first = verification.blocking[0]
        wanted = f"{plain(verification.task_id)} {first.check} {first.detail_hash}"
        yield f"put it right and judge again; or a person signs: agent-fox waive --finding {wanted}"
        keys = opening.before_waiving(here())
        if keys:
            yield f"nobody is trusted to sign here yet, so before that: {'; '.join(keys)}"


def _near(path: Path) -> Path:
    return path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path


def _line(found: Verification, finding: Finding) -> str:
    sign, colour = SIGNS[finding.severity]
    waiver = found.waiver_of(finding)
    text = plain(finding.detail)
    shown = text if len(text) <= LONGEST_LINE else f"{text[:LONGEST_LINE]}…"
    signed = f" (waived by {plain(waiver.signer)}: {plain(waiver.reason)})" if waiver else ""
    return f"  {click.style(sign, fg=colour)} {finding.check}: {shown} [{finding.detail_hash}]{signed}"
