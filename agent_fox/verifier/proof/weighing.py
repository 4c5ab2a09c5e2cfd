"""From what the trials came to, to the verdict that counts. Source of the table: `docs/proof.md`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from agent_fox.core.verdicts.expectations import Seal, Sealed
from agent_fox.core.verdicts.known import How
from agent_fox.core.verdicts.proof import Shown, Trials, bounded
from agent_fox.core.verdicts.scope import joined, whole_tree
from agent_fox.core.verdicts.verdict import Unproven, Verdict, Word
from agent_fox.system.git import GitError
from agent_fox.verifier.ground.order import Counterfactual
from agent_fox.verifier.proof.stage import stage
from agent_fox.verifier.proof.standing import Claim, Proof, best_of, claims_of
from agent_fox.verifier.suites.evidence_text import capped

if TYPE_CHECKING:
    from agent_fox.core.verdicts.scope import Scope
    from agent_fox.verifier.ground.order import CheckOrder
    from agent_fox.verifier.judging.verdicts import Bench, Finding
    from agent_fox.verifier.proof.warm import Warm
    from agent_fox.verifier.running.commands import Ground

LONGEST_COMMITTED = 600
"""Characters of a committed test that stand in the evidence."""

REPAIR = (
    "Repair the code so that the committed test passes. If the committed test asks for the wrong thing, say why in "
    "your summary, in a sentence that names the test or its file: a person then decides."
)
NO_CHANGE = 'Repair the code so that the committed test passes: [verify] sealed = "refuse" allows no other expectation.'
NO_BASE = "no base commit is known, so no committed test was held against it"
MEND_TEST = "Change the test so that it fails when this is broken, or when what it is about is not there."


def weighed(ground: Ground, bench: Bench, findings: Sequence[Finding], warm: Warm | None = None) -> tuple[Finding, ...]:
    """The findings with the word of each requirement's tests; a PASS that proves nothing is taken away. `warm`: a start
    that trials may share.
    """
    passed = [finding.verdict.requirement_id for finding in findings if finding.verdict.word is Word.PASS]
    claims = [claim for id in passed for claim in claims_of(bench, id)]
    proofs = _proofs(ground, claims, warm) if claims else ()
    best, scopes = best_of(proofs), _scopes(proofs)
    return tuple(_proven(ground.order, finding, best, scopes) for finding in findings)


def _proven(order: CheckOrder, finding: Finding, proofs: Mapping[str, Proof], scopes: Mapping[str, Scope]) -> Finding:
    id = finding.verdict.requirement_id
    return _weighed(order, finding, proofs[id], scopes[id]) if id in proofs else finding


def _scopes(proofs: Sequence[Proof]) -> dict[str, Scope]:
    """What each requirement rests on, by the tests of all runs that are about it."""
    known: dict[str, list[Scope]] = {}
    for proof in proofs:
        known.setdefault(proof.id, []).append(proof.scope or whole_tree("what its tests rest on was not measured"))
    return {id: joined(scopes) for id, scopes in known.items()}


def _proofs(ground: Ground, claims: Sequence[Claim], warm: Warm | None) -> tuple[Proof, ...]:
    """Undecided, all of them, where the base commit cannot be looked at."""
    try:
        with stage(ground, warm) as trials:
            return trials.proofs(claims)
    except GitError as error:
        why = f"the base commit {ground.order.base_commit[:12]} cannot be looked at: {error}"
        return tuple(Proof(claim.id, Shown.UNDECIDED, why, is_written_here=False, runs=0) for claim in claims)


def _weighed(order: CheckOrder, finding: Finding, proof: Proof, scope: Scope) -> Finding:
    verdict = _judged(order, _with_seal(order, finding.verdict, proof), proof)
    rests_on = scope if verdict.word is Word.PASS else None
    return replace(finding, verdict=replace(verdict, trials=_trials(order, proof), rests_on=rests_on))


def _trials(order: CheckOrder, proof: Proof) -> Trials:
    tried, left_out = bounded(proof.tried)
    return Trials(proof.word, proof.before, order.base_commit, proof.runs, proof.is_kept, tried, left_out)


def _judged(order: CheckOrder, verdict: Verdict, proof: Proof) -> Verdict:
    is_required = order.counterfactual is Counterfactual.REQUIRE
    word = proof.word.how or proof.word
    why = proof.why if order.base_commit else f"{proof.why}; {NO_BASE}".removeprefix("; ")
    reason = f"{word}: {why}" if why else str(word)
    if not proof.seal.is_open:
        evidence = capped(f"{verdict.evidence}\n{proof.seal}: {proof.sealed_why}")
        return _unsealed(order, verdict, proof) if is_required else replace(verdict, evidence=evidence)
    counts = proof.word.how is not None and (proof.word is not Shown.NOT_SHOWN or order.counts_not_shown)
    if counts or not is_required:
        how = verdict.how or proof.word.how or ""
        return replace(verdict, how=how, evidence=capped(f"{verdict.evidence}\n{reason}"))
    return _taken_away(verdict, proof, reason)


def _with_seal(order: CheckOrder, verdict: Verdict, proof: Proof) -> Verdict:
    """What is known of a committed test that fails goes with the verdict, whatever becomes of it."""
    if proof.expectation is None:
        return verdict
    note = f"{verdict.note}; {proof.seal}" if verdict.note else str(proof.seal)
    match proof.seal:
        case Seal.AGREED:
            by = proof.agreed_by
            note, how = f"{note} by {by}: {proof.expectation.test} was changed", f"{How.AGREED} by {by}"
        case Seal.OLDER | Seal.ASKED:
            how = ""
        case _:
            note, how = verdict.note, ""
    evidence = capped(f"{verdict.evidence}\n{proof.sealed_why}") if proof.seal.is_open else verdict.evidence
    expectation = replace(proof.expectation, is_asked=proof.seal is Seal.ASKED)
    return replace(verdict, note=note, how=how, evidence=evidence, expectation=expectation)


def _unsealed(order: CheckOrder, verdict: Verdict, proof: Proof) -> Verdict:
    """Without a reason the test goes back to its coder; with one it is for a person to agree."""
    is_stated = proof.seal is Seal.CHANGED
    word = Word.UNKNOWN if is_stated else Word.FAIL
    disposition = Unproven.CHANGED_EXPECTATION if is_stated else Unproven.WEAKENED_TEST
    committed = proof.expectation.before[:LONGEST_COMMITTED] if proof.expectation else ""
    remedy = "" if is_stated else NO_CHANGE if order.sealed is Sealed.REFUSE else REPAIR
    parts = (f"{proof.seal}: {proof.sealed_why}", remedy, f"as it was committed:\n{committed}", verdict.evidence)
    return replace(
        verdict, word=word, said=word.value, evidence=capped("\n".join(filter(None, parts))), disposition=disposition,
        needs_person=is_stated, tests=proof.expectation.files if proof.expectation else (),
    )  # fmt: skip


def _taken_away(verdict: Verdict, proof: Proof, shown: str) -> Verdict:
    if proof.word in (Shown.UNDECIDED, Shown.NOT_SHOWN):
        evidence = capped(f"{shown}\n{verdict.evidence}")
        return replace(verdict, word=Word.UNKNOWN, said=Word.UNKNOWN.value, evidence=evidence, how="")
    word = Word.FAIL if proof.is_written_here else Word.UNKNOWN
    shown = f"{Unproven.VACUOUS_TEST}: {proof.why}\n{MEND_TEST if proof.is_written_here else ''}".rstrip()
    return replace(
        verdict, word=word, said=word.value, evidence=capped(f"{shown}\n{verdict.evidence}"), how="",
        disposition=Unproven.VACUOUS_TEST, needs_person=not proof.is_written_here, tests=proof.tests,
    )  # fmt: skip
