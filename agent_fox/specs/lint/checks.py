"""Rules about sizes and order, about the way from a requirement to its tasks and its tests, and about what lies outside
of one spec: files that it says exist, other changes to the same thing. How requirements are worded is not here."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from agent_fox.core.spec import TaskState
from agent_fox.specs.common.id_ranges import index_of
from agent_fox.specs.detection import KIRO, OPENSPEC, SPEC_KIT
from agent_fox.specs.document import is_there
from agent_fox.specs.lint.values import Found, Level
from agent_fox.specs.lint.world import ENTRY
from agent_fox.specs.openspec.deltas import Operation, read_delta, same
from agent_fox.specs.word_tables import patterns_in

if TYPE_CHECKING:
    from agent_fox.specs.lint.world import Case

_LIKE = patterns_in(__file__)

_TROUBLE = ("error", "fail", "invalid", "reject", "missing", "unavailable", "timeout", "refuse", "unauthori", "malform")
_FINER = {SPEC_KIT: 2, OPENSPEC: 2}
"""Dialects whose tasks are smaller: a file each. So many times as many of them are one group's."""
_MOST_NAMED = 6
_MOST_ROWS = 50
_FEW_TESTS = frozenset({KIRO, SPEC_KIT, OPENSPEC})
"""Dialects that name tests for a few requirements only, such as for properties."""
_TOP_FILES = ("spec.md", "specs.md")

_Named = Iterator[tuple[str, str]]
"""Names of what the spec holds, each with what is wrong there."""


def task_order(case: Case) -> _Named:
    """A task that waits for one of a group that comes later, or for that group: groups are built one after another."""
    groups = case.spec.groups
    places = {str(group.number): place for place, group in enumerate(groups)}
    places |= {task.number: place for place, group in enumerate(groups) for task in group.subtasks}
    for own, group in enumerate(groups):
        for task in group.subtasks:
            if later := ", ".join(name for name in task.after if places.get(name, own) > own):
                what = f"{task.number} waits for {later}, but its group {group.number} is built before"
                yield f"task {task.number}", what


def task_circle(case: Case) -> _Named:
    """Tasks of one group that wait for each other; the first circle of each group."""
    for group in case.spec.groups:
        own = {task.number for task in group.subtasks}
        waits = {task.number: [name for name in task.after if name in own] for task in group.subtasks}
        try:
            TopologicalSorter(waits).prepare()
        except CycleError as error:
            circle = list(error.args[1])
            yield f"task {circle[-1]}", f"tasks wait for each other: {' → '.join(reversed(circle))}"


def large_group(case: Case) -> _Named:
    """More than one session can hold. What does not build a part may name everything: the tests alone, a check of all,
    the last group, which may be the only one."""
    limits, groups = case.world.settings, case.spec.groups
    most = limits.group_subtasks * _FINER.get(case.spec.dialect, 1)
    for group in groups:
        name, named = f"group {group.number}", len(group.requirements)
        if len(group.subtasks) > most:
            yield name, f"{name} has {len(group.subtasks)} subtasks; more than {most}"
        is_part = not (group.writes_tests_only or group.is_checkpoint or group is groups[-1])
        if is_part and named > limits.group_requirements:
            yield name, f"{name} names {named} requirements; more than {limits.group_requirements}"


def large_requirement(case: Case) -> _Named:
    most = case.world.settings.requirement_parts
    for name, parts in ((each.id, len(each.parts)) for each in case.spec.requirements):
        if parts > most:
            yield name, f"requirement {name} has {parts} criteria and edge cases; more than {most}"


def empty_group(case: Case) -> _Named:
    """Neither subtasks, nor a line below the title, nor requirements that it or a row names. A checkpoint needs none of
    them, and who is ticked has no coder."""
    owners = {number for numbers in case.owners.values() for number in numbers}
    for group in case.spec.groups:
        has_text = sum(bool(line.strip()) for line in group.text.split("\n")) > 1
        is_filled = has_text or bool(group.subtasks or group.requirements) or group.number in owners
        if not (is_filled or group.is_checkpoint or group.state in (TaskState.DONE, TaskState.SKIPPED)):
            yield f"group {group.number}", f"group {group.number} has only a title"


