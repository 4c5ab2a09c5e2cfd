"""The Test Commands section: labels and command lines, from a list, a table or a code block."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from agent_fox.core.regex import regex
from agent_fox.specs.lines import plain
from agent_fox.specs.outline import Kind, section_of

if TYPE_CHECKING:
    from agent_fox.specs.document import Markdown
    from agent_fox.specs.outline import Table

_SECTION = "command"
_LISTED = regex(r"[*_]{0,2}(?P<label>[^:`]{1,80}?)[*_]{0,2}:[*_]{0,2}\s*`+(?P<command>[^`]+)`")
_LABELS = {
    "spec tests": "spec_tests",
    "spec test": "spec_tests",
    "all tests": "all_tests",
    "all test": "all_tests",
    "full test suite": "all_tests",
    "linter": "linter",
    "lint": "linter",
}


def read_commands(markdown: Markdown) -> dict[str, str]:
    """Label to command line. The usual three get the names of the JSON form; others keep their words."""
    listed: list[tuple[str, str]] = []
    fenced: list[tuple[str, str]] = []
    for block, above in markdown.blocks.walk():
        if block.kind in (Kind.ITEM, Kind.FENCE) and _is_about_commands(section_of(above)):
            match = _LISTED.match(" ".join(map(str.strip, block.texts))) if block.mark in ("-", "*", "+") else None
            listed += [(match["label"], match["command"])] if match is not None else []
            fenced += _fenced(block.texts) if block.kind is Kind.FENCE else []
    commands: dict[str, str] = {}
    for label, command in (*listed, *_tabled(markdown.tables), *fenced):
        commands.setdefault(label_of(label), " ".join(command.split()))
    return commands


def label_of(words: str) -> str:
    text = plain(words).rstrip(":")
    return _LABELS.get(text.lower(), text)


def _is_about_commands(section: str) -> bool:
    return _SECTION in section and "test" in section


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
