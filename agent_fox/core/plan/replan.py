"""A new plan over what is stored: which node is which, what came, changed and went, what is to be redone.

Storing the change, and withdrawing or launching anything, is not here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from operator import attrgetter
from typing import TYPE_CHECKING

from agent_fox.core.ids import Archetype, Mode
from agent_fox.core.plan.blame import Ownership, ownership
from agent_fox.core.spec import text_version
from agent_fox.core.values import dataclass

if TYPE_CHECKING:
    from agent_fox.core.graph import Node, Plan

WITHDRAWN = "withdrawn"
BLOCKED = "blocked"

OwnersOf = Callable[[str, str], tuple[int, ...]]


@dataclass(frozen=True, slots=True)
class StoredNode:
    """A node as the state file has it. `status` is `withdrawn` for one that an earlier plan took out; a verifier
    `is_proven` where its spec is."""

    uid: str
    id: str
    spec_name: str
    archetype: Archetype
    mode: Mode | None
    group: int
    title: str
    status: str
    is_proven: bool = False


@dataclass(frozen=True, slots=True, order=True)
class StoredPart:
    """One thing to prove, with the version of its text."""

    spec_name: str
    id: str
    version: str


@dataclass(frozen=True, slots=True)
class Kept:
    """A node of the new plan that is there already: `was` is the same thing under its old name and title."""

    was: StoredNode
    now: Node

    @property
    def is_renamed(self) -> bool:
        return self.was.id != self.now.id

    @property
    def is_retitled(self) -> bool:
        return self.was.title != self.now.title


@dataclass(frozen=True, slots=True)
class PlanChange:
    """The difference. `nodes` are the plan's, in plan order, under the uids that their histories have.

    `pending` holds uids: the owners of what changed, and the verifiers that must read again. Nodes that are
    added are pending anyway, and do not stand there.
    """

    nodes: tuple[Node, ...]
    added: tuple[Node, ...]
    kept: tuple[Kept, ...]
    removed: tuple[StoredNode, ...]
    parts_added: tuple[StoredPart, ...]
    parts_changed: tuple[StoredPart, ...]
    parts_removed: tuple[StoredPart, ...]
    pending: tuple[str, ...]

    @property
    def renamed(self) -> tuple[Kept, ...]:
        return tuple(kept for kept in self.kept if kept.is_renamed)

    @property
    def is_empty(self) -> bool:
        """Whether the plan is the stored one: nothing came, went, or has another name, title or text."""
        is_same = not any(kept.is_renamed or kept.is_retitled or kept.was.status == WITHDRAWN for kept in self.kept)
        parts = self.parts_added or self.parts_changed or self.parts_removed
        return is_same and not (self.added or self.removed or parts)


def parts_of(plan: Plan) -> tuple[StoredPart, ...]:
    """Everything that a plan's specs expect, with versions, as it is stored beside the plan."""
    return tuple(StoredPart(s.name, part.id, text_version(part.text)) for s in plan.specs for part in s.parts)


def replan(
    stored: Sequence[StoredNode],
    stored_parts: Iterable[StoredPart],
    plan: Plan,
    owners_of: OwnersOf | None = None,
) -> PlanChange:
    """Compare a plan with what is stored.

    A coder is the same one if number and title agree, else if the title does, else if the number does (one
    that was withdrawn comes back only under its title). Reviewers of tests go with their group, other
    reviewers and the verifier with their spec. A uid is never given to another thing. `owners_of(spec name,
    part id)` gives groups; by default the blame map of the plan's own specs.
    """
    matches = _matches(stored, plan.nodes)
    taken = {node.uid for node in stored}
    nodes = tuple(_with_uid(node, matches.get(node.id), taken) for node in plan.nodes)
    kept = tuple(Kept(matches[node.id], node) for node in nodes if node.id in matches)
    there = {stored_node.uid for stored_node in matches.values()}
    added = tuple(node for node in nodes if node.id not in matches)
    removed = tuple(node for node in stored if node.uid not in there and node.status != WITHDRAWN)
    came, changed, went = _parts(stored_parts, plan)
    other = [each.now for each in kept if each.is_retitled or each.was.status == WITHDRAWN]
    moved: list[StoredNode | Node] = [*added, *removed, *other]
    coders = [node for node in moved if _is_group(node)]
    again = _again(kept, (*came, *changed), went, coders, owners_of or _owners(plan))
    return PlanChange(nodes, added, kept, removed, came, changed, went, again)


def describe(change: PlanChange) -> tuple[str, ...]:
    """The difference in sentences, one a line, for a person to read before it is made."""
    return (
        *_no_longer_proven(change),
        *(f"added: {node.id}{_titled(node.title)}" for node in change.added),
        *(f"removed: {node.id}{_titled(node.title)}" for node in change.removed),
        *(f"brought back: {kept.now.id}" for kept in change.kept if kept.was.status == WITHDRAWN),
        *(f"renamed: {kept.was.id} is {kept.now.id} now" for kept in change.renamed),
        *(f"retitled: {kept.now.id}{_titled(kept.now.title)}" for kept in change.kept if kept.is_retitled),
        *(f"new requirement: {part.id} of {part.spec_name}" for part in change.parts_added),
        *(f"changed requirement: {p.id} of {p.spec_name} loses its verdict" for p in change.parts_changed),
        *(f"requirement gone: {part.id} of {part.spec_name}" for part in change.parts_removed),
        *(f"to be done again: {node.id}" for node in change.nodes if node.uid in change.pending),
    )