def first_checkpoint(case: Case) -> _Named:
    for group in case.spec.groups[:1]:
        if group.is_checkpoint:
            yield f"group {group.number}", f"group {group.number} is a checkpoint, and nothing stands before it"


def no_edge_case(case: Case) -> _Named:
    """Neither an edge case nor a criterion about what goes wrong. Judged where the spec has either at all; spec-kit has
    edge cases of the whole spec."""
    requirements = case.spec.requirements if case.spec.dialect != SPEC_KIT and case.spec.is_planned else ()
    silent = []
    for requirement in requirements:
        texts = (part.text[:2000].lower().split() for part in requirement.parts)
        is_told = any(words[:1] == ["if"] or any(word.startswith(_TROUBLE) for word in words) for words in texts)
        silent += [] if requirement.edge_cases or is_told else [requirement.id]
    for name in silent if len(silent) < len(requirements) else ():
        yield name, f"requirement {name} says nothing of what goes wrong"


def untraced_requirement(case: Case) -> _Named:
    """Parts that no task and no row names. Where a whole kind is never named, that is `untraced_kind`'s."""
    silent = _silent_kinds(case)
    for requirement in case.spec.requirements if case.spec.groups and case.spec.is_planned else ():
        left = [part.id for part in requirement.parts if not case.owners[part.id] and _kind(part.id) not in silent]
        if left:
            yield left[0], f"no task and no row names {_listed(left)}"


def untraced_kind(case: Case) -> Iterator[Found]:
    """All ids of one kind, such as `SC-001`, that no task names: once for the kind."""
    spec = case.spec
    for kind, parts in _silent_kinds(case).items() if spec.groups and spec.is_planned else ():
        is_all = len(parts) == len(spec.parts)
        what = "any requirement" if is_all else f"any of {_listed(parts)}"
        level = Level.WARNING if is_all and kind.count("-REQ-") else None
        yield Found(spec.place(parts[0]), f"no task and no row names {what}", level=level)


def _silent_kinds(case: Case) -> dict[str, list[str]]:
    """Kinds of ids of which no part has an owner; edge cases are of their requirement's kind."""
    kinds: dict[str, list[str]] = defaultdict(list)
    for part in case.spec.parts:
        kinds[_kind(part.id)].append(part.id)
    return {kind: parts for kind, parts in kinds.items() if not any(case.owners[part] for part in parts)}


def _kind(identifier: str) -> str:
    return _LIKE["any_number"].sub("n", identifier.upper()).partition(".")[0]


def untested_requirement(case: Case) -> _Named:
    """Parts that neither the test specification nor a row's tests name, where the spec has either for all of them."""
    spec, named = case.spec, case.test_entries.named
    rows = {trace.requirement for trace in spec.traceability if trace.tests or trace.tests_specified}
    if not (named or rows) or not spec.is_planned or spec.dialect in _FEW_TESTS:
        return
    names = index_of(spec.requirements, spec.name.partition("_")[0]).names
    tested = named | rows | {part for row in rows for part in names.get(row, ())}
    for requirement in spec.requirements:
        left = [part.id for part in requirement.parts if part.id not in tested and requirement.id not in tested]
        if left:
            yield left[0], f"no test is specified for {_listed(left)}"


def unnameable_id(case: Case) -> _Named:
    """Ids that a test's name can't hold, or can't tell from another id of the spec."""
    seen: dict[str, str] = {}
    for part in case.spec.parts:
        flat = _LIKE["not_plain"].sub("_", part.id.lower()).strip("_")
        if not _LIKE["letter_or_digit"].search(part.id):
            yield part.id, f"{part.id} has no letter and no digit that a test's name could hold"
        elif flat in seen:
            yield part.id, f"{part.id} and {seen[flat]} are one name, {flat}, in a test"
        else:
            seen[flat] = part.id


