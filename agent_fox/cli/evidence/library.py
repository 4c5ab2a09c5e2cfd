"""`agent-fox library`: what is to be checked beside the requirements; proposed by anybody, adopted by persons."""

from __future__ import annotations

import getpass
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import click

from agent_fox.cli.errors import UserError
from agent_fox.cli.exits import Exit
from agent_fox.cli.opening import reading
from agent_fox.cli.place import OWN, here
from agent_fox.cli.screen import json_option, plain, print_json, signing_options
from agent_fox.core.formal.specification import (
    LIBRARY,
    Author,
    Change,
    Current,
    Entry,
    Specification,
    SpecKind,
    State,
    Who,
)
from agent_fox.core.late import late_module
from agent_fox.core.values import to_document, to_object
from agent_fox.core.verdicts.verdict import Word
from agent_fox.evidence.spec_library import FILE
from agent_fox.store import library as stored
from agent_fox.store.plan import StoredPart, load_parts
from agent_fox.store.state import open_state, read_state, single_writer, transaction
from agent_fox.system import clock
from agent_fox.system.state_folders import LOCK, STATE

if TYPE_CHECKING:
    from sqlite_utils import Database

    from agent_fox import config, plugins
    from agent_fox.cli.evidence import library_signing
    from agent_fox.core import words
    from agent_fox.core.spec import Problem, Spec
    from agent_fox.engine.planning import plan_reading, plugged_dialects
    from agent_fox.engine.record import library as libraries
    from agent_fox.engine.record import library_evidence
    from agent_fox.evidence import library, library_files, waivers, witness
    from agent_fox.verifier.ground import order as orders
    from agent_fox.verifier.lanes import results as lanes
    from agent_fox.verifier.lanes import running
else:
    words = late_module("agent_fox.core.words")
    running = late_module("agent_fox.verifier.lanes.running")
    orders = late_module("agent_fox.verifier.ground.order")
    lanes = late_module("agent_fox.verifier.lanes.results")
    libraries = late_module("agent_fox.engine.record.library")
    library_evidence = late_module("agent_fox.engine.record.library_evidence")
    library_files = late_module("agent_fox.evidence.library_files")
    plan_reading = late_module("agent_fox.engine.planning.plan_reading")
    plugged_dialects = late_module("agent_fox.engine.planning.plugged_dialects")
    plugins = late_module("agent_fox.plugins")
    config = late_module("agent_fox.config")
    waivers = late_module("agent_fox.evidence.waivers")
    witness = late_module("agent_fox.evidence.witness")
    library_signing = late_module("agent_fox.cli.evidence.library_signing")
    library = late_module("agent_fox.evidence.library")

T = TypeVar("T")
LAUNCH, NODE = "AGENT_FOX_LAUNCH", "AGENT_FOX_NODE"
"""Variables that a session has, and no person."""

SHOWN_RECORDS = 10
NOTHING = "nothing to check yet: what a spec's specifications.toml asks for counts from the next `agent-fox run`"
note_option = click.option("--note", default="", metavar="TEXT", help="Why; kept in the library's history.")


@click.group(
    "library", invoke_without_command=True, short_help="Show, propose, adopt and check reusable specifications."
)
@json_option
@click.pass_context
def command(ctx: click.Context, as_json: bool) -> None:
    """Manage reusable specifications: checks that specs can link to. Without a command, lists them."""
    if ctx.invoked_subcommand is None:
        ctx.invoke(list_, spec=None, with_all=False, as_json=as_json)


@command.command("list", short_help="List specifications with their state.")
@click.option("--spec", metavar="SPEC", help="Only those of one spec.")
@click.option("--all", "with_all", is_flag=True, help="Requirements too, and what was withdrawn.")
@json_option
def list_(spec: str | None, with_all: bool, as_json: bool) -> None:
    """List adopted and proposed specifications: address, state, kind, text. A proposal has no effect yet."""
    with reading(here()) as db:
        rows = [row for row in all_rows(db, with_all=with_all) if spec is None or concerns(row[0], spec)]
    if as_json:
        print_json([summary_of(specification, state) for specification, state in rows])
    else:
        width = max((len(specification.address) for specification, _ in rows), default=0)
        lines = (
            f"{specification.address:<{width}}  {state:<9}  {specification.kind:<17}  {specification.text}"
            for specification, state in rows
        )
        click.echo("\n".join(plain(line) for line in lines) or "no specifications beside the requirements")


