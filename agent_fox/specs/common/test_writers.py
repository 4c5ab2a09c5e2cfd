"""Which task groups only write tests, told from their titles, or from their tasks as well. The groups' reviewers depend
on it."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from agent_fox.specs.word_tables import patterns_in

if TYPE_CHECKING:
    from agent_fox.core.spec import Group

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
    titles = [group.title for group in groups]
    work = (
        at for at, title in enumerate(titles) if not (_says(_LIKE["tests"], title) or _LIKE["only_checks"].match(title))
    )
    last_work = max(work, default=-1)
    for place, group in enumerate(groups):
        writes = _says(_LIKE["failing"], group.title) or (
            is_before_work and place < last_work and _says(_LIKE["tests"], group.title)
        )
        is_before_work = is_before_work and writes
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
    last_work = max((place for place, group in enumerate(groups) if not _only_tests(group)), default=-1)
    for place, group in enumerate(groups):
        title = group.title[:_LONGEST_TITLE]
        says_first = _LIKE["says_first"].match(title) is not None
        writes = _only_tests(group) and place < last_work and (says_first or is_before_work)
        is_before_work = is_before_work and (writes or _LIKE["prepares"].match(title) is not None)
        marked.append(replace(group, writes_tests_only=group.writes_tests_only or writes))
    return mark_test_writers(tuple(marked))


def _only_tests(group: Group) -> bool:
    return bool(group.subtasks) and all(_is_test(subtask.title[:_LONGEST_TITLE]) for subtask in group.subtasks)


def _is_test(title: str) -> bool:
    is_test = _LIKE["is_test"].match(title) is not None or _LIKE["in_tests"].search(title) is not None
    return is_test and not _LIKE["runs"].match(title)
