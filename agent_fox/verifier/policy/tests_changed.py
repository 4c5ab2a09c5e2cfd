"""Rules about tests: deleted, hidden, weakened, skipped, emptied, of a stand-in. What runs is compared, never the diff:
where new assertions stand for those that are gone, a person rewrote the test, which wants a reason, no stop."""

from __future__ import annotations

import re
import sys
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import replace
from difflib import SequenceMatcher
from itertools import pairwise, starmap, takewhile
from operator import eq
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from agent_fox.verifier.policy.expressions import Tokens, called_names, contains, names_of
from agent_fox.verifier.policy.matching import How, Match, Matching
from agent_fox.verifier.policy.reading import Assertion, Patch, Reading, Skip, Strength
from agent_fox.verifier.policy.tables import finding, words_of
from agent_fox.verifier.policy.values import PolicyFinding, Severity, without
from agent_fox.verifier.policy.weakening import Fate, shown

if TYPE_CHECKING:
    from agent_fox.verifier.policy.gathering import SourceChange, Test

MOST_NAMES = 5
MOST_LINES = 1_000  # between the first and the last that differ; more are not compared line by line
MOST_REPLACED = 2  # assertions or tests that a new one may stand for: tests are also merged
LONG_TEXT = 10  # characters of a text that two assertions do not have in common by chance


def findings_about_tests(matched: Matching, sources: tuple[SourceChange, ...]) -> Iterator[PolicyFinding]:
    """Everything that happened to tests that were there before, and new tests that say nothing."""
    replacements, by_path, spare = Replacements(matched), {each.path: each for each in sources}, Counter(matched.spare)
    code = [(source.before.reading, source.after.reading) for source in sources if not source.is_test_source]
    gone_names = frozenset().union(*(old.defined for old, _ in code)).difference(*(new.defined for _, new in code))
    yield from _of_gone(matched, gone_names, replacements)
    for match in matched.matches:
        before, after = match.before, match.after
        if match.how is How.HIDDEN and after is not None:
            names = before.name, before.name, after.name
            yield finding("hidden", after.path, after.function.line, *names)
        elif after is not None:
            yield from _of_pair(match, by_path[after.path], spare, replacements)
    for test in matched.fresh:
        if test.assertions and all(assertion.strength is Strength.NONE for assertion in test.assertions):
            demanded = "; ".join(map(shown, test.assertions[:MOST_NAMES]))
            yield finding("empty", test.path, test.function.line, test.name, new=demanded)
    for test in (test for test in matched.fresh if test.function.skips):
        skip = test.function.skips[0]
        yield finding("fresh-skip", test.path, skip.line, test.name, new=skip.text)
    for source in sources:
        focused = next((test for test in source.after.reading.tests if test.is_focused), None)
        if focused is not None and not any(test.is_focused for test in source.before.reading.tests):
            yield finding("focus", source.path, focused.line, f"{source.path}::{focused.name}")


def _of_gone(matched: Matching, gone_names: frozenset[str], replacements: Replacements) -> Iterator[PolicyFinding]:
    """Deleted tests: one finding for each, or one for a file of which nothing is left."""
    by_file: dict[str, list[Test]] = defaultdict(list)
    kept = Counter(match.before.path for match in matched.matches if match.how is not How.GONE)
    for test in (match.before for match in matched.matches if match.how is How.GONE):
        if replacements.replaces_test(test):
            kept[test.path] += 1
            yield _softened(_deleted([test], gone_names), ", and new ones stand in its place")
        else:
            by_file[test.path].append(test)
    for path, tests in by_file.items():
        together = [[test] for test in tests] if kept[path] else [tests]
        yield from (_deleted(each, gone_names) for each in together)


