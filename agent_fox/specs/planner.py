"""Specs become a plan: nodes of each spec in their order, what its dependency rows point at, and the edges within and
between specs, without cycles. And what is left of a plan when broken specs are skipped."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from graphlib import CycleError, TopologicalSorter
from itertools import islice, pairwise
from pathlib import PurePosixPath
from typing import Literal

from agent_fox.core.graph import Edge, EdgeKind, Node, Plan
from agent_fox.core.ids import Archetype, Mode
from agent_fox.core.regex import regex
from agent_fox.core.spec import Dependency, Problem, Severity, Spec, TaskState
from agent_fox.core.values import dataclass
from agent_fox.core.words import nearest
from agent_fox.specs.files import error, warning

_TICKED = (TaskState.DONE, TaskState.SKIPPED)
_NUMBER = regex(r"\d{1,9}(?=[_-]|$)")
_LINE = regex(r":\d+$")
_MOST_NAMES = 500
MOST_REPORTED = 20
_FAULT = "a cycle: {specs}, by the rows {rows}. Take one of them out"
_BETWEEN_SPECS = (
    "a cycle that arises only between whole specs: {specs}, by the rows {rows}. "
    'Set gate = "group" in [policy], or take a row out'
)
_DROPPED = "the verifiers of {specs} would wait for each other (rows {rows}): they do not"

_Edges = Mapping[Edge, tuple[str, ...]]
"""Every edge once, with the rows (file and line) that ask for it."""


@dataclass(frozen=True, slots=True)
class PlanShape:
    """Which reviewers and verifiers a plan has, and how specs wait for each other.

    `final_review`: what is verified is then read by a reviewer who did not build it. `gate`: a dependent spec starts
    when the other is verified, and reviewed where that is asked for (`spec`), or when the declared group is done, its
    own verifier waiting for the other's end (`group`). `overrides` sets `retry_predecessor` for a spec's
    name or a node's id. Without `optional_groups`, optional groups are planned as if they were ticked. `baseline`: what
    only says what is there has a verifier too.
    """

    pre_review: bool = True
    drift_review: bool = False
    audit_review: bool = True
    verifier: bool = True
    final_review: bool = False
    gate: Literal["spec", "group"] = "spec"
    retry_predecessor: bool = True
    overrides: Mapping[str, bool] = field(default_factory=dict)
    optional_groups: bool = True
    baseline: bool = False

    def plans(self, spec: Spec) -> bool:
        return not spec.is_withdrawn and (self.baseline or not spec.is_baseline)


def plan_of(specs: Iterable[Spec], problems: Iterable[Problem] = (), shape: PlanShape | None = None) -> Plan:
    """The plan of specs as they were read. Nothing is raised: what is wrong stands in the plan's problems. Rows about
    broken specs are skipped: another problem reports those."""
    shape = shape or PlanShape()
    all_problems = tuple(problems)
    read = tuple(specs)
    broken = {problem.spec for problem in all_problems if problem.spec and problem.severity is Severity.ERROR}
    resolving = _Resolving(read, frozenset(broken - {spec.name for spec in read}))
    named: list[Spec] = []
    rows: dict[str, tuple[Dependency, ...]] = {}
    for spec in read:
        named.append(resolving.named(spec))
        rows[spec.name] = tuple(row for row in named[-1].dependencies if resolving.holds(row, spec))
    planned = {spec.name: _nodes(spec, shape) for spec in named if shape.plans(spec)}
    kept, cycles = without_cycles(_edges(named, planned, rows, shape), shape.gate)
    nodes = tuple(node for nodes in planned.values() for node in nodes)
    remarks = [problem for spec in named if shape.plans(spec) for problem in _remarks(spec)]
    return Plan(tuple(named), nodes, kept, (*all_problems, *resolving.problems, *remarks, *cycles))


def _nodes(spec: Spec, shape: PlanShape) -> list[Node]:
    """A spec's nodes in plan order: its reviewers, groups and reviewers of tests, the verifier, the final review."""
    before = ((Mode.PRE_REVIEW, shape.pre_review), (Mode.DRIFT_REVIEW, shape.drift_review))
    nodes = [_reviewer(spec, 0, mode) for mode, is_wanted in before if is_wanted and not spec.is_baseline]
    for group in spec.groups:
        # A coder, unless its title names another archetype.
        archetype = next((known for known in Archetype if known == group.archetype), Archetype.CODER)
        uid, name = f"{spec.name}:{archetype}:{group.number}", f"{spec.name}:{group.number}"
        is_ticked = group.state in _TICKED or (group.optional and not shape.optional_groups)
        about = (group.title, is_ticked, group.optional)
        nodes.append(Node(uid, name, spec.name, group.number, archetype, None, *about))
        if shape.audit_review and group.writes_tests_only:
            nodes.append(_reviewer(spec, group.number, Mode.AUDIT_REVIEW))
    if shape.verifier:
        last = max((group.number for group in spec.groups), default=0) + 1
        nodes.append(Node(_closing(spec.name), f"{spec.name}:{last}", spec.name, last, Archetype.VERIFIER))
        if shape.final_review and not spec.is_baseline:
            nodes.append(_reviewer(spec, last, Mode.FINAL_REVIEW))
    usual, named = shape.retry_predecessor, shape.overrides
    wanted = [named.get(node.id, named.get(spec.name, usual)) for node in nodes]
    pairs = zip(nodes, wanted, strict=True)
    return [node if node.retry_predecessor is each else replace(node, retry_predecessor=each) for node, each in pairs]


