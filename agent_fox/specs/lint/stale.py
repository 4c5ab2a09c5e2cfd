"""Rules about what lies outside of one spec: files that it says exist, other changes to the same thing."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from agent_fox.core.regex import regex
from agent_fox.core.spec import TaskState
from agent_fox.specs.detection import OPENSPEC
from agent_fox.specs.document import is_there
from agent_fox.specs.lint.values import Found
from agent_fox.specs.openspec.deltas import Operation, read_delta, same

if TYPE_CHECKING:
    from agent_fox.core.spec import Spec
    from agent_fox.specs.lint.world import Case, Page

_MODIFIED = regex(r"`(?P<path>[\w.@+-]{1,100}(?:/[\w.@+-]{1,100}){0,20})`\*{0,2}\s{0,3}\(modified\b", re.IGNORECASE)
_TOP_FILES = ("spec.md", "specs.md")


def missing_file(case: Case) -> Iterator[Found]:
    """Files that design.md says are there to be modified. Once work has begun, they may have moved on; and a spec that
    waits for another, of which anything is still to be built, may modify what that one is to make."""
    page, spec = case.page("design.md"), case.spec
    named = {row.spec for row in spec.dependencies}
    others = (group for other in case.world.plan.specs if other.name in named for group in other.groups)
    has_begun = any(group.state is not TaskState.OPEN for group in spec.groups)
    if page is None or not spec.is_planned or has_begun or any(group.state is TaskState.OPEN for group in others):
        return
    for line in page.markdown.words if _MODIFIED.search(page.file.text) else ():
        for match in _MODIFIED.finditer(line.text):
            path = PurePosixPath(match["path"])
            if len(path.parts) > 1 and ".." not in path.parts and not is_there(case.world.root / path):
                yield Found(page.at(line.number), f"{path} is to be modified, but is not there")


def modified_twice(case: Case) -> Iterator[Found]:
    """Two changes that modify one requirement of one capability: whichever is archived last undoes the other."""
    for key, title, where in _modified(case.spec, case.pages):
        other, place = case.world.first_modified.setdefault(key, (case.spec, where))
        if other is not case.spec:
            yield Found(where, f"{title} of {key[0]} is modified by {other.name} too ({place})")


def _modified(spec: Spec, pages: Iterable[Page]) -> Iterator[tuple[tuple[str, str], str, str]]:
    """What a change modifies, takes back or renames: capability and title to compare by, title, place.

    `specs/auth/spec.md` and `specs/auth.md` are about `auth`.
    """
    for page in pages if spec.dialect == OPENSPEC and spec.is_planned else ():
        if page.name.startswith("specs/") or page.name in _TOP_FILES:
            capability = page.name.removeprefix("specs/").removesuffix(".md").removesuffix("spec").strip("/")
            delta = read_delta(page.markdown.lines)
            named = [(draft.title, draft.line) for draft in delta.of(Operation.MODIFIED, Operation.REMOVED)]
            for title, line in (*named, *((renamed.old, renamed.line) for renamed in delta.renamed)):
                yield (capability or spec.name, same(title)), title, page.at(line)
