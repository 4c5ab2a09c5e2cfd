"""A requirement that would pass by tests, and what is known of these tests. Runs nothing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field
from typing import TYPE_CHECKING

from agent_fox.core.values import dataclass
from agent_fox.core.verdicts.expectations import Seal
from agent_fox.core.verdicts.proof import Before, Place, Shown, Trial, Tried
from agent_fox.verifier.proof.sides import is_test_side

if TYPE_CHECKING:
    from agent_fox.core.verdicts.expectations import Expectation
    from agent_fox.core.verdicts.scope import Scope
    from agent_fox.verifier.ground.cases import Case
    from agent_fox.verifier.judging.verdicts import Bench
    from agent_fox.verifier.proof.lab import End, Executed
    from agent_fox.verifier.suites.suite import SuiteRun


@dataclass(frozen=True, slots=True)
class Claim:
    """A requirement that would pass, and the tests of one run that show it."""

    id: str
    run: SuiteRun
    tests: tuple[Case, ...]


@dataclass(slots=True)
class Standing:
    """What is known of one requirement's tests so far. `data`: the files that its tests themselves opened; `shared`:
    those of them that code of the product opened, too.

    `holds_in_a_copy`: what they assert was seen to hold where nothing was broken. `leans_on_added`: its committed tests
    fail without what was added to the test side. `scope`: what its tests rest on; None where that was not measured.
    `noticed`: how the tests ended that noticed the last place that was broken alone and killed. `looks`: code of the
    project looks at code, and not only at what it comes to.
    """

    claim: Claim
    executed: frozenset[Executed] = frozenset()
    opened: frozenset[str] = frozenset()
    data: frozenset[str] = frozenset()
    shared: frozenset[str] = frozenset()
    before: Before = Before.UNKNOWN
    places: tuple[Place, ...] = ()
    trials: list[Trial] = field(default_factory=list)
    word: Shown | None = None
    why: str = ""
    seal: Seal = Seal.HOLDS
    expectation: Expectation | None = None
    sealed_why: str = ""
    agreed_by: str = ""
    is_kept: bool = False
    untwinned: tuple[str, ...] = ()
    holds_in_a_copy: bool = False
    leans_on_added: bool = False
    scope: Scope | None = None
    tried: list[Tried] = field(default_factory=list)
    noticed: Mapping[Case, End] = field(default_factory=dict)
    looks: bool = False

    @property
    def is_measured(self) -> bool:
        """Whether its tests were seen to execute something of the product."""
        return any(not is_test_side(file) for file, _ in self.executed)

    def decide(self, word: Shown, why: str) -> None:
        self.word, self.why = word, why


@dataclass(frozen=True, slots=True)
class Proof:
    """What the trials of one requirement came to. `why`: in words, with the place and test that decided it.

    `is_written_here`: one of its tests was written or changed since the base commit. `runs`: how many runs of the whole
    spec it took. `expectation`, `sealed_why`: the committed test that fails, and how. `tests`: the files of its tests.
    `tried`: what was done to see it fail; `is_kept`: in an earlier reading of the same contents. `agreed_by`: who
    agreed to the change. `scope`: what its tests rest on; None where that was not measured.
    """

    id: str
    word: Shown
    why: str
    is_written_here: bool
    runs: int
    before: Before = Before.UNKNOWN
    seal: Seal = Seal.HOLDS
    expectation: Expectation | None = None
    sealed_why: str = ""
    tests: tuple[str, ...] = ()
    tried: tuple[Tried, ...] = ()
    is_kept: bool = False
    agreed_by: str = ""
    scope: Scope | None = None


_BEST = tuple(Shown)
"""The words as they are listed: those that let a PASS stand come first."""


def claims_of(bench: Bench, requirement: str) -> Iterator[Claim]:
    """The tests that passed and are about a requirement, one claim for each run that has some."""
    tests = bench.shown(requirement)
    for run in {id(bench.run_of(test)): bench.run_of(test) for test in tests}.values():
        yield Claim(requirement, run, tuple(test for test in tests if bench.run_of(test) is run))


def best_of(proofs: Iterable[Proof]) -> dict[str, Proof]:
    """One for each requirement: where committed tests fail in a run of several, that counts; else the best word."""
    ranked = sorted(proofs, key=lambda proof: (proof.seal.is_open, _BEST.index(proof.word)))
    return {proof.id: proof for proof in reversed(ranked)}
