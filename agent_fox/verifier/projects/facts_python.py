"""What Python projects use: runner, linters, formatter, and which settings leave tests out."""

from __future__ import annotations

import configparser
import re
from collections.abc import Iterator
from itertools import pairwise

from agent_fox.core.regex import regex
from agent_fox.verifier.logs.streams.records import Record, record, text
from agent_fox.verifier.projects.detect_python import MANAGE, PYPROJECT, TEST_FOLDERS, test_files, tool_tables
from agent_fox.verifier.projects.manifests import Manifests, join, strings
from agent_fox.verifier.projects.skipping import skipping_arguments
from agent_fox.verifier.projects.systems import Facts, Place

_CONFIGURED = {
    "pytest": ("pytest.ini", ".pytest.ini", "conftest.py", "tests/conftest.py", "test/conftest.py"),
    "ruff": ("ruff.toml", ".ruff.toml", ".venv/bin/ruff", "venv/bin/ruff"),
    "mypy": ("mypy.ini", ".mypy.ini", ".venv/bin/mypy", "venv/bin/mypy"),
    "flake8": (".flake8",),
    "uv-lock": ("uv.lock",),
}
_SECTIONS = {"pytest": ("tool:pytest", "pytest"), "mypy": ("mypy",), "flake8": ("flake8",)}
_DECLARED = regex(r"^\s*[\"']?(pytest|ruff|mypy|black|flake8)\b(?![-.\w])", re.MULTILINE | re.IGNORECASE)
_OF_DJANGO = regex(r"(?i)\bpytest[-_]django\b")
_PYTEST_STYLE = regex(r"^(?:async )?def test|^(?:import|from) pytest\b|^class Test\w*:", re.MULTILINE)
_PYTEST = regex(r"(?<![-.\w/\[])py\.?test(?![-.\w])")
_QUOTED_PYTEST = regex(r"[\"']py\.?test(?![-.\w])")
_STARTERS = ("hatch", "pdm", "tox", "uv")
"""Tables of pyproject.toml that name what tests are started with, or what is installed for them."""

_ENV = regex(r"testenv(?::(?:py|test|unit).*)?$")
_DEFAULT = regex(r"\{(?:posargs|args):([^{}]*)\}")
_FLAG = regex(
    r"-[hlqsvx]+|-r\w+|.+=.*|--(?:doctest-modules|exitfirst|no-\w+|pyargs|quiet|showlocals|strict(?:-\w+)?|verbose)"
)
"""Options of pytest behind which a word is no value of theirs; of those that are not known it may be."""
_INSIDE = regex(r"\w[\w.-]*(?:/[\w.-]*\w[\w.-]*)*/?")
_LOOKED_AT = 50  # test files
_INI_FILES = ("pytest.ini", ".pytest.ini", "tox.ini", "setup.cfg", "mypy.ini")
_SELECTIVE = ("testpaths", "python_files", "python_classes", "python_functions", "norecursedirs", "collect_ignore")


def python_facts(manifests: Manifests, place: Place) -> Facts:
    folders = list(dict.fromkeys((place.folder, place.system.root)))
    tools = tool_tables(manifests, place.folder) or tool_tables(manifests, place.system.root)
    traits = frozenset(trait for folder in folders for trait in _traits(manifests, folder))
    collected = _collected(manifests, place.folder, tools)
    lists = {
        "discover": _discover(manifests, place.folder),
        "typed": _typed(manifests, place.folder, tools),
        "collected": collected,
    }
    roots = tuple(_roots(manifests, place.folder, has_pytest="pytest" in traits))
    given = (f"pytest is given {' '.join(collected)}, as the project's own command does",) if collected else ()
    return Facts(traits, lists, roots, notes=(*_notes(manifests, place.folder, tools), *given))


