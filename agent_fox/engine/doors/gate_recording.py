"""The three files that a task is closed with, written by us: its commands are run, its change and its rules looked at.

Nothing is judged here. What the files say is read again, with care, by `gating`.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from agent_fox.config import load
from agent_fox.core.ledger.close_out_scope import scope_of
from agent_fox.core.values import dataclass
from agent_fox.engine.doors.gating import OUTPUTS, GateRefused, base_at, contract_at, own_files, touched_at
from agent_fox.engine.launching.closing import MIB
from agent_fox.review.close_out.files import FEEDBACK, RULES, SCOPE
from agent_fox.review.close_out.report import refuse_links
from agent_fox.session.gates.policy import REFUSED
from agent_fox.system.files import replace_file
from agent_fox.system.own_folders import own_folder
from agent_fox.system.redaction.masking import redact
from agent_fox.system.sandbox.bubblewrap import SandboxMode
from agent_fox.verifier.policy.change_under_check import change_since
from agent_fox.verifier.policy.check import check_change
from agent_fox.verifier.policy.values import PolicyContext, Severity
from agent_fox.verifier.running.commands import Bounds, Ended, Place, run_logged

if TYPE_CHECKING:
    from agent_fox.config import Settings
    from agent_fox.core.ledger.close_out import Finding
    from agent_fox.engine.doors.gating import Asked

SAID = 2000
"""Characters of a command's last words that are kept."""


@dataclass(frozen=True, slots=True)
class Recorded:
    """What was written: where, each command with its exit code (None: it has none of its own), and how many paths and
    rules were noted."""

    folder: Path
    commands: Mapping[str, int | None]
    off_scope: int
    rules: int


def record(asked: Asked, command: Sequence[str]) -> Recorded:
    """Run `[gate] commands`, and `command` if any, in the checkout, and write all three files anew.

    Raises GateRefused where nothing can be run or the change cannot be read, ReportTrouble, OSError.
    """
    folder = asked.where / (asked.input_dir or asked.output_dir or OUTPUTS)
    refuse_links(asked.root, folder)
    troubles: list[Finding] = []
    own = own_files(asked, folder, folder)
    base = base_at(asked, troubles, own)
    touched = touched_at(asked, base, own, troubles) if base else ()
    if not base or troubles:
        raise GateRefused(troubles[0].detail)
    contract = contract_at(asked, base, touched, troubles)
    lines = list(dict.fromkeys((*contract.expected, *([shlex.join(command)] if command else []))))
    if not lines:
        raise GateRefused("there is no command to record: name one after `--`, or set `[gate] commands`")
    feedback = list(_feedback(asked, load(asked.root, asked.environ), lines))
    scope, rules = scope_of(contract.boundary, touched), _rules(asked.root, base)
    _write(folder / FEEDBACK, ({"task_id": asked.task_id, **row} for row in feedback))
    _write(folder / SCOPE, [{
        "task_id": asked.task_id, "allowed_files": list(scope.allowed_files),
        "forbidden_writes": list(scope.forbidden_writes), "off_scope_writes": list(scope.off_scope_writes),
    }])  # fmt: skip
    _write(folder / RULES, [{"task_id": asked.task_id, **rules}])
    codes = {str(row["command"]): code if isinstance(code := row["exit_code"], int) else None for row in feedback}
    off_scope = len(scope.forbidden_writes) + len(scope.off_scope_writes)
    return Recorded(folder, codes, off_scope, sum(map(len, rules.values())))


def _feedback(asked: Asked, settings: Settings, lines: Iterable[str]) -> Iterator[dict[str, object]]:
    verify = settings.verify
    bounds = Bounds(SandboxMode(verify.sandbox), verify.network, verify.memory_mib * MIB, verify.processes)
    for line in lines:
        with own_folder("gate") as private:
            ended = run_logged(tuple(shlex.split(line)), Place(asked.root, private), {}, settings.gate.timeout, bounds)
        output = redact(ended.output)[-SAID:]
        yield {"command": redact(line), "exit_code": ended.exit_code, "stdout": output, "stderr": _trouble(ended)}


def _trouble(ended: Ended) -> str:
    if ended.is_timed_out:
        return f"it did not end within its {ended.seconds:.0f} s"
    return redact(ended.not_started)


def _rules(root: Path, base: str) -> dict[str, list[str]]:
    """What the policy checks say of the change; a check that could not be made is a warning, as in a run."""
    findings = check_change(change_since(root, base), PolicyContext()).findings
    texts = {
        finding: redact(f"{finding.rule}: {finding.file}: {finding.message}")
        for finding in findings
        if finding.severity is not Severity.NOTE
    }
    return {
        "block_failures": [text for finding, text in texts.items() if finding.severity in REFUSED],
        "warn_failures": [text for finding, text in texts.items() if finding.severity not in REFUSED],
    }


def _write(path: Path, documents: Iterable[Mapping[str, object]]) -> None:
    replace_file(path, "".join(f"{json.dumps(document)}\n" for document in documents))
