"""What a policy check looks at and what it says, as values. No rule is here, and nothing is read or run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import field
from enum import StrEnum
from types import MappingProxyType
from typing import TYPE_CHECKING, TypeVar

from agent_fox.core.values import dataclass

if TYPE_CHECKING:
    from agent_fox.verifier.ground.results import Scope, TestSummary

_Item = TypeVar("_Item")


class Language(StrEnum):
    PYTHON = "python"
    JAVASCRIPT = "javascript"
    TYPESCRIPT = "typescript"
    TSX = "tsx"
    JAVA = "java"
    GO = "go"
    RUST = "rust"
    CPP = "cpp"  # C too


class Rule(StrEnum):
    """What a finding is about: the names that reports and settings use."""

    TEST_DELETED = "test-deleted"
    TEST_HIDDEN = "test-hidden"
    ASSERTION_REMOVED = "assertion-removed"
    ASSERTION_WEAKENED = "assertion-weakened"
    EXPECTATION_CHANGED = "expectation-changed"
    SKIP_ADDED = "skip-added"
    FOCUS_ADDED = "focus-added"
    TAUTOLOGY = "tautology"
    SUBJECT_REPLACED = "subject-replaced"
    TEST_HOOK = "test-hook"
    TEST_CONFIG = "test-config"
    CI_WEAKENED = "ci-weakened"
    SUPPRESSION_ADDED = "suppression-added"
    LINT_CONFIG = "lint-config"
    COVERAGE_CONFIG = "coverage-config"
    ENVIRONMENT_SWITCH = "environment-switch"
    HARD_CODED = "hard-coded"
    GOLDEN_CHANGED = "golden-changed"
    FIXTURE_DELETED = "fixture-deleted"
    FORGED_EQUALITY = "forged-equality"
    STARTUP_HOOK = "startup-hook"
    SOURCE_DROPPED = "source-dropped"
    COUNT_DROPPED = "count-dropped"
    UNREADABLE = "unreadable"


class Severity(StrEnum):
    """What a finding asks for. `unknown`: the check could not be made, which is never a pass."""

    BLOCK = "block"
    UNKNOWN = "unknown"
    NEEDS_REASON = "needs_reason"
    NOTE = "note"


class Ruling(StrEnum):
    BLOCKED = "blocked"
    UNKNOWN = "unknown"
    REASONS_WANTED = "reasons_wanted"
    CLEAN = "clean"


@dataclass(frozen=True, slots=True)
class FileChange:
    """One file on both sides; None where it is not there. `renamed_from`: its path before, where it had another."""

    before: bytes | None
    after: bytes | None
    renamed_from: str | None = None


@dataclass(frozen=True, slots=True)
class Change:
    """The files that differ between two trees, by their path after (before, where they were deleted), relative to the
    workspace, with forward slashes.
    """

    files: Mapping[str, FileChange]


@dataclass(frozen=True, slots=True)
class PolicyContext:
    """What is known beside the change.

    summary: the coder's words; a reason counts only where it names the test, its file or the edited file.
    removed_requirements: ids of requirements that the task took away; their tests may go.
    requirement_tests: paths or names of tests that show a requirement; no stated reason makes up for those.
    allowed_paths: globs of guarded files (configuration, CI, golden files) that the task itself asks to edit.
    previous_counts, current_counts: test counts of the last run and of this one, each by scope.
    languages: glob to language, for files whose name does not tell.
    """

    summary: str = ""
    removed_requirements: tuple[str, ...] = ()
    requirement_tests: tuple[str, ...] = ()
    allowed_paths: tuple[str, ...] = ()
    previous_counts: Mapping[Scope, TestSummary] = field(default_factory=lambda: MappingProxyType({}))
    current_counts: Mapping[Scope, TestSummary] = field(default_factory=lambda: MappingProxyType({}))
    languages: Mapping[str, Language] = field(default_factory=lambda: MappingProxyType({}))


@dataclass(frozen=True, slots=True)
class PolicyFinding:
    """One thing that a change does to what checks it. line: counted from 1, in the file after the change, or before it
    where the thing is gone. before, after: the source at issue, shortened; empty where there is none. remedy: what a
    coder can do about it, in a sentence. is_broken: the change leaves a file that is not of its format, so that nothing
    can be checked.
    """

    rule: Rule
    severity: Severity
    file: str
    line: int | None
    test: str | None
    message: str
    before: str = ""
    after: str = ""
    remedy: str = ""
    is_broken: bool = False


@dataclass(frozen=True, slots=True)
class ChangedTest:
    """A test that was there before and says something else now. `reason`: the coder's sentence about it, or None."""

    name: str
    how: str
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class PolicyReport:
    """Everything that was found, worst first. `unreadable`: files that no rule could look into."""

    findings: tuple[PolicyFinding, ...] = ()
    changed_tests: tuple[ChangedTest, ...] = ()
    unreadable: tuple[str, ...] = ()

    @property
    def verdict(self) -> Ruling:
        severities = {finding.severity for finding in self.findings}
        if Severity.BLOCK in severities:
            return Ruling.BLOCKED
        if Severity.UNKNOWN in severities or self.unreadable:
            return Ruling.UNKNOWN
        return Ruling.REASONS_WANTED if Severity.NEEDS_REASON in severities else Ruling.CLEAN


def without(these: Iterable[_Item], known: Iterable[Hashable], key: Callable[[_Item], Hashable]) -> list[_Item]:
    """Those whose keys are not among the known ones, of which each stands for one of them."""
    left, others = Counter(known), []
    for each in these:
        left[key(each)] -= 1
        if left[key(each)] < 0:
            others.append(each)
    return others
