"""OpenSpec's changes, which are planned, and its capabilities, which say what is there; and where their documents lie.
A change says in prose what it is called, and for which other changes it waits."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cache, partial
from pathlib import Path

from agent_fox.core.spec import Dependency, Problem, Spec
from agent_fox.specs.collected import ReadTasks, spec_of
from agent_fox.specs.common.beside import read_commands
from agent_fox.specs.detection import OPENSPEC
from agent_fox.specs.document import Markdown, is_there, read_documents, read_markdown
from agent_fox.specs.files import error, place_of, warning
from agent_fox.specs.openspec.capabilities import Capability, read_capabilities
from agent_fox.specs.openspec.tasks import Names, paragraphs, read_tasks
from agent_fox.specs.word_tables import patterns_in

_LIKE = patterns_in(__file__)
_LONGEST = 4_000
_PROPOSAL, _TASKS, _DESIGN = "proposal.md", "tasks.md", "design.md"
_CAN_DO_WITHOUT = frozenset({_DESIGN})
_OPENSPEC_FOLDER, _CHANGES, _SPECS, _ARCHIVE = "openspec", "changes", "specs", "archive"
_SPEC_FILE = "spec.md"
_TOP_FILES = (_SPEC_FILE, "specs.md")
_OF_A_CHANGE = (_PROPOSAL, _TASKS, _SPECS, "specs.md")
_DEEPEST, _LONGEST_NAME = 6, 255


def read_openspec(folder: Path, root: Path) -> tuple[Spec | None, list[Problem]]:
    """Changes with a proposal, deltas and tasks; and the capabilities that they change. A capability in a folder that
    groups some has that one's name before its own."""
    if not _is_capability(folder):
        return _change(folder, root)
    documents = read_documents(folder, root, (_SPEC_FILE, _DESIGN), _CAN_DO_WITHOUT)
    file = documents.first(_SPEC_FILE)
    if file is None:
        return None, documents.problems
    markdown = read_markdown(file)
    read = read_capabilities([Capability(folder.name, markdown, is_baseline=True)])
    spec = spec_of(OPENSPEC, folder, root, documents, read.expected, ReadTasks())
    above = folder.parts[:-1]
    is_inside = _OPENSPEC_FOLDER in above and _SPECS in above
    groups = above[len(above) - above[::-1].index(_SPECS) :] if is_inside else ()
    spec = replace(spec, name=".".join((*groups, folder.name)), title=_title_in([markdown]), is_baseline=True)
    return spec, [*documents.problems, *read.problems]


def _change(folder: Path, root: Path) -> tuple[Spec | None, list[Problem]]:
    deltas, unlisted = _delta_files(folder, root)
    documents = read_documents(folder, root, (_PROPOSAL, _TASKS, _DESIGN, *deltas.values()), _CAN_DO_WITHOUT)
    documents.problems += unlisted
    if unlisted or any(documents.lacks([name]) for name in (_TASKS, *deltas.values())):
        return None, documents.problems
    capabilities = []
    for name, path in deltas.items():
        each = Capability(name, read_markdown(documents.files[path]))
        if path.endswith(_SPEC_FILE) or each.delta.drafts or each.delta.renamed:  # else a document beside them
            capabilities.append(each)
    read = read_capabilities(capabilities)
    documents.problems += read.problems
    for each in capabilities:
        baseline = folder.parent.parent / _SPECS / each.name / _SPEC_FILE
        if folder.parent.name == _CHANGES and is_there(baseline):
            documents.problems += each.stale(baseline, root)
    prose = {name: text for name in (_PROPOSAL, _TASKS) if (text := documents.markdown(name))}
    markdown = prose.get(_TASKS)
    tasks = read_tasks(markdown, Names(read), _title_in([markdown]) or folder.name) if markdown else ReadTasks()
    documents.problems += tasks.problems
    rows, problems = _waits_for(prose.values(), folder)
    spec = replace(
        spec_of(OPENSPEC, folder, root, documents, read.expected, tasks),
        title=_title_in(prose.values()),
        dependencies=rows,
        test_commands=read_commands(markdown) if markdown else {},
        places=tasks.places | read.places,
    )
    return spec, [*documents.problems, *problems]


def _title_in(documents: Iterable[Markdown]) -> str:
    """The first heading of rank 1, without what it says about the kind of document."""
    for document in documents:
        tops = (line.heading.title for line in document.lines if line.heading is not None and line.heading.level == 1)
        named = _LIKE["kind_of_document"].sub("", next(tops, ""), count=1)
        if title := _LIKE["kind_after"].sub("", named).strip("*_` "):
            return title
    return ""


