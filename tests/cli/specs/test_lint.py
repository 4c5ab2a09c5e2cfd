"""What `lint` prints and writes, for people and for programs."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from agent_fox.testing.worlds import run_cli
from tests.cli.program import repository, said, start
from tests.specs.lint.sarif_model import Log
from tests.specs.lint.worlds import OTHER, ROWS, TASKS, write

ODD = {"01_sum/tasks.md": TASKS.replace("[ ] 1.1", "[X] 1.1")}
BROKEN = {"01_sum/tasks.md": "## Tasks\n\n- [ ] Something without a number\n"}
WARNED = {"01_sum/tasks.md": TASKS + "\n- [ ] 3. Something\n"}
TASKS_FILE = Path("specs/01_sum/tasks.md")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return repository(write(tmp_path, {}))


def test_specs_without_findings_exit_0(root: Path) -> None:
    done = start(root, "lint")
    assert (done.returncode, done.stdout, done.stderr) == (0, "0 errors, 0 warnings, 0 notes in 1 spec\n", "")


def test_a_finding_is_a_line_with_its_place_and_its_rule_and_what_to_do_below(root: Path) -> None:
    write(root, ODD)
    done = start(root, "lint")
    assert done.stdout.splitlines() == [
        "note: specs/01_sum/tasks.md:4: a box is ticked with X [upper-case-box]",
        "    Write [x].",
        "0 errors, 0 warnings, 1 note in 1 spec; 1 can be repaired with --fix",
    ]
    assert done.returncode == 0


@pytest.mark.parametrize(
    ("files", "arguments", "code"),
    [(BROKEN, [], 1), (WARNED, [], 0), (WARNED, ["--strict"], 1), (ODD, ["--strict"], 0), (BROKEN, ["--json"], 1)],
)
def test_errors_exit_1_and_with_strict_warnings_too(
    root: Path, files: dict[str, str], arguments: list[str], code: int
) -> None:
    write(root, files)
    assert start(root, "lint", *arguments).returncode == code


def test_programs_get_one_document(root: Path) -> None:
    write(root, WARNED)
    document = json.loads(start(root, "lint", "--json").stdout)
    assert document["counts"] == {"error": 0, "warning": 1, "note": 0}
    (finding,) = document["findings"]
    assert (finding["rule"], finding["where"], finding["fixable"]) == ("empty-group", "specs/01_sum/tasks.md:11", False)
    assert (document["not_checked"], document["fixed"], document["refused"]) == ([], [], [])
    assert start(root, "lint", "--format", "json").stdout == start(root, "lint", "--json").stdout


def test_sarif_is_what_the_standard_asks_for(root: Path) -> None:
    write(root, {**ODD, **WARNED})
    log = Log.model_validate_json(start(root, "lint", "--format", "sarif").stdout)
    assert [result.ruleId for result in log.runs[0].results] == ["empty-group"]


def test_fix_repairs_and_a_second_one_has_nothing_to_do(root: Path) -> None:
    write(root, ODD)
    first = start(root, "lint", "--fix")
    assert first.stdout.splitlines()[0] == "fixed: specs/01_sum/tasks.md:4: a box is ticked with X [upper-case-box]"
    assert (root / TASKS_FILE).read_text() == TASKS.replace("[ ] 1.1", "[x] 1.1")
    second = start(root, "lint", "--fix", "--json")
    document = json.loads(second.stdout)
    assert (document["fixed"], document["findings"]) == ([], [])


def test_a_difference_changes_nothing_and_git_can_apply_it(root: Path) -> None:
    write(root, {"01_sum/tasks.md": ODD["01_sum/tasks.md"].replace("\n", "\r\n").rstrip()})
    before = (root / TASKS_FILE).read_bytes()
    document = json.loads(start(root, "lint", "--diff", "--json").stdout)
    assert document["diff"].startswith("--- a/specs/01_sum/tasks.md\n+++ b/specs/01_sum/tasks.md\n")
    assert start(root, "lint", "--diff").stdout == document["diff"].replace("\r\n", "\n")
    assert (root / TASKS_FILE).read_bytes() == before
    subprocess.run(["git", "apply", "-"], cwd=root, input=document["diff"].encode(), check=True)
    assert (root / TASKS_FILE).read_bytes() == before.replace(b"[X]", b"[x]")


def test_a_path_narrows_what_is_told_and_what_is_repaired(root: Path) -> None:
    two = {"02_two/tasks.md": ODD["01_sum/tasks.md"], "02_two/requirements.md": "# R\n"}
    write(root, {**ODD, **two})
    here = json.loads(start(root / "specs", "lint", "01_sum", "--json").stdout)
    assert {finding["spec"] for finding in here["findings"]} == {"01_sum"}
    start(root, "lint", "specs/01_sum", "--fix")
    assert "[X]" not in (root / TASKS_FILE).read_text()
    assert "[X]" in (root / "specs/02_two/tasks.md").read_text()


def test_a_path_elsewhere_is_read_for_itself(root: Path) -> None:
    (root / "plans").mkdir()
    (root / "specs" / "01_sum").rename(root / "plans" / "07_new")
    document = json.loads(start(root, "lint", "plans", "--json").stdout)
    assert {finding["spec"] for finding in document["findings"]} <= {"07_new"}


def test_a_path_elsewhere_beside_one_of_the_plan_leaves_the_plan_whole(root: Path) -> None:
    """A spec that the one inside depends on is not missing because it was not named."""
    write(root, {**OTHER, "01_sum/prd.md": ROWS + "| 02_other | 2 | 1 | a |\n"})
    (root / "plans").mkdir()
    shutil.copytree(root / "specs" / "01_sum", root / "plans" / "07_new", ignore=lambda *_: ["prd.md"])
    document = json.loads(start(root, "lint", "specs/01_sum", "plans", "--json").stdout)
    assert "dangling-dependency" not in {finding["rule"] for finding in document["findings"]}
    assert document["specs"] == 2


def test_a_path_that_holds_no_spec_says_so_by_the_number_of_specs(root: Path) -> None:
    write(root, {"archive/00_old/tasks.md": TASKS})
    assert start(root, "lint", "specs/archive").stdout == "0 errors, 0 warnings, 0 notes in 0 specs\n"
    assert start(root, "lint", "specs/01_sum/tasks.md").stdout == "0 errors, 0 warnings, 0 notes in 1 spec\n"


def test_what_lies_outside_of_the_repository_is_told_and_never_written(
    root: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    write(root, ODD)
    other = tmp_path_factory.mktemp("other") / "02_other"
    shutil.copytree(root / "specs" / "01_sum", other)
    before = (other / "tasks.md").read_bytes()
    start(root, "lint", "specs/01_sum", str(other), "--diff")
    done = start(root, "lint", "specs/01_sum", str(other), "--fix")
    assert done.stdout.count("fixed: ") == 1
    assert done.stdout.splitlines()[-1] == "0 errors, 0 warnings, 1 note in 2 specs"
    assert (other / "tasks.md").read_bytes() == before


def test_a_rule_is_switched_off_by_the_settings_and_a_limit_is_set(root: Path) -> None:
    write(root, ODD)
    assert "note:" not in start(root, "lint", AGENT_FOX__LINT__OFF='["upper-case-box"]').stdout
    limited = start(root, "lint", AGENT_FOX__LINT__GROUP_REQUIREMENTS="1", AGENT_FOX__LINT__REQUIREMENT_PARTS="1")
    assert "[large-requirement]" in limited.stdout


def test_a_rule_that_there_is_none_of_is_named_with_the_nearest(root: Path) -> None:
    done = start(root, "lint", AGENT_FOX__LINT__OFF='["uper-case-box"]')
    assert done.returncode == 1
    assert said(done).endswith("lint.off = 'uper-case-box': there is no such rule; did you mean upper-case-box?")


def test_no_specs_is_one_line(tmp_path: Path) -> None:
    done = start(tmp_path, "lint")
    assert (done.returncode, done.stdout) == (1, "")
    assert "no folder of specs" in said(done)


def test_what_a_link_outside_leads_to_is_told_and_not_repaired(
    root: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    write(root, ODD)
    outside = tmp_path_factory.mktemp("outside") / "tasks.md"
    (root / TASKS_FILE).rename(outside)
    (root / TASKS_FILE).symlink_to(outside)
    document = json.loads(start(root, "lint", "--fix", "--json").stdout)
    assert ([finding["rule"] for finding in document["findings"]], document["fixed"]) == (["upper-case-box"], [])
    assert "[X]" in outside.read_text()


def test_text_of_a_spec_cannot_steer_the_terminal(root: Path) -> None:
    write(root, {"01_sum/tasks.md": TASKS + "    - _Requirements: 01-REQ-9.\x1b[31m1_\n"})
    assert "\x1b" not in start(root, "lint").stdout


@pytest.mark.parametrize("form", ["json", "sarif"])
def test_a_report_is_printed_where_no_spec_is_found(tmp_path: Path, form: str) -> None:
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    done = run_cli(tmp_path, "lint", "--format", form)
    document = json.loads(done.stdout)
    found = document["findings"] if form == "json" else document["runs"][0]["results"]
    assert (done.returncode, len(found)) == (1, 1)
    assert done.stderr.startswith("agent-fox: no folder of specs in ")
