"""`agent-fox ledger`: the evidence that was recorded, shown, checked, and taken to other machines."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import closing, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

import click

from agent_fox.cli.errors import UserError
from agent_fox.cli.evidence.evidence_lines import tell_chains
from agent_fox.cli.evidence.ledger_lines import (
    checked_document,
    checked_lines,
    entry_lines,
    record_document,
    record_lines,
)
from agent_fox.cli.exits import Exit
from agent_fox.cli.opening import reading
from agent_fox.cli.place import here
from agent_fox.cli.screen import json_option, plain, print_json
from agent_fox.core.late import late_module
from agent_fox.core.ledger.evidence import Kind
from agent_fox.core.values import to_document
from agent_fox.core.words import counted
from agent_fox.evidence import witness
from agent_fox.evidence.faults import Findings, Unchecked
from agent_fox.evidence.witness import Witness, WitnessBroken
from agent_fox.store.ledger import ledger
from agent_fox.store.state import single_writer, snapshot
from agent_fox.system import clock
from agent_fox.system.state_folders import LOCK, STATE

if TYPE_CHECKING:
    from sqlite_utils import Database

    from agent_fox.cli.evidence import chains, passphrases, waive
    from agent_fox.cli.evidence import keys as key_files
    from agent_fox.engine.running import ledger_witness as heads
    from agent_fox.evidence import about, granting, waivers
    from agent_fox.evidence import rebuild as rebuilding
    from agent_fox.evidence import verify as verifying
    from agent_fox.evidence.exports import export as exporting
    from agent_fox.evidence.exports import verify_export as verify_exports
    from agent_fox.evidence.signing import keys, trust
    from agent_fox.store import state as states
    from agent_fox.store.ledger.ledger import Kept
    from agent_fox.system import files, git
else:
    chains = late_module("agent_fox.cli.evidence.chains")
    key_files = late_module("agent_fox.cli.evidence.keys")
    waive = late_module("agent_fox.cli.evidence.waive")
    heads = late_module("agent_fox.engine.running.ledger_witness")
    granting = late_module("agent_fox.evidence.granting")
    states = late_module("agent_fox.store.state")
    files = late_module("agent_fox.system.files")
    git = late_module("agent_fox.system.git")
    passphrases = late_module("agent_fox.cli.evidence.passphrases")
    exporting = late_module("agent_fox.evidence.exports.export")
    rebuilding = late_module("agent_fox.evidence.rebuild")
    trust = late_module("agent_fox.evidence.signing.trust")
    verifying = late_module("agent_fox.evidence.verify")
    verify_exports = late_module("agent_fox.evidence.exports.verify_export")
    keys = late_module("agent_fox.evidence.signing.keys")
    waivers = late_module("agent_fox.evidence.waivers")
    about = late_module("agent_fox.evidence.about")

SHOWN = 20
LONGEST_LINE = 64 * 1024**2
"""Characters of an export that are read as one line: what is longer was never written by us, and is a fault."""

FILE = click.Path(path_type=Path)


@click.group("ledger", short_help="Audit the recorded evidence: show, verify, export.")
def command() -> None:
    """Audit the recorded evidence: show it, verify that nothing was changed or removed, export it."""


@command.command("show", short_help="Show the last records, one of them, or everything about a requirement.")
@click.argument("name", required=False, metavar="[RECORD | REQ]")
@click.option("--kind", type=click.Choice([kind.value for kind in Kind]), help="Records of this kind only.")
@click.option("--all", "is_all", is_flag=True, help=f"All of them, not the last {SHOWN}.")
@json_option
def show(name: str | None, kind: str | None, is_all: bool, as_json: bool) -> None:
    """Show the last records, or the one RECORD: its position, or the beginning of its id (8 characters at least).

    For a requirement REQ (`04-REQ-1.2`, or `SPEC/04-REQ-1.2` where several specs have it): what proved it, who ran
    that, on which commit and in which environment, whether it still counts, its gate, and how to check it yourself.
    """
    with reading(here()) as db:
        if name is None:
            records = last_records(db, kind, is_all=is_all)
            _tell([record_document(kept) for kept in records], entry_lines(records), as_json)
        elif is_requirement(db, name):
            tell_chains(chains.chains_named(db, here(), name), is_whole=is_all, as_json=as_json)
        else:
            kept = record_named(db, name)
            _tell(record_document(kept), record_lines(kept), as_json)


def is_requirement(db: Database, name: str) -> bool:
    """Whether a name is not a record's: a requirement of the plan, or nothing that a record could be named by."""
    try:
        return bool(about.parts_named(db, name))
    except about.UnknownRequirement:
        return re.fullmatch("[0-9a-f]+", name) is None


