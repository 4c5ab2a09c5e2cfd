"""What `make run` shows, run as it stands: scripted agents (a fake), real code, real git, real pytest."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

from agent_fox.testing.demo import make_demo
from agent_fox.testing.worlds import rows, run_cli

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = make_demo(tmp_path_factory.mktemp("demo") / "demo", ROOT / "fixtures" / "demo")
    done = run_cli(root, "run", "--parallel", "3")
    assert done.returncode == 2, done.stderr
    return root


def outcome(root: Path, spec: str) -> tuple[object, ...]:
    (found,) = rows(
        root, f"SELECT status, outcome FROM plan_nodes WHERE archetype = 'verifier' AND spec_name = '{spec}'"
    )
    return tuple(found)


def decisions(root: Path, spec: str) -> list[str]:
    sql = f"SELECT kind FROM decisions WHERE spec_name = '{spec}' AND node_uid LIKE '%verifier' ORDER BY id"
    return [str(kind) for (kind,) in rows(root, sql) if kind != "Reopen"]


def test_one_spec_is_proven_at_the_first_attempt(demo: Path) -> None:
    assert outcome(demo, "01_money") == ("completed", "verified")
    assert set(decisions(demo, "01_money")) == {"Accept"}


def test_one_spec_is_sent_back_and_proven_at_the_second_attempt(demo: Path) -> None:
    assert outcome(demo, "02_cart") == ("completed", "verified")
    assert decisions(demo, "02_cart")[:2] == ["Recode", "Accept"]


def test_one_spec_spends_its_budget_and_leaves_history_and_one_issue(demo: Path) -> None:
    assert outcome(demo, "03_split") == ("completed", "escalated")
    assert rows(demo, "SELECT cause FROM blocking_history WHERE spec_name = '03_split'") == [("attempts spent",)]
    (issue,) = (demo / ".agent-fox" / "issues").glob("*.md")
    assert "03-REQ-2.1" in issue.read_text(encoding="utf-8")


def test_the_issue_of_the_escalated_spec_shows_the_chain_of_evidence(demo: Path) -> None:
    (record, commit, environment, position, head) = last_record(demo, "03_split/03-REQ-2.1")
    (issue,) = (demo / ".agent-fox" / "issues").glob("*.md")
    text = issue.read_text(encoding="utf-8")
    about = f"| 03_split/03-REQ-2.1 | FAIL | `{record[:12]}…` | `03_split:3@3.1` | `{commit[:12]}` "
    row = f"{about}| `{environment}` | 1 checks |"
    assert row in text
    assert f"({position} records, head `{head[:11]}…`)" in text
    for command in (
        "python -m pytest -q tests/test_split.py",
        "agent-fox ledger show 03_split/03-REQ-2.1",
        "agent-fox waive 03-REQ-2.1 --spec 03_split --reason '...' --expires 30d",
    ):
        assert f"\n{command}\n" in text


def last_record(root: Path, address: str) -> tuple[str, str, str, int, str]:
    """Of the verdict on a requirement, with the end of the chain when its session's last record was written."""
    verdict = f"SELECT max(position) FROM ledger WHERE address = '{address}' AND kind = 'verdict'"
    sql = (
        "SELECT v.record_id, json_extract(v.content, '$.artifact.commit'), "
        "json_extract(v.content, '$.run_context.environment'), l.position, l.head FROM ledger AS v, ledger AS l "
        f"WHERE v.position = ({verdict}) AND l.position = (SELECT max(position) FROM ledger WHERE at = v.at "
        "AND session_id = v.session_id)"
    )
    ((record, commit, environment, position, head),) = rows(root, sql)
    assert isinstance(position, int)
    return str(record), str(commit), str(environment), position, str(head)


