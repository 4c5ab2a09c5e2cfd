"""What Kiro's JSON says of a spec, held against its documents: how far it was approved, in spec.json; and the task
graph of a tasks file, a block with `waves`, each a list of tasks that may run side by side. Both only warn.

Groups are built one after another, in the order of the file: that keeps to the waves, unless they sort whole groups
otherwise. Then it is said.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import TYPE_CHECKING

from pydantic import AliasChoices, BaseModel, Field, ValidationError

from agent_fox.specs.files import TextFile, warning
from agent_fox.specs.lines import Line

if TYPE_CHECKING:
    from agent_fox.core.spec import Problem
    from agent_fox.specs.document import Markdown

_STEPS = ("requirements", "design", "tasks")


class _Approval(BaseModel, defer_build=True):
    generated: bool = False
    approved: bool = False


class _SpecJson(BaseModel, defer_build=True):
    phase: str = ""
    approvals: dict[str, _Approval | bool] = {}


def check_approvals(file: TextFile, *, has_tasks: bool) -> tuple[Problem, ...]:
    """What spec.json says against planning the spec now."""
    try:
        approvals = _SpecJson.model_validate_json(file.text)
    except ValidationError as wrong:
        reason = wrong.errors()[0]["msg"]
        return (warning(file.where, f"can't be read as Kiro's spec.json ({reason}): approvals are not known. Mend it"),)
    if not has_tasks:
        phase = f"says phase {approvals.phase!r}, and there " if approvals.phase else "there "
        return (warning(file.where, f"{phase}are no tasks yet: nothing of it is built. Write tasks.md"),)
    known = ((step, approvals.approvals[step]) for step in _STEPS if step in approvals.approvals)
    approved = ((step, each.approved if isinstance(each, _Approval) else each) for step, each in known)
    is_open = [step for step, is_approved in approved if not is_approved]
    what = f"{', '.join(is_open)} not approved: planned all the same. Approve, or leave the spec out"
    return (warning(file.where, what),) if is_open else ()


_MOST_REPORTED, _LONGEST = 5, 40

_Tasks = list[str | int | float]


class _Wave(BaseModel, defer_build=True):
    tasks: _Tasks = Field(validation_alias=AliasChoices("tasks", "taskIds"))


class _Graph(BaseModel, defer_build=True):
    waves: list[_Tasks | _Wave]


def check_waves(markdown: Markdown, groups: Mapping[str, int]) -> Iterator[Problem]:
    """What a graph says that the plan does not do. `groups` has each task's group, in the order of the file."""
    for line, text in _blocks(markdown.lines):
        try:
            graph = _Graph.model_validate_json(text)
        except ValidationError:
            what = "this task graph can't be read as JSON with `waves`: its order is not known. Mend it"
            yield warning(markdown.at(line), what)
            continue
        waves = [wave.tasks if isinstance(wave, _Wave) else wave for wave in graph.waves]
        placed = [(place, str(task)) for place, wave in enumerate(waves) for task in wave]
        yield from _remarks(markdown.at(line), placed, groups)


def _blocks(lines: tuple[Line, ...]) -> Iterator[tuple[int, str]]:
    """The first line and the text of each fenced block that has waves."""
    if not any('"waves"' in line.text for line in lines if line.is_code):
        return
    block: list[Line] = []
    for line in (*lines, Line(0, "", 0, False, None)):
        if line.is_code and not line.text.lstrip().startswith(("```", "~~~")):
            block.append(line)
        else:
            if any('"waves"' in inside.text for inside in block):
                yield block[0].number, "\n".join(inside.text for inside in block)
            block = []


def _remarks(where: str, placed: Iterable[tuple[int, str]], groups: Mapping[str, int]) -> Iterator[Problem]:
    """Tasks that are not there; and groups that wholly precede another, which stands above them in the file."""
    unknown: dict[str, None] = {}
    first: dict[int, int] = {}
    last: dict[int, int] = {}
    for place, task in placed:
        number = task[:_LONGEST].strip().rstrip(".*")
        while number and number not in groups:  # `1.2.1` is a part of `1.2`
            number = number.rpartition(".")[0]
        if number:
            first.setdefault(groups[number], place)
            last[groups[number]] = place
        else:
            unknown[task[:20]] = None
    if unknown:
        names = ", ".join(islice(unknown, _MOST_REPORTED))
        yield warning(where, f"the task graph names {names}: no such task in this file. Correct the number")
    swapped: list[str] = []
    above: int | None = None
    for group in (group for group in dict.fromkeys(groups.values()) if group in first):
        if above is not None and last[group] < first[above]:
            swapped.append(f"{group} before {above}")
        elif above is None or first[group] > first[above]:
            above = group
    if swapped:
        what = f"the task graph has group {'; '.join(swapped[:_MOST_REPORTED])}"
        yield warning(where, f"{what}: they are built in the order of the file. Move them, if it matters")