def _collected(manifests: Manifests, folder: str, tools: Record) -> tuple[str, ...]:
    """What tox or hatch gives to pytest where no setting says it: `pytest {posargs:tests}`. Elsewhere pytest looks
    everywhere, and may stumble over a folder that the project never gives it.
    """
    settings = list(_ini_settings(manifests, folder))
    options = record(record(tools.get("pytest")).get("ini_options"))
    if "testpaths" in options or any(key == "testpaths" for _, _, _, key, _ in settings):
        return ()
    of_tox = [
        (len(section), value) for _, _, section, key, value in settings if key == "commands" and _ENV.match(section)
    ]
    environments = record(record(record(tools.get("hatch")).get("envs")).get("default"))
    of_hatch = [text(value) for value in record(environments.get("scripts")).values()]
    lines = [line for _, value in sorted(of_tox) for line in value.splitlines()]
    for line in (*lines, *of_hatch):
        _, called, rest = line.partition("pytest")
        words = _DEFAULT.sub(r"\1", rest).split()
        free = [word for before, word in pairwise(("", *words)) if before[:1] != "-" or _FLAG.fullmatch(before)]
        paths = tuple(word for word in free if _exists(manifests, folder, word))
        if called and paths:
            return paths
    return ()


def _exists(manifests: Manifests, folder: str, path: str) -> bool:
    place = join(folder, path.rstrip("/"))
    return _INSIDE.fullmatch(path) is not None and (manifests.is_folder(place) or manifests.is_file(place))


def _traits(manifests: Manifests, folder: str) -> Iterator[str]:
    tools = tool_tables(manifests, folder)
    yield from (name for name in ("pytest", "ruff", "mypy", "black") if name in tools)
    yield from (name for name, files in _CONFIGURED.items() if _any_file(manifests, folder, files))
    sections = {section for _, _, section, _, _ in _ini_settings(manifests, folder)}
    yield from (name for name, wanted in _SECTIONS.items() if sections & set(wanted))
    yield from (name.lower() for name in _DECLARED.findall(declared_lines(manifests, folder)))
    if any(_PYTEST.search(text) for text in _of_starters(manifests, folder, tools)):
        yield "pytest"
    manage = manifests.text(join(folder, MANAGE)) or "" if manifests.is_file(join(folder, MANAGE)) else ""
    if "DJANGO_SETTINGS_MODULE" in manage and not _OF_DJANGO.search(declared_lines(manifests, folder)):
        yield "django"
    scripts = (manifests.text(join(folder, name)) or "" for name in ("setup.py", "noxfile.py"))
    if any(_QUOTED_PYTEST.search(text) for text in scripts):
        yield "pytest"
    if any(_PYTEST_STYLE.search(text) for text in _test_texts(manifests, folder)):
        yield "pytest"


def _of_starters(manifests: Manifests, folder: str, tools: Record) -> Iterator[str]:
    """What tox, hatch, pdm, uv, pipenv and setuptools install for the tests and start them by."""
    for _, _, section, key, value in _ini_settings(manifests, folder):
        if (section.startswith("testenv") and key in ("deps", "commands")) or section == "options.extras_require":
            yield value
    waiting: list[object] = [tools.get(name) for name in _STARTERS]
    while waiting:
        each = waiting.pop()
        if isinstance(each, str):
            yield each
        waiting.extend(each.values() if isinstance(each, dict) else each if isinstance(each, list) else ())
    pipfile = join(folder, "Pipfile")
    table = (manifests.toml(pipfile) or {}) if manifests.is_file(pipfile) else {}
    yield from (name for key in ("packages", "dev-packages") for name in record(table.get(key)))


def _any_file(manifests: Manifests, folder: str, names: tuple[str, ...]) -> bool:
    return any(manifests.is_file(join(folder, name)) for name in names)


