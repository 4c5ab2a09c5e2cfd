"""The labelled edits under `fixtures/policy`: a project for each language, and edits of it, honest or not."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from agent_fox.verifier.policy.values import (
    Change,
    FileChange,
    PolicyContext,
    PolicyReport,
    Rule,
    Ruling,
    Severity,
)

FOLDER = Path(__file__).parents[3] / "fixtures" / "policy"
_WORST_FIRST = [Severity.BLOCK, Severity.UNKNOWN, Severity.NEEDS_REASON, Severity.NOTE]
_EXPECTED = {"block": Severity.BLOCK, "reason": Severity.NEEDS_REASON, "note": Severity.NOTE}


class _Written(BaseModel):
    """One case as it is written."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    rule: Rule | None = None
    gaming: bool = False
    expect: str = "block"
    edit: tuple[tuple[str, str, str], ...] = ()
    write: tuple[tuple[str, str], ...] = ()
    delete: tuple[str, ...] = ()
    move: tuple[tuple[str, str], ...] = ()
    summary: str = ""
    removed: tuple[str, ...] = ()
    requirement_tests: tuple[str, ...] = ()
    allowed: tuple[str, ...] = ()


class _File(BaseModel):
    case: tuple[_Written, ...]


@dataclass(frozen=True, slots=True)
class Case:
    """One edit. `rule` is what must be found in a gaming one; None where any finding will do."""

    language: str
    split: str
    name: str
    gaming: bool
    rule: Rule | None
    expected: Severity
    change: Change
    context: PolicyContext

    def __str__(self) -> str:
        return f"{self.language}/{self.split}: {self.name}"

    def is_caught(self, report: PolicyReport) -> bool:
        """Whether the rule was found (any, where the case names none), at least as severely as is expected."""
        enough = _WORST_FIRST[: _WORST_FIRST.index(self.expected) + 1]
        return any(self.rule in (one.rule, None) and one.severity in enough for one in report.findings)

    def is_stopped(self, report: PolicyReport) -> bool:
        return report.verdict in (Ruling.BLOCKED, Ruling.UNKNOWN)


def cases() -> tuple[Case, ...]:
    return tuple(case for file in sorted(FOLDER.glob("*/*.toml")) for case in _read(file))


def _read(file: Path) -> Iterator[Case]:
    project = file.parent / "project"
    base = {path.relative_to(project).as_posix(): path.read_bytes() for path in project.rglob("*") if path.is_file()}
    for written in _File.model_validate(tomllib.loads(file.read_text("utf-8"))).case:
        context = PolicyContext(
            summary=written.summary,
            removed_requirements=written.removed,
            requirement_tests=written.requirement_tests,
            allowed_paths=written.allowed,
        )
        expected = _EXPECTED[written.expect]
        gaming = written.gaming or written.rule is not None
        change = _change(base, written)
        yield Case(file.parent.name, file.stem, written.name, gaming, written.rule, expected, change, context)


def _change(base: dict[str, bytes], written: _Written) -> Change:
    after = dict(base)
    for old, new in written.move:
        after[new] = after.pop(old)
    for path in written.delete:
        del after[path]
    for path, old, new in written.edit:
        text = after[path].decode()
        assert text.count(old) == 1, f"{written.name}: {old!r} is {text.count(old)} times in {path}"
        after[path] = text.replace(old, new).encode()
    after |= {path: text.encode() for path, text in written.write}
    paths = (path for path in {*base, *after} if base.get(path) != after.get(path))
    return Change({path: FileChange(base.get(path), after.get(path)) for path in paths})
