"""26-REQ-9 of the spec `26_agent_archetypes`, verifiers with automatic retry, as whole runs.

Each test names the criterion. Where we keep another rule, its docstring says so; why is in docs/adr/0035 and 0036.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agent_fox.testing.worlds import NEVER, Req, World, issue_files, log, rows
from tests.stories.scene import (
    NOT_PROVEN,
    PROVEN,
    briefed,
    causes,
    coders,
    configure,
    decisions,
    order,
    outcomes,
    report,
    run,
)

SPEC = "05_memory"
RIGHT, WRONG = Req("05-REQ-1.1", 1), Req("05-REQ-2.1", 2, right_at=2)
HOPELESS = [Req("05-REQ-1.1", 1), Req("05-REQ-2.1", 2, NEVER), Req("05-REQ-2.2", 2, NEVER)]
NEVER_RIGHT = World({SPEC: HOPELESS}, settings="[retry]\nattempts = 2\nstop_without_progress = false\n")
STEPS = (
    "SELECT json_extract(s.value, '$.uid'), json_extract(s.value, '$.step') "
    "FROM decisions AS d, json_each(d.steps) AS s WHERE d.kind = 'Recode' ORDER BY s.key"
)


def report_file(root: Path, spec: str = SPEC) -> Path:
    return root / ".agent-fox" / "verification" / spec / "verification.md"


def table(root: Path) -> dict[str, str]:
    """Each requirement of the report with its verdict there."""
    lines = report_file(root).read_text().partition("\n## ")[0].splitlines()
    cells = [[cell.strip() for cell in line.split("|")] for line in lines if "-REQ-" in line and line.startswith("|")]
    return {row[1]: row[2] for row in cells}


@pytest.fixture(scope="module")
def escalated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run whose second group never gets its two requirements right. The tests only look at it."""
    root = NEVER_RIGHT.build(tmp_path_factory.mktemp("hopeless"))
    run(root, ends=NOT_PROVEN)
    return root


def test_9_1_a_report_tells_pass_or_fail_of_each_requirement_and_an_overall_verdict(escalated: Path) -> None:
    """26-REQ-9.1. Here the engine writes it, from the verdicts that it recorded, and not beside the specs: the
    verifier's tree is read-only, and what it wrote itself would be its own word on its own word."""
    assert table(escalated) == {"05-REQ-1.1": "PASS", "05-REQ-2.1": "FAIL", "05-REQ-2.2": "FAIL"}
    text = report_file(escalated).read_text()
    assert "**Overall: FAIL**, 1 of 3 requirements pass: 1 judged." in text
    for word in ("wrong at attempt 2", "its proof is read", "`05_memory:3@2.1`", "escalated: attempts spent"):
        assert word in text, (word, text)


def test_9_1_the_report_follows_what_was_read_last(tmp_path: Path) -> None:
    """26-REQ-9.1. It is overwritten whole after each report: FAIL at the first reading, PASS in the end."""
    root = World({SPEC: [RIGHT, WRONG]}).build(tmp_path)
    run(root, ends=PROVEN)
    assert table(root) == {"05-REQ-1.1": "PASS", "05-REQ-2.1": "PASS"}
    assert "**Overall: PASS**, 2 of 2 requirements pass: 2 judged." in report_file(root).read_text()


def test_9_1_a_report_that_was_lost_or_written_over_says_again_what_is_recorded(tmp_path: Path) -> None:
    """26-REQ-9.1. Nothing is read from the file: the state is what counts, and the next run writes the file again."""
    root = World({SPEC: [RIGHT]}).build(tmp_path)
    run(root, ends=PROVEN)
    before = report_file(root).read_text()
    report_file(root).unlink()
    run(root, ends=PROVEN)
    assert report_file(root).read_text() == before
    report_file(root).write_text("**Overall: FAIL**")
    run(root, ends=PROVEN)
    assert report_file(root).read_text() == before


def test_9_1_a_verifier_that_says_pass_overall_without_its_rows_has_proven_nothing(tmp_path: Path) -> None:
    """26-REQ-9.1. The overall verdict is computed from the rows; silence about a requirement is no PASS."""
    silent = {f"{SPEC}/1/{reading}": report({"05-REQ-1.1": "PASS"}, overall="PASS") for reading in (1, 2)}
    root = World({SPEC: [RIGHT, Req("05-REQ-2.1", 2)]}, verifier_says=silent).build(tmp_path)
    run(root, ends=NOT_PROVEN)
    assert table(root) == {"05-REQ-1.1": "PASS", "05-REQ-2.1": "UNKNOWN"}
    assert "**Overall: UNKNOWN**" in report_file(root).read_text()


def test_9_2_an_issue_tells_in_detail_what_fails_once_the_attempts_are_spent(escalated: Path) -> None:
    """26-REQ-9.2. One issue per cause when the budget is spent, not one for each FAIL; its title names what is not
    met instead of `[Verifier] SPEC group N: FAIL`, which many causes share. On GitHub: test_requirement_26_issues."""
    (issue,) = issue_files(escalated)
    text = issue.read_text()
    for word in (SPEC, "05-REQ-2.1", "05-REQ-2.2", "wrong at attempt 2", "attempts spent", "agent-fox reset"):
        assert word in text, (word, text)


def test_9_2_a_fail_that_the_coder_repairs_files_nothing(tmp_path: Path) -> None:
    """26-REQ-9.2. Where the criterion files at every FAIL, a FAIL within the budget is the coder's affair alone."""
    root = World({SPEC: [RIGHT, WRONG]}).build(tmp_path)
    run(root, ends=PROVEN)
    assert decisions(root, f"{SPEC}:3") == ["Recode", "Accept"]
    assert (issue_files(root), rows(root, "SELECT * FROM outbox")) == ([], [])


