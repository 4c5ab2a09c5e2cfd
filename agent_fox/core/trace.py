"""What a session did, as a tree of nodes that are named by their content. Pure; where it is kept is not here.

A session's events become its trace once, at its harvest. States of the files are the spine: each hangs under the one
before it. What was looked at and what was tested hang under the state that they were about. Order is the order of the
events: no clock is asked, so none can jump. Source of the words: `docs/traces.md`.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from enum import StrEnum

from agent_fox.core.ids import digest_of
from agent_fox.core.regex import regex
from agent_fox.core.values import Json, dataclass, to_object

FORMAT = 1
MOST_NODES = 2000
"""Nodes of one session that are kept whole; of what is over it the first are kept, and the rest is counted."""

MOST_FILES = 20
"""Changed files that a node names; the others are counted."""

CHECKS = frozenset(
    {"run_unit_tests", "run_selected_test", "run_compile", "run_lint", "run_format_check", "run_static_policy_checks"}
)
"""Tools of our own verifier that judge and change nothing."""

_CHECKING = regex(
    r"(?:^|[\s;&|('\"])(?:\S*/)?(?:pytest|py\.test|unittest|tox|nox|jest|vitest|mocha|rspec|phpunit|ctest|gotestsum"
    r"|(?:npm|pnpm|yarn|bun)\s+(?:run\s+)?test|(?:go|cargo|mvnw?|gradlew?|dotnet|swift|mix)\s+(?:\S+\s+)?test"
    r"|cargo\s+nextest|make\s+(?:test|check)|node\s+--test|verify)(?![\w.-])"
)
_GOING_BACK = regex(r"(?:^|[\s;&|(])git\s+(?:-C\s+\S+\s+|-\S+\s+)*(?:checkout|restore|reset|stash|revert|clean)\b")


class NodeKind(StrEnum):
    """What became of the files by an action, or what was asked about them."""

    EXPLORATION = "exploration"
    STATE_CHANGE = "state change"
    VERIFICATION = "verification"
    ROLLBACK = "rollback"


@dataclass(frozen=True, slots=True)
class Observation:
    """What an agent was shown by a tool: the digest of the text, its length, and its lines that tell of failures."""

    digest: str = ""
    characters: int = 0
    red: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Action:
    """One call of a tool with its end, as our runner recorded it.

    `edits`: files that it names as changed (None: some that it does not name); `command`: the command line, None where
    it is not kept. `tree`: the files after it, empty where nobody looked. `is_ended` is False for a call that was open
    when the session ended.
    """

    tool: str
    edits: tuple[str, ...] | None = ()
    command: str | None = ""
    observation: Observation = Observation()
    tree: str = ""
    failed: bool = False
    is_ended: bool = True

    @property
    def words(self) -> str:
        """The action in a line."""
        named = ", ".join(self.edits or ()) or (self.command or "")
        return f"{self.tool} {named}".strip()

    @property
    def is_check(self) -> bool:
        return self.tool in CHECKS or bool(self.command and _CHECKING.search(self.command))

    @property
    def goes_back(self) -> bool:
        return bool(self.command and _GOING_BACK.search(self.command))


@dataclass(frozen=True, slots=True)
class Recording:
    """All that was recorded of a session's tools. `is_whole`: nothing is missing; `unrecorded`: events that are, as far
    as they were counted. `unseen`: steps after which the files were not looked at, and why.
    """

    actions: tuple[Action, ...] = ()
    is_whole: bool = True
    unrecorded: int = 0
    unseen: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Node:
    """One node. `step` counts the states of the session's files from 0, the state that it began with: of a change the
    state that it made, else the state that it was about. `number` is its place in the trace, `call` that of its first
    action (from 1), 0 for what is no action. `calls`: how many actions it stands for, `tools` which.

    `diff` names the trees before and after, `back_to` the step that a rollback returned to. `evidence` names the record
    of the ledger that says what was verified, `subject` the requirement and the word.
    """

    number: int
    kind: NodeKind
    step: int
    parent: str = ""
    action: str = ""
    call: int = 0
    calls: int = 1
    tools: Mapping[str, int] = field(default_factory=dict)
    observation: Observation = Observation()
    files: tuple[str, ...] = ()
    more_files: int = 0
    tree: str = ""
    diff: str = ""
    back_to: int | None = None
    subject: str = ""
    evidence: str = ""
    failed: bool = False

    @property
    def id(self) -> str:
        """SHA-256 of its content, which names its parent: a node vouches for all that it hangs under."""
        return digest_of(canonical(to_object(self)))

    @property
    def is_state(self) -> bool:
        return self.kind in (NodeKind.STATE_CHANGE, NodeKind.ROLLBACK)


@dataclass(frozen=True, slots=True)
class Trace:
    """The nodes of one session in their order, and what is not among them.

    `commit` is the last of a chain of commits with the trees of its states, empty where there is none. `left_out`: what
    is missing, by its reason, counted.
    """

    nodes: tuple[Node, ...] = ()
    commit: str = ""
    left_out: Mapping[str, int] = field(default_factory=dict)

    @property
    def states(self) -> tuple[Node, ...]:
        return tuple(node for node in self.nodes if node.is_state)

    @property
    def counts(self) -> dict[str, int]:
        """How many nodes there are of each kind, and how many actions they stand for."""
        kinds = Counter(str(node.kind) for node in self.nodes)
        return {**{str(kind): kinds[str(kind)] for kind in NodeKind}, "calls": sum(node.calls for node in self.nodes)}

    def document(self) -> dict[str, Json]:
        nodes = [{"id": node.id, **_short(to_object(node))} for node in self.nodes]
        return {"format": FORMAT, "commit": self.commit, "left_out": dict(self.left_out), "nodes": list(nodes)}


def canonical(content: Mapping[str, Json]) -> str:
    """One spelling for one content."""
    return json.dumps(_short(content), sort_keys=True, separators=(",", ":"))


def _short(content: Mapping[str, Json]) -> dict[str, Json]:
    """An object without what is empty in it."""
    members = {name: _short(value) if isinstance(value, dict) else value for name, value in content.items()}
    return {name: value for name, value in members.items() if value is not False and value not in ("", None, [], {})}


def normalised(
    recording: Recording, base: str, work: str, files_between: Callable[[str, str], Sequence[str]]
) -> tuple[Node, ...]:
    """The nodes of a session that began with the tree `base` and left the tree `work` (empty: nothing was taken).

    `files_between` names what differs from one tree to another. State changes, rollbacks and verifications are kept
    one by one, what was only looked at is counted between them. An empty recording gives the coarse trace: both states.
    """
    builder = Builder(base, files_between)
    for call, action in enumerate(recording.actions, 1):
        builder.take(call, action)
    return tuple(builder.end(work))


class Builder:
    """Nodes in the making: `_state` is the last one of the spine, `_looked` what was looked at since the last node."""

    def __init__(self, base: str, files_between: Callable[[str, str], Sequence[str]]) -> None:
        self._files_between, self._step_of, self._tree = files_between, {base: 0}, base
        self._state = Node(0, NodeKind.STATE_CHANGE, 0, action=BEGUN, calls=0, tree=base)
        self._state_id, self._nodes = self._state.id, [self._state]
        self._looked: list[tuple[int, Action]] = []

    def take(self, call: int, action: Action) -> None:
        is_change = self.is_change(action)
        if not is_change and not action.is_check:
            self._looked.append((call, action))
            return
        self._flush()
        if is_change:
            self.change(call, action)
        if action.is_check:  # about the files that it left itself, where it changed some
            self._nodes.append(_of(self._node(NodeKind.VERIFICATION, calls=int(not is_change)), call, action))

    def end(self, work: str) -> list[Node]:
        self._flush()
        if work and work != self._tree:
            node = replace(self._node(NodeKind.STATE_CHANGE, self._state.step + 1, calls=0), action=LEFT)
            self._add_state(node, self._files_between(self._tree, work), work)
        return self._nodes

    def is_change(self, action: Action) -> bool:
        """By the files, where somebody looked at them; else by what the call itself names."""
        if action.tree:
            return action.tree != self._tree
        return action.edits != () and action.is_ended and not action.failed

    def change(self, call: int, action: Action) -> None:
        back_to = self._step_of.get(action.tree) if action.tree else None
        is_back = back_to is not None or (action.goes_back and not action.edits)
        kind = NodeKind.ROLLBACK if is_back else NodeKind.STATE_CHANGE
        node = replace(_of(self._node(kind, self._state.step + 1), call, action), back_to=back_to)
        files = self._files_between(self._tree, action.tree) if action.tree else action.edits or ()
        self._add_state(node, files, action.tree)

    def _add_state(self, node: Node, files: Sequence[str], tree: str) -> None:
        diff = f"{self._tree}..{tree}" if tree else ""
        named, more = tuple(files[:MOST_FILES]), max(0, len(files) - MOST_FILES)
        self._state = replace(node, files=named, more_files=more, tree=tree, diff=diff)
        self._state_id = self._state.id
        self._nodes.append(self._state)
        if tree:
            self._tree = tree
            self._step_of.setdefault(tree, node.step)

    def _flush(self) -> None:
        """What was looked at since the last node, as one."""
        if not self._looked:
            return
        (first, action), actions = self._looked[0], [action for _, action in self._looked]
        node = replace(
            self._node(NodeKind.EXPLORATION, calls=len(actions)),
            call=first,
            tools=dict(Counter(action.tool for action in actions)),
            action=action.words if len(actions) == 1 else "",
            observation=Observation(
                digest_of(*(action.observation.digest for action in actions)),
                sum(action.observation.characters for action in actions),
            ),
        )
        self._nodes.append(node)
        self._looked = []

    def _node(self, kind: NodeKind, step: int | None = None, calls: int = 1) -> Node:
        at = self._state.step if step is None else step
        return Node(len(self._nodes), kind, at, parent=self._state_id, calls=calls)


BEGUN, LEFT = "what the session began with", "what the session left"
"""The action of the first state, and of a last one that no call is known to have made."""


def _of(node: Node, call: int, action: Action) -> Node:
    return replace(
        node, call=call, action=action.words, tools={action.tool: 1}, observation=action.observation,
        failed=action.failed,
    )  # fmt: skip


def bounded(trace: Trace, most: int = MOST_NODES) -> Trace:
    """The trace with at most so many nodes. What was looked at goes first, then verifications of the middle, then
    states: the first and the last are kept. What is left out is counted; a kept node names the parent that it had.
    """
    over = len(trace.nodes) - most
    if over <= 0:
        return trace
    gone = {node.number for node in dispensable(trace.nodes)[:over]}
    left_out = Counter(dict(trace.left_out))
    left_out.update(f"{node.kind} nodes" for node in trace.nodes if node.number in gone)
    return replace(trace, nodes=tuple(node for node in trace.nodes if node.number not in gone), left_out=dict(left_out))


def dispensable(nodes: Sequence[Node]) -> list[Node]:
    middle = len(nodes) / 2
    order = (NodeKind.EXPLORATION, NodeKind.VERIFICATION, NodeKind.ROLLBACK, NodeKind.STATE_CHANGE)
    return sorted(nodes, key=lambda node: (order.index(node.kind), abs(node.number - middle)))


def children(nodes: Iterable[Node]) -> dict[str, list[Node]]:
    """The nodes that hang under each, by its id; under the empty id those whose parent is not among them."""
    nodes = tuple(nodes)
    known, under = {node.id for node in nodes}, dict[str, list[Node]]()
    for node in nodes:
        under.setdefault(node.parent if node.parent in known else "", []).append(node)
    return under


def way_to(nodes: Sequence[Node], step: int) -> Iterator[Node]:
    """States and verifications up to a step, that of the step among them: the way to an onset."""
    return (node for node in nodes if node.step <= step and node.kind is not NodeKind.EXPLORATION)


def red_before_end(nodes: Sequence[Node], step: int, names: Iterable[str]) -> Node | None:
    """The first node from a step on whose observation told of one of these tests as failing; None where none did."""
    wanted = [name for name in names if name]
    later = (node for node in nodes if node.step >= step and node.observation.red)
    return next((node for node in later if any(name in line for name in wanted for line in node.observation.red)), None)
