"""Which findings a stated reason answers, and which go with a removed requirement. Words never undo a block."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from agent_fox.core.regex import regex
from agent_fox.verifier.ground.sources import Naming
from agent_fox.verifier.policy.values import PolicyContext, PolicyFinding, Rule, Severity

if TYPE_CHECKING:
    from agent_fox.verifier.policy.gathering import Test

FEWEST_WORDS = 5  # of a sentence that names a test or file and says why, the name not counted

_SENTENCE = regex(r"(?<=[.!?;])\s+|\n+")
_CONFIGURED = frozenset(
    {Rule.TEST_CONFIG, Rule.TEST_HOOK, Rule.CI_WEAKENED, Rule.LINT_CONFIG, Rule.COVERAGE_CONFIG, Rule.GOLDEN_CHANGED}
    | {Rule.FIXTURE_DELETED, Rule.SOURCE_DROPPED}
)
"""What a task itself may ask to edit."""


class Reasons:
    """The coder's summary and the task's removed requirements, asked about tests and files."""

    def __init__(self, context: PolicyContext, before: Iterable[Test]) -> None:
        self._context = context
        self._sentences = sentences_of(context.summary)
        self._naming = Naming(context.removed_requirements)
        self._said = {test.name: test.function.said for test in before}

    def about(self, path: str, test: str | None) -> str | None:
        """The sentence of the summary that names the test, or its file, and has words enough to say why."""
        return reason_for(self._sentences, path, test)

    def weigh(self, finding: PolicyFinding) -> PolicyFinding:
        """The finding with the severity that it has in this context."""
        if self._is_allowed(finding) or self._goes_with_requirement(finding):
            return replace(finding, severity=Severity.NOTE)
        if finding.severity is not Severity.NEEDS_REASON:
            return finding
        if self._shows_requirement(finding):
            return replace(finding, severity=Severity.BLOCK)
        is_answered = self.about(finding.file, finding.test) is not None
        return replace(finding, severity=Severity.NOTE) if is_answered else finding

    def _is_allowed(self, finding: PolicyFinding) -> bool:
        is_fitting = any(fnmatchcase(finding.file, glob) for glob in self._context.allowed_paths)
        return finding.rule in _CONFIGURED and is_fitting

    def _goes_with_requirement(self, finding: PolicyFinding) -> bool:
        if finding.rule not in (
            Rule.TEST_DELETED,
            Rule.ASSERTION_REMOVED,
            Rule.EXPECTATION_CHANGED,
            Rule.FIXTURE_DELETED,
        ):
            return False
        if finding.test is None:
            texts = [text for name, text in self._said.items() if name.startswith(f"{finding.file}::")]
            are_named = bool(texts) and all(self._naming.in_text(text) for text in texts)
            return are_named or self._is_explained_by_id(finding)
        said_of_it = self._said.get(finding.test, "")
        is_named = self._naming.in_name(finding.test) or self._naming.in_text(said_of_it)
        return bool(is_named) or self._is_explained_by_id(finding)

    def _is_explained_by_id(self, finding: PolicyFinding) -> bool:
        """Whether one sentence names both the removed requirement and the test, or its file."""
        reason = self.about(finding.file, finding.test)
        return reason is not None and bool(self._naming.in_text(reason))

    def _shows_requirement(self, finding: PolicyFinding) -> bool:
        if finding.test is None:
            return finding.file in self._context.requirement_tests
        leaf = finding.test.rpartition("::")[2]
        return any(each in (finding.test, finding.file, leaf) for each in self._context.requirement_tests)


def sentences_of(summary: str) -> tuple[str, ...]:
    return tuple(part for part in _SENTENCE.split(summary) if part.strip())


def reason_for(sentences: Iterable[str], path: str, test: str | None) -> str | None:
    """The sentence that names a test, or its file, and has words enough to say why it was changed."""
    names = [path, path.rpartition("/")[2]]
    names += [test.rpartition("::")[2]] if test else []
    return next((sentence.strip() for sentence in sentences if any(_explains(sentence, name) for name in names)), None)


def _explains(sentence: str, name: str) -> bool:
    match = re.search(rf"(?<![\w./-]){re.escape(name)}(?![\w/-])", sentence)
    if match is None:
        return False
    rest = sentence[: match.start()] + sentence[match.end() :]
    return len(re.findall(r"[^\W\d_]{2,}", rest)) >= FEWEST_WORDS
