"""The whole policy check of a change: pure, bounded, never clean where it could not look; its report as failures."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator

from agent_fox.core.regex import regex
from agent_fox.verifier.ground.results import Failure, FailureKind, Scope
from agent_fox.verifier.policy.configuration_rules import LARGEST_TEXT, line_findings, setting_findings, text_changes
from agent_fox.verifier.policy.file_rules import findings_about_files
from agent_fox.verifier.policy.gathering import SourceChange, Test, sources_of, tests_of
from agent_fox.verifier.policy.matching import How, Match, Matching
from agent_fox.verifier.policy.reading import Broken, Rows, Step, Use
from agent_fox.verifier.policy.reasons import Reasons
from agent_fox.verifier.policy.tables import finding, words_of
from agent_fox.verifier.policy.tests_changed import findings_about_stand_ins, findings_about_tests, skipped
from agent_fox.verifier.policy.values import Change, ChangedTest, PolicyContext, PolicyFinding, PolicyReport, Severity
from agent_fox.verifier.policy.weakening import Fate, shown, turns

_HOW = {How.GONE: "deleted", How.MERGED: "merged into other tests", How.HIDDEN: "no longer found by the runner"}
_LOSING = frozenset({Fate.GONE, Fate.VOID, Fate.WEAKER})
_SKIPS = regex(r"skip|xfail|abort", re.IGNORECASE)


def check_change(change: Change, context: PolicyContext) -> PolicyReport:
    """All findings about `change`. Never raises for what files hold: what can't be read is an UNKNOWN finding."""
    sources = sources_of(change, context)
    before, after = tests_of(sources, is_after=False), tests_of(sources, is_after=True)
    matched = Matching(before, after, {source.before.path: source.path for source in sources})
    reasons, texts = Reasons(context, before), tuple(text_changes(change))
    findings = (
        *_unreadable(change, sources),
        *findings_about_tests(matched, sources),
        *(each for source in sources if source.is_test_source for each in _skipping(source)),
        *_emptied(sources, before, after),
        *findings_about_stand_ins(sources, after),
        *line_findings(texts),
        *setting_findings(texts),
        *findings_about_files(change, texts),
        *_findings_about_counts(context),
    )
    weighed = sorted(map(reasons.weigh, dict.fromkeys(findings)), key=lambda each: list(Severity).index(each.severity))
    paths = tuple(dict.fromkeys(each.file for each in weighed if each.severity is Severity.UNKNOWN))
    changed = ((match.before, _HOW.get(match.how) or "; ".join(_differences(match))) for match in matched.matches)
    listed = (ChangedTest(test.name, how, reasons.about(test.path, test.name)) for test, how in changed if how)
    return PolicyReport(tuple(weighed), tuple(listed), paths)


def _unreadable(change: Change, sources: Iterable[SourceChange]) -> Iterator[PolicyFinding]:
    for source in sources:
        if source.error:
            broken = source.after.error if isinstance(source.after.error, Broken) else None
            line = broken.line if broken is not None else None
            yield finding("broken" if broken else "unknown", source.path, line, of=source.error)
    known = {source.path for source in sources}
    settings, locks = (tuple(words_of("any", kind)) for kind in ("settings", "locks"))
    for path, file in change.files.items():
        size = max(len(file.before or b""), len(file.after or b""))
        if size > LARGEST_TEXT and path not in known and path.endswith(settings) and not path.endswith(locks):
            yield finding("unknown", path, of=f"larger than {LARGEST_TEXT} bytes")


def _differences(match: Match) -> Iterator[str]:
    before, after = match.before, match.after
    if after is not None:
        if after.path != before.path:
            yield f"moved to {after.path}"
        if after.function.name != before.function.name:
            yield f"renamed to {after.function.name}"
        if after.function.skips and after.function.skips != before.function.skips:
            yield "skipped"
        if fates := dict.fromkeys(turn.fate for turn in match.turns):
            yield f"assertions: {', '.join(fates)}"


def _findings_about_counts(context: PolicyContext) -> Iterator[PolicyFinding]:
    """Fewer tests, or more that do not count, than the last run of this scope had."""
    for scope, now in context.current_counts.items():
        before = context.previous_counts.get(scope)
        if before is None or scope is Scope.SELECTED:
            continue
        idle_before, idle_now = before.skipped + before.xfailed, now.skipped + now.xfailed
        if now.tests < before.tests:
            yield finding("fewer-tests", "", None, None, f"{before.tests} tests", f"{now.tests} tests", of=scope)
        if idle_now > idle_before:
            yield finding("more-skips", "", None, None, f"{idle_before} skipped", f"{idle_now} skipped", of=scope)


def _skipping(source: SourceChange) -> Iterator[PolicyFinding]:
    """New skips in hooks; one in a new fixture that is asked for by name holds for new tests, or those that say so."""
    old = {each.name for each in source.before.reading.functions}
    seen = Counter(skip.text for each in source.before.reading.functions if each.is_hook for skip in each.skips)
    for function in (each for each in source.after.reading.functions if each.is_hook):
        is_asked_for = function.name not in old and not function.is_for_all
        for skip in (each for each in function.skips if _SKIPS.search(each.text) and not seen[each.text]):
            name, is_excused = f"{source.path}::{function.name}", skip.is_conditional or is_asked_for
            yield skipped("hook-skips", source.path, skip, name, is_excused=is_excused)


def _emptied(sources: Iterable[SourceChange], before: Iterable[Test], after: Iterable[Test]) -> Iterator[PolicyFinding]:
    """Helpers that lost assertions, where no test of the change calls them: their callers are in other files."""
    paths = {source.path for source in sources if source.is_test_source}
    called = {name for test in after if test.function.is_test for name in _called(test.function.steps)}
    now = {test.place: test for test in after if not test.function.is_test}
    for test in before:
        other = now.get(test.place)
        is_shared = test.path in paths and test.function.leaf.isidentifier() and test.function.leaf not in called
        if other is not None and not test.function.is_test and is_shared:
            for turn in (each for each in turns(test.assertions, other.assertions) if each.fate in _LOSING):
                name, line = "helper-weaker" if turn.after else "helper-gone", (turn.after or other.function).line
                yield finding(name, test.path, line, test.name, shown(turn.before), shown(turn.after))


def _called(steps: tuple[Step, ...]) -> Iterator[str]:
    for step in steps:
        if isinstance(step, Use):
            yield step.function
        elif isinstance(step, Rows):
            yield from _called(step.steps)


def failures_of(report: PolicyReport, *, are_notes: bool = False) -> tuple[Failure, ...]:
    """All but the notes, `unknown` for what could not be checked. are_notes: the notes instead, which block nothing."""
    return tuple(_failure(each) for each in report.findings if (each.severity is Severity.NOTE) is are_notes)


def _failure(finding: PolicyFinding) -> Failure:
    is_unknown = finding.severity is Severity.UNKNOWN and not finding.is_broken
    kind = FailureKind.COMPILE_ERROR if finding.is_broken else FailureKind.LINT_FAILURE
    sides = (("before: ", finding.before), ("after: ", finding.after))
    return Failure(
        kind=FailureKind.UNKNOWN if is_unknown else kind,
        message=f"{finding.message}. {finding.remedy}".strip(),
        file=finding.file or None,
        line=finding.line,
        test_name=finding.test,
        evidence="\n".join(f"{side}{text}" for side, text in sides if text),
        code=finding.rule.value,
        is_error=is_unknown,
    )
