"""The close-out gate at work: in CI by its action, before a push by its hook, and when a coder's session ends."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from agent_fox.testing.worlds import Req, World, log, rows
from tests.cli.program import start
from tests.evidence.waiver_world import Person, person
from tests.session.world import make_repo, sh, write
from tests.stories.scene import NOT_PROVEN, PROVEN, coders, decisions, run

ROOT = Path(__file__).parents[2]
ACTION = ROOT / "actions/gate"
SCRIPTS = Path(sys.executable).parent
PASSED, BLOCKED = 0, 2
RECORD: dict[str, object] = {"command": "pytest -q", "exit_code": 0, "stdout": "", "stderr": ""}
SCOPE: dict[str, object] = {"allowed_files": ["**"], "forbidden_writes": [], "off_scope_writes": []}
RULES: dict[str, object] = {"block_failures": [], "warn_failures": []}
REQS = [Req("01-REQ-1.1", 1)]


def inputs(root: Path, record: object = RECORD, scope: object = SCOPE, rules: object = RULES) -> None:
    write(
        root,
        {
            "feedback_record.jsonl": f"{json.dumps(record)}\n" if record else "",
            "scope_report.json": json.dumps(scope),
            "rule_report.json": json.dumps(rules),
        },
    )


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    """A branch with work on it, and sound files about it."""
    files = {
        "app.py": "x = 1\n",
        ".agent-fox/config.toml": '[gate]\nforbidden = ["deploy"]\n',
        ".gitignore": "*.json*\n",
    }
    root = make_repo(tmp_path / "repo", files)
    sh(root, "git", "checkout", "-q", "-b", "work")
    write(root, {"app.py": "x = 2\n"})
    sh(root, "git", "commit", "-qam", "work")
    inputs(root)
    return root


def installed(root: Path, *command: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """A program started where `agent-fox` is installed, with a home of its own and no way to any model."""
    path = os.pathsep.join((str(SCRIPTS), os.environ["PATH"]))
    own = {"PATH": path, "HOME": str(root.parent), "GIT_CONFIG_NOSYSTEM": "1", **variables}
    return subprocess.run(command, cwd=root, env=own, capture_output=True, text=True, timeout=120, check=False)


def gate(root: Path, *more: str, task: str = "T1") -> tuple[int, dict[str, object]]:
    """The exit code, and the report that lies there."""
    done = start(root, "gate", "--task-id", task, "--base", "main", *more, GIT_CONFIG_NOSYSTEM="1")
    report: dict[str, object] = json.loads((root / "outputs/verification" / f"{task}.json").read_text())
    return done.returncode, report


def found(report: dict[str, object]) -> list[tuple[str, str]]:
    rows_ = report["findings"]
    assert isinstance(rows_, list)
    return [(row["check"], row["severity"]) for row in rows_]


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({"record": None}, ("acceptance_ran", "block")),
        ({"record": {**RECORD, "exit_code": 1}}, ("nonzero_exit", "block")),
        ({"scope": {**SCOPE, "forbidden_writes": ["x"]}}, ("forbidden_write", "block")),
        ({"scope": {**SCOPE, "off_scope_writes": ["x"]}}, ("off_scope_write", "block")),
        ({"rules": {**RULES, "block_failures": ["r"]}}, ("rule_block", "block")),
        ({"rules": {**RULES, "warn_failures": ["r"]}}, ("rule_warn", "warn")),
        ({"record": {**RECORD, "exit_code": None}}, ("null_exit_code", "block")),
        ({"scope": {**SCOPE, "allowed_files": ["docs"]}}, ("touched_outside", "warn")),
    ],
)
def test_the_table_of_the_gate_row_by_row(repo: Path, changed: dict[str, object], expected: tuple[str, str]) -> None:
    inputs(repo, **changed)
    code, report = gate(repo)
    assert (code, found(report)) == (BLOCKED if expected[1] == "block" else PASSED, [expected])
    assert report["passed"] is (code == PASSED)


def test_the_same_inputs_give_the_same_findings_without_any_model(repo: Path) -> None:
    inputs(repo, record={**RECORD, "exit_code": 1}, rules={**RULES, "warn_failures": ["s"]})
    first, second = gate(repo)[1], gate(repo)[1]
    assert {**first, "timestamp": ""} == {**second, "timestamp": ""}


def test_an_agent_that_writes_an_override_into_what_it_hands_in_gains_nothing(repo: Path) -> None:
    boast = {"passed": True, "override_reason": "trust me", "overridden_by": "a person", "findings": []}
    inputs(repo, record={**RECORD, "exit_code": 1, **boast}, scope={**SCOPE, **boast}, rules={**RULES, **boast})
    (repo / "outputs/verification").mkdir(parents=True)
    (repo / "outputs/verification/T1.json").write_text(json.dumps({"task_id": "T1", **boast}))
    code, report = gate(repo)
    assert (code, report["passed"], report["override_reason"], report["overridden_by"]) == (BLOCKED, False, None, None)


def test_tests_that_pass_are_not_enough(repo: Path) -> None:
    write(repo, {"deploy/prod.yml": "x"})
    code, report = gate(repo)
    assert (code, found(report)) == (BLOCKED, [("forbidden_write", "block")])


def action(root: Path, task: str = "T1", **variables: str) -> subprocess.CompletedProcess[str]:
    """The action's own script, as a runner starts it."""
    own = {
        "GATE_TASK_ID": task, "GATE_OUTPUT_DIR": "outputs/verification", "GATE_INPUT_DIR": "", "GATE_BASE": "",
        "GITHUB_STEP_SUMMARY": str(root.parent / "summary.md"), "GITHUB_OUTPUT": str(root.parent / "output"),
        "CI": "true", **variables,
    }  # fmt: skip
    return installed(root, "bash", "-c", f'"{ACTION}/gate.sh"', **own)


