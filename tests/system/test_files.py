"""Files that others touch: what is replaced is there whole, and what became something else is not read."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from agent_fox.system.files import (
    NotRegular,
    content_in,
    last_lines,
    open_regular,
    read_regular,
    remove_tree,
    replace_file,
    replacing,
)


def test_a_file_is_replaced_with_its_folder_made_and_nothing_left_beside(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "note.json"
    replace_file(path, "öne\n")
    replace_file(path, b"two\n", is_durable=False)
    assert path.read_bytes() == b"two\n"
    assert [each.name for each in path.parent.iterdir()] == ["note.json"]


def test_permissions_are_those_asked_for_whatever_the_umask(tmp_path: Path) -> None:
    before = os.umask(0o077)
    try:
        replace_file(tmp_path / "open", "", 0o644)
        replace_file(tmp_path / "plain", "")
    finally:
        os.umask(before)
    assert [stat.S_IMODE((tmp_path / name).stat().st_mode) for name in ("open", "plain")] == [0o644, 0o600]


def test_a_link_is_replaced_and_what_it_leads_to_stays(tmp_path: Path) -> None:
    (tmp_path / "real").write_text("theirs")
    (tmp_path / "link").symlink_to("real")
    replace_file(tmp_path / "link", "ours")
    assert [(tmp_path / name).read_text() for name in ("real", "link")] == ["theirs", "ours"]
    assert not (tmp_path / "link").is_symlink()


def test_what_was_there_stays_where_writing_fails(tmp_path: Path) -> None:
    (tmp_path / "note").write_text("before")
    with pytest.raises(UnicodeEncodeError):
        replace_file(tmp_path / "note", "\ud800")
    (tmp_path / "folder").mkdir()
    with pytest.raises(OSError, match="folder"):
        replace_file(tmp_path / "folder", "text")
    assert (tmp_path / "note").read_text() == "before"
    assert sorted(each.name for each in tmp_path.iterdir()) == ["folder", "note"]


def test_what_was_there_stays_where_the_block_that_replaces_it_raises(tmp_path: Path) -> None:
    note = tmp_path / ("ö" * 120)
    note.write_text("before")
    with pytest.raises(TypeError), replacing(note) as file:
        file.writelines((b"after", 1))  # type: ignore[arg-type]
    assert [each.read_text() for each in tmp_path.iterdir()] == ["before"]
    with replacing(note) as file:
        file.write(b"after")
    assert [each.read_text() for each in tmp_path.iterdir()] == ["after"]


@pytest.mark.parametrize("kind", ["link", "pipe", "folder", "absent"])
def test_only_a_regular_file_is_read(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "it"
    (tmp_path / "real").write_text("text")
    if kind == "link":
        path.symlink_to("real")
    elif kind == "pipe":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    with pytest.raises(NotRegular if kind in ("pipe", "folder") else OSError):
        open_regular(path)
    assert read_regular(path, 10) is None
    assert last_lines(path, 1) == []
    assert read_regular(tmp_path / "real", 2) == b"te"


@pytest.mark.parametrize(
    "name", ["out", "above", "loop", "pipe", "device", "folder", "absent", "../secret", "/etc/passwd"]
)
def test_of_a_tree_that_others_made_nothing_outside_of_it_is_read(tmp_path: Path, name: str) -> None:
    root = tmp_path / "tree"
    (root / "folder").mkdir(parents=True)
    (tmp_path / "secret").write_text("s3cr3t")
    (root / "own").write_text("text")
    os.mkfifo(root / "pipe")
    links: dict[str, str | Path] = {
        "out": tmp_path / "secret",
        "above": "..",
        "loop": "loop",
        "device": "/dev/zero",
        "in": "folder/../own",
    }
    for link, target in links.items():
        (root / link).symlink_to(target)
    assert content_in(root, name) is None
    assert content_in(root, "above/secret") is None
    assert (content_in(root, "own"), content_in(root, "in")) == (b"text", b"text")
    (tmp_path / "led").symlink_to(root)
    assert content_in(tmp_path / "led", "in") == b"text"


def test_a_tree_is_removed_however_deep_it_goes_and_whatever_was_made_unwritable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root, outside = tmp_path / "root", tmp_path / "outside"
    for folder in (root / "locked/in", outside):
        folder.mkdir(parents=True)
    (root / "locked/in/file").write_text("")
    (root / "link").symlink_to(outside)
    (root / "locked/in").chmod(0o500)
    (root / "locked").chmod(0)
    monkeypatch.chdir(root)
    for _ in range(1200):
        Path("deep").mkdir()
        os.chdir("deep")
        Path("file").write_text("")
    monkeypatch.chdir(tmp_path)
    remove_tree(root)
    assert [path.name for path in tmp_path.iterdir()] == ["outside"]
    remove_tree(root)
    root.symlink_to(outside)
    remove_tree(root)
    assert [path.name for path in tmp_path.iterdir()] == ["outside"]


def test_what_cannot_be_removed_is_told_or_may_stay(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="proc"):
        remove_tree(Path("/proc/self/task"))
    remove_tree(Path("/proc/self/task"), ignore_errors=True)
