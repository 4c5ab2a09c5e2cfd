"""A plain Markdown file as specs: which section says what. What requirements and tasks look like is not here."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import takewhile
from pathlib import PurePosixPath

from agent_fox.core.spec import Dependency, Problem, Spec
from agent_fox.specs.common.beside import (
    read_commands,
    read_dependencies,
    read_traceability,
    source_in,
    without_doubles,
)
from agent_fox.specs.common.id_ranges import index_of
from agent_fox.specs.document import Markdown, about, read_markdown
from agent_fox.specs.files import TextFile, error, warning
from agent_fox.specs.lines import Heading, Line, in_bold, plain
from agent_fox.specs.plain.dialect import spec_heading
from agent_fox.specs.plain.requirements import is_aside, read_plain_requirements
from agent_fox.specs.plain.tasks import holds_tasks, read_plain_tasks
from agent_fox.specs.word_tables import patterns_in

_LIKE = patterns_in(__file__)


_KINDS = {
    "edges": _LIKE["edges"], "commands": _LIKE["of_commands"], "depends": _LIKE["depends"],
    "requirements": _LIKE["requirements"], "tasks": _LIKE["tasks"],
}  # fmt: skip
"""What a section is by its title, the first that fits."""
_COMMANDS = Line(0, "## Test Commands", 0, heading=Heading(2, "Test Commands"))
_NOTHING = frozenset({"none", "nothing", "n/a", "-", "no"})


@dataclass(slots=True)
class _Part:
    """One spec of a file: its heading, the lines below it, and those above it where it is the file's only one."""

    heading: Line
    name: str
    title: str
    lines: list[Line] = field(default_factory=list)
    before: list[Line] = field(default_factory=list)


def read_plain_markdown(file: TextFile, documents: dict[str, str]) -> tuple[tuple[Spec, ...], tuple[Problem, ...]]:
    """Every spec of a file. Two need names; one that has none is called as its file is."""
    markdown = read_markdown(file)
    parts: list[_Part] = []
    before: list[Line] = []
    for line in markdown.lines:
        heading = spec_heading(line.heading.title) if line.heading and line.heading.level == 1 else None
        if heading is not None:
            parts.append(_Part(line, (heading["name"] or "").strip(), heading["title"].strip()))
        else:
            (parts[-1].lines if parts else before).append(line)
    specs: list[Spec] = []
    problems: list[Problem] = []
    stem = PurePosixPath(file.where).stem
    for part in parts:
        part.before = before if len(parts) == 1 else []
        part.name = part.name or (stem if len(parts) == 1 else "")
        if not part.name:
            what = "a file with several specs names each: write ``# Spec: `name`: Title``"
            problems += about(stem, [error(markdown.at(part.heading.number), what)])
            continue
        spec, warnings = _Reading(markdown, part).spec(documents)
        specs.append(spec)
        problems += about(part.name, warnings)
    form = markdown.problems if len(specs) != 1 else about(specs[0].name, markdown.problems)
    return tuple(specs), (*form, *problems)


class _Reading:
    """Reads one spec of a file."""

    def __init__(self, markdown: Markdown, part: _Part) -> None:
        self.markdown, self.part, self.name = markdown, part, part.name
        self.sections = _sections(part.lines)

    def spec(self, documents: dict[str, str]) -> tuple[Spec, tuple[Problem, ...]]:
        requirements = read_plain_requirements(self.markdown, self._lines("requirements", "edges"))
        index = index_of(requirements.requirements, "")
        tasks = read_plain_tasks(self.markdown, self._lines("tasks"), index)
        whole = Markdown(self.markdown.where, tuple(self.part.lines))
        traces, problems = read_traceability(whole, index)
        rows = [row for _, named in self._rows() for row in named]
        spec = Spec(
            name=self.name,
            dialect="plain",
            path=self.markdown.where,
            title=self.part.title or self.name,
            requirements=requirements.requirements,
            groups=tasks.groups,
            dependencies=without_doubles([*rows, *read_dependencies(whole, self.name)]),
            traceability=traces,
            test_commands=read_commands(Markdown("", (_COMMANDS, *map(_with_command, self._lines("commands"))))),
            withdrawn=requirements.withdrawn,
            documents=documents,
            source=source_in(Markdown("", tuple(self._lines("")))),
            implied=requirements.implied,
            places=requirements.places | tasks.places,
        )
        spec, ended = self._ended(spec)
        remarks = (*ended, *self._remarks(spec.is_planned))
        return spec, (*requirements.problems, *tasks.problems, *problems, *remarks)

    def _lines(self, *kinds: str) -> list[Line]:
        """Edge cases in a section of their own are a requirement of their own, and so is `## Requirement: T`."""
        lines: list[Line] = []
        for section in (section for section in self.sections if section.kind in kinds):
            title = plain(section.title) if section.kind == "requirements" else ""
            is_one = section.kind == "edges" or (title != "" and _LIKE["one_requirement"].match(title))
            lines += [section.heading, *section.lines] if is_one and section.heading else section.lines
        return lines

    def _rows(self) -> Iterator[tuple[Line, list[Dependency]]]:
        """The lines that say what is waited for. A table is read elsewhere, and `none` is an answer."""
        for line in self._lines("depends"):
            is_other = line.is_code or line.is_blank or "|" in line.text or line.heading is not None
            if not is_other and line.text.strip(" *+-.").lower() not in _NOTHING:
                yield line, _dependencies_in(line, self.markdown)

    def _ended(self, spec: Spec) -> tuple[Spec, list[Problem]]:
        """A spec whose first words say that it was taken back expects nothing."""
        firsts = (_first(self.part.before), _first(self._lines("")))
        ended = ((first, match) for first in firsts if first and (match := _LIKE["ended"].match(first.text)))
        first, match = next(ended, (None, None))
        if first is None or match is None:
            return spec, []
        if match["word"].lower() == "baseline":
            return replace(spec, is_baseline=True), []
        problem = warning(
            self.markdown.at(first.number), f"{spec.name} is {match['word'].lower()}: nothing of it is planned"
        )
        gone = (*spec.expected, *spec.withdrawn)
        return replace(spec, requirements=(), withdrawn=gone, is_withdrawn=True), [problem]

    def _remarks(self, is_planned: bool) -> Iterable[Problem]:
        """What is not read, and sections that are not there, with those that are: one may be called differently."""
        for section in self.sections:
            if section.kind == "aside" and section.heading is not None:
                what = f'the boxes under "{section.title}" are no tasks: not read. Move those that are'
                yield warning(self.markdown.at(section.heading.number), what)
        for line in (line for line, rows in self._rows() if not rows):
            yield warning(self.markdown.at(line.number), "this line names no spec: not read. Write its name first")

        kinds = {section.kind for section in self.sections}
        titles = [title for kind, title in (("requirements", "Requirements"), ("tasks", "Tasks")) if kind not in kinds]
        if titles and is_planned:
            wanted = " and ".join(f"`## {title}`" for title in titles)
            there = ", ".join(section.title for section in self.sections if section.title)
            what = f"{self.name} has no section {wanted} (its sections: {there or 'none'}). Write what is missing"
            yield warning(self.markdown.at(self.part.heading.number), what)


