"""Several readings of one run as one: reports win over the log, and nothing counts twice. Statuses are elsewhere."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace

from agent_fox.verifier.ground.results import Failure, FailureKind, Parsed
from agent_fox.verifier.logs.frames import is_file
from agent_fox.verifier.logs.gathering import Gathering, summed

_NOTHING = Parsed()


def merged(readings: Iterable[Parsed]) -> Parsed:
    """Readings of different parts of a run, such as one report for each module: counts add up."""
    gathering, summary, is_complete = Gathering(), None, True
    for reading in readings:
        summary, is_complete = summed((summary, reading.summary)), is_complete and reading.is_complete
        for failure in reading.failures:
            gathering.fail(failure)
        for warning in reading.warnings:
            gathering.warn(warning)
    return gathering.parsed(summary, is_complete=is_complete)


def completed(better: Parsed, other: Parsed) -> Parsed:
    """`better`, and of `other` (a reading of the same run, less to be trusted) what `better` does not know."""
    if better == _NOTHING:
        return other
    gathering, names = Gathering(), Counter(map(_short, other.failures))
    of_name = {name: failure for failure in other.failures if names[name := _short(failure)] == 1 and name}
    for failure in better.failures:
        known = of_name.get(_short(failure))
        if known and known.line and not failure.line:  # the log names the place that the report does not
            failure = replace(failure, kind=known.kind, file=known.file, line=known.line, column=known.column)
        gathering.fail(failure)
    for failure in _new_failures(better, other):
        gathering.fail(failure)
    places = {_place(warning) for warning in better.warnings}
    for warning in (*better.warnings, *(each for each in other.warnings if _place(each) not in places)):
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


def _place(failure: Failure) -> tuple[str | None, int | None, str]:
    """Where a failure is; without a line, what it says."""
    return (failure.file, failure.line, "" if failure.line else failure.message)


def _short(failure: Failure) -> str:
    """The name of a test without what tools put before it."""
    name = (failure.test_name or "").removesuffix("()")
    return name if is_file(name) else re.split(r"::| > |\.(?=\w+$)", name)[-1]
