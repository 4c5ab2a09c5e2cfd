from __future__ import annotations

from pathlib import Path

from agent_fox.verifier.projects.facts import declared_packages


def test_packages_are_named_by_the_manifests_of_the_root_and_of_folders_below(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "x"\ndependencies = ["requests>=2", "PyYAML"]\n')
    (tmp_path / "requirements-dev.txt").write_text("pytest==8\n# a comment\n")
    (tmp_path / "web").mkdir()
    (tmp_path / "web/package.json").write_text('{"dependencies": {"left-pad": "1"}, "devDependencies": {"jest": "29"}}')
    assert declared_packages(tmp_path) >= {"requests", "PyYAML", "pytest", "left-pad", "jest"}


def test_a_folder_without_manifests_declares_nothing(tmp_path: Path) -> None:
    assert declared_packages(tmp_path) == frozenset()


def test_a_manifest_that_cannot_be_read_declares_nothing(tmp_path: Path) -> None:
    (tmp_path / "package.json").write_text("{")
    (tmp_path / "pyproject.toml").write_text("[[[")
    assert declared_packages(tmp_path) == frozenset()
