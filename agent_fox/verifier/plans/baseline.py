"""The same plan on the base commit, so that failures from before can be told from new ones. Cached by tree and profile.

What was broken before is shown, and never excuses a requirement's own tests (`docs/semantics.md`, "Judging").
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from agent_fox.core.ids import digest_of
from agent_fox.core.late import adapter, late_module
from agent_fox.system import git
from agent_fox.system.files import replace_file
from agent_fox.verifier.dispositions.disposing import Surroundings, facts_of
from agent_fox.verifier.dispositions.rules import dispose
from agent_fox.verifier.ground.disposition_facts import Rerun, RerunTree
from agent_fox.verifier.ground.request import Refused, Request
from agent_fox.verifier.ground.results import Disposed, Failure, Status, Tool, VerificationResult
from agent_fox.verifier.plans.second_looks import end_of
from agent_fox.verifier.plans.toolbox import Verifier
from agent_fox.verifier.profiles.narrowing import fingerprint
from agent_fox.verifier.reporting.comparison import Comparison, compare
from agent_fox.verifier.reporting.documents import VERSION, ResultDocument, result_document, result_of
from agent_fox.verifier.source.base_tree import base_tree

if TYPE_CHECKING:
    import pydantic

    from agent_fox.verifier.profiles.context import RunContext
    from agent_fox.verifier.reporting.report import Step, StepOutcome, VerificationReport
else:
    pydantic = late_module("pydantic")

_RESULTS = adapter(lambda: pydantic.TypeAdapter(tuple[ResultDocument, ...]))
_NOT_FOR_THE_BASE = (Tool.STATIC_POLICY, Tool.FORMAT_APPLY, Tool.RESOLVE)


def compared(report: VerificationReport, context: RunContext, cache: Path) -> VerificationReport:
    """The report beside the same steps on `context.base`, whose results are taken from `cache` if they are there.

    Raises GitError where the base commit cannot be read.
    """
    steps = [outcome.step for outcome in report.outcomes if outcome.step.tool not in _NOT_FOR_THE_BASE]
    after = [outcome.result for outcome in report.outcomes if outcome.step.tool not in _NOT_FOR_THE_BASE]
    before = results_on_base(context, steps, cache)
    comparison = compare(context.base, before, after)
    outcomes = tuple(_disposed_again(outcome, comparison, context) for outcome in report.outcomes)
    return replace(report, outcomes=outcomes, comparison=comparison)


def _disposed_again(outcome: StepOutcome, comparison: Comparison, context: RunContext) -> StepOutcome:
    """The outcome with what failed on the base commit too disposed of as such; it is shown, and still a failure."""
    known = set(comparison.unchanged)
    result = outcome.result
    dispositions = tuple(
        _pre_existing(failure, result, context) if failure in known else why for failure, why in result.explained if why
    )
    return replace(outcome, result=replace(result, dispositions=dispositions))


def _pre_existing(failure: Failure, result: VerificationResult, context: RunContext) -> Disposed:
    reruns = {failure.test_name or "": (Rerun(RerunTree.BASE, (False,)),)}
    return dispose(facts_of(failure, result, end_of(result), Surroundings(context.files_changed, reruns=reruns)))


def results_on_base(context: RunContext, steps: Sequence[Step], cache: Path) -> tuple[VerificationResult, ...]:
    """Each step's result on the base commit. Only results that say something about the code are cached."""
    file = cache / f"{_key(context, steps)}.json"
    known = _read(file)
    if known is not None:
        return known
    with base_tree(context.root, context.base, context.root) as tree:
        readable = (*context.readable, *tree.lent)
        own = replace(context, root=tree.folder, run=f"{context.run}-base", base="", readable=readable)
        verifier = Verifier(own)
        results = tuple(_run(verifier, step) for step in steps)
    if all(result.status in (Status.PASSED, Status.FAILED) for result in results):
        _write(file, results)
    return results


def _run(verifier: Verifier, step: Step) -> VerificationResult:
    request = Request(step.tool, step.module, step.selector)
    try:
        return verifier.run(request)
    except Refused as refused:
        return verifier.refusal(request, refused)


def _key(context: RunContext, steps: Sequence[Step]) -> str:
    """Whatever another result could come from: the tree, the profile, the steps, the isolation, our own version."""
    tree = git.tree_of(context.root, context.base)
    parts = [str(VERSION), tree, fingerprint(context.profile), str(context.sandbox), *(step.title for step in steps)]
    return digest_of(*parts)


def _read(file: Path) -> tuple[VerificationResult, ...] | None:
    try:
        return tuple(result_of(document) for document in _RESULTS.validate_json(file.read_bytes()))
    except (FileNotFoundError, pydantic.ValidationError):  # a damaged cache is no cache
        return None


def _write(file: Path, results: Sequence[VerificationResult]) -> None:
    file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    replace_file(file, _RESULTS.dump_json(tuple(result_document(result) for result in results)), is_durable=False)
