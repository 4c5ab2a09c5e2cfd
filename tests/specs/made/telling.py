"""A spec told as lines, so that two can be compared and a difference can be read."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from agent_fox.core.spec import Group, Spec, Subtask

SLACK = 60
"""So many characters may stand around a sentence or title, such as list marks and emphasis."""


@dataclass(frozen=True)
class Made:
    """Files below a root, and what is to be read from them.

    The lines of an expected part's text are sentences, of which each must be there, in their order. A title may have
    words around the expected one; an empty one is not compared. `marks` says which words stand where an id is said to.
    Without `has_names`, which requirements a task names is the reader's choice.
    """

    dialect: str
    folder: str
    files: dict[str, bytes]
    spec: Spec
    marks: dict[str, str] = field(default_factory=dict)
    has_names: bool = True

    def folder_called(self, name: str) -> Path:
        """Its folder, or its one file, under another name, in the same place."""
        return Path(self.folder).with_name(name + Path(self.folder).suffix)


def told(spec: Spec, made: Made) -> list[str]:
    """What a spec says. Texts and titles are shown as they were meant where they hold the same sentences."""
    like = made.spec
    groups = {group.number: group.title for group in like.groups}
    tasks = {task.number: task.title for group in like.groups for task in group.subtasks}
    return [
        f"{spec.name}: {_title(spec.title, like.title)}",
        *_requirements(spec, made),
        *(line for group in spec.groups for line in _group(group, groups, tasks, made.has_names)),
        *(f"waits for {d.spec}:{d.from_group} before {d.to_group}" for d in spec.dependencies),
        *(f"{label}: {command}" for label, command in sorted(spec.test_commands.items())),
        *(f"trace {t.requirement}: {t.tests_specified} {t.tasks} {t.tests}" for t in spec.traceability),
        f"implied: {' '.join(sorted(spec.implied))}",
        f"withdrawn: {' '.join(spec.withdrawn)}",
        f"baseline: {spec.is_baseline}",
    ]


def places_told(spec: Spec, made: Made) -> list[str]:
    """Those places that do not hold what they are said to hold."""
    wrong = []
    for thing, words in made.marks.items():
        path, _, line = spec.places.get(thing, "").rpartition(":")
        lines = made.files[path].decode("utf-8-sig").splitlines() if path in made.files else []
        found = lines[int(line) - 1] if line.isdigit() and 0 < int(line) <= len(lines) else ""
        if words not in found:
            wrong.append(f"{thing} stands at {spec.places.get(thing)}: {found!r} has no {words!r}")
    return wrong


def _requirements(spec: Spec, made: Made) -> Iterator[str]:
    texts = {part.id: part.text for part in made.spec.parts}
    titles = {requirement.id: requirement.title for requirement in made.spec.requirements}
    for requirement in spec.requirements:
        yield f"requirement {requirement.id}: {_title(requirement.title, titles.get(requirement.id))}"
        yield from (f"  criterion {part.id}: {_text(part.text, texts)}" for part in requirement.criteria)
        yield from (f"  edge case {part.id}: {_text(part.text, texts)}" for part in requirement.edge_cases)
        if not requirement.criteria + requirement.edge_cases:
            yield f"  itself: {_text(requirement.parts[0].text, texts)}"


def _text(text: str, wanted: dict[str, str]) -> str:
    """The text of that part which says the same; the longest, where one begins as another does."""
    plain = " ".join(text.split())
    same = (want for want in wanted.values() if _holds(plain, want.split("\n")))
    return max(same, key=len, default=plain).replace("\n", " / ")


def _title(title: str, wanted: str | None) -> str:
    if wanted is None:
        return title
    return wanted if not wanted or (wanted in title and len(title) <= len(wanted) + SLACK) else title


def _holds(text: str, sentences: list[str]) -> bool:
    place = 0
    for sentence in sentences:
        found = text.find(sentence, place)
        if found < 0:
            return False
        place = found + len(sentence)
    return len(text) <= sum(len(sentence) + SLACK for sentence in sentences)


def _group(group: Group, groups: dict[int, str], tasks: dict[str, str], has_names: bool) -> Iterator[str]:
    said = {
        "optional": group.optional,
        "parallel": group.parallel,
        "checkpoint": group.is_checkpoint,
        "writes tests": group.writes_tests_only,
    }
    flags = ", ".join(name for name, is_so in said.items() if is_so)
    names = " ".join(group.requirements) if has_names else ""
    yield f"group {group.number} [{group.state} {flags}] {_title(group.title, groups.get(group.number))} ({names})"
    yield from (f"  {line}" for task in group.subtasks for line in _task(task, tasks, has_names))


def _task(task: Subtask, tasks: dict[str, str], has_names: bool) -> Iterator[str]:
    flags = ", ".join(name for name, is_so in (("optional", task.optional), ("parallel", task.parallel)) if is_so)
    names = " ".join(task.requirements) if has_names else ""
    title = _title(task.title, tasks.get(task.number))
    yield f"{task.number} [{task.state} {flags}] {title} ({names}) after {' '.join(task.after)}"
    yield from (f"- {detail}" for detail in task.details)
