"""One cause, one issue: joins failing requirements by a deterministic signal, never by a verifier's prose."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from agent_fox.core.ids import digest_of
from agent_fox.core.values import dataclass

if TYPE_CHECKING:
    from agent_fox.core.verdicts.verdict import Signal, Verdict


@dataclass(frozen=True, slots=True)
class Cluster:
    """Requirements that fail for one cause. `signal` is None where the judge gave no deterministic one."""

    fingerprint: str
    signal: Signal | None
    members: tuple[str, ...]


def fingerprint_of(signal: Signal | None, spec_name: str) -> str:
    """16 hex digits that name a cause for ever: command and first error line, or the spec where there is no signal."""
    parts = ("signal", signal.command, signal.first_error) if signal else ("spec", spec_name)
    return digest_of(*parts, digits=16)


def part_fingerprint(cause: str, spec_name: str, requirement_id: str) -> str:
    """16 hex digits that name one requirement's part of a cause."""
    return digest_of("part", cause, spec_name, requirement_id, digits=16)


def clusters(verdicts: Iterable[Verdict], spec_name: str) -> tuple[Cluster, ...]:
    """Group failing verdicts of one spec by cause, in order of first appearance."""
    groups: dict[str, tuple[Signal | None, list[str]]] = {}
    for verdict in verdicts:
        fingerprint = fingerprint_of(verdict.signal, spec_name)
        groups.setdefault(fingerprint, (verdict.signal, []))[1].append(verdict.requirement_id)
    return tuple(Cluster(print_, signal, tuple(members)) for print_, (signal, members) in groups.items())