def _first(lines: Iterable[Line]) -> Line | None:
    """The first line that says anything, after front matter."""
    texts = [line for line in lines if not line.is_blank and not line.is_code]
    rules = [place for place, line in enumerate(texts) if line.text.strip() == "---"]
    begins = rules[1] + 1 if len(rules) > 1 and rules[0] == 0 else 0
    return texts[begins] if begins < len(texts) else None


@dataclass(slots=True)
class _Section:
    heading: Line | None
    kind: str
    lines: list[Line] = field(default_factory=list)

    @property
    def title(self) -> str:
        return self.heading.heading.title if self.heading and self.heading.heading else ""


def _sections(lines: Sequence[Line]) -> list[_Section]:
    """Cut at headings of the second rank (and the first: a forgotten `#`); where there is none, at known titles in
    bold. In another language the requirements are the last of the sections with lists before the tasks."""
    sections = [_Section(None, "")]
    has_any = any(line.heading is not None and line.heading.level <= 2 for line in lines)
    for line in lines:
        title = in_bold(line) if not has_any else ""
        if title and any(pattern.match(title) for pattern in _KINDS.values()):
            line = line._replace(heading=Heading(2, title))
        if line.heading is not None and line.heading.level <= 2:
            sections.append(_Section(line, "?"))
        else:
            sections[-1].lines.append(line)
    for section in sections[1:]:
        title = plain(section.title)
        unknown = ("aside" if is_aside(title) else "tasks") if holds_tasks(section.lines) else "?"
        section.kind = next((kind for kind, pattern in _KINDS.items() if pattern.match(title)), unknown)
    if not any(section.kind == "requirements" for section in sections):
        before = takewhile(lambda section: section.kind != "tasks", sections)
        listed = [s for s in before if s.kind == "?" and any(_LIKE["listed"].match(line.text) for line in s.lines)]
        for section in listed[-1:]:
            section.kind = "requirements"
    return sections


def _with_command(line: Line) -> Line:
    """A command without a label runs all tests; one without ticks gets them."""
    if line.is_code:
        return line
    if match := _LIKE["no_label"].match(line.text):
        return line._replace(text=f"{match['mark']}all tests: {match['command']}")
    if match := _LIKE["no_ticks"].match(line.text):
        return line._replace(text=f"{match['mark']}`{match['command'].strip()}`")
    return line


def _dependencies_in(line: Line, markdown: Markdown) -> list[Dependency]:
    """One spec and its groups, or names alone with commas between."""
    is_list = _LIKE["names"].fullmatch(line.text) is not None
    matches = [*_LIKE["a_name"].finditer(line.text)] if is_list else [_LIKE["dependency"].match(line.text)]
    rest = line.text[matches[0].end() :] if matches[0] and not is_list else ""
    numbers = (pattern.search(rest) for pattern in (_LIKE["its_group"], _LIKE["before_group"]))
    groups = [int(number[1]) if number else None for number in numbers]
    where, is_archived = markdown.at(line.number), "(archived)" in rest.lower()
    names = ((match["ticked"] or match["linked"] or match["name"]).strip() for match in matches if match)
    return [Dependency(name, groups[0], groups[1], where, is_archived) for name in names]
