"""The YAML that TAP producers write below a test line: keys with plain, quoted or block values. No other YAML."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING

from agent_fox.core.regex import regex
from agent_fox.verifier.logs.frames import Place, javascript_place

if TYPE_CHECKING:
    from agent_fox.verifier.logs.protocol import Workspace

_KEY = regex(r"^([\w-]+):(?: (.*))?$")
_BLOCK = regex(r"^[|>][+-]?\d*$")
_FLOW = regex(r"(\w+): *(?:\"([^\"]*)\"|'([^']*)'|([^,}\s]+))")
_POSITION = regex(r"^(?:[^(]*\()?((?:file://)?(?:[A-Za-z]:)?[^():]+):(\d+)(?::(\d+))?\)?$")

Fields = dict[str, str]


def fields_of(lines: Sequence[str]) -> Fields:
    """The keys of a block with their values as text; a nested block as its lines."""
    fields: Fields = {}
    nested: dict[str, list[str]] = {}
    key = ""
    for line in textwrap.dedent("\n".join(lines)).split("\n"):
        match = _KEY.match(line)
        if match:
            key, value = match[1], (match[2] or "").strip()
            fields[key] = "" if _BLOCK.match(value) else _unquoted(value)
            nested[key] = []
        elif key:
            nested[key].append(line)
    blocks = {key: textwrap.dedent("\n".join(inner)).strip("\n") for key, inner in nested.items()}
    return {key: value or blocks[key] for key, value in fields.items()}


def message_of(fields: Fields) -> str:
    """What went wrong, by the key that the producer uses for it."""
    error = fields.get("error", "")
    inner = fields_of(error.split("\n")) if re.match(r"(?:name|message): ", error) else {}
    return inner.get("message") or error or fields.get("message", "")


def exception_of(fields: Fields) -> str | None:
    error = fields.get("error", "")
    inner = fields_of(error.split("\n")) if error.startswith("name: ") else {}
    return inner.get("name") or fields.get("name") or None


def place_of(fields: Fields, workspace: Workspace) -> Place | None:
    """Where it was thrown, else where the test stands."""
    for text in (fields.get("stack", ""), fields.get("at", "")):
        if place := javascript_place(text, workspace):
            return place
    return _flow(fields.get("at", ""), workspace) or _position(fields, workspace)


def _flow(at: str, workspace: Workspace) -> Place | None:
    """`{line: 3, column: 5, file: "a.js"}`, or the same as a nested block."""
    pairs = {key: a or b or c for key, a, b, c in _FLOW.findall(at)}
    file, line = pairs.get("file") or pairs.get("fileName"), pairs.get("line") or pairs.get("lineNumber", "")
    column = pairs.get("column") or pairs.get("columnNumber", "")
    if not file or not line.isdigit():
        return None
    return Place(workspace.relative(file), int(line), int(column) if column.isdigit() else None)


def _position(fields: Fields, workspace: Workspace) -> Place | None:
    for text in (fields.get("at", ""), fields.get("location", "")):
        match = _POSITION.match(text)
        if match and workspace.holds(match[1]):
            return Place(workspace.relative(match[1]), int(match[2]), int(match[3]) if match[3] else None)
    return None


def _unquoted(value: str) -> str:
    if len(value) > 1 and value[0] == value[-1] and value[0] in "'\"":
        inner = value[1:-1]
        return inner.replace("''", "'") if value[0] == "'" else inner.replace('\\"', '"').replace("\\n", "\n")
    return value
