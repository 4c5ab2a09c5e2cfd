"""Whether anything stands in a spec's documents and in nothing that was read of it, whatever the dialect.

It knows no dialect's forms, so that it sees what they do not know: items, rows, boxes, sentences that oblige, and ids.
What is said of it is in `accounts/`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from enum import Enum
from functools import cached_property, lru_cache
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from agent_fox.core.regex import regex
from agent_fox.specs.detection import AGENT_FOX, KIRO, OPENSPEC, SPEC_KIT
from agent_fox.specs.document import Markdown, markdown_at
from agent_fox.specs.files import error
from agent_fox.specs.lines import beside_box
from agent_fox.specs.word_tables import words_in

if TYPE_CHECKING:
    from agent_fox.core.spec import Problem, Spec
    from agent_fox.specs.lines import Line

TASKS = "tasks.md"
_REQUIREMENTS = frozenset({"requirements.md", "spec.md", "bugfix.md"})
_LEADING_TO_THEM = frozenset({"prd.md", "plan.md", "proposal.md"})
_IN_JSON = frozenset({"requirements.json", "tasks.json"})
_OF_THE_WRITING = ("checklists", "contracts")
"""Folders of spec-kit's: `checklists/requirements.md` asks whether the spec is well written, and demands nothing."""
_OBLIGES = regex(r"(?<![\"'`“‘\w])(?:SHALL|MUST)\b(?![\s*_`]*\|\s*$)")
"""A word that fills the last cell of a row says how strong the row's text is, and obliges to nothing by itself."""
WORD = regex(r"\w+")
ID = regex(r"(?<![\w./-])(?P<head>(?:[A-Z0-9]{1,9}-){0,3}[A-Z]{1,9})-(?P<tail>\d{1,9}(?:\.E?\d{1,9})*[a-z]?)(?![\w-])")
_DECLARES = regex(r"[\s>|*_`~\[(+-]*(?:\d{1,4}[.)]\s+)?(?:\[[ xX]\]\s*)?[*_`~\[(]*$")
_IS_LAST = regex(r"[\]`*_).,;\s]*(?:$|\|)")
_SHOWN_WORDS = 8
_MOST_BEFORE = 5
"""Words that may stand before a text and are no part of it: a mark, a box, an id, labels."""
_BEGINNING = 120
"""Characters; in most texts so many words stand in them as are looked at."""
_FEWEST = 4
"""A text of fewer words is known only as a whole line: one of them stands somewhere in any text."""
_SEARCHED = 100_000
"""Characters of texts that are searched for a line; of longer ones an index is made at once, so that time is linear."""
_FEW_PREFIXES = 8
_LONG = 8
"""Letters of a language that puts no spaces between its words; a text with so many is known in the midst of another."""

_WORDS = words_in(__file__)
_WITH_DOCUMENTS = frozenset({AGENT_FOX, KIRO, SPEC_KIT, OPENSPEC})
"""Dialects of which each document has its name and its purpose."""
_BEFORE_A_TITLE = regex(r"[\W\d_]*")
_LONGEST_TITLE = 160


class About(Enum):
    """What a section's title says that it holds."""

    SUBJECT = "subject"
    CONTEXT = "context"
    UNKNOWN = "unknown"


@lru_cache(maxsize=4096)
def about(title: str, dialect: str) -> About:
    """What a section of this title holds: what is to be proven or done, or context. The words of the context come
    first: *Test commands* are no tests. The examples in tests/specs/accounts/sections.toml are tried against it."""
    head = _BEFORE_A_TITLE.sub("", title[:_LONGEST_TITLE], 1)
    if _of_context(dialect).match(head):
        return About.CONTEXT
    return About.SUBJECT if _WORDS["subject"].search(head) else About.UNKNOWN


@lru_cache(maxsize=16)
def _of_context(dialect: str) -> re.Pattern[str]:
    names = ("context", *({dialect} & _WITH_DOCUMENTS))
    return re.compile("|".join(_WORDS[name].pattern for name in names), re.IGNORECASE)


def obliges(text: str) -> bool:
    """Whether a text says SHALL or MUST, outside of quotes and code."""
    return ("SHALL" in text or "MUST" in text) and _OBLIGES.search(text) is not None


def _words(text: str, most: int) -> list[str]:
    """The words of a text; of a long one its beginning, with more than so many."""
    words = WORD.findall(text, 0, _BEGINNING)
    return words if len(words) > most or len(text) <= _BEGINNING else WORD.findall(text)


