"""References to requirements that a capability does not have. What the delta asks for is not read here."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from agent_fox.core.words import nearest
from agent_fox.specs.document import read_markdown
from agent_fox.specs.files import TextFile, place_of, read_text_file, warning
from agent_fox.specs.openspec.deltas import read_delta
from agent_fox.specs.openspec.words import Operation, same

if TYPE_CHECKING:
    from agent_fox.core.spec import Problem
    from agent_fox.specs.openspec.capabilities import Capability

_HINTS, _COMPARED = 20, 500


def stale_references(one: Capability, baseline: Path, root: Path) -> Iterator[Problem]:
    """What the delta modifies, takes back or renames, and the baseline does not have.

    A baseline that can't be read says nothing here: it is a spec of its own, and its reader says so.
    """
    named = list(_named(one))
    file = read_text_file(baseline, root) if named else None
    if not isinstance(file, TextFile):
        return
    there = {same(draft.title): draft.title for draft in read_delta(read_markdown(file).lines).drafts}
    stale = [row for row in named if same(row[1]) not in there]
    for place, (line, title, what_is_done) in enumerate(stale):
        near = nearest(same(title), list(there)[:_COMPARED]) if place < _HINTS else ""
        hint = f'Did you mean "{there[near]}"?' if near else "Correct the title, or write it as ADDED"
        what = f'{what_is_done} "{title}", which {place_of(baseline, root)} does not have. {hint}'
        yield warning(one.markdown.at(line), what)


def _named(one: Capability) -> Iterator[tuple[int, str, str]]:
    """Lines and titles that must be there before. A name that the delta itself gives is its own."""
    new = {same(renamed.new) for renamed in one.delta.renamed}
    for draft in one.delta.of(Operation.MODIFIED):
        if same(draft.title) not in new:
            yield draft.line, draft.title, "modifies"
    for draft in one.removed:
        yield draft.line, draft.title, "takes back"
    for renamed in one.delta.renamed:
        yield renamed.line, renamed.old, "renames"