def _closing(spec_name: str) -> str:
    return f"{spec_name}:{Archetype.VERIFIER}"


def _reviewer(spec: Spec, group: int, mode: Mode) -> Node:
    name = f"{spec.name}:{group}:{Archetype.REVIEWER}:{mode}"
    uid = f"{spec.name}:{Archetype.REVIEWER}:{mode}" + (f":{group}" if mode is Mode.AUDIT_REVIEW else "")
    return Node(uid, name, spec.name, group, Archetype.REVIEWER, mode)


def _edges(
    specs: Iterable[Spec], planned: Mapping[str, list[Node]], rows: Mapping[str, Iterable[Dependency]], shape: PlanShape
) -> _Edges:
    edges: dict[Edge, tuple[str, ...]] = {}
    for spec in specs:
        nodes = planned.get(spec.name, [])
        for before, after in pairwise(nodes):
            # A final review waits for a verdict, and never begins where there is none.
            kind = EdgeKind.GATE if after.mode is Mode.FINAL_REVIEW else EdgeKind.CHAIN
            edges[Edge(before.id, after.id, kind)] = ()
        for row in rows[spec.name]:
            for edge in _between(planned.get(row.spec, []), nodes, row, shape):
                edges[edge] = tuple(dict.fromkeys((*edges.get(edge, ()), row.where)))
    return edges


def _between(before: list[Node], after: list[Node], row: Dependency, shape: PlanShape) -> Iterator[Edge]:
    """The edges of one row: from group to group, and the gate between the specs. Without a number the last group of the
    one, the first of the other is meant."""
    if not before or not after:
        return
    sources, targets = _group_nodes(before, row.from_group), _group_nodes(after, row.to_group)
    if sources and targets:
        yield Edge(sources[-1].id, targets[0].id, EdgeKind.DEPENDENCY)
    kind = EdgeKind.GATE if shape.verifier else EdgeKind.DEPENDENCY
    # Who must not speak before the specs it depends on are done: the verifier, where there is one.
    judge = next((node for node in after if node.uid == _closing(node.spec_name)), after[-1])
    yield Edge(before[-1].id, (after[0] if shape.gate == "spec" else judge).id, kind)


def _group_nodes(nodes: list[Node], group: int | None) -> list[Node]:
    own = (node for node in nodes if node.id == f"{node.spec_name}:{node.group}" and group in (None, node.group))
    return [node for node in own if node.uid != _closing(node.spec_name)]