@command.command("show", short_help="Show one specification with its history and its evidence.")
@click.argument("address")
@json_option
def show(address: str, as_json: bool) -> None:
    """Show ADDRESS, such as 04_gateway/retries-end: check, links, history, and which records count now."""
    root = here()
    with reading(root) as db:
        now = found(db, address)
        history = stored.entries(db, address)
        shelf = libraries.Shelf(root, config.load(root, os.environ), os.environ)
        records = library_evidence.evidence_about(db, shelf, now)[:SHOWN_RECORDS]
    if as_json:
        print_json({"address": address, **document_of(now, history), "evidence": to_document(records)})
    else:
        click.echo("\n".join(plain(line) for line in shown_lines(now, history, records)))


@command.command("propose", short_help="Propose specifications; none counts until it is adopted.")
@click.argument("file", type=click.Path(path_type=Path), required=False)
@json_option
def propose(file: Path | None, as_json: bool) -> None:
    """Propose every specification of FILE (default .agent-fox/specifications.toml), under `library/NAME`."""
    root = here()
    path = (file or root / OWN / FILE).absolute()
    changes = write(root, lambda db: proposed(db, path, root))
    if as_json:
        print_json([summary_of(change.specification, change.state) for change in changes])
        return
    for change in changes:
        click.echo(plain(f"proposed {change.specification.address}, version {change.specification.version}"))
    click.echo(
        "next: agent-fox library adopt ADDRESS --key FILE"
        if changes
        else "nothing new: all of these are proposed or adopted already"
    )


def proposed(db: Database, path: Path, root: Path) -> list[Change]:
    specifications, problems = library_files.read_library(path, root, library_files.Owner(LIBRARY, known_parts(db)))
    if library_files.errors(problems):
        raise UserError("; ".join(problem_line(problem) for problem in problems))
    with transaction(db):
        return library.propose(db, clock.now(), specifications, proposer())


def proposer() -> Author:
    """Who says this; nobody shows that, and nothing follows from it."""
    if os.environ.get(LAUNCH):
        return Author(Who.AGENT, f"{os.environ.get(NODE, '?')} {os.environ[LAUNCH]}")
    return Author(Who.PERSON, getpass.getuser())


@command.command("adopt", short_help="Make a proposal count, signed by a person.")
@click.argument("address")
@signing_options
@note_option
@json_option
def adopt(
    address: str, key: str | None, ssh_key: str | None, passphrase_file: Path | None, note: str, as_json: bool
) -> None:
    """Adopt the proposal at ADDRESS in its current version; it counts from the verifier's next session."""
    tell(decide(address, State.ADOPTED, (key, ssh_key, passphrase_file), note), as_json)


@command.command("withdraw", short_help="Withdraw a specification, signed by a person.")
@click.argument("address")
@signing_options
@note_option
@json_option
def withdraw(
    address: str, key: str | None, ssh_key: str | None, passphrase_file: Path | None, note: str, as_json: bool
) -> None:
    """Withdraw the specification at ADDRESS. For one that a spec asks for, edit its specifications.toml instead."""
    tell(decide(address, State.WITHDRAWN, (key, ssh_key, passphrase_file), note), as_json)


def decide(address: str, state: State, keys: tuple[str | None, str | None, Path | None], note: str) -> Change:
    root = here()
    grounds = waivers.grounds_of(root, config.load(root, os.environ), os.environ)
    typed = "adopt" if state is State.ADOPTED else "withdraw"
    if os.environ.get(LAUNCH):  # a courtesy to agents: what keeps them from it is that they have no trusted key
        raise UserError(f"an agent's session may only propose; a person must run: agent-fox library {typed} {address}")
    with reading(root) as db:
        entry = chosen(found(db, address), state, address)
    signing = library_signing.signing_of(*keys, grounds)
    return write(root, lambda db: decided(db, entry, state, signing, grounds, note))


def chosen(now: Current, state: State, address: str) -> Entry:
    """The entry that a person speaks of."""
    entry = now.proposed if state is State.ADOPTED else now.adopted or now.proposed
    if entry is None:
        what = "proposed" if state is State.ADOPTED else "adopted or proposed"
        raise UserError(f"{address}: nothing is {what} there; `agent-fox library show {address}` shows its history")
    return entry


def decided(
    db: Database, entry: Entry, state: State, signing: library_signing.Signing, grounds: waivers.Grounds, note: str
) -> Change:
    at = clock.now()
    statement = library.Statement(
        grounds.repository, entry.specification.address, entry.version, state, at, signing.principal, signing.key_id
    )
    trust = library.Trust(grounds.repository, lambda: grounds.signers)
    with transaction(db):
        return library.of_person(db, entry, state, at, signing.sign(statement), trust, note)


