"""The sealed reading: tests that stand in the base, in the words in which they were committed, run on the tree.

Source of the rule: `docs/proof.md`, "The committed tests". What follows where one fails is in `core.expectations`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from agent_fox.core.regex import regex
from agent_fox.core.values import dataclass
from agent_fox.core.verdicts.proof import Shown
from agent_fox.system.files import content_in
from agent_fox.verifier.ground.cases import Case, Outcome
from agent_fox.verifier.ground.sources import read_source
from agent_fox.verifier.mutants.languages import language_of
from agent_fox.verifier.proof.effects import is_own_assertion
from agent_fox.verifier.proof.expectations import expectation_of, explained, sealed, who_agreed
from agent_fox.verifier.proof.sides import files_of, inline_tests, is_rust_product, is_test_side, with_inline_tests
from agent_fox.verifier.suites.mapping import Ownership

if TYPE_CHECKING:
    from agent_fox.verifier.ground.order import CheckOrder
    from agent_fox.verifier.proof.lab import Seen
    from agent_fox.verifier.proof.standing import Standing
    from agent_fox.verifier.suites.suite import SuiteRun

Contents = Mapping[str, bytes | None]
Run = Callable[["SuiteRun", Contents], "Seen"]
"""Runs all tests of a command in a copy of the tree in which files have these contents (None: are gone)."""

_IMPORTS = regex(
    r"^[ \t]*(?:from\s+\S+\s+import\s+(?:\([^)]*\)|.*)|import\s.*|sys\.path\..*|.*\brequire\(.*)$", re.MULTILINE
)
"""`from a import (b,\nc)`, `import a`, `const a = require("b");`; not `important = 1`."""


@dataclass(frozen=True, slots=True)
class Failed:
    """A committed test that fails. `is_own`: by an assertion of its own, and not for want of something.

    `is_unread`: it is not known, since nothing could be run. `own`: names of the requirement's committed tests.
    `code`: files of the product that it failed in.
    """

    test: Case
    is_own: bool = False
    is_unread: bool = False
    own: frozenset[str] = frozenset()
    code: frozenset[str] = frozenset()


class Seals:
    """The sealed readings of one verification. `changed`: what of the test side differs between base and tree."""

    def __init__(self, order: CheckOrder, base: Path, tree: Path, changed: Sequence[str], run: Run) -> None:
        self._order, self._base, self._tree, self._changed, self._run = order, base, tree, changed, run
        self._lacking: dict[str, Failed] = {}

    @cached_property
    def committed(self) -> Contents:
        """What of the base's test side is laid over the tree at first: all that differs."""
        return {path: self._committed(path) for path in self._changed}

    def _committed(self, path: str) -> bytes | None:
        """Of a file of Rust with inline tests, these alone: the rest of it is the product."""
        is_partial = is_rust_product(path)
        return with_inline_tests(self._tree, self._base, path) if is_partial else content_in(self._base, path)

    @property
    def is_needed(self) -> bool:
        """Whether a test was committed, and something of the test side was changed since."""
        return bool(self._changed and self._tests)

    def is_changed_about(self, id: str) -> bool:
        """Whether a committed file of tests about this requirement was changed: what it rests on is not measured."""
        return self.is_needed and any(path in self._changed for path in self._about(id))

    def read(self, run: SuiteRun, mine: Sequence[Standing]) -> None:
        """Lay the base's test side over the tree; where that lacks something, leave what was added."""
        if not (mine and self.is_needed):
            return
        failed = self._failed(run, mine, self.committed)
        if failed and None in self.committed.values():
            lacking = [proof for proof in mine if proof.claim.id in failed and not failed[proof.claim.id].is_own]
            kept = {path: content for path, content in self.committed.items() if content is not None}
            self._lacking |= {proof.claim.id: failed[proof.claim.id] for proof in lacking}
            again = self._failed(run, lacking, kept) if lacking else {}
            failed = {id: proof for id, proof in failed.items() if proof.is_own} | again
        for proof in mine:
            failure = failed.get(proof.claim.id)
            if failure is not None and failure.is_unread:
                proof.decide(Shown.UNDECIDED, f"the committed tests could not be run: {failure.test.message}")
            elif failure is not None:
                self._unseal(run, proof, failure, self._changed)

    def read_elsewhere(self, run: SuiteRun, one: Standing) -> None:
        """A committed test that fails in code of the product, and with what was added passes without that code, did not
        lack what was added: it is led past the code that it is about.
        """
        failed = self._lacking.get(one.claim.id)
        if failed is None or not failed.code:
            return
        seen, ids = self._run(run, dict.fromkeys(failed.code)), {test.id for test in one.claim.tests}
        passed = {case.id for case in seen.cases if case.outcome is Outcome.PASSED}
        if ids <= passed:
            self._unseal(run, one, failed, self._changed)

    def read_data(self, run: SuiteRun, one: Standing, data: Iterable[str]) -> None:
        """Data that a test itself opens, beside product code that it executes, is what it expects: it is sealed too."""
        over = {path: content for path in data if (content := content_in(self._base, path)) is not None}
        if over:
            failed = self._failed(run, [one], over).get(one.claim.id)
            if failed is not None and failed.is_own:
                self._unseal(run, one, failed, (*self._changed, *over))

    def _failed(self, run: SuiteRun, mine: Sequence[Standing], over: Contents) -> dict[str, Failed]:
        """A committed test of each requirement that fails, or cannot be run any more."""
        seen = self._run(run, over)
        files = sorted({case.file for case in seen.cases} - {""})
        sources = {path: source for path in files if (source := read_source(self._base, path))}
        mapped = Ownership(self._order).map(seen.cases, sources)
        failures: dict[str, Failed] = {}
        for each in mine:
            cases = mapped[each.claim.id].cases
            if over is self.committed and self._about(each.claim.id):
                each.leans_on_added = not any(case.outcome is Outcome.PASSED for case in cases)
            failing = [case for case in cases if case.outcome is Outcome.FAILED]
            own = {case: is_own_assertion(seen.ends[case.id]) for case in failing}
            if failing:
                test = max(failing, key=own.__getitem__)
                code = frozenset(file for file in seen.ends[test.id].frames if not is_test_side(file))
                names = frozenset(case.function for case in cases)
                failures[each.claim.id] = Failed(test, own[test], own=names, code=code)
            elif (lost := self._lost(each.claim.id, cases, seen)) is not None:
                failures[each.claim.id] = lost
        return failures

    def _lost(self, id: str, cases: Sequence[Case], seen: Seen) -> Failed | None:
        """A committed file of tests about this requirement that runs no more, and is not the tree's in other words.

        It cannot be collected on the tree, or all that it holds about the requirement is skipped.
        """
        for file, text in self._about(id).items():
            mine = [case for case in cases if case.file == file]
            is_skipped = bool(mine) and all(case.outcome is Outcome.SKIPPED for case in mine)
            why = "it is skipped on this tree" if is_skipped else seen.broken_files.get(file, seen.why_not)
            if why and _without_imports(text) not in self._tree_texts:
                test = mine[0] if mine else Case((), "", file, Outcome.FAILED, why)
                return Failed(test, is_unread=not is_skipped and file not in seen.broken_files)
        return None

    def _about(self, id: str) -> dict[str, str]:
        """The committed files of tests that are about a requirement, with their texts."""
        owner = Ownership(self._order)
        return {path: text for path, text in self._tests.items() if owner.is_about(id, path, text)}

    @cached_property
    def _tests(self) -> dict[str, str]:
        """Files of code on the base's test side that say something."""
        return {path: text for path, text in _code_of_tests(self._base) if text.strip()}

    @cached_property
    def _tree_texts(self) -> frozenset[str]:
        return frozenset(_without_imports(text) for _, text in _code_of_tests(self._tree))

    def _unseal(self, run: SuiteRun, one: Standing, failed: Failed, changed: Iterable[str]) -> None:
        """Note that this committed test fails where what was `changed` about it is put back."""
        case, files = failed.test, {test.file for test in run.cases}
        own = failed.own | {test.function for test in one.claim.tests} | {case.function}
        expectation = expectation_of(case, own, changed, files, self._base, self._tree, self._order.stated)
        one.expectation = expectation
        one.agreed_by = who_agreed(self._order, one.claim.id, expectation, self._base, self._tree)
        one.seal = sealed(self._order, one.claim.id, expectation, one.agreed_by)
        one.sealed_why = explained(one.seal, expectation, case.message or case.text[:200])


def _code_of_tests(root: Path) -> Iterable[tuple[str, str]]:
    for path in sorted(files_of(root)):
        if is_test_side(path) and language_of(path) and PurePosixPath(path).name != "conftest.py":
            content = content_in(root, path)
            if content is not None:
                yield path, content.decode("utf-8", "replace")
        elif inline := inline_tests(root, path):
            yield path, inline


def _without_imports(text: str) -> str:
    """What a test says, whatever its imports and paths are called."""
    return "\n".join(line for line in _IMPORTS.sub("", text).splitlines() if line.strip())
