"""JSON that linters and compilers write: a list of findings, each in the tool's own words. One table for all of them.

ESLint's and Ruff's are read elsewhere, as they come in several shapes.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, BinaryIO

from agent_fox.core.regex import regex
from agent_fox.core.values import dataclass
from agent_fox.verifier.ground.results import Failure, FailureKind, Parsed
from agent_fox.verifier.logs.decode import pieces
from agent_fox.verifier.logs.diagnostics import is_mild
from agent_fox.verifier.logs.gathering import Gathering
from agent_fox.verifier.logs.json_stream import EACH, JsonCut, Path, parts, start_of
from agent_fox.verifier.logs.opening import stands_first
from agent_fox.verifier.logs.records import Record, number, record, records, text

if TYPE_CHECKING:
    from agent_fox.verifier.logs.protocol import Workspace


@dataclass(frozen=True, slots=True)
class Finding:
    """What one entry of a list says; `file` as it stands there."""

    failure: Failure
    is_mild: bool = False


@dataclass(frozen=True, slots=True)
class FindingsJson:
    """Reads the entries at `path` of documents that `begins` fits and that have all `keys` near their beginning."""

    tools: tuple[str, ...]
    begins: re.Pattern[str]
    keys: tuple[str, ...]
    path: Path
    finding: Callable[[Record], Finding | None]

    def recognises(self, head: str) -> bool:
        at = start_of(head)
        if at is None or not self.begins.match(head, at) or not stands_first(head, at):
            return False
        return all(f'"{key}"' in head for key in self.keys)

    def parse_document(self, file: BinaryIO, workspace: Workspace) -> Parsed:
        gathering, is_complete = Gathering(), True
        try:
            for _, value in parts(pieces(file), (self.path,)):
                if finding := self.finding(record(value)):
                    _keep(finding, gathering, workspace)
        except JsonCut:
            is_complete = False
        return gathering.parsed(is_complete=is_complete)


def _keep(finding: Finding, found: Gathering, workspace: Workspace) -> None:
    failure = finding.failure
    placed = Failure(
        failure.kind,
        failure.message,
        file=workspace.relative(failure.file or "") or None,
        line=failure.line,
        column=failure.column,
        evidence=f"{failure.message} ({failure.code})" if failure.code else failure.message,
        code=failure.code,
    )
    if finding.is_mild:
        found.warn(placed)
    else:
        found.fail(placed)


def _linted(message: str, file: str, line: int | None, column: int | None, code: str) -> Failure:
    return Failure(FailureKind.LINT_FAILURE, message, file, line, column, code=code or None)


def _pyright(entry: Record) -> Finding:
    """Its lines and columns count from 0."""
    start = record(record(entry.get("range")).get("start"))
    failure = _linted(
        text(entry.get("message")),
        text(entry.get("file")),
        _after(start.get("line")),
        _after(start.get("character")),
        text(entry.get("rule")),
    )
    return Finding(failure, is_mild=text(entry.get("severity")) != "error")


def _code_quality(entry: Record) -> Finding:
    location = record(entry.get("location"))
    lines, begin = record(location.get("lines")), record(record(location.get("positions")).get("begin"))
    failure = _linted(
        text(entry.get("description")).removeprefix(f"{text(entry.get('check_name'))}: "),
        text(location.get("path")),
        number(begin.get("line")) or number(lines.get("begin")),
        number(begin.get("column")),
        text(entry.get("check_name")),
    )
    return Finding(failure, is_mild=text(entry.get("severity")) == "info")


def _golangci(entry: Record) -> Finding:
    at, linter = record(entry.get("Pos")), text(entry.get("FromLinter"))
    kind = FailureKind.COMPILE_ERROR if linter == "typecheck" else FailureKind.LINT_FAILURE
    message_text, file = text(entry.get("Text")), text(at.get("Filename"))
    failure = Failure(kind, message_text, file, number(at.get("Line")), number(at.get("Column")), code=linter or None)
    return Finding(failure, is_mild=is_mild(text(entry.get("Severity"))))


def _pylint(entry: Record) -> Finding:
    """Its columns count from 0."""
    failure = _linted(
        text(entry.get("message")),
        text(entry.get("path")),
        number(entry.get("line")),
        _after(entry.get("column")),
        text(entry.get("symbol")) or text(entry.get("message-id")) or text(entry.get("messageId")),
    )
    return Finding(failure, is_mild=text(entry.get("type")) == "info")


def _gcc(entry: Record) -> Finding | None:
    if text(entry.get("kind")) == "note":
        return None
    caret = record(next(records(entry.get("locations")), {}).get("caret"))
    failure = Failure(
        FailureKind.COMPILE_ERROR,
        text(entry.get("message")),
        text(caret.get("file")),
        number(caret.get("line")),
        number(caret.get("column")),
        code=text(entry.get("option")) or None,
    )
    return Finding(failure, is_mild=is_mild(text(entry.get("kind"))))


def _rdjson(entry: Record) -> Finding:
    location = record(entry.get("location"))
    start = record(record(location.get("range")).get("start"))
    failure = _linted(
        text(entry.get("message")),
        text(location.get("path")),
        number(start.get("line")),
        number(start.get("column")),
        text(record(entry.get("code")).get("value")),
    )
    return Finding(failure, is_mild=text(entry.get("severity")) in ("WARNING", "INFO"))


def _after(value: object) -> int | None:
    """A position that counts from 0, from 1."""
    return value + 1 if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


_OBJECT, _ARRAY = regex(r"\{"), regex(r"\[\s*\{")

PYRIGHT = FindingsJson(
    ("pyright", "basedpyright"), _OBJECT, ("version", "generalDiagnostics"), ("generalDiagnostics", EACH), _pyright
)
CODE_QUALITY = FindingsJson(
    ("codequality", "ruff", "eslint", "mypy", "golangci-lint"),
    _ARRAY,
    ("description", "fingerprint", "location"),
    (EACH,),
    _code_quality,
)
GOLANGCI = FindingsJson(("golangci-lint",), regex(r'\{\s*"Issues"'), ("FromLinter", "Pos"), ("Issues", EACH), _golangci)
PYLINT = FindingsJson(("pylint",), _ARRAY, ("message-id", "symbol", "path"), (EACH,), _pylint)
PYLINT_2 = FindingsJson(
    ("pylint",), regex(r'\{\s*"messages":\s*\[\s*(?:\]|\{\s*"type")'), (), ("messages", EACH), _pylint
)
GCC = FindingsJson(("gcc", "g++", "cc", "c++", "make"), _ARRAY, ("kind", "caret", "locations"), (EACH,), _gcc)
RDJSON = FindingsJson(("ruff", "rdjson"), _OBJECT, ("diagnostics", "location", "range"), ("diagnostics", EACH), _rdjson)
ALL = (PYRIGHT, CODE_QUALITY, GOLANGCI, PYLINT, PYLINT_2, GCC, RDJSON)
