"""Which repairs are made: each is tried in a copy of the places of specs, and kept only where the plan stays as it is.
And edits put into a file's bytes: line ends, a mark in front and everything else stay. Repaired files are put in their
places whole or not at all, and never over what someone else wrote meanwhile."""

from __future__ import annotations

import difflib
import os
import stat
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import field, replace
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING

from agent_fox.core.late import late_module
from agent_fox.core.regex import regex
from agent_fox.core.spec import Severity, text_version
from agent_fox.core.values import dataclass
from agent_fox.specs.files import MAX_FILE_BYTES
from agent_fox.specs.lint.rules import lint
from agent_fox.specs.lint.values import rules
from agent_fox.specs.lint.world import World
from agent_fox.specs.places import SpecsMissing

if TYPE_CHECKING:
    from agent_fox.core.graph import Plan
    from agent_fox.specs.lint.values import Edit, Finding
    from agent_fox.system import files, own_folders
else:
    files = late_module("agent_fox.system.files")
    own_folders = late_module("agent_fox.system.own_folders")

_NO_SPECS = frozenset({"node_modules", "__pycache__"})
_BOM = "\ufeff"
_END = regex(r"(\r\n|\r|\n)")
_MOST_ROUNDS = 6
"""A line may need one repair after the other; each round repairs every line at most once."""
_MOST_READINGS = 100
"""Each trial reads all specs. What is not tried by then is left as it is."""

Shape = tuple[object, ...]
Read = Callable[[Path, Sequence[Path]], World]


@dataclass(frozen=True, slots=True)
class Repairs:
    """What is to be written, by path: bytes before and after. `made` were tried, `refused` would change the plan."""

    files: dict[str, tuple[bytes, bytes]] = field(default_factory=dict)
    made: tuple[Finding, ...] = ()
    refused: tuple[Finding, ...] = ()


@dataclass(slots=True)
class _Trial:
    """A copy in which repairs are tried, with the plan that it has now. Only what was copied is ever written."""

    root: Path
    copied: Collection[str]
    read: Callable[[], World]
    world: World
    passed_over: frozenset[tuple[str, str]] = frozenset()
    made: list[Finding] = field(default_factory=list)
    refused: dict[tuple[Edit, ...], Finding] = field(default_factory=dict)
    readings: int = 0

    def fixable(self) -> list[Finding]:
        findings = lint(self.world, (rule for rule in rules().values() if rule.is_fixable)).findings
        return [each for each in findings if each.edits and all(edit.path in self.copied for edit in each.edits)]

    def round(self) -> bool:
        """Try every repair that is not refused yet, of those of one line the first. False where there was none."""
        fixes: list[Finding] = []
        lines: set[tuple[str, int]] = set()
        for finding in self.fixable():
            own = {(edit.path, edit.line) for edit in finding.edits}
            is_open = (finding.rule, finding.path) not in self.passed_over and finding.edits not in self.refused
            if is_open and not own & lines:
                fixes.append(finding)
                lines |= own
        self._settle(fixes)
        return bool(fixes)

    def _settle(self, found: Sequence[Finding]) -> None:
        """Make the repairs together; where the plan would become another, the halves, down to those that do it."""
        if not found or self.readings >= _MOST_READINGS or self._made(found):
            return
        if len(found) == 1:
            self.refused[found[0].edits] = found[0]
            return
        middle = len(found) // 2
        self._settle(found[:middle])
        self._settle(found[middle:])

    def _made(self, found: Sequence[Finding]) -> bool:
        """Make the repairs; take all back where the plan would become another, make none where one does not fit."""
        edits = [edit for finding in found for edit in finding.edits]
        paths = {edit.path: self.root / edit.path for edit in edits}
        try:
            before = {name: path.read_bytes() for name, path in paths.items()}
            after = {name: edited(before[name], [each for each in edits if each.path == name]) for name in paths}
        except (EditRefused, OSError):
            return False
        for name, content in after.items():
            paths[name].write_bytes(content)
        world = self.read()
        self.readings += 1
        if is_harmless(self.world.plan, world.plan):
            self.world = world
            self.made += found
            return True
        for name, content in before.items():
            paths[name].write_bytes(content)
        return False


def repairs(root: Path, places: Iterable[Path], read: Read, wanted: Callable[[Finding], bool]) -> Repairs:
    """Try all repairs of the wanted findings, and of what these leave behind, in a copy of the places; `read` gives the
    world below a root, of such places. What lies outside of `root` is read where it is, and never repaired."""
    with own_folders.own_folder("lint") as folder:
        copy = folder.resolve()
        there = tuple(places)
        copied = mirror(root, there, copy)
        here = [copy / place.relative_to(root) if is_inside(place, root) else place for place in there]
        here = [place for place in here if place.exists()]
        try:
            trial = _Trial(copy, copied, lambda: read(copy, here), read(copy, here))
        except SpecsMissing:
            return Repairs()
        trial.passed_over = frozenset((each.rule, each.path) for each in trial.fixable() if not wanted(each))
        for _ in range(_MOST_ROUNDS):
            if not trial.round():
                break
        now = {name: (copy / name).read_bytes() for name in copied}
    files = {name: (copied[name], content) for name, content in now.items() if content != copied[name]}
    return Repairs(files, tuple(trial.made), tuple(trial.refused.values()))


def is_harmless(before: Plan, after: Plan) -> bool:
    """The plan is what it was, without more problems; or it has fewer, and what is to be proven is what it was."""
    was, now = (tuple(sum(p.severity is each for p in plan.problems) for each in Severity) for plan in (before, after))
    if any(new > old for old, new in zip(was, now, strict=True)):
        return False
    return _meaning(before) == _meaning(after) or (now != was and _to_prove(before) == _to_prove(after))


