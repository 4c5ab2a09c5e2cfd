"""Which phases only write tests before there is anything to test, told from their tasks as well as their titles."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from agent_fox.core.regex import regex
from agent_fox.specs.agent_fox.test_writers import mark_test_writers

if TYPE_CHECKING:
    from agent_fox.core.spec import Group

_LONGEST = 200
_SAYS_FIRST = regex(r".*\b(?:tests? first|test-first|TDD|failing tests?|red phase)\b", re.IGNORECASE)
_IS_TEST = regex(
    r"\W{0,4}(?:(?:write|create|add|author|implement|build|define|generate|draft)\s)?(?:[\w/`.()-]{1,60}\s){0,5}tests?\b",
    re.IGNORECASE,
)
_IN_TESTS = regex(
    r"(?:^|[\s`/(])(?:tests?|__tests__|spec)/|\.(?:test|spec)\.|_test\.|测试|テスト|테스트", re.IGNORECASE
)
_RUNS = regex(
    r"\W{0,4}(?:run|re-?run|execute|verify|validate|fix|make|ensure|confirm|configure|install|set ?up)\b", re.IGNORECASE
)
_PREPARES = regex(
    r".*(?:set ?up|foundation|infrastructure|scaffold|prerequisite|environment|preparation|preparaci|prepara[cç]"
    r"|configura|准备|準備|设置|环境|基础|基盤|セットアップ|설정|준비|기반)",
    re.IGNORECASE,
)


def mark_first_tests(groups: tuple[Group, ...]) -> tuple[Group, ...]:
    """Mark the groups whose tasks are all tests: those that say that they come first, and those before all work."""
    marked: list[Group] = []
    is_before_work = True
    last_work = max((place for place, group in enumerate(groups) if not _only_tests(group)), default=-1)
    for place, group in enumerate(groups):
        title = group.title[:_LONGEST]
        says_first = _SAYS_FIRST.match(title) is not None
        writes = _only_tests(group) and place < last_work and (says_first or is_before_work)
        is_before_work = is_before_work and (writes or _PREPARES.match(title) is not None)
        marked.append(replace(group, writes_tests_only=group.writes_tests_only or writes))
    return mark_test_writers(tuple(marked))


def _only_tests(group: Group) -> bool:
    return bool(group.subtasks) and all(_is_test(subtask.title[:_LONGEST]) for subtask in group.subtasks)


def _is_test(title: str) -> bool:
    return not _RUNS.match(title) and (_IS_TEST.match(title) is not None or _IN_TESTS.search(title) is not None)
