"""From what the trials came to, to the verdict that counts. Source of the table: `docs/proof.md`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from agent_fox.core.proof import Seal, Shown
from agent_fox.core.verdict import Unproven, Verdict, Word
from agent_fox.verifier.evidence_text import capped
from agent_fox.verifier.order import Counterfactual
from agent_fox.verifier.proof.stage import Claim, Proof, stage

if TYPE_CHECKING:
    from agent_fox.verifier.judging import Bench, Finding
    from agent_fox.verifier.running_suites import Ground


def weighed(ground: Ground, bench: Bench, findings: Sequence[Finding]) -> tuple[Finding, ...]:
    """The findings with the word of each requirement's tests; a PASS that proves nothing is taken away."""
    claims = [claim for finding in findings if (claim := _claim(bench, finding)) is not None]
    if not claims:
        return tuple(findings)
    with stage(ground) as trials:
        proofs = {proof.id: proof for proof in trials.proofs(claims)}
    is_required = ground.order.counterfactual is Counterfactual.REQUIRE
    return tuple(_weighed(one, proofs.get(one.verdict.requirement_id), is_required=is_required) for one in findings)


def _claim(bench: Bench, finding: Finding) -> Claim | None:
    if finding.verdict.word is not Word.PASS:
        return None
    tests = bench.shown(finding.verdict.requirement_id)
    run = bench.run_of(tests[0])
    return Claim(finding.verdict.requirement_id, run, tuple(test for test in tests if bench.run_of(test) is run))


def _weighed(finding: Finding, proof: Proof | None, *, is_required: bool) -> Finding:
    if proof is None:
        return finding
    verdict = finding.verdict
    said = f"{proof.word}: {proof.why}" if proof.why else str(proof.word)
    if proof.seal is not Seal.HOLDS and is_required:
        return replace(finding, verdict=_unsealed(verdict, proof))
    if proof.word.how is not None or not is_required:
        known = replace(verdict, how=proof.word.how or "", evidence=capped(f"{verdict.evidence}\n{said}"))
        return replace(finding, verdict=known)
    return replace(finding, verdict=_taken_away(verdict, proof, said))


def _unsealed(verdict: Verdict, proof: Proof) -> Verdict:
    """Without a reason the test goes back to its coder; with one it is for a person to agree."""
    is_stated = proof.seal is Seal.CHANGED
    word = Word.UNKNOWN if is_stated else Word.FAIL
    disposition = Unproven.CHANGED_EXPECTATION if is_stated else Unproven.WEAKENED_TEST
    evidence = capped(f"{proof.seal}: {proof.why}\n{verdict.evidence}")
    return replace(
        verdict, word=word, said=word.value, evidence=evidence, disposition=disposition, needs_person=is_stated
    )


def _taken_away(verdict: Verdict, proof: Proof, said: str) -> Verdict:
    evidence = capped(f"{said}\n{verdict.evidence}")
    if proof.word is Shown.UNDECIDED:
        return replace(verdict, word=Word.UNKNOWN, said=Word.UNKNOWN.value, evidence=evidence)
    word = Word.FAIL if proof.is_written_here else Word.UNKNOWN
    return replace(
        verdict, word=word, said=word.value, evidence=evidence, disposition=Unproven.VACUOUS_TEST,
        needs_person=not proof.is_written_here,
    )  # fmt: skip