def _remarks(spec: Spec) -> Iterator[Problem]:
    """What a plan can't do anything about, but a person should know."""
    if not spec.expected:
        what = f"{spec.name} has no requirements: nothing to prove. Write down what must hold"
        yield warning(spec.path, what, spec=spec.name)
    if not spec.groups and not spec.is_baseline:
        yield warning(spec.path, f"{spec.name} has no task groups: nobody would build it", spec=spec.name)
    for group in spec.groups:
        if group.archetype is not None and group.archetype not in list(Archetype):
            what = f"group {group.number} asks for archetype {group.archetype!r}; known: {', '.join(Archetype)}"
            yield warning(spec.path, what, spec=spec.name)


class _Resolving:
    """Knows every spec by its name, by its number, and by its name without the number; collects the problems."""

    def __init__(self, specs: tuple[Spec, ...], broken: frozenset[str]) -> None:
        self.broken = broken
        self.problems: list[Problem] = []
        self.by_name = {spec.name: spec for spec in specs}
        self.by_number: dict[int, list[str]] = {}
        self.by_title: dict[str, list[str]] = {}
        for name in (*self.by_name, *broken):
            if (number := _number(name)) is not None:
                self.by_number.setdefault(number, []).append(name)
        for name in (name for names in self.by_number.values() for name in names):
            title = _NUMBER.sub("", name, count=1)[1:].replace("-", "_").casefold()
            self.by_title.setdefault(title, []).append(name)

    def named(self, spec: Spec) -> Spec:
        """The spec with rows that name folders, each once."""
        rows = () if spec.is_withdrawn else spec.dependencies
        named = tuple(dict.fromkeys(self._named(row, spec) for row in rows))
        return spec if named == rows else replace(spec, dependencies=named)

    def _refuse(self, row: Dependency, spec: Spec, what: str) -> None:
        self.problems.append(error(row.where or spec.path, what, spec=spec.name))

    def _named(self, row: Dependency, spec: Spec) -> Dependency:
        """The row with the folder's name in place of a number, or of the name without it: `05_git_server` is called
        `git_server`, too, where no other is."""
        if row.spec in self.by_name:
            return row
        if not row.spec.isdecimal():
            meant = self.by_title.get(row.spec.replace("-", "_").casefold(), [])
        else:
            meant = self.by_number.get(int(row.spec), [])
            if len(meant) > 1:
                names = " and ".join(meant)
                self._refuse(row, spec, f"{row.spec} is ambiguous: {names} have that number. Write the folder's name")
        return replace(row, spec=meant[0]) if len(meant) == 1 else row

    def holds(self, row: Dependency, spec: Spec) -> bool:
        """Whether the row makes an edge. One that points nowhere is an error, unless what it names is done."""
        other = self.by_name.get(row.spec)
        if spec.is_withdrawn or row.spec in self.broken or (other is not None and other.is_withdrawn):
            return False
        is_ambiguous = row.spec.isdecimal() and len(self.by_number.get(int(row.spec), ())) > 1
        wrong = None if is_ambiguous else self._wrong(row, spec, other)
        if wrong is not None:
            self._refuse(row, spec, wrong)
        return wrong is None and not is_ambiguous and other is not None

    def _wrong(self, row: Dependency, spec: Spec, other: Spec | None) -> str | None:
        if other is None:
            # one of the same number may be meant, else the most alike, where that is not too long a search
            number = _number(row.spec)
            near = next(iter(self.by_number.get(-1 if number is None else number, ())), "")
            if not near and len(self.by_name) <= _MOST_NAMES:
                near = nearest(row.spec, self.by_name) or ""
            hint = f"Did you mean {near}?" if near else "Add it, or correct the row"
            return None if row.is_archived else f"depends on {row.spec}, which is not there. {hint}"
        if other.name == spec.name:
            return f"{spec.name} depends on itself; take the row out"
        for named, group in ((other, row.from_group), (spec, row.to_group)):
            if group is not None and group not in [g.number for g in named.groups]:
                numbers = ", ".join(str(group.number) for group in named.groups)
                has = f"groups {numbers}" if numbers else "no groups"
                return f"names group {group} of {named.name}, which has {has}. Correct the row"
        return None


def _number(name: str) -> int | None:
    match = _NUMBER.match(name)
    return int(match[0]) if match else None


