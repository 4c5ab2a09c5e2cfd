"""The facts about one failure, as values. Deciding who can do something about it is in `dispositions`."""

from __future__ import annotations

from enum import StrEnum

from agent_fox.core.values import dataclass
from agent_fox.verifier.ground.results import Failure, FailureKind, Scope, Status, Tool

PROOF_RUNS = 3
"""How many reruns on the same tree have to pass, all of them, before a failure counts as flaky."""

_PARTS = ("::", ".", "#", "/", "[", "(", "$", ">")
"""What stands between a test's name and that of its part: a case, a sub-test, a member."""


class RerunTree(StrEnum):
    SAME = "same"
    BASE = "base"


@dataclass(frozen=True, slots=True)
class Rerun:
    """What running the failing thing again came to: the test where the failure names one, else the whole tool.

    Each rerun starts from a clean checkout, so that nothing the failing run left behind helps it.

    outcomes: one for each recorded rerun, oldest first. True: it passed. False: the same failure came again (the same
    test failed; or, without a test, the same tool failed in the same way). None: that could not be found out.
    """

    tree: RerunTree
    outcomes: tuple[bool | None, ...]


@dataclass(frozen=True, slots=True)
class ToolEnd:
    """How the command ended, as the one who started it saw it; nothing here is read from its output.

    exit_code: negative for a signal; None where it never started, was stopped, or nobody saw it.
    timed_out, out_of_memory, process_limit_hit: a limit of ours was reached.
    start_error: why it could not be started, empty if it was.
    is_report_readable: false if a report that the command was to write is missing or cannot be read to its end.
    tests_run: how many tests its reports count, None where none were counted.
    """

    exit_code: int | None = None
    timed_out: bool = False
    cancelled: bool = False
    start_error: str = ""
    out_of_memory: bool = False
    process_limit_hit: bool = False
    is_report_readable: bool = True
    tests_run: int | None = None


@dataclass(frozen=True, slots=True)
class PolicyDoubt:
    """What the policy checks of the change hold against this failure's test or file. `needs_person` is the rule's."""

    rule: str
    message: str
    needs_person: bool = False


class SpecSource(StrEnum):
    """Who says that the spec itself is at fault. A log never does."""

    LINT = "lint"
    PERSON = "person"
    READING = "reading"


@dataclass(frozen=True, slots=True)
class SpecDoubt:
    """Something said against the spec of this failure's requirement. `reading` tells the sessions apart."""

    source: SpecSource
    message: str
    reading: str = ""


@dataclass(frozen=True, slots=True)
class FailureFacts:
    """One failure, and everything recorded that bears on who can do something about it.

    tail: the last lines of the log, bounded. It is looked at only where the tool, not a test, wrote it.
    has_network: whether the profile let the command use the network.
    files_changed: paths that the patch changed, relative to the workspace, with forward slashes.
    own_tests: names of the tests of the requirement in question; empty where no requirement is.
    declared: names of the packages that the project's manifests ask for.
    reruns: of this failure, on the same tree and on the base tree.
    changed_sources: source files that changed while the tool ran. base_changes_sources: whether the same tool changes
    source on the base tree too; None if that was not tried.
    known_flaky: names on the list of flaky tests: a reason to run again, never a proof.
    """

    failure: Failure
    tool: Tool
    status: Status
    end: ToolEnd = ToolEnd()
    scope: Scope | None = None
    has_network: bool = False
    tail: str = ""
    files_changed: frozenset[str] = frozenset()
    own_tests: frozenset[str] = frozenset()
    declared: frozenset[str] = frozenset()
    reruns: tuple[Rerun, ...] = ()
    changed_sources: tuple[str, ...] = ()
    base_changes_sources: bool | None = None
    policy: tuple[PolicyDoubt, ...] = ()
    spec: tuple[SpecDoubt, ...] = ()
    known_flaky: frozenset[str] = frozenset()

    def outcomes(self, tree: RerunTree) -> tuple[bool | None, ...]:
        """Every recorded rerun on that tree, oldest first."""
        return tuple(outcome for rerun in self.reruns if rerun.tree is tree for outcome in rerun.outcomes)

    @property
    def passes_on_base(self) -> bool:
        """Whether it was run on the base tree, and passed there each time."""
        outcomes = self.outcomes(RerunTree.BASE)
        return bool(outcomes) and all(outcome is True for outcome in outcomes)

    @property
    def fails_on_base(self) -> bool:
        """Whether it failed on the base tree, and never passed there."""
        outcomes = self.outcomes(RerunTree.BASE)
        return False in outcomes and True not in outcomes

    @property
    def comes_again(self) -> bool:
        """Whether it failed again on the same tree, and never passed there."""
        outcomes = self.outcomes(RerunTree.SAME)
        return False in outcomes and True not in outcomes

    @property
    def is_proven_flaky(self) -> bool:
        outcomes = self.outcomes(RerunTree.SAME)
        return len(outcomes) >= PROOF_RUNS and all(outcome is True for outcome in outcomes)

    @property
    def is_named_test(self) -> bool:
        return self.failure.kind is FailureKind.TEST_FAILURE and self.failure.test_name is not None

    @property
    def keeps_own_tests(self) -> bool:
        """Whether the requirement's own tests could not run because of it: that the base tree does not excuse."""
        return bool(self.own_tests) and self.tool.runs_tests and not self.is_named_test

    @property
    def is_own_test(self) -> bool:
        """Whether the test is one of the requirement's own, a case of one, or in a file or class of them."""
        name = self.failure.test_name
        return name is not None and any(_is_within(name, own) for own in self.own_tests)


def _is_within(name: str, own: str) -> bool:
    return name == own or (name.startswith(own) and name[len(own) :].lstrip().startswith(_PARTS))