def _tell(document: object, lines: Iterator[str], as_json: bool) -> None:
    if as_json:
        print_json(document)
    else:
        click.echo("\n".join(map(plain, lines)))


def last_records(db: Database, kind: str | None, *, is_all: bool) -> list[Kept]:
    last = "position IN (SELECT position FROM ledger WHERE ? IS NULL OR kind = ? ORDER BY position DESC LIMIT ?)"
    return list(ledger.records(db, last, [kind, kind, -1 if is_all else SHOWN]))


def record_named(db: Database, name: str) -> Kept:
    """Raises UserError: none, or several."""
    if name.isdecimal() and len(name) < 8:
        records = list(ledger.records(db, "position = ?", [int(name)]))
    else:
        records = list(ledger.records(db, "length(?) > 7 AND substr(record_id, 1, length(?)) = ?", [name, name, name]))
    if len(records) != 1:
        none = f"there is no such record; the last is {ledger.tip_of(db).position}"
        why = "several records begin with this" if records else none
        raise UserError(f"{name}: {why}; name it by its position, or by 8 or more characters of its id")
    return records[0]


@command.command("verify", short_help="Check that no record was changed or removed, here or in an export.")
@click.option(
    "--export", "file", type=FILE, metavar="FILE", help="Check this export, not the state of this repository."
)
@click.option(
    "--key", metavar="PUB", help="With --export: the public key that must have signed it, by file or by name."
)
@click.option(
    "--signers",
    type=FILE,
    metavar="FILE",
    help="The trusted signers, as in allowed_signers. Unset: those of this machine.",
)
@click.option(
    "--head", "noted", multiple=True, metavar="HEAD", help="With --export: a head noted earlier, which it must contain."
)
@click.option("--no-witness", is_flag=True, help="Ignore what was noted about the ledger outside of the repository.")
@json_option
def verify_(
    file: Path | None, key: str | None, signers: Path | None, noted: tuple[str, ...], no_witness: bool, as_json: bool
) -> Exit:
    """Check that no record was changed, removed, moved or repeated, that the state file agrees with the records, and
    that nothing noted about them outside of the repository is missing here.

    With --export it works on any machine, from the file and a public key alone. Exits 2 for a fault, or if something
    cannot be checked.
    """
    if file is None and (key or noted):
        raise UserError("--key and --head are about an export: name it with --export FILE")
    if file:
        return _verify_export(file, key, signers, noted, as_json)
    root, doubts = here(), Findings()
    trusted = trusted_signers(signers, doubts)
    note = None if no_witness else _noted(root, doubts)
    with reading(root) as db, snapshot(db):
        checked = verifying.verify(
            db, witness=note, signers=trusted, now=clock.now(), asks_witness=not no_witness, root=root
        )
    checked.findings.unchecked.extend(doubts.unchecked)
    checked.findings.remarks.extend(_gone_before(root))
    _tell(checked_document(checked), checked_lines(checked), as_json)
    return Exit.DONE if checked.findings.is_sound else Exit.UNPROVEN


