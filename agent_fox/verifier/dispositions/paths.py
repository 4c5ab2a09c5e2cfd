"""Which changed files steer a build, and which of them a tool names. Names alone; nothing is read."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import PurePosixPath

from agent_fox.core.regex import regex

_BUILD_FILE = regex(
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


def build_files(files: Iterable[str]) -> tuple[str, ...]:
    """The manifests, lock files, build scripts and configurations of tools among the files."""
    return tuple(file for file in files if _BUILD_FILE.fullmatch(PurePosixPath(file).name))


def changes_build(files: Iterable[str]) -> bool:
    return bool(build_files(files))


def names_changed_file(text: str, files: Iterable[str]) -> bool:
    """Whether the tool names a file that the change edited."""
    return any(re.search(rf"(?<![\w.-]){re.escape(PurePosixPath(file).name)}(?![\w-])", text) for file in files)
