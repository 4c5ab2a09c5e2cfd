"""`agent-fox verify`: a checkout built, tested and checked by a plan, without any agent. Its words: `verified`."""

from __future__ import annotations

import os
import threading
from pathlib import Path
from typing import TYPE_CHECKING

import click

from agent_fox.cli.exits import Exit
from agent_fox.cli.place import here
from agent_fox.cli.screen import json_option, print_json, sarif_option, write_sarif
from agent_fox.core.late import late_module

if TYPE_CHECKING:
    from agent_fox import config, plugins
    from agent_fox.cli import version
    from agent_fox.cli.verifier import verified
    from agent_fox.engine.doors import verifying
    from agent_fox.engine.planning import plugged_parsers
    from agent_fox.verifier.plans import carried_out as plan_run
    from agent_fox.verifier.reporting import documents, pull_request
    from agent_fox.verifier.reporting import report as reports
    from agent_fox.verifier.reporting import sarif as sarif_report
else:
    verified = late_module("agent_fox.cli.verifier.verified")
    version = late_module("agent_fox.cli.version")
    config = late_module("agent_fox.config")
    plugins = late_module("agent_fox.plugins")
    plugged_parsers = late_module("agent_fox.engine.planning.plugged_parsers")
    verifying = late_module("agent_fox.engine.doors.verifying")
    documents = late_module("agent_fox.verifier.reporting.documents")
    plan_run = late_module("agent_fox.verifier.plans.carried_out")
    pull_request = late_module("agent_fox.verifier.reporting.pull_request")
    reports = late_module("agent_fox.verifier.reporting.report")
    sarif_report = late_module("agent_fox.verifier.reporting.sarif")


@click.command("verify", short_help="Build, test and check this checkout, without any agent.")
@click.option("--plan", metavar="NAME", help="A plan by name; `auto` chooses by what changed.")
@click.option("--base", metavar="REF", help="The commit or branch that the change is compared with.")
@click.option("--profile", metavar="ID", help="The profile to use. Unset: chosen by the manifests.")
@click.option("--module", metavar="DIR", help="Only this module of the project.")
@click.option("--reason", default="", metavar="TEXT", help="Why tests were changed; commit messages are read too.")
@click.option(
    "--baseline", type=click.Choice(["on_failure", "always", "never"]), help="Whether to run the plan on the base too."
)
@click.option(
    "--sandbox", type=click.Choice(["auto", "require", "off"]), help="Whether each command runs in bubblewrap."
)
@click.option("--format-apply/--no-format-apply", default=None, help="Whether the formatter may change source files.")
@click.option(
    "--network",
    type=click.Choice(["none", "package-readonly"]),
    default="none",
    help="`package-readonly`: a step of its own fetches dependencies first.",
)
@click.option("--accept-profile", "accepted", metavar="FINGERPRINT", help="Confirm how this repository narrows it.")
@click.option("--fresh", is_flag=True, help="Run every step, also those whose result cannot have changed.")
@click.option("--markdown", "as_markdown", is_flag=True, help="Print a Verification section for a pull request.")
@sarif_option
@json_option
def command(
    plan: str | None,
    base: str | None,
    profile: str | None,
    module: str | None,
    reason: str,
    baseline: str | None,
    sandbox: str | None,
    format_apply: bool | None,
    network: str,
    accepted: str | None,
    fresh: bool,
    as_markdown: bool,
    sarif: Path | None,
    as_json: bool,
) -> Exit:
    """Run a verification plan on this checkout, without any agent, and say what failed, where, and whose it is.

    Commands come from profiles and manifests, run without a shell, and in a sandbox where bubblewrap is there. Exits 0
    where everything required passed, 2 where something failed or could not be told.
    """
    wish = verifying.Wish(
        plan, base, profile, module, reason, sandbox, baseline, format_apply, accepted, network, fresh
    )
    screen = verified.Screen(is_silent=as_json or as_markdown)
    report = _report(wish, screen)
    if sarif is not None:
        write_sarif(sarif, sarif_report.sarif_document(report, version.installed()))
    if as_json:
        print_json(documents.report_document(report).model_dump(mode="json"))
    elif as_markdown:
        click.echo(pull_request.verification_section(report), nl=False)
    else:
        screen.sums_up(report)
    return Exit.DONE if report.status is reports.ReportStatus.PASSED else Exit.UNPROVEN


def _report(wish: verifying.Wish, screen: verified.Screen) -> reports.VerificationReport:
    root, stop = here(), threading.Event()
    settings = config.load(root, os.environ)
    formats = [root / file for file in settings.verify.formats]
    parsers = plugged_parsers.parsers_of(plugins.load_plugins(), formats)
    checkout = verifying.Checkout(root, settings, os.environ, parsers)
    try:
        ready = verifying.verification(
            checkout, wish, plan_run.Listener(screen.begins, screen.runs, screen.ended), stop
        )
        screen.opens(ready.plan, ready.profiles)
        return ready.report()
    except KeyboardInterrupt:
        stop.set()
        raise
    finally:
        screen.closes()
