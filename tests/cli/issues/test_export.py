"""`agent-fox issues export`: every issue as a file, nothing of a person's written over."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from agent_fox.cli.errors import UserError
from agent_fox.cli.issues.export import export, name_of
from agent_fox.cli.opening import reading
from agent_fox.store.issue_view import IssueView, read_issues
from agent_fox.testing.worlds import issue_files, run_cli
from tests.cli.conftest import Finished


@pytest.fixture
def issue(finished: Finished) -> IssueView:
    with reading(finished.root) as db:
        return read_issues(db)[0]


def test_every_issue_has_a_file_with_its_text_and_effects_and_the_index_names_it(
    finished: Finished, tmp_path: Path
) -> None:
    folder = tmp_path / "out"
    assert finished.tell("issues", "export", "--output", str(folder)) == f"wrote 1 issue to {folder}\n"
    index, page = sorted(folder.iterdir(), key=lambda path: path.name != "index.md")
    assert f"]({page.name})" in index.read_text()
    assert issue_files(finished.root)[0].read_text().strip() in page.read_text()
    assert "02_top/02-REQ-1.1  open" in page.read_text()


def test_as_json_the_files_hold_the_documents_of_show(finished: Finished, tmp_path: Path) -> None:
    done = json.loads(
        finished.tell("issues", "export", "--format", "json", "--output", str(tmp_path / "out"), "--json")
    )
    page, index = (json.loads(Path(path).read_text()) for path in done["files"])
    shown = json.loads(finished.tell("issues", "show", "1", "--json"))
    same = ("fingerprint", "number", "standing", "text", "members", "open_ids")
    assert {key: page[key] for key in same} == {key: shown[key] for key in same}
    assert [one["number"] for one in index["issues"]] == ["1"]


def test_an_export_again_writes_over_its_own_files(finished: Finished, tmp_path: Path) -> None:
    for _ in range(2):
        finished.tell("issues", "export", "--output", str(tmp_path))
        finished.tell("issues", "export", "--output", str(tmp_path), "--format", "json")
    assert len([*tmp_path.iterdir()]) == 4


def test_a_file_of_a_persons_is_left_alone_and_nothing_else_is_written(
    finished: Finished, issue: IssueView, tmp_path: Path
) -> None:
    mine = tmp_path / f"{name_of(issue)}.md"
    mine.write_text("my notes")
    done = run_cli(finished.root, "issues", "export", "--output", str(tmp_path))
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith(f"agent-fox: {mine}: not of an earlier export")
    assert [path.name for path in tmp_path.iterdir()] == [mine.name]
    assert mine.read_text() == "my notes"
    finished.tell("issues", "export", "--output", str(tmp_path), "--force")
    assert "my notes" not in mine.read_text()


def test_a_link_is_not_followed_even_when_forced(finished: Finished, tmp_path: Path) -> None:
    target, folder = tmp_path / "mine.md", tmp_path / "out"
    target.write_text("my notes")
    folder.mkdir()
    (folder / "index.md").symlink_to(target)
    done = run_cli(finished.root, "issues", "export", "--output", str(folder), "--force")
    assert (done.returncode, target.read_text()) == (1, "my notes")


def test_a_folder_that_cannot_be_made_is_told(finished: Finished, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    done = run_cli(finished.root, "issues", "export", "--output", str(tmp_path / "file"))
    assert done.returncode == 1
    assert "name a folder that can be written" in done.stderr


@pytest.mark.parametrize("title", ["../../etc/passwd", "a/b\\c", "", "ü" * 300, "CON", "a\x00b\n--x", "<script>"])
def test_no_title_leads_out_of_the_folder(issue: IssueView, tmp_path: Path, title: str) -> None:
    one = replace(issue, title=title)
    written = export(tmp_path, [(one, (), "text")], "markdown", tmp_path / "out", force=False)
    assert {path.parent for path in written} == {tmp_path / "out"}
    assert all(path.is_file() and len(path.name) < 80 for path in written)


def test_two_issues_of_one_title_have_a_file_each_that_stays_when_they_get_their_numbers(
    issue: IssueView, tmp_path: Path
) -> None:
    one, two = (replace(issue, fingerprint=print_) for print_ in ("aaaa1111bbbb2222", "cccc3333dddd4444"))
    unfiled = replace(one, number="", where="")
    assert len({name_of(one), name_of(two)}) == 2
    assert name_of(one) == name_of(unfiled)
    assert "not filed yet" in export(tmp_path, [(unfiled, (), "")], "markdown", tmp_path, force=False)[0].read_text()


def test_text_that_is_no_text_is_written_all_the_same(issue: IssueView, tmp_path: Path) -> None:
    for form in ("markdown", "json"):
        export(tmp_path, [(issue, (), "lone \ud800, NUL \x00, ]]>, ``` and <!-- -->")], form, tmp_path, force=False)
    assert json.loads((tmp_path / "index.json").read_text())["issues"]


def test_a_disk_that_fails_is_told_with_the_place(issue: IssueView, tmp_path: Path) -> None:
    (tmp_path / "index.md").mkdir()
    with pytest.raises(UserError, match=r"index\.md: no file"):
        export(tmp_path, [(issue, (), "")], "markdown", tmp_path, force=True)