def test_9_3_a_fail_sends_coder_and_verifier_back_with_the_evidence(tmp_path: Path) -> None:
    """26-REQ-9.3. The report is not attached as a text `previous_error`: the brief holds what fails, by requirement,
    with its evidence, and what must stay green."""
    root = World({SPEC: [RIGHT, WRONG]}).build(tmp_path)
    run(root, ends=PROVEN)
    assert rows(root, STEPS) == [(f"{SPEC}:verifier", "recode"), (f"{SPEC}:coder:2", "recode")]
    assert briefed(root, f"{SPEC}:2", 2) == {"05-REQ-2.1": "proof/05-REQ-2.1.txt: wrong at attempt 1"}
    assert order(root) == [f"{SPEC}:1", f"{SPEC}:2", f"{SPEC}:3", f"{SPEC}:2", f"{SPEC}:3"]


def test_9_3_without_retry_predecessor_a_fail_escalates_at_once(tmp_path: Path) -> None:
    """26-REQ-9.3. `retry_predecessor` is a value of each coder's node, set for the run, an archetype, a spec or one."""
    root = World({SPEC: [RIGHT, WRONG]}, settings="[retry]\nretry_predecessor = false\n").build(tmp_path)
    run(root, ends=NOT_PROVEN)
    assert coders(root) == {f"{SPEC}:1": 1, f"{SPEC}:2": 1}
    assert causes(root) == [(f"{SPEC}:3", "retry disabled")]


@pytest.mark.parametrize("attempts", [1, 2, 3])
def test_9_4_the_cycle_ends_when_the_attempts_are_spent(tmp_path: Path, attempts: int) -> None:
    """26-REQ-9.4. `attempts` is a total, the first one included. The verifier is then completed as escalated, which is
    not verified; what waits for the spec is blocked, and a record says why."""
    limits = f"[retry]\nattempts = {attempts}\nstop_without_progress = false\n"
    specs = {SPEC: [Req("05-REQ-1.1", 1, NEVER)], "06_after": [Req("06-REQ-1.1", 1)]}
    root = World(specs, depends={"06_after": SPEC}, settings=limits).build(tmp_path)
    run(root, ends=NOT_PROVEN)
    assert coders(root) == {f"{SPEC}:1": attempts}
    assert outcomes(root) == {f"{SPEC}:2": "escalated", "06_after:2": "blocked"}
    assert causes(root)[0] == (f"{SPEC}:2", "attempts spent")
    assert rows(root, f"SELECT status FROM plan_nodes WHERE id = '{SPEC}:2'") == [("completed",)]


def test_9_4_a_restart_refills_no_budget(tmp_path: Path) -> None:
    """26-REQ-9.4. Attempts are counted from recorded decisions; a higher limit later unblocks nothing by itself."""
    root = NEVER_RIGHT.build(tmp_path)
    run(root, ends=NOT_PROVEN)
    before = log(root)
    configure(root, "attempts = 2", "attempts = 9")
    run(root, ends=NOT_PROVEN)
    assert (log(root), len(issue_files(root))) == (before, 1)


def test_9_E1_the_coder_who_owns_the_failing_requirement_runs_again_not_the_predecessor(tmp_path: Path) -> None:
    """26-REQ-9.E1. The criterion resets whatever stands before the verifier. Here the FAIL is blamed: group 1 owns it
    and runs again; the reviewer who is the verifier's predecessor, and group 2, keep their work."""
    reader = "05_memory:3"
    titles = {reader: "Read it all [archetype: reviewer]"}
    content = json.dumps({"findings": [], "summary": "read it"})
    world = World(
        {SPEC: [Req("05-REQ-1.1", 1, right_at=2), Req("05-REQ-2.1", 2)]}, groups={SPEC: 3}, titles=titles,
        reviewer_says={f"{reader}/1/1": content},
    )  # fmt: skip
    root = world.build(tmp_path)
    run(root, ends=PROVEN)
    assert rows(root, f"SELECT archetype FROM plan_nodes WHERE id = '{reader}'") == [("reviewer",)]
    waits = "SELECT s.id FROM plan_edges AS e JOIN plan_nodes AS s ON s.uid = e.source JOIN plan_nodes AS v "
    assert (reader,) in rows(root, f"{waits}ON v.uid = e.target WHERE v.id = '{SPEC}:4'")
    assert order(root)[-2:] == [f"{SPEC}:1", f"{SPEC}:4"]
    assert (coders(root), order(root).count(reader)) == ({f"{SPEC}:1": 2, f"{SPEC}:2": 1}, 1)


def test_9_E1_a_fail_that_nobody_owns_goes_to_the_last_coder_before_the_verifier(tmp_path: Path) -> None:
    """26-REQ-9.E1. As far as the rules agree: where blame finds no owner, the direct predecessor that is a coder runs
    again; nobody else writes code."""
    root = World({SPEC: [RIGHT, WRONG]}).build(tmp_path)
    tasks = root / ".agent-fox" / "specs" / SPEC / "tasks.md"
    lines = [line for line in tasks.read_text().splitlines() if "05-REQ-2.1" not in line]
    tasks.write_text("\n".join(lines) + "\n")
    run(root, ends=PROVEN)
    assert coders(root) == {f"{SPEC}:1": 1, f"{SPEC}:2": 2}
