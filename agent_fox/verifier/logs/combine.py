"""Several readings of one run as one: reports win over the log, and nothing counts twice. Statuses are elsewhere."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import astuple, replace

from agent_fox.verifier.ground.results import Failure, FailureKind, Parsed, TestSummary
from agent_fox.verifier.logs.gathering import Gathering
from agent_fox.verifier.logs.javascript.stacks import is_file

_NOTHING = Parsed()


def merged(readings: Iterable[Parsed]) -> Parsed:
    """Readings of different parts of a run, such as one report for each module: counts add up."""
    gathering, summary, is_complete = Gathering(), None, True
    for reading in readings:
        summary = _sum(summary, reading.summary)
        is_complete = is_complete and reading.is_complete
        for failure in reading.failures:
            gathering.fail(failure)
        for warning in reading.warnings:
            gathering.warn(warning)
    return gathering.parsed(summary, is_complete=is_complete)


def completed(better: Parsed, other: Parsed) -> Parsed:
    """`better`, and of `other` (a reading of the same run, less to be trusted) what `better` does not know."""
    if better == _NOTHING:
        return other
    gathering = Gathering()
    names = _by_name(other)
    known_better = (_placed(failure, names.get(_short(failure))) for failure in better.failures)
    for failure in [*known_better, *_new_failures(better, other)]:
        gathering.fail(failure)
    known = {_place(warning) for warning in better.warnings}
    for warning in [*better.warnings, *(w for w in other.warnings if _place(w) not in known)]:
        gathering.warn(warning)
    is_known = better.summary is not None and (better.is_complete or other.summary is None)
    summary = better.summary if is_known else other.summary
    return gathering.parsed(summary, is_complete=better.is_complete or other.is_complete)


def _new_failures(better: Parsed, other: Parsed) -> Iterable[Failure]:
    places = {_place(failure) for failure in better.failures}
    messages = {failure.message for failure in better.failures}
    kinds = {failure.kind for failure in better.failures} | ({FailureKind.UNKNOWN} if better.failures else set())
    if FailureKind.LINT_FAILURE in kinds:
        kinds.add(FailureKind.COMPILE_ERROR)  # compilers that lint say that they could not compile
    names = {name for failure in better.failures if (name := _short(failure))}
    knows_tests = better.is_complete and any(f.kind is FailureKind.TEST_FAILURE for f in better.failures)
    for failure in other.failures:
        is_known = _place(failure) in places if failure.line else failure.message in messages
        is_known = is_known or (_short(failure) in names)
        is_vague = failure.kind in kinds and failure.file is None and failure.test_name is None
        is_other_test = failure.kind is FailureKind.TEST_FAILURE and knows_tests
        if not (is_known or is_vague or is_other_test):
            yield failure


def _by_name(reading: Parsed) -> dict[str, Failure]:
    """The failures whose test names are unique."""
    names = Counter(_short(failure) for failure in reading.failures)
    return {name: failure for failure in reading.failures if names[name := _short(failure)] == 1 and name}


def _placed(failure: Failure, other: Failure | None) -> Failure:
    """A failure whose report names no line, with the place that the log names for the same test."""
    if failure.line or other is None or not other.line:
        return failure
    return replace(failure, kind=other.kind, file=other.file, line=other.line, column=other.column)


def _place(failure: Failure) -> tuple[str | None, int | None, str]:
    """Where a failure is; without a line, what it says."""
    return (failure.file, failure.line, "" if failure.line else failure.message)


def _short(failure: Failure) -> str:
    """The name of a test without what tools put before it."""
    name = (failure.test_name or "").removesuffix("()")
    return name if is_file(name) else re.split(r"::| > |\.(?=\w+$)", name)[-1]


def _sum(one: TestSummary | None, other: TestSummary | None) -> TestSummary | None:
    if one is None or other is None:
        return one or other
    return TestSummary(*(a + b for a, b in zip(astuple(one), astuple(other), strict=True)))
