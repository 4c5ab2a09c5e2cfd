"""`agent-fox waive`: a person accepts what is not proven, signed and for a time. What that does is the engine's."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import click

from agent_fox.cli.errors import UserError
from agent_fox.cli.evidence.waiver_lines import as_document, document_of, held_lines, moved
from agent_fox.cli.names import specs
from agent_fox.cli.opening import reading
from agent_fox.cli.place import here
from agent_fox.cli.screen import columns, cut, json_option, plain, print_json, signing_options
from agent_fox.config import Settings, load
from agent_fox.core.late import late_module
from agent_fox.core.ledger.waivers import CHANGED, HIDDEN, TRAINING, AboutFinding, Statement, Subject, describe
from agent_fox.core.values import dataclass, to_document
from agent_fox.core.words import counted, did_you_mean, quote
from agent_fox.engine.record.watch import moves_in_words
from agent_fox.evidence import waivers, witness
from agent_fox.evidence.witness import WitnessBroken
from agent_fox.store import waivers as stored
from agent_fox.store.ledger import ledger
from agent_fox.store.plan import StoredPart, load_parts
from agent_fox.store.sessions import open_run
from agent_fox.store.state import open_state, read_state, single_writer, transaction
from agent_fox.system import clock
from agent_fox.system.state_folders import LOCK, STATE

if TYPE_CHECKING:
    from sqlite_utils import Database

    from agent_fox.cli.chat import review_desk
    from agent_fox.cli.evidence import waiver_signing
    from agent_fox.engine.handlers import dockets as makers
    from agent_fox.engine.handlers import waiving
    from agent_fox.engine.planning import from_settings
    from agent_fox.engine.record import docket as dockets
    from agent_fox.evidence import granting
    from agent_fox.evidence.waivers import Grounds, Held
else:
    review_desk = late_module("agent_fox.cli.chat.review_desk")
    waiver_signing = late_module("agent_fox.cli.evidence.waiver_signing")
    granting = late_module("agent_fox.evidence.granting")
    waiving = late_module("agent_fox.engine.handlers.waiving")
    makers = late_module("agent_fox.engine.handlers.dockets")
    dockets = late_module("agent_fox.engine.record.docket")
    from_settings = late_module("agent_fox.engine.planning.from_settings")

IN_A_SESSION = "AGENT_FOX_LAUNCH"


@dataclass(frozen=True, slots=True)
class Wanted:
    """What stands on the command line."""

    words: tuple[str, ...]
    spec: str | None
    reason: str
    expires: str
    key: str | None
    ssh_key: str | None
    passphrase_file: Path | None
    depends_on: tuple[str, ...]
    is_finding: bool
    is_comment: bool = False


comment_option = click.option(
    "--comment", "is_comment", is_flag=True,
    help="Sign only: print the comment on its issue that has a run do it (`[github] commands`).",
)  # fmt: skip


@click.command("waive", short_help="Accept an unproven requirement for a time, signed; list, revoke or ask.")
@click.argument("words", nargs=-1, metavar="[REQ | TASK CHECK [DETAIL_HASH]]")
@click.option("--spec", metavar="SPEC", shell_complete=specs, help="The spec, where several have a REQ of that id.")
@click.option("--reason", default="", metavar="TEXT", help="Why. Shown in every report while the waiver holds.")
@click.option("--expires", default="", metavar="WHEN", help="30d, 12h, 2w, or a date (to its end, UTC).")
@signing_options
@click.option("--depends-on", multiple=True, metavar="PATH", help="End the waiver when this file changes. Repeatable.")
@click.option("--finding", "is_finding", is_flag=True, help="Waive a finding of `agent-fox gate`: TASK CHECK [HASH].")
@comment_option
@click.option("--list", "is_list", is_flag=True, help="List waivers, which of them count, and what was asked for.")
@click.option("--revoke", metavar="ID", help="End this waiver for good.")
@click.option("--ask", "is_ask", is_flag=True, help="Ask a person to waive REQ. Nothing is waived by that.")
@json_option
def command(
    words: tuple[str, ...], spec: str | None, reason: str, expires: str, key: str | None, ssh_key: str | None,
    passphrase_file: Path | None, depends_on: tuple[str, ...], is_finding: bool, is_comment: bool, is_list: bool,
    revoke: str | None, is_ask: bool, as_json: bool,
) -> None:  # fmt: skip
    """Accept one unproven requirement, or one finding of `agent-fox gate`, for a time.

    A waiver is signed with a key that agents cannot have, trusted in `allowed_signers` (`agent-fox keys`). It is bound
    to this repository, to the text as it is, and to what the spec depends on; it ends by itself. Exits 4 while a run
    is on.
    """
    wanted = Wanted(words, spec, reason, expires, key, ssh_key, passphrase_file, depends_on, is_finding, is_comment)
    if sum((is_list, revoke is not None, is_ask, is_finding)) > 1:
        raise click.UsageError("--list, --revoke, --ask and --finding are different things; give one")
    if is_comment and (is_list or is_ask or is_finding or revoke is not None):
        raise click.UsageError("--comment is for a waiver of a requirement")
    act: Callable[[Place], tuple[dict[str, object], list[str]]]
    if is_list:
        act = listing
    elif revoke is not None:
        act = revoking(revoke, reason)
    elif is_ask:
        act = asking(wanted)
    else:
        act = granting_of(wanted)
    document, lines = act(Place(here(), load(here(), os.environ)))
    if as_json:
        print_json(document)
    else:
        click.echo("\n".join(plain(line) for line in lines))


@dataclass(frozen=True, slots=True)
class Place:
    """The repository and its settings."""

    root: Path
    settings: Settings

    def grounds(self) -> Grounds:
        return waivers.grounds_of(self.root, self.settings, os.environ)

    def transaction(self, db: Database) -> dockets.Docket:
        policy = from_settings.policy_of(self.settings)
        opened = dockets.Docket(db, clock.now(), policy, dockets.SpecShelf(), open_run(db))
        return makers.with_waivers(opened, self.grounds)

    def may_begin(self) -> bool:
        """Whether a state begins here: the gate judges tasks without a run, and a finding of it can be waived, too."""
        if (self.root / STATE).exists() or not (self.grounds().signers and self.grounds().repository):
            return False
        review_desk.prepare_state(self.root)
        return True

    def write(self, act: Callable[[Database], Act], *, makes_state: bool = False) -> Act:
        """Do something to the state while no run is on, and note the ledger's new head outside of it."""
        if not makes_state:
            read_state(self.root / STATE).close()
        with single_writer(self.root / LOCK), closing(open_state(self.root / STATE)) as db:
            done = act(db)
            try:
                witness.advance(db, witness.path_of(os.environ, self.root))
            except WitnessBroken as error:
                raise UserError(f"it is done, but could not be noted outside of the state file: {error}") from error
        return done


