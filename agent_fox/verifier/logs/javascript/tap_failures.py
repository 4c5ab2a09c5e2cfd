"""Failures that TAP tells of: a test's, a file's that could not be loaded, and the crash of a whole run."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from agent_fox.verifier.ground.results import Failure, FailureKind
from agent_fox.verifier.logs.frames import Place, at, first_line, is_file, place_in
from agent_fox.verifier.logs.javascript.stacks import broken_file, error_line, kind_of_broken_file, named_file
from agent_fox.verifier.logs.kinds import patterns_in

if TYPE_CHECKING:
    from agent_fox.verifier.logs.protocol import Workspace

_LIKE = patterns_in(__file__)


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

    @property
    def fails(self) -> bool:
        return not (self.is_ok or self.is_excused)

    @property
    def is_parents(self) -> bool:
        """Whether it failed only as the parent of one that did."""
        if not self.has_failed and not any("subtestsFailed" in line for line in self.yaml):
            return False
        kind = fields_of(self.yaml).get("failureType", "")
        return kind == "subtestsFailed" or (self.has_failed and not kind)


def failure_of(test: TapTest, name: str, workspace: Workspace, file: str | None) -> Failure:
    fields, text = fields_of(test.yaml), "\n".join(test.after)
    place = _place_of(fields, workspace) or place_in(text, workspace, "bats", "perl") or place_in(text, workspace)
    error = fields.get("error", "")
    inner = fields_of(error.split("\n")) if re.match(r"(?:name|message): ", error) else {}
    said = inner.get("message") or error or fields.get("message", "")
    message, evidence = first_line(said) or first_line(text) or test.name, "\n".join(test.yaml) or text
    if is_file(test.name):
        wrapped = message if not error_line(test.before) else ""
        failure = broken_file(test.name, test.before, wrapped, place, workspace)
        return failure if failure.evidence != wrapped else replace(failure, evidence=evidence)
    known = {**at(place, file or named_file(message, workspace)), "test_name": name or None, "evidence": evidence}
    exception = inner.get("name") or fields.get("name") or None
    return Failure(FailureKind.TEST_FAILURE, message, **known, exception=exception)


def crash_of(lines: list[str], workspace: Workspace) -> Failure | None:
    """What ended the run before it printed a plan."""
    if not (error := error_line(lines)):
        return None
    text = "\n".join(lines)
    known = {**at(place_in(text, workspace)), "evidence": text, "exception": error.partition(":")[0], "is_error": True}
    return Failure(kind_of_broken_file(text), error, **known)


Fields = dict[str, str]


def fields_of(lines: Sequence[str]) -> Fields:
    """The keys of a block with their values as text; a nested block as its lines."""
    fields: Fields = {}
    nested: dict[str, list[str]] = {}
    key = ""
    for line in textwrap.dedent("\n".join(lines)).split("\n"):
        match = _LIKE["key"].match(line)
        if match:
            key, value = match[1], (match[2] or "").strip()
            fields[key] = "" if _LIKE["block"].match(value) else _unquoted(value)
            nested[key] = []
        elif key:
            nested[key].append(line)
    blocks = {key: textwrap.dedent("\n".join(inner)).strip("\n") for key, inner in nested.items()}
    return {key: value or blocks[key] for key, value in fields.items()}


def _unquoted(value: str) -> str:
    if len(value) > 1 and value[0] == value[-1] and value[0] in "'\"":
        inner = value[1:-1]
        return inner.replace("''", "'") if value[0] == "'" else inner.replace('\\"', '"').replace("\\n", "\n")
    return value


def _place_of(fields: Fields, workspace: Workspace) -> Place | None:
    """Where it was thrown, else where the test stands: as in a trace, as `{line: 3, column: 5, file: "a.js"}` or a
    nested block with the same, or as `a.js:3:5`."""
    stack, stands = fields.get("stack", ""), fields.get("at", "")
    if place := place_in(stack, workspace, "javascript") or place_in(stands, workspace, "javascript"):
        return place
    pairs = {key: a or b or c for key, a, b, c in _LIKE["flow"].findall(stands)}
    file, line = pairs.get("file") or pairs.get("fileName"), pairs.get("line") or pairs.get("lineNumber", "")
    column = pairs.get("column") or pairs.get("columnNumber", "")
    if file and line.isdigit():
        return Place(workspace.relative(file), int(line), int(column) if column.isdigit() else None)
    for text in (stands, fields.get("location", "")):
        match = _LIKE["position"].match(text)
        if match and workspace.holds(match[1]) and "node_modules/" not in match[1]:
            return Place(workspace.relative(match[1]), int(match[2]), int(match[3]) if match[3] else None)
    return None
