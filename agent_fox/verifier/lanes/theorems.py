"""The formal lane for statements: z3 looks for a case in which the axioms hold and the goal does not."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from agent_fox.core.formal import smt_text
from agent_fox.core.regex import regex
from agent_fox.verifier.lanes import formal
from agent_fox.verifier.lanes.ground import Bench, Tool, run_tool, why_not_ended
from agent_fox.verifier.lanes.results import LaneResult, again, failed, passed, unknown

if TYPE_CHECKING:
    from agent_fox.core.formal.specification import Specification, TheoremStatement
    from agent_fox.verifier.running.commands import Ended

FILE = "theorem.smt2"
PROVES = "the statement itself, from its axioms; not that the code does what the axioms say"
_ANSWERS = regex(r"(?m)^(sat|unsat|unknown|timeout|\(error .*)$")


def prove_theorem(specification: Specification, check: TheoremStatement, bench: Bench, name: str) -> LaneResult:
    """PASS only where the axioms can hold, and never without the goal."""
    program = formal.solver()
    if not program:
        return unknown(specification, f"z3 is missing: {formal.REMEDY}")
    wrong = smt_text.trouble(check)
    if wrong:
        return unknown(specification, wrong)
    folder = bench.ground.folder(f"{name}-theorem")
    (folder / FILE).write_text(smt_text.question(check), encoding="utf-8")
    tool = Tool((program, "-smt2", str(folder / FILE)), {}, 2 * check.seconds, (folder,))
    ended, log = run_tool(bench, tool, name)
    told = {"tool": formal.version_of("z3-solver"), "seconds": f"{check.seconds:g}", "isolation": ended.isolation}
    return replace(said(specification, ended), command=again(specification), log_ref=log, environment=told)


def said(specification: Specification, ended: Ended) -> LaneResult:
    why = why_not_ended(ended)
    if why:
        return unknown(specification, f"z3: {why}")
    match _ANSWERS.findall(ended.output):
        case ["sat", "unsat", *_]:
            return replace(passed(specification), is_proof=True, limitation=PROVES)
        case ["sat", "sat", *_]:
            return failed(specification, model(ended.output), "z3 found a case where the axioms hold and the goal not")
        case ["unsat", *_]:
            return unknown(specification, "the axioms contradict each other, so that anything follows from them")
        case ["sat", other, *_]:
            return unknown(specification, f"z3: {other}")
        case [other, *_]:
            return unknown(specification, f"z3 could not show that the axioms are possible: {other}")
    return unknown(specification, f"z3 said nothing that is known: {ended.output.strip()[:200]}")


def model(output: str) -> str:
    """The case that z3 found, as it prints it after its second answer."""
    return output.split("\nsat", 1)[-1].strip() if "\nsat" in output else output.strip()