def test_in_ci_the_action_fails_the_job_and_shows_everything_in_its_summary(repo: Path) -> None:
    sh(repo, "git", "update-ref", "refs/remotes/origin/main", "main")
    inputs(repo, rules={"block_failures": ["no-secrets"], "warn_failures": ["style"]})
    done = action(repo, GITHUB_BASE_REF="main")
    assert done.returncode == BLOCKED, done
    summary = (repo.parent / "summary.md").read_text()
    assert "blocked, 1 warning(s)" in summary
    assert "'no-secrets'" in summary
    assert "'style'" in summary
    inputs(repo)
    assert action(repo, GITHUB_BASE_REF="main").returncode == PASSED
    assert (repo.parent / "output").read_text() == "passed=false\npassed=true\n"


def test_a_task_s_name_is_never_run_by_the_action(repo: Path) -> None:
    name = f"$(touch {repo.parent}/owned); `touch {repo.parent}/owned`"
    assert action(repo, name, GATE_BASE="main").returncode == PASSED
    assert not (repo.parent / "owned").exists()
    assert "${{" not in (ACTION / "gate.sh").read_text()
    script = (ACTION / "action.yml").read_text().rpartition("run: ")[2]
    assert "${{" not in script


def test_the_action_without_the_history_it_needs_fails(repo: Path) -> None:
    done = action(repo, GITHUB_BASE_REF="main")
    assert done.returncode == BLOCKED
    assert "'refs/remotes/origin/main' names no commit" in done.stdout


def test_on_a_push_the_action_counts_from_what_the_branch_was_before_it(repo: Path) -> None:
    before = sh(repo, "git", "rev-parse", "main")
    sh(repo, "git", "checkout", "-q", "main")
    sh(repo, "git", "merge", "-q", "--ff-only", "work")
    for unknown in ({}, {"GATE_BEFORE": ""}, {"GATE_BEFORE": "0" * 40}):
        done = action(repo, **unknown)
        assert done.returncode == BLOCKED, done
        assert "a gate that looked at nothing is no pass" in done.stdout
    assert action(repo, GATE_BEFORE=before).returncode == PASSED
    write(repo, {"deploy/prod.yml": "x"})
    sh(repo, "git", "add", "-f", "deploy")
    sh(repo, "git", "commit", "-qm", "deploy")
    done = action(repo, GATE_BEFORE=before)
    assert (done.returncode, "forbidden_write" in done.stdout) == (BLOCKED, True)
    assert "GATE_BEFORE: ${{ github.event.before }}" in (ACTION / "action.yml").read_text()


def test_the_action_says_that_agent_fox_is_not_installed(repo: Path) -> None:
    done = action(repo, PATH="/usr/bin:/bin")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("::error::agent-fox gate: agent-fox is not on the PATH")


def test_the_action_gives_a_review_task_no_base_of_its_own_choice(repo: Path) -> None:
    done = action(repo, "afx-0123456789ab", GITHUB_BASE_REF="main", GATE_BEFORE="main")
    assert (done.returncode, "review_unknown" in done.stdout) == (BLOCKED, True)
    assert action(repo, "afx-0123456789ab", GATE_BASE="main").returncode == 1


