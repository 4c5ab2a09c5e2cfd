"""Which tasks come after which, as words say it: `depends on T001`, `T004 blocks T005-T007`, `T001 → T002 → T003`.

A task's own words are read wherever they name other tasks; prose about the order of tasks only where a sentence says it
outright, with nothing between a number, the verb and the next number. Rows of tables count as well.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import chain, pairwise

from agent_fox.specs.common.task_lists import Numbers
from agent_fox.specs.document import Markdown
from agent_fox.specs.lines import plain
from agent_fox.specs.spec_kit.parts import items_of, parts_of
from agent_fox.specs.word_tables import patterns_in

_LIKE = patterns_in(__file__)
_SAID = ("comes_after", "comes_before")
_VERBS = ("arrow", *_SAID)


Stated = tuple[int, list[str], list[str]]
"""What a line says outright: each of its second list comes after each of the first."""
Named = tuple[tuple[str, ...], tuple[str, ...]]
"""Tasks that are there, and others."""


def rank(name: str) -> int:
    """What parts tasks with a `T` number from others: no range of the one kind names any of the other."""
    return int(_LIKE["t"].fullmatch(name) is not None)


def tasks_named(text: str, verb: str, numbers: Numbers) -> Named:
    """The tasks that a text says to wait for (`waits`), or that it `blocks`, ranges written out, and those of them that
    are not there."""
    starts = [match.end() for match in _LIKE[verb].finditer(text)]
    if verb == "waits":
        starts += [match.start() for match in _LIKE["order_comes_after"].finditer(text)]
    begins = (start for start in sorted(starts) if _LIKE["order_named"].match(text, start) is not None)
    lists = (next(_lists(text, start)) for start in begins)
    return parted((name for each in lists for name in _names(text, each, numbers)), numbers)


def phase_waits(text: str, numbers: Numbers) -> tuple[str, ...]:
    """The tasks that a line at the head of a phase says all of it depends on: `**Depends on**: T013 (the file)`."""
    bare = " ".join(_LIKE["brackets"].sub("", _LIKE["marks"].sub("", text)).split())
    begins = _LIKE["phase_waits"].match(bare)
    lists = list(_lists(bare)) if begins else []
    if begins is None or len(lists) != 1 or lists[0][0].start() != begins.end():
        return ()
    is_all = _LIKE["nothing_else"].match(bare, lists[0][-1].end()) is not None
    return tuple(name for name in _names(bare, lists[0], numbers) if name in numbers) if is_all else ()


def stated_in(markdown: Markdown, numbers: Numbers) -> Iterator[Stated]:
    """What the parts about the order of tasks say, and tables with a column for what a task depends on or blocks."""
    for part in parts_of(markdown.lines):
        titles = [part.label, *(heading.title for _, heading in part.path if heading.level > 1)]
        if any(_LIKE["about_order"].match(title[:200]) for title in titles):
            for item in items_of(line for line in part.lines if not line.is_code):
                for sentence in () if item.is_row else _sentences(item.text):
                    yield from _in_sentence(item.line, sentence, numbers)
    for table in markdown.tables:
        before = table.column_with("depend", "blocked by", "prerequisite", "依赖", "依賴", "依存")
        columns = before, table.column("blocks", "blocking", "unblocks")
        for row in table.rows if columns != (None, None) else ():
            own = next((cell for cell in (plain(cell) for cell in row.cells[:3]) if cell in numbers), None)
            if own is not None:
                cells = (_LIKE["brackets"].sub("", row.cell(column)) for column in columns)
                listed = ([_names(cell, each, numbers) for each in _lists(cell)] for cell in cells)
                first, later = (list(chain.from_iterable(names)) for names in listed)
                yield from ((row.line, first, [own]), (row.line, [own], later))


def _sentences(text: str) -> Iterator[str]:
    """Sentences without marks; what stands in brackets is a sentence of its own, unless it is but task numbers."""
    inside: list[str] = []

    def outside(found: re.Match[str]) -> str:
        if (
            _LIKE["order_named"].search(found["inside"])
            and not _LIKE["and"].sub("", _LIKE["order_named"].sub("", found["inside"])).strip()
        ):
            return found[0]
        inside.append(found["inside"])
        return ""

    without = _LIKE["brackets"].sub(outside, _LIKE["marks"].sub("", text))
    for sentence in (*_LIKE["sentence_ends"].split(without), *inside):
        if "T" in sentence and _LIKE["in_doubt"].search(sentence) is None:
            yield " ".join(sentence.split())


def _in_sentence(line: int, sentence: str, numbers: Numbers) -> Iterator[Stated]:
    """What one sentence says. In `T3 depends on T1, T4 depends on T2` the last of a list begins what follows it."""
    lists = list(_lists(sentence))
    gaps = [sentence[left[-1].end() : right[0].start()] for left, right in pairwise(lists)]
    verbs = [next((verb for verb in _VERBS if _LIKE[verb].fullmatch(gap)), "") for gap in gaps]
    for place, verb in enumerate(verbs):
        left, right = lists[place], lists[place + 1]
        if verb in _SAID:
            left = left[-1:] if place and verbs[place - 1] in _SAID and _isparted(sentence, left) else left
            goes_on = place + 1 < len(verbs) and verbs[place + 1] in _SAID
            right = right[:-1] if goes_on and _isparted(sentence, right) else right
        if verb:
            first, later = (right, left) if verb == "comes_after" else (left, right)
            yield line, _names(sentence, first, numbers), _names(sentence, later, numbers)


def _lists(sentence: str, start: int = 0) -> Iterator[list[re.Match[str]]]:
    """The numbers of a sentence, those together that follow one another."""
    matches: list[re.Match[str]] = []
    for number in _LIKE["order_named"].finditer(sentence, start):
        if matches and not _LIKE["and"].fullmatch(sentence, matches[-1].end(), number.start()):
            yield matches
            matches = []
        matches.append(number)
    if matches:
        yield matches


def _isparted(sentence: str, numbers: list[re.Match[str]]) -> bool:
    """Whether a comma stands before the last number of several."""
    return len(numbers) > 1 and "," in sentence[numbers[-2].end() : numbers[-1].start()]


def _names(sentence: str, found: list[re.Match[str]], numbers: Numbers) -> list[str]:
    """The names that a list writes, ranges written out."""
    names = [found[0][0]]
    for before, number in pairwise(found):
        link = _LIKE["and"].fullmatch(sentence, before.end(), number.start())
        is_range = link is not None and _LIKE["links_range"].match(link["link"]) is not None
        names += _between(before[0], number[0], numbers) if is_range else [number[0]]
    return [name for written in names for name in _between(written, written, numbers)]


def parted(names: Iterable[str], numbers: Numbers) -> Named:
    """Each name once: those of tasks that are there, and others."""
    once = dict.fromkeys(names)
    return tuple(name for name in once if name in numbers), tuple(name for name in once if name not in numbers)


def _between(first: str, last: str, numbers: Numbers) -> list[str]:
    """The tasks of a range; `T001-003` may be written as one number."""
    short = _LIKE["short_range"].fullmatch(first) if first not in numbers else None
    if short is not None:
        first, last = short[1], f"{short[1][: -len(short[2])]}{short[2]}"
    return numbers.between(first, last)
