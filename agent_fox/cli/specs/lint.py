"""`agent-fox lint`: what could be better in the specs, and the repairs that are certain. The rules are not here."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from agent_fox.cli.errors import UserError
from agent_fox.cli.exits import Exit
from agent_fox.cli.place import here
from agent_fox.cli.screen import json_option, plain, print_json
from agent_fox.cli.specs.plan import red_specs
from agent_fox.cli.version import installed
from agent_fox.config import FILE, ConfigError, Settings, load
from agent_fox.core.late import late_module
from agent_fox.core.words import counted, did_you_mean
from agent_fox.engine.planning.plan_reading import read_plan
from agent_fox.engine.planning.plugged_dialects import dialects_of
from agent_fox.plugins import load_plugins
from agent_fox.specs.lint.fixing import EditRefused, Repairs, difference, repairs, write_repaired
from agent_fox.specs.lint.rules import Report, below, finding_document, lint, report_document, unknown_rules
from agent_fox.specs.lint.values import Finding, Level, rules
from agent_fox.specs.lint.world import World
from agent_fox.specs.places import SpecsMissing, find_places

if TYPE_CHECKING:
    from agent_fox.cli.specs import red_lines
    from agent_fox.core.spec import Spec
    from agent_fox.engine.doors.red_tests import RedSpec
    from agent_fox.specs.dialects import Dialect
    from agent_fox.specs.lint import sarif
else:
    sarif = late_module("agent_fox.specs.lint.sarif")
    red_lines = late_module("agent_fox.cli.specs.red_lines")

COLOURS = {Level.ERROR: "red", Level.WARNING: "yellow", Level.NOTE: "blue"}
Form = Literal["text", "json", "sarif"]


@dataclass(frozen=True)
class Scope:
    """What is read and what is reported: specs at `places` (empty: the usual ones), findings below `paths` alone."""

    root: Path
    settings: Settings
    dialects: tuple[Dialect, ...]
    places: tuple[str, ...]
    paths: tuple[str, ...]

    def world(self, root: Path, places: Sequence[Path | str]) -> World:
        plan = read_plan(root, self.settings, self.dialects, [str(place) for place in places])
        return World(root, plan, self.settings.lint, (self.root / ".git").exists())

    def report(self) -> Report:
        world = self.world(self.root, self.places)
        report = lint(world)
        return below(report, self.paths, world.plan.specs) if self.paths else report

    def red(self) -> tuple[RedSpec, ...]:
        """What the tests of each spec do at HEAD, of specs that lie below `paths` alone where there are any."""
        plan = self.world(self.root, self.places).plan
        return red_specs(self.root, plan, self.settings, self.is_named)

    def is_named(self, spec: Spec) -> bool:
        return not self.paths or any(_is_along(self.root / spec.path, self.root / path) for path in self.paths)

    def repairs(self, report: Report) -> Repairs:
        """Repairs of what the report tells, and of nothing else."""
        wanted = {(finding.rule, finding.path) for finding in report.findings if finding.edits}
        if not wanted:
            return Repairs()
        places = find_places(self.root, self.places or self.settings.plan.places)
        return repairs(self.root, places, self.world, lambda finding: (finding.rule, finding.path) in wanted)


@click.command("lint", short_help="Check the specs for weak spots; --fix repairs what is certain.")
@click.argument("paths", metavar="[PATH]...", nargs=-1, type=click.Path(exists=True, path_type=Path))
@json_option
@click.option(
    "--format", "form", type=click.Choice(["text", "json", "sarif"]), default="text", help="How findings are printed."
)
@click.option("--fix", is_flag=True, help="Repair what is certain; the plan stays what it is.")
@click.option("--diff", is_flag=True, help="Print what --fix would change, and change nothing.")
@click.option("--run", "runs", is_flag=True, help="Run each spec's tests too, as `plan --red` does.")
@click.option("--strict", is_flag=True, help="Warnings count as errors for the exit code.")
def command(
    paths: tuple[Path, ...], as_json: bool, form: Form, fix: bool, diff: bool, runs: bool, strict: bool
) -> Exit:
    """Check the specs for weak spots, and repair what is certain. docs/lint.md lists the rules.

    Without PATH all specs are read; a PATH inside of them narrows what is told. Exits 1 if there are errors. With
    `--run` it also exits 2 where a requirement has no test that was seen to fail.
    """
    form = "json" if as_json else form
    if runs and (diff or form == "sarif"):
        raise UserError("--run is shown as text or with --json only, and not with --diff")
    root = here()
    settings = load(root, os.environ)
    unknown = unknown_rules(settings.lint.off)
    if unknown:
        hint = did_you_mean(unknown[0], rules(), "; docs/lint.md lists the rules")
        raise ConfigError(f"{FILE}: lint.off = {unknown[0]!r}: there is no such rule{hint}")
    named = tuple(_counted(path, root) for path in paths)
    scope = Scope(root, settings, dialects_of(load_plugins()), _places(root, settings, named), named)
    try:
        return _lint(scope, form, fix=fix, diff=diff, runs=runs, strict=strict)
    except SpecsMissing as missing:
        _print_missing(missing, paths, form)
        raise


def _lint(scope: Scope, form: Form, *, fix: bool, diff: bool, runs: bool, strict: bool) -> Exit:
    if diff:
        return _show_difference(scope, form, strict)
    made, troubles = _repaired(scope) if fix else (Repairs(), ())
    report, red = scope.report(), scope.red() if runs else ()
    match form:
        case "json":
            more = {"red": red_lines.red_document(red)} if runs else {}
            print_json({**report_document(report), **_fixed(made, troubles), **more})
        case "sarif":
            print_json(sarif.sarif_document(report, installed()))
        case "text":
            tests = red_lines.red_lines(red) if runs else ()
            click.echo("\n".join([*_repair_lines(made), *_lines(report), _totals(report, is_repaired=fix), *tests]))
    for trouble in troubles:
        click.echo(plain(trouble), err=True)
    ended = Exit.INPUT if troubles else _exit(report, strict)
    return red_lines.red_exit(red) if runs and ended is Exit.DONE else ended


def _print_missing(missing: SpecsMissing, paths: Sequence[Path], form: Form) -> None:
    """A program that reads the report gets one, whatever is there to read; people get the error's own line."""
    where = ", ".join(map(str, paths)) or "specs"
    report = Report((Finding(where, 0, "plan-error", Level.ERROR, None, str(missing), "Do what it says."),))
    match form:
        case "json":
            print_json({**report_document(report), **_fixed(Repairs(), ())})
        case "sarif":
            print_json(sarif.sarif_document(report, installed()))
        case "text":
            pass


