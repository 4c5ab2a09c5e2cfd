"""Which steps a change must pass: chosen by what changed and by configuration, never by a model. Pure.

Risks, from the lowest: documentation, ordinary, API migration, dependency upgrade. A change of two risks gets the steps
of both. Source: `docs/verifier.md`, "Plans".
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from enum import StrEnum
from fnmatch import translate
from functools import lru_cache

from agent_fox.core.values import dataclass
from agent_fox.verifier.ground.results import Tool
from agent_fox.verifier.reporting.report import Step

AUTO = "auto"


class Risk(StrEnum):
    """What a change may break. The values are the names of the built-in plans."""

    DOCUMENTATION = "documentation"
    ORDINARY = "ordinary"
    API_MIGRATION = "api-migration"
    DEPENDENCY_UPGRADE = "dependency-upgrade"


DOCUMENTS = ("*.md", "*.rst", "*.adoc", "*.txt", "docs/**", "LICENSE*", "*.png", "*.svg", "*.jpg", ".github/*.md")
# These are read by tools, whatever their suffix says.
NOT_DOCUMENTS = ("requirements*.txt", "constraints*.txt", "CMakeLists.txt", "**/CMakeLists.txt")
INTERFACES = (
    "openapi/**",
    "schemas/**",
    "api/**",
    "*.proto",
    "*.graphql",
    "*.graphqls",
    "*.avsc",
    "*.thrift",
    "*.wsdl",
)
MANIFESTS = (
    *("pom.xml", "build.gradle", "build.gradle.kts", "settings.gradle", "settings.gradle.kts", "gradle.lockfile"),
    *("package.json", "package-lock.json", "npm-shrinkwrap.json", "pnpm-lock.yaml", "yarn.lock", "bun.lock"),
    *("pyproject.toml", "setup.py", "setup.cfg", "requirements*.txt", "constraints*.txt", "uv.lock", "poetry.lock"),
    *("go.mod", "go.sum", "go.work", "Cargo.toml", "Cargo.lock", "conanfile.*", "vcpkg.json"),
    *("libs.versions.toml", "pdm.lock", "Pipfile", "Pipfile.lock"),
)

_DEPENDENCIES = frozenset({"node_modules", ".venv", "venv", "__pycache__"})
"""Folders that nobody writes by hand: what lies there is no change, even where git was not told to ignore it."""

_STEPS: Mapping[Risk, tuple[Step, ...]] = {
    Risk.DOCUMENTATION: (Step(Tool.FORMAT_CHECK, required=False), Step(Tool.STATIC_POLICY)),
    Risk.ORDINARY: (
        Step(Tool.STATIC_POLICY),
        Step(Tool.COMPILE),
        Step(Tool.UNIT_TESTS),
        Step(Tool.LINT, required=False),
        Step(Tool.FORMAT_CHECK, required=False),
    ),
    Risk.API_MIGRATION: (
        Step(Tool.STATIC_POLICY),
        Step(Tool.COMPILE),
        Step(Tool.SELECTED_TEST),
        Step(Tool.UNIT_TESTS),
        Step(Tool.FORMAT_CHECK),
        Step(Tool.LINT, required=False),
    ),
    Risk.DEPENDENCY_UPGRADE: (
        Step(Tool.STATIC_POLICY),
        Step(Tool.COMPILE),
        Step(Tool.UNIT_TESTS),
        Step(Tool.DEPENDENCY_TREE),
        Step(Tool.SECURITY_SCAN),
        Step(Tool.FORMAT_CHECK, required=False),
    ),
}
_ORDER = (
    *(Tool.STATIC_POLICY, Tool.COMPILE, Tool.SELECTED_TEST, Tool.UNIT_TESTS),
    *(Tool.DEPENDENCY_TREE, Tool.SECURITY_SCAN, Tool.LINT, Tool.FORMAT_CHECK),
)


class UnknownPlan(ValueError):
    """A name that no plan has; its text lists those there are."""


@dataclass(frozen=True, slots=True)
class Plan:
    """Steps in the order they run. `why` says by what the plan was chosen."""

    name: str
    steps: tuple[Step, ...]
    why: str


@dataclass(frozen=True, slots=True)
class PlanRules:
    """What a repository says about plans. Its globs count beside the built-in ones, and never take one away.

    plans: own plans by name. least: the lowest risk that any change counts as.
    """

    documents: tuple[str, ...] = ()
    interfaces: tuple[str, ...] = ()
    plans: Mapping[str, tuple[Step, ...]] = field(default_factory=dict)
    least: Risk = Risk.DOCUMENTATION


def risks_of(paths: Iterable[str], rules: PlanRules) -> dict[Risk, str]:
    """Each risk of a change with the first path that brings it. No path at all is an ordinary change."""
    risks: dict[Risk, str] = {}
    for path in (path for path in paths if _DEPENDENCIES.isdisjoint(path.split("/"))):
        risks.setdefault(max(_risk_of(path, rules), rules.least, key=list(Risk).index), path)
    return risks or {max(Risk.ORDINARY, rules.least, key=list(Risk).index): ""}


def choose(paths: Sequence[str], rules: PlanRules, tests: Sequence[str] = ()) -> Plan:
    """The plan for a change. `tests` are selectors of the tests it touches, for the step that runs selected tests."""
    risks = risks_of(paths, rules)
    kept = {risk: path for risk, path in risks.items() if risk is not Risk.DOCUMENTATION or len(risks) == 1}
    name = "+".join(risk for risk in Risk if risk in kept)
    why = ", ".join(_because(risk, kept[risk]) for risk in Risk if risk in kept)
    return Plan(name, _select(_joined([_STEPS[risk] for risk in kept]), tests), why)


def named(name: str, rules: PlanRules, tests: Sequence[str] = ()) -> Plan:
    """The plan of this name: a repository's own, or a built-in one. Raises UnknownPlan."""
    if name in rules.plans:
        return Plan(name, _select(rules.plans[name], tests), "asked for by name, from the configuration")
    if name in set(Risk):
        return Plan(name, _select(_STEPS[Risk(name)], tests), "asked for by name")
    known = ", ".join([AUTO, *Risk, *sorted(rules.plans)])
    raise UnknownPlan(f"there is no verification plan {name!r}; the plans are {known}")


