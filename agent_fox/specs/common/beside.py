"""What documents say beside requirements and tasks: the commands of tests, from a list, a table or a code block; and
the issue that a spec came from. Whose repository that is, is not asked here."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from agent_fox.core.spec import SourceIssue
from agent_fox.specs.document import Markdown
from agent_fox.specs.lines import plain
from agent_fox.specs.outline import Kind, Table, section_of
from agent_fox.specs.word_tables import patterns_in

_LIKE = patterns_in(__file__)
_LABELS = {
    "spec test": "spec_tests",
    "all test": "all_tests",
    "full test suite": "all_tests",
    "linter": "linter",
    "lint": "linter",
}
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
            fenced += _fenced(block.texts) if block.kind is Kind.FENCE else []
    commands: dict[str, str] = {}
    for label, command in (*listed, *_tabled(markdown.tables), *fenced):
        commands.setdefault(label_of(label), " ".join(command.split()))
    return commands


def label_of(words: str) -> str:
    text = plain(words).rstrip(":")
    return _LABELS.get(text.lower().removesuffix("s"), text)


def _is_about_commands(section: str) -> bool:
    return "command" in section and "test" in section


def _tabled(tables: Iterable[Table]) -> Iterator[tuple[str, str]]:
    for table in tables:
        command = table.column_with("command")
        if command is not None and _is_about_commands(table.section) and len(table.header) > 1:
            label = 0 if command else 1
            for row in table.rows:
                line = row.cell(command).strip("` ")
                if line and row.cell(label):
                    yield row.cell(label), line


def _fenced(texts: Iterable[str]) -> Iterator[tuple[str, str]]:
    """A code block's lines, each named by the comment above it."""
    label = ""
    for text in filter(None, map(str.strip, texts)):
        if text.startswith("#"):
            label = text.lstrip("# ")
        elif not text.startswith(("```", "~~~")):
            yield label or text, text
            label = ""


def source_in(prd: Markdown) -> SourceIssue | None:
    """The first line such as `> Source: [GitHub Issue #114](https://github.com/o/r/issues/114)`, `Source: #12`,
    `Source: o/r#12`. A source that is no issue is none; what stands in code does not count."""
    for line in prd.lines:
        start = _LIKE["before"].match(line.text)
        says = _LIKE["says"].match(line.text, start.end() if start else 0)
        if says is not None and not line.is_code and line.indent < _CODE_INDENT:
            source = _issue(line.text[says.end() :])
            if source is not None:
                return source
    return None


def _issue(text: str) -> SourceIssue | None:
    """The issue that a text begins with: a link to one, or its address or number after a word or two."""
    link = _LIKE["link"].match(text)
    words = None if link else _LIKE["words"].match(text)
    rest = text[link.end() :] if link else text[words.end() if words else 0 :].lstrip(_MARKS)
    match = _LIKE["address"].match(rest) or (None if link else _LIKE["short"].match(rest))
    if match is None:
        return None
    named = match.groupdict()
    return SourceIssue(int(named["number"]), named["repository"] or "", named.get("host") or "")