def _counted(path: Path, root: Path) -> str:
    """The path counted from the root, where it lies inside."""
    absolute = Path(os.path.abspath(path))  # noqa: PTH100 - resolve() would follow links to other names
    return absolute.relative_to(root).as_posix() if absolute.is_relative_to(root) else absolute.as_posix()


def _places(root: Path, settings: Settings, named: Sequence[str]) -> tuple[str, ...]:
    """Where to read: the whole plan for paths in its places, or that hold them, and any other path for itself. Empty
    for the plan's places alone."""
    try:
        usual = find_places(root, settings.plan.places)
    except SpecsMissing:
        return tuple(named)
    others = tuple(name for name in named if not any(_is_along(root / name, place) for place in usual))
    is_all = len(others) < len(named)
    return (*(str(place) for place in usual if is_all), *others) if others else ()


def _is_along(path: Path, place: Path) -> bool:
    """Whether it lies in the place, or holds it."""
    return path.is_relative_to(place) or place.is_relative_to(path)


def _repaired(scope: Scope) -> tuple[Repairs, tuple[str, ...]]:
    """Write what is certain; what was written, and what could not be."""
    made = scope.repairs(scope.report())
    troubles: dict[str, str] = {}
    for path, (before, after) in made.files.items():
        try:
            write_repaired(scope.root, path, before, after)
        except EditRefused as refused:
            troubles[path] = f"agent-fox: {refused}"
    files = {path: change for path, change in made.files.items() if path not in troubles}
    kept = tuple(finding for finding in made.made if finding.path in files)
    return Repairs(files, kept, made.refused), tuple(troubles.values())


def _show_difference(scope: Scope, form: Form, strict: bool) -> Exit:
    report = scope.report()
    repairs = scope.repairs(report)
    text = "".join(difference(path, *change) for path, change in repairs.files.items())
    match form:
        case "json":
            print_json({**report_document(report), **_fixed(Repairs(refused=repairs.refused), ()), "diff": text})
        case "sarif":
            print_json(sarif.sarif_document(report, installed()))
        case "text":
            click.echo("\n".join(map(plain, text.split("\n"))) if sys.stdout.isatty() else text, nl=False)
            for line in _repair_lines(Repairs(refused=repairs.refused)):
                click.echo(line, err=True)
    return _exit(report, strict)


def _fixed(made: Repairs, troubles: Sequence[str]) -> dict[str, object]:
    return {
        "fixed": [finding_document(finding) for finding in made.made],
        "refused": [finding_document(finding) for finding in made.refused],
        "troubles": list(troubles),
    }


def _exit(report: Report, strict: bool) -> Exit:
    counts = report.count(Level.ERROR) + (report.count(Level.WARNING) if strict else 0)
    return Exit.INPUT if counts else Exit.DONE


def _repair_lines(made: Repairs) -> Iterator[str]:
    for finding in made.made:
        yield f"{click.style('fixed:', fg='green')} {_line(finding)}"
    for finding in made.refused:
        yield f"{click.style('not fixed:', fg='yellow')} {_line(finding)}: that would change the plan"


def _lines(report: Report) -> Iterator[str]:
    """Each finding on a line; what to do follows where its rule speaks for the first time."""
    seen: set[str] = set()
    for finding in report.findings:
        yield f"{click.style(f'{finding.level}:', fg=COLOURS[finding.level])} {_line(finding)}"
        if finding.rule not in seen:
            seen.add(finding.rule)
            yield f"    {finding.remedy}"
    yield from (f"not checked: {rule}: {why}" for rule, why in report.not_checked)


def _line(finding: Finding) -> str:
    return f"{plain(finding.where)}: {plain(finding.what)} [{finding.rule}]"


def _totals(report: Report, is_repaired: bool) -> str:
    """How many findings of each kind; what --fix could do is not told where it just did what it can."""
    counts = [(report.count(level), level) for level in Level]
    text = ", ".join(counted(number, level) for number, level in counts)
    text += f" in {counted(report.specs, 'spec')}"
    fixable = sum(bool(finding.edits) for finding in report.findings)
    return text + (f"; {fixable} can be repaired with --fix" if fixable and not is_repaired else "")
