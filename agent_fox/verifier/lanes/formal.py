"""The provers of the extra `formal`: whether they are here, and which. Nothing is proved here."""

from __future__ import annotations

import importlib.util
import shutil
import sys
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from agent_fox.core.formal import smt_text
from agent_fox.core.late import late_module
from agent_fox.core.regex import regex
from agent_fox.verifier.lanes.ground import Bench, Tool, run_tool, why_not_ended
from agent_fox.verifier.lanes.results import LaneResult, again, failed, passed, unknown

if TYPE_CHECKING:
    from importlib import metadata

    from agent_fox.core.formal.specification import Specification, TheoremStatement
    from agent_fox.verifier.running.commands import Ended
else:
    metadata = late_module("importlib.metadata")

REMEDY = "pip install 'agent-fox[formal]'"


def why_missing() -> str:
    """Why nothing can be proved here; empty where it can."""
    lacking = [name for name, is_here in (("CrossHair", has_crosshair()), ("z3", bool(solver()))) if not is_here]
    return f"{' and '.join(lacking)} missing: {REMEDY}" if lacking else ""


def has_crosshair() -> bool:
    return importlib.util.find_spec("crosshair") is not None


def solver() -> str:
    """The program `z3` that belongs to this interpreter, else the one on PATH; empty where there is none."""
    own = shutil.which("z3", path=str(Path(sys.executable).parent))
    return own or shutil.which("z3") or ""


@cache
def version_of(package: str) -> str:
    """`crosshair-tool 0.0.113`; the name alone where the version cannot be read."""
    try:
        return f"{package} {metadata.version(package)}"
    except metadata.PackageNotFoundError:
        return package


FILE = "theorem.smt2"
PROVES = "the statement itself, from its axioms; not that the code does what the axioms say"
_ANSWERS = regex(r"(?m)^(sat|unsat|unknown|timeout|\(error .*)$")


def prove_theorem(specification: Specification, check: TheoremStatement, bench: Bench, name: str) -> LaneResult:
    """PASS only where the axioms can hold, and never without the goal."""
    program = solver()
    if not program:
        return unknown(specification, f"z3 is missing: {REMEDY}")
    wrong = smt_text.trouble(check)
    if wrong:
        return unknown(specification, wrong)
    folder = bench.ground.folder(f"{name}-theorem")
    (folder / FILE).write_text(smt_text.question(check), encoding="utf-8")
    tool = Tool((program, "-smt2", str(folder / FILE)), {}, 2 * check.seconds, (folder,))
    ended, log = run_tool(bench, tool, name)
    environment = {"tool": version_of("z3-solver"), "seconds": f"{check.seconds:g}", "isolation": ended.isolation}
    return replace(
        result_from(specification, ended), command=again(specification), log_ref=log, environment=environment
    )


def result_from(specification: Specification, ended: Ended) -> LaneResult:
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
