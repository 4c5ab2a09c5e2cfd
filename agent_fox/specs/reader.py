"""Places of specs, read: finds the specs in them, asks the dialects, and says what a spec must hold before nodes and
verdicts are named by it; one bad spec never hides another."""

from __future__ import annotations

import gc
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from agent_fox.core.late import Late
from agent_fox.core.regex import regex
from agent_fox.core.spec import BareCriteria, Severity
from agent_fox.core.values import dataclass
from agent_fox.specs.accounts.account import with_leftovers
from agent_fox.specs.detection import AGENT_FOX, KIRO, NUMBERED, OPENSPEC, SPEC_KIT, claims
from agent_fox.specs.dialects import Collection, Dialect
from agent_fox.specs.document import about, forget_documents
from agent_fox.specs.files import children, error, place_of, warning
from agent_fox.specs.places import SPEC_FILES, SpecsMissing
from agent_fox.specs.plain.dialect import PlainDialect
from agent_fox.specs.unread import without_groups

if TYPE_CHECKING:
    from agent_fox.core.spec import Problem, Spec


@dataclass(frozen=True, slots=True)
class LateDialect:
    """A built-in dialect, whose folders `detection` tells by its table. The function in `place` reads one, gives the
    spec, if any, and what is wrong with it, and is loaded when it is first needed.

    `bare` says what becomes of criteria without an id beside others that have one; None where it has none such.
    """

    name: str
    place: Late[Callable[..., tuple[Spec | None, Sequence[Problem]]]]
    bare: BareCriteria | None = None

    def recognises(self, folder: Path) -> bool:
        return self.name in claims(folder)

    def read(self, folder: Path, root: Path) -> tuple[Spec | None, tuple[Problem, ...]]:
        """Where a document with requirements or tasks is there and can't be read, there is no spec."""
        read = self.place.load()
        spec, problems = read(folder, root) if self.bare is None else read(folder, root, self.bare)
        return spec, about(spec.name if spec else folder.name, problems)


BUILT_IN: tuple[Dialect, ...] = (
    LateDialect(AGENT_FOX, Late("agent_fox.specs.agent_fox.dialect:read_agent_fox"), BareCriteria.DETAIL),
    LateDialect(KIRO, Late("agent_fox.specs.kiro.dialect:read_kiro")),
    LateDialect(SPEC_KIT, Late("agent_fox.specs.spec_kit.dialect:read_spec_kit"), BareCriteria.DETAIL),
    LateDialect(OPENSPEC, Late("agent_fox.specs.openspec.dialect:read_openspec")),
    PlainDialect(),
)

_ARCHIVE = "archive"
_NOT_SPECS = frozenset({_ARCHIVE, "checklists", "node_modules", "__pycache__"})
_EXPECTED = (
    "expected folders such as 01_name with a tasks.md (docs/dialects.md lists all forms). "
    "Start one with `agent-fox init --spec`"
)
_DEEPEST = 3
_KEEP_NOTHING_ELSE = (".agent-fox/specs/", ".kiro/specs/", "openspec/changes/")
_LONGEST_NAME = 160
"""Bytes: log files are called by node ids, and a file's name ends at 255."""
_GREATEST_NUMBER = 999_999_999
# A colon divides the parts of a node's id; the others are read as lines of a commit message, or steer a terminal.
_NOT_IN_A_NAME = regex("[:/\x00-\x1f\x7f-\x9f\u200b\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff]")


@dataclass(slots=True)
class _Found:
    """What was read so far, over all places."""

    places: tuple[Path, ...]
    specs: list[Spec] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    accounted: list[tuple[str, int, Problem]] = field(default_factory=list)
    is_any: bool = False

    def add(self, specs: Sequence[Spec], problems: Sequence[Problem], root: Path) -> None:
        """Take in what was read at once, with what its documents say beside it while they are at hand."""
        numbers, boxes = [*unsound(specs, problems)], [*without_groups(specs, root)]
        raised, left = with_leftovers(specs, (*problems, *numbers, *boxes), root)
        forget_documents()
        self.specs += specs
        self.problems += raised[: len(problems)]
        ends = len(problems) + len(numbers)
        paths = {spec.name: spec.path for spec in specs}
        for rank, part in enumerate((raised[len(problems) : ends], raised[ends:], left)):
            self.accounted += [(paths.get(problem.spec or "", ""), rank, problem) for problem in part]


