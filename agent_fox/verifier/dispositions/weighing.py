"""From a cause to who can do something about it: what reruns and edited build files add. Not how it is found."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from agent_fox.core.regex import regex
from agent_fox.core.verdicts.verdict import Disposition
from agent_fox.verifier.dispositions.signs import Sign, Weight
from agent_fox.verifier.ground.results import Disposed

if TYPE_CHECKING:
    from agent_fox.verifier.ground.disposition_facts import FailureFacts


def repairable(reason: str) -> Disposed:
    return Disposed(Disposition.REPAIRABLE, reason, repairable_by_agent=True)


def infrastructure(reason: str) -> Disposed:
    return Disposed(Disposition.INFRASTRUCTURE, reason, retryable_infrastructure=True)


def environment(reason: str) -> Disposed:
    return Disposed(Disposition.ENVIRONMENT, reason, requires_human=True)


def verifier_fault(reason: str) -> Disposed:
    return Disposed(Disposition.VERIFIER_FAULT, reason, requires_human=True)


def _nobodys(disposition: Disposition, reason: str) -> Disposed:
    match disposition:
        case Disposition.INFRASTRUCTURE:
            return infrastructure(reason)
        case Disposition.ENVIRONMENT:
            return environment(reason)
    return verifier_fault(reason)


def past_limit(facts: FailureFacts, what: str) -> Disposed:
    """A limit of ours was reached: by the code if it happens again, by a busy machine for all that is known if not."""
    if facts.fails_on_base:
        return verifier_fault(f"{what}, and does on the base tree too: the limit may be too low")
    if facts.comes_again:
        return repairable(f"{what}, and did again on the same tree")
    return infrastructure(f"{what}; once is no proof of a fault")


def ended_from_outside(facts: FailureFacts, what: str) -> Disposed:
    if facts.comes_again and facts.passes_on_base:
        return repairable(f"{what}, again on the same tree and not on the base tree")
    return infrastructure(what)


def weighed(sign: Sign, facts: FailureFacts) -> Disposed:
    """A sign against what else is known: an edited build file, and reruns."""
    match sign.weight:
        case Weight.REPEATS:
            return past_limit(facts, sign.name)
        case Weight.REPEATS_AND_BASE:
            return ended_from_outside(facts, sign.name)
    if sign.disposition is Disposition.REPAIRABLE:
        return repairable(sign.name)
    if _is_by_edit(sign, facts):
        return repairable(f"{sign.name}, and the change edited a build file")
    if sign.needs_network and not facts.has_network:
        return environment(f"{sign.name}, and nothing may be fetched")
    return _nobodys(sign.disposition, sign.name)


def _is_by_edit(sign: Sign, facts: FailureFacts) -> bool:
    """Without a network, a package that does not exist looks like one that is only not installed."""
    if sign.weight is Weight.NOTHING or not changes_build(facts.files_changed) or facts.fails_on_base:
        return False
    if sign.needs_network and not facts.has_network:
        return False
    return sign.weight is Weight.BUILD_FILE or facts.passes_on_base


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
