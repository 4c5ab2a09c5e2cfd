"""Rules about tests: deleted, hidden, weakened, skipped, emptied. What runs instead is compared, never the diff."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import replace
from difflib import SequenceMatcher
from itertools import starmap, takewhile
from operator import eq
from typing import TYPE_CHECKING

from agent_fox.verifier.policy.matching import How, Matched
from agent_fox.verifier.policy.reading import Skip, Strength
from agent_fox.verifier.policy.replacing import Replacements, is_within
from agent_fox.verifier.policy.values import PolicyFinding, Rule, Severity
from agent_fox.verifier.policy.weakening import Fate, Turn, shown, turns

if TYPE_CHECKING:
    from agent_fox.verifier.policy.gathering import SourceChange, Test

MOST_NAMES = 5
MOST_LINES = 1_000  # between the first and the last that differ; more are not compared line by line

_FATES: dict[Fate, tuple[Rule, Severity, str, str]] = {
    Fate.GONE: (Rule.ASSERTION_REMOVED, Severity.BLOCK, "an assertion is gone", "Put the assertion back."),
    Fate.VOID: (
        *(Rule.TAUTOLOGY, Severity.BLOCK, "an assertion can no longer fail"),
        "Assert what the code returns, where a failure is seen.",
    ),
    Fate.WEAKER: (
        *(Rule.ASSERTION_WEAKENED, Severity.BLOCK, "an assertion demands less than before"),
        "Repair the code, and leave the assertion as it was.",
    ),
    Fate.OTHER_EXPECTATION: (
        *(Rule.EXPECTATION_CHANGED, Severity.NEEDS_REASON, "the expected value changed"),
        "Say in the summary why the old expectation of this test was wrong, or repair the code.",
    ),
    Fate.OTHER_SUBJECT: (
        *(Rule.EXPECTATION_CHANGED, Severity.NEEDS_REASON, "the assertion looks at something else"),
        "Say in the summary why this test asserts on something else.",
    ),
}


def findings_about_tests(matched: Matched, sources: tuple[SourceChange, ...]) -> Iterator[PolicyFinding]:
    """Everything that happened to tests that were there before, and new tests that say nothing."""
    replacements, places = Replacements(matched), Places(sources)
    yield from _of_gone(matched, removed_names(sources), replacements)
    spare = Counter(matched.spare)
    for match in matched.matches:
        if match.how is How.HIDDEN and match.after is not None:
            yield _hidden(match.before, match.after)
        elif match.after is not None:
            yield from _of_pair(match.before, match.after, spare, replacements, places)
    yield from (_empty(test) for test in matched.fresh if says_nothing(test))
    yield from (_fresh_skip(test) for test in matched.fresh if test.function.skips)
    yield from _focus(sources)


def removed_names(sources: Iterable[SourceChange]) -> frozenset[str]:
    """What production code offered before and no longer does."""
    code = [source for source in sources if not source.is_test_source]
    before = {name for source in code for name in source.before.reading.defined}
    after = {name for source in code for name in source.after.reading.defined}
    return frozenset(before - after)


def _of_gone(matched: Matched, gone_names: frozenset[str], replacements: Replacements) -> Iterator[PolicyFinding]:
    """Deleted tests: one finding for each, or one for a file of which nothing is left."""
    by_file: dict[str, list[Test]] = defaultdict(list)
    kept = Counter(match.before.path for match in matched.matches if match.how is not How.GONE)
    for match in matched.matches:
        if match.how is How.GONE and replacements.replaces_test(match.before):
            kept[match.before.path] += 1
            yield _softened(_deleted(match.before, gone_names), ", and new ones stand in its place")
        elif match.how is How.GONE:
            by_file[match.before.path].append(match.before)
    for path, tests in by_file.items():
        if kept[path] or len(tests) == 1:
            yield from (_deleted(test, gone_names) for test in tests)
        else:
            yield _file_deleted(path, tests, gone_names)


def _deleted(test: Test, gone_names: frozenset[str]) -> PolicyFinding:
    severity, why = _severity_of_deletion([test], gone_names)
    return PolicyFinding(
        *(Rule.TEST_DELETED, severity, test.path, test.function.line, test.name, f"a test is deleted{why}"),
        before="; ".join(shown(assertion) for assertion in test.assertions[:MOST_NAMES]),
        remedy="Put the test back; a test goes only with the requirement that it shows.",
    )


def _file_deleted(path: str, tests: list[Test], gone_names: frozenset[str]) -> PolicyFinding:
    severity, why = _severity_of_deletion(tests, gone_names)
    names = ", ".join(test.function.name for test in tests[:MOST_NAMES])
    message = f"all {len(tests)} tests of the file are deleted{why}"
    remedy = "Put the file back; tests go only with the requirement that they show."
    return PolicyFinding(Rule.TEST_DELETED, severity, path, None, None, message, before=names, remedy=remedy)


def _severity_of_deletion(tests: list[Test], gone_names: frozenset[str]) -> tuple[Severity, str]:
    """A reason is enough where each test was about code that is gone as well."""
    used = [set(test.function.shape.split()) for test in tests]
    if all(not gone_names.isdisjoint(words) for words in used):
        return Severity.NEEDS_REASON, " together with the code that it tested"
    return Severity.BLOCK, ""


def _hidden(before: Test, after: Test) -> PolicyFinding:
    return PolicyFinding(
        *(Rule.TEST_HIDDEN, Severity.BLOCK, after.path, after.function.line, before.name),
        "the test is still there, but no runner finds it",
        before=before.name,
        after=after.name,
        remedy="Give the test a name and a place where the runner collects it.",
    )


def _of_pair(
    before: Test, after: Test, spare: Counter[Hashable], replacements: Replacements, places: Places
) -> Iterator[PolicyFinding]:
    skips = added_skips(before, after)
    if skips:
        yield _skipped(before, after, skips[0])
        return
    has_other_subject = False
    for turn in turns(before.assertions, after.assertions):
        is_repeated = turn.fate is Fate.OTHER_SUBJECT and has_other_subject
        if turn.fate in _FATES and not is_repeated and not _is_elsewhere(turn, spare):
            has_other_subject = has_other_subject or turn.fate is Fate.OTHER_SUBJECT
            turned = _turned(before, after, turn, places)
            is_rewritten = turn.fate is Fate.GONE and (
                is_within(turn.before, after.assertions) or replacements.replaces(turn.before, after.path)
            )
            yield _softened(turned, " and another stands in its place") if is_rewritten else turned


def _is_elsewhere(turn: Turn, spare: Counter[Hashable]) -> bool:
    """Whether another test gained the very assertion that this one lost."""
    if spare[turn.before.key] <= 0:
        return False
    spare[turn.before.key] -= 1
    return True


class Places:
    """Where a line that is gone stood, in the file as it is now."""

    def __init__(self, sources: Iterable[SourceChange]) -> None:
        self._texts = {each.path: (each.before.text.splitlines(), each.after.text.splitlines()) for each in sources}

    def stood(self, path: str, lines: Sequence[int], otherwise: int) -> int:
        """Where the first of these lines of the file before that was changed stood, or where the first of all stands;
        `otherwise` where too much was changed.
        """
        old, new = self._texts.get(path, ([], []))
        head: int = sum(takewhile(bool, starmap(eq, zip(old, new, strict=False))))
        tail: int = sum(takewhile(bool, starmap(eq, zip(old[head:][::-1], new[head:][::-1], strict=False))))
        changed, now = old[head : len(old) - tail], new[head : len(new) - tail]
        if len(changed) + len(now) > MOST_LINES:
            return otherwise
        edits = SequenceMatcher(None, changed, now, autojunk=False).get_opcodes()
        for line in (line - 1 - head for line in lines):
            for tag, start, end, new_start, new_end in edits:
                if tag != "equal" and start <= line < end:
                    return min(head + new_start + min(line - start, max(new_end - new_start - 1, 0)) + 1, len(new) or 1)
        shift = sum(
            new_end - new_start - end + start for _, start, end, new_start, new_end in edits if end < lines[0] - head
        )
        return lines[0] + shift


def _turned(before: Test, after: Test, turn: Turn, places: Places) -> PolicyFinding:
    rule, severity, message, remedy = _FATES[turn.fate]
    line = after.function.line if turn.after is None else turn.after.place
    if turn.after is None and before.path == after.path:
        alike = (each.place for each in before.assertions if each.key == turn.before.key)
        line = places.stood(after.path, (turn.before.place, *alike, turn.before.line), line)
    return PolicyFinding(
        *(rule, severity, after.path, line, before.name, message, shown(turn.before), shown(turn.after), remedy)
    )


def _softened(finding: PolicyFinding, why: str) -> PolicyFinding:
    remedy = "Say in the summary why the new assertions show as much."
    return replace(finding, severity=Severity.NEEDS_REASON, message=finding.message + why, remedy=remedy)


def added_skips(before: Test, after: Test) -> tuple[Skip, ...]:
    """Skips that were not there before; a conditional one is no excuse for one without a condition."""
    known = Counter(skip.text for skip in before.function.skips)
    is_skipped_already = any(not skip.is_conditional for skip in before.function.skips)
    fresh = tuple(skip for skip in after.function.skips if skip.text not in known)
    return () if is_skipped_already else fresh


def _skipped(before: Test, after: Test, skip: Skip) -> PolicyFinding:
    severity = Severity.NEEDS_REASON if skip.is_conditional else Severity.BLOCK
    return PolicyFinding(
        *(
            Rule.SKIP_ADDED,
            severity,
            after.path,
            skip.line,
            before.name,
            "the test no longer runs, or no longer counts",
        ),
        after=skip.text,
        remedy="Take the skip away and repair what the test shows.",
    )


def says_nothing(test: Test) -> bool:
    return bool(test.assertions) and all(assertion.strength is Strength.NONE for assertion in test.assertions)


def _empty(test: Test) -> PolicyFinding:
    return PolicyFinding(
        *(Rule.TAUTOLOGY, Severity.BLOCK, test.path, test.function.line, test.name),
        "a new test asserts nothing that could fail",
        after="; ".join(shown(assertion) for assertion in test.assertions[:MOST_NAMES]),
        remedy="Assert what the code returns, or leave the test out.",
    )


def _fresh_skip(test: Test) -> PolicyFinding:
    skip = test.function.skips[0]
    message = "a new test does not run"
    return PolicyFinding(Rule.SKIP_ADDED, Severity.NOTE, test.path, skip.line, test.name, message, after=skip.text)


def _focus(sources: Iterable[SourceChange]) -> Iterator[PolicyFinding]:
    for source in sources:
        if any(test.is_focused for test in source.before.reading.tests):
            continue
        focused = next((test for test in source.after.reading.tests if test.is_focused), None)
        if focused is not None:
            yield PolicyFinding(
                *(Rule.FOCUS_ADDED, Severity.BLOCK, source.path, focused.line, f"{source.path}::{focused.name}"),
                "only this test runs, and it hides the others",
                remedy="Take the focus (`only`, `fit`, `fdescribe`) away.",
            )