Act = tuple[dict[str, object], list[str]]


def granting_of(wanted: Wanted) -> Callable[[Place], Act]:
    def act(place: Place) -> Act:
        refuse_session()
        reason = granting.reason_of(wanted.reason)
        if not wanted.words or not wanted.expires:
            what = "--expires: say how long it holds, such as 30d" if wanted.words else "name what is waived"
            raise click.UsageError(f"{what}; a waiver needs REQ, --reason, --expires and a key")
        if wanted.is_comment:
            with reading(place.root) as db:
                return as_comment("waive", draw_up(place, db, wanted, reason)[1])
        makes_state = wanted.is_finding and place.may_begin()
        return place.write(lambda db: grant(place, db, wanted, reason), makes_state=makes_state)

    return act


def refuse_session(what: str = "waive; `agent-fox waive --ask REQ --reason TEXT` asks a person") -> None:
    """A courtesy to agents: what really keeps them from signing is that they have no trusted key."""
    if os.environ.get(IN_A_SESSION):
        raise UserError(f"a session cannot {what}")


def as_comment(command: str, envelope: str) -> Act:
    """The comment that has a run do what is signed."""
    text = f"/agent-fox {command}\n```json\n{envelope}\n```"
    return {"comment": text}, text.splitlines()


def draw_up(place: Place, db: Database, wanted: Wanted, reason: str) -> tuple[Statement, str]:
    """What is waived, and the same signed. A passphrase is asked for when all else is known to be right."""
    grounds, at = place.grounds(), clock.now()
    trouble = grounds.why_unusable(db)
    if trouble:
        remedy = (
            "" if "nobody is trusted" not in trouble else "; `agent-fox keys trust NAME --for waiver` adds a signer"
        )
        raise UserError(f"nothing can be waived here: {trouble}{remedy}")
    now = waivers.time_of(db, at, grounds)
    subject = subject_of(place, db, wanted)
    signing = waiver_signing.signing_of(wanted.key, wanted.ssh_key, wanted.passphrase_file, grounds)
    statement = Statement(
        clock.new_id(), grounds.repository, subject, granting.dependencies(db, grounds, subject, wanted.depends_on),
        reason, now, granting.expiry(wanted.expires, now), signing.principal, signing.key_id,
    )  # fmt: skip
    return statement, signing.sign(statement)