def tell(change: Change, as_json: bool) -> None:
    specification = change.specification
    if as_json:
        print_json({**summary_of(specification, change.state), "by": str(change.author)})
        return
    click.echo(plain(f"{change.state} {specification.address}, version {specification.version}, by {change.author}"))
    click.echo("next: agent-fox run")


@command.command("check", short_help="Run the checks on this checkout; nothing is recorded.")
@click.argument("addresses", nargs=-1)
@click.option("--file", "file", type=click.Path(path_type=Path), help="What stands in this file, proposed or not.")
@json_option
def check(addresses: tuple[str, ...], file: Path | None, as_json: bool) -> Exit:
    """Check ADDRESSES (default: all that counts) on the files as they are here.

    Exits 2 where something does not hold or is not decided. Temporal properties need a run's sessions: they stay
    unknown here. Where there is no state, as in an agent's workspace, the specs' own files say what is checked.
    """
    root = here()
    objects = [specification for specification in to_check(root, addresses, file) if specification.has_lane]
    results = running.run_lanes(objects, lanes.LaneContext(order_here(root)))
    if as_json:
        print_json(to_document(results))
    else:
        click.echo(
            "\n".join(plain(line) for specification in results for line in result_lines(specification)) or NOTHING
        )
    is_shown = bool(results) and all(result.status is Word.PASS for result in results)
    return Exit.DONE if is_shown else Exit.UNPROVEN


def to_check(root: Path, addresses: Sequence[str], file: Path | None) -> Sequence[Specification]:
    own = spec_of_file(root, file) if file is not None else None
    if own is not None:
        return of_spec(own, root)
    if file is None and not (root / STATE).exists():
        known = {specification.address: specification for specification in of_files(root)}
        for address in addresses:
            if address not in known:
                there = ", ".join(known) or "none"
                raise UserError(f"{address}: no specifications.toml here has it; there are: {there}")
        return [known[address] for address in addresses or known]
    if file is not None:
        owner = library_files.Owner(LIBRARY, parts_here(root))
        specifications, problems = library_files.read_library(file.absolute(), root, owner)
        if library_files.errors(problems):
            raise UserError("; ".join(problem_line(problem) for problem in problems))
        return specifications
    with reading(root) as db:
        shelf = libraries.Shelf(root, config.load(root, os.environ), os.environ)
        everything = library.adopted(stored.entries(db), shelf.trust)
        unknown = [
            address for address in addresses if address not in {specification.address for specification in everything}
        ]
        if unknown:
            found(db, unknown[0])
            raise UserError(f"{unknown[0]}: not adopted; use --file to check a proposal")
        return [specification for specification in everything if not addresses or specification.address in addresses]


def of_files(root: Path) -> Iterator[Specification]:
    """What the spec folders of this checkout ask for."""
    for spec in specs_here(root):
        yield from of_spec(spec, root)


def specs_here(root: Path) -> Sequence[Spec]:
    dialects = plugged_dialects.dialects_of(plugins.load_plugins())
    return plan_reading.read_plan(root, config.load(root, os.environ), dialects).specs


def spec_of_file(root: Path, file: Path) -> Spec | None:
    """The spec whose own file it is: its requirements are named there without the spec."""
    if file.name != FILE or file.absolute().parent == root / OWN:
        return None
    return next((spec for spec in specs_here(root) if (root / spec.path / FILE).resolve() == file.resolve()), None)


def of_spec(spec: Spec, root: Path) -> Sequence[Specification]:
    specifications, problems = library_files.read_spec_library(spec, root)
    if library_files.errors(problems):
        raise UserError("; ".join(problem_line(problem) for problem in problems))
    return specifications


def order_here(root: Path) -> orders.CheckOrder:
    """The checkout, within the bounds of the settings; it is a person's, so that nothing is left in it."""
    verify = config.load(root, os.environ).verify
    commands = tuple(verify.commands)
    return orders.CheckOrder(
        {}, str(root), configured=commands, sandbox=verify.sandbox, timeout=verify.timeout,  # type: ignore[arg-type]
        environment={"PYTHONDONTWRITEBYTECODE": "1"},
    )  # fmt: skip


def write(root: Path, act: Callable[[Database], T]) -> T:
    """Change the state while no run is on, and note the ledger's new head outside of it."""
    read_state(root / STATE).close()
    with single_writer(root / LOCK), closing(open_state(root / STATE)) as db:
        done = act(db)
        witness.advance(db, witness.path_of(os.environ, root))
    return done