def push(repo: Path, *more: str) -> subprocess.CompletedProcess[str]:
    return installed(repo, "git", "push", "-q", "origin", *more)


@pytest.fixture
def remote(repo: Path) -> Path:
    """A remote that has the main branch; the hook is installed."""
    other = repo.parent / "remote.git"
    sh(repo.parent, "git", "init", "-q", "--bare", "-b", "main", str(other))
    sh(repo, "git", "remote", "add", "origin", str(other))
    sh(repo, "git", "push", "-q", "origin", "main")
    sh(repo, "git", "fetch", "-q", "origin")
    assert installed(repo, "agent-fox", "gate", "--install-hook").returncode == PASSED
    return other


def branches(remote: Path) -> list[str]:
    return sh(remote, "git", "for-each-ref", "--format=%(refname:short)", "refs/heads").splitlines()


def test_the_hook_holds_a_push_back_and_lets_a_good_one_through(repo: Path, remote: Path) -> None:
    inputs(repo, record={**RECORD, "exit_code": 1, "stderr": "2 failed"})
    done = push(repo, "work")
    assert (done.returncode, branches(remote)) == (1, ["main"])
    assert "blocked: work: 1 finding in the way" in done.stderr
    inputs(repo)
    assert (push(repo, "work").returncode, branches(remote)) == (0, ["main", "work"])
    assert push(repo, "--delete", "work").returncode == 0


def test_the_hook_judges_what_is_pushed_and_not_what_is_checked_out(repo: Path, remote: Path) -> None:
    sh(repo, "git", "checkout", "-q", "-b", "bad")
    write(repo, {"deploy/prod.yml": "x"})
    sh(repo, "git", "add", "-f", "deploy")
    sh(repo, "git", "commit", "-qm", "deploy")
    sh(repo, "git", "checkout", "-q", "work")
    done = push(repo, "work", "bad")
    assert (done.returncode, branches(remote)) == (1, ["main"])
    assert "forbidden_write: Wrote to forbidden path: deploy/prod.yml" in done.stderr
    sh(repo, "git", "config", "agent-fox.task", "T9")
    assert push(repo, "work").returncode == 0
    assert (repo / "outputs/verification/T9.json").exists()


def tags(remote: Path) -> list[str]:
    return sh(remote, "git", "for-each-ref", "--format=%(refname)", "refs/tags", "refs/other").splitlines()


@pytest.mark.parametrize("ref", ["refs/tags/v1", "refs/other/v1"])
def test_the_hook_judges_what_a_tag_or_any_other_reference_brings_along(repo: Path, remote: Path, ref: str) -> None:
    sh(repo, "git", "-c", "user.name=a", "-c", "user.email=a@b", "tag", "-a", "-m", "one", "mine", "work")
    inputs(repo, record={**RECORD, "exit_code": 1, "stderr": "2 failed"})
    done = push(repo, f"mine:{ref}")
    assert (done.returncode, tags(remote)) == (1, [])
    assert "1 finding in the way" in done.stderr
    inputs(repo)
    assert (push(repo, f"mine:{ref}").returncode, tags(remote)) == (0, [ref])
    assert push(repo, "--delete", ref).returncode == 0


def test_a_tag_or_branch_of_what_the_remote_has_brings_nothing_and_goes_through(repo: Path, remote: Path) -> None:
    inputs(repo, record={**RECORD, "exit_code": 1})
    sh(repo, "git", "tag", "v0", "main")
    assert push(repo, "v0", "main:again").returncode == 0
    assert (tags(remote), branches(remote)) == (["refs/tags/v0"], ["again", "main"])
    sh(repo, "git", "tag", "files", "work^{tree}")
    done = push(repo, "files")
    assert (done.returncode, "refs/tags/files is no commit" in done.stderr) == (1, True)


def test_of_a_first_push_to_an_empty_remote_every_file_is_judged(repo: Path) -> None:
    other = repo.parent / "empty.git"
    sh(repo.parent, "git", "init", "-q", "--bare", "-b", "main", str(other))
    sh(repo, "git", "remote", "add", "origin", str(other))
    sh(repo, "git", "checkout", "-q", "--orphan", "first")
    write(repo, {"deploy/prod.yml": "x"})
    sh(repo, "git", "add", "-f", "deploy")
    sh(repo, "git", "commit", "-qm", "first")
    assert installed(repo, "agent-fox", "gate", "--install-hook").returncode == PASSED
    done = push(repo, "first")
    assert (done.returncode, branches(other)) == (1, [])
    assert "forbidden_write: Wrote to forbidden path: deploy/prod.yml" in done.stderr
    assert (push(repo, "main").returncode, branches(other)) == (0, ["main"])
    assert (push(repo, "work").returncode, branches(other)) == (0, ["main", "work"])


