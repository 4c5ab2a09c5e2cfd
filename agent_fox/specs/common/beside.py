"""What documents say beside requirements and tasks: the specs that one depends on, in tables of every shape that is in
use; from a requirement to the tasks that implement it and the tests that show it; the commands of tests; and the issue
that a spec came from. Whether other specs exist, and whose repository an issue's is, is not asked here."""

from __future__ import annotations

import re
from collections.abc import Iterable

from agent_fox.core.spec import Dependency, Problem, SourceIssue, Trace
from agent_fox.specs.common.id_ranges import PartIndex
from agent_fox.specs.document import Markdown
from agent_fox.specs.files import warning
from agent_fox.specs.lines import plain
from agent_fox.specs.outline import Kind, section_of
from agent_fox.specs.word_tables import patterns_in

_LIKE = patterns_in(__file__)
_LABELS = {"spec test": "spec_tests", "all test": "all_tests", "full test suite": "all_tests"}
_LABELS |= dict.fromkeys(("linter", "lint"), "linter")
_THIS = ("this spec", "dependent", "dependent spec")
_DEPENDS_ON = ("depends on", "depends on spec")
_OTHER = (*_DEPENDS_ON, "spec", "specs", "upstream spec", "required spec", "spec name", "upstream")
_FROM = (
    "from group", "from", "required task group", "required group", "task group", "from task group", "group", "groups",
)  # fmt: skip
_TO = ("to group", "to", "to task group", "this group", "needed by group")
_NOTHING = frozenset({"", "-", "–", "—", "n/a", "none", "tbd", "null"})
_MARKS = "`<([*_'\" "
_CODE_INDENT = 4


def read_commands(markdown: Markdown) -> dict[str, str]:
    """Label to command line. The usual three get the names of the JSON form; others keep their words."""
    # A section says so in its title; what is quoted may have sections of its own.
    if not any("command" in line.text.lower() for line in markdown.lines if line.heading or ">" in line.text):
        return {}
    listed: list[tuple[str, str]] = []
    fenced: list[tuple[str, str]] = []
    for block, above in markdown.blocks.walk():
        if block.kind in (Kind.ITEM, Kind.FENCE) and _is_about_commands(section_of(above)):
            text = " ".join(map(str.strip, block.texts)) if block.mark in ("-", "*", "+") else ""
            match = _LIKE["listed"].match(text) if text else None
            listed += [(match["label"], match["command"])] if match is not None else []
            label = ""  # of a line in a code block: the comment above it
            for command in filter(None, map(str.strip, block.texts if block.kind is Kind.FENCE else ())):
                if command.startswith("#"):
                    label = command.lstrip("# ")
                elif not command.startswith(("```", "~~~")):
                    fenced.append((label or command, command))
                    label = ""
    for table in markdown.tables:
        column = table.column_with("command")
        if column is not None and _is_about_commands(table.section) and len(table.header) > 1:
            cells = ((row.cell(0 if column else 1), row.cell(column).strip("` ")) for row in table.rows)
            listed += [(label, command) for label, command in cells if label and command]
    commands: dict[str, str] = {}
    for label, command in (*listed, *fenced):
        commands.setdefault(label_of(label), " ".join(command.split()))
    return commands


def label_of(words: str) -> str:
    text = plain(words).rstrip(":")
    return _LABELS.get(text.lower().removesuffix("s"), text)


def _is_about_commands(section: str) -> bool:
    return "command" in section and "test" in section


def source_in(prd: Markdown) -> SourceIssue | None:
    """The first line such as `> Source: [GitHub Issue #114](https://github.com/o/r/issues/114)`, `Source: #12`,
    `Source: o/r#12`. A source that is no issue is none; what stands in code does not count."""
    for line in prd.lines:
        start = _LIKE["before"].match(line.text)
        says = _LIKE["says"].match(line.text, start.end() if start else 0)
        if says is not None and not line.is_code and line.indent < _CODE_INDENT:
            text = line.text[says.end() :]  # a link to an issue, or its address or number after a word or two
            link = _LIKE["link"].match(text)
            words = None if link else _LIKE["words"].match(text)
            rest = text[link.end() :] if link else text[words.end() if words else 0 :].lstrip(_MARKS)
            match = _LIKE["address"].match(rest) or (None if link else _LIKE["short"].match(rest))
            if match is not None:
                named = match.groupdict()
                return SourceIssue(int(named["number"]), named["repository"] or "", named.get("host") or "")
    return None


