"""One Markdown document: its lines, its blocks, its tables, and what is wrong with its form; and those of one folder.

Each text is looked at once, however many ask. What it says is not here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from pathlib import Path

from agent_fox.core.spec import Problem, Severity
from agent_fox.specs.files import MERGE_MARKS, TextFile, left_by_a_merge, merge_left, read_text_file, warning
from agent_fox.specs.lines import Line, scan
from agent_fox.specs.outline import Block, Table, tables_of, tree_of

HEAD = 60
"""Lines in which a document says what it is."""
_KEPT = 64
"""Documents: those of a spec, which its reader and its account ask for one after the other."""


@dataclass(frozen=True)
class Markdown:
    """A Markdown file, read into lines. `problems` are about its form alone."""

    where: str
    lines: tuple[Line, ...]
    problems: tuple[Problem, ...] = ()

    @cached_property
    def tables(self) -> tuple[Table, ...]:
        return tuple(tables_of(self.blocks)) if any("|" in line.text for line in self.lines) else ()

    @cached_property
    def blocks(self) -> Block:
        """The document as a tree."""
        return tree_of(self.lines)

    @property
    def words(self) -> Iterator[Line]:
        """The lines that are no code."""
        return (line for line in self.lines if not line.is_code)

    def at(self, line: int) -> str:
        return f"{self.where}:{line}"


@lru_cache(maxsize=_KEPT)
def read_markdown(file: TextFile) -> Markdown:
    """Scan a text, and report what merges and forgotten marks left in it."""
    scanned = scan(file.text)
    what = "this code fence is never closed; close it"
    problems = [warning(f"{file.where}:{number}", what) for number in scanned.open_fences]
    if scanned.open_comment is not None:
        problems.append(warning(f"{file.where}:{scanned.open_comment}", "this comment is never closed; close it"))
    problems += filter(None, [conflict_in(file, scanned.lines)])
    return Markdown(file.where, scanned.lines, tuple(problems))


_at_hand: dict[tuple[str, str], TextFile] = {}
"""By their paths and roots, the texts of the spec that is being read."""


def forget_documents() -> None:
    """Let go what is kept of the spec that was read: its documents may change."""
    _at_hand.clear()
    read_markdown.cache_clear()


def text_at(path: Path, root: Path) -> TextFile | Problem:
    """The text in a place, as its dialect has just read it."""
    return _at_hand.get((str(path), str(root))) or read_text_file(path, root)


def markdown_at(path: Path, root: Path) -> Markdown | None:
    """The document in a place; None where none can be read there, which is reported elsewhere."""
    file = text_at(path, root)
    return read_markdown(file) if isinstance(file, TextFile) else None


def conflict_in(file: TextFile, lines: Iterable[Line] | None = None) -> Problem | None:
    """What a merge left in a Markdown file, the lines of which may be read already; marks in code are samples."""
    if left_by_a_merge(file) is None:
        return None
    lines = read_markdown(file).lines if lines is None else lines
    marked = (line.number for line in lines if line.text.startswith(MERGE_MARKS) and not line.is_code)
    return next((merge_left(file.where, number) for number in marked), None)


@dataclass(slots=True)
class Documents:
    """Texts by their names in the folder (`specs/auth/spec.md` for one further down), and what was wrong."""

    folder: Path
    files: dict[str, TextFile] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)

    def first(self, *names: str) -> TextFile | None:
        return next((self.files[name] for name in names if name in self.files), None)

    def lacks(self, names: Iterable[str]) -> bool:
        """Whether any of the names is there, and none of them could be read."""
        names = tuple(names)
        return self.first(*names) is None and any(is_there(self.folder / name) for name in names)

    def markdown(self, name: str) -> Markdown | None:
        """A document as lines, where it is there; what is wrong with its form is kept."""
        markdown = read_markdown(self.files[name]) if name in self.files else None
        self.problems += markdown.problems if markdown else ()
        return markdown

    @property
    def paths(self) -> dict[str, str]:
        """Names to paths relative to the repository's root, as `Spec.documents` has them."""
        return {name: file.where for name, file in self.files.items()}


def read_documents(
    folder: Path, root: Path, names: Iterable[str], can_do_without: frozenset[str] = frozenset()
) -> Documents:
    """Read those of the names that are there. One that can't be read is an error, or a warning if it can be missed."""
    documents = Documents(folder)
    for name in names:
        path = f"{folder}/{name}"
        read = read_text_file(path, root)
        if isinstance(read, TextFile):
            documents.files[name] = _at_hand[path, str(root)] = read
        elif is_there(folder / name):
            documents.problems.append(replace(read, severity=Severity.WARNING) if name in can_do_without else read)
    return documents


def is_there(path: Path) -> bool:
    """Whether something stands there, a link to nowhere too; what can't be asked for is taken to be there."""
    try:
        return bool(path.lstat())
    except OSError as refused:
        return not isinstance(refused, FileNotFoundError | NotADirectoryError)


def about(spec_name: str, problems: Iterable[Problem]) -> tuple[Problem, ...]:
    """The problems as those of a spec."""
    return tuple(replace(problem, spec=spec_name) for problem in problems)


def title_of(files: Iterable[TextFile]) -> str:
    """The first heading of the first file that has one, without what it says about the kind of document."""
    for file in files:
        for line in read_markdown(file).lines[:HEAD]:
            heading = line.heading
            if heading is not None and heading.level == 1:
                return heading.title.partition(":")[2].strip() or heading.title
    return ""
