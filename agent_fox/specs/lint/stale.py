"""Rules about what lies outside of one spec: files that it says exist, other changes to the same thing."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import PurePosixPath

from agent_fox.core.spec import Spec, TaskState
from agent_fox.specs.detection import OPENSPEC
from agent_fox.specs.lint.pages import read_pages
from agent_fox.specs.lint.values import Found, Level, PlanRule, SpecRule
from agent_fox.specs.lint.world import Case, World

_MODIFIED = re.compile(
    r"`(?P<path>[\w.@+-]{1,100}(?:/[\w.@+-]{1,100}){0,20})`\*{0,2}\s{0,3}\(modified\b", re.IGNORECASE
)
_DELTAS = re.compile(r"specs/(?P<capability>.{1,300})/spec\.md")
_SECTION = re.compile(r"\s*(?P<kind>MODIFIED|REMOVED|RENAMED)\s+Requirements", re.IGNORECASE)
_TITLE = re.compile(r"\s*Requirement\s*[:\uff1a]\s*(?P<title>.*\S)", re.IGNORECASE)


def missing_file(case: Case) -> Iterator[Found]:
    """Files that design.md says are there to be modified. Once work has begun, they may have moved on; and a spec that
    waits for another may modify what that one is to make."""
    page = case.page("design.md")
    if page is None or not case.spec.is_planned or _has_begun(case.spec) or _waits(case):
        return
    for line in page.markdown.lines if _MODIFIED.search(page.file.text) else ():
        for found in _MODIFIED.finditer(line.text) if not line.is_code else ():
            path = PurePosixPath(found["path"])
            if len(path.parts) > 1 and ".." not in path.parts and not (case.world.root / path).exists():
                yield Found(page.at(line.number), f"{path} is to be modified, but is not there")


def _has_begun(spec: Spec) -> bool:
    return any(group.state is not TaskState.OPEN for group in spec.groups)


def _waits(case: Case) -> bool:
    """Whether any other spec is still to be built that this one names."""
    named = {row.spec for row in case.spec.dependencies}
    others = (spec for spec in case.world.plan.specs if spec.name in named)
    return any(group.state is TaskState.OPEN for other in others for group in other.groups)


def modified_twice(world: World) -> Iterator[Found]:
    """Two changes that modify one requirement of one capability: whichever is archived last undoes the other."""
    seen: dict[tuple[str, str], list[tuple[Spec, str]]] = defaultdict(list)
    for spec in world.plan.specs:
        if spec.dialect == OPENSPEC and spec.is_planned:
            for key, where in _modified(spec, world):
                seen[key].append((spec, where))
    for (capability, title), places in seen.items():
        first, *others = places
        for spec, where in others:
            if spec.name != first[0].name:
                what = f"{title} of {capability} is modified by {first[0].name} too ({first[1]})"
                yield Found(where, what, spec=spec.name)


def _modified(spec: Spec, world: World) -> Iterator[tuple[tuple[str, str], str]]:
    """Capability and title of each requirement that a change modifies, removes or renames, and its place."""
    for page in read_pages(spec, world.root):
        of = _DELTAS.fullmatch(page.name)
        inside = False
        for line in page.markdown.lines if of else ():
            if line.heading is None:
                continue
            title = _TITLE.match(line.heading.title)
            if title and inside and of:
                yield (of["capability"], " ".join(title["title"].split())), page.at(line.number)
            elif title is None and line.heading.level <= 2:
                inside = _SECTION.match(line.heading.title) is not None


_W = Level.WARNING
STALE = (
    SpecRule(
        "missing-file",
        _W,
        "The design of a spec that nobody has begun modifies a file that is not in the repository.",
        "Correct the path; or say (new).",
        needs_repository=True,
        check=missing_file,
    ),
    PlanRule(
        "modified-twice",
        _W,
        "Two changes (OpenSpec) modify one requirement: whichever is archived last undoes the other.",
        "Join them, or let one wait until the other is archived.",
        check=modified_twice,
    ),
)
