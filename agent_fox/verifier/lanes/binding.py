"""What the results of lanes mean for requirements: their verdicts, and whether they are proved. Runs nothing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from agent_fox.core.values import dataclass
from agent_fox.core.verdicts.verdict import Word

if TYPE_CHECKING:
    from agent_fox.core.formal.specification import Specification
    from agent_fox.verifier.lanes.results import LaneResult

LONGEST_EVIDENCE = 1500


@dataclass(frozen=True, slots=True)
class Binding:
    """The verdict about one requirement that the specifications linked to it allow."""

    part: str
    word: Word
    evidence: str
    command: str = ""


@dataclass(frozen=True, slots=True)
class Proof:
    """Whether a requirement is proved; if not, what is missing, in words with the remedy."""

    part: str
    is_proved: bool
    why: str = ""


def verdicts(parts: Iterable[str], spec_name: str, objects: Sequence[Specification],
             results: Sequence[LaneResult]) -> tuple[Binding, ...]:  # fmt: skip
    """One verdict for each requirement that a specification with a lane is linked to; the others are not spoken of."""
    by_address = {result.address: result for result in results}
    rows = []
    for part in parts:
        linked = [each for each in objects if each.has_lane and each.binds(spec_name, part)]
        if linked:
            rows.append(bind(part, [(each, by_address.get(each.address)) for each in linked]))
    return tuple(rows)


def bind(part: str, linked: Sequence[tuple[Specification, LaneResult | None]]) -> Binding:
    """FAIL if one does not hold, UNKNOWN if one is not decided, PASS if all hold."""
    results = [result for _, result in linked if result is not None]
    broken = [result for result in results if result.status is Word.FAIL]
    if broken:
        evidence = "\n".join(f"{r.address} ({r.kind}) does not hold: {r.counterexample or r.why}" for r in broken)
        return Binding(part, Word.FAIL, evidence[:LONGEST_EVIDENCE], broken[0].command)
    silent = [f"{linked_object.address}: it was not checked" for linked_object, result in linked if result is None]
    open_ones = [f"{r.address} ({r.kind}): {r.why}" for r in results if r.status is Word.UNKNOWN]
    if silent or open_ones:
        return Binding(part, Word.UNKNOWN, "\n".join([*open_ones, *silent])[:LONGEST_EVIDENCE])
    held = "; ".join(f"{r.address} ({r.kind}) {'is proved' if r.is_proof else 'holds'}" for r in results)
    return Binding(part, Word.PASS, held[:LONGEST_EVIDENCE], results[0].command)


def provable(parts: Iterable[str], spec_name: str, objects: Sequence[Specification]) -> dict[str, bool]:
    """Whether there is anything at all by which each requirement could be proved."""
    formal = [each for each in objects if each.is_formal]
    return {part: any(each.binds(spec_name, part) for each in formal) for part in parts}


def proofs(parts: Iterable[str], spec_name: str, objects: Sequence[Specification],
           results: Sequence[LaneResult]) -> dict[str, Proof]:  # fmt: skip
    """A requirement is proved when every contract and theorem linked to it is, in its version, and there is one."""
    by_address = {result.address: result for result in results}
    formal = [each for each in objects if each.is_formal]
    return {part: proof(part, [each for each in formal if each.binds(spec_name, part)], by_address) for part in parts}


def proof(part: str, linked: Sequence[Specification], results: dict[str, LaneResult]) -> Proof:
    if not linked:
        return Proof(part, False, "no contract or theorem is linked to it: write one into specifications.toml")
    lacking = [why for each in linked if (why := why_unproved(each, results.get(each.address)))]
    return Proof(part, not lacking, "; ".join(lacking))


def why_unproved(specification: Specification, result: LaneResult | None) -> str:
    address = specification.address
    if result is None or result.version != specification.version:
        return f"{address} was not checked in this version"
    if result.status is Word.FAIL:
        return f"{address} does not hold: {result.counterexample}"
    return "" if result.is_proof and result.status is Word.PASS else f"{address} is not proved: {result.why}"