def _meaning(plan: Plan) -> Shape:
    """The plan without lines, and without the groups' own text, which holds the marks that are repaired. Rows that say
    the same count once."""
    specs = []
    for spec in plan.specs:
        rows = tuple(dict.fromkeys(replace(row, where="") for row in spec.dependencies))
        groups = tuple(replace(group, text="") for group in spec.groups)
        specs.append(replace(spec, places={}, dependencies=rows, groups=groups))
    return plan.nodes, plan.edges, *specs


def _to_prove(plan: Plan) -> Shape:
    """Ids and texts of everything that is to be proven, and the nodes."""
    parts = [(spec.name, part.id, text_version(part.text)) for spec in plan.specs for part in spec.parts]
    return (*parts, *(node.uid for node in plan.nodes))


def mirror(root: Path, places: Iterable[Path], copy: Path) -> dict[str, bytes]:
    """Copy the files of the places below `copy`; what was copied, by path relative to the root.

    What can't be read, is too large, or is reached by a link that leads outside of the repository is left out.
    """
    real = root.resolve()
    copied: dict[str, bytes] = {}
    for path in _files([place for place in places if is_inside(place, root)], real):
        name = path.relative_to(root).as_posix()
        with suppress(OSError, RuntimeError):
            there = path.resolve(strict=True)
            is_ours = name not in copied and there.is_relative_to(real) and there.is_file()
            if is_ours and there.stat().st_size <= MAX_FILE_BYTES:
                copied[name] = there.read_bytes()
    for name, content in copied.items():
        (copy / name).parent.mkdir(parents=True, exist_ok=True)
        (copy / name).write_bytes(content)
    return copied


def is_inside(place: Path, root: Path) -> bool:
    """Whether a place is named as one below the root; where links lead is not asked."""
    return place.is_relative_to(root) and ".." not in place.parts


def _files(places: list[Path], root: Path) -> Iterator[Path]:
    """Every file below the places, through links to other folders of the repository too: each folder once."""
    read = [Path(os.path.realpath(place)) for place in places]
    seen = set(read)

    def is_read(folder: Path) -> bool:
        """Not where a link leads outside, or to what is read under its own name."""
        real = Path(os.path.realpath(folder))
        is_again = folder.is_symlink() and any(real.is_relative_to(at) or at.is_relative_to(real) for at in read)
        may_hold_specs = not folder.name.startswith(".") and folder.name not in _NO_SPECS
        if not may_hold_specs or is_again or not real.is_relative_to(root) or real in seen:
            return False
        seen.add(real)
        return True

    for place in places:
        if place.is_file():
            yield place
        for folder, folders, names in os.walk(place, followlinks=True):
            folders[:] = [name for name in sorted(folders) if is_read(Path(folder, name))]
            yield from (Path(folder, name) for name in sorted(names))


class EditRefused(ValueError):
    """A file is not as the edit has it. The message says which, and what to do."""


def edited(content: bytes, edits: Iterable[Edit]) -> bytes:
    """The bytes with each line changed that an edit names. Raises EditRefused where one is not as it was read."""
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as wrong:
        where = next((edit.path for edit in edits), "a file")
        raise EditRefused(f"{where} is not UTF-8; save the file as UTF-8") from wrong
    mark = _BOM if text.startswith(_BOM) else ""
    lines = _END.split(text.removeprefix(_BOM))  # each line with its end behind it; the last has none
    usual = lines[1] if len(lines) > 1 else "\n"
    for edit in edits:
        place = 2 * (edit.line - 1)
        if not 0 <= place < len(lines) or lines[place] != edit.old:
            raise EditRefused(f"{edit.path}:{edit.line} is not as it was read; run the command again")
        lines[place] = (edit.new or "").replace("\n", usual)
        if edit.new is None and place + 1 < len(lines):
            lines[place + 1] = ""
    return (mark + "".join(lines)).encode("utf-8")


def difference(path: str, before: bytes, after: bytes) -> str:
    """What would change, as a unified diff that `git apply` and `patch -p1` take."""
    old, new = (list(StringIO(content.decode("utf-8"))) for content in (before, after))
    name = f"{path}\t" if " " in path else path  # patch takes the name to end at a space otherwise
    lines = difflib.unified_diff(old, new, f"a/{name}", f"b/{name}")
    return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)


def write_repaired(root: Path, path: str, before: bytes, after: bytes) -> None:
    """Put `after` in the place of `before`, with the file's own mode and owner. A link inside the repository is kept,
    and its target is written; one that leads outside is never followed. Raises EditRefused where that can't be done."""
    try:
        target = (root / path).resolve(strict=True)
    except (OSError, RuntimeError) as refused:
        raise EditRefused(f"{path} is not there any more; run the command again") from refused
    if not target.is_relative_to(root.resolve()):
        raise EditRefused(f"{path} leads outside of the repository, and is left as it is; repair it there")
    if not os.access(target, os.W_OK):
        raise EditRefused(f"{path} can't be written; check its permissions")
    try:
        was = target.stat()
        with files.replacing(target, stat.S_IMODE(was.st_mode)) as file:
            file.write(after)
            with suppress(PermissionError):  # only the superuser gives files away, and repairs other people's too
                os.chown(file.fileno(), was.st_uid, was.st_gid)
            if target.read_bytes() != before:
                raise EditRefused(f"{path} was changed meanwhile, and is left as it is; run the command again")
    except OSError as refused:
        raise EditRefused(f"{path} can't be written ({refused.strerror}); check its permissions") from refused