def _no_longer_proven(change: PlanChange) -> Iterator[str]:
    """The specs that were proven and have requirements now that no verdict was asked about, whoever wrote or found
    them: the file, or a reader that passed over them before."""
    for spec_name in dict.fromkeys(kept.now.spec_name for kept in change.kept if kept.was.is_proven):
        ids = [part.id for part in change.parts_added if part.spec_name == spec_name]
        if ids:
            these = "a requirement" if len(ids) == 1 else f"{len(ids)} requirements"
            yield f"no longer proven: {spec_name} has {these} that no verdict was asked about: {', '.join(ids)}"


def _titled(title: str) -> str:
    return f" ({title})" if title else ""


def _matches(stored: Iterable[StoredNode], nodes: Iterable[Node]) -> dict[str, StoredNode]:
    """New node ids to the stored nodes that they are."""
    by_spec: dict[str, list[StoredNode]] = {}
    for known in stored:
        by_spec.setdefault(known.spec_name, []).append(known)
    matches: dict[str, StoredNode] = {}
    new: dict[str, list[Node]] = {}
    for node in nodes:
        new.setdefault(node.spec_name, []).append(node)
    for spec_name, of_spec in new.items():
        matches.update(_matches_in_spec(by_spec.get(spec_name, []), of_spec))
    return matches


def _matches_in_spec(stored: list[StoredNode], nodes: list[Node]) -> dict[str, StoredNode]:
    stored = sorted(stored, key=lambda node: node.status == WITHDRAWN)
    matches = _match_groups([n for n in stored if _is_group(n)], [n for n in nodes if _is_group(n)])
    moved = {matches[node.id].group: node.group for node in nodes if node.id in matches}
    others = {_role(n, moved.get(n.group)): n for n in reversed(stored) if not _is_group(n)}
    for node in nodes:
        known = None if _is_group(node) else others.get(_role(node, node.group))
        if known is not None:
            matches[node.id] = known
    return matches


def _match_groups(stored: list[StoredNode], nodes: list[Node]) -> dict[str, StoredNode]:
    """By number and title, then by title, then by number; each stored group once, in order."""
    matches: dict[str, StoredNode] = {}
    by_number = attrgetter("archetype", "group")
    for key in (attrgetter("archetype", "group", "title"), attrgetter("archetype", "title"), by_number):
        used = {known.uid for known in matches.values()}
        waiting: dict[tuple[object, ...], list[StoredNode]] = {}
        for known in reversed(stored):
            if known.uid not in used and not (key is by_number and known.status == WITHDRAWN):
                waiting.setdefault(key(known), []).append(known)
        for node in nodes:
            same = waiting.get(key(node)) if node.id not in matches else None
            if same:
                matches[node.id] = same.pop()
    return matches


def _is_group(node: StoredNode | Node) -> bool:
    """Whether the node does a task group's work: those have uids such as `SPEC:coder:3`."""
    return node.mode is None and ":" in node.uid.removeprefix(f"{node.spec_name}:")


def _role(node: StoredNode | Node, group: int | None) -> tuple[object, ...]:
    """What a node is that belongs to the spec, or to the tests of a group: under its new number, None if it is gone."""
    return (node.archetype, node.mode, group if node.mode is Mode.AUDIT_REVIEW else None)


def _with_uid(node: Node, known: StoredNode | None, taken: set[str]) -> Node:
    """The node under the uid of what it is; a new thing gets a uid that nothing ever had."""
    if known is not None:
        return replace(node, uid=known.uid)
    uid, count = node.uid, 1
    while uid in taken:
        count += 1
        uid = f"{node.uid}~{count}"
    taken.add(uid)
    return node if uid == node.uid else replace(node, uid=uid)


def _parts(
    stored: Iterable[StoredPart], plan: Plan
) -> tuple[tuple[StoredPart, ...], tuple[StoredPart, ...], tuple[StoredPart, ...]]:
    """What is to be proven: added, changed (with the new version), removed."""
    before = {(part.spec_name, part.id): part for part in stored}
    now = {(part.spec_name, part.id): part for part in parts_of(plan)}
    added = tuple(part for name, part in now.items() if name not in before)
    changed = tuple(p for name, p in now.items() if name in before and before[name].version != p.version)
    return added, changed, tuple(part for name, part in before.items() if name not in now)


def _owners(plan: Plan) -> OwnersOf:
    maps: dict[str, Ownership] = {}
    specs = {spec.name: spec for spec in plan.specs}

    def owners(spec_name: str, part: str) -> tuple[int, ...]:
        if spec_name not in maps:
            maps[spec_name] = ownership(specs[spec_name])
        return maps[spec_name].of(part)

    return owners


def _again(
    kept: tuple[Kept, ...],
    parts: tuple[StoredPart, ...],
    gone: tuple[StoredPart, ...],
    coders: Iterable[StoredNode | Node],
    owners_of: OwnersOf,
) -> tuple[str, ...]:
    """Owners of new and changed parts, what comes back, and what judges a spec that changed in anything: its verifier,
    and the review that held it back."""
    known = {each.now.spec_name for each in kept}
    groups = {(p.spec_name, group) for p in parts if p.spec_name in known for group in owners_of(p.spec_name, p.id)}
    specs = {part.spec_name for part in (*parts, *gone)} | {node.spec_name for node in coders}
    return tuple(each.now.uid for each in kept if _is_due(each, groups, specs))


def _is_due(kept: Kept, groups: set[tuple[str, int]], specs: set[str]) -> bool:
    node = kept.now
    if kept.was.status == WITHDRAWN:
        return True
    if _is_group(node):
        return (node.spec_name, node.group) in groups
    if node.archetype is Archetype.VERIFIER or node.mode is Mode.FINAL_REVIEW:
        return node.spec_name in specs
    # a review that held back the spec as it was: another text is another question
    holds_its_spec = kept.was.status == BLOCKED and node.mode in {Mode.PRE_REVIEW, Mode.DRIFT_REVIEW}
    return holds_its_spec and node.spec_name in specs
