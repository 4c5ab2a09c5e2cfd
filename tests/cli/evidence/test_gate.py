"""`agent-fox gate` as a person or a pipeline calls it: exit codes, the report, the change by git, and the hook."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from subprocess import CompletedProcess
from typing import cast

import pytest

from agent_fox.core.ledger.close_out import Check, Severity
from agent_fox.evidence import witness
from agent_fox.testing.worlds import run_cli
from tests.cli.conftest import Finished
from tests.cli.program import SOURCE, repository, said, start
from tests.sarif_schema import problems
from tests.session.world import sh, write

PASSED, MISTAKE, BLOCKED = 0, 1, 2
RECORD = {"command": "pytest -q", "exit_code": 0, "stdout": "", "stderr": ""}
ALL = {"allowed_files": ["**"], "forbidden_writes": [], "off_scope_writes": []}
NO_RULES: dict[str, list[str]] = {"block_failures": [], "warn_failures": []}


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    """A repository on a branch of its own, with sound files for a task."""
    root = repository(tmp_path)
    sh(root, "git", "config", "user.name", "Ada")
    sh(root, "git", "config", "user.email", "ada@example.org")
    sh(root, "git", "checkout", "-q", "-b", "work")
    inputs(root)
    sh(root, "git", "commit", "-q", "--allow-empty", "-m", "work")
    return root


def inputs(folder: Path, *, record: object = RECORD, scope: object = ALL, rules: object = NO_RULES) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "feedback_record.jsonl").write_text(f"{json.dumps(record)}\n")
    (folder / "scope_report.json").write_text(json.dumps(scope))
    (folder / "rule_report.json").write_text(json.dumps(rules))


def commit(root: Path, files: dict[str, str]) -> str:
    write(root, files)
    sh(root, "git", "add", "-f", *files)
    sh(root, "git", "commit", "-qm", "more")
    return sh(root, "git", "rev-parse", "HEAD")


def settle(root: Path, text: str) -> None:
    """Settings as they are on the main branch before the work began."""
    sh(root, "git", "checkout", "-q", "main")
    commit(root, {".agent-fox/config.toml": text})
    sh(root, "git", "checkout", "-q", "-B", "work")
    sh(root, "git", "commit", "-q", "--allow-empty", "-m", "work")


def gate(root: Path, *more: str, ends: int, task: str = "T1", **variables: str) -> dict[str, object]:
    """The report that is printed, which must be the one that lies there."""
    done = start(root, "gate", "--task-id", task, "--base", "main", "--json", *more, **variables)
    assert done.returncode == ends, done
    printed: dict[str, object] = json.loads(done.stdout)
    path = Path(str(printed.pop("path")))
    assert json.loads(path.read_text()) == printed
    return printed


def findings(report: dict[str, object]) -> list[tuple[str, str, str]]:
    rows = report["findings"]
    assert isinstance(rows, list)
    return [(row["check"], row["severity"], row["detail"]) for row in rows]


def test_a_sound_task_passes_and_leaves_one_report(repo: Path) -> None:
    report = gate(repo, ends=PASSED)
    assert (report["task_id"], report["passed"], report["findings"], report["limitation"]) == ("T1", True, [], "")
    assert report["commit"] == sh(repo, "git", "rev-parse", "HEAD")
    assert [path.name for path in (repo / "outputs/verification").iterdir()] == ["T1.json"]


def test_a_blocked_task_exits_2_and_says_what_to_do(repo: Path) -> None:
    inputs(repo, record={**RECORD, "exit_code": 1, "stderr": "1 failed"})
    done = start(repo, "gate", "--task-id", "T1", "--base", "main")
    assert done.returncode == BLOCKED
    assert "✗ nonzero_exit: Command 'pytest -q' exited 1: 1 failed [" in done.stdout
    assert "blocked: T1: 1 finding in the way, 0 warnings" in done.stdout
    assert "agent-fox waive --finding T1 nonzero_exit " in done.stdout
    assert "before that: agent-fox keys new waiver; agent-fox keys trust waiver --for waiver" in done.stdout


def test_a_mistake_in_the_command_itself_exits_1(repo: Path) -> None:
    for arguments in ((), ("--task-id", ""), ("--task-id", "a\nb"), ("--task-id", "T", "--no-such-option")):
        done = start(repo, "gate", *arguments)
        assert (done.returncode, len(done.stderr.splitlines())) == (MISTAKE, 1), arguments
    assert "--task-id is missing" in said(start(repo, "gate"))


def test_warnings_are_shown_and_do_not_block(repo: Path) -> None:
    inputs(repo, rules={"block_failures": [], "warn_failures": ["style"]})
    done = start(repo, "gate", "--task-id", "T1", "--base", "main", "--summary", "summary.md")
    assert done.returncode == PASSED
    assert "! rule_warn: Rule 'style' failed at warn severity" in done.stdout
    assert "0 findings in the way, 1 warning" in done.stdout
    assert "| warn | rule_warn |" in (repo / "summary.md").read_text()


def test_findings_are_written_as_sarif_beside_what_is_printed(repo: Path) -> None:
    inputs(repo, rules={"block_failures": [], "warn_failures": ["style"]})
    done = start(repo, "gate", "--task-id", "T1", "--base", "main", "--sarif", "gate.sarif")
    assert done.returncode == PASSED
    log = json.loads((repo / "gate.sarif").read_text())
    assert problems(log) == []
    assert [(result["ruleId"], result["level"]) for result in log["runs"][0]["results"]] == [("rule_warn", "warning")]
    mistaken = start(repo, "gate", "--task-id", "T1", "--base", "main", "--sarif", "no/such/folder.sarif")
    assert "name a file that can be written" in mistaken.stderr


def test_no_option_and_no_variable_overrides_a_finding(repo: Path) -> None:
    settle(repo, '[gate]\nforbidden = ["deploy"]\n')
    write(repo, {"deploy/x": "x"})
    loose = {
        "AGENT_FOX__GATE__FORBIDDEN": "[]",
        "AGENT_FOX__GATE__OFF_SCOPE": "warn",
        "AGENT_FOX__VERIFY__BASE": "HEAD",
    }
    assert ("forbidden_write", "block", "Wrote to forbidden path: deploy/x") in findings(
        gate(repo, ends=BLOCKED, **loose)
    )
    help_ = start(repo, "gate", "--help").stdout.lower()
    assert not any(word in help_ for word in ("force", "--override", "skip", "ignore"))


def test_settings_that_the_change_itself_loosens_do_not_count(repo: Path) -> None:
    settle(repo, '[gate]\nforbidden = ["deploy"]\ncommands = ["make check"]\n')
    commit(repo, {".agent-fox/config.toml": "", "deploy/x": "x"})
    found = findings(gate(repo, ends=BLOCKED))
    assert ("forbidden_write", "block", "Wrote to forbidden path: deploy/x") in found
    assert ("acceptance_ran", "block", "Expected command 'make check' has not run") in found
    assert any(check == "input" and severity == "warn" and "config.toml" in said for check, severity, said in found)


def test_settings_that_were_never_committed_can_only_add(repo: Path) -> None:
    write(repo, {".agent-fox/config.toml": '[gate]\noff_scope = "warn"\nforbidden = ["deploy"]\n', "deploy/x": "x"})
    inputs(repo, scope={**ALL, "off_scope_writes": ["x.py"]})
    found = findings(gate(repo, ends=BLOCKED))
    assert {("forbidden_write", "block"), ("off_scope_write", "block")} <= {row[:2] for row in found}


def test_settings_that_cannot_be_read_block(repo: Path) -> None:
    settle(repo, "[gate]\nforbiden = 1\n")
    assert any("the settings cannot be read" in row[2] for row in findings(gate(repo, ends=BLOCKED)))


def test_a_write_outside_of_the_allowed_paths_is_found_in_the_change_itself(repo: Path) -> None:
    settle(repo, '[gate]\nallowed = ["src"]\n')
    commit(repo, {"src/a.py": "x", "b.py": "x"})
    write(repo, {"c.py": "x"})
    found = findings(gate(repo, ends=BLOCKED))
    assert found == [
        ("off_scope_write", "block", "Wrote outside allowed scope: b.py"),
        ("off_scope_write", "block", "Wrote outside allowed scope: c.py"),
    ]


def test_a_scope_report_cannot_hide_what_the_change_shows(repo: Path) -> None:
    inputs(repo, scope={"allowed_files": ["./src/"], "forbidden_writes": [], "off_scope_writes": []})
    write(repo, {"src/a.py": "x", "b.py": "x"})
    report = gate(repo, ends=PASSED)
    assert findings(report) == [("touched_outside", "warn", "Touched a file that is not among the allowed files: b.py")]
    assert report["warnings"] == 1


@pytest.mark.parametrize("trick", ["ignored", "assumed", "staged", "skipped"])
def test_what_git_status_does_not_show_is_found(repo: Path, trick: str) -> None:
    settle(repo, '[gate]\nforbidden = ["secret", "README.md"]\n')
    match trick:
        case "ignored":  # committed although ignored
            write(repo, {".gitignore": "secret\n", "secret": "x"})
            sh(repo, "git", "add", "-f", "secret")
            sh(repo, "git", "commit", "-qm", "x")
        case "assumed":
            sh(repo, "git", "update-index", "--assume-unchanged", "README.md")
            write(repo, {"README.md": "changed\n"})
        case "skipped":
            sh(repo, "git", "update-index", "--skip-worktree", "README.md")
            write(repo, {"README.md": "changed\n"})
        case _:  # in the index only
            write(repo, {".gitignore": "secret\n", "secret": "x"})
            sh(repo, "git", "add", "-f", "secret")
            (repo / "secret").unlink()
    assert any(row[0] == "forbidden_write" for row in findings(gate(repo, ends=BLOCKED)))


def test_a_submodule_and_a_link_are_changes_too(repo: Path) -> None:
    settle(repo, '[gate]\nforbidden = ["vendor", ".env"]\n')
    sh(repo, "git", "update-index", "--add", "--cacheinfo", f"160000,{sh(repo, 'git', 'rev-parse', 'HEAD')},vendor")
    (repo / "link").symlink_to(".env")
    found = {row[2] for row in findings(gate(repo, ends=BLOCKED))}
    assert found == {"Wrote to forbidden path: vendor", "Wrote to forbidden path: link -> .env"}


def test_a_base_that_is_not_there_and_no_repository_at_all_block(
    repo: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    done = start(repo, "gate", "--task-id", "T1", "--base", "nowhere", "--json")
    assert done.returncode == BLOCKED
    assert "'nowhere' names no commit" in findings(json.loads(done.stdout))[0][2]
    bare = tmp_path_factory.mktemp("bare")
    inputs(bare)
    done = start(bare, "gate", "--task-id", "T1", "--json", GIT_CEILING_DIRECTORIES=str(bare.parent))
    assert done.returncode == BLOCKED
    assert "no commit to compare with" in findings(json.loads(done.stdout))[0][2]


def test_a_commit_that_is_compared_with_itself_blocks(repo: Path) -> None:
    ((check, severity, detail),) = findings(gate(repo, "--commit", "HEAD~1", ends=BLOCKED))
    assert (check, severity) == ("input", "block")
    assert "HEAD~1 has nothing that main has not, and a gate that looked at nothing is no pass" in detail
    commit(repo, {"a.py": "x"})
    assert findings(gate(repo, "--commit", "HEAD", ends=PASSED)) == []
    assert "HEAD~2 has nothing" in findings(gate(repo, "--commit", "HEAD~2", ends=BLOCKED))[0][2]


def test_a_first_commit_is_compared_with_no_files_at_all(repo: Path) -> None:
    settle(repo, '[gate]\nforbidden = ["README.md"]\n')
    nothing = sh(repo, "git", "hash-object", "-t", "tree", "/dev/null")
    done = start(repo, "gate", "--task-id", "T1", "--base", nothing, "--commit", "HEAD", "--json")
    assert done.returncode == BLOCKED
    assert findings(json.loads(done.stdout)) == [("forbidden_write", "block", "Wrote to forbidden path: README.md")]


def test_a_repository_without_a_commit_blocks(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    inputs(tmp_path)
    done = start(tmp_path, "gate", "--task-id", "T1", "--json")
    assert (done.returncode, findings(json.loads(done.stdout))[0][0]) == (BLOCKED, "input")


def test_the_files_may_lie_elsewhere_but_not_in_two_places_at_once(repo: Path) -> None:
    inputs(repo / "outputs/verification", record={**RECORD, "exit_code": 1})
    assert any("say which with --input-dir" in row[2] for row in findings(gate(repo, ends=BLOCKED)))
    assert findings(gate(repo, "--input-dir", "outputs/verification", ends=BLOCKED))[0][0] == "nonzero_exit"
    assert gate(repo, "--input-dir", ".", ends=PASSED)["passed"] is True


def test_nothing_at_all_to_judge_by_blocks(repo: Path) -> None:
    for name in ("feedback_record.jsonl", "scope_report.json", "rule_report.json"):
        (repo / name).unlink()
    checks = [row[0] for row in findings(gate(repo, ends=BLOCKED))]
    assert checks == ["input", "input", "input", "acceptance_ran"]


@pytest.mark.parametrize(
    ("task", "told"),
    [
        ("01_calc:1@7", "no close-out of it is recorded; the last of 01_calc:1 is 01_calc:1@"),
        ("01_calc:3", "01_calc:3 is no coder"),
        ("03_dep:1", "no session of 03_dep:1 came to its close-out yet"),
    ],
)
def test_a_node_without_a_close_out_is_a_slip_not_a_task_without_files(
    finished: Finished, task: str, told: str
) -> None:
    done = run_cli(finished.root, "gate", "--task-id", task)
    assert (done.returncode, done.stdout) == (MISTAKE, "")
    assert told in said(done)


def test_a_newer_judgement_takes_the_place_of_the_older(repo: Path) -> None:
    inputs(repo, rules={"block_failures": ["r"], "warn_failures": []})
    gate(repo, ends=BLOCKED)
    inputs(repo)
    gate(repo, ends=PASSED)
    assert [path.name for path in (repo / "outputs/verification").iterdir()] == ["T1.json"]


def test_the_spec_s_design_names_files_too(repo: Path) -> None:
    sh(repo, "git", "checkout", "-q", "main")
    commit(repo, {"specs/01_app/design.md": "Writes `src/a.py`.\n"})
    sh(repo, "git", "checkout", "-q", "-B", "work")
    inputs(repo, scope={"allowed_files": [], "forbidden_writes": [], "off_scope_writes": []})
    write(repo, {"src/a.py": "x", "src/b.py": "x"})
    outside = "Touched a file that is not among the allowed files: "
    report = gate(repo, ends=PASSED, task="01_app:1")
    assert [row[2] for row in findings(report)] == [f"{outside}src/b.py"]
    assert report["limitation"] == "some of the files that were judged are not committed"


def test_only_reports_are_left_out_of_the_change_not_whatever_lies_beside_them(repo: Path) -> None:
    settle(repo, '[gate]\nforbidden = ["**/*.json"]\n')
    gate(repo, "--output-dir", "out", ends=PASSED, task="other")
    write(
        repo,
        {
            "out/package.json": '{"findings": [], "task_id": "x"}',
            "package.json": '{"findings": [], "task_id": "package"}',
        },
    )
    found = {row[2] for row in findings(gate(repo, "--output-dir", "out", ends=BLOCKED))}
    assert found == {"Wrote to forbidden path: out/package.json", "Wrote to forbidden path: package.json"}
    assert "Wrote to forbidden path: package.json" in {
        row[2] for row in findings(gate(repo, "--output-dir", ".", ends=BLOCKED))
    }


def test_an_output_folder_that_is_a_file_is_a_mistake(repo: Path) -> None:
    (repo / "out").write_text("")
    done = start(repo, "gate", "--task-id", "T1", "--output-dir", "out")
    assert done.returncode == MISTAKE
    assert "out" in said(done)


def install(root: Path) -> CompletedProcess[str]:
    return start(root, "gate", "--install-hook")


def test_the_hook_is_installed_once_and_kept(repo: Path) -> None:
    hook = repo / ".git/hooks/pre-push"
    assert (install(repo).stdout, hook.stat().st_mode & 0o111) == (f"wrote {hook}\n", 0o111)
    assert install(repo).stdout == f"kept {hook}\n"
    hook.write_text(hook.read_text() + "# older\n")
    assert install(repo).stdout == f"wrote {hook}\n"


def test_a_person_s_own_hook_stays_as_it_is(repo: Path) -> None:
    hook = repo / ".git/hooks/pre-push"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\necho mine\n")
    done = install(repo)
    assert (done.returncode, hook.read_text()) == (MISTAKE, "#!/bin/sh\necho mine\n")
    assert "there is a hook of yours already" in said(done)
    hook.unlink()
    hook.symlink_to("/nowhere")
    assert (install(repo).returncode, hook.is_symlink()) == (MISTAKE, True)


def test_the_hook_goes_where_git_looks_for_it(repo: Path) -> None:
    sh(repo, "git", "config", "core.hooksPath", ".hooks")
    assert json.loads(start(repo, "gate", "--install-hook", "--json").stdout) == {
        "path": str(repo / ".hooks/pre-push"), "is_new": True,
    }  # fmt: skip


def test_the_page_about_the_gate_has_every_check_with_its_severity() -> None:
    page = (SOURCE / "docs/gate.md").read_text(encoding="utf-8")
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")] for line in page.splitlines() if line.startswith("| `")
    ]
    assert {row[0].strip("`") for row in rows} == {check.value for check in Check}
    assert {row[3].rpartition(" ")[2] for row in rows} == {severity.value for severity in Severity}


NOTHING_ALLOWED: dict[str, list[str]] = {"allowed_files": [], "forbidden_writes": [], "off_scope_writes": []}


def test_a_design_that_comes_with_the_change_allows_nothing(repo: Path) -> None:
    settle(repo, '[gate]\nallowed = ["src/**"]\n')
    inputs(repo, scope=NOTHING_ALLOWED)
    write(repo, {"deploy/x.sh": "x", ".agent-fox/specs/T1/design.md": "Writes `deploy/x.sh` and `**`.\n"})
    details = [row[2] for row in findings(gate(repo, ends=BLOCKED))]
    assert "Wrote outside allowed scope: deploy/x.sh" in details


def test_a_design_that_is_a_pipe_is_not_waited_for(repo: Path) -> None:
    folder = repo / ".agent-fox/specs/T1"
    folder.mkdir(parents=True)
    os.mkfifo(folder / "design.md")
    gate(repo, ends=PASSED)


def test_no_filter_of_the_repository_is_run(repo: Path) -> None:
    trap = repo.parent / "ran"
    sh(repo, "git", "config", "filter.x.clean", f"touch {trap}; cat")
    commit(repo, {"src/a.py": "1\n"})
    write(repo, {".gitattributes": "* filter=x\n", "src/a.py": "2\n"})
    report = gate(repo, ends=PASSED)
    assert report["limitation"] == "some of the files that were judged are not committed"
    assert not trap.exists()


def test_a_state_file_that_is_gone_does_not_leave_the_word_to_the_files(repo: Path) -> None:
    note = witness.path_of({"XDG_STATE_HOME": str(repo.parent / "noted")}, repo)
    note.parent.mkdir(parents=True)
    note.write_text(json.dumps({"position": 7, "head": "0" * 64, "at": "2026-01-01T00:00:00.000Z"}))
    state = {"XDG_STATE_HOME": str(repo.parent / "noted")}
    (found,) = findings(gate(repo, ends=BLOCKED, **state))
    assert found[:2] == ("input", "block")
    assert "the ledger of this repository is gone: restore .agent-fox/state.db" in found[2]
    note.unlink()
    gate(repo, ends=PASSED, **state)


def test_an_empty_change_is_no_pass_with_a_commit_or_without(repo: Path) -> None:
    for more in ((), ("--commit", "HEAD")):
        report = gate(repo, "--base", "HEAD", *more, ends=BLOCKED)
        assert any("looked at nothing is no pass" in detail for _, _, detail in findings(report))
    (repo / "more.txt").write_text("more\n")
    gate(repo, "--base", "HEAD", ends=PASSED)


@pytest.mark.parametrize("how", ["info/exclude", "core.excludesFile"])
def test_what_the_base_does_not_hide_is_part_of_the_change(repo: Path, tmp_path: Path, how: str) -> None:
    settle(repo, '[gate]\nallowed = ["work.txt"]\n')
    rules = repo / ".git/info/exclude"
    if how == "core.excludesFile":
        rules = tmp_path.parent / f"{tmp_path.name}-rules"
        sh(repo, "git", "config", "core.excludesFile", str(rules))
    rules.write_text("evil.py\n__pycache__/\n*.json*\n")
    write(repo, {"evil.py": "evil\n", "__pycache__/app.pyc": "1"})
    found = [(check, detail) for check, _, detail in findings(gate(repo, ends=BLOCKED))]
    assert found == [("off_scope_write", "Wrote outside allowed scope: evil.py")]


@pytest.mark.parametrize("planted", ["outputs", "outputs/verification"])
def test_no_report_is_written_through_a_planted_link(repo: Path, tmp_path: Path, planted: str) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (repo / planted).parent.mkdir(exist_ok=True)
    (repo / planted).symlink_to(elsewhere)
    done = start(repo, "gate", "--task-id", "T1", "--base", "main")
    assert (done.returncode, list(elsewhere.iterdir())) == (MISTAKE, [])
    assert f"{repo / planted}: it is a link" in done.stderr


def test_what_is_recorded_is_what_the_gate_reads(repo: Path) -> None:
    for name in ("feedback_record.jsonl", "scope_report.json", "rule_report.json"):
        (repo / name).unlink()
    settle(repo, '[gate]\ncommands = ["true"]\nallowed = ["src/**"]\n')
    commit(repo, {"src/a.py": "a = 1\n", "notes.md": "n\n"})
    done = start(repo, "gate", "record", "--task-id", "T1", "--base", "main", "--", "sh", "-c", "echo no; exit 3")
    assert done.returncode == 0, done
    assert "true: exit 0\nsh -c 'echo no; exit 3': exit 3\n1 path out of scope, 0 rules fired" in done.stdout
    lines = (repo / "outputs/verification/feedback_record.jsonl").read_text().splitlines()
    assert [json.loads(line) for line in lines] == [
        {"task_id": "T1", "command": "true", "exit_code": 0, "stdout": "", "stderr": ""},
        {"task_id": "T1", "command": "sh -c 'echo no; exit 3'", "exit_code": 3, "stdout": "no\n", "stderr": ""},
    ]
    report = gate(repo, ends=BLOCKED)
    assert [(one["check"], one["severity"]) for one in cast("list[dict[str, str]]", report["findings"])] == [
        ("nonzero_exit", "block"), ("off_scope_write", "block"),
    ]  # fmt: skip
    assert start(repo, "gate", "record", "--task-id", "T1", "--base", "main").returncode == 0
    (repo / "notes.md").unlink()
    sh(repo, "git", "commit", "-qam", "without notes")
    start(repo, "gate", "record", "--task-id", "T1", "--base", "main")
    assert gate(repo, ends=PASSED)["passed"] is True


def test_a_recording_without_a_command_or_a_change_is_a_mistake(repo: Path) -> None:
    none = start(repo, "gate", "record", "--task-id", "T1", "--base", "main")
    assert (none.returncode, "there is no command to record" in none.stderr) == (MISTAKE, True), none
    empty = start(repo, "gate", "record", "--task-id", "T1", "--base", "nowhere", "--", "true")
    assert (empty.returncode, "nowhere" in empty.stderr) == (MISTAKE, True), empty
