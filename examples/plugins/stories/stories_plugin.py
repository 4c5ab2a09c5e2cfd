"""BMAD's stories: files such as `1.2.sign-in.story.md`, each with acceptance criteria, and tasks that name them.

A dialect over the outline of a document: which section is what, and how a task names a criterion. No line is scanned.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from agent_fox.core.spec import Criterion, Group, Problem, Requirement, Severity, Spec, Subtask, TaskState
from agent_fox.plugins import hookimpl
from agent_fox.specs.dialects import Dialect
from agent_fox.specs.document import Markdown, markdown_at
from agent_fox.specs.files import head_of, place_of, read_text_file
from agent_fox.specs.outline import Block, Kind

TITLE = re.compile(r"Story\s+(?P<number>\d{1,4}(?:\.\d{1,4})?)\s*[:–—-]?\s*(?P<title>.*)", re.IGNORECASE)
SECTIONS = {
    "status": re.compile(r"status$", re.IGNORECASE),
    "story": re.compile(r"(?:user )?story$", re.IGNORECASE),
    "criteria": re.compile(r"acceptance criteria\b", re.IGNORECASE),
    "tasks": re.compile(r"tasks\b", re.IGNORECASE),
}
NAMES_CRITERIA = re.compile(r"\(\s*ACs?\s*[:#]?\s*(?P<named>[^()]{1,200})\)", re.IGNORECASE)
NUMBERS = re.compile(r"#?(\d{1,4})(?:\s*[-–]\s*#?(\d{1,4}))?")
OWN_NUMBER = re.compile(r"(?:Sub)?task\s+\d[\d.]*\s*[:.–-]\s*", re.IGNORECASE)
STATES = {" ": TaskState.OPEN, "": TaskState.OPEN, "x": TaskState.DONE, "X": TaskState.DONE}


class StoriesDialect:
    """One story is one spec; its criteria are `AC-1`, `AC-2`, ... in the order of the file."""

    name = "bmad"

    def recognises(self, path: Path) -> bool:
        return path.suffix == ".md" and re.search(r"^# *Story\s+\d", head_of(path), re.MULTILINE) is not None

    def read(self, path: Path, root: Path) -> tuple[Spec | None, tuple[Problem, ...]]:
        specs, problems = self.read_all(path, root)
        return (specs[0] if specs else None), problems

    def read_all(self, path: Path, root: Path) -> tuple[tuple[Spec, ...], tuple[Problem, ...]]:
        document = markdown_at(path, root)
        if document is None:
            unread = read_text_file(path, root)
            return (), (replace(unread, spec=path.stem),) if isinstance(unread, Problem) else ()
        spec, problems = Story(document).read(path.stem.removesuffix(".story"))
        named = [replace(problem, spec=spec.name) for problem in (*document.problems, *problems)]
        return (replace(spec, path=place_of(path, root), documents={path.name: document.where}),), tuple(named)


class Story:
    """One story while it is read: its sections, and where each of its parts stands."""

    def __init__(self, document: Markdown) -> None:
        self.document = document
        self.places: dict[str, str] = {}
        self.problems: list[Problem] = []
        headings = [block for block, _ in document.blocks.walk() if block.kind is Kind.HEADING]
        titles = ((block, TITLE.match(block.text)) for block in headings)
        self.heading, self.match = next((one for one in titles if one[1]), (document.blocks, None))
        self.sections = {
            name: next((block for block in headings if pattern.match(block.text.strip("* "))), None)
            for name, pattern in SECTIONS.items()
        }

    def read(self, name: str) -> tuple[Spec, list[Problem]]:
        criteria = tuple(self._criteria())
        groups = tuple(self._groups([criterion.id for criterion in criteria]))
        told = self.sections["story"]
        title = self.match["title"] if self.match else name
        requirement = Requirement("AC", title, words(told) if told else "", criteria)
        self.places["AC"] = self.document.at(self.heading.line)
        requirements = (requirement,) if criteria else ()
        for section, found in (("acceptance criteria", criteria), ("tasks", groups)):
            if not found:
                what = f"the story has no {section}: write `## {section.title()}` with a list"
                self._say(self.heading.line, what)
        implied = frozenset({"AC", *(criterion.id for criterion in criteria)})
        spec = Spec(name, "bmad", "", title, requirements, groups, implied=implied, places=self.places)
        return spec, self.problems

    def _criteria(self) -> Iterator[Criterion]:
        for number, item in enumerate(items(self.sections["criteria"]), 1):
            self.places[f"AC-{number}"] = self.document.at(item.line)
            yield Criterion(f"AC-{number}", words(item))

    def _groups(self, known: Sequence[str]) -> Iterator[Group]:
        for number, item in enumerate(items(self.sections["tasks"]), 1):
            self.places[f"group {number}"] = self.document.at(item.line)
            subtasks = tuple(self._subtasks(number, item, known))
            named = [*self._named(item, known), *(part for task in subtasks for part in task.requirements)]
            title, *below = title_of(item), *(f"- {words(child)}" for child in items(item))
            text = "\n".join((title, *below))
            state = STATES.get(item.box or "", TaskState.IN_PROGRESS)
            yield Group(number, title, state, subtasks=subtasks, requirements=tuple(dict.fromkeys(named)), text=text)

    def _subtasks(self, group: int, item: Block, known: Sequence[str]) -> Iterator[Subtask]:
        for place, child in enumerate(items(item), 1):
            number = f"{group}.{place}"
            self.places[f"task {number}"] = self.document.at(child.line)
            state = STATES.get(child.box or "", TaskState.IN_PROGRESS)
            named = tuple(self._named(child, known))
            details = tuple(words(detail) for detail in child.children)
            yield Subtask(number, title_of(child), state, requirements=named, details=details)

    def _named(self, item: Block, known: Sequence[str]) -> Iterator[str]:
        """The criteria that a task names: `(AC: 1, 3)`, `(AC: 2-4)`."""
        for named in NAMES_CRITERIA.finditer(item.text):
            for span in NUMBERS.finditer(named["named"]):
                for number in range(int(span[1]), min(int(span[2] or span[1]), len(known) + 1) + 1):
                    if f"AC-{number}" in known:
                        yield f"AC-{number}"
                    else:
                        self._say(
                            item.line, f"names criterion {number}: the story has {len(known)}. Correct the number"
                        )

    def _say(self, line: int, what: str) -> None:
        self.problems.append(Problem(Severity.WARNING, self.document.at(line), what))


def items(block: Block | None) -> Iterable[Block]:
    return [child for child in block.children if child.kind is Kind.ITEM] if block is not None else []


def words(block: Block) -> str:
    """All that a block says, with what stands in it; a heading's own title is left out."""
    own = [] if block.kind is Kind.HEADING else [" ".join(line.strip() for line in block.texts)]
    return "\n".join(text for text in (*own, *map(words, block.children)) if text)


def title_of(item: Block) -> str:
    return OWN_NUMBER.sub("", " ".join(NAMES_CRITERIA.sub("", item.text).split()), count=1)


@hookimpl
def agent_fox_dialects() -> Sequence[Dialect]:
    return [StoriesDialect()]