def stale_test_entry(case: Case) -> Iterator[Found]:
    """Entries such as `TS-04-9` that tasks or rows name, and the test specification does not have. An entry of another
    spec is that one's, so its number must be one that is used here."""
    declared = case.test_entries.declared
    numbers = {name.split("-")[1] for name in declared}
    for page in case.pages if declared else ():
        for number, line in page.lines if page.name.startswith("tasks.") else ():
            for name in map(str.upper, ENTRY.findall(line) if "TS-" in line.upper() else ()):
                if name.split("-")[1] in numbers and name not in declared:
                    yield Found(page.at(number), f"names {name}, which the test specification does not have")


def stale_test_requirement(case: Case) -> Iterator[Found]:
    """Requirements that the test specification names, and the spec does not have."""
    for name, where in case.test_entries.unknown if case.spec.expected else ():
        if name not in case.spec.withdrawn:
            yield Found(where, f"tests {name}: no such requirement in this spec")


def stale_task(case: Case) -> Iterator[Found]:
    """Tasks that rows or other tasks name, and the spec does not have. A trace does not know its line: it is looked for
    among the rows of the tasks file, by the words in them."""
    spec, page = case.spec, case.page("tasks.md")
    there = {task.number for group in spec.groups for task in group.subtasks} | {str(g.number) for g in spec.groups}
    rows: dict[str, list[tuple[str, str]]] = defaultdict(list)
    if page is not None and there and spec.traceability:
        for row in (row for table in page.markdown.tables for row in table.rows):
            raw = page.raw[row.line - 1]
            for word in set(_LIKE["cell"].split(raw)):
                rows[word].append((page.at(row.line), raw))
    for trace in spec.traceability if there else ():
        if left := [task for task in trace.tasks if task not in there]:
            near = rows[trace.requirement][:_MOST_ROWS]
            where = next((where for where, raw in near if left[0] in raw), spec.place(trace.requirement))
            yield Found(where, f"{trace.requirement} is traced to {_listed(left)}: no such task in this spec")
    for task in (task for group in spec.groups for task in group.subtasks):
        if left := [name for name in task.after if name not in there]:
            what = f"{task.number} waits for {_listed(left)}: no such task in this spec"
            yield Found(spec.place(f"task {task.number}"), what)


def _listed(names: list[str]) -> str:
    shown = ", ".join(names[:_MOST_NAMED])
    return shown + (f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else "")


def missing_file(case: Case) -> Iterator[Found]:
    """Files that design.md says are there to be modified. Once work has begun, they may have moved on; and a spec that
    waits for another, of which anything is still to be built, may modify what that one is to make."""
    page, spec = case.page("design.md"), case.spec
    named = {row.spec for row in spec.dependencies}
    others = (group for other in case.world.plan.specs if other.name in named for group in other.groups)
    has_begun = any(group.state is not TaskState.OPEN for group in spec.groups)
    if page is None or not spec.is_planned or has_begun or any(group.state is TaskState.OPEN for group in others):
        return
    for line in page.markdown.words if _LIKE["modified"].search(page.file.text) else ():
        for match in _LIKE["modified"].finditer(line.text):
            path = PurePosixPath(match["path"])
            if len(path.parts) > 1 and ".." not in path.parts and not is_there(case.world.root / path):
                yield Found(page.at(line.number), f"{path} is to be modified, but is not there")


def modified_twice(case: Case) -> Iterator[Found]:
    """Two changes that modify, take back or rename one requirement of one capability: whichever is archived last undoes
    the other. `specs/auth/spec.md` and `specs/auth.md` are about `auth`."""
    for page in case.pages if case.spec.dialect == OPENSPEC and case.spec.is_planned else ():
        if not page.name.startswith("specs/") and page.name not in _TOP_FILES:
            continue
        capability = page.name.removeprefix("specs/").removesuffix(".md").removesuffix("spec").strip("/")
        about, delta = capability or case.spec.name, read_delta(page.markdown.lines)
        named = [(draft.title, draft.line) for draft in delta.of(Operation.MODIFIED, Operation.REMOVED)]
        for title, line in (*named, *((renamed.old, renamed.line) for renamed in delta.renamed)):
            where = page.at(line)
            other, place = case.world.first_modified.setdefault((about, same(title)), (case.spec, where))
            if other is not case.spec:
                yield Found(where, f"{title} of {about} is modified by {other.name} too ({place})")