def parts_here(root: Path) -> dict[str, dict[str, tuple[str, ...]]]:
    """What a specification can name: of the plan, or, before the first run, of the specs as they lie there."""
    if (root / STATE).exists():
        with reading(root) as db:
            return known_parts(db)
    return ids_of(
        StoredPart(spec.name, part.id, requirement.id, part.text, "")
        for spec in specs_here(root) for requirement in spec.requirements for part in requirement.parts
    )  # fmt: skip


def known_parts(db: Database) -> dict[str, dict[str, tuple[str, ...]]]:
    """Every id of the plan that a specification can name, with what is expected of it."""
    return ids_of(load_parts(db))


def ids_of(parts: Iterable[StoredPart]) -> dict[str, dict[str, tuple[str, ...]]]:
    known: dict[str, dict[str, tuple[str, ...]]] = {}
    for part in parts:
        spec = known.setdefault(part.spec_name, {})
        spec[part.id] = (part.id,)
        if part.requirement_id != part.id:
            spec[part.requirement_id] = (*spec.get(part.requirement_id, ()), part.id)
    return known


def all_rows(db: Database, *, with_all: bool) -> Iterator[tuple[Specification, str]]:
    if with_all:
        yield from ((requirement, State.ADOPTED.value) for requirement in stored.requirements(db))
    for now in library.standing(stored.entries(db)).values():
        if now.adopted is not None:
            yield now.adopted.specification, State.ADOPTED.value
        if now.proposed is not None:
            yield now.proposed.specification, State.PROPOSED.value
        if with_all and now.adopted is None and now.proposed is None and now.last is not None:
            yield now.last.specification, State.WITHDRAWN.value


def concerns(one: Specification, spec: str) -> bool:
    return one.address.startswith(f"{spec}/") or one.is_about(spec)


def found(db: Database, address: str) -> Current:
    """Raises UserError naming the nearest address."""
    standing = library.standing(stored.entries(db, address)).get(address)
    if standing is not None:
        return standing
    requirement = next((row for row in stored.requirements(db) if row.address == address), None)
    if requirement is not None:
        entry = Entry(0, requirement, requirement.version, State.ADOPTED, Author(Who.SPEC, stored.spec_of(address)), "")
        return Current(entry, None, entry)
    known = [row.address for row, _ in all_rows(db, with_all=True)]
    hint = words.did_you_mean(address, known, "; `agent-fox library list` shows what there is")
    raise UserError(f"{address}: there is no such specification{hint}")


def summary_of(one: Specification, state: str) -> dict[str, object]:
    return {
        "address": one.address,
        "state": str(state),
        **to_object(one, only=("kind", "version", "text", "requirements", "check")),
    }


def document_of(now: Current, history: Sequence[Entry]) -> dict[str, object]:
    def whole(entry: Entry | None) -> dict[str, object] | None:
        return None if entry is None else {**summary_of(entry.specification, entry.state), "by": str(entry.author)}

    lines = [
        {"at": e.at, "state": e.state.value, "version": e.version, "by": str(e.author), "note": e.note} for e in history
    ]
    return {"adopted": whole(now.adopted), "proposed": whole(now.proposed), "history": lines}


def shown_lines(now: Current, history: Sequence[Entry], records: Sequence[library_evidence.Record]) -> Iterator[str]:
    for entry in filter(None, (now.adopted, now.proposed)):
        specification = entry.specification
        yield f"{specification.address}  {entry.state}"
        yield f"  {specification.kind}, version {entry.version}, by {entry.author}"
        yield f"  {specification.text}"
        yield from (f"  {line}" for line in library_files.toml_of(specification).splitlines())
        if specification.kind is not SpecKind.REQUIREMENT:
            yield (
                f"  binds {', '.join(specification.requirements) or 'nothing'}"
                if entry is now.adopted
                else "  binds nothing"
            )
    yield from (f"{e.at}  {e.state}  {e.version}  by {e.author}{f': {e.note}' if e.note else ''}" for e in history)
    yield "evidence" if records else "no evidence yet"
    for record in records:
        counts = "; ".join(record.stale) or "counts"
        yield f"  {record.at}  {record.status:<7}  {record.id[:12]}  {counts}"


def result_lines(result: lanes.LaneResult) -> Iterator[str]:
    yield f"{result.status:<7}  {result.address} ({result.kind}){', proved' if result.is_proof else ''}"
    for word, text in (
        ("why", result.why), ("counterexample", result.counterexample), ("command", result.command),
        ("does not show", result.limitation),
    ):  # fmt: skip
        yield from (f"         {word}: {line}" for line in text.splitlines())


def problem_line(problem: Problem) -> str:
    return f"{problem.where}: {problem.what}"
