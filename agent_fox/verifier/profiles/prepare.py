"""From a request to the command that answers it: checked names, found programs, filled template. Starts nothing."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from itertools import chain, islice
from pathlib import Path, PurePosixPath
from types import MappingProxyType
from typing import TYPE_CHECKING

from agent_fox.core.values import dataclass
from agent_fox.verifier.ground.request import Prepared, Refused, Request, Unavailable, Why
from agent_fox.verifier.ground.results import Scope, Tool
from agent_fox.verifier.profiles.inputs import ESCAPES, Selected, known_module, selected
from agent_fox.verifier.profiles.model import Command, Lists, Profile, Values
from agent_fox.verifier.profiles.programs import Program, Search, find_all
from agent_fox.verifier.profiles.templates import fill, fill_text, names_of, value_names
from agent_fox.verifier.projects.detect import detected
from agent_fox.verifier.projects.facts import facts_of
from agent_fox.verifier.projects.manifests import Manifests, join
from agent_fox.verifier.projects.skipping import refuse_skipping
from agent_fox.verifier.projects.systems import Facts, Place

if TYPE_CHECKING:
    from agent_fox.verifier.projects.systems import BuildSystem, Detection

MOST_FILES = 4_000  # that one command is given
_REPORTERS = Path(__file__).resolve().parents[1] / "reporters"
_SHOWN = {
    Values.REPORTS: "REPORTS",
    Values.REPORTERS: "REPORTERS",
    Values.FOLDER: ".",
    Values.SRC: "src",
    Values.ADVISORIES: "ADVISORIES",
}
_NARROWED_BY_PATH = (Lists.TARGETS, Lists.PACKAGES)  # what a selector's own path stands instead of


def prepare(
    profile: Profile,
    root: Path,
    request: Request,
    reports: Path,
    *,
    detection: Detection | None = None,
    search: str | None = None,
    advisories: Path | None = None,
) -> Prepared | Unavailable:
    """The command for a request in the workspace `root`, or why there is none.

    reports: an existing, empty folder that belongs to this command alone. search: a PATH, by default this process's.
    advisories: a folder of known vulnerabilities, one sub-folder for each scanner's own. Raises Refused for a request
    that no profile may carry out: an unknown module, a selector that is no name of a test, a skipped test.
    """
    _refuse_form(profile, request)
    manifests = Manifests(root)
    systems = [system for system in (detection or detected(manifests)).systems if system.kind is profile.build_system]
    if not systems:
        return Unavailable(f"no {profile.build_system} project was found, by its manifests", Why.NO_PROJECT)
    place = _place(manifests, systems, request.module)
    desk = _Desk(profile, manifests.root, place, facts_of(manifests, place), reports, advisories)
    command = desk.command(request.tool)
    if isinstance(command, Unavailable):
        return command
    _refuse_module(command, request, place)
    path = search if search is not None else os.environ.get("PATH", os.defpath)
    looking = Search(desk.folder, desk.root, path)
    prepared = _prepared(desk, command, request, looking, manifests)
    if isinstance(prepared, Unavailable) and prepared.kind is Why.NO_PROGRAM:
        parts = (_prepared(desk, part, request, looking, manifests) for part in desk.parts(request.tool))
        part = next((each for each in parts if isinstance(each, Prepared)), None)
        prepared = replace(part, missing=prepared.reason) if part else prepared
    return _with_others(prepared, systems, request) if isinstance(prepared, Prepared) else prepared


@dataclass(frozen=True, slots=True)
class _Desk:
    """All that is known before a program is looked for."""

    profile: Profile
    root: Path
    place: Place
    facts: Facts
    reports: Path
    advisories: Path | None

    @property
    def folder(self) -> Path:
        return self.root / self.place.folder

    def cwd(self, command: Command) -> Path:
        return self.folder if command.runs_in_module else self.root / self.place.system.root

    def command(self, tool: Tool) -> Command | Unavailable:
        """The first command whose conditions hold."""
        commands = self.profile.commands.get(tool, [])
        fitting = (command for command in commands if set(command.when) <= self.facts.traits)
        command = next(fitting, None)
        if command is None:
            return self._none(tool, is_known=bool(commands))
        missing = [name for name in command.needs if not (self.advisories and (self.advisories / name).is_dir())]
        if missing:
            return Unavailable(f"there is no advisory data ({missing[0]}) to compare with", Why.NO_DATA)
        return command

    def parts(self, tool: Tool) -> Iterator[Command]:
        """The commands that do a part of the work, whose conditions hold."""
        commands = self.profile.commands.get(tool, [])
        return (command for command in commands if command.is_part and set(command.when) <= self.facts.traits)

    def _none(self, tool: Tool, *, is_known: bool) -> Unavailable:
        reason = self.profile.unavailable.get(tool, f"the profile {self.profile.id} has no command for {tool}")
        why = next((note for note in self.facts.notes if "calls no runner" in note), "") if tool.runs_tests else ""
        return Unavailable(f"{reason}; {why}" if why else reason, Why.NOT_CONFIGURED if is_known else Why.NO_COMMAND)


def _refuse_form(profile: Profile, request: Request) -> None:
    if request.tool is Tool.FORMAT_APPLY and not profile.policy.allow_source_mutation:
        raise Refused("format_apply_denied", "the profile's policy does not let a formatter change source")
    if request.tool is Tool.SELECTED_TEST and not request.selector:
        raise Refused("selector_missing", f"{Tool.SELECTED_TEST} needs a selector: which test is meant?")
    if request.tool is not Tool.SELECTED_TEST and request.selector is not None:
        raise Refused("selector_not_taken", f"{request.tool} takes no selector; {Tool.SELECTED_TEST} does")


def _refuse_module(command: Command, request: Request, place: Place) -> None:
    if request.module is not None and place.is_module and not (command.runs_in_module or command.module):
        raise Refused("module_not_supported", f"{request.tool} cannot be run for one module here")


def _place(manifests: Manifests, systems: Sequence[BuildSystem], module: str | None) -> Place:
    """Where to run. A module is named by its folder, from its build system's root or from the workspace's."""
    first = systems[0]
    if module is None:
        return Place(first, first.root)
    places = {name: Place(first, join(first.root, name)) for name in first.modules}
    for system in systems:
        places |= {join(system.root, name): Place(system, join(system.root, name)) for name in system.modules}
        places |= {system.root: Place(system, system.root)} if system.root != "." else {}
    place = known_module(module, places)
    if not manifests.is_folder(place.folder):
        raise Refused(ESCAPES, f"the module {module!r} is no folder of the workspace any more")
    return place


def _prepared(
    desk: _Desk, command: Command, request: Request, search: Search, manifests: Manifests
) -> Prepared | Unavailable:
    used = names_of(chain(command.argv, *command.before)) & set(desk.profile.programs)
    in_variables = value_names([*desk.profile.environment.values(), *command.environment.values()])
    names = used | (in_variables & set(desk.profile.programs))
    programs = find_all(desk.profile.programs, sorted(names), search)
    missing = [name for name in sorted(used) if programs[name] is None]
    if missing:
        return Unavailable(_not_found(desk, missing), Why.NO_PROGRAM)
    files = _files(manifests, desk.place.folder, command.files)
    if command.files and not 0 < len(files) <= MOST_FILES:
        return Unavailable(f"it takes 1 to {MOST_FILES} files, and here are {len(files) or 'none'}", Why.NOT_CONFIGURED)
    chosen = _selected(desk, command, request)
    return _filled(_Filling(desk, command, chosen, programs, files), request, search)


def _not_found(desk: _Desk, missing: Sequence[str]) -> str:
    """Which programs are not there, and what brings them where they are the project's own."""
    profile = desk.profile
    names = " and ".join(" or ".join(profile.programs[name]) for name in missing)
    is_own = any(choice.startswith("./") for name in missing for choice in profile.programs[name])
    advice = profile.remedy_in(desk.root, desk.folder) if is_own else None
    remedy = f"; {advice}" if advice else ""
    return f"{names} {'was' if len(missing) == 1 else 'were'} not found{remedy}"


