"""Where each item of the specs' documents went, on a screen and as JSON: `plan --accounted`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from agent_fox.cli.screen import plain, title
from agent_fox.core.values import dataclass, to_object
from agent_fox.core.words import counted
from agent_fox.specs.accounts.account import Entry, Fate, account_of

if TYPE_CHECKING:
    from agent_fox.core.graph import Plan

_MOST_SHOWN = 72
_FATES = {
    Fate.ID: "id {}",
    Fate.PART: "part of {}",
    Fate.GROUP: "{}",
    Fate.CONTEXT: "context: {}",
    Fate.LEFTOVER: "left over",
}


@dataclass(frozen=True, slots=True)
class SpecItems:
    """The items of one spec's documents; `why_none` says why there are none."""

    spec: str
    items: tuple[Entry, ...]
    why_none: str = ""


def accounts(plan: Plan, root: Path) -> tuple[SpecItems, ...]:
    """The account of every spec of a plan, also of one that is not planned."""
    specs = []
    for spec in plan.specs:
        items = tuple(account_of(spec, root, plan.problems))
        specs.append(SpecItems(spec.name, items, "" if items else f"{spec.dialect}: no Markdown that is counted"))
    return tuple(specs)


def account_lines(specs: Sequence[SpecItems]) -> Iterator[str]:
    """A line for each spec with its sums, below it one for each item; and the sum of all."""
    for spec in specs:
        yield f"{title(spec.spec)}: {spec.why_none or _sums(spec.items)}"
        yield from map(_line, spec.items)
    if len(specs) > 1:
        yield f"all specs: {_sums(item for spec in specs for item in spec.items)}"


def _line(item: Entry) -> str:
    fate = _FATES[item.fate].format(item.name) + (", an error" if item.is_grave else "")
    text = item.text.strip() if len(item.text.strip()) <= _MOST_SHOWN else f"{item.text.strip()[: _MOST_SHOWN - 1]}…"
    return plain(f"  {item.where}  {item.kind}  {fate}  | {text}")


def _sums(items: Iterable[Entry]) -> str:
    every = list(items)
    count = Counter(item.fate for item in every)
    held = f"{counted(count[Fate.ID], 'id')}, {counted(count[Fate.PART], 'part')} of one, {count[Fate.GROUP]} in groups"
    return f"{counted(len(every), 'item')}: {held}, {count[Fate.CONTEXT]} context, {count[Fate.LEFTOVER]} left over"


def account_document(specs: Sequence[SpecItems]) -> list[dict[str, object]]:
    """One object a spec, with one for each item."""
    return [
        {
            "spec": spec.spec,
            "items": [
                {
                    "where": item.where,
                    **to_object(item, only=("kind", "text", "fate", "name")),
                    "is_error": item.is_grave,
                }
                for item in spec.items
            ],
        }
        for spec in specs
    ]
