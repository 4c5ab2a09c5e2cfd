"""The three files of a close-out: whatever is wrong with one blocks, and says what."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from agent_fox.core.ledger.close_out import FeedbackRecord, RuleReport, Severity
from agent_fox.core.ledger.close_out_scope import ScopeReport
from agent_fox.review.close_out.files import FEEDBACK, LARGEST_FILE, RULES, SCOPE, Files, read_files

RECORD = {"command": "pytest -q", "exit_code": 0, "stdout": "1 passed", "stderr": ""}
GOOD_SCOPE = {"allowed_files": ["src"], "forbidden_writes": [], "off_scope_writes": []}
GOOD_RULES: dict[str, object] = {"block_failures": [], "warn_failures": ["style"]}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder in which all three files are sound."""
    (tmp_path / FEEDBACK).write_text(json.dumps(RECORD) + "\n")
    (tmp_path / SCOPE).write_text(json.dumps(GOOD_SCOPE))
    (tmp_path / RULES).write_text(json.dumps(GOOD_RULES))
    return tmp_path


def details(found: Files, severity: Severity = Severity.BLOCK) -> list[str]:
    return [one.detail for one in found.troubles if one.severity is severity]


def test_sound_files_are_read_as_they_are(folder: Path) -> None:
    assert read_files(folder, "T") == Files(
        (FeedbackRecord("pytest -q", 0),), ScopeReport(("src",)), RuleReport((), ("style",))
    )


@pytest.mark.parametrize("name", [FEEDBACK, SCOPE, RULES])
def test_a_missing_file_blocks(folder: Path, name: str) -> None:
    (folder / name).unlink()
    assert details(read_files(folder, "T")) == [f"{name}: it is missing; write it again and judge again"]


@pytest.mark.parametrize("name", [FEEDBACK, SCOPE, RULES])
@pytest.mark.parametrize(
    ("raw", "why"),
    [
        (b'{"command": "make", "exit_c', "not JSON"),
        (b'{"command": "caf\xff", "exit_code": 0}\n', "not UTF-8"),
        (b"[]\n", "valid dictionary"),
        (b'"OK"\n', "valid dictionary"),
        (b"{}\n", "Field required"),
        (b"[" * 100_000, "nested too deeply"),
        (b'{"exit_code": ' + b"7" * 5000 + b"}\n", "too many digits"),
        (b'{"command": NaN}\n', "NaN is not a number"),
        (b'{"task_id": "T", "task_id": "U"}\n', "'task_id' stands in it twice"),
    ],
)
def test_a_damaged_file_blocks_with_the_reason(folder: Path, name: str, raw: bytes, why: str) -> None:
    (folder / name).write_bytes(raw)
    (said,) = details(read_files(folder, "T"))
    assert said.startswith(f"{name}: ")
    assert why in said


def test_a_feedback_file_that_ends_within_a_record_says_so(folder: Path) -> None:
    (folder / FEEDBACK).write_text(json.dumps(RECORD) + '\n{"command": "ma')
    found = read_files(folder, "T")
    assert "record 2: it is not JSON" in details(found)[0]
    assert "the file ends within it" in details(found)[0]
    assert found.feedback == ()


@pytest.mark.parametrize("code", ["0", True, False, 0.0, [0], {}])
def test_an_exit_code_that_is_no_whole_number_blocks(folder: Path, code: object) -> None:
    (folder / FEEDBACK).write_text(json.dumps({**RECORD, "exit_code": code}))
    assert "exit_code" in details(read_files(folder, "T"))[0]


def test_an_exit_code_that_was_left_out_blocks_and_null_is_kept_for_the_judge(folder: Path) -> None:
    (folder / FEEDBACK).write_text(json.dumps({"command": "make"}))
    assert "exit_code: Field required" in details(read_files(folder, "T"))[0]
    (folder / FEEDBACK).write_text(json.dumps({"command": "make", "exit_code": None}))
    assert read_files(folder, "T").feedback == (FeedbackRecord("make", None),)


def test_an_empty_feedback_file_holds_no_record_and_a_command_has_a_name(folder: Path) -> None:
    (folder / FEEDBACK).write_text("\n \n")
    assert read_files(folder, "T").feedback == ()
    (folder / FEEDBACK).write_text(json.dumps({**RECORD, "command": ""}))
    assert details(read_files(folder, "T"))


def test_fields_that_nobody_reads_are_shown(folder: Path) -> None:
    (folder / SCOPE).write_text(json.dumps({**GOOD_SCOPE, "forbiden_writes": [".env"]}))
    found = read_files(folder, "T")
    assert details(found) == []
    assert details(found, Severity.WARN) == ["scope_report.json: fields that are not read: forbiden_writes"]


@pytest.mark.parametrize("name", [SCOPE, RULES, FEEDBACK])
def test_a_file_about_another_task_blocks(folder: Path, name: str) -> None:
    document = json.loads((folder / name).read_text())
    (folder / name).write_text(json.dumps({**document, "task_id": "other"}))
    assert "about task other" in details(read_files(folder, "T"))[0]
    (folder / name).write_text(json.dumps({**document, "task_id": "T"}))
    assert details(read_files(folder, "T")) == []


def test_fifty_megabytes_are_not_read(folder: Path) -> None:
    with (folder / FEEDBACK).open("wb") as file:
        file.truncate(50 * 1024**2)
    assert str(LARGEST_FILE) in details(read_files(folder, "T"))[0]


def test_a_link_a_pipe_and_a_folder_are_no_files(folder: Path) -> None:
    (folder / "elsewhere").write_text((folder / FEEDBACK).read_text())
    for name in (FEEDBACK, SCOPE, RULES):
        (folder / name).unlink()
    (folder / FEEDBACK).symlink_to(folder / "elsewhere")
    os.mkfifo(folder / SCOPE)
    (folder / RULES).mkdir()
    found = details(read_files(folder, "T"))
    assert [said.partition("; ")[0] for said in found] == [
        f"{name}: it is not a plain file" for name in (FEEDBACK, SCOPE, RULES)
    ]


@pytest.mark.parametrize("pattern", ["/etc", "a/../../b", "..", "~/x"])
def test_an_allowed_path_that_leaves_the_repository_blocks(folder: Path, pattern: str) -> None:
    (folder / SCOPE).write_text(json.dumps({**GOOD_SCOPE, "allowed_files": [pattern, "./src/"]}))
    found = read_files(folder, "T")
    assert "allowed_files" in details(found)[0]
    assert found.scope.allowed_files == ("src",)


def test_a_secret_in_what_a_command_said_is_not_kept(folder: Path) -> None:
    key = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" + "k1L2m3N4o5P6q7R8"
    (folder / FEEDBACK).write_text(json.dumps({**RECORD, "exit_code": 1, "stderr": f"bad token {key}"}))
    (record,) = read_files(folder, "T").feedback
    assert key not in record.stderr
