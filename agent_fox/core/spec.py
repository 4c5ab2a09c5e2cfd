"""What a spec says, as values: requirements, task groups, traceability, dependencies.

Reading files is not here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from enum import StrEnum

from agent_fox.core.ids import digest_of
from agent_fox.core.values import dataclass

_VERSION_DIGITS = 16


def text_version(text: str) -> str:
    """The version of a requirement's text: 16 hex digits that white space and line breaks do not change."""
    return digest_of(" ".join(text.split()), digits=_VERSION_DIGITS)


class TaskState(StrEnum):
    """What a task's box says. A ticked box proves nothing, and an open one neither."""

    OPEN = "open"
    IN_PROGRESS = "in_progress"
    DONE = "done"
    SKIPPED = "skipped"


class Severity(StrEnum):
    ERROR = "error"
    WARNING = "warning"


@dataclass(frozen=True, slots=True, order=True)
class Problem:
    """Something wrong with a spec.

    `where` is `path` or `path:line`; `what` says what is wrong and what to do.
    """

    severity: Severity
    where: str
    what: str
    spec: str | None = None


@dataclass(frozen=True, slots=True)
class Criterion:
    """One acceptance criterion or edge case; `id` as in `04-REQ-5.1` or `04-REQ-5.E1`."""

    id: str
    text: str


@dataclass(frozen=True, slots=True)
class Requirement:
    """A requirement with its criteria and edge cases. Without any, it is itself what is checked.

    `details` are what the source lists without ids beside criteria that have one. They stand in `text` and in the text
    of each part they are about already, and are kept here to be counted and named.
    """

    id: str
    title: str
    text: str = ""
    criteria: tuple[Criterion, ...] = ()
    edge_cases: tuple[Criterion, ...] = ()
    details: tuple[str, ...] = ()

    @property
    def parts(self) -> tuple[Criterion, ...]:
        """What is checked: the criteria and edge cases, or the requirement itself where there are none."""
        return self.criteria + self.edge_cases or (Criterion(self.id, self.text or self.title),)


class BareCriteria(StrEnum):
    """What becomes of criteria without an id that stand beside others with one."""

    DETAIL = "detail"
    REQUIRED = "required"


def with_details(text: str, about: str, details: Sequence[str]) -> str:
    """A text with the details of the requirement `about`; the same text where there are none."""
    if not details:
        return text
    return "\n".join((text, f"Details of {about}:", *(f"- {detail}" for detail in details)))


@dataclass(frozen=True, slots=True)
class Subtask:
    """`number` as written: `3.1`, `T012`, or `3.V` for the one that verifies group 3.

    `parallel`: the spec says that it may run beside its neighbours. `after` are the tasks that it says it waits for.
    """

    number: str
    title: str
    state: TaskState = TaskState.OPEN
    optional: bool = False
    requirements: tuple[str, ...] = ()
    details: tuple[str, ...] = ()
    parallel: bool = False
    after: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Group:
    """A numbered group of tasks: one coder node.

    `requirements` are expanded ids (ranges and `all` resolved). A checkpoint only checks what stands before it.
    """

    number: int
    title: str
    state: TaskState = TaskState.OPEN
    optional: bool = False
    writes_tests_only: bool = False
    archetype: str | None = None
    subtasks: tuple[Subtask, ...] = ()
    requirements: tuple[str, ...] = ()
    text: str = ""
    parallel: bool = False
    is_checkpoint: bool = False


@dataclass(frozen=True, slots=True)
class Trace:
    """One row of the traceability table: which tasks implement a requirement, which tests show it."""

    requirement: str
    tests_specified: tuple[str, ...] = ()
    tasks: tuple[str, ...] = ()
    tests: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Dependency:
    """`spec:from_group` comes before `to_group` of the spec that declares it.

    `from_group` None means the last group of the other spec, `to_group` None the first group of this one.
    `spec` is a folder's name, or its number alone as it was written. `is_archived`: the row says that the
    other spec is archived, so that it may be missing; so may one that is only named in prose.
    """

    spec: str
    from_group: int | None
    to_group: int | None
    where: str = ""
    is_archived: bool = False


@dataclass(frozen=True, slots=True)
class SourceIssue:
    """The issue that a spec says it came from. `repository` (`OWNER/NAME`) and `host` are empty where it names none."""

    number: int
    repository: str = ""
    host: str = ""

    def is_in(self, place: str) -> bool:
        """Whether it is an issue of `place` (`HOST/OWNER/NAME`). What is not named is the place's own."""
        host, _, repository = place.lower().partition("/")
        is_there = self.host.lower().removeprefix("www.") in ("", host)
        return is_there and self.repository.lower() in ("", repository)


@dataclass(frozen=True, slots=True)
class Spec:
    """One spec, read. `name` is the folder's name; `path` is relative to the repository's root, and a file's where a
    file is the whole spec.

    `test_commands` maps a label (`spec_tests`, `all_tests`, `linter`, or the words of the file) to a
    command line. `withdrawn` names requirement ids that the spec itself took back; they are not expected. A
    spec that was taken back as a whole `is_withdrawn`: nothing of it is planned. `documents` maps a file's
    name to its path, relative to the repository's root. `source` is the issue that it came from, if it names one.

    `implied` are the ids (of requirements and of their parts) that the source does not write, such as `1.2`: they are
    made from places. `places` says where an id, `task 3.1` or `group 3` stands: `path:line`. A baseline says what is
    there already: it is read and shown, and nothing of it is planned. `origin` is what a normal form says that it was
    read from (`kiro, .kiro/specs/locks`); empty where the spec was read from its own place. `corrected`: whose work a
    person says that a part is, by its id; the numbers of groups.
    """

    name: str
    dialect: str
    path: str
    title: str = ""
    requirements: tuple[Requirement, ...] = ()
    groups: tuple[Group, ...] = ()
    dependencies: tuple[Dependency, ...] = ()
    traceability: tuple[Trace, ...] = ()
    test_commands: dict[str, str] = field(default_factory=dict)
    withdrawn: tuple[str, ...] = ()
    documents: dict[str, str] = field(default_factory=dict)
    is_withdrawn: bool = False
    source: SourceIssue | None = None
    implied: frozenset[str] = frozenset()
    places: dict[str, str] = field(default_factory=dict)
    is_baseline: bool = False
    origin: str = ""
    corrected: dict[str, tuple[int, ...]] = field(default_factory=dict)

    @property
    def is_planned(self) -> bool:
        """Whether it has nodes: not if it was taken back, nor if it only says what is there."""
        return not (self.is_withdrawn or self.is_baseline)

    def place(self, thing: str) -> str:
        """Where an id, `task 3.1` or `group 3` stands: `path:line`, or the spec itself where that is not known."""
        return self.places.get(thing, self.path)

    @property
    def parts(self) -> tuple[Criterion, ...]:
        """Everything that must be proven, in the order of the file."""
        return tuple(part for requirement in self.requirements for part in requirement.parts)

    @property
    def expected(self) -> tuple[str, ...]:
        """The ids of everything that must be proven. Empty means that nothing can be: never a pass."""
        return tuple(part.id for part in self.parts)
