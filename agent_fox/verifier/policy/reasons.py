"""Which findings a stated reason answers, and which go with a removed requirement. Words never undo a block."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from fnmatch import fnmatchcase
from functools import partial
from typing import TYPE_CHECKING

from agent_fox.core.regex import regex
from agent_fox.verifier.ground.sources import Naming
from agent_fox.verifier.policy.tables import words_of
from agent_fox.verifier.policy.values import PolicyContext, PolicyFinding, Severity

if TYPE_CHECKING:
    from agent_fox.verifier.policy.gathering import Test

FEWEST_WORDS = 5  # of a sentence that names a test or file and says why, the name not counted

_SENTENCE = regex(r"(?<=[.!?;])\s+|\n+")


class Reasons:
    """The coder's summary and the task's removed requirements, asked about tests and files."""

    def __init__(self, context: PolicyContext, before: Iterable[Test]) -> None:
        self._context = context
        self.about = partial(reason_for, sentences_of(context.summary))
        self._naming = Naming(context.removed_requirements)
        self._said = {test.name: test.function.said for test in before}

    def weigh(self, finding: PolicyFinding) -> PolicyFinding:
        is_fitting = any(fnmatchcase(finding.file, glob) for glob in self._context.allowed_paths)
        if (finding.rule in words_of("any", "of_tasks") and is_fitting) or self._goes_with_requirement(finding):
            return replace(finding, severity=Severity.NOTE)
        if finding.severity is not Severity.NEEDS_REASON:
            return finding
        names = {finding.file, finding.test or finding.file, (finding.test or finding.file).rpartition("::")[2]}
        if not names.isdisjoint(self._context.requirement_tests):
            return replace(finding, severity=Severity.BLOCK)
        is_answered = self.about(finding.file, finding.test) is not None
        return replace(finding, severity=Severity.NOTE) if is_answered else finding

    def _goes_with_requirement(self, finding: PolicyFinding) -> bool:
        """Whether the test, or all of a file, names the removed requirement; or one sentence names both."""
        if finding.rule not in words_of("any", "of_requirements") or not self._context.removed_requirements:
            return False
        of_file = [text for name, text in self._said.items() if name.startswith(f"{finding.file}::")]
        texts = of_file if finding.test is None else [self._said.get(finding.test, "")]
        is_said = bool(texts) and all(self._naming.in_text(text) for text in texts)
        is_named = finding.test is not None and bool(self._naming.in_name(finding.test))
        return is_said or is_named or bool(self._naming.in_text(self.about(finding.file, finding.test) or ""))


def sentences_of(summary: str) -> tuple[str, ...]:
    return tuple(part for part in _SENTENCE.split(summary) if part.strip())


def reason_for(sentences: Iterable[str], path: str, test: str | None) -> str | None:
    """The sentence that names a test, or its file, and has words enough to say why it was changed."""
    names = [path, path.rpartition("/")[2], *([test.rpartition("::")[2]] if test else [])]
    for sentence in sentences:
        for name in names:
            before, *after = re.split(rf"(?<![\w./-]){re.escape(name)}(?![\w/-])", sentence, maxsplit=1)
            if after and len(re.findall(r"[^\W\d_]{2,}", f"{before}{after[0]}")) >= FEWEST_WORDS:
                return sentence.strip()
    return None
