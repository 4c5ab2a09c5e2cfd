"""`agent-fox agree`: a person agrees to a changed expectation of a committed test, signed like a waiver.

What that does to the plan is the engine's.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from agent_fox.cli.errors import UserError
from agent_fox.cli.evidence import waive
from agent_fox.cli.evidence.waive import Act, Place
from agent_fox.cli.evidence.waiver_lines import as_document, document_of
from agent_fox.cli.names import specs
from agent_fox.cli.opening import reading
from agent_fox.cli.place import here
from agent_fox.cli.screen import json_option, plain, print_json, signing_options
from agent_fox.config import load
from agent_fox.core.late import late_module
from agent_fox.core.ledger.waivers import NEVER, AboutExpectation, Statement, describe
from agent_fox.core.words import listed, quote
from agent_fox.engine.record.watch import moves_in_words
from agent_fox.evidence import waivers
from agent_fox.store.state import transaction
from agent_fox.system import clock

if TYPE_CHECKING:
    from sqlite_utils import Database

    from agent_fox.cli.evidence import waiver_signing
    from agent_fox.core.verdicts.expectations import Expectation
    from agent_fox.engine.handlers import agreeing
    from agent_fox.evidence import granting
    from agent_fox.evidence.waivers import Held
else:
    waiver_signing = late_module("agent_fox.cli.evidence.waiver_signing")
    granting = late_module("agent_fox.evidence.granting")
    agreeing = late_module("agent_fox.engine.handlers.agreeing")

NOT_YOURS = "agree; say in the summary why the test had to be changed, and a person decides"
Sign = Callable[[Place], "waiver_signing.Signing"]


@click.command("agree", short_help="Agree that a committed test was rightly changed, signed.")
@click.argument("words", nargs=-1, metavar="[SPEC REQ]", shell_complete=specs)
@click.option("--reason", default="", metavar="TEXT", help="Why. Unset: the reason that the coder gave.")
@signing_options
@waive.comment_option
@click.option("--list", "is_list", is_flag=True, help="List agreements, and which of them count.")
@click.option("--revoke", metavar="ID", help="End this agreement for good, with --reason.")
@json_option
def command(
    words: tuple[str, ...], reason: str, key: str | None, ssh_key: str | None, passphrase_file: Path | None,
    is_comment: bool, is_list: bool, revoke: str | None, as_json: bool,
) -> None:  # fmt: skip
    """Agree that a committed test of requirement REQ of SPEC was rightly changed, as it stands now.

    It is signed with a key that may waive, and bound to the requirement's text and to both versions of the test, the
    committed one and the present one: another change of either asks again. The next run reads the requirement again.
    Exits 4 while a run is on.
    """
    if sum((is_list, is_comment, revoke is not None)) > 1:
        raise click.UsageError("--list, --comment and --revoke are different things; give one")
    place = Place(here(), load(here(), os.environ))
    if is_list:
        document, lines = listing(place)
    elif revoke is not None:
        document, lines = waive.revoking(revoke, reason)(place)
    else:
        document, lines = (comment if is_comment else agree)(
            place, words, reason,
            lambda where: waiver_signing.signing_of(key, ssh_key, passphrase_file, where.grounds()),
        )  # fmt: skip
    if as_json:
        print_json(document)
    else:
        click.echo("\n".join(plain(line) for line in lines))


def agree(place: Place, words: tuple[str, ...], reason: str, sign: Sign) -> Act:
    waive.refuse_session(NOT_YOURS)
    if len(words) != 2:
        raise click.UsageError("name the spec and the requirement: agent-fox agree SPEC REQ")
    return place.write(lambda db: grant(place, db, words, reason, sign))


def comment(place: Place, words: tuple[str, ...], reason: str, sign: Sign) -> Act:
    """The same signed only, as a comment for the issue."""
    waive.refuse_session(NOT_YOURS)
    if len(words) != 2:
        raise click.UsageError("name the spec and the requirement: agent-fox agree SPEC REQ --comment")
    with reading(place.root) as db:
        return waive.as_comment("agree", draw_up(place, db, words, reason, sign)[1])


def draw_up(place: Place, db: Database, words: tuple[str, ...], reason: str, sign: Sign) -> tuple[Statement, str]:
    """What is agreed to, and the same signed; the passphrase is asked for when all else is known to be right."""
    grounds, at = place.grounds(), clock.now()
    trouble = grounds.why_unusable(db)
    if trouble:
        raise UserError(f"nothing can be agreed to here: {trouble}")
    subject, read = agreeing.agreeable(place.transaction(db), grounds, waive.find_part(db, words[1], words[0]))
    statement_reason, now = reason_of(reason, read.expectation), waivers.time_of(db, at, grounds)
    signing = sign(place)
    statement = Statement(
        clock.new_id(), grounds.repository, subject, (), statement_reason, now, NEVER, signing.principal,
        signing.key_id,
    )  # fmt: skip
    return statement, signing.sign(statement)


def grant(place: Place, db: Database, words: tuple[str, ...], reason: str, sign: Sign) -> Act:
    """Draw up, sign and keep."""
    statement, envelope = draw_up(place, db, words, reason, sign)
    with transaction(db):
        held, handled = agreeing.grant(place.transaction(db), place.grounds(), envelope)
        spec = held.waiver.columns.spec_name
        left = agreeing.left(place.transaction(db), place.grounds(), spec)
    more = [f"not agreed to yet: {listed(left)}: agent-fox agree {quote(spec)} {quote(left[0])}"] if left else []
    lines = [describe(statement), *moves_in_words(handled), f"id {held.waiver.id}", *(more or ["next: agent-fox run"])]
    return {**document_of(held, handled), "left": list(left)}, lines


def reason_of(given: str, expectation: Expectation) -> str:
    return granting.reason_of(given or (f"as the coder said: {expectation.reason}" if expectation.reason else ""))


def listing(place: Place) -> Act:
    held = waive.all_held(place, are_agreements=True)
    lines = [line for agreement in held for line in _lines(agreement)] or ["no agreements"]
    return {"agreements": [as_document(agreement) for agreement in held]}, lines


def _lines(one: Held) -> Iterator[str]:
    columns, statement = one.waiver.columns, one.waiver.statement
    subject = statement.subject if statement else None
    about = subject.test if isinstance(subject, AboutExpectation) else columns.check_name
    state = f"does not count: {one.why_not}" if one.why_not else "in force"
    yield f"{one.short_id}  {columns.spec_name}/{columns.address} {about}  {state}"
    yield f"  by {columns.signer}: {columns.reason}"
