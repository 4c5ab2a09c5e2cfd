"""Which task groups only write tests, told from their titles, or from their tasks as well: reviews depend on it."""

from __future__ import annotations

import re
from dataclasses import replace

from agent_fox.core.spec import Group
from agent_fox.specs.word_tables import patterns_in

_LIKE = patterns_in(__file__)
_LONGEST_TITLE = 200


def mark_test_writers(groups: tuple[Group, ...]) -> tuple[Group, ...]:
    """Mark the groups that write tests before there is anything to test.

    A title that says *failing tests* is one anywhere. Any other that writes tests is one only as long as no
    group before it implements something, and only if one after it does: later, writing tests is work like
    any other.
    """
    marked: list[Group] = []
    is_before_work = True
    writers = [_says(_LIKE["tests"], group.title) for group in groups]
    is_work = [
        not writes and not _LIKE["only_checks"].match(g.title) for g, writes in zip(groups, writers, strict=True)
    ]
    last_work = max((place for place, work in enumerate(is_work) if work), default=-1)
    for place, group in enumerate(groups):
        is_first = is_before_work and place < last_work and writers[place]
        is_before_work = is_before_work and (is_first or _says(_LIKE["failing"], group.title))
        writes = is_first or _says(_LIKE["failing"], group.title)
        marked.append(replace(group, writes_tests_only=group.writes_tests_only or writes))
    return tuple(marked)


def _says(pattern: re.Pattern[str], title: str) -> bool:
    """Whether a title says so, and nothing of work beside it."""
    title = title[:_LONGEST_TITLE]
    return pattern.match(title) is not None and not _LIKE["does_more"].search(title)


def mark_first_tests(groups: tuple[Group, ...]) -> tuple[Group, ...]:
    """Mark the groups whose tasks are all tests: those that say that they come first, and those before all work."""
    marked: list[Group] = []
    is_before_work = True
    only_tests = [bool(group.subtasks) and all(_is_test(task.title) for task in group.subtasks) for group in groups]
    last_work = max((place for place, only in enumerate(only_tests) if not only), default=-1)
    for place, group in enumerate(groups):
        title = group.title[:_LONGEST_TITLE]
        may_be = is_before_work or _LIKE["says_first"].match(title) is not None
        writes = only_tests[place] and place < last_work and may_be
        is_before_work = is_before_work and (writes or _LIKE["prepares"].match(title) is not None)
        marked.append(replace(group, writes_tests_only=group.writes_tests_only or writes))
    return mark_test_writers(tuple(marked))


def _is_test(title: str) -> bool:
    title = title[:_LONGEST_TITLE]
    is_test = _LIKE["is_test"].match(title) is not None or _LIKE["in_tests"].search(title) is not None
    return is_test and not _LIKE["runs"].match(title)
