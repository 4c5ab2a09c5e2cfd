"""The whole policy check of one change: pure, bounded, and never clean where it could not look. And its report as
failures of a verifier's tool."""

from __future__ import annotations

import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from itertools import pairwise
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from agent_fox.core.regex import regex
from agent_fox.verifier.ground.results import Failure, FailureKind, Scope
from agent_fox.verifier.policy.configuration_rules import (
    LARGEST_TEXT,
    findings_about_lines,
    findings_about_settings,
    text_changes,
)
from agent_fox.verifier.policy.file_rules import findings_about_files
from agent_fox.verifier.policy.gathering import sources_of, tests_of
from agent_fox.verifier.policy.matching import How, Match, Matching
from agent_fox.verifier.policy.reading import Broken, Patch, Reading, Rows, Step, Use
from agent_fox.verifier.policy.reasons import Reasons
from agent_fox.verifier.policy.tables import finding
from agent_fox.verifier.policy.tests_changed import findings_about_tests, skipped
from agent_fox.verifier.policy.values import ChangedTest, PolicyFinding, PolicyReport, Rule, Severity, without
from agent_fox.verifier.policy.weakening import Fate, shown, turns

if TYPE_CHECKING:
    from agent_fox.verifier.policy.gathering import SourceChange, Test
    from agent_fox.verifier.policy.values import Change, PolicyContext

_ORDER = list(Severity)
_LOCKS = ("package-lock.json", "npm-shrinkwrap.json", "pnpm-lock.yaml")
_TEXTS = (".toml", ".json", ".yml", ".yaml", ".ini", ".cfg", ".xml", ".gradle", ".kts", "Makefile")
"""What may hold settings of tools; lock files hold none, and are large."""
_HOW = {How.GONE: "deleted", How.MERGED: "merged into other tests", How.HIDDEN: "no longer found by the runner"}
_SKIPS = regex(r"skip|xfail|abort", re.IGNORECASE)
_LOSING = frozenset({Fate.GONE, Fate.VOID, Fate.WEAKER})


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
        *_findings_about_stand_ins(sources, after),
        *findings_about_lines(texts),
        *findings_about_settings(texts),
        *findings_about_files(change, texts),
        *_findings_about_counts(context),
    )
    weighed = sorted(map(reasons.weigh, dict.fromkeys(findings)), key=lambda each: _ORDER.index(each.severity))
    paths = tuple(dict.fromkeys(each.file for each in weighed if each.rule is Rule.UNREADABLE))
    changed = ((match.before, _HOW.get(match.how) or "; ".join(_differences(match))) for match in matched.matches)
    listed = (ChangedTest(test.name, how, reasons.about(test.path, test.name)) for test, how in changed if how)
    return PolicyReport(tuple(weighed), tuple(listed), paths)


def _unreadable(change: Change, sources: Iterable[SourceChange]) -> Iterator[PolicyFinding]:
    for source in sources:
        if source.error:
            broken = source.after.error if isinstance(source.after.error, Broken) else None
            line = broken.line if broken is not None else None
            yield finding("broken" if broken else "unknown", source.path, line, about=source.error)
    known = {source.path for source in sources}
    for path, file in change.files.items():
        size = max(len(file.before or b""), len(file.after or b""))
        if size > LARGEST_TEXT and path not in known and path.endswith(_TEXTS) and not path.endswith(_LOCKS):
            yield finding("unknown", path, about=f"larger than {LARGEST_TEXT} bytes")


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
            yield finding("fewer-tests", "", None, None, f"{before.tests} tests", f"{now.tests} tests", about=scope)
        if idle_now > idle_before:
            yield finding("more-skips", "", None, None, f"{idle_before} skipped", f"{idle_now} skipped", about=scope)


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


def _findings_about_stand_ins(sources: Iterable[SourceChange], after: Iterable[Test]) -> Iterator[PolicyFinding]:
    """New stand-ins for functions that an assertion of the same test (or file, for those of the file) calls."""
    by_path: dict[str, list[Test]] = defaultdict(list)
    for test in after:
        if test.function.is_test:
            by_path[test.path].append(test)
    for source in (each for each in sources if not each.error and each.after.reading.tests):
        old, new, tests = source.before.reading, source.after.reading, by_path[source.path]
        known = map(_what, (*old.patches, *(patch for each in old.functions for patch in each.patches)))
        own = [(test.name, [test], patch) for test in tests for patch in test.function.patches]
        patches = (*own, *((None, tests, patch) for patch in new.patches))
        for name, about, patch in without(patches, known, lambda patched: _what(patched[2])):
            if _is_subject(patch, about, new):
                yield finding("stand-in", source.path, patch.line, name, after=patch.text[:200])


def _what(patch: Patch) -> tuple[str, tuple[str, ...]]:
    """What a patch replaces, whichever way its module is written: `shop.cart` or `cart`, but a path as it stands."""
    module = patch.module if "/" in patch.module else patch.module.rpartition(".")[2]
    return module, patch.names


def _is_subject(patch: Patch, tests: list[Test], reading: Reading) -> bool:
    """Whether an assertion calls what is replaced: by its name, or by any name from the module replaced; or all of
    `../src/cart` is replaced in `cart.test.ts`.
    """
    if not patch.names and "/" in patch.module and any(_stem(test.path) == _stem(patch.module) for test in tests):
        return True
    parents = (f"{patch.module}.", f"{patch.module}/")
    names = set(patch.names) or {name for name, module in reading.imports if f"{module}/".startswith(parents)}
    if all(test.path.endswith(".py") for test in tests):  # `datetime` is of the standard library
        names -= {name for name, module in reading.imports if module.partition(".")[0] in sys.stdlib_module_names}
    called = (pair for test in tests for assertion in test.assertions for pair in pairwise(assertion.subject))
    return any(name in names and after == "(" for name, after in called)


def _stem(path: str) -> str:
    return re.sub(r"[.\-_](?:test|spec)$|\.[cm]?[jt]sx?$", "", PurePosixPath(path).stem)


def failures_of(report: PolicyReport, *, are_notes: bool = False) -> tuple[Failure, ...]:
    """Everything but the notes: lint failures, compile errors for files that the change broke, and `unknown` for what
    else could not be checked. are_notes: the notes instead, which block nothing.
    """
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
