"""`agent-fox ledger show REQ`, and what else tells of evidence on the command line: a finished run is looked at."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

from agent_fox.testing.worlds import environment, run_cli
from tests.cli.conftest import Finished


def words(told: str) -> str:
    return " ".join(told.split())


def test_a_proven_requirement_tells_by_what_by_whom_on_which_commit_and_how_to_check_it(finished: Finished) -> None:
    told = finished.tell("ledger", "show", "01-REQ-2.E1")
    document = json.loads(finished.tell("ledger", "show", "01-REQ-2.E1", "--json"))
    current = document["proofs"][-1]
    assert told.startswith("01_calc/01-REQ-2.E1  tested · proven, and it counts now · judged\n")
    for part in (
        f"● PASS {current['id'][:12]} verdict (judged) by 01_calc:3@",
        f"on commit {current['commit'][:12]}, tree {current['tree'][:12]}, environment {current['environment']}",
        "proposed → tested by evaluator",
        "→ reviewed (reviewer): no final review is asked for",
        f"$ git worktree add --detach ../check-{current['commit'][:12]} {current['commit']}",
        f"ledger: {document['head']['position']} records, head {document['head']['head']}",
    ):
        assert part in words(told), (part, told)
    assert "does not count: the code has changed" in told


def test_a_requirement_that_is_not_proven_says_so_and_what_would_move_it(finished: Finished) -> None:
    told = words(finished.tell("ledger", "show", "02_top/02-REQ-1.1"))
    assert told.startswith("02_top/02-REQ-1.1 proposed · not proven now: its verdict is FAIL")
    assert "→ tested (evaluator): the current verdict on it is FAIL" in told
    assert "agent-fox waive 02_top/02-REQ-1.1 --reason '...' --expires 30d" in told
    assert "first: agent-fox keys new waiver; agent-fox keys trust waiver --for waiver" in told
    assert "asked for: tested ([policy] required_state)" in told


def test_a_requirement_with_criteria_shows_each_of_them(finished: Finished) -> None:
    told = finished.tell("ledger", "show", "01-REQ-2")
    assert "01_calc/01-REQ-2.1  " in told
    assert "01_calc/01-REQ-2.E1  " in told
    document = json.loads(finished.tell("ledger", "show", "01-REQ-2", "--json"))
    assert [one["requirement"] for one in document["requirements"]] == ["01-REQ-2.1", "01-REQ-2.E1"]


def test_what_is_recorded_last_is_shown_unless_all_is_asked_for(finished: Finished) -> None:
    short, whole = (finished.tell("ledger", "show", "02-REQ-1.1", *more) for more in ((), ("--all",)))
    assert len(whole) >= len(short)
    assert whole.count("FAIL ") == len(json.loads(finished.tell("ledger", "show", "02-REQ-1.1", "--json"))["proofs"])


def test_a_record_is_still_shown_by_its_id_and_by_its_position(finished: Finished) -> None:
    name = json.loads(finished.tell("ledger", "show", "01-REQ-1.1", "--json"))["proofs"][-1]["id"]
    assert name in finished.tell("ledger", "show", name[:12])
    assert finished.tell("ledger", "show", "1").startswith("record 1 ")


def test_an_unknown_requirement_gets_the_nearest(finished: Finished) -> None:
    done = run_cli(finished.root, "ledger", "show", "01-REQ-9.1")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("agent-fox: 01-REQ-9.1: there is no such requirement in the plan; did you mean 01-")


def test_explain_names_the_nearest_requirement_too(finished: Finished) -> None:
    done = run_cli(finished.root, "explain", "01-REQ-2.7")
    assert done.returncode == 1
    assert "there is no such node or spec in the plan; did you mean 01-REQ-2.1" in done.stderr


def test_explain_tells_the_same_chain_of_a_requirement(finished: Finished) -> None:
    for more in (("--all",), ("--json",)):
        one, other = (finished.tell(*command, "02-REQ-1.1", *more) for command in (("explain",), ("ledger", "show")))
        assert one == other


def test_explain_of_a_node_tells_the_evidence_for_its_requirements_in_short(finished: Finished) -> None:
    told = finished.tell("explain", "01_calc:2")
    lines = [words(line) for line in told.splitlines()]
    evidence = lines[lines.index("evidence") + 1 :]
    assert evidence[0].startswith("PASS 01-REQ-2.1 judged WHEN its proof is read")
    assert evidence[1].startswith("PASS 01-REQ-2.E1 judged WHEN its proof is read")
    assert words(finished.tell("explain", "01_calc:2", "--all")).count("tested; record ") == 2
    assert evidence[2] == "the whole chain: agent-fox ledger show 01_calc/01-REQ-2.1"
    document = json.loads(finished.tell("explain", "01_calc", "--json"))
    assert [(one["requirement"], one["gate"], one["word"]) for one in document["evidence"]] == [
        ("01-REQ-1.1", "tested", "PASS"),
        ("01-REQ-2.1", "tested", "PASS"),
        ("01-REQ-2.E1", "tested", "PASS"),
    ]


def test_explain_of_an_escalated_spec_tells_what_fails_first_and_how_a_person_accepts_it(finished: Finished) -> None:
    told = words(finished.tell("explain", "02_top"))
    assert told.index("FAIL 02-REQ-1.1 WHEN its proof is read") < told.index("evidence PASS 02-REQ-1.2")
    whole = words(finished.tell("explain", "02_top", "--all"))
    assert whole.index("evidence FAIL 02-REQ-1.1") < whole.index("proposed; record ")
    assert (
        "accept the gap, signed and for a time: agent-fox waive 02-REQ-1.1 --spec 02_top --reason '...' --expires 30d"
        in told
    )


def test_status_tells_where_the_gates_stand_and_the_ledgers_head(finished: Finished) -> None:
    document = json.loads(finished.tell("status", "--json"))
    assert document["gates"] == {"proposed": 3, "tested": 3}
    head, records = document["ledger"]["head"], document["ledger"]["records"]
    assert f"gates: 3 proposed, 3 tested; ledger: {records} records, head {head}" in finished.tell("status", "--all")


def test_a_change_of_the_branch_makes_the_evidence_stale_at_once(finished: Finished, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    subprocess.run(["cp", "-a", str(finished.root), str(copy)], check=True)
    assert "counts now" in run_cli(copy, "ledger", "show", "01-REQ-1.1").stdout
    git(copy, "checkout", "-q", "agent-fox/integration")
    (copy / "more.txt").write_text("more\n")
    git(copy, "add", "more.txt")
    git(copy, "commit", "-qm", "more")
    told = words(run_cli(copy, "ledger", "show", "01-REQ-1.1").stdout)
    assert told.startswith("01_calc/01-REQ-1.1 tested · not proven now: the code has changed")


def git(root: Path, *arguments: str) -> None:
    person = ("-c", "user.name=A Person", "-c", "user.email=person@example.org")
    subprocess.run(["git", *person, *arguments], cwd=root, env=environment(), check=True, capture_output=True)


def test_the_commands_that_check_it_do(finished: Finished, tmp_path: Path) -> None:
    """In a copy, as a person types them: the ledger is whole, and the commit stands in a folder of its own."""
    copy = tmp_path / "work" / "copy"
    copy.parent.mkdir()
    subprocess.run(["cp", "-a", str(finished.root), str(copy)], check=True)
    document = json.loads(run_cli(copy, "ledger", "show", "01-REQ-1.1", "--json").stdout)
    verify, worktree, folder = document["check"][:3]
    assert verify == "agent-fox ledger verify"
    git(copy, *worktree.split()[1:])
    stands = subprocess.run(
        ["git", "rev-parse", "HEAD^{tree}"], cwd=copy / folder.removeprefix("cd "), capture_output=True, text=True,
        check=True,
    )  # fmt: skip
    assert stands.stdout.strip() == document["proofs"][-1]["tree"]