def _joined(plans: Sequence[tuple[Step, ...]]) -> tuple[Step, ...]:
    """The steps of all plans; one that any of them requires is required."""
    steps = [step for plan in plans for step in plan]
    required = {step.tool for step in steps if step.required}
    wanted = {step.tool for step in steps}
    return tuple(Step(tool, tool in required) for tool in _ORDER if tool in wanted)


def _select(steps: Sequence[Step], tests: Sequence[str]) -> tuple[Step, ...]:
    """The step for selected tests becomes one for each test; with none it is left out, for all tests run anyway."""
    return tuple(each for step in steps for each in _selected(step, tests))


def _selected(step: Step, tests: Sequence[str]) -> list[Step]:
    if step.tool is not Tool.SELECTED_TEST or step.selector:
        return [step]
    return [Step(step.tool, step.required, step.module, test) for test in tests]


def _risk_of(path: str, rules: PlanRules) -> Risk:
    if matches(path, MANIFESTS):
        return Risk.DEPENDENCY_UPGRADE
    if matches(path, (*INTERFACES, *rules.interfaces)):
        return Risk.API_MIGRATION
    is_document = matches(path, (*DOCUMENTS, *rules.documents)) and not matches(path, NOT_DOCUMENTS)
    return Risk.DOCUMENTATION if is_document else Risk.ORDINARY


def _because(risk: Risk, path: str) -> str:
    return f"{risk} by {path}" if path else f"{risk}: nothing is known to have changed"


def matches(path: str, globs: Iterable[str]) -> bool:
    """Whether a path fits one of the globs: `*.md` fits in any folder, `docs/**` and `a/*.py` from the root."""
    name = path.rpartition("/")[2]
    return any(_regex(glob).fullmatch(path if "/" in glob else name) is not None for glob in globs)


@lru_cache(maxsize=1024)
def _regex(glob: str) -> re.Pattern[str]:
    return re.compile(translate(glob))
