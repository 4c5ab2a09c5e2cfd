"""`agent-fox memory`: what once failed, why it should be believed to hold now, and what persons say of it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import click

from agent_fox.cli.errors import UserError
from agent_fox.cli.evidence import waive
from agent_fox.cli.evidence.waive import Act, Place
from agent_fox.cli.names import specs
from agent_fox.cli.opening import reading
from agent_fox.cli.place import here
from agent_fox.cli.screen import json_option, plain, print_json, signing_options
from agent_fox.config import load
from agent_fox.core.late import late_module
from agent_fox.core.memory import SHOWN_ID, Birth, Item, Remembered, Status, Step, item_id, roots
from agent_fox.core.values import to_object
from agent_fox.core.verdicts.verdict import RunTest
from agent_fox.core.words import counted
from agent_fox.store.ledger import memory as stored
from agent_fox.store.state import transaction
from agent_fox.system import clock

if TYPE_CHECKING:
    from sqlite_utils import Database

    from agent_fox.cli.evidence import library_signing
    from agent_fox.evidence import granting
    from agent_fox.evidence import memory as weighed
    from agent_fox.evidence.waivers import Grounds
    from agent_fox.store import plan
    from agent_fox.store.ledger.memory import KeptMove, Standing
    from agent_fox.verifier.ground import command_line
else:
    library_signing = late_module("agent_fox.cli.evidence.library_signing")
    granting = late_module("agent_fox.evidence.granting")
    weighed = late_module("agent_fox.evidence.memory")
    plan = late_module("agent_fox.store.plan")
    command_line = late_module("agent_fox.verifier.ground.command_line")

NOT_YOURS = "say what is remembered; what fails is remembered by itself, and a person decides the rest"
NOTHING = "nothing is remembered: no requirement failed yet whose test was run by `checks`"
Key = tuple[str | None, str | None, Path | None]
C = TypeVar("C", bound=Callable[..., object])


def key_options(command: C) -> C:
    """Why, and with which key a person signs."""
    reason = click.option("--reason", default="", metavar="TEXT", help="Why. It stands in the item's history.")
    return reason(signing_options(command))


@click.group("memory", invoke_without_command=True, short_help="Show what once failed, and why it should hold now.")
@json_option
@click.pass_context
def command(ctx: click.Context, as_json: bool) -> None:
    """Say of each requirement: this worked before, why should I believe that it works now?

    What failed once is kept as a test that is run again, before the verifier's judges.
    """
    if ctx.invoked_subcommand is not None:
        return
    with reading(here()) as db:
        standings = stored.standings(db)
        items = by_requirement(weighed.believed(db, grounds_here()))
    rows = [(each, items.get(each.address, ())) for each in standings]
    if as_json:
        print_json([{**to_object(each), "items": [summary_of(item) for item in own]} for each, own in rows])
        return
    lines = [line for each, own in rows for line in requirement_lines(each, own)]
    click.echo("\n".join(plain(line) for line in lines) or "no requirements are planned yet: agent-fox run")


def grounds_here() -> Grounds:
    return Place(here(), load(here(), os.environ)).grounds()


def by_requirement(items: Sequence[Remembered]) -> dict[str, tuple[Remembered, ...]]:
    by_part: dict[str, tuple[Remembered, ...]] = {}
    for each in items:
        by_part[each.item.address] = (*by_part.get(each.item.address, ()), each)
    return by_part


def requirement_lines(standing: Standing, items: Sequence[Remembered]) -> Iterator[str]:
    """How a requirement is known now, and what is remembered of it."""
    yield f"{standing.address}  {standing.in_words}"
    living = [each for each in items if not each.life.is_over]
    yield from (f"  {line_of(each)}" for each in living)
    over = len(items) - len(living)
    if over:
        yield f"  {counted(over, 'item')} over: agent-fox memory list --all"
    if not items:
        yield "  nothing is remembered: it was never seen to fail after it passed, nor to be repaired"


def line_of(each: Remembered) -> str:
    """An item in one line: what it is, where it stands, since when."""
    life, item = each.life, each.item
    read = f"last green on {life.green_on[:12]}" if life.green_on else "not green yet"
    lost = ", its test was not found" if life.is_lost else ""
    return (
        f"{item.id[:SHOWN_ID]}  {life.status}  {life.watch}  {each.test.id}  {read}, "
        f"{counted(life.greens, 'green reading')} since it failed{lost}"
    )


@command.command("list", short_help="List what is remembered, one line for each cause.")
@click.option("--spec", metavar="SPEC", shell_complete=specs, help="Of one spec only.")
@click.option("--all", "with_all", is_flag=True, help="What is over, too: accepted, forgotten, withdrawn.")
@json_option
def list_(spec: str | None, with_all: bool, as_json: bool) -> None:
    """List items: id, status, when it is run, test. Items of one cause stand under the oldest."""
    with reading(here()) as db:
        items = [each for each in weighed.believed(db, grounds_here(), spec) if with_all or not each.life.is_over]
    if as_json:
        print_json([summary_of(each) for each in items])
        return
    groups = roots(items)
    lines = [f"{'' if each.item.id == root else '  '}{line_of(each)}" for root, own in groups.items() for each in own]
    click.echo("\n".join(plain(line) for line in lines) or NOTHING)


@command.command("show", short_help="Show one item: what it remembers, how it came, where it stands.")
@click.argument("item")
@json_option
def show(item: str, as_json: bool) -> None:
    """Show ITEM, by its id or the beginning of it."""
    with reading(here()) as db:
        each = named(db, item)
        forged = weighed.unsigned_ends(db, grounds_here())
    if as_json:
        print_json({**to_object(each.item), **to_object(each.life), "is_believed": each.item.id not in forged})
        return
    click.echo("\n".join(plain(line) for line in shown_lines(each)))


def shown_lines(each: Remembered) -> Iterator[str]:
    item, life = each.item, each.life
    yield f"{item.id}  {item.address}, version {item.version}"
    yield f"test: {each.test.id}"
    yield f"run by: {item.test.line}"
    yield f"came: {item.born.in_words}, at {item.first_seen}"
    if item.counterexample:
        yield f"smallest input: {item.counterexample}"
    if item.first_error:
        yield f"it failed by: {item.first_error}"
    yield f"stands: {life.status}; run on {life.watch}; {counted(life.greens, 'green reading')} since it failed"
    yield f"last failed: {life.last_seen or 'never since'}; last green on {life.green_on or 'nothing'}"
    yield f"may be broken by: {', '.join(item.files) if item.is_scoped else 'any change (its files are not known)'}"
    if item.joins:
        yield f"of one cause with: {item.joins}"


@command.command("why", short_help="Tell all that happened to one item.")
@click.argument("item")
@json_option
def why(item: str, as_json: bool) -> None:
    """Tell the history of ITEM: each move with its time, its commit and its session, as the ledger has it."""
    with reading(here()) as db:
        each = named(db, item)
        moves = stored.moves_of(db, each.item.id)
    if as_json:
        print_json(
            {"item": each.item.id, "moves": [{**to_object(kept), "record": f"memory:{kept.id}"} for kept in moves]}
        )
        return
    click.echo("\n".join(plain(line) for line in [line_of(each), *map(move_line, moves)]))


def move_line(kept: KeptMove) -> str:
    move = kept.move
    where = f" on {move.commit[:12]}" if move.commit else ""
    session = f", session {kept.origin.session}" if kept.origin.session else ""
    note = f": {move.note}" if move.note else ""
    return f"  {move.at}  {move.step}{where}{session}{note} -> {kept.status}, {kept.watch} (record memory:{kept.id})"


@command.command("accept", short_help="Accept what an item remembers as right, signed; it is not run again.")
@click.argument("item")
@key_options
@json_option
def accept(
    item: str, reason: str, key: str | None, ssh_key: str | None, passphrase_file: Path | None, as_json: bool
) -> None:
    """Say that what ITEM remembers as a failure is how it should be. It is not run again; verdicts stay as they are."""
    tell(end(item, Step.ACCEPTED, reason, (key, ssh_key, passphrase_file)), as_json)


@command.command("forget", short_help="End an item for good, signed.")
@click.argument("item")
@key_options
@json_option
def forget(
    item: str, reason: str, key: str | None, ssh_key: str | None, passphrase_file: Path | None, as_json: bool
) -> None:
    """End ITEM for good: it is not run again, nor born again for this version of its requirement."""
    tell(end(item, Step.FORGOTTEN, reason, (key, ssh_key, passphrase_file)), as_json)


@command.command("add", short_help="Remember a test that must stay green, signed.")
@click.argument("requirement", metavar="REQ")
@click.option("--spec", metavar="SPEC", shell_complete=specs, help="The spec, where several have a REQ of that id.")
@click.option("--test", "test", required=True, metavar="ID", help="As tests/test_a.py::TestB::test_c.")
@click.option("--command", "line", default="", metavar="LINE", help="What runs it. Unset: the spec's test command.")
@click.option("--file", "files", multiple=True, metavar="PATH", help="What may break it. Repeatable. Unset: anything.")
@click.option("--input", "counterexample", default="", metavar="TEXT", help="The smallest input that once failed.")
@key_options
@json_option
def add(
    requirement: str, spec: str | None, test: str, line: str, files: tuple[str, ...], counterexample: str, reason: str,
    key: str | None, ssh_key: str | None, passphrase_file: Path | None, as_json: bool,
) -> None:  # fmt: skip
    """Remember a test of requirement REQ, which is read from the next verifier's session on."""
    waive.refuse_session(NOT_YOURS)
    place, why_added = Place(here(), load(here(), os.environ)), granting.reason_of(reason)

    def act(db: Database) -> Act:
        part = waive.find_part(db, requirement, spec)
        run = run_test(test, line or line_of_spec(place, db, part.spec_name))
        number = item_id(part.spec_name, part.id, part.version, run)
        item = Item(
            number, part.spec_name, part.id, part.version, run, Birth.PERSON, clock.now(),
            tuple(sorted({run.file, *files})), counterexample, note=why_added,
        )  # fmt: skip
        envelope = signed(place, db, item, Step.BORN, why_added, (key, ssh_key, passphrase_file))
        with transaction(db):
            each = weighed.add(db, place.grounds(), replace(item, envelope=envelope))
        return act_of(each)

    tell(place.write(act), as_json)


