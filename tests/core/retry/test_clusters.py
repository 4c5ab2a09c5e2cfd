"""One cause, one issue."""

from __future__ import annotations

from agent_fox.core.retry.clusters import Cluster, clusters, fingerprint_of, part_fingerprint
from agent_fox.core.verdicts.verdict import Signal, Verdict, Word

SIGNAL = Signal("pytest -q", "E assert # == #")


def test_a_cause_keeps_its_name_for_ever() -> None:
    assert fingerprint_of(SIGNAL, "01_a") == "096a18cb32dcde23"
    assert fingerprint_of(None, "01_a") == "552cbbe433fa8521"
    assert part_fingerprint("096a18cb32dcde23", "01_a", "01-REQ-1.1") == "5056627c4d3cf92d"


def test_a_signal_joins_specs_and_the_lack_of_one_does_not() -> None:
    assert fingerprint_of(SIGNAL, "01_a") == fingerprint_of(SIGNAL, "02_b")
    assert fingerprint_of(None, "01_a") != fingerprint_of(None, "02_b")


def test_failures_are_joined_by_their_signal_in_order_of_appearance() -> None:
    failures = [
        Verdict("a", Word.FAIL, signal=SIGNAL),
        Verdict("b", Word.FAIL, evidence="prose"),
        Verdict("c", Word.FAIL, signal=SIGNAL),
        Verdict("d", Word.FAIL, evidence="other prose"),
    ]
    assert clusters(failures, "01_a") == (
        Cluster(fingerprint_of(SIGNAL, "01_a"), SIGNAL, ("a", "c")),
        Cluster(fingerprint_of(None, "01_a"), None, ("b", "d")),
    )
