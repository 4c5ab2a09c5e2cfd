"""`agent-fox plan`: what would be done, and what is wrong with the specs. Reading them is not here."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from agent_fox.cli.errors import UserError
from agent_fox.cli.exits import Exit
from agent_fox.cli.place import here
from agent_fox.cli.screen import json_option, plain, print_json
from agent_fox.config import OWNERS, Settings, load
from agent_fox.core.graph import Node, Plan
from agent_fox.core.ids import Archetype
from agent_fox.core.late import late_module
from agent_fox.core.plan.blame import Ground, Owned, ownership
from agent_fox.core.spec import Problem, Severity, Spec
from agent_fox.core.words import counted
from agent_fox.engine.planning.plan_reading import read_plan
from agent_fox.engine.planning.plugged_dialects import dialects_of
from agent_fox.plugins import load_plugins
from agent_fox.specs.places import SpecsMissing
from agent_fox.specs.plan_json import plan_document
from agent_fox.system.state_folders import STATE

if TYPE_CHECKING:
    from agent_fox.cli.specs import account_lines, red_lines
    from agent_fox.cli.specs.account_lines import SpecItems
    from agent_fox.engine.doors.red_tests import RedSpec
else:
    account_lines = late_module("agent_fox.cli.specs.account_lines")
    red_lines = late_module("agent_fox.cli.specs.red_lines")

TEXT, JSON, MARKDOWN = "text", "json", "markdown"
_MOST_NAMED, _MOST_GUESSES = 60, 12
Known = Mapping[str, Mapping[str, str]]
COLOURS = {Severity.ERROR: "red", Severity.WARNING: "yellow"}


@click.command("plan", short_help="Read the specs; show what would be done and what is wrong with them.")
@click.option(
    "--specs",
    "given",
    metavar="PATH",
    multiple=True,
    type=click.Path(path_type=Path),
    help="A folder of specs, one spec's folder, or a file. Repeatable.",
)
@click.option(
    "--format",
    "form",
    type=click.Choice((TEXT, JSON, MARKDOWN)),
    help="How the plan is printed. markdown: all specs as one document, which --specs reads as the same plan.",
)
@click.option(
    "--owners",
    "writes_owners",
    is_flag=True,
    help="Write whose work each requirement is taken for into .agent-fox/owners.toml, where you can correct it.",
)
@click.option("--red", is_flag=True, help="Run each spec's tests on HEAD, and show which of them can fail.")
@click.option("--accounted", is_flag=True, help="List each item of the documents, and where it went.")
@json_option
def command(
    given: tuple[Path, ...], form: str | None, red: bool, accounted: bool, as_json: bool, writes_owners: bool
) -> Exit:
    """Read the specs; show what would be done and what is wrong with them. Nothing is run or changed.

    What has changed since the last run comes first. Exits 1 if there are
    errors; the plan is printed all the same.

    With `--format markdown` every spec that could be read, of whatever dialect, is printed in one normal form
    (docs/plain.md), and what is wrong goes to standard error.

    With `--owners` the owners that no task names are written into .agent-fox/owners.toml, as what is assumed now; a
    line that you correct there wins from the next plan on (docs/ownership.md).

    With `--red` the tests of each spec that the judge `checks` verifies are run as they are at HEAD, in a throw-away
    checkout: red now, as it should be; green already; cannot fail; no test names it; not known. Exits 2 where a
    requirement has no test that was seen to fail. docs/proof.md has the words.

    With `--accounted` every heading, list item, box, row, and line with SHALL or MUST is listed with its line: the id
    that it is, what it is a part of, the task group that it belongs to, the section whose context it is, or left over.
    """
    form = _form(form, as_json)
    root = here()
    settings = load(root, os.environ)
    dialects = dialects_of(load_plugins())
    try:
        plan = read_plan(root, settings, dialects, [str(place.absolute()) for place in given])
    except SpecsMissing as missing:
        if form == JSON:
            print_json(plan_document(_nothing(given, missing)))
        raise
    if (red or accounted) and form == MARKDOWN:
        option = "--red" if red else "--accounted"
        raise UserError(f"{option} is shown as text or with --json: leave out --format markdown")
    reds = red_specs(root, plan, settings) if red else ()
    items = account_lines.accounts(plan, root) if accounted else ()
    if writes_owners:
        write_owners(root, plan, form)
    is_stored = not given and form != MARKDOWN
    changes = changes_of(root, plan, settings) if is_stored else ()
    _print(plan, form, changes, reds, items, known_in(root) if is_stored and form == JSON else {})
    return Exit.INPUT if _count(plan, Severity.ERROR) else red_lines.red_exit(reds) if red else Exit.DONE


def write_owners(root: Path, plan: Plan, form: str) -> None:
    """Write the file of owners; where it is, goes to standard error beside a document."""
    from agent_fox.engine.planning import owners_file  # noqa: PLC0415 - only this option needs it

    owners_file.write_owners(plan.specs, root)
    click.echo(f"written: {OWNERS}", err=form != TEXT)


def red_specs(
    root: Path, plan: Plan, settings: Settings, is_in_scope: Callable[[Spec], bool] = lambda spec: True
) -> tuple[RedSpec, ...]:
    """What the tests of each spec do at HEAD."""
    from agent_fox.engine.doors import red_tests  # noqa: PLC0415 - heavy: the whole of the verifier, which --red alone needs

    return tuple(red_tests.red_specs(root, plan, settings, is_in_scope))


def _form(form: str | None, as_json: bool) -> str:
    if as_json and form not in (None, JSON):
        raise UserError(f"--json and --format {form} are two forms of one plan; give one of them")
    return JSON if as_json else form or TEXT


def _print(
    plan: Plan,
    form: str,
    changes: tuple[str, ...],
    red: tuple[RedSpec, ...],
    items: tuple[SpecItems, ...],
    known: Known,
) -> None:
    if form == JSON:
        more = {"red": red_lines.red_document(red)} if red else {}
        more |= {"accounted": account_lines.account_document(items)} if items else {}
        print_json({**plan_document(plan), "changes": list(changes), "known": known, **more})
    elif form == MARKDOWN:
        from agent_fox.specs.plain.normal_form import normal_form  # noqa: PLC0415 - only this form needs it

        click.echo(normal_form(plan.specs), nl=False)
        for problem in sorted(plan.problems):
            click.echo(_problem(problem), err=True)
    else:
        tests = ["", *red_lines.red_lines(red)] if red else []
        accounted = ["", *account_lines.account_lines(items)] if items else []
        click.echo("\n".join([*_change_lines(changes), *_lines(plan), *tests, *accounted]))


def changes_of(root: Path, plan: Plan, settings: Settings) -> tuple[str, ...]:
    """What the next run would change about the stored plan; nothing where there is none yet."""
    if not (root / STATE).exists():
        return ()
    from agent_fox.engine.planning import changes  # noqa: PLC0415 - heavy, and a repository that nothing was run in does without

    return changes.changes_of(root, plan, settings)


def known_in(root: Path) -> Known:
    """By spec and requirement: how it is known by the runs so far; nothing where there was none."""
    if not (root / STATE).exists():
        return {}
    from agent_fox.cli import opening  # noqa: PLC0415 - the same
    from agent_fox.store import known as words  # noqa: PLC0415 - the same

    with opening.reading(root) as db:
        return words.words_known(db, opening.signed_in(root, db))


def _change_lines(changes: tuple[str, ...]) -> Iterator[str]:
    if changes:
        yield click.style("changed since the last run", bold=True)
        yield from (f"  {plain(line)}" for line in changes)
        yield ""


def _nothing(given: tuple[Path, ...], missing: SpecsMissing) -> Plan:
    return Plan((), (), (), (Problem(Severity.ERROR, ", ".join(map(str, given)) or "specs", str(missing)),))


def _count(plan: Plan, severity: Severity) -> int:
    return sum(problem.severity is severity for problem in plan.problems)


def _lines(plan: Plan) -> Iterator[str]:
    nodes: dict[str, list[Node]] = {spec.name: [] for spec in plan.specs}
    for node in plan.nodes:
        nodes[node.spec_name].append(node)
    for spec in plan.specs:
        yield from _spec(spec, nodes[spec.name])
    yield from (_problem(problem) for problem in sorted(plan.problems))
    yield _totals(plan)


def _spec(spec: Spec, nodes: list[Node]) -> Iterator[str]:
    waits = ", ".join(dict.fromkeys(plain(row.spec) for row in spec.dependencies))
    counts = f"{counted(len(spec.requirements), 'requirement')}, {_to_prove(spec, bool(nodes))}"
    title = click.style(plain(spec.name), bold=True)
    yield f"{title} ({plain(spec.dialect)}): {counts}" + (f"; after {waits}" if waits else "")
    width = max((len(node.id) for node in nodes), default=0)
    for node in nodes:
        branch = "└──" if node is nodes[-1] else "├──"
        yield f"{branch} {plain(node.id):<{width}}  {_role(node)}".rstrip()
    yield from (f"  {plain(line)}" for line in (*_details(spec), *(owner_lines(spec) if nodes else ())))
    yield ""


def _details(spec: Spec) -> Iterator[str]:
    """How many criteria without ids are read as details, and of which requirements."""
    having = [requirement for requirement in spec.requirements if requirement.details]
    if having:
        total = sum(len(requirement.details) for requirement in having)
        named = _named([f"{requirement.id} ({len(requirement.details)})" for requirement in having])
        yield (
            f"{counted(total, 'detail')} without an id, part of the text of {named}; "
            '[specs] bare_criteria = "required" asks for a verdict on each'
        )


def owner_lines(spec: Spec) -> Iterator[str]:
    """Whose work the requirements are that no task names, by what ground; who gets back what nobody is found for."""
    owned = ownership(spec)
    titles = {group.number: f"{group.number}. {group.title}" for group in spec.groups}
    if owned.guessed:
        count = f"{len(owned.guessed)} of {len(spec.expected)} guessed, because no task names them"
        yield f"{count}; `agent-fox plan --owners` lets you correct them:"
        yield from (f"  {part}: {guess_line(owned.grounds[part], titles)}" for part in owned.guessed[:_MOST_GUESSES])
        if len(owned.guessed) > _MOST_GUESSES:
            yield f"  and {len(owned.guessed) - _MOST_GUESSES} more (--json names all)"
    corrected = [part for part, owner in owned.grounds.items() if owner.ground is Ground.CORRECTED]
    if corrected:
        yield f"{len(corrected)} of {len(spec.expected)} as you say in {OWNERS}: {_named(corrected)}"
    last = titles.get(owned.fallback[0]) if owned.fallback else None
    if owned.unowned and last is not None:
        count = f"{len(owned.unowned)} of {len(spec.expected)} without an owner: no task names {_named(owned.unowned)}"
        yield f"{count}; if they fail, the last group gets them back: {last}"


def guess_line(owned: Owned, titles: Mapping[int, str]) -> str:
    next_best = owned.guess.runner_up if owned.guess else None
    runner_up = f"; next comes {titles[next_best]}" if next_best is not None else ""
    return f"{titles[owned.groups[0]]} ({owned.why}{runner_up})"


def _named(names: Sequence[str]) -> str:
    """All names, or the first of very many."""
    more = len(names) - _MOST_NAMED
    return ", ".join(names) if more <= 0 else f"{', '.join(names[:_MOST_NAMED])} and {more} more (--json names all)"


def _to_prove(spec: Spec, is_planned: bool) -> str:
    if is_planned:
        return f"{len(spec.expected)} to prove"
    if spec.is_withdrawn:
        return "withdrawn: nothing is planned"
    return "describes what exists: nothing is planned" if spec.is_baseline else "nothing is planned"


def _role(node: Node) -> str:
    """What the node is for: a group's title and marks, or what is read."""
    if node.archetype is not Archetype.CODER:
        return node.mode or node.archetype
    marks = [word for word, holds in (("ticked", node.is_ticked), ("optional", node.is_optional)) if holds]
    return plain(node.title) + (f" ({', '.join(marks)})" if marks else "")


def _problem(problem: Problem) -> str:
    severity = click.style(f"{problem.severity}:", fg=COLOURS[problem.severity])
    return f"{severity} {plain(problem.where)}: {plain(problem.what)}"


def _totals(plan: Plan) -> str:
    planned = {node.spec_name for node in plan.nodes}
    parts = sum(len(spec.expected) for spec in plan.specs if spec.name in planned)
    sizes = (counted(len(plan.specs), "spec"), counted(len(plan.nodes), "node"), f"{parts} to prove")
    errors, warnings = _count(plan, Severity.ERROR), _count(plan, Severity.WARNING)
    return f"{', '.join(sizes)}; {counted(errors, 'error')}, {counted(warnings, 'warning')}"
