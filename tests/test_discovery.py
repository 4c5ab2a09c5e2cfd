"""Plugins are looked up once, and again as soon as what is installed changes."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent_fox import discovery
from agent_fox.discovery import Entry, cache_file, installed, remembered, stamp

GROUP = "agent_fox"


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that packages are installed in, and nothing else."""
    folder = tmp_path / "site"
    folder.mkdir()
    monkeypatch.setattr("sys.path", [str(folder)])
    return folder


def install(site: Path, name: str, *entries: str) -> None:
    info = site / f"{name}-1.dist-info"
    info.mkdir(exist_ok=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1\n")
    (info / "entry_points.txt").write_text("\n".join([f"[{GROUP}]", *entries]))


def environ(tmp_path: Path) -> dict[str, str]:
    (tmp_path / "cache").mkdir(exist_ok=True)
    return {"XDG_CACHE_HOME": str(tmp_path / "cache")}


def test_what_was_found_once_is_not_looked_up_again(
    site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(site, "notes", "notes = notes_plugin:PLUGIN")
    found = installed(GROUP, environ(tmp_path))
    assert found == (Entry("notes", "notes_plugin:PLUGIN", "notes"),)
    monkeypatch.setattr(discovery, "looked_up", lambda group: pytest.fail("looked up again"))
    assert installed(GROUP, environ(tmp_path)) == found


def test_a_plugin_that_is_installed_after_none_was_remembered_is_seen_at_once(site: Path, tmp_path: Path) -> None:
    assert installed(GROUP, environ(tmp_path)) == ()
    install(site, "late", "late = late_plugin")
    assert [entry.plugin for entry in installed(GROUP, environ(tmp_path))] == ["late (late)"]


def test_entry_points_that_are_rewritten_in_place_are_seen_at_once(site: Path, tmp_path: Path) -> None:
    install(site, "notes")
    assert installed(GROUP, environ(tmp_path)) == ()
    install(site, "notes", "notes = notes_plugin")
    assert [entry.name for entry in installed(GROUP, environ(tmp_path))] == ["notes"]
    install(site, "notes")
    assert installed(GROUP, environ(tmp_path)) == ()


def test_a_folder_that_joins_the_path_is_seen_at_once(
    site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert installed(GROUP, environ(tmp_path)) == ()
    install(tmp_path, "other", "other = other_plugin")
    monkeypatch.setattr("sys.path", [str(site), str(tmp_path)])
    assert [entry.name for entry in installed(GROUP, environ(tmp_path))] == ["other"]


def test_one_file_is_kept_however_many_paths_there_were(
    site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(3):
        monkeypatch.setattr("sys.path", [str(site), str(tmp_path / str(number))])
        assert installed(GROUP, environ(tmp_path)) == ()
    assert len(list((tmp_path / "cache/agent-fox").iterdir())) == 1


BROKEN = (
    *("", "{", "[]", '{"stamp": "STAMP"}', '{"stamp": "STAMP", "entries": 1}'),
    *('{"stamp": "STAMP", "entries": [["a"]]}', '{"stamp": "STAMP", "entries": [[1, 2, 3]]}'),
)


@pytest.mark.parametrize("content", BROKEN)
def test_a_cache_that_cannot_be_read_is_made_anew(site: Path, tmp_path: Path, content: str) -> None:
    install(site, "notes", "notes = notes_plugin")
    found, file = installed(GROUP, environ(tmp_path)), cache_file(environ(tmp_path))
    assert file is not None
    file.write_text(content.replace("STAMP", stamp([str(site)])))
    assert installed(GROUP, environ(tmp_path)) == found
    assert remembered(file, stamp([str(site)])) == found


def test_where_nothing_can_be_written_plugins_are_found_all_the_same(site: Path, tmp_path: Path) -> None:
    install(site, "notes", "notes = notes_plugin")
    (tmp_path / "file").write_text("in the way")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "agent-fox").write_text("in the way")
    for place in ("relative", str(tmp_path / "file"), str(tmp_path / "full"), str(tmp_path / "absent")):
        assert [entry.name for entry in installed(GROUP, {"XDG_CACHE_HOME": place})] == ["notes"]
    assert [entry.name for entry in installed(GROUP, {"HOME": str(tmp_path)})] == ["notes"]
    assert [entry.name for entry in installed(GROUP, {})] == ["notes"]
    assert not (tmp_path / "absent").exists()
    assert not (tmp_path / ".cache").exists()