def grant(place: Place, db: Database, wanted: Wanted, reason: str) -> Act:
    """Draw up, sign and keep; signing is outside of the transaction."""
    statement, envelope = draw_up(place, db, wanted, reason)
    with transaction(db):
        held, handled = waiving.grant(place.transaction(db), place.grounds(), envelope)
    return document_of(held, handled), [
        describe(statement),
        *moves_in_words(handled),
        f"id {held.waiver.id}",
        f"next: agent-fox gate --task-id {quote(wanted.words[0])}" if wanted.is_finding else "next: agent-fox run",
    ]


def subject_of(place: Place, db: Database, wanted: Wanted) -> Subject:
    if wanted.is_finding:
        return finding_of(db, wanted.words)
    if len(wanted.words) != 1:
        raise click.UsageError("name one requirement; a waiver is about one")
    part = find_part(db, wanted.words[0], wanted.spec)
    return waiving.waivable(place.transaction(db), place.grounds(), part)


def find_part(db: Database, name: str, spec_name: str | None) -> StoredPart:
    """The requirement that a person names, as `REQ` or `SPEC/REQ`. Raises UserError."""
    spec, slash, part = name.rpartition("/")
    spec_name = spec if slash else spec_name
    parts = [candidate for candidate in load_parts(db) if spec_name in (None, candidate.spec_name)]
    matches = [candidate for candidate in parts if candidate.id == part]
    if len(matches) == 1:
        return matches[0]
    if matches:
        specs = ", ".join(candidate.spec_name for candidate in matches)
        raise UserError(f"{part}: {specs} have it; say which: --spec {matches[0].spec_name}")
    criteria = [candidate.id for candidate in parts if candidate.requirement_id == part]
    if criteria:
        raise UserError(f"{part}: its criteria are proven one by one; waive one of them: {', '.join(criteria)}")
    where = f"spec {spec_name}" if spec_name else "the plan"
    hint = did_you_mean(part, (candidate.id for candidate in parts), "; `agent-fox status` lists specs")
    raise UserError(f"{part}: there is no such requirement in {where}{hint}")


def finding_of(db: Database, words: tuple[str, ...]) -> AboutFinding:
    """TASK CHECK DETAIL_HASH; the hash is looked up in the task's last close-out where it is left out."""
    if not 2 <= len(words) <= 3:
        raise click.UsageError("--finding takes TASK CHECK [DETAIL_HASH], such as 04_gateway:2@1 off_scope_write")
    task, check = words[0], words[1]
    if len(words) == 3:
        if len(words[2]) != 16 or set(words[2]) - set("0123456789abcdef"):
            raise UserError(
                f"{words[2]}: no hash of a finding; `agent-fox gate --task-id {task}` shows them, 16 hex digits"
            )
        return AboutFinding(task, check, words[2])
    hashes = sorted({waivers.detail_hash(detail) for detail in last_findings(db, task, check)})
    if len(hashes) != 1:
        what = f"{len(hashes)} findings: name one of {', '.join(hashes)}" if hashes else "no such finding in the ledger"
        raise UserError(f"{task} {check}: {what}; `agent-fox gate --task-id {task}` shows them")
    return AboutFinding(task, check, hashes[0])


