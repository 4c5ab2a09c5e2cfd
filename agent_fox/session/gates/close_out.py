"""A coder's close-out: its acceptance commands run, its change and its rules looked at, and all of it judged.

What is done about the judgement, and where it is kept, is not here. The rules are in `core.close_out`.
"""

from __future__ import annotations

import shlex
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial

from agent_fox.core.ledger.close_out import (
    RULE_BLOCKS,
    Check,
    CloseOut,
    FeedbackRecord,
    Finding,
    RuleReport,
    Severity,
    Verification,
    judge,
)
from agent_fox.core.ledger.close_out_scope import ScopeReport, Touched, scope_of
from agent_fox.core.values import dataclass
from agent_fox.session.gates.close_out_change import touched_between
from agent_fox.session.gates.policy import Gate, look_at
from agent_fox.session.order import ClosedOut, LaunchOrder, Paths, StopSignal, Work
from agent_fox.session.workspaces.workspace import read_preparation
from agent_fox.system import git
from agent_fox.system.redaction.masking import redact
from agent_fox.system.sandbox.bubblewrap import mode_of
from agent_fox.verifier.running.commands import Bounds, Ended, Place, run_logged

FINDINGS_NAMED = 5
LONGEST_OUTPUT = 200
"""Characters of a command's last words that are kept."""

STATE_FOLDER = ".agent-fox"


@dataclass(frozen=True, slots=True)
class Judging:
    """What judging needs beside the work: secrets that are masked in all that is kept, and who may stop it."""

    secrets: Sequence[str]
    stop: StopSignal


@dataclass(frozen=True, slots=True)
class Closure:
    """A close-out with what the coder is told of it. `refusal` is empty where it passed."""

    closed: ClosedOut
    refusal: str = ""
    notes: tuple[str, ...] = ()


def task_of(order: LaunchOrder) -> str:
    """The task that a close-out is about: node and attempt."""
    return f"{order.node_id}@{order.attempt}"


def close_out(order: LaunchOrder, work: Work, summary: str, judging: Judging) -> Closure | None:
    """Judge the work as it would land; None where we were asked to stop meanwhile. Raises GitError, OSError."""
    clean = partial(redact, values=tuple(judging.secrets))
    gate = look_at(order, work, summary)
    feedback, own = tuple(_feedback(order, clean, judging.stop)), order.closing.contract
    if judging.stop.is_set():
        return None
    contract = replace(own, expected=tuple(map(clean, own.expected)))
    given = CloseOut(
        task_of(order),
        feedback,
        _scope(order, work),
        RuleReport(
            tuple(clean(breach.rule) for breach in gate.refusing), tuple(clean(breach.rule) for breach in gate.noted)
        ),
        contract,
    )
    verification = judge(given, order.closing.waivers)
    notes = (*(breach.message for breach in gate.noted), *_notes(verification))
    closed = ClosedOut(given, verification, work.tree, work.commit)
    return Closure(closed, _refusal(gate, verification, clean), notes)


def _scope(order: LaunchOrder, work: Work) -> ScopeReport:
    touched = () if work.is_unchanged else touched_between(order.repo, order.pinned, work.tree)
    return scope_of(order.closing.contract.boundary, [path for path in touched if not _is_ours(order, path)])


def _is_ours(order: LaunchOrder, touched: Touched) -> bool:
    """Whether it is a ticked box of a spec, which is all that is ever taken of a change there."""
    places = [STATE_FOLDER, *order.spec_places]
    return any(touched.path == place or touched.path.startswith(f"{place}/") for place in places)


def _feedback(order: LaunchOrder, clean: Callable[[str], str], stop: StopSignal) -> Iterator[FeedbackRecord]:
    """Each acceptance command, run in the workspace after its work was taken: what it changes there does not land."""
    for number, line in enumerate(order.closing.contract.expected, 1):
        ended = _run(order, line, number, stop)
        output = clean(ended.output or ended.not_started)
        with order.log.open("a", encoding="utf-8", errors="backslashreplace") as log:
            log.write(f"--- close-out: {clean(line)}: {_how(ended)}\n{output}\n")
        yield FeedbackRecord(
            clean(line), ended.exit_code, stderr=_how(ended) if not output else output.strip()[-LONGEST_OUTPUT:]
        )


def _run(order: LaunchOrder, line: str, number: int, stop: StopSignal) -> Ended:
    own, paths = order.closing, Paths(order.state)
    private = order.state / f"close-out-{number}"
    private.mkdir(parents=True, exist_ok=True)
    brought = (paths.workspace / path for path in read_preparation(order).brought)
    readable = (git.common_folder(order.repo) / "objects", *(p.resolve() for p in brought if p.is_symlink()))
    bounds = Bounds(mode_of(order.sandbox), own.network, own.memory, own.processes, readable)
    asked, place = threading.Event(), Place(paths.workspace, private)
    with stop.calling(asked.set):
        return run_logged(tuple(shlex.split(line)), place, {}, own.timeout, bounds, asked)


def _how(ended: Ended) -> str:
    if ended.is_timed_out:
        return f"it did not end within its {ended.seconds:.0f} s"
    return ended.not_started or f"exit {ended.exit_code}"


def _refusal(gate: Gate, verification: Verification, clean: Callable[[str], str]) -> str:
    """Why the work does not count, in words that a coder can act on; empty where it does."""
    rules = {RULE_BLOCKS.format(clean(breach.rule)): breach.rule for breach in gate.refusing}
    refusals = gate.refusals({rules[finding.detail] for finding in verification.blocking if finding.detail in rules})
    others = [finding for finding in verification.blocking if finding.detail not in rules]
    return "; ".join((*refusals, *([f"refused by the close-out gate: {_named(others)}"] if others else [])))


def _named(findings: Sequence[Finding]) -> str:
    more = f"; and {len(findings) - FINDINGS_NAMED} more" if len(findings) > FINDINGS_NAMED else ""
    return "; ".join(f"{finding.check}: {finding.detail}" for finding in findings[:FINDINGS_NAMED]) + more


def _notes(verification: Verification) -> Iterator[str]:
    """Warnings that the rules have not told yet, in a line; and what a person signed for."""
    warnings = [
        finding
        for finding in verification.findings
        if finding.severity is Severity.WARN and finding.check != Check.RULE_WARN
    ]
    if warnings:
        yield f"close-out: {_named(warnings)}"
    yield from (
        f"close-out: {finding.check} waived by {finding.signer}: {finding.reason}" for finding in verification.waivers
    )
