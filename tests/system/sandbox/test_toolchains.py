"""Which folders a sandbox shows for tools: what is installed, never what is a person's own."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent_fox.system.sandbox.toolchains import caches, executable, folders


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    place = (tmp_path / "home").resolve()
    place.mkdir()
    monkeypatch.setenv("HOME", str(place))
    return place


def program(path: Path, text: str = "#!/bin/sh\n") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return path


def shown(home: Path, *search_path: str, argv0: str = "true", cwd: Path | None = None) -> set[str]:
    found = folders(argv0, cwd or home, {"PATH": ":".join([*(str(home / entry) for entry in search_path), "/usr/bin"])})
    return {str(folder.relative_to(home.parent)) for folder in found}


def test_a_folder_of_scripts_is_shown_without_what_lies_around_it(home: Path) -> None:
    program(home / "scripts/bin/tool")
    (home / "scripts/notes").mkdir()
    assert shown(home, "scripts/bin") == {"home/scripts/bin"}


@pytest.mark.parametrize("mark", ["lib", "libexec", "pyvenv.cfg", "VERSION"])
def test_an_installed_tool_is_shown_whole(home: Path, mark: str) -> None:
    program(home / "node/bin/node")
    program(home / "node" / mark)
    assert shown(home, "node/bin") == {"home/node"}


@pytest.mark.parametrize(
    "entry", [".", "..", "bin", "bin/..", "../link", ".local/bin", ".config/tool/bin", "missing/bin"]
)
def test_a_home_is_never_shown_whole(home: Path, entry: str) -> None:
    (home.parent / "link").symlink_to(home)
    for folder in ("bin", "lib", ".local/bin", ".local/lib", ".local/share/keyrings", ".config/tool/bin"):
        (home / folder).mkdir(parents=True)
    assert shown(home, entry) <= {"home/bin", "home/.local/bin", "home/.local/lib"}


def test_a_virtual_environment_shows_the_python_that_it_was_made_from(home: Path) -> None:
    python = program(home / "pythons/3.11/bin/python3.11")
    (home / "pythons/3.11/lib").mkdir()
    program(home / "work/.venv/pyvenv.cfg")
    program(home / "work/.venv/bin/pytest", f"#!{home}/work/.venv/bin/python\n")
    (home / "work/.venv/bin/python").symlink_to("python3.11")
    (home / "work/.venv/bin/python3.11").symlink_to(python)
    seen = shown(home, argv0=".venv/bin/pytest", cwd=home / "work")
    assert seen == {"home/pythons/3.11", "home/work/.venv"}


def test_a_script_cannot_have_a_folder_shown_by_calling_it_its_interpreter(home: Path) -> None:
    program(home / "keys/token")
    program(home / "lib/x")
    program(home / "work/script", f"#!{home}/keys/token\n")
    (home / "work/link").symlink_to(home / "keys/token")
    (home / "work/round").symlink_to("round")
    for name in ("script", "link", "round"):
        assert shown(home, argv0=f"./{name}", cwd=home / "work") == set()


def test_of_caches_only_packages_are_shown(home: Path) -> None:
    for name in (".cargo/registry", ".m2/repository", "go/pkg/mod", ".npm/_cacache", "go/src"):
        (home / name).mkdir(parents=True)
    for name in (".cargo/credentials.toml", ".m2/settings.xml"):
        (home / name).write_text("s3cr3t")
    found = dict(caches({}))
    assert found == {name: home / name for name in (".cargo/registry", ".m2/repository", "go/pkg/mod", ".npm/_cacache")}


def test_a_cache_is_found_where_its_variable_says(home: Path, tmp_path: Path) -> None:
    (tmp_path / "cargo/registry").mkdir(parents=True)
    assert dict(caches({"CARGO_HOME": str(tmp_path / "cargo"), "GOPATH": "relative"})) == {
        ".cargo/registry": (tmp_path / "cargo/registry").resolve()
    }


def test_a_program_is_found_by_name_or_by_path_from_its_folder(home: Path) -> None:
    wrapper = program(home / "work/mvnw")
    assert executable("./mvnw", home / "work", "/usr/bin") == wrapper
    assert executable("mvnw", home / "work", "/usr/bin") is None
    assert executable("mvnw", home, str(home / "work")) == wrapper
    wrapper.chmod(0o644)
    assert executable("./mvnw", home / "work", "/usr/bin") is None
