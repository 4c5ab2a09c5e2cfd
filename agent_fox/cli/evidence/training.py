"""`agent-fox training`: what may be learned from, decided by persons and signed like a waiver."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import click

from agent_fox.cli.errors import UserError
from agent_fox.cli.evidence import waive
from agent_fox.cli.evidence.waive import Act as Done
from agent_fox.cli.evidence.waive import Place
from agent_fox.cli.evidence.waiver_lines import as_document
from agent_fox.cli.opening import reading
from agent_fox.cli.place import here
from agent_fox.cli.screen import json_option, plain, print_json, signing_options
from agent_fox.config import load
from agent_fox.core.late import late_module
from agent_fox.core.ledger.training import LONGEST_TERM, SELECTORS, Act, is_selector
from agent_fox.core.ledger.waivers import NEVER, AboutTraining, Statement, describe
from agent_fox.core.words import counted
from agent_fox.evidence import training, waivers
from agent_fox.store.state import transaction
from agent_fox.system import clock

if TYPE_CHECKING:
    from sqlite_utils import Database

    from agent_fox.cli.evidence import waiver_signing
    from agent_fox.evidence import granting
else:
    waiver_signing = late_module("agent_fox.cli.evidence.waiver_signing")
    granting = late_module("agent_fox.evidence.granting")

ACTS = (*(act.value for act in Act), "revoke", "ask", "list")


@click.command("training", short_help="Decide what may be learned from, signed; list, revoke or ask.")
@click.argument("act", type=click.Choice(ACTS))
@click.argument("selector", required=False, default="")
@click.option("--purpose", default="", metavar="TEXT", help="What for, such as fine-tuning. An export names one.")
@click.option("--license", default="", metavar="SPDX", help="The licence of others' texts in it, such as MIT.")
@click.option("--reason", default="", metavar="TEXT", help="Why.")
@click.option("--expires", default="", metavar="WHEN", help="30d, 12h, 2w, or a date (to its end, UTC).")
@signing_options
@json_option
def command(
    act: str, selector: str, purpose: str, license: str, reason: str, expires: str, key: str | None,
    ssh_key: str | None, passphrase_file: Path | None, as_json: bool,
) -> None:  # fmt: skip
    """Decide what of the recorded work may be learned from. Nothing may, until a person allows it.

    SELECTOR is all, spec:NAME, requirement:SPEC/REQ, node:ID, run:N, session:N or record:ID; of `revoke` the id that
    `list` shows. `allow` needs --purpose and --expires. `lock` is for ever, for what evaluates. `ask` allows nothing.
    Exits 4 while a run is on.
    """
    place = Place(here(), load(here(), os.environ))
    if act == "list":
        document, lines = listing(place)
    elif act == "ask":
        document, lines = place.write(lambda db: ask(db, selector, reason))
    elif act == "revoke":
        waive.refuse_session("decide what may be learned from; `agent-fox training ask` asks a person")
        document, lines = place.write(lambda db: revoke(place, db, selector, reason))
    else:
        waive.refuse_session("decide what may be learned from; `agent-fox training ask` asks a person")
        subject = wanted(Act(act), selector, purpose, license, expires)
        sign = (key, ssh_key, passphrase_file)
        document, lines = place.write(lambda db: grant(place, db, subject, reason, expires, sign))
    if as_json:
        print_json(document)
    else:
        click.echo("\n".join(plain(line) for line in lines))


def wanted(act: Act, selector: str, purpose: str, license: str, expires: str) -> AboutTraining:
    """What is to be signed. Raises UsageError for what is missing or too much."""
    if not is_selector(selector):
        raise click.UsageError(f"SELECTOR {selector or 'is missing'}: write {SELECTORS}")
    if act is Act.ALLOW and not (purpose and expires):
        raise click.UsageError("allow needs --purpose and --expires: what for, and how long")
    if act is Act.LOCK and (expires or purpose):
        raise click.UsageError("lock takes neither --expires nor --purpose: it is for ever, and for everything")
    if max(len(purpose), len(license)) > LONGEST_TERM:
        raise click.UsageError(f"--purpose and --license take {LONGEST_TERM} characters at most")
    return AboutTraining(act, selector, purpose, license)


def grant(
    place: Place, db: Database, subject: AboutTraining, reason: str, expires: str,
    key: tuple[str | None, str | None, Path | None],
) -> Done:  # fmt: skip
    grounds = place.grounds()
    trouble = grounds.why_unusable(db)
    if trouble:
        raise UserError(
            f"nothing can be decided here: {trouble}; `agent-fox keys trust NAME --for waiver` adds a signer"
        )
    why, now = granting.reason_of(reason), waivers.time_of(db, clock.now(), grounds)
    signing = waiver_signing.signing_of(*key, grounds)
    until = granting.expiry(expires, now) if expires else NEVER
    statement = Statement(
        clock.new_id(), grounds.repository, subject, (), why, now, until, signing.principal, signing.key_id
    )
    with transaction(db):
        held = granting.keep(db, grounds, now, signing.sign(statement))
    return {**as_document(held)}, [describe(statement), f"id {held.waiver.id}"]


def revoke(place: Place, db: Database, name: str, reason: str) -> Done:
    """End an allowance for good, and leave a tombstone: which exports were made under it."""
    grounds, why = place.grounds(), granting.reason_of(reason)
    row = granting.to_revoke(db, name)
    held = next((each for each in training.held(db, grounds, clock.now()) if each.waiver.id == row.id), None)
    if held is None or held.waiver.statement is None:
        raise UserError(f"{name}: no allowance that somebody trusted has signed; `agent-fox training list` shows them")
    statement, now = held.waiver.statement, waivers.time_of(db, clock.now(), grounds)
    with transaction(db):
        granting.end(db, now, row, "revoked", why)
        digests = training.bury(db, now, statement, why)
    lines = [f"{row.id} is revoked for good: {why}"]
    lines += [f"  an export holds what it allowed: {digest}" for digest in digests] or ["  no export was made under it"]
    return {"revoked": row.id, "reason": why, "exports": list(digests)}, lines


def ask(db: Database, selector: str, reason: str) -> Done:
    if not is_selector(selector):
        raise click.UsageError(f"SELECTOR {selector or 'is missing'}: write {SELECTORS}")
    why = granting.reason_of(reason)
    with transaction(db):
        times = training.ask(db, clock.now(), selector, why)
    text = f"{selector}: asked for, {counted(times, 'time')} by now; a person decides, nothing is allowed"
    return {"asked": selector, "times": times, "is_allowed": False}, [text]


def listing(place: Place) -> Done:
    """Every decision and whether it counts; how often something was asked for; what was exported."""
    with reading(place.root) as db:
        held = training.held(db, place.grounds(), clock.now())
        asked, made = Counter(selector for selector, _, _ in training.asked(db)), training.exports(db)
    lines = []
    for each in held:
        state = f"does not count: {each.why_not}" if each.why_not else "in force"
        about = describe(each.waiver.statement) if each.waiver.statement else each.waiver.columns.address
        lines += [f"{each.short_id}  {state}", f"  {about}"]
    lines += [f"asked for: {selector}, {counted(times, 'time')}" for selector, times in sorted(asked.items())]
    lines += [
        f"exported: {each.kind} for {each.purpose}, {counted(len(each.records), 'record')}, {each.digest[:12]}"
        for each in made
    ]
    document: dict[str, object] = {
        "permissions": [as_document(each) for each in held], "asked": dict(asked),
        "exports": [{"at": e.at, "export": e.kind, "purpose": e.purpose, "digest": e.digest} for e in made],
    }  # fmt: skip
    return document, lines or ["nothing was decided, so nothing may be learned from"]
