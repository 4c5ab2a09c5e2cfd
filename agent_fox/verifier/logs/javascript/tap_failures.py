"""Failures that TAP tells of: a test's, a file's that could not be loaded, and the crash of a whole run."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from agent_fox.core.regex import regex
from agent_fox.verifier.ground.results import Failure, FailureKind
from agent_fox.verifier.logs.frames import Place, any_place, at, first_line, javascript_place
from agent_fox.verifier.logs.javascript.stacks import broken_file, error_line, is_file, kind_of_broken_file, named_file

if TYPE_CHECKING:
    from agent_fox.verifier.logs.protocol import Workspace

_BATS = regex(r"in (?:test )?file ([^,\n]+), line (\d+)")
_PERL = regex(r"\bat (\S+) line (\d+)\.")


@dataclass(slots=True)
class TapTest:
    """A test line with what follows it. `has_failed` is of its sub-tests."""

    depth: int
    name: str
    is_ok: bool
    is_excused: bool
    before: list[str]
    has_children: bool = False
    has_failed: bool = False
    yaml: list[str] = field(default_factory=list)
    after: list[str] = field(default_factory=list)


def is_parents(test: TapTest) -> bool:
    """Whether a test failed only as the parent of one that did."""
    if not test.has_failed and not any("subtestsFailed" in line for line in test.yaml):
        return False
    kind = fields_of(test.yaml).get("failureType", "")
    return kind == "subtestsFailed" or (test.has_failed and not kind)


def failure_of(test: TapTest, name: str, workspace: Workspace, file: str | None) -> Failure:
    fields, text = fields_of(test.yaml), "\n".join(test.after)
    place = place_of(fields, workspace)
    if place is None and (match := _BATS.search(text) or _PERL.search(text)):
        place = Place(workspace.relative(match[1]), int(match[2]))
    place = place or any_place(text, workspace)
    message = first_line(message_of(fields)) or first_line(text) or test.name
    evidence = "\n".join(test.yaml) or text
    if is_file(test.name):
        wrapped = message if not error_line(test.before) else ""
        failure = broken_file(test.name, test.before, wrapped, place, workspace)
        return failure if failure.evidence != wrapped else replace(failure, evidence=evidence)
    return Failure(
        kind=FailureKind.TEST_FAILURE,
        message=message,
        **at(place, file or named_file(message, workspace)),
        test_name=name or None,
        evidence=evidence,
        exception=exception_of(fields),
    )


def crash_of(lines: list[str], workspace: Workspace) -> Failure | None:
    """What ended the run before it printed a plan."""
    error = error_line(lines)
    if not error:
        return None
    text = "\n".join(lines)
    place = any_place(text, workspace)
    return Failure(
        kind=kind_of_broken_file(text),
        message=error,
        **at(place),
        evidence=text,
        exception=error.partition(":")[0],
        is_error=True,
    )


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
        if match and workspace.holds(match[1]) and "node_modules/" not in match[1]:
            return Place(workspace.relative(match[1]), int(match[2]), int(match[3]) if match[3] else None)
    return None


def _unquoted(value: str) -> str:
    if len(value) > 1 and value[0] == value[-1] and value[0] in "'\"":
        inner = value[1:-1]
        return inner.replace("''", "'") if value[0] == "'" else inner.replace('\\"', '"').replace("\\n", "\n")
    return value