def test_explain_shows_the_chain_of_evidence(demo: Path) -> None:
    record, commit, environment, _, _ = last_record(demo, "03_split/03-REQ-2.1")
    node = " ".join(run_cli(demo, "explain", "03_split", "--all").stdout.split())
    assert f"proposed; record {record[:12]} by 03_split:3@3.1 on {commit[:12]}" in node
    chain = " ".join(run_cli(demo, "explain", "03-REQ-2.1", "--all").stdout.split())
    for part in (
        f"● FAIL {record[:12]} verdict by 03_split:3@3.1 (memory, checks)",
        f"on commit {commit[:12]}",
        f"environment {environment}, verifier 1 checks",
        "$ python -m pytest -q tests/test_split.py",
        "→ tested (evaluator): the current verdict on it is FAIL",
        f"$ git worktree add --detach ../check-{commit[:12]} {commit}",
    ):
        assert part in chain


def masked(text: str) -> list[str]:
    """Lines without what differs from run to run: commits, dollars, seconds, how many sessions it took."""
    text = re.sub(r"\b[0-9a-f]{12}\b", "COMMIT", text)
    return [line.rstrip() for line in re.sub(r"\$\d+\.\d\d|\b\d+ s(essions)?\b", "NUMBER", text).splitlines()]


def test_what_status_shows_is_what_the_page_for_people_on_call_says(demo: Path) -> None:
    page = (ROOT / "docs" / "operating.md").read_text(encoding="utf-8")
    (shown,) = re.findall(r"```text\n(NOT PROVEN.*?)```", page, re.DOTALL)
    assert masked(run_cli(demo, "status", COLUMNS="120").stdout) == masked(shown)


def test_the_log_of_a_verifier_shows_what_its_tests_printed(demo: Path) -> None:
    printed = run_cli(demo, "logs", "03_split").stdout
    assert printed.startswith("$ python -m pytest -q tests/test_split.py\n")
    assert "2 failed, 10 passed" in printed
    assert "\n--- exit 1, " in printed
    assert "\nFAIL    03-REQ-2.1  " in printed


def test_what_was_proven_says_which_record_proves_it_and_that_it_counts(demo: Path) -> None:
    told = run_cli(demo, "ledger", "show", "02_cart/02-REQ-1.1").stdout
    assert told.startswith("02_cart/02-REQ-1.1  tested · proven, and it counts now · red without\n")
    assert "proposed → tested by evaluator" in told


def test_one_verifier_answers_gibberish_and_its_coders_pay_nothing(demo: Path) -> None:
    assert decisions(demo, "04_receipt")[:2] == ["Reread", "Accept"]
    assert rows(demo, "SELECT max(attempt) FROM sessions WHERE spec_name = '04_receipt'") == [(1,)]


def test_one_spec_is_held_back_because_it_depends_on_the_unproven_one(demo: Path) -> None:
    assert rows(demo, "SELECT DISTINCT root_node FROM blocking_history WHERE spec_name = '05_settle'") == [
        ("03_split:3",)
    ]
    assert rows(demo, "SELECT count(*) FROM sessions WHERE spec_name = '05_settle'") == [(0,)]


@pytest.mark.parametrize(("code", "ends_well"), [(2, True), (0, False), (1, False), (4, False)])
def test_make_run_ends_well_only_where_the_demonstration_does(tmp_path: Path, code: int, ends_well: bool) -> None:
    """The environment is a fake one whose `agent-fox` only exits with `code`; the demonstration's files are real."""
    binaries = tmp_path / "venv" / "bin"
    binaries.mkdir(parents=True)
    (binaries / "agent-fox").write_text(f"#!/bin/sh\nexit {code}\n")
    (binaries / "agent-fox").chmod(0o755)
    ready = binaries.parent / ".ready"
    ready.touch()
    os.utime(ready, (time.time() + 60, time.time() + 60))
    where = [f"VENV={binaries.parent}", "BIN=venv/bin", f"PYTHON={sys.executable}", f"CURDIR={tmp_path}"]
    words = ["make", "run", *where, f"DEMO={tmp_path / 'demo'}"]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(words, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=60)
    assert (done.returncode == 0) == ends_well, done.stdout + done.stderr
