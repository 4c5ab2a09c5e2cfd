"""Which repairs are made: each is tried in a copy, and kept only where the plan stays what it is. Writes no file."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from agent_fox.core.late import late_module
from agent_fox.core.spec import Severity, Spec, text_version
from agent_fox.core.values import dataclass
from agent_fox.specs.lint.edits import EditRefused, edited, is_inside, mirror
from agent_fox.specs.lint.rules import lint
from agent_fox.specs.lint.values import rules
from agent_fox.specs.lint.world import World
from agent_fox.specs.places import SpecsMissing

if TYPE_CHECKING:
    from agent_fox.core.graph import Plan
    from agent_fox.specs.lint.values import Edit, Finding
    from agent_fox.system import own_folders
else:
    own_folders = late_module("agent_fox.system.own_folders")

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
        return [
            finding
            for finding in lint(self.world, (rule for rule in rules().values() if rule.is_fixable)).findings
            if finding.edits and all(edit.path in self.copied for edit in finding.edits)
        ]

    def round(self) -> bool:
        """Try every repair that is not refused yet. False where there was none."""
        fixes = _apart(f for f in self.fixable() if _subject(f) not in self.passed_over and f.edits not in self.refused)
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
        """Make the repairs; take them all back where the plan would become another."""
        before = self._write([edit for finding in found for edit in finding.edits])
        if before is None:
            return False
        world = self.read()
        self.readings += 1
        if is_harmless(self.world.plan, world.plan):
            self.world = world
            self.made += found
            return True
        for path, content in before.items():
            path.write_bytes(content)
        return False

    def _write(self, edits: Sequence[Edit]) -> dict[Path, bytes] | None:
        """The files as they were; None, and nothing is written, where an edit does not fit."""
        paths = {edit.path: self.root / edit.path for edit in edits}
        try:
            before = {path: path.read_bytes() for path in paths.values()}
            after = {path: edited(before[path], [e for e in edits if e.path == name]) for name, path in paths.items()}
        except (EditRefused, OSError):
            return None
        for path, content in after.items():
            path.write_bytes(content)
        return before


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
        trial.passed_over = frozenset(_subject(finding) for finding in trial.fixable() if not wanted(finding))
        for _ in range(_MOST_ROUNDS):
            if not trial.round():
                break
        now = {name: (copy / name).read_bytes() for name in copied}
    files = {name: (copied[name], content) for name, content in now.items() if content != copied[name]}
    return Repairs(files, tuple(trial.made), tuple(trial.refused.values()))


def _subject(finding: Finding) -> tuple[str, str]:
    return finding.rule, finding.path


def _apart(found: Iterable[Finding]) -> list[Finding]:
    """Findings of which no two change one line."""
    kept: list[Finding] = []
    lines: set[tuple[str, int]] = set()
    for finding in found:
        own = {(edit.path, edit.line) for edit in finding.edits}
        if not own & lines:
            kept.append(finding)
            lines |= own
    return kept


def is_harmless(before: Plan, after: Plan) -> bool:
    """The plan is what it was, without more problems; or it has fewer, and what is to be proven is what it was."""
    was, now = _count(before), _count(after)
    if any(new > old for old, new in zip(was, now, strict=True)):
        return False
    return _meaning(before) == _meaning(after) or (now != was and _to_prove(before) == _to_prove(after))


def _count(plan: Plan) -> tuple[int, ...]:
    return tuple(sum(p.severity is severity for p in plan.problems) for severity in Severity)


def _meaning(plan: Plan) -> Shape:
    return (plan.nodes, plan.edges, *(_without_places(spec) for spec in plan.specs))


def _to_prove(plan: Plan) -> Shape:
    """Ids and texts of everything that is to be proven, and the nodes."""
    parts = [(spec.name, part.id, text_version(part.text)) for spec in plan.specs for part in spec.parts]
    return (*parts, *(node.uid for node in plan.nodes))


def _without_places(spec: Spec) -> Spec:
    """The spec without lines, and without the groups' own text, which holds the marks that are repaired. Rows that say
    the same count once."""
    rows = tuple(dict.fromkeys(replace(row, where="") for row in spec.dependencies))
    groups = tuple(replace(group, text="") for group in spec.groups)
    return replace(spec, places={}, dependencies=rows, groups=groups)
