"""spec.json: how far a spec was approved. It only warns: what is planned is what the documents say."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from pydantic import BaseModel, ValidationError

from agent_fox.specs.files import TextFile, warning

if TYPE_CHECKING:
    from agent_fox.core.spec import Problem

_STEPS = ("requirements", "design", "tasks")


class _Approval(BaseModel, defer_build=True):
    generated: bool = False
    approved: bool = False


class _SpecJson(BaseModel, defer_build=True):
    phase: str = ""
    approvals: dict[str, _Approval | bool] = {}


def check_approvals(file: TextFile, *, has_tasks: bool) -> tuple[Problem, ...]:
    """What spec.json says against planning the spec now."""
    try:
        approvals = _SpecJson.model_validate_json(file.text)
    except ValidationError as wrong:
        reason = wrong.errors()[0]["msg"]
        return (warning(file.where, f"can't be read as Kiro's spec.json ({reason}): approvals are not known. Mend it"),)
    return tuple(_remarks(file.where, approvals, has_tasks))


def _remarks(where: str, approvals: _SpecJson, has_tasks: bool) -> Iterator[Problem]:
    if not has_tasks:
        phase = f"says phase {approvals.phase!r}, and there " if approvals.phase else "there "
        yield warning(where, f"{phase}are no tasks yet: nothing of it is built. Write tasks.md")
        return
    known = {step: approvals.approvals[step] for step in _STEPS if step in approvals.approvals}
    open_steps = [
        step
        for step, approval in known.items()
        if approval is False or (isinstance(approval, _Approval) and not approval.approved)
    ]
    if open_steps:
        what = f"{', '.join(open_steps)} not approved: planned all the same. Approve, or leave the spec out"
        yield warning(where, what)
