"""How people list requirement ids: one by one, as ranges, whole requirements, `all`."""

from __future__ import annotations

from collections.abc import Iterable

from tests.specs.made.spelling import Spelling
from tests.specs.made.truth import Truth


def listed(names: tuple[str, ...], truth: Truth, spelling: Spelling, prefix: str = "") -> str:
    """A list that names exactly these, in this order. `prefix` is put before some, such as `04-REQ-`."""
    if names == truth.tails and spelling.chance(0.3):
        return spelling.pick("all", "All")
    comma = spelling.pick(", ", ",", "; ")
    return comma.join(_named(run, truth, spelling, prefix) for run in _runs(names, spelling))


def _runs(names: tuple[str, ...], spelling: Spelling) -> Iterable[list[str]]:
    """Cut where the next one does not follow, and by chance."""
    run: list[str] = []
    for name in names:
        if run and (not _follows(run[-1], name) or spelling.chance(0.5)):
            yield run
            run = []
        run.append(name)
    if run:
        yield run


def _follows(before: str, name: str) -> bool:
    head, _, last = before.rpartition(".")
    letter = "E" if last.startswith("E") else ""
    return name == f"{head}.{letter}{int(last.removeprefix('E')) + 1}"


def _named(run: list[str], truth: Truth, spelling: Spelling, prefix: str) -> str:
    before = prefix if spelling.chance(0.6) else ""
    number = run[0].partition(".")[0]
    if tuple(run) == truth.needs[int(number) - 1].tails(int(number)) and spelling.chance(0.4):
        return before + number
    if len(run) == 1:
        return before + run[0]
    dash = spelling.pick("-", "\u2013", " - ", " to ", " through ") if before else spelling.pick("-", "\u2013")
    return before + run[0] + dash + (before if spelling.chance(0.5) else "") + run[-1]
