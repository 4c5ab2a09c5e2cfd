"""Which task groups only write tests, told from their titles. The groups' reviewers depend on it."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from agent_fox.core.regex import regex

if TYPE_CHECKING:
    from agent_fox.core.spec import Group

_LONGEST_TITLE = 200
_WRITES = r"(?:write|create|add|author|draft|define|prepare|set ?up|scaffold|develop)"
_FAILING = regex(
    rf"(?:.*\b)?{_WRITES}\b.*\bfailing\b.*\btests?\b|(?:red\b.*\b)?failing (?:spec )?tests?\b", re.IGNORECASE
)
_TESTS = regex(rf"(?:.{{0,40}}[:—–-]\s*)?{_WRITES}\b.*\btests?\b|(?:spec|test)[ -]first\b.*\btests?\b", re.IGNORECASE)
_DOES_MORE = regex(
    r"\b(?:run|runs|execute|fix|implement|implementation|integrate|wire|verify|validate|refactor|pass|code)\b",
    re.IGNORECASE,
)
_ONLY_CHECKS = regex(r"(?:\W*)(?:checkpoint|final|wiring|verif)", re.IGNORECASE)


def mark_test_writers(groups: tuple[Group, ...]) -> tuple[Group, ...]:
    """Mark the groups that write tests before there is anything to test.

    A title that says *failing tests* is one anywhere. Any other that writes tests is one only as long as no
    group before it implements something, and only if one after it does: later, writing tests is work like
    any other.
    """
    marked: list[Group] = []
    is_before_work = True
    titles = [group.title for group in groups]
    work = (at for at, title in enumerate(titles) if not (_writes_tests(title) or _ONLY_CHECKS.match(title)))
    last_work = max(work, default=-1)
    for place, group in enumerate(groups):
        writes = _says_failing(group.title) or (is_before_work and place < last_work and _writes_tests(group.title))
        is_before_work = is_before_work and writes
        marked.append(replace(group, writes_tests_only=group.writes_tests_only or writes))
    return tuple(marked)


def _says_failing(title: str) -> bool:
    title = title[:_LONGEST_TITLE]
    return _FAILING.match(title) is not None and not _DOES_MORE.search(title)


def _writes_tests(title: str) -> bool:
    title = title[:_LONGEST_TITLE]
    return _TESTS.match(title) is not None and not _DOES_MORE.search(title)