def read_dependencies(markdown: Markdown, spec_name: str) -> tuple[Dependency, ...]:
    """The dependencies that a file's tables declare for the spec, in the order of the rows. `This Spec` may name this
    spec, or say nothing; a row that names another one is that one's."""
    dependencies: list[Dependency] = []
    for table in markdown.tables:
        this = table.column(*_THIS)
        other = table.column(*(_OTHER if this is None else _DEPENDS_ON))
        if other is None:
            continue
        from_group, to_group = table.column(*_FROM), table.column(*_TO)
        is_about, has_both = "dependenc" in table.section, None not in (from_group, to_group)
        is_of_others = _LIKE["dependents"].match(table.section.rpartition(" / ")[2]) is not None
        says_so = this is not None or table.header[other].startswith("depends on")
        if not (says_so or ((is_about or has_both) and not is_of_others)):  # by its columns, or by the heading above it
            continue
        if from_group is None and is_about:
            from_group = table.column("dependency")
        for row in table.rows:
            about = _LIKE["folder"].findall(row.cell(this))
            if not about or spec_name in about or number_of(about[0]) == number_of(spec_name):
                before = row.cell(from_group)
                groups = group_in(before, last=True), group_in(row.cell(to_group), last=False)
                is_archived = _LIKE["archived"].match(before) is not None
                names, where = specs_in(row.cell(other)), markdown.at(row.line)
                dependencies += [Dependency(name, *groups, where, is_archived) for name in names]
    return tuple(dependencies)


def without_doubles(dependencies: Iterable[Dependency]) -> tuple[Dependency, ...]:
    """The same row in prd.md and in tasks.md counts once: the first is kept."""
    first: dict[tuple[str, int | None, int | None], Dependency] = {}
    for row in dependencies:
        first.setdefault((row.spec, row.from_group, row.to_group), row)
    return tuple(first.values())


def specs_in(cell: str) -> tuple[str, ...]:
    """The specs that a cell names: `01_core`, `38 (Hardening)`, `Spec 38`; empty where it names none."""
    text = cell.replace("`", "").replace("**", "").strip()
    folders = _LIKE["folder"].findall(text)
    if folders or _LIKE["no_spec"].match(text[:40]):
        return tuple(dict.fromkeys(folders))
    number = _LIKE["number"].match(text.strip("[("))
    if number is not None:
        return (number[1],)
    return (text,) if _LIKE["bare_name"].fullmatch(text) else ()


def group_in(cell: str, last: bool) -> int | None:
    """The group that a cell names; None for `all`, `(complete)`, `0`, a dash and other words.

    Where it names several, the `last` is meant of what must be done before, the first of what waits.
    """
    named = [int(number) for number in _LIKE["named_group"].findall(cell)]
    leading = _LIKE["leading_group"].match(cell)
    if not named and leading is not None:
        listed = re.split(r"[^\d\s,&–-]", cell[leading.start(1) :])[0]
        named = [int(number) for number in re.findall(r"\d{1,6}", listed)]
    groups = [number for number in named if number > 0]
    return (max(groups) if last else min(groups)) if groups else None


def read_traceability(markdown: Markdown, index: PartIndex) -> tuple[tuple[Trace, ...], tuple[Problem, ...]]:
    """All rows that name a requirement. Ids that the spec does not have are warnings, where it has any."""
    traces: list[Trace] = []
    problems: list[Problem] = []
    for table in markdown.tables:
        requirement, tasks = table.column_with("requirement"), table.column_with("task", "implement")
        if requirement is None or tasks is None:
            continue
        specified = table.column_with("test spec")
        others = (n for n, name in enumerate(table.header) if "test" in name and n not in (specified, tasks))
        tests = next(others, None)
        for row in table.rows:
            cell = row.cell(requirement)
            ids = index.names.get(cell, ()) if index.every else tuple(_LIKE["id"].findall(cell))
            unknown: tuple[str, ...] = ()
            if index.every and not ids and _LIKE["id"].search(cell):
                ids, unknown = index.expand(cell)
            if unknown:
                what = f"traces {', '.join(unknown)}: no such requirement in this spec. Correct the row"
                problems.append(warning(markdown.at(row.line), what))
            names = (part.strip().strip("`").strip() for part in _LIKE["separator"].split(row.cell(tests)))
            shown = tuple(name for name in names if name.lower() not in _NOTHING)
            by, specs = tasks_in(row.cell(tasks)) if ids else (), _LIKE["test_spec"].findall(row.cell(specified))
            traces += [Trace(identifier, tuple(specs), by, shown) for identifier in ids]
    return tuple(traces), tuple(problems)


def tasks_in(cell: str) -> tuple[str, ...]:
    """The tasks that a cell names, ranges such as `4.1–4.4` written out; a bare number is a group."""
    names: dict[str, None] = {}
    for match in _LIKE["tasks"].finditer(cell):
        group, _, first = (match[1] or "").partition(".")
        last = min(int(match[2]), int(first) + 99) if first else 0
        names |= {f"{group}.{number}": None for number in range(int(first), last + 1)} if first else {match[0]: None}
    return tuple(names)


def number_of(name: str) -> str:
    """The number of a spec, as it is named; the name itself where it has none."""
    head = name.partition("_")[0]
    return str(int(head)) if head.isdecimal() else name
