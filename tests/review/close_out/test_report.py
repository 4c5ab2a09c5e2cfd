"""The report of a close-out: its fields, its one path, and a newer one in its place."""

from __future__ import annotations

import json
import string
import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_fox.core.ledger.close_out import CloseOut, FeedbackRecord, FindingWaiver, RuleReport, judge
from agent_fox.review.close_out.report import (
    Judged,
    ReportTrouble,
    document_of,
    file_name,
    only_judge,
    read_report,
    summary,
    write_report,
)

AT = "2030-01-01T00:00:00.000Z"
RAN = (FeedbackRecord("make", 0),)


def judged(task: str = "T", *, rules: RuleReport | None = None, signed: bool = False) -> Judged:
    given = CloseOut(task, RAN, rules=rules or RuleReport())
    waivers = [
        FindingWaiver(one.check, one.detail_hash, "w1", "ada@example.org", "it is a template")
        for one in judge(given).blocking
        if signed
    ]
    return Judged(judge(given, waivers), AT, "tree", "commit", "record")


def test_a_report_has_the_fields_of_the_seed_and_what_it_is_about() -> None:
    assert document_of(judged(rules=RuleReport(("r",), ("s",)))) == {
        "version": 1,
        "task_id": "T",
        "passed": False,
        "findings": [
            {
                "check": "rule_block", "severity": "block", "detail": "Rule 'r' failed at block severity",
                "detail_hash": "268e5a4b31b60a48", "waived_by": None,
            },
            {
                "check": "rule_warn", "severity": "warn", "detail": "Rule 's' failed at warn severity",
                "detail_hash": "4c81e9b75d2b6c97", "waived_by": None,
            },
        ],
        "warnings": 1,
        "override_reason": None,
        "overridden_by": None,
        "waivers": [],
        "timestamp": AT,
        "tree": "tree",
        "commit": "commit",
        "limitation": "",
        "record": "record",
    }  # fmt: skip


def test_what_a_person_signed_for_stays_in_the_report_with_who_and_why() -> None:
    document = document_of(judged(rules=RuleReport(("r",)), signed=True))
    assert (document["passed"], document["override_reason"], document["overridden_by"]) == (
        True, "it is a template", "ada@example.org",
    )  # fmt: skip
    assert json.dumps(document["findings"]).count('"waived_by": "w1"') == 1


@pytest.mark.parametrize("task", ["T1", "task-7", "04_gateway:2@1", "a.b", "TASK_1"])
def test_the_report_of_a_plain_name_has_that_name(task: str) -> None:
    assert file_name(task) == f"{task}.json"


@pytest.mark.parametrize(
    "task", ["..", ".", "../../etc/passwd", "/etc/passwd", "a/b", "a\\b", "-x", ".hidden", "a\nb", "é", "x" * 999]
)
def test_no_name_leaves_the_folder(task: str, tmp_path: Path) -> None:
    name = file_name(task)
    assert (tmp_path / name).parent == tmp_path
    assert not name.startswith((".", "-"))
    assert len(name) < 255
    assert set(name) <= set(string.ascii_letters + string.digits + "_:@+,=.-%~")


@given(st.text(min_size=1, max_size=60), st.text(min_size=1, max_size=60))
def test_no_two_tasks_share_a_name(one: str, other: str) -> None:
    assert (file_name(one) == file_name(other)) is (one == other)


def test_long_names_and_names_that_look_like_a_coded_one_stay_apart() -> None:
    long = "x" * 300
    assert file_name(long) != file_name(f"{long}y")
    assert file_name("a%2Fb") != file_name("a/b")


def test_a_newer_report_takes_the_place_of_the_older_and_nothing_else_is_left(tmp_path: Path) -> None:
    write_report(tmp_path, document_of(judged(rules=RuleReport(("r",)))))
    path = write_report(tmp_path, document_of(judged()))
    assert [entry.name for entry in tmp_path.iterdir()] == ["T.json"]
    assert json.loads(path.read_text())["passed"] is True


def test_a_link_in_the_place_of_a_report_is_replaced_and_not_followed(tmp_path: Path) -> None:
    (tmp_path / "precious").write_text("keep me")
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "T.json").symlink_to(tmp_path / "precious")
    path = write_report(tmp_path / "out", document_of(judged()))
    assert (path.is_symlink(), (tmp_path / "precious").read_text()) == (False, "keep me")


def test_the_report_of_another_task_is_never_replaced(tmp_path: Path) -> None:
    path = tmp_path / "T.json"
    path.write_text(json.dumps({"task_id": "t"}))  # as on a file system that knows no case
    with pytest.raises(ReportTrouble, match="report of task 't'"):
        write_report(tmp_path, document_of(judged()))


def test_a_folder_that_cannot_be_made_or_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ReportTrouble, match="file"), only_judge(tmp_path / "file"):
        pass
    (tmp_path / "T.json").mkdir()
    with pytest.raises(ReportTrouble, match=r"T\.json"):
        write_report(tmp_path, document_of(judged()))


def test_what_is_no_report_is_read_as_nothing(tmp_path: Path) -> None:
    assert read_report(tmp_path / "T.json") is None
    for text in ("", "{", "[]", "null"):
        (tmp_path / "T.json").write_text(text)
        assert read_report(tmp_path / "T.json") == {}


def test_only_one_judges_into_a_folder_at_a_time(tmp_path: Path) -> None:
    seen: list[str] = []

    def other() -> None:
        with only_judge(tmp_path):
            seen.append("other")

    with only_judge(tmp_path):
        thread = threading.Thread(target=other)
        thread.start()
        thread.join(0.2)
        seen.append("first")
    thread.join()
    assert seen == ["first", "other"]


def test_the_summary_shows_every_finding_and_foreign_text_stays_in_its_cell() -> None:
    rules = RuleReport(("a | b\n# heading <img> [x](y) @ada",), ("w",))
    text = summary(judged(rules=rules))
    assert "### Close-out of `T`: blocked, 1 warning(s)" in text
    (row,) = (line for line in text.splitlines() if line.startswith("| block"))
    assert "a \\| b # heading &lt;img> \\[x](y) @\u200bada" in row
    assert "| warn | rule_warn |" in text
    assert "waived by ada" in summary(judged(rules=RuleReport(("r",)), signed=True))
