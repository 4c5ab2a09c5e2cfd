"""`agent-fox plan` on specs that are broken: a line for each trouble, an exit code, JSON that can be read."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.program import repository, said, start
from tests.cli.specs.test_plan import write_spec

Breaks = Callable[[Path], object]


def instead(file: Path) -> Path:
    """The place of a file that is gone."""
    file.unlink()
    return file


TASKS = "01_sum/tasks.md"
TROUBLES: dict[str, tuple[str, Breaks, str]] = {
    "a merge left marks": (
        TASKS,
        lambda file: file.write_text(f"<<<<<<< HEAD\n{file.read_text()}\n=======\n>>>>>>> other\n"),
        "a merge conflict was left here",
    ),
    "binary": (TASKS, lambda file: file.write_bytes(b"\x7fELF\x00\x01"), "is a binary file"),
    "UTF-16": (TASKS, lambda file: file.write_bytes("# A".encode("utf-16")), "UTF-8"),
    "too large": (TASKS, lambda file: os.truncate(file, 50_000_000), "50,000,000 bytes"),
    "a folder": (TASKS, lambda file: instead(file).mkdir(), "is not a plain file"),
    "a pipe": (TASKS, lambda file: os.mkfifo(instead(file)), "is not a plain file"),
    "a device": (TASKS, lambda file: instead(file).symlink_to("/dev/zero"), "is not a plain file"),
    "a link in a circle": (TASKS, lambda file: instead(file).symlink_to(file), "can't be read"),
    "two dialects": (
        "01_sum",
        lambda folder: (folder / "spec.md").write_text("# Feature Specification: Sum\n"),
        "holds documents of",
    ),
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    specs = tmp_path / ".agent-fox" / "specs"
    write_spec(specs / "01_sum")
    write_spec(specs / "02_good")
    return repository(tmp_path)


def broken(root: Path, trouble: str) -> tuple[str, str]:
    """Break the first spec: where that is, and what is to be said of it."""
    place, breaks, words = TROUBLES[trouble]
    breaks(root / ".agent-fox" / "specs" / place)
    return f".agent-fox/specs/{place}", words


@pytest.mark.parametrize("trouble", TROUBLES)
def test_a_trouble_is_a_line_that_names_the_place_and_the_good_spec_is_still_shown(trouble: str, root: Path) -> None:
    where, words = broken(root, trouble)
    done = start(root, "plan")
    lines = [line for line in (done.stdout + done.stderr).splitlines() if words in line]
    assert done.returncode == 1
    assert len(lines) == 1
    assert where in lines[0]
    assert "02_good (agent-fox)" in done.stdout
    assert "Traceback" not in done.stdout + done.stderr


@pytest.mark.parametrize("trouble", TROUBLES)
def test_a_program_gets_the_trouble_in_one_json_document(trouble: str, root: Path) -> None:
    where, words = broken(root, trouble)
    done = start(root, "plan", "--json")
    document = json.loads(done.stdout)
    found = [problem for problem in document["problems"] if words in problem["what"]]
    assert done.returncode == 1
    assert [problem["severity"] for problem in found] == ["error"]
    assert found[0]["where"].startswith(where)
    assert "02_good" in [spec["name"] for spec in document["specs"]]


def test_all_troubles_of_a_repository_are_told_at_once(root: Path) -> None:
    specs = root / ".agent-fox" / "specs"
    for number, trouble in enumerate(name for name in TROUBLES if name != "two dialects"):
        write_spec(specs / f"1{number}_bad")
        TROUBLES[trouble][1](specs / f"1{number}_bad" / "tasks.md")
    document = json.loads(start(root, "plan", "--json").stdout)
    named = {problem["where"].split("/")[2] for problem in document["problems"] if problem["severity"] == "error"}
    assert named >= {f"1{number}_bad" for number in range(len(TROUBLES) - 1)}
    assert {spec["name"] for spec in document["specs"]} >= {"01_sum", "02_good"}


def test_nothing_but_broken_specs_is_no_traceback(root: Path) -> None:
    for folder in (root / ".agent-fox" / "specs").iterdir():
        (folder / "tasks.md").write_bytes(b"\x00")
    done = start(root, "plan")
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert "01_sum/tasks.md" in done.stdout + done.stderr
    assert "02_good/tasks.md" in done.stdout + done.stderr


def test_an_empty_place_of_specs_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "specs").mkdir()
    done = start(repository(tmp_path), "plan")
    assert done.returncode == 1
    assert "no spec in" in said(done)


@pytest.mark.parametrize("name", ["03_a\nb", "03_a\x1b[31mb", "03_\u202eb"])
def test_a_folders_name_can_not_steer_the_terminal(name: str, root: Path) -> None:
    write_spec(root / ".agent-fox" / "specs" / name)
    done = start(root, "plan")
    assert "\x1b" not in done.stdout + done.stderr
    assert "03_a\nb" not in done.stdout
    assert "\u202e" not in done.stdout + done.stderr
    (said,) = json.loads(start(root, "plan", "--json").stdout)["problems"]
    assert (said["severity"], said["where"]) == ("error", f".agent-fox/specs/{name}")
