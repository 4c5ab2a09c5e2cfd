"""What changed between two runs of one plan: new, resolved, unchanged and worsened failures. Pure.

A failure that was there before is shown as such; it excuses nothing by itself (`docs/semantics.md`, "Judging").
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from agent_fox.core.signals import normalise_line
from agent_fox.core.values import dataclass
from agent_fox.verifier.ground.results import Failure, Scope, Status, TestSummary, Tool, VerificationResult

Key = tuple[Tool, str, str]
"""Which step a result is of: tool, module, selector. Only results with one key are compared."""

Identity = tuple[str, str, str, str]
"""What makes a failure the same in two runs: kind, file, test or symbol, normalised message. Lines move, and do not."""


@dataclass(frozen=True, slots=True)
class Worsened:
    """A step that could say more on the base than now, or says worse: in words."""

    step: str
    reason: str


@dataclass(frozen=True, slots=True)
class Comparison:
    """A plan's results beside those of the base commit.

    base: the commit. incomparable: steps that could not be compared, and why; they count neither way.
    """

    base: str
    new: tuple[Failure, ...] = ()
    resolved: tuple[Failure, ...] = ()
    unchanged: tuple[Failure, ...] = ()
    worsened: tuple[Worsened, ...] = ()
    incomparable: tuple[str, ...] = ()

    @property
    def was_broken(self) -> bool:
        """Whether the base commit failed already."""
        return bool(self.resolved or self.unchanged)


def compare(base: str, before: Iterable[VerificationResult], after: Iterable[VerificationResult]) -> Comparison:
    """Compare two runs of one plan. A step that one side lacks, or could not run, is incomparable."""
    old_results = {key_of(result): result for result in before}
    pairs = [(old_results.get(key_of(result)), result) for result in after]
    return joined(base, [_compare_one(old, new) for old, new in pairs])


def joined(base: str, parts: Sequence[Comparison]) -> Comparison:
    """The comparisons of single steps as one."""
    names = ("new", "resolved", "unchanged", "worsened", "incomparable")
    return Comparison(base, **{name: tuple(each for part in parts for each in getattr(part, name)) for name in names})


def key_of(result: VerificationResult) -> Key:
    return result.tool, result.module or "", result.selector or ""


def identity_of(failure: Failure) -> Identity:
    """A failing test is identified by its name; anything else by its place and message."""
    if failure.test_name:
        return failure.kind, failure.file or "", failure.test_name, ""
    message = normalise_line(failure.message.partition("\n")[0])
    return failure.kind, failure.file or "", failure.symbol or failure.code or "", message


def _compare_one(before: VerificationResult | None, after: VerificationResult) -> Comparison:
    obstacle = _obstacle(before, after)
    if before is None or obstacle:
        return Comparison("", incomparable=(f"{after.tool}: {obstacle}",))
    had, has = _counted(before.failures), _counted(after.failures)
    gone = _beyond(before.failures, has)
    unseen = tuple(failure for failure in gone if failure.test_name and _ran_less(before, after))
    return Comparison(
        "",
        new=_beyond(after.failures, had),
        resolved=tuple(failure for failure in gone if failure not in unseen),
        unchanged=_beyond(after.failures, has - had),
        worsened=(*_worsened(before, after), *(_not_seen(after, failure) for failure in unseen)),
    )


def _obstacle(before: VerificationResult | None, after: VerificationResult) -> str:
    if before is None:
        return "it did not run on the base commit"
    if before.status in (Status.ERRORED, Status.SKIPPED):
        return f"on the base commit it was {before.status}: {before.summary}"
    if after.status in (Status.ERRORED, Status.SKIPPED):
        return f"it was {after.status} this time: {after.summary}"
    return ""


def _counted(failures: Iterable[Failure]) -> Counter[Identity]:
    return Counter(identity_of(failure) for failure in failures)


def _beyond(failures: Iterable[Failure], known: Counter[Identity]) -> tuple[Failure, ...]:
    """Those that are more than `known`: the first so many of an identity are the known ones."""
    left = Counter(known)
    more = []
    for failure in failures:
        identity = identity_of(failure)
        if left[identity] > 0:
            left[identity] -= 1
        else:
            more.append(failure)
    return tuple(more)


def _ran_less(before: VerificationResult, after: VerificationResult) -> bool:
    """Whether a test that failed before may simply not have run now: then its silence shows nothing."""
    if after.test_summary is None:
        return True
    return bool(fewer_tests(before.scope, before.test_summary, after.scope, after.test_summary))


def _not_seen(after: VerificationResult, failure: Failure) -> Worsened:
    return Worsened(after.tool, f"{failure.test_name} failed on the base commit and was not seen to run now")


def _worsened(before: VerificationResult, after: VerificationResult) -> tuple[Worsened, ...]:
    worse = []
    if after.status is Status.TIMED_OUT and before.status is not Status.TIMED_OUT:
        worse.append(Worsened(after.tool, f"{before.status} on the base commit, ran into its time limit now"))
    fewer = fewer_tests(before.scope, before.test_summary, after.scope, after.test_summary)
    if fewer:
        worse.append(Worsened(after.tool, fewer))
    return tuple(worse)


def fewer_tests(
    old_scope: Scope | None, old: TestSummary | None, new_scope: Scope | None, new: TestSummary | None
) -> str:
    """Says so where fewer tests ran, or more were skipped, in the same scope; empty otherwise, or in another scope."""
    if old is None or new is None or old_scope is not new_scope:
        return ""
    if new.tests < old.tests:
        return f"{new.tests} tests ran, {old.tests} before"
    if new.skipped + new.xfailed > old.skipped + old.xfailed:
        return f"{new.skipped + new.xfailed} tests were skipped, {old.skipped + old.xfailed} before"
    return ""
