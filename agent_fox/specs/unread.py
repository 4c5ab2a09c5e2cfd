"""Whether anything stands in a spec's documents and in nothing that was read of it, whatever the dialect.

It knows no dialect's forms, so that it sees what they do not know: items, rows, boxes, sentences that oblige, and ids.
What is said of it is in `accounts/`.
"""

from __future__ import annotations

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
_LEADING_TO_THEM = frozenset({"prd.md", "plan.md", "proposal.md", "requirements.json", "tasks.json"})
_OF_THE_WRITING = ("checklists", "contracts")
"""Folders of spec-kit's: `checklists/requirements.md` asks whether the spec is well written, and demands nothing."""
_OBLIGES = regex(r"(?<![\"'`“‘\w])(?:SHALL|MUST)\b(?![\s*_`]*\|\s*$)")
"""A word that fills the last cell of a row says how strong the row's text is, and obliges to nothing by itself."""
WORD = regex(r"\w+")
ID = regex(r"(?<![\w./-])(?P<head>(?:[A-Z0-9]{1,9}-){0,3}[A-Z]{1,9})-(?P<tail>\d{1,9}(?:\.E?\d{1,9})*[a-z]?)(?![\w-])")
_DECLARES = regex(r"[\s>|*_`~\[(+-]*(?:\d{1,4}[.)]\s+)?(?:\[[ xX]\]\s*)?[*_`~\[(]*$")
_IS_LAST = regex(r"[\]`*_).,;\s]*(?:$|\|)")
_OF_AN_ITEM = "-*+ "
_SHOWN_WORDS = 8
_MOST_BEFORE = 5
"""Words that may stand before a text and are no part of it: a mark, a box, an id, labels."""
_BEGINNING = 120
"""Characters; in most texts so many words stand in them as are looked at."""
_FEWEST = 4
"""A text of fewer words is known only as a whole line: one of them stands somewhere in any text."""
_SEARCHED = 50_000
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
    if any(_WORDS[name].match(head) for name in ("context", *({dialect} & _WITH_DOCUMENTS))):
        return About.CONTEXT
    return About.SUBJECT if _WORDS["subject"].search(head) else About.UNKNOWN


def obliges(text: str) -> bool:
    """Whether a text says SHALL or MUST, outside of quotes and code."""
    return ("SHALL" in text or "MUST" in text) and _OBLIGES.search(text) is not None


def bare(line: str) -> str:
    """A line without the mark and the box of an item."""
    return ((beside_box(line) if "[" in line else None) or line).strip(_OF_AN_ITEM)


class Held:
    """Texts that were read, by what they are part of: an id, `task 1.1`, `group 1`. The first with a line owns it.

    Most lines are asked for as they were read. What finds the others, by their words, is made when the first of them is
    asked for.
    """

    def __init__(self, texts: Iterable[tuple[str, str]]) -> None:
        self._given = texts
        self._runs: dict[int, dict[str, str]] = {}

    @cached_property
    def _texts(self) -> tuple[tuple[str, str], ...]:
        return tuple(self._given)

    @cached_property
    def lines(self) -> frozenset[str]:
        """Every line, bare."""
        lines = {line for _, text in self._texts for line in text.split("\n")}
        return frozenset(bare(line) if "[" in line else line.strip(_OF_AN_ITEM) for line in lines)

    @cached_property
    def _owners(self) -> dict[str, str]:
        """By the words of each line, with a space on both sides of each, whose it is."""
        owners: dict[str, str] = {}
        for owner, text in self._texts:
            for line in text.split("\n"):
                item = (beside_box(line) if "[" in line else None) or line
                owners.setdefault(f" {' '.join(WORD.findall(item))} ", owner)
        return owners

    @cached_property
    def _begins(self) -> dict[str, str]:
        begins: dict[str, str] = {}
        for line, owner in self._owners.items():
            begins.setdefault(" ".join(line.split()[:_SHOWN_WORDS]), owner)
        return begins

    @cached_property
    def _whole(self) -> str:
        return "\n".join(text for _, text in self._texts)

    @cached_property
    def _worded(self) -> str:
        return "\n".join(self._owners)

    def owner(self, text: str) -> str | None:
        """What a line is part of, first of all as one that begins so; None where nothing that was read has it. A source
        breaks its lines where it likes, so that a text also belongs to the line in whose midst its words stand."""
        item = beside_box(text) or text
        words = WORD.findall(item, 0, _BEGINNING)  # of a long one its beginning, where it has more than are looked at
        if len(words) <= _MOST_BEFORE + _SHOWN_WORDS and len(item) > _BEGINNING:
            words = WORD.findall(item)
        absent = {word for word in words if word not in self._whole} if len(self._whole) <= _SEARCHED else frozenset()
        starts = range(1 + max(0, min(_MOST_BEFORE, len(words) - _FEWEST)))
        shown = [(start, words[start : start + _SHOWN_WORDS]) for start in starts]
        runs = {start: " ".join(some) for start, some in shown if absent.isdisjoint(some)}
        begins = next(filter(None, map(self._begins.get, runs.values())), None) if runs else None
        if begins or len(words) >= _FEWEST:
            inside = (self._with_run(run) for start, run in runs.items() if start < _MOST_BEFORE)
            return begins or next(filter(None, inside), None)
        is_long = sum(len(word) for word in words if not word.isascii()) >= _LONG
        lines = ((line, owner) for owner, some in self._texts for line in some.split("\n")) if is_long else ()
        return next((owner for line, owner in lines if text.strip() in line), None)

    def _with_run(self, run: str) -> str | None:
        """The owner of the first line in which the words stand one behind the other."""
        if len(self._worded) <= _SEARCHED:
            place = self._worded.find(f" {run} ")
            return [*self._owners.values()][self._worded.count("\n", 0, place)] if place >= 0 else None
        length = run.count(" ") + 1
        if length not in self._runs:
            runs = self._runs[length] = {}
            for line, owner in self._owners.items():
                words = line.split()
                for some in zip(*(islice(words, start, None) for start in range(length)), strict=False):
                    runs.setdefault(" ".join(some), owner)
        return self._runs[length].get(run)