def declared_lines(manifests: Manifests, folder: str) -> str:
    """The dependencies of a folder's project, one a line."""
    table = manifests.toml(join(folder, PYPROJECT)) if manifests.is_file(join(folder, PYPROJECT)) else None
    project, groups = record((table or {}).get("project")), record((table or {}).get("dependency-groups"))
    optional = record(project.get("optional-dependencies"))
    poetry = record(record((table or {}).get("tool")).get("poetry"))
    lines = [*strings(project, "dependencies"), *_all_strings(optional), *_all_strings(groups), *_poetry(poetry)]
    files = (name for name in manifests.names(folder) if re.fullmatch(r"requirements.*\.txt", name))
    return "\n".join([*lines, *(manifests.text(join(folder, name)) or "" for name in files)])


def _all_strings(table: Record) -> list[str]:
    return [string for key in table for string in strings(table, key)]


def _poetry(table: Record) -> list[str]:
    groups = [table, *(record(group) for group in record(table.get("group")).values())]
    return [name for group in groups for key in ("dependencies", "dev-dependencies") for name in record(group.get(key))]


def _test_texts(manifests: Manifests, folder: str) -> Iterator[str]:
    return (manifests.text(join(folder, name)) or "" for name in test_files(manifests, folder)[:_LOOKED_AT])


def _roots(manifests: Manifests, folder: str, *, has_pytest: bool) -> Iterator[str]:
    """What is to be on the import path: `src`, and for unittest a folder of tests that is no package itself."""
    if manifests.is_folder(join(folder, "src")):
        yield "src"
    start = _discover(manifests, folder)
    if len(start) == len(("-s", "tests")) and not has_pytest:
        yield start[1]


def _discover(manifests: Manifests, folder: str) -> tuple[str, ...]:
    """Where unittest finds the tests: in the first folder that has some."""
    for place in (name for name in TEST_FOLDERS[1:] if manifests.is_folder(join(folder, name))):
        is_package = manifests.is_file(join(folder, f"{place}/__init__.py"))
        return ("-s", place, "-t", ".") if is_package else ("-s", place)
    return ()


def _typed(manifests: Manifests, folder: str, tools: Record) -> tuple[str, ...]:
    """The arguments of mypy: none where its own settings name the files."""
    named = {"files", "packages", "modules"}
    in_ini = any(section == "mypy" and key in named for _, _, section, key, _ in _ini_settings(manifests, folder))
    return () if named & set(record(tools.get("mypy"))) or in_ini else (".",)


def _ini_settings(manifests: Manifests, folder: str) -> Iterator[tuple[str, str, str, str, str]]:
    """File, its path, section, key and value of all settings in the folder's ini files."""
    for name in (name for name in _INI_FILES if manifests.is_file(join(folder, name))):
        parser = configparser.RawConfigParser(strict=False, allow_no_value=True)
        try:
            parser.read_string(manifests.text(join(folder, name)) or "")
        except configparser.Error:
            continue
        for section in parser.sections():
            settings = parser.items(section) or [("", "")]
            yield from ((name, join(folder, name), section, key, value or "") for key, value in settings)


def _notes(manifests: Manifests, folder: str, tools: Record) -> Iterator[str]:
    options = record(record(tools.get("pytest")).get("ini_options"))
    settings = [(join(folder, PYPROJECT), key, _plain(value)) for key, value in options.items()]
    for _, path, section, key, value in _ini_settings(manifests, folder):
        if section in _SECTIONS["pytest"]:
            settings.append((path, key, value))
    for path, key, value in settings:
        yield from _setting_notes(path, key, value)


def _plain(value: object) -> str:
    return " ".join(map(str, value)) if isinstance(value, list) else str(value)


def _setting_notes(path: str, key: str, value: str) -> Iterator[str]:
    if key == "addopts":
        arguments = ("pytest", *value.split())
        yield from (
            f"{path} adds {each} to every run of pytest" for each in skipping_arguments(arguments) if each != "-m"
        )
        if "-m" in arguments:
            yield f"{path} selects tests by marks: {' '.join(value.split())[:120]}"
    elif key in _SELECTIVE:
        yield f"{path} limits what pytest collects: {key} = {' '.join(value.split())[:120]}"
