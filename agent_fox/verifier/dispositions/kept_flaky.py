"""The judge's share of the list of flaky tests. Loaded only where there is a list, or a proof: it costs the start."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from agent_fox.verifier.dispositions.flaky import FlakyListDamaged, Sighting, read_flaky, write_flaky
from agent_fox.verifier.ground.disposition_facts import PROOF_RUNS

if TYPE_CHECKING:
    from agent_fox.verifier.suites.suite import SuiteRun


def listed(file: Path) -> tuple[str, ...]:
    """The tests on the list; none where it cannot be read: it only causes reruns."""
    try:
        return tuple(sorted(read_flaky(file).decayed(datetime.now(UTC)).names))
    except (FlakyListDamaged, OSError):
        return ()


def add_proven(file: Path, commit: str, runs: Iterable[SuiteRun]) -> None:
    """Add the tests whose reruns are a proof. A list that is damaged is left as it is."""
    proven = [(again.test, run.log) for run in runs for again in run.reruns if again.is_proof]
    try:
        known = read_flaky(file).decayed(datetime.now(UTC))
        for test, log in proven:
            known = known.seen(Sighting(test, commit, datetime.now(UTC), PROOF_RUNS, log))
        write_flaky(file, known)
    except (FlakyListDamaged, OSError):
        return
