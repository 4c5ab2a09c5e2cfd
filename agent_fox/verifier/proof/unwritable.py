"""Tests that fail only because they write a file that git holds: it is read-only in the checkout of who judges.

They are run once more in a copy where it may be written. A pass there shows nothing, since nothing tells what such a
test expects from what it wrote; but the failure says nothing of the work either.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from agent_fox.core.regex import regex
from agent_fox.core.verdicts.verdict import Disposition, Word
from agent_fox.system.files import remove_tree
from agent_fox.system.git import GitError
from agent_fox.verifier.ground.cases import Case, Outcome
from agent_fox.verifier.policy.change_under_check import changed_paths
from agent_fox.verifier.proof.sides import copied, files_of
from agent_fox.verifier.suites.evidence_text import capped
from agent_fox.verifier.suites.running_suites import run_tests

if TYPE_CHECKING:
    from agent_fox.verifier.judging.verdicts import Finding
    from agent_fox.verifier.running.commands import Ground
    from agent_fox.verifier.suites.suite import SuiteRun

SIGN = regex(r"(?i)permission ?denied|access ?denied|\bEACCES\b|\bEROFS\b|read-only file system")
REMEDY = "Let the test write to a temporary folder of its own."
_WRITE = stat.S_IWUSR
_SHOWN = 3


def excused(ground: Ground, findings: Sequence[Finding]) -> tuple[Finding, ...]:
    """The findings, of which a FAIL that only a read-only file explains is UNKNOWN, and for a person; where the test
    was written or changed since the base commit it stays a FAIL that tells its coder so.

    However many findings there are, the tests of a command are run once more together.
    """
    held = [each for each in findings if _is_held(each)]
    runs = {id(each.run): each.run for each in held if each.run is not None}
    passed: set[Case] = set()
    written: list[str] = []
    for number, (key, run) in enumerate(runs.items()):
        tests = tuple(dict.fromkeys(test for each in held if id(each.run) == key for test in each.cases))
        passing, files = _tried(ground, run, tests, f"writable-{number}")
        passed |= passing if files else set()
        written += files
    return tuple(
        _excused(ground, each, written) if _is_held(each) and passed >= {*each.cases} else each for each in findings
    )


def _is_held(finding: Finding) -> bool:
    """Whether it is a FAIL of which each test says that it may not write."""
    is_failing = finding.verdict.word is Word.FAIL and bool(finding.cases)
    return is_failing and all(SIGN.search(f"{each.message}\n{each.text}") for each in finding.cases)


def _excused(ground: Ground, finding: Finding, written: Sequence[str]) -> Finding:
    verdict, tests = finding.verdict, finding.cases
    names, files = ", ".join(each.id for each in tests[:_SHOWN]), ", ".join(written[:_SHOWN])
    reason = (
        f"{names} passes only where {files} may be written, which git holds and which is read-only for who judges: "
        f"nothing tells what it expects from what it wrote. {REMEDY}"
    )
    evidence = capped(f"{reason}\n{verdict.evidence}")
    if _is_written_here(ground, tests):
        return replace(finding, verdict=replace(verdict, evidence=evidence))
    unknown = replace(
        verdict, word=Word.UNKNOWN, said=Word.UNKNOWN.value, evidence=evidence, disposition=Disposition.ENVIRONMENT,
        needs_person=True, signal=None,
    )  # fmt: skip
    return replace(finding, verdict=unknown)


def _tried(ground: Ground, run: SuiteRun, tests: Sequence[Case], name: str) -> tuple[set[Case], list[str]]:
    """The tests that pass in a copy where every file may be written, and the read-only files that were; none of either
    where no such copy can be made.
    """
    tree = ground.private / "trees" / name
    try:
        lent = copied(ground.workspace, tree)
        locked = [path for path in sorted(files_of(tree)) if _is_locked(tree / path)]
        for path in locked:
            (tree / path).chmod((tree / path).stat().st_mode | _WRITE)
        before = dict(_stamps(tree, locked))
        copy = replace(ground, workspace=tree, also=(*ground.also, *lent))
        again = run_tests(run, tests, copy, name, ground.order.timeout) if locked else None
        ids = {case.id for case in again.cases if case.outcome is Outcome.PASSED} if again else set()
        after = dict(_stamps(tree, locked))
    except OSError:
        return set(), []
    finally:
        remove_tree(tree, ignore_errors=True)
    return {each for each in tests if each.id in ids}, [path for path in locked if before[path] != after.get(path)]


def _is_locked(place: Path) -> bool:
    try:
        mode = place.lstat().st_mode
    except OSError:
        return False
    return stat.S_ISREG(mode) and not mode & _WRITE


def _stamps(tree: Path, paths: Iterable[str]) -> Iterator[tuple[str, tuple[int, int, int]]]:
    for path in paths:
        if os.path.lexists(tree / path):
            status = (tree / path).lstat()
            yield path, (status.st_ino, status.st_size, status.st_ctime_ns)


def _is_written_here(ground: Ground, tests: Sequence[Case]) -> bool:
    """Whether a test's file differs from the base commit; not where there is none to compare with."""
    order = ground.order
    if not order.base_commit:
        return False
    try:
        changed = {*changed_paths(ground.workspace, order.base_commit, Path(order.repository))}
    except GitError:
        return False
    return any(each.file in changed for each in tests)
