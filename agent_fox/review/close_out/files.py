"""The three files that a task is closed with, read with care: what is missing, damaged or about another task blocks.

An agent may have written them: nothing in them is believed beyond what its field says, and none of them can override.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import field
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from agent_fox.core.json_text import NotJson, read_json
from agent_fox.core.ledger.close_out import Check, FeedbackRecord, Finding, RuleReport, Severity
from agent_fox.core.ledger.close_out_scope import ScopeReport, tidy, why_no_pattern
from agent_fox.core.values import dataclass
from agent_fox.system.files import read_regular
from agent_fox.system.redaction.masking import redact

FEEDBACK, SCOPE, RULES = "feedback_record.jsonl", "scope_report.json", "rule_report.json"
NAMES = (FEEDBACK, SCOPE, RULES)

LARGEST_FILE = 16 * 1024**2
"""Bytes; a larger file is not read, and blocks."""

MOST_RECORDS = 10_000
LONGEST_WORDS = 4000
"""Characters of a command, or of what it said, that are looked at."""

FIELDS_NAMED = 5
REMEDY = "write it again and judge again"


class Unreadable(ValueError):
    """A file that cannot be used, and why."""


class _Document(BaseModel, defer_build=True):
    model_config = ConfigDict(extra="allow", strict=True, frozen=True)

    task_id: str | None = None


class _FeedbackLine(_Document):
    command: str = Field(min_length=1)
    exit_code: int | None
    stdout: str = ""
    stderr: str = ""


class _Scope(_Document):
    allowed_files: list[str]
    forbidden_writes: list[str]
    off_scope_writes: list[str]


class _Rules(_Document):
    block_failures: list[str]
    warn_failures: list[str]


D = TypeVar("D", bound=_Document)


@dataclass(frozen=True, slots=True)
class Files:
    """What the files said, and what is wrong with them."""

    feedback: tuple[FeedbackRecord, ...] = ()
    scope: ScopeReport = field(default_factory=ScopeReport)
    rules: RuleReport = field(default_factory=RuleReport)
    troubles: tuple[Finding, ...] = ()


def trouble(what: str, severity: Severity = Severity.BLOCK) -> Finding:
    """A finding about an input itself."""
    return Finding(Check.INPUT, severity, what)


def read_files(folder: Path, task_id: str) -> Files:
    """Read the three files of `folder`. Never raises for what is in them: that is a finding."""
    findings: list[Finding] = []
    lines = _read(folder / FEEDBACK, task_id, findings, lambda raw: list(_lines(raw)))
    scope = _read(folder / SCOPE, task_id, findings, lambda raw: [_document(raw, _Scope)])
    rules = _read(folder / RULES, task_id, findings, lambda raw: [_document(raw, _Rules)])
    return Files(
        tuple(map(_record, lines)),
        _scope(scope[0], findings) if scope else ScopeReport(),
        RuleReport(_clean(rules[0].block_failures), _clean(rules[0].warn_failures)) if rules else RuleReport(),
        tuple(findings),
    )


def _read(path: Path, task_id: str, findings: list[Finding], parse: Callable[[bytes], list[D]]) -> list[D]:
    """The documents of a file, none where it cannot be used; what is wrong is put into `findings`."""
    try:
        documents = parse(_content(path))
    except Unreadable as error:
        findings.append(trouble(f"{path.name}: {error}; {REMEDY}"))
        return []
    foreign = sorted({each.task_id for each in documents if each.task_id not in (None, task_id)}, key=str)
    if foreign:
        findings.append(
            trouble(f"{path.name}: it is about task {redact(str(foreign[0]))}, not about this one; {REMEDY}")
        )
    findings += _unknown_fields(path.name, documents)
    return documents


def _content(path: Path) -> bytes:
    try:
        path.lstat()
        raw = read_regular(path, LARGEST_FILE + 1)
    except FileNotFoundError as error:
        raise Unreadable("it is missing") from error
    except OSError as error:
        raise Unreadable(f"it cannot be read ({error.strerror})") from error
    if raw is None:
        raise Unreadable("it is not a plain file")
    if len(raw) > LARGEST_FILE:
        raise Unreadable(f"it is larger than {LARGEST_FILE} bytes")
    return raw


def _lines(raw: bytes) -> Iterator[_FeedbackLine]:
    lines = [line for line in raw.split(b"\n") if line.strip()]
    if len(lines) > MOST_RECORDS:
        raise Unreadable(f"it has more than {MOST_RECORDS} records")
    for number, line in enumerate(lines, 1):
        try:
            yield _document(line, _FeedbackLine)
        except Unreadable as error:
            is_cut = number == len(lines) and not raw.endswith(b"\n")
            raise Unreadable(f"record {number}: {error}{' (the file ends within it)' if is_cut else ''}") from error


def _document(raw: bytes, model: type[D]) -> D:
    try:
        return model.model_validate(read_json(raw, is_strict=True))
    except ValidationError as error:
        first = error.errors()[0]
        raise Unreadable(f"{'.'.join(map(str, first['loc'])) or 'the document'}: {first['msg']}") from error
    except NotJson as error:
        raise Unreadable(str(error)) from error


def _unknown_fields(name: str, documents: Iterable[_Document]) -> Iterator[Finding]:
    unknown = sorted({key for each in documents for key in each.model_extra or {}})
    if unknown:
        more = f" and {len(unknown) - FIELDS_NAMED} more" if len(unknown) > FIELDS_NAMED else ""
        named = ", ".join(key[:40] for key in unknown[:FIELDS_NAMED]) + more
        yield trouble(f"{name}: fields that are not read: {redact(named)}", Severity.WARN)


def _record(line: _FeedbackLine) -> FeedbackRecord:
    """What is kept of a record: no secret, and of what the command said only the beginning of its errors."""
    command, stderr = redact(line.command[:LONGEST_WORDS]), redact(line.stderr[:LONGEST_WORDS])
    return FeedbackRecord(command, line.exit_code, stderr=stderr)


def _scope(document: _Scope, found: list[Finding]) -> ScopeReport:
    for pattern in document.allowed_files:
        why = why_no_pattern(pattern)
        if why:
            found.append(trouble(f"{SCOPE}: allowed_files: {pattern!r}: {why}; {REMEDY}"))
    good = tuple(tidy(pattern) for pattern in document.allowed_files if not why_no_pattern(pattern))
    return ScopeReport(good, _clean(document.forbidden_writes), _clean(document.off_scope_writes))


def _clean(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(redact(name[:LONGEST_WORDS]) for name in names)
