"""The whole policy check of one change: pure, bounded, and never clean where it could not look."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from agent_fox.core.regex import regex
from agent_fox.verifier.ground.results import Scope
from agent_fox.verifier.policy.gathering import SourceChange, sources_of, tests_of
from agent_fox.verifier.policy.matching import How, Matched, Matching
from agent_fox.verifier.policy.reading import Rows as Repeated
from agent_fox.verifier.policy.reading import Step, Use
from agent_fox.verifier.policy.reasons import Reasons
from agent_fox.verifier.policy.rules.file_rules import findings_about_files
from agent_fox.verifier.policy.rules.line_rules import findings_about_lines
from agent_fox.verifier.policy.rules.lines import LARGEST_TEXT, text_changes
from agent_fox.verifier.policy.rules.setting_rules import findings_about_settings
from agent_fox.verifier.policy.rules.tables import finding
from agent_fox.verifier.policy.rules.text_rules import (
    findings_about_comments,
    findings_about_forgery,
    findings_about_thresholds,
)
from agent_fox.verifier.policy.stand_ins import findings_about_stand_ins
from agent_fox.verifier.policy.tests_changed import findings_about_tests, skipped
from agent_fox.verifier.policy.values import (
    Change,
    ChangedTest,
    PolicyContext,
    PolicyFinding,
    PolicyReport,
    Rule,
    Severity,
)
from agent_fox.verifier.policy.weakening import Fate, shown, turns

if TYPE_CHECKING:
    from agent_fox.verifier.policy.gathering import SourceChange, Test


_ORDER = list(Severity)
_LOCKS = ("package-lock.json", "npm-shrinkwrap.json", "pnpm-lock.yaml")
_TEXTS = (".toml", ".json", ".yml", ".yaml", ".ini", ".cfg", ".xml", ".gradle", ".kts", "Makefile")
"""What may hold settings of tools; lock files hold none, and are large."""


def check_change(change: Change, context: PolicyContext) -> PolicyReport:
    """All findings about `change`. Never raises for what files hold: what can't be read is an UNKNOWN finding."""
    sources = sources_of(change, context)
    before, after = tests_of(sources, is_after=False), tests_of(sources, is_after=True)
    moves = {source.before.path: source.path for source in sources}
    matched = Matching(before, after, moves).run()
    reasons = Reasons(context, before)
    unreadable = tuple(_unreadable(change, sources))
    findings = (
        *unreadable,
        *findings_about_tests(matched, sources),
        *findings_about_hooks(sources, before, after),
        *findings_about_stand_ins(sources, after),
        *_findings_without_grammar(change, context),
    )
    weighed = sorted(
        (reasons.weigh(each) for each in dict.fromkeys(findings)), key=lambda each: _ORDER.index(each.severity)
    )
    paths = tuple(dict.fromkeys(each.file for each in weighed if each.rule is Rule.UNREADABLE))
    return PolicyReport(tuple(weighed), tuple(_changed_tests(matched, reasons)), paths)


def _findings_without_grammar(change: Change, context: PolicyContext) -> Iterator[PolicyFinding]:
    texts = tuple(text_changes(change))
    yield from findings_about_lines(texts)
    yield from findings_about_settings(texts)
    yield from findings_about_thresholds(texts)
    yield from findings_about_comments(texts)
    yield from findings_about_files(change)
    yield from findings_about_forgery(texts)
    yield from findings_about_counts(context)


def _unreadable(change: Change, sources: Iterable[SourceChange]) -> Iterator[PolicyFinding]:
    for source in sources:
        if source.error:
            yield finding("broken" if source.is_broken else "unknown", source.path, source.line, about=source.error)
    known = {source.path for source in sources}
    for path, file in change.files.items():
        if (
            path not in known
            and max(len(file.before or b""), len(file.after or b"")) > LARGEST_TEXT
            and path.endswith(_TEXTS)
            and not path.endswith(_LOCKS)
        ):
            yield finding("unknown", path, about=f"larger than {LARGEST_TEXT} bytes")


def _changed_tests(matched: Matched, reasons: Reasons) -> Iterator[ChangedTest]:
    for match in matched.matches:
        how = _HOW.get(match.how) or "; ".join(_differences(match.before, match.after))
        if how:
            yield ChangedTest(match.before.name, how, reasons.about(match.before.path, match.before.name))


_HOW = {How.GONE: "deleted", How.MERGED: "merged into other tests", How.HIDDEN: "no longer found by the runner"}


def _differences(before: Test, after: Test | None) -> Iterator[str]:
    if after is None:
        return
    if after.path != before.path:
        yield f"moved to {after.path}"
    if after.function.name != before.function.name:
        yield f"renamed to {after.function.name}"
    if after.function.skips != before.function.skips and after.function.skips:
        yield "skipped"
    fates = dict.fromkeys(turn.fate for turn in turns(before.assertions, after.assertions))
    if fates:
        yield f"assertions: {', '.join(fates)}"


def findings_about_counts(context: PolicyContext) -> Iterator[PolicyFinding]:
    """Fewer tests, or more that do not count, than the last run of this scope had."""
    for scope, now in context.current_counts.items():
        before = context.previous_counts.get(scope)
        if before is None or scope is Scope.SELECTED:
            continue
        if now.tests < before.tests:
            texts = f"{before.tests} tests", f"{now.tests} tests"
            yield finding("fewer-tests", "", None, None, *texts, about=scope)
        idle_before, idle_now = before.skipped + before.xfailed, now.skipped + now.xfailed
        if idle_now > idle_before:
            texts = f"{idle_before} skipped", f"{idle_now} skipped"
            yield finding("more-skips", "", None, None, *texts, about=scope)


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
        is_asked_for = function.name not in old and not function.is_for_all
        for skip in (each for each in function.skips if _SKIPS.search(each.text) and not seen[each.text]):
            name, is_excused = f"{source.path}::{function.name}", skip.is_conditional or is_asked_for
            yield skipped("hook-skips", source.path, skip, name, is_excused=is_excused)


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
                name, line = "helper-weaker" if turn.after else "helper-gone", (turn.after or other.function).line
                yield finding(name, test.path, line, test.name, shown(turn.before), shown(turn.after))


def _called(steps: tuple[Step, ...]) -> Iterator[str]:
    for step in steps:
        if isinstance(step, Use):
            yield step.function
        elif isinstance(step, Repeated):
            yield from _called(step.steps)
