"""`agent-fox import`: runs of other systems, told as they would have ended here. Nothing is stored."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import click

from agent_fox import config
from agent_fox.cli.errors import UserError
from agent_fox.cli.screen import columns, cut, json_option, plain, print_json, title
from agent_fox.core.late import late_module
from agent_fox.core.values import to_document

if TYPE_CHECKING:
    from agent_fox.engine.doors import upstream
    from agent_fox.engine.doors.upstream import RunAccount, SpecAccount, UpstreamAccount
    from agent_fox.store import upstream as records
else:
    upstream = late_module("agent_fox.engine.doors.upstream")
    records = late_module("agent_fox.store.upstream")

MISSING = "reading a DuckDB file needs an extra: pip install 'agent-fox[upstream]'"
SHOWN = 5


@click.group("import", short_help="Tell what should have happened in runs of other systems.")
def command() -> None:
    """Read runs that another system recorded, and tell how they would have ended here. Nothing is stored or changed."""


@command.command("upstream")
@click.argument("path", type=click.Path(exists=True, path_type=Path))
@json_option
def upstream_command(path: Path, as_json: bool) -> None:
    """Read the DuckDB file of the upstream orchestrator (or each below a folder) and tell, run by run, which specs it
    completed with open FAILs, what would have been decided here, and at what cost.

    Only what it recorded is known: a spec's requirements are those that it judged. A cost is what a coder's and a
    verifier's session cost there on average, for each attempt that would have been left.
    """
    if find_spec("duckdb") is None:
        raise UserError(MISSING)
    files = sorted(path.rglob("*.duckdb")) if path.is_dir() else [path]
    if not files:
        raise UserError(f"{path} holds no *.duckdb file; name the file itself")
    try:
        accounts = {str(file): upstream.account_of(records.read_upstream(file), config.Settings()) for file in files}
    except records.UpstreamError as error:
        raise UserError(str(error)) from error
    if as_json:
        print_json({name: to_document(account) for name, account in accounts.items()})
        return
    for name, account in accounts.items():
        lines = [title(plain(name))] if len(accounts) > 1 else []
        lines += [cut(plain(line), columns()) for line in lines_of(account)]
        click.echo("\n".join(lines))


def lines_of(account: UpstreamAccount) -> Iterator[str]:
    for run in account.runs:
        yield from run_lines(run)
    specs = [spec for run in account.runs for spec in run.specs if spec.is_completed_with_fails]
    fails = sum(len(spec.open_fails) for spec in specs)
    yield f"{len(specs)} specs completed with {fails} requirements whose last verdict is no PASS"
    if account.unjudged:
        yield f"{len(account.unjudged)} completed without any verdict: {', '.join(account.unjudged)}"
    if account.unplaced:
        yield f"{account.unplaced} verdicts are older than every run, and told nowhere above"


def run_lines(account: RunAccount) -> Iterator[str]:
    run = account.run
    until = f" to {minute(run.ended)}" if run.ended else ", never ended"
    yield f"run {run.id}: {minute(run.begun)}{until}, {run.sessions} sessions, {usd(run.cost_usd)}"
    for spec in account.specs:
        yield from spec_lines(spec)
    if not account.specs:
        yield "  no verdict in it"
    yield ""


def spec_lines(spec: SpecAccount) -> Iterator[str]:
    mark = "✗" if spec.is_completed_with_fails else "✓" if not spec.open_fails else "·"
    yield f"  {mark} {spec.spec}: {spec.state}; {spec.passed} of {spec.judged} passed in {spec.readings} readings"
    for fail in spec.open_fails[:SHOWN]:
        closed = " (no longer counted there, though nothing judged it anew)" if fail.closed_by else ""
        yield f"      {fail.verdict}  {fail.requirement}  {fail.evidence}{closed}"
    if len(spec.open_fails) > SHOWN:
        yield f"      and {len(spec.open_fails) - SHOWN} more"
    if spec.open_fails:
        decisions = ", ".join(f"{made.decision} after {made.attempt}.{made.reading}" for made in spec.decisions)
        yield f"      here: {decisions}; {end_of(spec)}"


def end_of(spec: SpecAccount) -> str:
    if spec.end == "escalated":
        return "then one issue for a person, and exit code 2"
    if spec.end == "verified":
        return "proven"
    most = f", at most {usd(spec.most_usd)}" if spec.most_usd is not None else ", at a cost that nothing recorded tells"
    return f"the work goes back with the evidence, {spec.attempts_left} attempts left{most}"


def minute(time: str) -> str:
    return time[:16].replace("T", " ")


def usd(amount: float | None) -> str:
    return "cost not recorded" if amount is None else f"${amount:.2f}"
