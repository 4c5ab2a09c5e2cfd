"""Rules about what lies outside of one spec: files that it says exist, other changes to the same thing."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from agent_fox.core.regex import regex
from agent_fox.core.spec import Spec, TaskState
from agent_fox.specs.detection import OPENSPEC
from agent_fox.specs.document import is_there
from agent_fox.specs.lint.pages import read_pages
from agent_fox.specs.lint.values import Found
from agent_fox.specs.openspec.deltas import read_delta
from agent_fox.specs.openspec.words import Operation, same

if TYPE_CHECKING:
    from agent_fox.specs.lint.world import Case, World

_MODIFIED = regex(r"`(?P<path>[\w.@+-]{1,100}(?:/[\w.@+-]{1,100}){0,20})`\*{0,2}\s{0,3}\(modified\b", re.IGNORECASE)
_TOP_FILES = ("spec.md", "specs.md")


def missing_file(case: Case) -> Iterator[Found]:
    """Files that design.md says are there to be modified. Once work has begun, they may have moved on; and a spec that
    waits for another may modify what that one is to make."""
    page = case.page("design.md")
    has_begun = any(group.state is not TaskState.OPEN for group in case.spec.groups)
    if page is None or not case.spec.is_planned or has_begun or _waits(case):
        return
    for line in page.markdown.lines if _MODIFIED.search(page.file.text) else ():
        for match in _MODIFIED.finditer(line.text) if not line.is_code else ():
            path = PurePosixPath(match["path"])
            if len(path.parts) > 1 and ".." not in path.parts and not is_there(case.world.root / path):
                yield Found(page.at(line.number), f"{path} is to be modified, but is not there")


def _waits(case: Case) -> bool:
    """Whether any other spec is still to be built that this one names."""
    named = {row.spec for row in case.spec.dependencies}
    others = (spec for spec in case.world.plan.specs if spec.name in named)
    return any(group.state is TaskState.OPEN for other in others for group in other.groups)


def modified_twice(world: World) -> Iterator[Found]:
    """Two changes that modify one requirement of one capability: whichever is archived last undoes the other."""
    first: dict[tuple[str, str], tuple[Spec, str]] = {}
    for spec in world.plan.specs:
        if spec.dialect == OPENSPEC and spec.is_planned:
            for key, title, where in _modified(spec, world):
                other, place = first.setdefault(key, (spec, where))
                if other is not spec:
                    what = f"{title} of {key[0]} is modified by {other.name} too ({place})"
                    yield Found(where, what, spec=spec.name)


def _modified(spec: Spec, world: World) -> Iterator[tuple[tuple[str, str], str, str]]:
    """What a change modifies, takes back or renames: capability and title to compare by, title, place."""
    for page in read_pages(spec, world.root):
        capability = _capability(page.name, spec)
        if capability is None:
            continue
        delta = read_delta(page.markdown.lines)
        named = [(draft.title, draft.line) for draft in delta.of(Operation.MODIFIED, Operation.REMOVED)]
        for title, line in (*named, *((renamed.old, renamed.line) for renamed in delta.renamed)):
            yield (capability, same(title)), title, page.at(line)


def _capability(name: str, spec: Spec) -> str | None:
    """`specs/auth/spec.md` and `specs/auth.md` are about `auth`; None for a document that holds no deltas."""
    if not name.startswith("specs/") and name not in _TOP_FILES:
        return None
    return name.removeprefix("specs/").removesuffix(".md").removesuffix("spec").strip("/") or spec.name


STALE = {"missing-file": missing_file}
