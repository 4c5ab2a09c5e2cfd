"""Python projects: by pyproject.toml and its older kin, or by test files where there is none of these."""

from __future__ import annotations

from fnmatch import fnmatchcase

from agent_fox.verifier.logs.streams.records import Record, record
from agent_fox.verifier.projects.manifests import Manifests, join, relative, strings
from agent_fox.verifier.projects.systems import BuildSystem, SystemKind

PYPROJECT = "pyproject.toml"
MANAGE = "manage.py"
_MANIFESTS = (
    *(PYPROJECT, "setup.cfg", "setup.py", "requirements.txt", "Pipfile", "pytest.ini", "tox.ini", "uv.lock"),
    MANAGE,
)
TEST_FOLDERS = (".", "tests", "test")
_TEST_FILES = ("conftest.py", "test_*.py", "*_test.py")


def python(manifests: Manifests, folder: str) -> BuildSystem | None:
    named = next((name for name in _MANIFESTS if manifests.is_file(join(folder, name))), None)
    manifest = named or (next(iter(test_files(manifests, folder)), None) if folder == "." else None)
    if manifest is None:
        return None
    return BuildSystem(SystemKind.PYTHON, folder, manifest, _members(manifests, folder))


def test_files(manifests: Manifests, folder: str) -> list[str]:
    """The test files of a folder, and of `tests` or `test` in it, relative to it."""
    files = []
    for place in TEST_FOLDERS:
        names = manifests.names(join(folder, place)) if manifests.is_folder(join(folder, place)) else []
        files += [join(place, name) for name in names if any(fnmatchcase(name, glob) for glob in _TEST_FILES)]
    return files


def tool_tables(manifests: Manifests, folder: str) -> Record:
    """The table `tool` of a folder's pyproject.toml, empty where there is none."""
    path = join(folder, PYPROJECT)
    return record((manifests.toml(path) or {}).get("tool")) if manifests.is_file(path) else {}


def _members(manifests: Manifests, folder: str) -> tuple[str, ...]:
    """The packages of a uv workspace."""
    workspace = record(record(tool_tables(manifests, folder).get("uv")).get("workspace"))
    included = {path: None for glob in strings(workspace, "members") for path in manifests.matching(folder, glob)}
    left_out = {path for glob in strings(workspace, "exclude") for path in manifests.matching(folder, glob)}
    members = (path for path in included if path not in left_out and manifests.is_file(join(path, PYPROJECT)))
    return tuple(relative(path, folder) for path in members if path != folder)