def _verify_export(file: Path, key: str | None, signers: Path | None, noted: tuple[str, ...], as_json: bool) -> Exit:
    _refuse_shortened(noted)
    doubts = Findings()
    trusted = trusted_signers(signers, doubts)
    makers = makers_of(key, trusted)
    try:
        with file.open(encoding="utf-8", errors="surrogateescape", newline="\n") as lines:
            bounded = iter(lambda: lines.readline(LONGEST_LINE), "")
            findings = verify_exports.verify_export(bounded, makers, waiver_signers=waivers_of(trusted), noted=noted)
    except OSError as error:
        raise UserError(f"{file}: {error.strerror}; name a file that `agent-fox ledger export` made") from error
    checked = findings.checked
    checked.findings.unchecked.extend(doubts.unchecked)
    _tell(checked_document(checked, findings), checked_lines(checked, findings), as_json)
    return Exit.DONE if checked.findings.is_sound else Exit.UNPROVEN


def makers_of(key: str | None, trusted: tuple[keys.Signer, ...]) -> tuple[keys.Signer, ...]:
    """Whose signature on evidence counts: the key that is named, or else those who are trusted for it."""
    if key:
        return (keys.Signer(key, (keys.LEDGER,), keys.read_public(key_files.public_file(key))),)
    return tuple(signer for signer in trusted if keys.LEDGER in signer.namespaces)


def _refuse_shortened(ends: tuple[str, ...]) -> None:
    """A head that is not whole is in no chain: a slip of the hand must not look like a ledger that was cut."""
    for head in ends:
        if not re.fullmatch("[0-9a-f]{64}", head):
            raise UserError(f"--head {head}: no head of a ledger; give all of its 64 hex digits")


def waivers_of(signers: tuple[keys.Signer, ...]) -> tuple[keys.Signer, ...]:
    return tuple(signer for signer in signers if keys.WAIVERS in signer.namespaces)


def trusted_signers(file: Path | None, doubts: Findings) -> tuple[keys.Signer, ...]:
    """Whose signatures count; a list that cannot be believed is a doubt, and nobody counts. Raises KeyTrouble."""
    if file is not None:
        if not file.is_file():
            raise UserError(f"{file}: there is no such file; name one in the form of allowed_signers")
        return keys.read_signers(file)
    try:
        return trust.signers(os.environ, key_files.workplaces())
    except keys.KeyTrouble as error:
        doubts.unknown("who is trusted here", str(error))
        return ()


def _gone_before(root: Path) -> Iterator[str]:
    for path in witness.kept(witness.path_of(os.environ, root)):
        yield f"a ledger that was here before is gone; its last head is in {path}"


def _noted(root: Path, doubts: Findings) -> Witness | None:
    try:
        return witness.read(witness.path_of(os.environ, root))
    except WitnessBroken as error:
        doubts.unknown("what was noted of this ledger", str(error))
        return None


@command.command(
    "accept-loss", short_help="Continue after records were lost; who accepted the loss, and why, is recorded."
)
@click.option("--reason", required=True, metavar="TEXT", help="Why; kept in the record.")
@json_option
def accept_loss(reason: str, as_json: bool) -> None:
    """Accept that records are lost: the ledger ends before the head noted outside of the repository, or is another
    ledger. Until this is accepted, no run starts here.

    What is left counts, and what is lost is done again. The new record names both heads, you, and the reason. Exits 4
    while a run is on.
    """
    root = here()
    waive.refuse_session("accept a loss")
    path, who = witness.path_of(os.environ, root), git.identity(root)
    why = granting.reason_of(reason)
    with states.single_writer(root / LOCK), closing(states.open_state(root / STATE)) as db:
        with states.transaction(db):
            record = heads.accept_loss(db, path, clock.now(), f"{who.name} <{who.email}>", why)
        if record is None:
            raise UserError("nothing is lost: the ledger continues from the head noted outside of the repository")
        kept = heads.begin_again(db, path)
        tip = ledger.tip_of(db)
    lines = (
        f"record {tip.position}: {record.limitation}",
        f"the lost head is noted in {kept}",
        "next: agent-fox run",
    )
    _tell({**record.body, "record": tip.position, "kept": str(kept)}, iter(lines), as_json)