def test_the_hook_asks_about_a_review_task_by_the_commit_that_is_pushed(repo: Path, remote: Path) -> None:
    sh(repo, "git", "config", "agent-fox.task", "afx-0123456789ab")
    done = push(repo, "work")
    assert (done.returncode, branches(remote)) == (1, ["main"])
    assert "review_unknown" in done.stderr


def test_the_hook_holds_back_where_agent_fox_is_not_there(repo: Path, remote: Path) -> None:
    tools = repo.parent / "tools"
    tools.mkdir()
    for name in ("git", "sh", "tail"):
        (tools / name).symlink_to(sh(repo, "sh", "-c", f"command -v {name}"))
    done = installed(repo, "git", "push", "-q", "origin", "work", PATH=str(tools))
    assert (done.returncode, branches(remote)) == (1, ["main"])
    assert "agent-fox is not on PATH" in done.stderr


def refused_once(tmp_path: Path) -> World:
    return World(
        {"01_calc": REQS},
        coder_does={"01_calc:1/1": "write deploy.txt"},
        settings='[gate]\nforbidden = ["deploy.txt"]\n',
    )


def test_a_session_that_fails_the_gate_is_refused_and_the_next_one_is_told_why(tmp_path: Path) -> None:
    root = refused_once(tmp_path).build(tmp_path)
    run(root, ends=PROVEN)
    assert (coders(root), decisions(root, "01_calc:1")) == ({"01_calc:1": 2}, ["Retry", "Land"])
    reasons = [str(row["reason"]) for row in log(root) if row["role"] == "coder"]
    assert reasons == [
        "", "refused: refused by the close-out gate: forbidden_write: Wrote to forbidden path: deploy.txt",
    ]  # fmt: skip
    kept = rows(root, "SELECT address, status FROM ledger WHERE kind = 'close-out' ORDER BY position")
    assert kept == [("01_calc:1@1", "blocked"), ("01_calc:1@2", "passed")]
    reports = root / ".agent-fox/verification"
    assert json.loads((reports / "01_calc:1@1.json").read_text())["passed"] is False
    assert json.loads((reports / "01_calc:1@2.json").read_text())["passed"] is True
    assert "verification" not in sh(root, "git", "status", "--porcelain")


def at_home(root: Path, *arguments: str, who: Person | None = None) -> subprocess.CompletedProcess[str]:
    """`agent-fox ARGUMENTS` of somebody, or of nobody in particular, never with the home of who runs the tests."""
    person_ = who or Person(root.parent / "nobody")
    return person_.cli(root, *arguments)


def judged(root: Path, task: str, *more: str, ends: int, who: Person | None = None) -> dict[str, object]:
    done = at_home(root, "gate", "--task-id", task, "--json", *more, who=who)
    assert done.returncode == ends, done
    report: dict[str, object] = json.loads(done.stdout)
    return report


def test_the_gate_judges_a_run_s_task_again_from_its_own_records(tmp_path: Path) -> None:
    root = refused_once(tmp_path).build(tmp_path)
    run(root, ends=PROVEN, **Person(tmp_path / "nobody").environ)
    assert found(judged(root, "01_calc:1@1", ends=BLOCKED)) == [("forbidden_write", "block")]
    last = judged(root, "01_calc:1", ends=PASSED)
    assert (last["task_id"], Path(str(last["path"])).name) == ("01_calc:1@2", "01_calc:1@2.json")
    assert last["tree"] == rows(root, "SELECT tree FROM ledger WHERE kind = 'close-out' ORDER BY position")[1][0]
    done = at_home(root, "gate", "--task-id", "01_calc:1@1", "--input-dir", ".")
    assert (done.returncode, "judged by its own records; leave out --input-dir" in done.stderr) == (1, True)


