"""The tests of a spec on the tree that the work begins from: which are red, which are green already, which cannot fail.

Runs what the judge `checks` would run, in the same sandbox; changes nothing. Which word follows is in `core.red`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from agent_fox.core.verdicts.proof import Shown
from agent_fox.core.verdicts.red import RedWord, Seen, now_of
from agent_fox.core.verdicts.verdict import Word
from agent_fox.system.own_folders import own_folder
from agent_fox.verifier.ground.cases import SHOWN, Case, Outcome
from agent_fox.verifier.judging.checks import bench_on
from agent_fox.verifier.proof.stage import stage
from agent_fox.verifier.proof.standing import Proof, best_of, claims_of
from agent_fox.verifier.running.commands import Ground

if TYPE_CHECKING:
    from agent_fox.verifier.ground.order import CheckOrder
    from agent_fox.verifier.judging.verdicts import Bench, Finding

_MOST_NAMED = 3


def read_red(order: CheckOrder, lent: Sequence[Path] = ()) -> tuple[RedWord, ...]:
    """A word for each expected id of an order whose workspace holds the tree. `lent`: folders that its links lead to.

    Nothing is compared with a base commit: the tree is the base. Raises nothing for what the commands do.
    """
    with own_folder("red") as private:
        ground = Ground(order, Path(order.workspace), Path(private), also=tuple(lent))
        bench = bench_on(ground)
        findings = bench.findings()
        proofs = _proofs(ground, bench, findings)
    return tuple(_row(bench, finding, proofs) for finding in findings)


def _proofs(ground: Ground, bench: Bench, findings: Sequence[Finding]) -> Mapping[str, Proof]:
    """What breaking the product comes to, for requirements whose tests are green."""
    ids = [finding.verdict.requirement_id for finding in findings]
    claims = [claim for id in ids if _is_green(bench.tests(id)) for claim in claims_of(bench, id)]
    if not claims:
        return {}
    with stage(ground) as trials:
        return best_of(trials.proofs(claims))


def _is_green(tests: Sequence[Case]) -> bool:
    return any(test.outcome in SHOWN for test in tests) and not _failed(tests)


def _failed(tests: Sequence[Case]) -> list[Case]:
    return [test for test in tests if test.outcome is Outcome.FAILED]


def _row(bench: Bench, finding: Finding, proofs: Mapping[str, Proof]) -> RedWord:
    id = finding.verdict.requirement_id
    tests, proof = bench.tests(id), proofs.get(id)
    seen = Seen(
        is_named=bool(tests),
        is_red=bool(_failed(tests)) or bench.is_broken_about(id),
        is_green=_is_green(tests),
        is_held=finding.verdict.word is Word.UNKNOWN or _is_broken(finding),
    )
    named = tuple(test.id for test in (_failed(tests) or tests)[:_MOST_NAMED])
    return RedWord(id, now_of(seen, proof.word if proof else None), _why(finding, tests, proof), named)


def _is_broken(finding: Finding) -> bool:
    """Whether a file that may be about it could not be run."""
    return finding.run is not None and bool(finding.run.broken)


def _why(finding: Finding, tests: Sequence[Case], proof: Proof | None) -> str:
    if proof is not None:
        is_plain = proof.word in (Shown.DISCRIMINATES, Shown.ALREADY_TRUE, Shown.VACUOUS)
        return proof.why if is_plain and proof.why else f"{proof.word}: {proof.why}"
    failed = _failed(tests)
    if failed:
        message = next(iter((failed[0].message or failed[0].text).splitlines()), "")
        return f"{failed[0].id}: {message}" if message else failed[0].id
    return next((line for line in finding.verdict.evidence.splitlines() if line.strip()), "")