def _waits_for(documents: Iterable[Markdown], folder: Path) -> tuple[tuple[Dependency, ...], list[Problem]]:
    """The other changes that prose says this one depends on, each once, and a word about each."""
    waits: dict[str, str] = {}
    is_change = cache(partial(_is_other_change, folder))
    for document in documents:
        section: int | None = None  # the rank of a heading about what is waited for
        for lines in paragraphs(document.lines):
            if (heading := lines[0].heading) is not None:
                is_below = section is not None and heading.level > section
                section = section if is_below else heading.level if _LIKE["section"].match(heading.title) else None
                continue
            text = " ".join(line.text.strip() for line in lines)[:_LONGEST]
            for sentence in _LIKE["sentence_ends"].split(text):
                starts = _LIKE["waits"].search(sentence)
                begins = 0 if section is not None else starts.end() if starts else len(sentence)
                names = [name for name in _names(sentence, begins) if name and is_change(name)]
                rest = sentence
                for name in names:  # `remove-not-found` denies nothing
                    rest = rest.replace(name, " ")
                for name in names if not _LIKE["no_wait"].search(rest) else ():
                    line = next((line.number for line in lines if name in line.text), lines[0].number)
                    waits.setdefault(name, document.at(line))
    rows = tuple(Dependency(name, None, None, where, is_archived=True) for name, where in waits.items())
    what = "waits for {}: read from prose. Correct the sentence if it does not"
    return rows, [warning(where, what.format(name)) for name, where in waits.items()]


def _names(sentence: str, begins: int) -> Iterator[str]:
    """What may be names of changes. One that may be an ordinary word counts in backticks alone."""
    for match in _LIKE["name"].finditer(sentence, begins):
        quoted, plain = (match["quoted"] or "").strip("/"), (match["plain"] or "").rstrip("-_")
        yield quoted.rpartition("/")[2] or (plain if "-" in plain or "_" in plain else "")


def _is_capability(folder: Path) -> bool:
    """Whether it says what is there. Its place decides before its documents do."""
    above = folder.parts[:-1]
    if _OPENSPEC_FOLDER in above:
        below = above[len(above) - 1 - above[::-1].index(_OPENSPEC_FOLDER) :]
        return _SPECS in below and _CHANGES not in below[: below.index(_SPECS)]
    return not any(is_there(folder / name) for name in _OF_A_CHANGE) and folder.parent.name != _CHANGES


def _delta_files(folder: Path, root: Path) -> tuple[dict[str, str], list[Problem]]:
    """The files that may hold a change's deltas, by the capability that each is about, in the capabilities' order:
    `specs/platform/auth/spec.md` is about `platform/auth`, and so is `specs/platform/auth.md` where that is not there.

    A name is relative to the folder, such as `specs/auth/spec.md`. What can't be listed is an error.
    """
    problems: list[Problem] = []

    def refuse(refused: OSError) -> None:
        if not isinstance(refused, FileNotFoundError | NotADirectoryError):
            what = f"this folder can't be read ({refused.strerror}); check its permissions"
            problems.append(error(place_of(Path(refused.filename), root), what))

    names: list[Path] = []
    for at, folders, inside in os.walk(
        folder / _SPECS, onerror=refuse
    ):  # not through links, which may lead in a circle
        own = Path(at).relative_to(folder)
        inside += [name for name in folders if name == _SPEC_FILE]
        names += [own / name for name in sorted(inside) if name.lower().endswith(".md") and not name.startswith(".")]
        folders[:] = [name for name in sorted(folders) if name != _SPEC_FILE and len(own.parts) < _DEEPEST]
    files: dict[str, str] = {}
    for name in sorted(names, key=lambda name: name.name != _SPEC_FILE):
        inner = name.parts[1:]
        parts = inner[:-1] if name.name == _SPEC_FILE else (*inner[:-1], name.name.removesuffix(".md"))
        files.setdefault("/".join(parts) or folder.name, name.as_posix())
    for top in _TOP_FILES:
        if is_there(folder / top):
            files.setdefault(folder.name, top)
    return dict(sorted(files.items())), problems


def _is_other_change(folder: Path, name: str) -> bool:
    """Whether a name is that of another change that is not archived."""
    if folder.parent.name != _CHANGES or name in (folder.name, _ARCHIVE) or name.startswith("."):
        return False
    return len(name.encode()) <= _LONGEST_NAME and _is_folder(folder.parent / name)


def _is_folder(path: Path) -> bool:
    """Whether a folder is there; False where nobody can look."""
    try:
        return path.is_dir()
    except OSError:
        return False