def read_specs(
    places: Path | Sequence[Path],
    root: Path,
    dialects: Sequence[Dialect] = BUILT_IN,
    bare: BareCriteria = BareCriteria.DETAIL,
) -> tuple[tuple[Spec, ...], tuple[Problem, ...]]:
    """Every spec in the places, each place by number and then by name, and everything that is wrong with any of them.

    A place is a folder of specs, one spec's folder, or a file. `bare` says what becomes of criteria without an id
    beside others that have one. Raises SpecsMissing where none holds any spec, or one is
    absent or unreadable.
    """
    given = [places] if isinstance(places, Path) else list(places)
    reading = _Found(tuple(place.resolve() for place in given))
    dialects = [replace(each, bare=bare) if isinstance(each, LateDialect) and each.bare else each for each in dialects]
    with _without_collections():
        for place in given:
            _read_place(place, root, dialects, reading)
    if not reading.is_any:
        where = ", ".join(place_of(place, root) for place in given)
        document = next((place for place in given if place.is_file() and _claiming(place.parent, dialects)), None)
        # Whoever names one document means the spec that it belongs to.
        folder = document.parent if document else None
        instead = f"it is one document of {folder.name}. Name its folder: {folder}" if folder else _EXPECTED
        raise SpecsMissing(f"no spec in {where}: {instead}")
    named, odd = soundly_named(reading.specs)
    specs, doubled = _with_names_of_their_own(named)
    paths = {spec.path for spec in specs}  # what was found beside all that was read, one kind after the other
    beside = [problem for path, _, problem in sorted(reading.accounted, key=lambda each: each[1]) if path in paths]
    return specs, (*reading.problems, *odd, *doubled, *beside)