def _selected(desk: _Desk, command: Command, request: Request) -> Selected:
    if command.selector is None or request.selector is None:
        return Selected()
    chosen = selected(command.selector, request.selector, desk.root, desk.cwd(command))
    if chosen.path and not command.path:
        raise Refused("selector_invalid", "here a test is chosen by its name, not by a path")
    if chosen.name and not command.name:
        raise Refused("selector_invalid", "here tests are chosen by their file alone, not by a name")
    return chosen


@dataclass(frozen=True, slots=True)
class _Filling:
    """What goes into one template's holes."""

    desk: _Desk
    command: Command
    chosen: Selected
    programs: Mapping[str, Program | None]
    files: tuple[str, ...]

    def values(self) -> dict[str, str]:
        desk = self.desk
        return {
            **{name: program.path if program else "" for name, program in self.programs.items()},
            **self._choice(),
            Values.REPORTS: str(desk.reports),
            Values.REPORTERS: str(_REPORTERS),
            Values.FOLDER: str(desk.cwd(self.command)),
            Values.SRC: os.pathsep.join(str(desk.folder / root) for root in desk.facts.roots),
            Values.ADVISORIES: str(desk.advisories or ""),
        }

    def shown(self) -> dict[str, str]:
        """The same without paths of this machine."""
        programs = {name: program.shown if program else "" for name, program in self.programs.items()}
        return {**programs, **self._choice(), **{str(name): text for name, text in _SHOWN.items()}}

    def lists(self, values: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
        command, chosen = self.command, self.chosen
        lists: dict[str, tuple[str, ...]] = dict.fromkeys(Lists, ())
        lists |= self.desk.facts.lists
        lists |= dict.fromkeys(_NARROWED_BY_PATH, ()) if chosen.path else {}
        lists[Lists.FILES] = self.files
        has_module = self.desk.place.is_module
        lists[Lists.MODULE] = fill(command.module, values, {}) if has_module else ()
        lists[Lists.WHOLE] = () if has_module else fill(command.whole, values, {})
        by_name = fill(command.name, values, {}) if chosen.name else ()
        lists[Lists.SELECTION] = by_name + (fill(command.path, values, {}) if chosen.path else ())
        return lists

    def _choice(self) -> dict[str, str]:
        folder = PurePosixPath(self.desk.place.folder)
        module = folder.relative_to(self.desk.place.system.root) if self.desk.place.is_module else ""
        return {
            Values.MODULE: str(module),
            Values.PATH: self.chosen.path,
            Values.NAME: self.chosen.name,
            Values.PATTERN: self.chosen.pattern,
        }


def _filled(filling: _Filling, request: Request, search: Search) -> Prepared:
    desk, command = filling.desk, filling.command
    values, shown = filling.values(), filling.shown()
    lists = filling.lists(values)
    argv = fill(command.argv, values, lists)
    environment = _environment(filling, values, request.tool, search)
    before = tuple(fill(each, values, lists) for each in command.before)
    before += desk.facts.before if request.tool.runs_tests else ()
    for each in (*before, argv):
        refuse_skipping(request.tool, each, environment)
    return Prepared(
        argv=argv,
        cwd=desk.cwd(command),
        display=fill(command.argv, shown, filling.lists(shown)),
        parser=command.parser,
        reports=tuple(_report_glob(glob, desk, values) for glob in command.reports),
        seconds=min(command.seconds, desk.profile.max_seconds),
        output_bytes=min(command.output_bytes, desk.profile.output.output_bytes),
        environment=environment,
        network=command.network,
        scope=_scope(request, desk.place),
        notes=(*command.notes, *_notes(filling, request, search)),
        before=before,
        fails_on_output=command.fails_on_output,
        products=desk.facts.products,
        idle=command.idle,
        only_reads=command.only_reads,
        expands=command.expands,
        missing=desk.facts.missing if request.tool.runs_tests else "",
        guess=desk.facts.guess if request.tool.runs_tests else "",
        readable=(_REPORTERS,) if Values.REPORTERS in names_of(command.argv) else (),
    )


def _environment(filling: _Filling, values: Mapping[str, str], tool: Tool, search: Search) -> Mapping[str, str]:
    """PATH, what the project's test script sets, the profile's variables, then the command's. Empty ones go."""
    desk = filling.desk
    path = search.with_own(chain.from_iterable(desk.profile.programs.values()))
    templates = {**desk.profile.environment, **filling.command.environment}
    filled = {name: fill_text(text, values) for name, text in templates.items()}
    own = desk.facts.variables if tool.runs_tests else {}
    return MappingProxyType({name: value for name, value in {"PATH": path, **own, **filled}.items() if value})


def _report_glob(glob: str, desk: _Desk, values: Mapping[str, str]) -> str:
    return fill_text(glob, values) if "{" in glob else join(desk.place.system.root, glob)


def _scope(request: Request, place: Place) -> Scope | None:
    if not request.tool.runs_tests:
        return None
    if request.tool is Tool.SELECTED_TEST:
        return Scope.SELECTED
    return Scope.MODULE if request.module is not None else Scope.FULL


def _notes(filling: _Filling, request: Request, search: Search) -> Iterator[str]:
    if request.tool.runs_tests:
        yield from filling.desk.facts.notes
    for name in filling.programs:
        for choice in search.unusable(filling.desk.profile.programs[name]):
            yield f"{choice} is there, but it may not be executed, so it was not used"


def _with_others(prepared: Prepared, systems: Sequence[BuildSystem], request: Request) -> Prepared:
    """With a note about other projects of the same kind, which this command does not reach."""
    others = [system.root for system in systems[1:]] if request.module is None else []
    if not others:
        return prepared
    text = f"this reaches {systems[0].root} alone; name a module for: {', '.join(others[:10])}"
    return replace(prepared, notes=(*prepared.notes, text))


def _files(manifests: Manifests, folder: str, globs: Sequence[str]) -> tuple[str, ...]:
    """The files below a folder that fit, from that folder on; none begins with a dash."""
    if not globs:
        return ()
    prefix = "" if folder == "." else f"{folder}/"
    endings = [glob.removeprefix("**/") for glob in globs]
    fitting = (path for path in _below(manifests, folder) if _fits(path, endings) and manifests.is_file(path))
    names = (path.removeprefix(prefix) for path in islice(fitting, MOST_FILES + 1))
    return tuple(f"./{name}" if name.startswith("-") else name for name in names)


def _below(manifests: Manifests, folder: str) -> Iterator[str]:
    yield from (join(folder, name) for name in manifests.names(folder))
    for below in manifests.subfolders(folder):
        yield from _below(manifests, below)


def _fits(path: str, endings: Sequence[str]) -> bool:
    return any(fnmatchcase(PurePosixPath(path).name, ending) for ending in endings)
