"""Which changed files steer a build, and which missing parts a project had asked for. Names alone; nothing is read."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import PurePosixPath

from agent_fox.verifier.disposition_facts import FailureFacts

_BUILD_FILE = re.compile(
    r"(?:package(?:-lock)?\.json|npm-shrinkwrap\.json|pnpm-(?:lock|workspace)\.yaml|yarn\.lock|\.npmrc|\.yarnrc(?:\.yml)?"
    r"|pom\.xml|mvnw(?:\.cmd)?|gradlew(?:\.bat)?|.+\.gradle(?:\.kts)?|gradle\.properties|.+\.versions\.toml"
    r"|gradle-wrapper\.properties|maven-wrapper\.properties|extensions\.xml|maven\.config"
    r"|go\.(?:mod|sum|work)|Cargo\.(?:toml|lock)|build\.rs|rust-toolchain(?:\.toml)?"
    r"|pyproject\.toml|setup\.(?:py|cfg)|.*requirements.*\.(?:txt|in)|Pipfile(?:\.lock)?|poetry\.lock|uv\.lock"
    r"|tox\.ini|pytest\.ini|conftest\.py|noxfile\.py|mypy\.ini|\.?ruff\.toml|\.flake8|\.python-version|\.nvmrc"
    r"|(?:GNU)?[Mm]akefile|.+\.mk|CMakeLists\.txt|.+\.cmake|CMakePresets\.json"
    r"|tsconfig.*\.json|\.(?:eslintrc|prettierrc|babelrc|mocharc)(?:\..+)?"
    r"|(?:eslint|jest|vitest|vite|babel|prettier|webpack|rollup)\.config\..+)"
)
_MODULE = re.compile(
    r"No module named '?(?P<python>[\w.]+)|Cannot find (?:module|package) '(?P<node>(?:@[\w.-]+/)?[\w.-]+)"
)
_HEADER = re.compile(r"(?P<header>\S+\.h(?:pp|h|xx)?): No such file or directory")
_LIBRARY = re.compile(
    r"ImportError: (?:(?P<object>\S+): cannot open shared object file"
    r"|.*version `(?P<version>GLIBC\w*_[\d.]+)' not found)"
)
_PARTS_OF_PYTHON = frozenset(
    {
        "_bz2",
        "_ctypes",
        "_curses",
        "_dbm",
        "_gdbm",
        "_hashlib",
        "_lzma",
        "_sqlite3",
        "_ssl",
        "_tkinter",
        "_uuid",
        "zlib",
    }
)


def build_files(files: Iterable[str]) -> tuple[str, ...]:
    """The manifests, lock files, build scripts and configurations of tools among the files."""
    return tuple(file for file in files if _BUILD_FILE.fullmatch(PurePosixPath(file).name))


def changes_build(files: Iterable[str]) -> bool:
    return bool(build_files(files))


def names_changed_file(text: str, files: Iterable[str]) -> bool:
    """Whether the tool names a file that the change edited."""
    return any(re.search(rf"(?<![\w.-]){re.escape(PurePosixPath(file).name)}(?![\w-])", text) for file in files)


def missing_part(facts: FailureFacts) -> str | None:
    """A package that a manifest asks for, a part of the interpreter, or a system's header, that is not there.

    None for what the code itself may be expected to bring: a module of its own, or a package nobody declared.
    """
    failure = facts.failure
    if found := _MODULE.search(failure.message):
        name = (found["python"] or "").partition(".")[0] or found["node"]
        return name if name in _PARTS_OF_PYTHON or _plain(name) in map(_plain, facts.declared) else None
    if found := _LIBRARY.match(failure.message):
        return found["object"] or found["version"]
    if (found := _HEADER.search(failure.message)) and failure.file not in facts.files_changed:
        is_systems = f"#include <{found['header']}>" in f"{failure.evidence}\n{facts.tail}"
        return found["header"] if is_systems else None
    return None


def _plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
