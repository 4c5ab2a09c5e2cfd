"""Rules about what runs beside tests: fixtures and set-up that skip, shared assertions that were emptied."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from agent_fox.core.regex import regex
from agent_fox.verifier.policy.reading import Function, Skip, Step, Use
from agent_fox.verifier.policy.reading import Rows as Repeated
from agent_fox.verifier.policy.values import PolicyFinding, Rule, Severity
from agent_fox.verifier.policy.weakening import Fate, shown, turns

if TYPE_CHECKING:
    from agent_fox.verifier.policy.gathering import SourceChange, Test

_SKIPS = regex(r"skip|xfail|abort", re.IGNORECASE)
_LOSING = frozenset({Fate.GONE, Fate.VOID, Fate.WEAKER})


def findings_about_hooks(
    sources: Iterable[SourceChange], before: Iterable[Test], after: Iterable[Test]
) -> Iterator[PolicyFinding]:
    """What fixtures, set-up and asserting helpers of test files do now, and did not do before."""
    known = tuple(source for source in sources if source.is_test_source and not source.error)
    for source in known:
        yield from _skipping(source)
    yield from _emptied({source.path for source in known}, tuple(before), tuple(after))


def _skipping(source: SourceChange) -> Iterator[PolicyFinding]:
    """Skips in hooks; one in a fixture that is new and asked for by name holds for new tests, or those that say so."""
    old = {each.name for each in source.before.reading.functions}
    seen = Counter(skip.text for each in source.before.reading.functions if each.is_hook for skip in each.skips)
    for function in (each for each in source.after.reading.functions if each.is_hook):
        for skip in function.skips:
            if _SKIPS.search(skip.text) and not seen[skip.text]:
                is_new = function.name not in old
                yield _skip_finding(source.path, function, skip, is_new and not function.is_for_all)


def _skip_finding(path: str, function: Function, skip: Skip, is_asked_for: bool) -> PolicyFinding:
    severity = Severity.NEEDS_REASON if skip.is_conditional or is_asked_for else Severity.BLOCK
    return PolicyFinding(
        *(Rule.SKIP_ADDED, severity, path, skip.line, f"{path}::{function.name}"),
        "what runs before the tests skips them",
        after=skip.text,
        remedy="Take the skip away and repair what the tests show.",
    )


def _emptied(paths: set[str], before: tuple[Test, ...], after: tuple[Test, ...]) -> Iterator[PolicyFinding]:
    """Helpers that lost assertions, where no test of the change calls them: their callers are in other files."""
    called = {name for test in after if test.function.is_test for name in _called(test.function.steps)}
    now = {(test.path, test.function.name): test for test in after if not test.function.is_test}
    for test in before:
        other = now.get((test.path, test.function.name))
        is_shared = test.path in paths and test.function.leaf.isidentifier() and test.function.leaf not in called
        if other is None or test.function.is_test or not is_shared:
            continue
        for turn in turns(test.assertions, other.assertions):
            if turn.fate in _LOSING:
                rule = Rule.ASSERTION_REMOVED if turn.after is None else Rule.ASSERTION_WEAKENED
                yield PolicyFinding(
                    *(rule, Severity.BLOCK, test.path, other.function.line, test.name),
                    "a helper that tests share demands less than before",
                    shown(turn.before),
                    shown(turn.after),
                    "Repair the code, and leave the helper as it was.",
                )


def _called(steps: tuple[Step, ...]) -> Iterator[str]:
    for step in steps:
        if isinstance(step, Use):
            yield step.function
        elif isinstance(step, Repeated):
            yield from _called(step.steps)