def without_cycles(edges: _Edges, gate: Literal["spec", "group"]) -> tuple[tuple[Edge, ...], tuple[Problem, ...]]:
    """All edges, and an error for every cycle found among them, named by specs and rows.

    With gates between whole specs, a cycle that the rows alone do not make says so. With gates between
    verifiers, such a cycle is no fault of the rows: its gates are left out, with a warning.
    """
    if not _first_cycle(edges):
        return tuple(edges), ()
    plain = {edge for edge in edges if edge.kind is not EdgeKind.GATE}
    faults = [*islice(_cycles(plain, edges, error, _FAULT), MOST_REPORTED)]
    left = set(edges)
    if faults or len(left) == len(plain):
        return tuple(edges), tuple(faults)
    if gate == "spec":
        return tuple(edges), tuple(_cycles(left, edges, error, _BETWEEN_SPECS))
    dropped = tuple(_cycles(left, edges, warning, _DROPPED))
    return tuple(edge for edge in edges if edge in left), dropped


def _cycles(left: set[Edge], rows: _Edges, make: Callable[[str, str], Problem], what: str) -> Iterator[Problem]:
    """One cycle after the other. What makes it is taken out of `left` before the next is sought.

    That is every gate between its specs, or its own edges where it has no gate. Chain edges are no row's fault.
    """
    while path := _first_cycle(left):
        steps = set(pairwise(path))
        on_it = [edge for edge in left if (edge.source, edge.target) in steps]
        places = {name: place for place, name in enumerate(path[:-1])}
        between = sorted((e for e in on_it if e.kind is not EdgeKind.CHAIN), key=lambda e: places[e.source])
        names = [_spec(edge.source) for edge in between]
        gates = {e for e in left if e.kind is EdgeKind.GATE and {_spec(e.source), _spec(e.target)} <= {*names}}
        left -= gates or set(between or on_it)
        asked = list(dict.fromkeys(row for edge in between for row in rows[edge]))
        first = names[0] if names else ""
        specs = " → ".join((*dict.fromkeys(names), first))
        problem = make(asked[0] if asked else specs, what.format(specs=specs, rows=", ".join(asked)))
        yield replace(problem, spec=first)


def _first_cycle(edges: Iterable[Edge]) -> Sequence[str]:
    """The nodes of a cycle in the order of its edges, the first again at the end; empty without one."""
    sorter: TopologicalSorter[str] = TopologicalSorter()
    for edge in sorted(edges, key=lambda e: (e.source, e.target)):
        sorter.add(edge.target, edge.source)
    try:
        sorter.prepare()
    except CycleError as cycle:
        return list(cycle.args[1])
    return []


def _spec(node_id: str) -> str:
    return node_id.partition(":")[0]


@dataclass(frozen=True, slots=True)
class Skipped:
    """The specs that can be planned, and for every other one why it is left out: it counts as not proven.

    `places` says where those that are left out lie, also one that could not be read at all.
    """

    kept: tuple[Spec, ...]
    reasons: dict[str, str]
    places: dict[str, str]


def without_broken(plan: Plan) -> Skipped:
    """Leave out every spec with an error, and whatever depends on one: it could never start."""
    reasons: dict[str, str] = {}
    places: dict[str, str] = {}
    for problem in plan.problems:
        if problem.severity is Severity.ERROR and problem.spec:
            reasons.setdefault(problem.spec, f"{problem.where}: {problem.what}")
            places.setdefault(problem.spec, _place(problem.where, problem.spec))
    rows = [(spec.name, row.spec) for spec in plan.specs if not spec.is_withdrawn for row in spec.dependencies]
    while held := next((each for each in rows if each[0] not in reasons and each[1] in reasons), None):
        reasons[held[0]] = f"depends on {held[1]}, which is left out"
    places |= {spec.name: spec.path for spec in plan.specs if spec.name in reasons}
    return Skipped(tuple(spec for spec in plan.specs if spec.name not in reasons), reasons, places)


def _place(where: str, name: str) -> str:
    """Where a spec lies of which only a trouble is known: the folder or file called as it is, else the file."""
    file = PurePosixPath(_LINE.sub("", where))
    called = (path for path in (*reversed(file.parents), file) if name in (path.name, path.stem))
    return next(called, file).as_posix()
