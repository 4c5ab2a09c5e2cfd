"""The Test Commands section: labels and command lines, from a list, a table or a code block."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from agent_fox.core.regex import regex
from agent_fox.specs.lines import Line, plain, with_sections

if TYPE_CHECKING:
    from agent_fox.specs.document import Markdown
    from agent_fox.specs.outline import Table

_SECTION = "command"
_LISTED = regex(r"\s*[-*+] +[*_]{0,2}(?P<label>[^:`]{1,80}?)[*_]{0,2}:[*_]{0,2}\s*`+(?P<command>[^`]+)`")
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
    lines = [line for section, line in with_sections(markdown.lines) if _is_about_commands(section)]
    commands: dict[str, str] = {}
    for label, command in (*_listed(lines), *_tabled(markdown.tables), *_fenced(lines)):
        commands.setdefault(label_of(label), " ".join(command.split()))
    return commands


def label_of(words: str) -> str:
    text = plain(words).rstrip(":")
    return _LABELS.get(text.lower(), text)


def _is_about_commands(section: str) -> bool:
    return _SECTION in section and "test" in section


def _listed(lines: Iterable[Line]) -> Iterator[tuple[str, str]]:
    for text in _bullets(lines):
        match = _LISTED.match(text)
        if match is not None:
            yield match["label"], match["command"]


def _bullets(lines: Iterable[Line]) -> Iterator[str]:
    """List items with the lines they wrap over."""
    bullet: list[str] = []
    for line in lines:
        text = line.text.strip()
        if line.is_code or not text or text[:2] in ("- ", "* ", "+ "):
            yield " ".join(bullet)
            bullet = []
        if text and not line.is_code:
            bullet.append(text)
    yield " ".join(bullet)


def _tabled(tables: Iterable[Table]) -> Iterator[tuple[str, str]]:
    for table in tables:
        command = table.column_with("command")
        if command is not None and _is_about_commands(table.section) and len(table.header) > 1:
            label = 0 if command else 1
            for row in table.rows:
                line = row.cell(command).strip("` ")
                if line and row.cell(label):
                    yield row.cell(label), line


def _fenced(lines: Iterable[Line]) -> Iterator[tuple[str, str]]:
    """A code block's lines, each named by the comment above it."""
    label = ""
    for line in lines:
        text = line.text.strip()
        if not line.is_code or not text or text.startswith(("```", "~~~")):
            continue
        if text.startswith("#"):
            label = text.lstrip("# ")
        else:
            yield label or text, text
            label = ""
