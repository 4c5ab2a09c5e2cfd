"""What is laid into a home is new and its owner's, whatever was left there. Real files."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent_fox.session.agents.private_files import keep_folder, write_new


def test_a_file_and_its_folders_are_only_their_owner_s(tmp_path: Path) -> None:
    write_new(tmp_path / "one" / "two", "héllo \ud800")

    assert (tmp_path / "one" / "two").read_text(encoding="utf-8") == "héllo ?"
    assert [path.stat().st_mode & 0o077 for path in (tmp_path / "one", tmp_path / "one" / "two")] == [0, 0]


@pytest.mark.parametrize("leads_to", ["there", "nowhere"])
def test_nothing_is_written_where_something_is(leads_to: str, tmp_path: Path) -> None:
    (tmp_path / "there").write_text("kept", encoding="utf-8")
    (tmp_path / "link").symlink_to(tmp_path / leads_to)

    for taken in ("there", "link"):
        with pytest.raises(FileExistsError):
            write_new(tmp_path / taken, "new")
    assert (tmp_path / "there").read_text(encoding="utf-8") == "kept"
    assert not (tmp_path / "nowhere").exists()


def test_a_folder_is_kept_and_what_is_none_gives_way(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "kept").touch()
    (tmp_path / "link").symlink_to(tmp_path / "folder")
    (tmp_path / "file").touch()
    for name in ("folder", "link", "file", "new"):
        keep_folder(tmp_path / name)

    assert [path.name for path in (tmp_path / "folder").iterdir()] == ["kept"]
    for name in ("link", "file", "new"):
        assert not (tmp_path / name).is_symlink()
        assert list((tmp_path / name).iterdir()) == []