class Known:
    """What is known of a spec: its texts, where its ids and tasks stand, and how its ids look."""

    def __init__(self, spec: Spec) -> None:
        self.spec = spec
        self._joined: dict[str, str] = {}
        self.required, self.planned = Held(_required(spec)), Held(_planned(spec))
        self._asked = Held((part.id, part.text) for each in spec.requirements for part in each.parts)

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

    def holds(self, name: str, text: str) -> bool:
        """Whether the words of a text stand, one behind the other, in what an id or a task says."""
        if name not in self._joined:
            self._joined[name] = f" {' '.join(WORD.findall(chr(10).join(self._texts.get(name, ()))))} "
        return f" {' '.join(WORD.findall(beside_box(text) or text))} " in self._joined[name]

    def in_row(self, cells: Sequence[str]) -> str | None:
        """What a row of an index is about: its first cell is an id that is read, or with which a title begins; each of
        the others stands in what that says, or is a few words about it."""
        name = self._names.get(cells[0].strip("*_`[] ")) if len(cells) > 1 else None
        others = cells[1:] if name is not None else ()
        is_index = all(len(WORD.findall(cell)) < _FEWEST or self.says(name or "", cell) for cell in others)
        return name if is_index else None

    def says(self, name: str, text: str) -> bool:
        """Whether an id or a task holds a line that demands nothing: one that does is known by more than few words."""
        return not obliges(text) and self.holds(name, text)

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

    @cached_property
    def _written(self) -> frozenset[str]:
        return frozenset((*self.spec.places, *self.spec.withdrawn, *self.spec.expected))

    @cached_property
    def _plain_ids(self) -> frozenset[str]:
        return frozenset(_plain_id(name) for name in self._written if "-" in name)

    @cached_property
    def _prefixes(self) -> frozenset[str]:
        """What the regular ids begin with, without zeros in front."""
        regular: dict[str, bool] = {}
        for name in self._written:
            begins = name.rpartition("-")[0]
            regular[begins] = regular.get(begins) or (begins != "" and ID.fullmatch(_plain_id(name)) is not None)
        return frozenset(begins.lstrip("0").upper() for begins, is_regular in regular.items() if is_regular)

    def unknown_ids(self, document: Markdown) -> dict[str, int]:
        """Ids of the spec's own kinds that begin or end a line or a cell, and are not read, each with its line."""
        prefixes, placed = self._prefixes, self.placed.get(document.where, {})
        unknown: dict[str, int] = {}
        for line in document.words if prefixes else ():
            text = line.text
            rest = _without(placed.get(line.number, ""), text) if "-" in text else ""
            if not rest or (len(prefixes) <= _FEW_PREFIXES and not any(prefix in rest for prefix in prefixes)):
                continue
            for match in (match for match in ID.finditer(text) if match[0] not in self._written):
                name = _plain_id(match[0])
                if name.rpartition("-")[0] not in prefixes or name in self._plain_ids:
                    continue
                before, after = text[: match.start()].rpartition("|")[2], text[match.end() :]
                if _DECLARES.match(before) or _IS_LAST.match(after):
                    unknown.setdefault(match[0], line.number)
        return unknown


def _without(name: str, text: str) -> str:
    """A line without the id that was read there, where it stands as a whole: most lines have no other."""
    before, own, after = text.partition(name) if "-" in name else (text, "", "")
    is_whole = own and not (after[:1].isalnum() or after[:1] in (".", "-"))
    return f"{before} {after}" if is_whole else text


def without_groups(specs: Iterable[Spec], root: Path) -> Iterator[Problem]:
    """What is ticked in a spec without groups would never be built, and nobody would miss it."""
    for spec in specs:
        where = spec.documents.get(TASKS, spec.path)
        is_one = spec.is_planned and spec.documents and not spec.groups and where.endswith(".md")
        read = markdown_at(root / where, root) if is_one else None
        lines: Iterable[Line] = read.words if read is not None else ()
        boxes = [line.number for line in lines if beside_box(line.text) is not None]
        taken = frozenset(spec.places.values()) if boxes else ()
        boxes = [number for number in boxes if f"{where}:{number}" not in taken]
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


def documents_beside(spec: Spec) -> list[str]:
    """The paths of the documents from which requirements were drawn: what they demand stands in those, or is told."""
    beside = [where for name, where in spec.documents.items() if name in _LEADING_TO_THEM]
    return beside if not (spec.origin or is_whole(spec)) else []


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


def _plain_id(identifier: str) -> str:
    """The same id without zeros in front of its numbers, in capital letters."""
    head, _, tail = identifier.rpartition("-")
    parts = [part.lstrip("0") or "0" for part in tail.split(".")]
    return f"{head.lstrip('0')}-{'.'.join(parts)}".upper()
