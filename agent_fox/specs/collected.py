"""What was read of requirements and of tasks, as values of every dialect, and what is collected on the way to them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field
from typing import TYPE_CHECKING

from agent_fox.core.spec import Criterion, Requirement, Spec, with_details
from agent_fox.core.values import dataclass
from agent_fox.specs.files import error, place_of, warning

if TYPE_CHECKING:
    from pathlib import Path

    from agent_fox.core.spec import Dependency, Group, Problem, Trace
    from agent_fox.specs.document import Documents, Markdown


@dataclass(frozen=True, slots=True)
class ReadRequirements:
    """What a document expects. `withdrawn` ids stand in it, but are not expected any more; `defects` may be named, and
    nothing is to prove them.

    `implied` ids are made from places; `places` says where each id stands: `path:line`. `prefix` begins the
    ids; `of_story` has the statements that are declared within a story, by the story's id.
    """

    requirements: tuple[Requirement, ...] = ()
    withdrawn: tuple[str, ...] = ()
    problems: tuple[Problem, ...] = ()
    implied: frozenset[str] = frozenset()
    places: dict[str, str] = field(default_factory=dict)
    defects: tuple[str, ...] = ()
    of_story: dict[str, tuple[str, ...]] = field(default_factory=dict)
    prefix: str = ""


@dataclass(frozen=True, slots=True)
class ReadTasks:
    """What a tasks file holds. `places` says where `group 3` and `task 3.1` stand: `path:line`. `properties` has by a
    property's number the tasks that say they test it."""

    groups: tuple[Group, ...] = ()
    problems: tuple[Problem, ...] = ()
    places: dict[str, str] = field(default_factory=dict)
    dependencies: tuple[Dependency, ...] = ()
    traceability: tuple[Trace, ...] = ()
    test_commands: dict[str, str] = field(default_factory=dict)
    properties: dict[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(slots=True)
class RequirementDraft:
    """A requirement while its parts are collected. `details` are what stands without an id beside parts that have one,
    each with whether it is about an edge case: they are told in its text, and in that of each part of their kind."""

    id: str
    title: str
    text: str = ""
    line: int = 0
    criteria: list[Criterion] = field(default_factory=list)
    edge_cases: list[Criterion] = field(default_factory=list)
    details: list[tuple[bool, str]] = field(default_factory=list)

    def add(self, identifier: str, text: str, *, is_edge: bool) -> None:
        (self.edge_cases if is_edge else self.criteria).append(Criterion(identifier, text))

    def value(self) -> Requirement:
        details = tuple(text for _, text in self.details)
        text = with_details(self.text, self.id, details) if self.text else self.text
        return Requirement(self.id, self.title, text, self._parts(False), self._parts(True), details)

    def _parts(self, is_edge: bool) -> tuple[Criterion, ...]:
        parts = self.edge_cases if is_edge else self.criteria
        details = [text for about_edges, text in self.details if about_edges == is_edge]
        parts_with = (Criterion(part.id, with_details(part.text, self.id, details)) for part in parts)
        return tuple(parts_with if details else parts)


def spec_of(
    dialect: str, folder: Path, root: Path, documents: Documents, expected: ReadRequirements, tasks: ReadTasks
) -> Spec:
    """The spec of a folder, as its documents were read. It has no title yet."""
    return Spec(
        name=folder.name,
        dialect=dialect,
        path=place_of(folder, root),
        requirements=expected.requirements,
        groups=tasks.groups,
        dependencies=tasks.dependencies,
        traceability=tasks.traceability,
        test_commands=tasks.test_commands,
        withdrawn=expected.withdrawn,
        documents=documents.paths,
        implied=expected.implied,
        places=expected.places | tasks.places,
    )


class Remarks:
    """What is wrong with one document, while it is read."""

    def __init__(self, markdown: Markdown) -> None:
        self.markdown = markdown
        self.problems: list[Problem] = []

    def warn(self, line: int, what: str) -> None:
        self.problems.append(warning(self.markdown.at(line), what))

    def refuse(self, line: int, what: str) -> None:
        self.problems.append(error(self.markdown.at(line), what))


class Declarations(Remarks):
    """The ids of one document, while it is read: each with the line that declares it. `drafts` are its requirements."""

    doubled = "is declared twice: in lines {} and {}. Give one of them another id"

    def __init__(self, markdown: Markdown) -> None:
        super().__init__(markdown)
        self.lines: dict[str, int] = {}
        self.drafts: dict[str, RequirementDraft] = {}
        self.implied: set[str] = set()
        self.withdrawn: list[str] = []

    def declares(self, identifier: str, line: int) -> bool:
        """Whether this is the first with that id; for another one it is an error."""
        if identifier in self.lines:
            self.say_doubled(identifier, self.lines[identifier], line)
            return False
        self.lines[identifier] = line
        return True

    def say_doubled(self, identifier: str, first: int, second: int) -> None:
        self.refuse(second, f"{identifier} {self.doubled.format(first, second)}")

    def read(self, requirements: Iterable[Requirement], lines: Mapping[str, int] | None = None) -> ReadRequirements:
        """The requirements with all that was collected; `lines` in the place of those of the declared ids."""
        return ReadRequirements(
            tuple(requirements),
            tuple(dict.fromkeys(self.withdrawn)),
            tuple(self.problems),
            frozenset(self.implied),
            {identifier: self.markdown.at(line) for identifier, line in (lines or self.lines).items()},
        )
