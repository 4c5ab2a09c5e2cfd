"""spec-kit's specs: spec.md, plan.md and tasks.md of one folder, put together; and what their prose says: which other
specs this one needs, and what it leaves open, such as questions that are marked and words of the template."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from agent_fox.core.regex import regex
from agent_fox.core.spec import BareCriteria, Dependency, Problem, Spec
from agent_fox.specs.collected import ReadRequirements, ReadTasks, spec_of
from agent_fox.specs.common.beside import read_commands, without_doubles
from agent_fox.specs.detection import SPEC_KIT
from agent_fox.specs.document import Markdown, read_documents
from agent_fox.specs.files import children, is_file, place_of, warning
from agent_fox.specs.lines import Line, listed, with_headings
from agent_fox.specs.spec_kit.identifiers import references_of
from agent_fox.specs.spec_kit.parts import Kind, kind_of
from agent_fox.specs.spec_kit.requirements import read_requirements
from agent_fox.specs.spec_kit.tasks import read_tasks
from agent_fox.specs.word_tables import patterns_in

_LIKE = patterns_in(__file__)
_SPEC, _PLAN, _TASKS = "spec.md", "plan.md", "tasks.md"
_BESIDE = ("data-model.md", "research.md", "quickstart.md")
_FOLDERS = ("contracts", "checklists")
_MOST_BESIDE, _HEAD = 200, 40
_LONGEST_HEADING, _LONGEST_QUESTION = 4000, 160
_FULL_WIDTH_ZERO = 0xFF10
_PLAIN = {0x2010: "-", 0x2011: "-", 0x00A0: " "} | {_FULL_WIDTH_ZERO + digit: str(digit) for digit in range(10)}
_ODD = regex(f"[{''.join(map(chr, _PLAIN))}]")


def read_spec_kit(folder: Path, root: Path, bare: BareCriteria) -> tuple[Spec | None, list[Problem]]:
    """Folders `NNN-name` with spec.md, plan.md and tasks.md, as spec-kit makes them, in any language."""
    documents = read_documents(folder, root, (_SPEC, _PLAN, _TASKS), frozenset({_PLAN}))
    if any(documents.lacks([name]) for name in (_SPEC, _TASKS)):
        return None, documents.problems
    read = {name: _plain(markdown) for name in documents.files if (markdown := documents.markdown(name))}
    requirements = read_requirements(read[_SPEC], bare) if _SPEC in read else ReadRequirements()
    tasks = read_tasks(read[_TASKS], references_of(requirements)) if _TASKS in read else ReadTasks()
    left = [problem for name in (_SPEC, _TASKS) if name in read for problem in _unfinished(read[name])]
    documents.problems += [*requirements.problems, *tasks.problems, *left]
    head = (line for line in read[_SPEC].lines[:_HEAD] if not line.is_code) if _SPEC in read else ()
    ended = next((line.number for line in head if _LIKE["ended"].match(line.text)), None)
    if ended is not None:
        documents.problems.append(warning(read[_SPEC].at(ended), f"{folder.name} has ended: nothing of it is planned"))
    siblings = sorted(path.name for path in children(folder.parent) if path.name != folder.name)
    named = (row for name in read for row in _needs_in(read[name], siblings, header_only=name == _TASKS))
    rows = without_doubles(row for row in named if row.spec != folder.name)
    for row in rows:
        what = f"read as: all of {row.spec} comes before this spec. Say it in other words if that is not meant"
        documents.problems.append(warning(row.where, what))
    # documents that only people and agents read: they are named, not read here
    beside = [name for name in _BESIDE if is_file(folder / name)]
    for name in _FOLDERS:
        beside += [f"{name}/{path.name}" for path in sorted(children(folder / name)) if is_file(path)]
    lines = (line for name in (_SPEC, _PLAN, _TASKS) if name in read for line in read[name].lines)
    title = next((line.heading.title for line in lines if line.heading), "")
    kind = _LIKE["kind_of_document"].match(title)
    spec = replace(
        spec_of(SPEC_KIT, folder, root, documents, requirements, tasks),
        title=kind["title"].strip() if kind else title,
        dependencies=rows,
        test_commands=dict(ChainMap(*map(read_commands, read.values()))),
        documents=documents.paths | {name: place_of(folder / name, root) for name in beside[:_MOST_BESIDE]},
    )
    if ended is not None:
        gone = (*spec.expected, *spec.withdrawn)
        spec = replace(spec, requirements=(), withdrawn=gone, is_withdrawn=True)
    return spec, documents.problems


def _plain(markdown: Markdown) -> Markdown:
    """The same with plain hyphens, digits and spaces: an id is written in many ways, and looks like one. Headings are
    of a length that headings have, for each is looked at for all tasks below it. The document itself, with its tree,
    where it is so already."""
    lines: dict[int, Line] = {}
    for line in markdown.lines:
        title = line.heading.title if line.heading else ""
        if len(title) > _LONGEST_HEADING or (not line.text.isascii() and _ODD.search(line.text)):
            title = title if len(title) <= _LONGEST_HEADING else f"{title[:_LONGEST_HEADING]}…"
            heading = line.heading and line.heading._replace(title=title.translate(_PLAIN))
            lines[line.number] = line._replace(text=line.text.translate(_PLAIN), heading=heading)
    written = tuple(lines.get(line.number, line) for line in markdown.lines)
    return replace(markdown, lines=written) if lines else markdown


def _needs_in(markdown: Markdown, siblings: list[str], *, header_only: bool) -> Iterator[Dependency]:
    """The specs that a document's section about dependencies, a line that says *depends on*, or the list below such a
    label names.

    A bare number counts as the one sibling that begins with it. `header_only`: only the lines before the first section.
    """
    is_below_label = False
    chapter = ""
    for chain, line in with_headings(markdown.lines):
        if line.heading is not None:
            chapter = " / ".join(heading.title.lower() for _, heading in chain).partition(" / ")[2]
        if line.is_code or (header_only and (chapter or line.number > _HEAD)):
            continue
        is_label = _LIKE["needs"].match(line.text) is not None
        is_listed = line.text.lstrip()[:2] in ("- ", "* ", "+ ")
        is_below_label = is_label or (is_below_label and (line.is_blank or is_listed) and line.heading is None)
        is_about = is_below_label or (not header_only and _LIKE["needs_section"].search(chapter))
        if is_about and _LIKE["needed_by"].search(line.text) is None:
            names = [match["name"] for match in _LIKE["folder"].finditer(line.text)]
            for match in _LIKE["number"].finditer(line.text):
                meant = [name for name in siblings if name.startswith(f"{match['number']}-")]
                names += meant if len(meant) == 1 else []
            yield from (Dependency(name, None, None, markdown.at(line.number), is_archived=True) for name in names)


def _unfinished(markdown: Markdown) -> Iterator[Problem]:
    """A warning for each question that is marked, but below an aside, and one for the template's words."""
    placeholders: list[tuple[int, str]] = []
    aside = 0
    for line in markdown.lines:
        if line.heading is not None and not 0 < aside < line.heading.level:
            aside = line.heading.level if kind_of(line.heading.title) is Kind.ASIDE else 0
        if line.is_code or "[" not in line.text:
            continue
        placeholders += [(line.number, match[0].rstrip("]")) for match in _LIKE["placeholder"].finditer(line.text)]
        for match in _LIKE["open"].finditer(line.text) if not aside else ():
            asked = " ".join(match["question"].lstrip(":： ").split())[:_LONGEST_QUESTION] or "no question is written"
            end = "" if asked.endswith(("?", "？", ".", "。")) else "."
            what = f"needs clarification: {asked}{end} Planned as it stands; answer it in the text"
            yield warning(markdown.at(line.number), what)
    if placeholders:
        lines = listed(number for number, _ in placeholders)
        what = f"half-written: the template's words `{placeholders[0][1]}]` and such stand in {lines}. Replace them"
        yield warning(markdown.at(placeholders[0][0]), what)
