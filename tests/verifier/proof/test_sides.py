"""Which files are test side, and copies of trees in which trials are made."""

from __future__ import annotations

import os
from pathlib import Path

from agent_fox.verifier.proof.sides import copied, files_of, made_by_tests, rewritten, stamps_of_tests


def test_what_tests_wrote_beside_themselves_was_never_committed(tmp_path: Path) -> None:
    put = {"tests/test_a.py": "", "tests/snapshots/old.txt": "", "src/a.py": ""}
    later = {"tests/snapshots/new.txt": "", "dist/a.js": "", "tests/__pycache__/test_a.pyc": ""}
    for name, text in put.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    there = files_of(tmp_path)
    for name, text in later.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    assert made_by_tests(tmp_path, there) == ("tests/snapshots/new.txt",)
    assert made_by_tests(tmp_path, None) == ()
    copied(tmp_path, tmp_path / "copy", ["tests/snapshots/new.txt"])
    assert (tmp_path / "copy/dist/a.js").exists()
    assert (tmp_path / "copy/tests/snapshots/old.txt").exists()
    assert not (tmp_path / "copy/tests/snapshots/new.txt").exists()


def test_a_file_of_tests_that_is_written_anew_is_seen_whatever_its_time_says(tmp_path: Path) -> None:
    names = ("tests/a.txt", "tests/b.txt", "tests/c.txt", "src/a.py")
    for name in names:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("1")
    before = stamps_of_tests(tmp_path, names)
    assert before.keys() == {"tests/a.txt", "tests/b.txt", "tests/c.txt"}
    assert rewritten(tmp_path, before) == frozenset()
    was = (tmp_path / "tests/a.txt").stat()
    (tmp_path / "tests/a.txt").write_text("1")
    os.utime(tmp_path / "tests/a.txt", ns=(was.st_atime_ns, was.st_mtime_ns))
    (tmp_path / "tests/b.txt").unlink()
    (tmp_path / "src/a.py").write_text("2")
    assert rewritten(tmp_path, before) == {"tests/a.txt", "tests/b.txt"}
