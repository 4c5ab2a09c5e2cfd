"""The report on a spec says what the state says: one file for people, written whole, written again when it is lost."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent_fox.engine.reports import spec_report
from agent_fox.engine.reports.spec_report import path_of
from tests.engine.reading_desk import CALC, PARTS, A, B, C, ReadingDesk, reading_desk

MIXED = {A: "FAIL", B: "PASS", C: "PERHAPS"}


@pytest.fixture
def desk(tmp_path: Path) -> ReadingDesk:
    return reading_desk(tmp_path, [CALC])


def report(desk: ReadingDesk, repo: Path) -> str:
    spec_report.follow(desk.docket(), repo, desk.node("01_calc:2"))
    return path_of(repo, "01_calc").read_text()


def test_each_requirement_stands_in_it_with_its_verdict_its_commit_and_its_session(
    desk: ReadingDesk, tmp_path: Path
) -> None:
    desk.read(MIXED)
    lines = report(desk, tmp_path).splitlines()
    assert lines[0] == "# Verification of 01_calc"
    assert lines[2] == "**Overall: FAIL**, 1 of 3 requirements pass: 1 judged."
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines if line.startswith("| 01-REQ")][:3]
    assert [row[:3] for row in rows] == [[A, "FAIL", ""], [B, "PASS", "judged"], [C, "UNKNOWN", ""]]
    assert {(row[4], row[5]) for row in rows} == {("`c1`", "`01_calc:2@1.1`")}


def test_what_fails_stands_there_in_its_own_words_with_what_was_seen(desk: ReadingDesk, tmp_path: Path) -> None:
    desk.read(MIXED)
    text = report(desk, tmp_path)
    assert f"### {A}: FAIL\n\n> text of {A}\n\nWhat was seen:\n\n```text\nsaw {A}\n```" in text
    assert "verifier `01_calc:2`: escalated: attempts spent" in text


def test_what_passes_stands_there_in_its_own_words_too(desk: ReadingDesk, tmp_path: Path) -> None:
    """An id such as 1.2 says nothing by itself."""
    desk.read(MIXED)
    assert f"\n| {B} | text of {B} | saw {B} |\n" in report(desk, tmp_path)


@pytest.mark.parametrize(
    ("words", "overall"),
    [
        (dict.fromkeys(PARTS, "PASS"), "PASS"),
        ({**dict.fromkeys(PARTS, "PASS"), B: "FAIL"}, "FAIL"),
        ({**dict.fromkeys(PARTS, "PASS"), B: "perhaps"}, "UNKNOWN"),
        ({A: "PASS", B: "PASS"}, "UNKNOWN"),
    ],
)
def test_overall_is_pass_only_where_everything_passes(
    desk: ReadingDesk, tmp_path: Path, words: dict[str, str], overall: str
) -> None:
    desk.read(words)
    assert f"**Overall: {overall}**" in report(desk, tmp_path)


def test_a_waiver_is_named_and_is_no_pass(desk: ReadingDesk, tmp_path: Path) -> None:
    desk.waived = frozenset({C})
    desk.read({A: "PASS", B: "PASS", C: "FAIL"})
    text = report(desk, tmp_path)
    assert "**Overall: WAIVED**, 2 of 3 requirements pass: 2 judged." in text
    assert "## Waivers in force\n\n- 01-REQ-1.3 waived by alice" in text


def test_a_lost_report_is_written_again_as_it_was(desk: ReadingDesk, tmp_path: Path) -> None:
    desk.read(MIXED)
    before = report(desk, tmp_path)
    path_of(tmp_path, "01_calc").unlink()
    spec_report.publish_all(desk.docket(), tmp_path)
    assert path_of(tmp_path, "01_calc").read_text() == before


def test_what_a_person_wrote_into_it_gives_way_to_what_the_state_says(desk: ReadingDesk, tmp_path: Path) -> None:
    desk.read(MIXED)
    before = report(desk, tmp_path)
    path_of(tmp_path, "01_calc").write_text("**Overall: PASS**")
    assert report(desk, tmp_path) == before


def test_a_report_that_says_so_already_is_not_touched(desk: ReadingDesk, tmp_path: Path) -> None:
    desk.read(MIXED)
    report(desk, tmp_path)
    before = path_of(tmp_path, "01_calc").stat()
    report(desk, tmp_path)
    assert path_of(tmp_path, "01_calc").stat() == before


def test_what_was_never_read_has_no_report(desk: ReadingDesk, tmp_path: Path) -> None:
    spec_report.publish_all(desk.docket(), tmp_path)
    assert not path_of(tmp_path, "01_calc").exists()


def test_git_does_not_see_it(desk: ReadingDesk, tmp_path: Path) -> None:
    desk.read(MIXED)
    report(desk, tmp_path)
    assert (tmp_path / ".agent-fox" / "verification" / ".gitignore").read_text() == "*\n"


def test_a_folder_that_is_a_link_is_not_followed(desk: ReadingDesk, tmp_path: Path) -> None:
    desk.read(MIXED)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    path_of(tmp_path, "01_calc").parent.parent.mkdir(parents=True)
    path_of(tmp_path, "01_calc").parent.symlink_to(elsewhere)
    spec_report.publish_all(desk.docket(), tmp_path)
    assert list(elsewhere.iterdir()) == []


def test_evidence_cannot_become_part_of_the_report() -> None:
    hostile = "```\n# Verification\n\n**Overall: PASS**\n| x | y |"
    text = spec_report.block(A, "FAIL", spec_report.Given("text", hostile, ""))
    assert text.endswith(f"````text\n{hostile}\n````")


def test_a_link_in_the_place_of_all_reports_is_not_followed(desk: ReadingDesk, tmp_path: Path) -> None:
    desk.read(MIXED)
    elsewhere = tmp_path / "elsewhere"
    (elsewhere / "01_calc").mkdir(parents=True)
    folder = path_of(tmp_path, "01_calc").parent.parent
    folder.parent.mkdir(exist_ok=True)
    folder.symlink_to(elsewhere)
    spec_report.follow(desk.docket(), tmp_path, desk.node("01_calc:2"))
    assert [path.name for path in elsewhere.rglob("*")] == ["01_calc"]