@contextmanager
def _without_collections() -> Iterator[None]:
    """Reading makes millions of small values and no circles: looking for some takes a tenth of the time. What was made
    counts as old at the end (`freeze`, `unfreeze`), so that the next small collection does not look at all of it."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            if not gc.get_freeze_count():
                gc.freeze()
                gc.unfreeze()
            gc.enable()


def _read_place(place: Path, root: Path, dialects: Sequence[Dialect], found: _Found) -> None:
    if not place.exists():
        raise SpecsMissing(f"no specs in {place}: it is not there. Name the folder with --specs DIR")
    before = len(found.specs)
    is_one = bool(_claiming(place, dialects))
    paths = _candidates(place, is_place=True) if place.is_dir() else []
    if is_one and not any(_claiming(path, dialects) for path in paths):
        _read_one(place, root, dialects, found)
    else:
        _read_all(paths, root, dialects, found, 1)
    # Rows that name a spec in `archive/`, by its name or its number, are about something that is done.
    archived = [path.name for path in children(place / _ARCHIVE)]
    done = {*archived, *(str(int(name.partition("_")[0])) for name in archived if NUMBERED.fullmatch(name))}
    for number, spec in enumerate(found.specs[before:] if done else (), before):
        named = [{row.spec, str(int(row.spec)) if row.spec.isdecimal() else ""} for row in spec.dependencies]
        rows = zip(spec.dependencies, named, strict=True)
        dependencies = tuple(row if done.isdisjoint(names) else replace(row, is_archived=True) for row, names in rows)
        found.specs[number] = replace(spec, dependencies=dependencies)


def _read_all(paths: Iterable[Path], root: Path, dialects: Sequence[Dialect], found: _Found, depth: int) -> None:
    """The specs among paths, and in folders that only group them. A link into a place that is read, or to a folder
    above one, is passed over."""
    for path in paths:
        real = Path(os.path.realpath(path)) if path.is_symlink() else None
        if real is not None and any(real.is_relative_to(at) or at.is_relative_to(real) for at in found.places):
            what = "is a link to what is read under its own name: passed over. Take the link away"
            found.problems.append(warning(place_of(path, root), what, spec=path.name))
            continue
        if _read_one(path, root, dialects, found) or not path.is_dir():
            continue
        if depth < _DEEPEST and os.access(path, os.R_OK | os.X_OK):
            before = len(found.specs) + len(found.problems)
            _read_all(_candidates(path, is_place=False), root, dialects, found, depth + 1)
            if depth > 1 or before < len(found.specs) + len(found.problems) or NUMBERED.fullmatch(path.name):
                continue
            documents, where = sorted(path.glob("*.md")), place_of(path, root)
            if documents and where.startswith(_KEEP_NOTHING_ELSE) and not path.name.startswith("_"):
                what = f"holds {documents[0].name}, but neither requirements nor tasks that are read: not planned"
                remedy = "(docs/dialects.md). Write them, or move the folder away"
                found.problems.append(warning(where, f"{what} {remedy}", spec=path.name))


def _candidates(folder: Path, *, is_place: bool) -> list[Path]:
    try:
        paths = [path for path in folder.iterdir() if not path.name.startswith(".") and path.name not in _NOT_SPECS]
    except OSError as refused:
        if not is_place:
            return []
        raise SpecsMissing(f"no specs in {folder}: {refused.strerror}. Name the folder with --specs DIR") from refused
    return sorted((path for path in paths if path.suffix in SPEC_FILES or path.is_dir()), key=_rank)


def _rank(path: Path) -> tuple[bool, int, str]:
    """By number; those without one come last, by name."""
    numbered = NUMBERED.fullmatch(path.name.replace("-", "_", 1))
    return (not numbered, int(numbered[1]) if numbered else 0, path.name)


def _read_one(path: Path, root: Path, dialects: Sequence[Dialect], found: _Found) -> bool:
    """Read what may be a spec; False where it is not."""
    claiming = _claiming(path, dialects)
    if not claiming and path.is_dir():  # one that looks like a spec but holds none is worth a word
        if not os.access(path, os.R_OK | os.X_OK):
            what = "this folder can't be read; check its permissions"
            found.problems.append(error(place_of(path, root), what, spec=path.name))
        elif NUMBERED.fullmatch(path.name):
            what = "has neither requirements nor tasks: not planned. Write tasks.md, or move the folder away"
            found.problems.append(warning(place_of(path, root), what, spec=path.name))
    if not claiming:
        return False
    found.is_any = True
    dialect = claiming[0]
    if len(claiming) > 1 and isinstance(dialect, LateDialect | PlainDialect):
        names = " and ".join(dialect.name for dialect in claiming)
        what = f"holds documents of {names}: which of them count can't be told. Give each dialect a folder of its own"
        found.problems.append(error(place_of(path, root), what, spec=path.name))
    elif not isinstance(dialect, LateDialect) and isinstance(dialect, Collection):
        found.add(*dialect.read_all(path, root), root)
    else:
        spec, problems = dialect.read(path, root)
        found.add([spec] if spec is not None else [], problems, root)
    return True


def _claiming(path: Path, dialects: Sequence[Dialect]) -> list[Dialect]:
    """The dialects that say it is theirs: a file may be of one that keeps specs in files, a folder of any. What the
    table says of the built-in ones is asked once."""
    table = claims(path)
    is_file = path.suffix in SPEC_FILES and not path.is_dir()
    return [
        dialect
        for dialect in dialects
        if (dialect.name in table and not is_file if isinstance(dialect, LateDialect) else dialect.recognises(path))
        and (not is_file or isinstance(dialect, Collection))
    ]


def _with_names_of_their_own(specs: Iterable[Spec]) -> tuple[tuple[Spec, ...], list[Problem]]:
    """A spec's name is its folder's, and nodes are named by it: of two, the second can't be planned. What only says
    what is there gives way to a change of the same name."""
    kept: dict[str, Spec] = {}
    problems: list[Problem] = []
    for spec in sorted(specs, key=lambda spec: spec.is_baseline):
        named = replace(spec, name=f"specs.{spec.name}") if spec.is_baseline and spec.name in kept else spec
        if named.name in kept:
            what = f"{kept[named.name].path} is called {named.name} too: nodes can't be told apart. Rename one of them"
            if any(path.endswith(".md") for path in (named.path, kept[named.name].path)):
                what += "; a plan that was printed as Markdown is kept elsewhere"
            problems.append(error(named.path, what, spec=named.name))
        kept.setdefault(named.name, named)
    return tuple(kept.values()), problems


def soundly_named(specs: Iterable[Spec]) -> tuple[tuple[Spec, ...], tuple[Problem, ...]]:
    """The specs by whose names nodes can be called, and what is wrong with the other names."""
    kept: list[Spec] = []
    problems: list[Problem] = []
    for spec in specs:
        name = spec.name
        if not name.strip() or name in (".", ".."):
            what = f"{name!r} is no name for a spec"
        elif _NOT_IN_A_NAME.search(name):
            what = f"{name[:_LONGEST_NAME]!r} can't name a spec: a colon, a slash or a control character is in it"
        elif (size := len(name.encode("utf-8"))) > _LONGEST_NAME:
            what = f"a spec's name has at most {_LONGEST_NAME} bytes, this one has {size}"
        else:
            kept.append(spec)
            continue
        shown = _NOT_IN_A_NAME.sub("-", name)[:_LONGEST_NAME].strip(". ") or "-"
        problems.append(error(spec.path, f"{what}. Rename it", spec=shown))
    return tuple(kept), tuple(problems)


def unsound(specs: Iterable[Spec], known: Iterable[Problem]) -> Iterator[Problem]:
    """Why nothing can be planned by the numbers of a spec; `known` problems report doubled ones already. Of two parts
    with one id only one would be proven. A requirement may be called as its one part is."""
    reported = {problem.spec for problem in known if problem.severity is Severity.ERROR and " twice" in problem.what}
    for spec in specs:
        ids: Counter[str] = Counter()
        for each in spec.requirements:
            parts = [part.id for part in (*each.criteria, *each.edge_cases)]
            ids.update(parts if parts == [each.id] else (each.id, *parts))
        numbers = Counter(group.number for group in spec.groups)
        for name in (name for name, times in ids.items() if times > 1 and spec.name not in reported):
            what = f"{name} is declared twice: a verdict on it would say nothing. Give one of them another id"
            yield error(spec.place(name), what, spec=spec.name)
        for number in (number for number, times in numbers.items() if times > 1 and spec.name not in reported):
            what = f"group {number} stands twice. Give one of them another number"
            yield error(spec.place(f"group {number}"), what, spec=spec.name)
        for group in spec.groups:
            if not 0 <= group.number <= _GREATEST_NUMBER:
                what = "a group can't have this number. Number groups from 1 on"
                yield error(spec.place(f"group {group.number}"), what, spec=spec.name)
