"""The first contact with real projects: the data file can be used, and a made project is met as a real one would be."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tools import contact
from tools.contact import Project, Way, chosen, main, parser, plain_text, planted_text, read_pinned, table, word

WAYS, PROJECTS = read_pinned(contact.PINNED)
GROUPS = {"Python": 20, "JavaScript and TypeScript": 15, "Go": 5, "Rust": 5, "Java": 5, "C and C++": 5, "Monorepos": 5}
WAY = Way(
    failing="def test_planted():\n    assert 0\n", broken="(\n", weaken=[[r"^( +)assert (\w+) == .+$", r"\1assert \2"]]
)
PROJECT = Project("made", "Python", "pytest", "made/made", "HEAD", "true", "test_it.py", "it.py")
CALM = {"code": 0, "crash": "", "is_unable": False}


def test_enough_projects_of_each_kind_are_pinned_by_commit() -> None:
    for group, fewest in GROUPS.items():
        assert sum(project.group == group for project in PROJECTS) >= fewest
    assert {len(project.commit) for project in PROJECTS} == {40}


def test_what_is_planted_stands_on_the_lines_that_are_told() -> None:
    text = "def test_it():\n    x = 1\n    assert x == 1\n"
    appended, lines = planted_text(text, "failing", PROJECT, WAY) or ("", range(0))
    assert appended.splitlines()[lines.start - 1 : lines.stop - 1] == ["def test_planted():", "    assert 0"]
    edited, lines = planted_text(text, "weakened", PROJECT, WAY) or ("", range(0))
    assert (edited.splitlines()[lines.start - 1], len(lines)) == ("    assert x", 1)
    assert planted_text("x = 1\n", "weakened", PROJECT, WAY) is None
    assert planted_text(text, "linted", PROJECT, WAY) is None


def test_a_text_with_line_ends_of_windows_is_read_without_them_and_written_with_them() -> None:
    assert plain_text("a\r\nb\r\n") == ("a\nb\n", "\r\n")
    assert plain_text("a\r\nb\n") == ("a\r\nb\n", "\n")
    assert plain_text("a\n") == ("a\n", "\n")


def test_parts_share_the_projects_and_a_name_that_is_not_there_is_said() -> None:
    parts = [chosen(PROJECTS, parser().parse_args(["--part", f"{number}/3"])) for number in (1, 2, 3)]
    assert sorted(project.name for part in parts for project in part) == sorted(project.name for project in PROJECTS)
    assert {project.group for project in chosen(PROJECTS, parser().parse_args(["--only", "Go", "click"]))} == {
        "Go",
        "Python",
    }
    with pytest.raises(SystemExit, match="nowhere: neither a project nor a group"):
        chosen(PROJECTS, parser().parse_args(["--only", "nowhere"]))


@pytest.mark.parametrize(
    ("hand", "said", "expected"),
    [
        (0, CALM, contact.PASSED),
        (1, CALM, contact.TOO_KIND),
        (1, {**CALM, "code": 2}, contact.AGREED),
        (0, {**CALM, "code": 2}, contact.WRONG),
        (0, {**CALM, "code": 2, "is_unable": True}, contact.UNABLE_WORD),
        (0, {**CALM, "code": None}, contact.BROKEN),
        (0, {**CALM, "crash": "KeyError"}, contact.BROKEN),
    ],
)
def test_what_is_said_is_held_against_the_projects_own_command(
    hand: int, said: dict[str, object], expected: str
) -> None:
    assert word({"hand": hand}, said) == expected


def test_a_made_project_is_met_once_and_each_planted_thing_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}:{os.environ['PATH']}")
    repo = tmp_path / "sources" / "made"
    repo.mkdir(parents=True)
    (repo / "it.py").write_text("def one():\n    return 1\n")
    (repo / "test_it.py").write_text("from it import one\n\n\ndef test_one():\n    assert one() == 1\n")
    for line in (["init", "-q"], ["add", "-A"], ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "made"]):
        subprocess.run(["git", *line], cwd=repo, check=True)
    commit = subprocess.run(["git", "rev-parse", "HEAD"], cwd=repo, check=True, capture_output=True, text=True)
    pinned = tmp_path / "contact.toml"
    row = {"name": "made", "group": "Python", "way": "pytest", "repo": "made/made", "commit": commit.stdout.strip()}
    row |= {"hand": "python3 -m compileall -q .", "tests": "test_it.py", "source": "it.py"}
    ways = contact.PINNED.read_text(encoding="utf-8").partition("\n[[project]]")[0]
    pinned.write_text(ways + "\n[[project]]\n" + "".join(f'{name} = "{value}"\n' for name, value in row.items()))
    monkeypatch.setattr(contact, "PINNED", pinned)
    words = [f"--{name}={tmp_path / name}" for name in ("folder", "sources", "rows")]
    main([*words, "--install"])
    (tmp_path / "folder" / "made" / "checkout" / "it.py").write_text("left by a run that was ended: (\n")
    assert main(words) == 0
    met = json.loads((tmp_path / "rows").read_text())
    found = {
        "failing": contact.FOUND,
        "broken": contact.FOUND,
        "linted": contact.NOT_OFFERED,
        "weakened": contact.FOUND,
    }
    assert (met["state"], met["hand"], met["clean"]["code"], met["planted"]) == (contact.MET, 0, 0, found)
    assert main(words) == 0
    assert (tmp_path / "rows").read_text().count("\n") == 1
    assert "not met yet: 0 of 1" in capsys.readouterr().out


def test_the_table_counts_what_could_not_be_met() -> None:
    row = {"name": PROJECTS[0].name, "state": contact.NOT_INSTALLED, "told": "no", "crashes": []}
    lines = list(table([row], PROJECTS[:2]))
    assert lines[2].split(" | ")[1:5] == ["2", "0", "1", "0"]


def test_an_answer_that_does_not_come_is_not_taken_for_a_miss(tmp_path: Path) -> None:
    (tmp_path / "it.py").write_text("one = 1\n")
    found, seen, said = contact.looked_for("broken", PROJECT, WAY, tmp_path, 0.0)
    assert (found, seen[1], said[0].code) == (contact.BROKEN, "did not end in time", None)
    assert (tmp_path / "it.py").read_text() == "one = 1\n"