def last_findings(db: Database, task: str, check: str) -> Iterator[str]:
    """The details of what the last close-out of a task found by this check."""
    condition = "kind = 'close-out' AND (address = ?1 OR substr(address, 1, ?2) = ?1 || '@')"
    for record in list(ledger.records(db, condition, [task, len(task) + 1]))[-1:]:
        report = json.loads(record.content)["body"].get("report", {})
        yield from (str(row["detail"]) for row in report.get("findings", ()) if row.get("check") == check)


def asking(wanted: Wanted) -> Callable[[Place], Act]:
    def act(place: Place) -> Act:
        reason = granting.reason_of(wanted.reason)
        if len(wanted.words) != 1:
            raise click.UsageError("--ask takes one requirement")
        return place.write(lambda db: ask(db, wanted, reason))

    return act


def ask(db: Database, wanted: Wanted, reason: str) -> Act:
    part = find_part(db, wanted.words[0], wanted.spec)
    address = f"{part.spec_name}/{part.id}"
    with transaction(db):
        times = granting.petition(db, clock.now(), address, reason)
    text = f"{address}: asked for a waiver, {counted(times, 'time')} by now; a person decides, nothing is waived"
    return {"asked": address, "times": times, "reason": reason, "is_waived": False}, [text]


def revoking(name: str, reason: str) -> Callable[[Place], Act]:
    def act(place: Place) -> Act:
        why = granting.reason_of(reason)
        return place.write(lambda db: revoke(place, db, name, why))

    return act


def revoke(place: Place, db: Database, name: str, reason: str) -> Act:
    with transaction(db):
        number, handled = waiving.revoke(place.transaction(db), place.grounds(), name, reason)
    lines = [f"{number} is revoked for good: {reason}", *moves_in_words(handled)]
    return {"revoked": number, "reason": reason, "moved": moved(handled)}, lines


def listing(place: Place) -> Act:
    held = all_held(place, are_agreements=False)
    with reading(place.root) as db:
        asked = stored.asked(db)
        specs_named = {each.waiver.columns.spec_name for each in held} | {request.spec_name for request in asked}
        parts = {(name, part.id): part.text for name in specs_named for part in load_parts(db, name)}
    lines = []
    for each in held:
        first, *rest = held_lines(each)
        lines += [first, *in_words(parts, each.waiver.columns.spec_name, each.waiver.columns.address), *rest]
    lines = lines or ["no waivers"]
    for request in asked:
        lines += [request.line, *in_words(parts, request.spec_name, request.requirement_id)]
    return {"waivers": [as_document(waiver) for waiver in held], "asked": to_document(asked)}, lines


def in_words(parts: Mapping[tuple[str, str], str], spec: str, requirement: str) -> Iterator[str]:
    """The text of a requirement, in one line of the screen; nothing where the plan has none of that name."""
    text = " ".join(parts.get((spec, requirement), "").split())
    if text:
        yield cut(f"  {text}", columns())


def all_held(place: Place, *, are_agreements: bool) -> list[Held]:
    """What persons signed: agreements, or everything else; each with why it does not count, if so."""
    with reading(place.root) as db:
        names = (CHANGED,) if are_agreements else ()
        rows = [
            row
            for row in stored.waivers_of(db)
            if row.columns.check_name in names
            or not (are_agreements or row.columns.check_name in (CHANGED, HIDDEN, TRAINING))
        ]
        return waivers.held(db, place.grounds(), clock.now(), rows)
