"""Real logs with hand-made truth, where their folder is at hand: status, kinds, places and counts."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path, PurePosixPath
from typing import Any

import pytest

from agent_fox.verifier.logs.protocol import Workspace
from agent_fox.verifier.logs.reading import Run, read_run
from agent_fox.verifier.logs.registry import BUILT_IN
from agent_fox.verifier.logs.status import Ending, outcome_document

CORPUS = Path(__file__).parents[4] / "shared" / "data" / "logs"
CASES = sorted(path.parent for path in CORPUS.rglob("expected.json"))
COUNTS = ("tests", "passed", "failures", "errors", "skipped")


def read(case: Path, *, with_reports: bool) -> tuple[dict[str, Any], dict[str, Any]]:
    """What is expected, and what is found."""
    truth = json.loads((case / "expected.json").read_text(encoding="utf-8"))
    reports = tuple(sorted(case.glob("*.xml"))) if with_reports else ()
    ending = Ending(truth["tool"], truth["exitCode"], truth["timedOut"])
    workspace = Workspace(PurePosixPath(truth["workspaceRoot"]))
    return truth, outcome_document(read_run(Run(ending, case / "log.txt", reports), workspace, BUILT_IN))


def place(failure: dict[str, Any]) -> tuple[str | None, int | None]:
    return (failure["file"], failure["line"])


@pytest.mark.skipif(not CASES, reason="the folder of real logs is not here")
@pytest.mark.parametrize("with_reports", [True, False], ids=["with-reports", "log-alone"])
@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.parent.name}/{case.name}")
def test_a_real_log_is_understood(case: Path, *, with_reports: bool) -> None:
    truth, found = read(case, with_reports=with_reports)
    assert found["status"] in truth.get("statusAnyOf", [truth["status"]])
    assert Counter(map(place, found["failures"])) == Counter(map(place, truth["failures"]))
    assert Counter(map(place, found["warnings"])) == Counter(map(place, truth["warnings"]))
    for wanted in truth["failures"]:
        kinds = wanted.get("kindAnyOf", [wanted["kind"]])
        assert any(one["kind"] in kinds for one in found["failures"] if place(one) == place(wanted))


@pytest.mark.skipif(not CASES, reason="the folder of real logs is not here")
@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.parent.name}/{case.name}")
def test_messages_names_and_counts_of_a_real_log(case: Path) -> None:
    truth, found = read(case, with_reports=True)
    by_place = {place(failure): failure for failure in found["failures"]}
    for wanted in truth["failures"]:
        if "kindAnyOf" not in wanted:
            assert by_place[place(wanted)]["testName"] == wanted.get("testName")
    assert sorted(f["message"] for f in found["failures"]) == sorted(f["message"] for f in truth["failures"])
    if truth["testSummary"]:
        assert {name: found["testSummary"][name] for name in COUNTS} == {
            name: truth["testSummary"][name] for name in COUNTS
        }
