"""What `plan` prints, for people and for programs."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from agent_fox.testing.worlds import run_cli
from tests.cli.program import repository, said, start

REQUIREMENTS = """# Requirements

### Requirement 1: Sum

#### Acceptance Criteria

1. [01-REQ-1.1] WHEN two numbers are given, THE calculator SHALL add them.
2. [01-REQ-1.2] WHEN one is missing, THE calculator SHALL say so.
"""

TASKS = """# Implementation Plan

## Tasks

- [x] 1. Write failing tests
  - [x] 1.1 Tests of the sum
    - _Requirements: 01-REQ-1.1, 01-REQ-1.2_
- [ ] 2. Build\x1b[31m the sum
  - [ ] 2.1 Add
    - _Requirements: 01-REQ-1.1, 01-REQ-1.2_
"""


def write_spec(folder: Path, requirements: str = REQUIREMENTS, tasks: str = TASKS) -> None:
    folder.mkdir(parents=True)
    (folder / "requirements.md").write_text(requirements)
    (folder / "tasks.md").write_text(tasks)
    (folder / "prd.md").write_text("# PRD\n")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    write_spec(tmp_path / ".agent-fox" / "specs" / "01_sum")
    return repository(tmp_path)


def test_a_person_sees_each_spec_with_its_nodes_and_the_totals(root: Path) -> None:
    done = start(root, "plan")
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert lines[0] == "01_sum (agent-fox): 1 requirement, 2 to prove"
    assert "├── 01_sum:0:reviewer:pre-review    pre-review" in lines
    assert "├── 01_sum:1                        Write failing tests (ticked)" in lines
    assert "└── 01_sum:3                        verifier" in lines
    assert lines[-1].startswith("1 spec, 5 nodes, 2 to prove; 0 errors")


def test_text_of_a_spec_cannot_steer_the_terminal(root: Path) -> None:
    shown = start(root, "plan").stdout
    assert "Build [31m the sum" in shown
    assert "\x1b" not in shown


def test_the_settings_shape_the_plan(root: Path) -> None:
    variables = {"AGENT_FOX__PLAN__PRE_REVIEW": "false", "AGENT_FOX__PLAN__AUDIT_REVIEW": "false"}
    document = json.loads(start(root, "plan", "--json", **variables).stdout)
    assert [node["id"] for node in document["nodes"]] == ["01_sum:1", "01_sum:2", "01_sum:3"]


def test_specs_are_found_from_any_folder_of_the_repository(root: Path) -> None:
    (root / "src").mkdir()
    assert start(root / "src", "plan").stdout == start(root, "plan").stdout != ""


def test_a_folder_given_on_the_command_line_counts_from_where_one_stands(root: Path) -> None:
    write_spec(root / "docs" / "plans" / "07_other", REQUIREMENTS.replace("01-", "07-"), TASKS.replace("01-", "07-"))
    document = json.loads(start(root / "docs", "plan", "--specs", "plans", "--json").stdout)
    assert [spec["name"] for spec in document["specs"]] == ["07_other"]


def test_a_folder_in_the_settings_counts_from_the_root(root: Path) -> None:
    write_spec(root / "plans" / "07_other", REQUIREMENTS.replace("01-", "07-"), TASKS.replace("01-", "07-"))
    document = json.loads(start(root, "plan", "--json", AGENT_FOX__PLAN__SPECS="plans").stdout)
    assert [spec["name"] for spec in document["specs"]] == ["07_other"]


def test_an_error_in_one_spec_exits_1_and_the_plan_is_printed_all_the_same(root: Path) -> None:
    write_spec(root / ".agent-fox" / "specs" / "02_bad", tasks="<<<<<<< ours\n" + TASKS + ">>>>>>> theirs\n")
    as_text, as_json = start(root, "plan"), start(root, "plan", "--json")
    assert (as_text.returncode, as_json.returncode) == (1, 1)
    assert "error: .agent-fox/specs/02_bad/tasks.md" in as_text.stdout
    document = json.loads(as_json.stdout)
    assert "01_sum" in [spec["name"] for spec in document["specs"]]
    assert "error" in [problem["severity"] for problem in document["problems"]]


def test_no_specs_is_one_line_and_an_empty_document(tmp_path: Path) -> None:
    done = start(tmp_path, "plan", "--json")
    assert done.returncode == 1
    assert "specs" in said(done)
    document = json.loads(done.stdout)
    assert (document["specs"], document["nodes"], document["edges"]) == ([], [], [])
    assert [problem["severity"] for problem in document["problems"]] == ["error"]


def test_a_wrong_setting_is_one_line(root: Path) -> None:
    (root / ".agent-fox" / "config.toml").write_text("[retyr]\nattempts = 2\n")
    done = start(root, "plan")
    assert (done.returncode, done.stdout) == (1, "")
    assert said(done).startswith("agent-fox: .agent-fox/config.toml: retyr = ")


def test_the_plan_as_markdown_is_read_as_the_same_plan(root: Path) -> None:
    printed = start(root, "plan", "--format", "markdown")
    assert (printed.returncode, printed.stderr) == (0, "")
    (root / "all.md").write_text(printed.stdout)
    there = json.loads(start(root, "plan", "--format", "json").stdout)
    back = json.loads(start(root, "plan", "--specs", "all.md", "--json").stdout)
    assert (back["nodes"], back["edges"]) == (there["nodes"], there["edges"])
    assert back["specs"][0]["requirements"] == there["specs"][0]["requirements"]
    assert back["specs"][0]["groups"] == there["specs"][0]["groups"]
    assert start(root, "plan", "--specs", "all.md", "--format", "markdown").stdout == printed.stdout


def test_what_is_wrong_stands_beside_the_markdown(root: Path) -> None:
    write_spec(root / ".agent-fox" / "specs" / "02_bad", tasks="<<<<<<< ours\n")
    done = start(root, "plan", "--format", "markdown")
    assert done.returncode == 1
    assert "error: .agent-fox/specs/02_bad/tasks.md:1" in done.stderr
    assert "# Spec: `01_sum`" in done.stdout
    assert "error:" not in done.stdout


def test_two_forms_at_once_are_refused(root: Path) -> None:
    done = start(root, "plan", "--json", "--format", "markdown")
    assert (done.returncode, done.stdout) == (1, "")
    assert "give one of them" in said(done)


@pytest.mark.parametrize("name", ["all.md", "plan.md", "spec.md"])
def test_a_printed_plan_is_read_whatever_its_file_is_called(root: Path, name: str) -> None:
    (root / name).write_text(start(root, "plan", "--format", "markdown").stdout)
    again = start(root, "plan", "--specs", name)
    assert again.returncode == 0
    assert again.stdout.startswith("01_sum (plain)")


def test_a_printed_plan_among_the_specs_is_named_with_what_to_do(root: Path) -> None:
    (root / ".agent-fox" / "specs" / "plan.md").write_text(start(root, "plan", "--format", "markdown").stdout)
    done = start(root, "plan")
    assert done.returncode == 1
    assert ".agent-fox/specs/plan.md" in done.stdout
    assert "a plan that was printed as Markdown is kept elsewhere" in done.stdout


def test_a_document_of_a_spec_is_no_place_and_its_folder_is_named(root: Path) -> None:
    done = start(root, "plan", "--specs", ".agent-fox/specs/01_sum/tasks.md")
    assert done.returncode == 1
    assert "it is one document of 01_sum. Name its folder" in said(done)


def test_what_only_says_what_is_there_has_nothing_to_prove(root: Path) -> None:
    notes = root / "openspec" / "specs" / "notes" / "spec.md"
    notes.parent.mkdir(parents=True)
    notes.write_text(
        "### Requirement: Keep\nThe system SHALL keep notes.\n\n#### Scenario: One\n- **THEN** it is kept\n"
    )
    lines = start(root, "plan").stdout.splitlines()
    assert "notes (openspec): 1 requirement, describes what exists: nothing is planned" in lines
    assert lines[-1].startswith("2 specs, 5 nodes, 2 to prove")


NOTES = """### 02-REQ-1: T

1. [02-REQ-1.1] THE store SHALL keep notes.
2. THE e SHALL f.

### 02-REQ-2: U

1. [02-REQ-2.1] WHEN a note is a year old, THE archive SHALL take it.

### 02-REQ-3: V

1. [02-REQ-3.1] THE c SHALL d.
"""
NOTES_TASKS = """- [ ] 1. Store
  - _Requirements: 02-REQ-1.1_
- [ ] 2. Archive
  - [ ] 2.1 Move notes that are a year old into the archive
- [ ] 3. Old bells
  - [ ] 3.1 Ring them every year
"""


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    folder = tmp_path / ".agent-fox" / "specs" / "02_a"
    folder.mkdir(parents=True)
    (folder / "requirements.md").write_text(NOTES)
    (folder / "tasks.md").write_text(NOTES_TASKS)
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    return tmp_path


def below_nodes(root: Path, *options: str) -> list[str]:
    return [line.strip() for line in run_cli(root, "plan", *options).stdout.splitlines()]


def test_what_is_guessed_what_nobody_owns_and_what_is_a_detail_stand_below_the_nodes(notes: Path) -> None:
    lines = below_nodes(notes)
    assert (
        '1 detail without an id, part of the text of 02-REQ-1 (1); [specs] bare_criteria = "required" asks for a '
        "verdict on each"
    ) in lines
    guess = "02-REQ-2.1: 2. Archive (both say archive, old, year, note; next comes 3. Old bells)"
    assert lines[lines.index(guess) - 1] == (
        "1 of 3 guessed, because no task names them; `agent-fox plan --owners` lets you correct them:"
    )
    assert (
        "1 of 3 without an owner: no task names 02-REQ-3.1; if they fail, the last group gets them back: 3. Old bells"
    ) in lines
    (spec,) = json.loads(run_cli(notes, "plan", "--json").stdout)["specs"]
    assert (spec["unowned"], spec["blamed_for_unowned"]) == (["02-REQ-3.1"], [3])
    assert spec["owners"] == {"02-REQ-1.1": [1], "02-REQ-2.1": [2], "02-REQ-3.1": []}
    assert {id: ground["ground"] for id, ground in spec["grounds"].items()} == {
        "02-REQ-1.1": "named", "02-REQ-2.1": "guessed", "02-REQ-3.1": "nobody",
    }  # fmt: skip
    assert spec["grounds"]["02-REQ-2.1"]["runner_up"] == 3
    assert spec["requirements"][0]["details"] == ["THE e SHALL f."]


def test_owners_are_written_corrected_and_kept(notes: Path) -> None:
    assert "written: .agent-fox/owners.toml" in below_nodes(notes, "--owners")
    file = notes / ".agent-fox" / "owners.toml"
    remark = "guessed: both say archive, old, year, note; next comes 3. Old bells"
    guessed = f'# "02-REQ-2.1" = "2. Archive" # {remark}'
    nobody = '# "02-REQ-3.1" = "3. Old bells" # nobody found: no task names it, and none shares enough with it'
    assert file.read_text().split("\n\n")[1] == f'["02_a"]\n{guessed}\n{nobody}\n'
    file.write_text(file.read_text().replace(guessed, '"02-REQ-2.1" = "3. Old bells"'))
    assert "1 of 3 as you say in .agent-fox/owners.toml: 02-REQ-2.1" in below_nodes(notes)
    tasks = notes / ".agent-fox" / "specs" / "02_a" / "tasks.md"
    tasks.write_text(NOTES_TASKS.replace("3. Old", "4. Old").replace("3.1", "4.1") + "- [ ] 3. New\n")
    run_cli(notes, "plan", "--owners")
    assert '"02-REQ-2.1" = "3. Old bells"' in file.read_text().splitlines()
    (spec,) = json.loads(run_cli(notes, "plan", "--json").stdout)["specs"]
    assert (spec["owners"]["02-REQ-2.1"], spec["grounds"]["02-REQ-2.1"]["ground"]) == ([4], "corrected")


def test_what_a_correction_names_and_is_gone_is_said_and_kept(notes: Path) -> None:
    file = notes / ".agent-fox" / "owners.toml"
    file.write_text('[02_a]\n"02-REQ-9.1" = 2\n"02-REQ-2.1" = "7. Gone"\n[03_b]\n"1" = 1\n')
    told = run_cli(notes, "plan").stdout
    where = "warning: .agent-fox/owners.toml: "
    assert f"{where}02_a: nothing of it is called 02-REQ-9.1" in told
    assert f"{where}02_a, 02-REQ-2.1: there is no group 7. Gone any more: not used." in told
    assert f"{where}there is no spec 03_b: its lines are not used" in told
    run_cli(notes, "plan", "--owners")
    kept = [line for line in file.read_text().splitlines() if line and not line.startswith("#")]
    assert kept == ['["02_a"]', '"02-REQ-2.1" = "7. Gone"', '"02-REQ-9.1" = 2', '["03_b"]', '"1" = 1']


def test_a_file_of_owners_that_cannot_be_read_is_an_error_and_stays(notes: Path) -> None:
    file = notes / ".agent-fox" / "owners.toml"
    for text in ('[02_a\n"1" = 1', '"02-REQ-2.1" = 1\n'):
        file.write_text(text)
        done = run_cli(notes, "plan")
        assert (done.returncode, "error: .agent-fox/owners.toml" in done.stdout) == (1, True)
        assert run_cli(notes, "plan", "--owners").returncode == 1
        assert file.read_text() == text