def run_test(test: str, line: str) -> RunTest:
    """The test that a person names in the way of pytest."""
    file, *classes, name = test.split("::") if "::" in test else ("", test)
    return RunTest(line, file, tuple(classes), name, test)


def line_of_spec(place: Place, db: Database, spec_name: str) -> str:
    """The command line that runs a spec's tests, as `checks` would choose it."""
    lines = tuple(place.settings.verify.commands) or command_line.suites(plan.load_spec(db, spec_name).test_commands)
    if not lines:
        raise UserError(f"{spec_name}: names no test command; say what runs the test: --command 'pytest -q'")
    return lines[0]


def end(name: str, step: Step, reason: str, key: Key) -> Act:
    """End an item as a person signs it."""
    waive.refuse_session(NOT_YOURS)
    place, why_over = Place(here(), load(here(), os.environ)), granting.reason_of(reason)

    def act(db: Database) -> Act:
        each = named(db, name)
        envelope = signed(place, db, each.item, step, why_over, key)
        with transaction(db):
            return act_of(weighed.end(db, place.grounds(), each, step, clock.now(), why_over, envelope))

    return place.write(act)


def signed(place: Place, db: Database, item: Item, step: Step, reason: str, key: Key) -> str:
    """What a person says of an item, signed; the passphrase is asked for when all else is known to be right."""
    grounds = place.grounds()
    trouble = grounds.why_unusable(db)
    if trouble:
        raise UserError(f"nothing can be signed here: {trouble}")
    signing = library_signing.signing_of(*key, grounds, weighed.PAYLOAD_TYPE)
    statement = weighed.Statement(
        grounds.repository, item.id, weighed.content_of(item), step, reason, clock.now(), signing.principal,
        signing.key_id,
    )  # fmt: skip
    return signing.sign(statement)


def named(db: Database, prefix: str) -> Remembered:
    """The item that a person names. Raises UserError."""
    items = stored.by_prefix(db, prefix) if prefix else []
    if len(items) != 1:
        what = f"{len(items)} items begin so" if items else "no item has this id"
        raise UserError(f"memory {prefix}: {what}; `agent-fox memory list --all` shows them")
    return items[0]


def act_of(each: Remembered) -> Act:
    next_step = "next: agent-fox run" if each.life.status is Status.OPEN else "it is not run again"
    return summary_of(each), [line_of(each), next_step]


def summary_of(each: Remembered) -> dict[str, object]:
    item = each.item
    return {
        **to_object(item, only=("id", "address", "version", "born", "first_seen", "counterexample", "cause", "joins")),
        "test": each.test.id, "command": item.test.line, "files": list(item.files),
        **to_object(each.life, without=("file",)),
    }  # fmt: skip


def tell(act: Act, as_json: bool) -> None:
    document, lines = act
    if as_json:
        print_json(document)
    else:
        click.echo("\n".join(plain(line) for line in lines))
