"""The incident that this engine exists for: nine specs, 83 nodes, FAIL verdicts in two specs that nobody acted on.

Spec 04 gets 6 FAIL and 18 PASS of one cause and not a word about 14 more ids; spec 01 gets 3 FAIL and 7 PASS, given for
whole requirements although their criteria have ids of their own. Elsewhere all of it ended as "completed".
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import pytest

from agent_fox.testing.worlds import NEVER, Req, World, issue_files, rows, run_cli
from tests.stories.scene import NOT_PROVEN, PROVEN, causes, coders, decisions, outcomes, report, run

GROUPS = {
    "01_project_setup": 7,
    "02_data_broker": 6,
    "03_locking_service": 5,
    "04_cloud_gateway_client": 9,
    "05_parking_fee_service": 5,
    "06_cloud_gateway": 6,
    "07_update_service": 6,
    "08_parking_operator_adaptor": 6,
    "09_mock_apps": 6,
}
SETUP, CLIENT = "01_project_setup", "04_cloud_gateway_client"
DEPENDS = {name: [SETUP] for name in GROUPS if name != SETUP} | {CLIENT: [SETUP, "02_data_broker"]}
TITLES = {f"{name}:1": "Write failing spec tests" for name in GROUPS}

FAILING_04 = tuple(f"04-REQ-{n}.1" for n in (1, 2, 3, 4, 5, 6))
OWNERS_04 = (3, 7)
PASSING_04 = tuple(f"04-REQ-{n}.{c}" for n in range(7, 13) for c in (1, 2, 3))
SILENT_04 = tuple(f"04-REQ-{n}.{c}" for n in range(13, 20) for c in (1, 2))
FAILING_01, PASSING_01 = ("01-REQ-2", "01-REQ-5", "01-REQ-9"), tuple(f"01-REQ-{n}" for n in (1, 3, 4, 6, 7, 8, 10))
OWNER_01 = 5
STDOUT = "assert 'starting' in stderr: the service writes its log to stdout"


def requirements(name: str, repaired_at: int) -> list[Req]:
    """What one spec demands; the failing parts are right from attempt `repaired_at`."""
    if name == SETUP:
        return [
            Req(f"01-REQ-{n}.{c}", *((OWNER_01, repaired_at) if f"01-REQ-{n}" in FAILING_01 else (2, 1)))
            for n in range(1, 11)
            for c in (1, 2)
        ]
    if name == CLIENT:
        failing = [Req(part, OWNERS_04[place % 2], repaired_at) for place, part in enumerate(FAILING_04)]
        return [*failing, *(Req(part, 4) for part in (*PASSING_04, *SILENT_04))]
    return [Req(f"{name[:2]}-REQ-{group}.1", group) for group in range(2, GROUPS[name] + 1)]


def words(failing: tuple[str, ...], passing: tuple[str, ...]) -> Mapping[str, str]:
    return {part: "FAIL" for part in failing} | {part: "PASS" for part in passing}


def incident(repaired_at: int, settings: str) -> World:
    """The run of the incident. What its two verifiers said then, they say again as long as nothing is repaired."""
    tries = range(1, min(repaired_at, 4))
    told_04, told_01 = (
        report(words(FAILING_04, PASSING_04), STDOUT),
        report(words(FAILING_01, PASSING_01), "no such file"),
    )
    says = {f"{CLIENT}/{n}/1": told_04 for n in tries} | {f"{SETUP}/{n}/1": told_01 for n in tries}
    specs = {name: requirements(name, repaired_at) for name in GROUPS}
    plan = "[plan]\npre_review = true\naudit_review = true\n"
    return World(specs, GROUPS, TITLES, DEPENDS, verifier_says=says, settings=plan + settings)


def counts(root: Path) -> dict[tuple[object, object], object]:
    """The operator's third question."""
    sql = (
        "SELECT spec_name, verdict, count(*) FROM verification_results "
        "WHERE superseded_by IS NULL GROUP BY spec_name, verdict"
    )
    return {(spec, verdict): count for spec, verdict, count in rows(root, sql)}