def _deleted(tests: list[Test], gone_names: frozenset[str]) -> PolicyFinding:
    """One test, or all of a file. A reason is enough where each was about code that is gone as well."""
    test = tests[0]
    demanded = "; ".join(map(shown, test.assertions[:MOST_NAMES]))
    made = finding("deleted", test.path, test.function.line, test.name, demanded)
    if len(tests) > 1:
        names = ", ".join(test.function.name for test in tests[:MOST_NAMES])
        made = finding("file-deleted", test.path, old=names, of=len(tests))
    if any(gone_names.isdisjoint(test.function.shape().split()) for test in tests):
        return made
    message = f"{made.message} together with the code that it tested"
    return replace(made, severity=Severity.NEEDS_REASON, message=message)


def _of_pair(
    match: Match, source: SourceChange, spare: Counter[Hashable], replacements: Replacements
) -> Iterator[PolicyFinding]:
    before, after = match.before, match.after or match.before
    known = {skip.text for skip in before.function.skips}
    added = [skip for skip in after.function.skips if skip.text not in known]
    if added and before.is_run:  # else it was skipped already
        yield skipped("skipped", after.path, added[0], before.name, is_excused=added[0].is_conditional)
        return
    has_other_subject = False
    for turn in match.turns:
        is_repeated = turn.fate is Fate.OTHER_SUBJECT and has_other_subject
        if turn.fate is Fate.STRONGER or is_repeated:
            continue
        if spare[turn.before.key] > 0:  # another test gained the very assertion that this one lost
            spare[turn.before.key] -= 1
            continue
        has_other_subject = has_other_subject or turn.fate is Fate.OTHER_SUBJECT
        line = after.function.line if turn.after is None else turn.after.place
        if turn.after is None and before.path == after.path:
            alike = (each.place for each in before.assertions if each.key == turn.before.key)
            line = _stood(source, (turn.before.place, *alike, turn.before.line), line)
        turned = finding(turn.fate.value, after.path, line, before.name, shown(turn.before), shown(turn.after))
        is_rewritten = turn.fate is Fate.GONE and (
            is_within(turn.before, after.assertions) or replacements.replaces(turn.before, after.path)
        )
        yield _softened(turned, " and another stands in its place") if is_rewritten else turned


def _stood(source: SourceChange, lines: Sequence[int], otherwise: int) -> int:
    """Where the first of these lines that was changed stood, in the file as it is; `otherwise` for a large change."""
    old, new = source.before.text.splitlines(), source.after.text.splitlines()
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
    shifts = (n_end - n_start - end + start for _, start, end, n_start, n_end in edits if end < lines[0] - head)
    return lines[0] + sum(shifts)


def _softened(made: PolicyFinding, why: str) -> PolicyFinding:
    remedy = "Say in the summary why the new assertions show as much."
    return replace(made, severity=Severity.NEEDS_REASON, message=made.message + why, remedy=remedy)


def skipped(name: str, path: str, skip: Skip, test: str, *, is_excused: bool) -> PolicyFinding:
    """A skip that was not there before; a reason is enough for one with an excuse, such as the machine."""
    made = finding(name, path, skip.line, test, new=skip.text)
    return replace(made, severity=Severity.NEEDS_REASON) if is_excused else made


class Replacements:
    """Assertions and tests that a change gained beyond what it lost: each stands for some of what is gone."""

    def __init__(self, matched: Matching) -> None:
        self._fresh = tuple(test for test in matched.fresh if test.is_run)
        self._matches = matched.matches
        self._free: dict[str, list[Assertion]] = {}
        self._tests: Counter[str] = Counter()

    def replaces_test(self, lost: Test) -> bool:
        """Whether a new test asserts on what the lost one called: one of its file, or of any other."""
        called = frozenset(name for assertion in lost.assertions for name in called_names(assertion.subject))
        near = sorted(self._fresh, key=lambda test: test.path != lost.path) if called else []
        for test in near:
            if self._tests[test.name] < MOST_REPLACED and any(
                each.strength >= Strength.PARTIAL and not called.isdisjoint(called_names(each.subject))
                for each in test.assertions
            ):
                self._tests[test.name] += 1
                return True
        return False

    def replaces(self, lost: Assertion, path: str) -> bool:
        """Whether a new assertion of the file, as strong and about a name that both use, stands for `lost`."""
        if path not in self._free:
            gained = [each for test in self._fresh if test.path == path for each in test.assertions]
            for match in (each for each in self._matches if each.after is not None and each.after.path == path):
                taken = {id(turn.after) for turn in match.turns}  # it took the place of something
                gained += [each for each in match.gained if id(each) not in taken]
            self._free[path] = [each for each in gained if each.strength >= Strength.PARTIAL] * MOST_REPLACED
        for place, each in enumerate(self._free[path]):
            is_as_strong = each.strength >= lost.strength and len(each.guard) <= len(lost.guard)
            if is_as_strong and _names(lost) & _names(each):
                del self._free[path][place]
                return True
        return False


