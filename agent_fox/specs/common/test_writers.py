"""Which task groups only write tests, told from their titles, or from their tasks as well. The groups' reviewers depend
on it."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from agent_fox.core.regex import regex
from agent_fox.specs.word_tables import words_in

if TYPE_CHECKING:
    from agent_fox.core.spec import Group

_LONGEST_TITLE = 200
_WRITES = r"(?:write|create|add|author|draft|define|prepare|set ?up|scaffold|develop)"
_FAILING = regex(
    rf"(?:.*\b)?{_WRITES}\b.*\bfailing\b.*\btests?\b|(?:red\b.*\b)?failing (?:spec )?tests?\b", re.IGNORECASE
)
_TESTS = regex(rf"(?:.{{0,40}}[:—–-]\s*)?{_WRITES}\b.*\btests?\b|(?:spec|test)[ -]first\b.*\btests?\b", re.IGNORECASE)
_WORDS = words_in(__file__)
_ONLY_CHECKS = regex(r"(?:\W*)(?:checkpoint|final|wiring|verif)", re.IGNORECASE)
_SAYS_FIRST = regex(r".*\b(?:tests? first|test-first|TDD|failing tests?|red phase)\b", re.IGNORECASE)
_IS_TEST = regex(
    r"\W{0,4}(?:(?:write|create|add|author|implement|build|define|generate|draft)\s)?(?:[\w/`.()-]{1,60}\s){0,5}tests?\b",
    re.IGNORECASE,
)
_IN_TESTS = regex(
    r"(?:^|[\s`/(])(?:tests?|__tests__|spec)/|\.(?:test|spec)\.|_test\.|测试|テスト|테스트", re.IGNORECASE
)


def mark_test_writers(groups: tuple[Group, ...]) -> tuple[Group, ...]:
    """Mark the groups that write tests before there is anything to test.

    A title that says *failing tests* is one anywhere. Any other that writes tests is one only as long as no
    group before it implements something, and only if one after it does: later, writing tests is work like
    any other.
    """
    marked: list[Group] = []
    is_before_work = True
    titles = [group.title for group in groups]
    work = (at for at, title in enumerate(titles) if not (_says(_TESTS, title) or _ONLY_CHECKS.match(title)))
    last_work = max(work, default=-1)
    for place, group in enumerate(groups):
        writes = _says(_FAILING, group.title) or (is_before_work and place < last_work and _says(_TESTS, group.title))
        is_before_work = is_before_work and writes
        marked.append(replace(group, writes_tests_only=group.writes_tests_only or writes))
    return tuple(marked)


def _says(pattern: re.Pattern[str], title: str) -> bool:
    """Whether a title says so, and nothing of work beside it."""
    title = title[:_LONGEST_TITLE]
    return pattern.match(title) is not None and not _WORDS["does_more"].search(title)


def mark_first_tests(groups: tuple[Group, ...]) -> tuple[Group, ...]:
    """Mark the groups whose tasks are all tests: those that say that they come first, and those before all work."""
    marked: list[Group] = []
    is_before_work = True
    last_work = max((place for place, group in enumerate(groups) if not _only_tests(group)), default=-1)
    for place, group in enumerate(groups):
        title = group.title[:_LONGEST_TITLE]
        says_first = _SAYS_FIRST.match(title) is not None
        writes = _only_tests(group) and place < last_work and (says_first or is_before_work)
        is_before_work = is_before_work and (writes or _WORDS["prepares"].match(title) is not None)
        marked.append(replace(group, writes_tests_only=group.writes_tests_only or writes))
    return mark_test_writers(tuple(marked))


def _only_tests(group: Group) -> bool:
    return bool(group.subtasks) and all(_is_test(subtask.title[:_LONGEST_TITLE]) for subtask in group.subtasks)


def _is_test(title: str) -> bool:
    is_test = _IS_TEST.match(title) is not None or _IN_TESTS.search(title) is not None
    return is_test and not _WORDS["runs"].match(title)