@pytest.fixture(scope="module")
def repaired(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The incident, where the coders repair their work when they are told of it."""
    root = incident(2, "").build(tmp_path_factory.mktemp("repaired"))
    run(root, "--parallel", "4", ends=PROVEN)
    return root


@pytest.fixture(scope="module")
def unrepaired(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The incident, where nobody ever repairs anything; what depends on it goes on all the same."""
    settings = '[retry]\nattempts = 2\n[policy]\non_escalation = "continue"\nfinal_check = false\n'
    root = incident(NEVER, settings).build(tmp_path_factory.mktemp("unrepaired"))
    run(root, "--parallel", "4", ends=NOT_PROVEN)
    return root


def test_the_nine_specs_make_83_nodes(repaired: Path) -> None:
    plan = json.loads(run_cli(repaired, "plan", "--json").stdout)
    kinds = Counter(node["archetype"] for node in plan["nodes"])
    assert kinds == {"coder": 56, "reviewer": 18, "verifier": 9}
    assert f"{CLIENT}:10" in {node["id"] for node in plan["nodes"]}


def test_the_blamed_groups_run_again_once_and_nobody_else_does(repaired: Path) -> None:
    again = {node: count for node, count in coders(repaired).items() if count > 1}
    assert again == {f"{SETUP}:{OWNER_01}": 2} | {f"{CLIENT}:{group}": 2 for group in OWNERS_04}
    assert len(coders(repaired)) == 56


def test_everything_is_proven_in_the_end_the_ids_without_a_word_too(repaired: Path) -> None:
    assert set(outcomes(repaired).values()) == {"verified"}
    expected = {(name, "PASS"): len(requirements(name, 2)) for name in GROUPS}
    assert counts(repaired) == expected
    assert expected[CLIENT, "PASS"] == 38
    assert (causes(repaired), issue_files(repaired)) == ([], [])


def test_the_verdicts_drove_it(repaired: Path) -> None:
    assert decisions(repaired, f"{CLIENT}:10")[:2] == ["Recode", "Accept"]
    assert decisions(repaired, f"{SETUP}:8")[:2] == ["Recode", "Accept"]
    said = f"SELECT count(*) FROM verification_results WHERE spec_name = '{CLIENT}' AND said = 'FAIL'"
    assert rows(repaired, said) == [(6,)]


def test_a_fail_of_a_whole_requirement_fails_its_criteria_and_a_pass_leaves_them_open(repaired: Path) -> None:
    sql = (
        f"SELECT verdict, count(*) FROM verification_results "
        f"WHERE spec_name = '{SETUP}' AND attempt = 1 AND reading = 1 GROUP BY verdict"
    )
    assert rows(repaired, sql) == [("FAIL", 6), ("UNKNOWN", 14)]


def test_never_repaired_there_is_one_issue_for_each_cause(unrepaired: Path) -> None:
    texts = {path.name: path.read_text() for path in issue_files(unrepaired)}
    assert len(texts) == 2
    (client,) = (text for text in texts.values() if CLIENT in text and SETUP not in text)
    assert all(part in client for part in FAILING_04)
    assert STDOUT in client


def test_never_repaired_the_three_questions_tell_it(unrepaired: Path) -> None:
    assert rows(unrepaired, "SELECT DISTINCT archetype FROM blocking_history") == [("verifier",)]
    statuses = rows(unrepaired, "SELECT DISTINCT status FROM plan_nodes WHERE archetype = 'verifier'")
    assert statuses == [("completed",)]
    found = counts(unrepaired)
    assert {key: found[key] for key in found if key[0] == CLIENT} == {
        (CLIENT, "FAIL"): 6,
        (CLIENT, "PASS"): 18,
        (CLIENT, "UNKNOWN"): 14,
    }
    assert found[SETUP, "FAIL"] == 6


def test_never_repaired_two_specs_are_escalated_and_seven_verified(unrepaired: Path) -> None:
    escalated = {node for node, outcome in outcomes(unrepaired).items() if outcome == "escalated"}
    assert escalated == {f"{SETUP}:8", f"{CLIENT}:10"}
    assert Counter(outcomes(unrepaired).values()) == {"verified": 7, "escalated": 2}
    assert set(causes(unrepaired)) == {(f"{SETUP}:8", "attempts spent"), (f"{CLIENT}:10", "attempts spent")}