class Held:
    """Texts that were read, by what they are part of: an id, `task 1.1`, `group 1`. The first with a line owns it.

    Most lines are asked for as they were read. What finds the others, by their first words or by any run of words in
    the midst of a line, is made when the first of them is asked for.
    """

    def __init__(self, texts: Iterable[tuple[str, str]]) -> None:
        self._texts = tuple(texts)
        self._runs: dict[int, dict[tuple[str, ...], str]] = {}

    @cached_property
    def _whole(self) -> str:
        return f"\n{chr(10).join(text for _, text in self._texts)}\n"

    @cached_property
    def _bare(self) -> frozenset[str]:
        return frozenset(map(_bare, self._whole.split("\n")))

    @cached_property
    def _lines(self) -> dict[str, str]:
        lines: dict[str, str] = {}
        for owner, text in self._texts:
            for line in text.split("\n"):
                lines.setdefault(line, owner)
        return lines

    @cached_property
    def _begins(self) -> dict[str, str]:
        begins: dict[str, str] = {}
        for line, owner in self._lines.items():
            begins.setdefault(_first_words(_words(beside_box(line) or line, _SHOWN_WORDS)), owner)
        return begins

    def has(self, text: str) -> bool:
        """Whether a line stands here as it is, or as a piece of another: then it has an owner, whoever that is."""
        bare = _bare(text)
        return bare in self._bare or self._has_piece(bare)

    def _has_piece(self, text: str) -> bool:
        place = self._whole.find(text) if len(self._whole) <= _SEARCHED else -1
        around = (self._whole[place - 1], self._whole[place + len(text)]) if place > 0 else ("_", "_")
        return not any(map(WORD.match, around)) and len(WORD.findall(text)) >= _FEWEST

    def owner(self, text: str) -> str | None:
        """What a line is part of; None where nothing that was read has it."""
        words = _words(beside_box(text) or text, _MOST_BEFORE + _SHOWN_WORDS)
        most = 1 + max(0, min(_MOST_BEFORE, len(words) - _FEWEST))
        begins = (self._begins.get(_first_words(words, start)) for start in range(most))
        return next(filter(None, begins), None) or self._inside(text.strip(), words)

    def _inside(self, text: str, words: list[str]) -> str | None:
        """The owner of a text in whose midst the words stand: a source breaks its lines where it likes."""
        if len(words) < _FEWEST and sum(len(word) for word in words if not word.isascii()) >= _LONG:
            return next((owner for line, owner in self._lines.items() if text in line), None)
        for start in range(min(_MOST_BEFORE, len(words) - _FEWEST + 1)):
            shown = tuple(words[start : start + _SHOWN_WORDS])
            if owner := self._with_runs(len(shown)).get(shown):
                return owner
        return None

    def _with_runs(self, length: int) -> dict[tuple[str, ...], str]:
        """Every run of so many words; made when it is first asked for."""
        if length not in self._runs:
            runs = self._runs[length] = {}
            for line, owner in self._lines.items():
                words = WORD.findall(line)
                for run in zip(*(islice(words, start, None) for start in range(length)), strict=False):
                    runs.setdefault(run, owner)
        return self._runs[length]


class Known:
    """What is known of a spec: its texts, where its ids and tasks stand, and how its ids look."""

    def __init__(self, spec: Spec) -> None:
        self.spec = spec
        self._joined: dict[str, str] = {}
        self.required, self.planned = Held(_required(spec)), Held(_planned(spec))
        self._asked = Held((part.id, part.text) for part in spec.parts)

    def holders(self, where: str, *, is_demand: bool) -> tuple[Held, ...]:
        """What is asked for the owner of a document's line. What a line demands must stand in a text that a verdict is
        asked about: the words above a requirement's criteria are shown with them, and nothing is asked about them."""
        if where.rpartition("/")[2] == TASKS:
            return (self.planned,)
        required = self._asked if is_demand else self.required
        return (required, self.planned) if is_whole(self.spec) else (required,)

    def owner(self, text: str, where: str) -> str | None:
        """What a line of a document is part of."""
        holders = self.holders(where, is_demand=obliges(text))
        return next(filter(None, (held.owner(text) for held in holders)), None)

    @cached_property
    def _texts(self) -> dict[str, list[str]]:
        texts: dict[str, list[str]] = {}
        for owner, text in (*_required(self.spec), *_planned(self.spec)):
            texts.setdefault(owner, []).append(text)
        return texts

    def has_words(self, name: str, text: str) -> bool:
        """Whether the words of a line stand, one behind the other, in what an id or a task says. Not of a line that
        demands: that is known by more than a few words."""
        return not obliges(text) and self.holds(name, text)

    def holds(self, name: str, text: str) -> bool:
        """Whether the words of a text stand, one behind the other, in what an id or a task says."""
        if name not in self._joined:
            self._joined[name] = f" {' '.join(WORD.findall(chr(10).join(self._texts.get(name, ()))))} "
        return f" {' '.join(WORD.findall(beside_box(text) or text))} " in self._joined[name]

    def in_row(self, cells: Sequence[str]) -> str | None:
        """What a row of an index is about: its first cell is an id that is read, or with which a title begins; each of
        the others stands in what that says, or is a few words about it."""
        name = self._names.get(cells[0].strip("*_`[] ")) if len(cells) > 1 else None
        is_index = name is not None and all(
            len(WORD.findall(cell)) < _FEWEST or self.has_words(name, cell) for cell in cells[1:]
        )
        return name if is_index else None

    @cached_property
    def _names(self) -> dict[str, str]:
        titled = ((ID.search(requirement.title), requirement.id) for requirement in self.spec.requirements)
        written = {match[0]: identifier for match, identifier in titled if match is not None}
        return written | {name: name for name in self.spec.expected}

    @cached_property
    def placed(self) -> dict[str, dict[int, str]]:
        """By document and line: what stands there."""
        names: dict[str, dict[int, str]] = {}
        for name, place in self.spec.places.items():
            path, _, number = place.rpartition(":")
            if number.isdecimal():
                names.setdefault(path, {}).setdefault(int(number), name)
        return names

    def unknown_ids(self, lines: Iterable[Line]) -> dict[str, int]:
        """Ids of the spec's own kinds that begin or end a line or a cell, and that nothing was read under; each with
        the first line that has it."""
        written = frozenset((*self.spec.places, *self.spec.withdrawn, *self.spec.expected))
        ids = frozenset(_plain_id(name) for name in written if "-" in name)
        prefixes = frozenset(name.rpartition("-")[0] for name in ids if ID.fullmatch(name))
        unknown: dict[str, int] = {}
        lines = [line for line in lines if "-" in line.text]
        if len(prefixes) <= _FEW_PREFIXES:
            lines = sorted({line for prefix in prefixes for line in lines if prefix in line.text})
        for line in lines:
            for match in ID.finditer(line.text):
                name = match[0] if match[0] not in written else ""
                is_ours = name != "" and _plain_id(name).rpartition("-")[0] in prefixes
                if not is_ours or _plain_id(name) in ids:
                    continue
                before, after = line.text[: match.start()].rpartition("|")[2], line.text[match.end() :]
                if _DECLARES.match(before) or _IS_LAST.match(after):
                    unknown.setdefault(name, line.number)
        return unknown


