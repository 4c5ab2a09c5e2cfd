"""The formal lane for real code: CrossHair runs a function on symbolic values against the contract of the library.

What the contract looks like to CrossHair is in `core.contract_text`.
"""

from __future__ import annotations

import re
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from agent_fox.core.formal.contract_text import HARNESS, harness, trouble
from agent_fox.core.regex import regex
from agent_fox.verifier.lanes import formal
from agent_fox.verifier.lanes.ground import Bench, Tool, run_tool, why_not_ended
from agent_fox.verifier.lanes.results import LaneResult, again, failed, passed, unknown

if TYPE_CHECKING:
    from agent_fox.core.formal.specification import FunctionContract, Specification
    from agent_fox.verifier.running.commands import Ended

CONFIRMED = "Confirmed over all paths."
PROVES = (
    "for values of the annotated types as CrossHair models them (floats as exact numbers), in the interpreter of "
    "agent-fox, as far as the code does not tell the prover from a user"
)
SEARCHES = "no counterexample was found in the time, which proves nothing"
_SAID = regex(rf"^.*{HARNESS}\.py:\d+: (error|info): (.*)$", re.MULTILINE)


def prove_contract(specification: Specification, check: FunctionContract, bench: Bench, name: str) -> LaneResult:
    """PASS only where CrossHair confirms every condition over all paths."""
    if not formal.has_crosshair():
        return unknown(specification, f"CrossHair is missing: {formal.REMEDY}")
    wrong = trouble(check)
    if wrong:
        return unknown(specification, wrong)
    folder = bench.ground.folder(f"{name}-contract")
    (folder / f"{HARNESS}.py").write_text(harness(check), encoding="utf-8")
    ended, log = run_tool(bench, crosshair(check, folder, bench.workspace), name)
    result = result_from(specification, check, ended)
    environment = {
        "tool": formal.version_of("crosshair-tool"),
        "python": ".".join(map(str, sys.version_info[:3])),
        "seconds": f"{check.seconds:g} for each condition",
        "isolation": ended.isolation,
    }
    return replace(result, command=again(specification), log_ref=log, environment=environment)


def crosshair(check: FunctionContract, folder: Path, workspace: Path) -> Tool:
    words = ("-P", "-B", "-m", "crosshair", "check", "--analysis_kind", "PEP316", "--report_all")
    bounds = ("--per_condition_timeout", f"{check.seconds:g}", f"{HARNESS}.contract")
    path = ":".join(map(str, (workspace, workspace / "src", folder)))
    seconds = check.seconds * len(check.post)
    return Tool((sys.executable, *words, *bounds), {"PYTHONPATH": path}, seconds, (folder,))


def result_from(specification: Specification, check: FunctionContract, ended: Ended) -> LaneResult:
    """What CrossHair says: one line for each condition, and no more."""
    why = why_not_ended(ended)
    if why:
        return unknown(specification, f"CrossHair: {why}")
    lines = _SAID.findall(ended.output)
    errors = [text for level, text in lines if level == "error"]
    shown = next((text for text in errors if " when calling " in text), None)
    if shown is not None:
        return failed(specification, shown.replace("contract(", f"{check.function}(", 1))
    notes = [text for level, text in lines if level == "info"]
    if errors or len(lines) != len(check.post):
        return unknown(specification, f"CrossHair could not check it: {last_words(errors, ended)}")
    if notes == [CONFIRMED] * len(check.post):
        return replace(passed(specification), is_proof=True, limitation=PROVES)
    open_ones = [text for text in notes if text != CONFIRMED]
    return replace(unknown(specification, f"CrossHair: {'; '.join(dict.fromkeys(open_ones))}"), limitation=SEARCHES)


def last_words(errors: list[str], ended: Ended) -> str:
    lines = [line.strip() for line in ended.output.splitlines() if line.strip()]
    return (errors or lines[-1:] or ["it said nothing"])[0]
