"""`agent-fox hidden`: the checks that no coder sees: what there is, written by an agent, accepted by a person."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import click

from agent_fox.cli.errors import UserError
from agent_fox.cli.evidence import waive
from agent_fox.cli.evidence.waive import Act, Place
from agent_fox.cli.evidence.waiver_lines import as_document
from agent_fox.cli.place import here
from agent_fox.cli.screen import json_option, plain, print_json, signing_options
from agent_fox.config import FILE, hidden_folder, load
from agent_fox.core.ids import Archetype
from agent_fox.core.late import late_module
from agent_fox.core.ledger.evidence import Evidence, Json, Kind, Outcome, SpecRef
from agent_fox.core.ledger.waivers import HIDDEN, NEVER, AboutHidden, Statement, describe
from agent_fox.core.verdicts.hidden import vendor_of, why_not_accepted
from agent_fox.core.words import counted, did_you_mean, listed
from agent_fox.engine.doors import hidden_writing
from agent_fox.engine.launching.agents import agent_of
from agent_fox.engine.planning.extensions import backends_of
from agent_fox.engine.planning.plan_reading import read_plan
from agent_fox.engine.planning.plugged_dialects import dialects_of
from agent_fox.evidence import granting, waivers
from agent_fox.plugins import load_plugins
from agent_fox.store.ledger import ledger
from agent_fox.store.state import read_state, transaction
from agent_fox.system import clock
from agent_fox.system.state_folders import STATE
from agent_fox.verifier.judging.hidden_files import PROPOSED, READING, WRITING, digest_of, hidden_files, unread

if TYPE_CHECKING:
    from sqlite_utils import Database

    from agent_fox.cli.evidence import waiver_signing
    from agent_fox.core.spec import Spec
else:
    waiver_signing = late_module("agent_fox.cli.evidence.waiver_signing")

REASON = "read and found to check what the requirements ask for"


@click.group("hidden", short_help="List, write and accept checks that coders never see.")
def command() -> None:
    """List, write and accept checks that no coder sees: those in the folder of `[verify] hidden`."""


@command.command("list", short_help="Show which hidden checks count, and which are proposed.")
@json_option
def list_(as_json: bool) -> None:
    """Show which hidden checks count, the hash that names them, and which are only proposed."""
    folder = folder_of(Place(here(), load(here(), os.environ)))
    counting, waiting, not_read = hidden_files(folder), hidden_writing.proposed(folder), unread(folder)
    lines = [f"{folder}: {counted(len(counting), 'file')}, sha256:{digest_of(folder) or 'none'}"]
    lines += [f"  {name}" for name in counting] + [f"  {name}  proposed, does not count" for name in waiting]
    if not_read:
        lines.append(
            f"{counted(len(not_read), 'path')} not read, so requirements that no other check names are UNKNOWN:"
        )
        lines += [f"  {name}  {why}" for name, why in not_read.items()]
    document = {"files": counting, "proposed": waiting, "unread": not_read, "digest": digest_of(folder)}
    show({"folder": str(folder), **document}, lines, as_json)


@command.command("write", short_help="Have an agent propose hidden checks, from the specs alone.")
@click.option("--agent", required=True, metavar="NAME", help="The backend that writes them, such as `codex`.")
@click.option("--spec", "names", multiple=True, metavar="SPEC", help="Of this spec only. Repeatable.")
@json_option
def write(agent: str, names: tuple[str, ...], as_json: bool) -> None:
    """Have an agent write checks for the requirements of the specs, in a session that sees the specs and the files of
    `[verify] interfaces`, and no code. They are proposed, and do not count before `agent-fox hidden accept`.
    """
    waive.refuse_session("write hidden checks")
    place = Place(here(), load(here(), os.environ))
    folder, backends = folder_of(place), backends_of(load_plugins())
    if agent not in backends:
        raise UserError(f"--agent {agent}: there is no such backend; there are {', '.join(backends)}")
    chosen = worker(place, Archetype.CODER, agent)
    try:
        made = hidden_writing.written(place.root, place.settings, agent, specs_of(place, names), folder, backends)
    except hidden_writing.NothingProposed as error:
        raise UserError(str(error)) from error
    place.write(lambda db: keep(db, folder, "proposed", {"writer": chosen}), makes_state=place.may_begin())
    lines = [f"proposed: {counted(len(made), 'file')} in {folder / PROPOSED}", *(f"  {name}" for name in made)]
    show({"proposed": made, "folder": str(folder)}, [*lines, "next: read them, then agent-fox hidden accept"], as_json)


@command.command("accept", short_help="Let proposed hidden checks count, once you have read them.")
@click.option("--agent", metavar="NAME", help="Have this backend read them, of another vendor than who wrote them.")
@click.option("--reason", default=REASON, metavar="TEXT", help="What is signed beside their hash.")
@signing_options
@json_option
def accept(
    agent: str | None, reason: str, key: str | None, ssh_key: str | None, passphrase_file: Path | None, as_json: bool
) -> None:
    """Let the proposed hidden checks count. Each requirement that they name must fail on HEAD; the signature, made with
    a key that may waive, says that a person has read them, and stands in the ledger with their hash.

    With --agent an agent reads them instead, which must be of another vendor than the one that wrote them: they count
    if it says of each that it asks just what its requirement says. Both names stand in the ledger.
    """
    waive.refuse_session("accept hidden checks")
    place = Place(here(), load(here(), os.environ))
    folder = folder_of(place)
    if not hidden_writing.proposed(folder):
        raise UserError(
            f"{folder / PROPOSED}: nothing is proposed there; `agent-fox hidden write --agent NAME` does that"
        )
    if agent is not None:
        accept_by_agent(place, folder, agent, as_json)
        return
    refuse_green(place, folder)
    document, lines = place.write(
        lambda db: sign(place, db, folder, reason, (key, ssh_key, passphrase_file)), makes_state=place.may_begin()
    )
    show(document, lines, as_json)


def accept_by_agent(place: Place, folder: Path, agent: str, as_json: bool) -> None:
    """A session that may write nothing reads the proposed checks; its word counts only where it is whole. UserError."""
    backends, reader = backends_of(load_plugins()), worker(place, Archetype.REVIEWER, agent)
    if agent not in backends:
        raise UserError(f"--agent {agent}: there is no such backend; there are {', '.join(backends)}")
    writer = written_by(place, folder)
    refuse_kin(writer, reader)
    refuse_green(place, folder)
    specs, digest = specs_of(place, ()), digest_of(folder / PROPOSED)
    asked = hidden_writing.questions(specs, folder)
    chosen = agent_of(place.settings.agent_for(Archetype.REVIEWER, "", 0), agent)
    answer = hidden_writing.read_by(place.root, place.settings, chosen, specs, folder, backends, asked)
    why = why_not_accepted(asked, answer)
    if digest_of(folder / PROPOSED) != digest:
        why = "the proposed checks were changed meanwhile"
    names = {"writer": writer, "reader": reader}
    status = "refused" if why else "accepted"
    place.write(lambda db: keep(db, folder, status, {**names, "reason": why}), makes_state=place.may_begin())
    if why:
        raise UserError(f"{agent} did not accept them: {why}; its log is {folder / PROPOSED / READING}")
    for log in (WRITING, READING):
        (folder / PROPOSED / log).unlink(missing_ok=True)
    made = hidden_writing.accepted(folder)
    words = f"read by {named(reader)}, written by {named(writer)}"
    show({"files": list(made), "digest": digest, **names}, [words, *(f"  {name}" for name in made)], as_json)


def worker(place: Place, archetype: Archetype, agent: str) -> dict[str, Json]:
    """An agent as records name it."""
    chosen = agent_of(place.settings.agent_for(archetype, "", 0), agent)
    return {"backend": agent, "model": chosen.model, "vendor": vendor_of(agent, chosen.model)}


def named(who: Mapping[str, Json]) -> str:
    return " ".join(
        str(part) for part in (who["backend"], who["model"], f"({who['vendor'] or 'vendor unknown'})") if part
    )


def written_by(place: Place, folder: Path) -> dict[str, Json]:
    """Who proposed the checks as they are, by the ledger. Raises UserError where it does not say."""
    condition = "kind = 'hidden' AND status = 'proposed' AND version = ?"
    with closing(read_state(place.root / STATE)) as db:
        proposed = list(ledger.records(db, condition, [digest_of(folder / PROPOSED)]))
    if not proposed:
        raise UserError("no agent wrote the proposed checks as they are: a person accepts them, with a signature")
    writer: dict[str, Json] = json.loads(proposed[-1].content)["body"]["writer"]
    return writer


def refuse_kin(writer: Mapping[str, Json], reader: Mapping[str, Json]) -> None:
    """Who was made by the same vendor errs alike. Raises UserError."""
    unknown = [f"{agent['backend']} {agent['model']}".rstrip() for agent in (writer, reader) if not agent["vendor"]]
    if unknown:
        what = "name its model in the settings, or accept them with your own signature"
        raise UserError(f"who made the model of {unknown[0]} is not known: {what}")
    if writer["vendor"] == reader["vendor"]:
        raise UserError(f"{named(reader)} is of the same vendor as who wrote them, {named(writer)}; take another")


def keep(db: Database, folder: Path, status: str, body: dict[str, Json]) -> Act:
    """Record what became of the proposed checks, which are named by their hash."""
    digest, at = digest_of(folder / PROPOSED), clock.now()
    identity = f"hidden:{status}:{clock.new_id()}"
    about = SpecRef("hidden", HIDDEN, digest)
    with transaction(db):
        ledger.append(db, [Evidence(Kind.HIDDEN, identity, at, Outcome(status), about, body=body)])
    return {}, []


def refuse_green(place: Place, folder: Path) -> None:
    """Checks that do not fail before there is any work show nothing. Raises UserError."""
    green = dict(hidden_writing.not_red(place.root, place.settings, specs_of(place, ()), folder))
    if green:
        words = ", ".join(sorted({str(verdict.word) for verdict in green.values()}))
        raise UserError(
            f"these pass on HEAD already: {listed(green)} ({words}); correct them, or remove them from {PROPOSED}"
        )


def sign(place: Place, db: Database, folder: Path, reason: str, key: tuple[str | None, str | None, Path | None]) -> Act:
    """The hash of the proposed checks is signed and recorded; then they take their places."""
    grounds = place.grounds()
    trouble = grounds.why_unusable(db)
    if trouble:
        raise UserError(f"nothing can be accepted here: {trouble}")
    signing, now = waiver_signing.signing_of(*key, grounds), waivers.time_of(db, clock.now(), grounds)
    for log in (WRITING, READING):
        (folder / PROPOSED / log).unlink(missing_ok=True)
    subject = AboutHidden(digest_of(folder / PROPOSED))
    statement = Statement(
        clock.new_id(), grounds.repository, subject, (), granting.reason_of(reason), now, NEVER, signing.principal,
        signing.key_id,
    )  # fmt: skip
    with transaction(db):
        held = granting.keep(db, grounds, now, signing.sign(statement))
    made = hidden_writing.accepted(folder)
    lines = [describe(statement), *(f"  {name}" for name in made), f"id {held.waiver.id}", "next: agent-fox run"]
    return {**as_document(held), "files": list(made)}, lines


def folder_of(place: Place) -> Path:
    folder = hidden_folder(place.settings, place.root)
    if folder is None:
        raise UserError(f"{FILE}: [verify] hidden names no folder; name one outside of the repository")
    return folder


def specs_of(place: Place, names: Iterable[str]) -> tuple[Spec, ...]:
    """The specs that are planned; those that are named, where some are. Raises UserError."""
    known = {spec.name: spec for spec in read_plan(place.root, place.settings, dialects_of(load_plugins())).specs}
    wanted = tuple(names) or tuple(known)
    absent = [name for name in wanted if name not in known]
    if absent:
        hint = did_you_mean(absent[0], known, f"; there are: {listed(known) or 'none'}")
        raise UserError(f"--spec {absent[0]}: there is no such spec{hint}")
    return tuple(known[name] for name in wanted)


def show(document: dict[str, object], lines: list[str], as_json: bool) -> None:
    if as_json:
        print_json(document)
    else:
        click.echo("\n".join(plain(line) for line in lines))