def without_groups(specs: Iterable[Spec], root: Path) -> Iterator[Problem]:
    """What is ticked in a spec without groups would never be built, and nobody would miss it."""
    for spec in specs:
        where = spec.documents.get(TASKS, spec.path)
        is_one = spec.is_planned and spec.documents and not spec.groups and where.endswith(".md")
        read = markdown_at(root / where, root) if is_one else None
        taken = frozenset(spec.places.values())
        lines = [line for line in read.words if beside_box(line.text) is not None] if read is not None else []
        boxes = [line.number for line in lines if f"{where}:{line.number}" not in taken]
        if boxes:
            count = "a box" if len(boxes) == 1 else f"{len(boxes)} boxes"
            what = f"{count}, and no task group among them: nothing of it would be built. Write `- [ ] 1. Title`"
            yield error(f"{where}:{boxes[0]}", what, spec=spec.name)


def counted_documents(spec: Spec) -> Iterator[str]:
    """The paths of the documents that say what is to be proven or done. A normal form is what was read elsewhere."""
    for name, where in spec.documents.items() if not spec.origin else ():
        folder, _, kind = name.rpartition("/")
        is_one = (kind in _REQUIREMENTS or kind == TASKS) and not folder.startswith(_OF_THE_WRITING)
        if is_one or (is_whole(spec) and where.endswith(".md")):
            yield where


def documents_beside(spec: Spec) -> Iterator[str]:
    """The paths of the documents from which requirements were drawn: what they demand stands in those, or is told."""
    names = (_LEADING_TO_THEM | _IN_JSON) if not (spec.origin or is_whole(spec)) else frozenset[str]()
    return (where for name, where in spec.documents.items() if name in names)


def is_whole(spec: Spec) -> bool:
    """Whether any document may say both what is to be proven and what is to be done: in plain specs, and a plugin's."""
    return spec.dialect not in _WITH_DOCUMENTS


def counted(spec: Spec, root: Path) -> Iterator[Markdown]:
    """The same documents, as far as they can be read."""
    return filter(None, (markdown_at(root / where, root) for where in counted_documents(spec)))


def _required(spec: Spec) -> Iterator[tuple[str, str]]:
    for requirement in spec.requirements:
        yield requirement.id, requirement.title
        yield from ((part.id, part.text) for part in requirement.parts)
        yield requirement.id, requirement.text
        yield from ((requirement.id, detail) for detail in requirement.details)


def _planned(spec: Spec) -> Iterator[tuple[str, str]]:
    for group in spec.groups:
        for task in group.subtasks:
            yield f"task {task.number}", "\n".join((task.title, f"{task.number} {task.title}", *task.details))
        yield f"group {group.number}", f"{group.title}\n{group.text}"


def _bare(line: str) -> str:
    """A line without the mark and the box of an item."""
    return ((beside_box(line) if "[" in line else None) or line).strip("-*+ ")


def _first_words(words: list[str], start: int = 0) -> str:
    return " ".join(words[start : start + _SHOWN_WORDS])


def _plain_id(identifier: str) -> str:
    """The same id without zeros in front of its numbers, in capital letters."""
    head, _, tail = identifier.rpartition("-")
    parts = [part.lstrip("0") or "0" for part in tail.split(".")]
    return f"{head.lstrip('0')}-{'.'.join(parts)}".upper()