def is_within(lost: Assertion, after: Iterable[Assertion]) -> bool:
    """Whether something exact about the whole, or about what the whole is made of, is still asserted; or it was time.

    The length of what is compared as a whole, a part of it, calls counted where their arguments are compared, the
    message of an error whose message is matched now, the error that a callback was given.
    """
    is_message = {"value", "exception"} & set(lost.subject) or {"value", "exception"} & set(lost.expected)
    if words_of("any", "clocks") & set(lost.subject) or "".join(lost.subject) in words_of("any", "errors"):
        return True
    whole = lost.subject[2:-1] if lost.subject[:2] == ("len", "(") else lost.subject
    whole = whole[:-2] if whole[-2:] == (".", "length") else whole
    about = lost.expected if lost.operator in ("in", "not in") else whole
    return any(
        (is_message and each.operator == "raises" and bool(each.detail))
        or (each.strength is Strength.EXACT and each.guard == lost.guard and _says_more(each, lost, about))
        for each in after
    )


def _says_more(one: Assertion, lost: Assertion, about: Tokens) -> bool:
    """A whole list, text or object, rather than another single fact about the same thing."""
    if one.operator != "equal":
        return False
    is_part = len(one.subject) < len(lost.subject) and contains(about, one.subject)
    is_list = one.expected[:1] in (("[",), ("{",), ("(",))
    is_told = is_part and bool(lost.expected) and contains(one.expected, lost.expected)
    is_count = lost.subject[:2] == ("len", "(") or lost.subject[-1:] == ("length",)
    is_lesser = lost.strength < Strength.EXACT or is_count or lost.operator.startswith("toHaveBeen")
    is_near = is_part or (is_lesser and (contains(about, one.subject) or contains(one.subject, about)))
    return is_told or (is_list and is_near)


def _names(one: Assertion) -> frozenset[str]:
    """The names that an assertion uses, and the longer texts that it is about."""
    tokens = (*one.subject, *one.expected)
    return names_of(tokens) | {token for token in tokens if token[-1:] == '"' and len(token) >= LONG_TEXT}


def findings_about_stand_ins(sources: Iterable[SourceChange], after: Iterable[Test]) -> Iterator[PolicyFinding]:
    """New stand-ins for functions that an assertion of the same test (or file, for those of the file) calls."""
    for source in (each for each in sources if not each.error and each.after.reading.tests):
        old, new = source.before.reading, source.after.reading
        tests = [test for test in after if test.path == source.path and test.function.is_test]
        known = map(_what, (*old.patches, *(patch for each in old.functions for patch in each.patches)))
        own = [(test.name, [test], patch) for test in tests for patch in test.function.patches]
        patches = (*own, *((None, tests, patch) for patch in new.patches))
        for name, about, patch in without(patches, known, lambda patched: _what(patched[2])):
            if _is_subject(patch, about, new):
                yield finding("stand-in", source.path, patch.line, name, new=patch.text[:200])


def _what(patch: Patch) -> tuple[str, tuple[str, ...]]:
    """What a patch replaces, whichever way its module is written: `shop.cart` or `cart`, but a path as it stands."""
    module = patch.module if "/" in patch.module else patch.module.rpartition(".")[2]
    return module, patch.names


def _is_subject(patch: Patch, tests: list[Test], reading: Reading) -> bool:
    """Whether an assertion calls what is replaced, or a name of it; or `cart.test.ts` replaces all of `../src/cart`."""
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