@command.command("export", short_help="Write all records as signed statements, for other machines.")
@click.argument("file", type=FILE)
@click.option("--key", metavar="KEY", help="Sign with this key: a name of `agent-fox keys list`, or a file.")
@click.option("--passphrase-file", type=FILE, metavar="FILE", help="Read the key's passphrase from its first line.")
@click.option("--unsigned", is_flag=True, help="Write it without a signature: anybody can then change it.")
@json_option
def export(file: Path, key: str | None, passphrase_file: Path | None, unsigned: bool, as_json: bool) -> None:
    """Write every record to FILE as an in-toto statement in a signed envelope, one a line, and a checkpoint at the end.

    A ledger with a fault is not exported (exit 2).
    """
    if (key is None) == (not unsigned):
        raise UserError(
            "sign it with --key NAME (`agent-fox keys new ledger` makes a key), or export it with --unsigned"
        )
    root = here()
    sign, signer = signing(key_files.key_file(key), passphrase_file) if key else (exporting.unsigned, None)
    with reading(root) as db, snapshot(db):
        doubts = refuse_unsound(db, root)
        repository = waivers.Grounds(root, os.environ, "HEAD").repository
        written = write_lines(file, exporting.lines(db, sign, repository=repository, at=clock.now()))
        head = ledger.tip_of(db).head
    document = {
        "file": str(file), "records": written - 1, "head": head, "signer": signer,
        "unchecked": to_document(doubts),
    }  # fmt: skip
    _tell(document, _exported(file, written - 1, head, signer, doubts), as_json)


def refuse_unsound(db: Database, root: Path) -> list[Unchecked]:
    """Nobody vouches for what `ledger verify` finds faults in, be its records whole or not. What could not be checked;
    who signed waivers is not asked. Raises LedgerFaulty.
    """
    findings = Findings()
    note = _noted(root, findings)
    checked = verifying.verify(db, witness=note, signers=None, now=clock.now(), root=root)
    if checked.findings.faults:
        raise exporting.refusal(checked)
    return [*checked.findings.unchecked, *findings.unchecked]


def signing(path: Path, passphrase_file: Path | None) -> tuple[exporting.Sign, str]:
    """What signs with a key, and the key's id. Asks for its passphrase where it has one."""
    passphrase = passphrases.asked(path, passphrase_file) if keys.is_locked(path) else None
    private = keys.load_key(path, passphrase)
    return exporting.signing(private), keys.public_of(private).id


def _exported(file: Path, count: int, head: str, signer: str | None, doubts: list[Unchecked]) -> Iterator[str]:
    yield f"{counted(count, 'record')} in {file}, head {head}"
    yield f"signed by {signer}" if signer else "not signed"
    yield from (f"not checked: {doubt.what}: {doubt.why}" for doubt in doubts)
    yield f"check it anywhere: agent-fox ledger verify --export {file.name}" + (" --key PUB" if signer else "")


def write_lines(file: Path, lines: Iterator[str]) -> int:
    """Write lines to a file that is there as a whole or not at all; how many there were. Raises UserError."""
    try:
        file.parent.stat()  # a folder that is not there is a slip of the pen, and is not made
        with files.replacing(file) as new:
            return sum(1 for line in lines if new.write(line.encode()))
    except OSError as error:
        raise UserError(f"{file}: cannot be written ({error.strerror}); check the folder and the disk") from error


@command.command("rebuild", short_help="Rebuild the state file from the records.")
@click.argument("file", type=FILE, required=False)
@click.option("--install", is_flag=True, help="Replace the current state with it; the old one is kept beside it.")
@json_option
def rebuild(file: Path | None, install: bool, as_json: bool) -> None:
    """Rebuild history, plan and everything that is shown from the records alone, into FILE (unset: `state.db.rebuilt`
    beside the state).

    The current state is only read. Where a record is missing or changed nothing is built (exit 2). With --install the
    new file replaces the state, and the old one is kept as `state.db.1` (or the next free number).
    """
    root = here()
    if file and install:
        raise UserError("FILE and --install exclude each other: write to a file, or replace the current state")
    with single_writer(root / LOCK) if install else nullcontext():
        made = rebuilding.rebuild(root / STATE, file, is_installed=install)
    document = {"file": str(made.path), "rows": made.rows, "records": made.records, "kept": made.kept}
    _tell(document, rebuilding.lines_of(made), as_json)