def test_an_agent_that_edits_a_report_is_found_out_and_the_report_is_put_right(tmp_path: Path) -> None:
    root = refused_once(tmp_path).build(tmp_path)
    run(root, ends=PROVEN, **Person(tmp_path / "nobody").environ)
    path = root / ".agent-fox/verification/01_calc:1@1.json"
    path.write_text(path.read_text().replace('"passed": false', '"passed": true'))
    report = judged(root, "01_calc:1@1", ends=BLOCKED)
    assert found(report) == [("report_edited", "warn"), ("forbidden_write", "block")]
    assert json.loads(path.read_text())["passed"] is False
    assert found(judged(root, "01_calc:1@1", ends=BLOCKED)) == [("forbidden_write", "block")]


def test_of_judgements_that_race_the_last_record_is_the_report(tmp_path: Path) -> None:
    root = refused_once(tmp_path).build(tmp_path)
    run(root, ends=PROVEN, **Person(tmp_path / "nobody").environ)
    command, env = Person(tmp_path / "nobody").command("gate", "--task-id", "01_calc:1@1")
    racers = [subprocess.Popen(command, cwd=root, env=env, stdout=subprocess.DEVNULL) for _ in range(4)]
    assert [racer.wait() for racer in racers] == [BLOCKED] * 4
    kept = rows(
        root,
        "SELECT record_id, json_extract(content, '$.identity') FROM ledger WHERE kind = 'close-out' "
        "AND address = '01_calc:1@1' ORDER BY position",
    )
    assert [name for _, name in kept] == [f"close-out:01_calc:1@1:{number}" for number in range(1, 6)]
    report = json.loads((root / ".agent-fox/verification/01_calc:1@1.json").read_text())
    assert report["record"] == kept[-1][0]


def test_a_person_s_signature_lets_the_next_try_land_and_an_agent_s_own_key_does_not(tmp_path: Path) -> None:
    alice, mallory = person(tmp_path / "people"), person(tmp_path / "people", "mallory", is_trusted=False)
    does = {f"01_calc:1/{attempt}": "write deploy.txt" for attempt in (1, 2)}
    settings = '[gate]\nforbidden = ["deploy.txt"]\n[retry]\nattempts = 1\n'
    root = World({"01_calc": REQS}, coder_does=does, settings=settings).build(tmp_path)
    alice.run(root, NOT_PROVEN)
    report = judged(root, "01_calc:1@1", ends=BLOCKED, who=alice)
    assert forged(mallory, root) != 0
    assert found(judged(root, "01_calc:1@1", ends=BLOCKED, who=alice)) == found(report)
    alice.waive(root, "--finding", "01_calc:1", "forbidden_write")
    signed = judged(root, "01_calc:1@1", ends=PASSED, who=alice)
    assert (signed["passed"], signed["overridden_by"], signed["override_reason"]) == (
        True, "alice", "the vendor mends it",
    )  # fmt: skip
    assert found(signed) == found(report)
    assert alice.cli(root, "reset", "01_calc:1").returncode == 0
    alice.run(root, PROVEN)
    kept = rows(root, "SELECT address, status FROM ledger WHERE kind = 'close-out' ORDER BY position DESC LIMIT 1")
    assert kept == [("01_calc:1@2", "passed")]


def forged(mallory: Person, root: Path) -> int:
    told = ("--reason", "trust me", "--expires", "30d", *mallory.signing)
    return mallory.cli(root, "waive", "--finding", "01_calc:1", "forbidden_write", *told).returncode


def test_a_design_that_forgot_a_file_holds_no_honest_work_back(tmp_path: Path) -> None:
    root = World({"01_calc": REQS}).build(tmp_path)
    write(root, {".agent-fox/specs/01_calc/design.md": "# Design\n\nOnly `calc/core.py` is named here.\n"})
    sh(root, "git", "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qam", "design")
    run(root, ends=PROVEN)
    report = json.loads((root / ".agent-fox/verification/01_calc:1@1.json").read_text())
    assert (report["passed"], found(report)) == (True, [("touched_outside", "warn")])


def test_acceptance_commands_of_the_settings_run_at_every_close_out(tmp_path: Path) -> None:
    check = json.dumps(f"{sys.executable} -c \"open('proof/01-REQ-1.1.txt').read()\"")
    root = World(
        {"01_calc": REQS}, coder_does={"01_calc:1/1": "nothing"}, settings=f"[gate]\ncommands = [{check}]\n"
    ).build(tmp_path)
    run(root, ends=PROVEN)
    assert decisions(root, "01_calc:1") == ["Retry", "Land"]
    checks = json.loads((root / ".agent-fox/verification/01_calc:1@1.json").read_text())["findings"]
    assert [row["check"] for row in checks] == ["nonzero_exit"]
    assert "FileNotFoundError" in checks[0]["detail"]
