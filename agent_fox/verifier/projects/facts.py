"""What a project uses at one place. Reads manifests again, as they may have changed since detection."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from agent_fox.core.regex import regex
from agent_fox.verifier.logs.streams.records import record
from agent_fox.verifier.projects.detect_jvm import POM, gradle_scripts, maven_modules, read_pom
from agent_fox.verifier.projects.detect_native import CARGO, CMAKE, GO_MOD, MESON, makefile_of
from agent_fox.verifier.projects.facts_javascript import javascript_facts
from agent_fox.verifier.projects.facts_python import declared_lines, python_facts
from agent_fox.verifier.projects.manifests import Manifests, join
from agent_fox.verifier.projects.systems import Facts, Place, SystemKind

if TYPE_CHECKING:
    from agent_fox.verifier.projects.manifests import Manifests
    from agent_fox.verifier.projects.systems import BuildSystem, Facts, Place

_NAME = regex(r"^\s*[\"']?([A-Za-z0-9][A-Za-z0-9._-]*)", re.MULTILINE)
_GROUPS = ("dependencies", "devDependencies", "peerDependencies", "optionalDependencies")


def declared_packages(root: Path) -> frozenset[str]:
    """Names in the manifests of Python and JavaScript in the root and in the folders one level below it."""
    manifests = Manifests(root)
    folders = (".", *manifests.subfolders("."))
    return frozenset(name for folder in folders for name in _in_folder(manifests, folder))


def _in_folder(manifests: Manifests, folder: str) -> Iterator[str]:
    yield from _NAME.findall(declared_lines(manifests, folder))
    path = join(folder, "package.json")
    package = manifests.json(path) if manifests.is_file(path) else None
    yield from (name for group in _GROUPS for name in record((package or {}).get(group)))


_PLUGINS = {"maven-checkstyle-plugin": "checkstyle", "spotless-maven-plugin": "spotless"}
_POM_SKIPS = {
    "skipTests": "true",
    "skip": "true",
    "maven.test.skip": "true",
    "testFailureIgnore": "true",
    "maven.test.failure.ignore": "true",
}
_MAVEN_SKIPS = regex(
    r"-D(?:skipTests|skipITs|maven\.test\.\S+|testFailureIgnore|test=\S+|groups=\S+|excludedGroups=\S+|surefire\.\S+)"
    r"\S*|--fail-never|-fn\b"
)
_GRADLE_SKIPS = regex(
    r"\btest\w*\s*\{[^}]*?\b(?:enabled\s*=\s*false|ignoreFailures\s*=\s*true|onlyIf\b|exclude\b|excludeTags\b)[^\n}]*"
    r"|\btest\w*\.(?:enabled\s*=\s*false|ignoreFailures\s*=\s*true|onlyIf\b)[^\n]*"
    r"|\bexcludeTaskNames?\b[^\n]*|-x\s+test\b"
)
_SUBMODULE = regex(r"^\s*path\s*=\s*(\S+)\s*$", re.MULTILINE)
_MAVEN_FILES = (".mvn/maven.config", ".mvn/jvm.config")


def maven_facts(manifests: Manifests, place: Place) -> Facts:
    folders = [place.system.root, *([place.folder] if place.is_module else maven_modules(manifests, place.system.root))]
    poms = {folder: read_pom(manifests, join(folder, POM)) for folder in dict.fromkeys(folders)}
    plugins = {name for pom in poms.values() for name in pom.plugins}
    notes = [*_file_notes(manifests, place.system.root, _MAVEN_FILES, _MAVEN_SKIPS)]
    for folder, pom in poms.items():
        notes += _pom_notes(join(folder, POM), pom.properties.items())
    return Facts(frozenset(trait for plugin, trait in _PLUGINS.items() if plugin in plugins), notes=tuple(notes))


def gradle_facts(manifests: Manifests, place: Place) -> Facts:
    root = place.system.root
    folders = [root, *([place.folder] if place.is_module else (join(root, module) for module in place.system.modules))]
    scripts = {folder: gradle_scripts(manifests, folder) for folder in dict.fromkeys(folders)}
    everything = "\n".join(scripts.values())
    notes = [
        *_file_notes(manifests, root, ("gradle.properties",), re.compile(r"(?m)^[^#\n]*(?:skip|exclude)\S*test\S*.*"))
    ]
    for folder, script in scripts.items():
        notes += (_note(f"the build script of {folder}", each[0]) for each in _GRADLE_SKIPS.finditer(script))
    return Facts(frozenset(word for word in ("checkstyle", "spotless") if word in everything), notes=tuple(notes))


def _pom_notes(path: str, settings: Iterable[tuple[str, str]]) -> Iterator[str]:
    return (_note(path, f"<{name}>{value}</{name}>") for name, value in settings if _POM_SKIPS.get(name) == value)


def _file_notes(manifests: Manifests, root: str, names: Iterable[str], rule: re.Pattern[str]) -> Iterator[str]:
    for path in (join(root, name) for name in names):
        text = manifests.text(path) if manifests.is_file(path) else None
        yield from (_note(path, each[0]) for each in rule.finditer(text or ""))


def _note(path: str, text: str) -> str:
    return f"{path} leaves tests out or hides failures: {' '.join(text.split())[:120]}"


_RULE = regex(r"^([^\s#:=][^:=#\n]*?)\s*:(?![=:]*=)", re.MULTILINE)
_ASSIGNMENT = regex(r"^([A-Za-z_]\w*)\s*[:?+]?=\s*(.*?)\s*(?:#.*)?$", re.MULTILINE)
_VARIABLE = regex(r"\$[({](\w+)[)}]")
_TITLES = {SystemKind.CMAKE: "CMake", SystemKind.MESON: "Meson", SystemKind.MAKE: "make"}
_ENDINGS = regex(r"(?:WILL_FAIL|DISABLED|SKIP_RETURN_CODE|SKIP_REGULAR_EXPRESSION|should_fail)\b[^)\n]*")
_MESON_TEST = regex(r"(?m)^\s*test\s*\(")
_TESTING = regex(r"(?i)\benable_testing\s*\(|\binclude\s*\(\s*CTest\s*\)")
_IGNORED = regex(r"^\t\s*@?-.*(?:test|check).*|^\.IGNORE\b.*", re.MULTILINE)
_NATIVE_NAME = regex(r"[\w./+-]{1,200}")
_MOST_PRODUCTS = 200


def go_facts(manifests: Manifests, place: Place) -> Facts:
    """The packages of a module, or of all modules that go.work uses."""
    if place.is_module or not place.system.modules:
        return Facts(lists={"packages": ("./...",)})
    here = ("./...",) if manifests.is_file(join(place.system.root, GO_MOD)) else ()
    return Facts(lists={"packages": (*here, *(f"./{module}/..." for module in place.system.modules))})


def cargo_facts(manifests: Manifests, place: Place) -> Facts:
    """Cargo's switches that leave out a whole target's tests."""
    path = join(place.folder, CARGO)
    text = manifests.text(path) or "" if manifests.is_file(path) else ""
    settings = re.findall(r"(?m)^\s*(test\s*=\s*false|autotests\s*=\s*false|harness\s*=\s*false)", text)
    return Facts(notes=tuple(f"{path} leaves tests out: {each}" for each in dict.fromkeys(settings)))


def c_facts(manifests: Manifests, place: Place) -> Facts:
    folder, kind = place.folder, place.system.kind
    traits = {"clang-format"} if manifests.is_file(join(folder, ".clang-format")) else set()
    beside = tuple(_beside(manifests, folder, kind))
    path = join(folder, place.system.manifest)
    text = manifests.text(path) or ""
    if kind is not SystemKind.MAKE:
        endings = (f"{path} changes what counts as failed: {each.strip()[:120]}" for each in _ENDINGS.findall(text))
        return Facts(frozenset(traits), notes=(*beside, *endings))
    targets = _targets(text)
    traits |= {f"make-{name}" for name in ("test", "check") if name in targets}
    products = tuple(
        join(folder, name) for name in targets if _NATIVE_NAME.fullmatch(name) and not name.startswith((".", "/"))
    )
    notes = tuple(f"{path} ignores failures: {line.strip()[:120]}" for line in _IGNORED.findall(text))
    return Facts(frozenset(traits), notes=(*notes, *beside), products=products[:_MOST_PRODUCTS])


def _beside(manifests: Manifests, folder: str, taken: SystemKind) -> Iterator[str]:
    """The other build files of C in this folder, which are not run."""
    files = {SystemKind.CMAKE: CMAKE, SystemKind.MESON: MESON, SystemKind.MAKE: makefile_of(manifests, folder) or ""}
    for kind, name in files.items():
        if kind is not taken and name and manifests.is_file(join(folder, name)):
            yield f"{join(folder, name)} is not run beside {_TITLES[taken]}; --profile c-{kind} takes it instead"


def _targets(text: str) -> list[str]:
    """The names that a Makefile has rules for, variables put in once."""
    values = dict(_ASSIGNMENT.findall(text))
    rule_heads = (_VARIABLE.sub(lambda found: values.get(found[1], ""), head) for head in _RULE.findall(text))
    return list(dict.fromkeys(name for head in rule_heads for name in head.split() if "%" not in name))


_READERS: dict[SystemKind, Callable[[Manifests, Place], Facts]] = {
    SystemKind.MAVEN: maven_facts,
    SystemKind.GRADLE: gradle_facts,
    SystemKind.NPM: javascript_facts,
    SystemKind.PNPM: javascript_facts,
    SystemKind.YARN: javascript_facts,
    SystemKind.PYTHON: python_facts,
    SystemKind.GO: go_facts,
    SystemKind.CARGO: cargo_facts,
    SystemKind.CMAKE: c_facts,
    SystemKind.MESON: c_facts,
    SystemKind.MAKE: c_facts,
}


def facts_of(manifests: Manifests, place: Place) -> Facts:
    """What the project uses at this place, and which submodules its tests may miss."""
    facts = _READERS[place.system.kind](manifests, place)
    text = manifests.text(".gitmodules") or "" if manifests.is_file(".gitmodules") else ""
    missing = (path for path in _SUBMODULE.findall(text) if not manifests.names(path))
    notes = (f"the submodule {path} is not checked out: git submodule update --init" for path in missing)
    return replace(facts, notes=(*facts.notes, *notes))


def to_verify(manifests: Manifests, systems: Sequence[BuildSystem]) -> list[BuildSystem]:
    """One build system for each folder of C: of CMake, Meson and a Makefile the first that names tests."""
    native = [system for system in systems if system.kind in (SystemKind.CMAKE, SystemKind.MESON, SystemKind.MAKE)]
    beside = [system for system in native if sum(each.root == system.root for each in native) > 1]
    best = {system.root: system for system in reversed(beside)}  # CMake is found before Meson, and Meson before make
    best |= {system.root: system for system in reversed(beside) if _names_tests(manifests, system)}
    return [system for system in systems if system not in beside or best[system.root] is system]


def _names_tests(manifests: Manifests, system: BuildSystem) -> bool:
    """Whether the file of CMake's root says that there are tests, as ctest wants it, or make has a target for them, or
    Meson's a test, there or in a folder of tests.
    """
    if system.kind is SystemKind.MESON:
        files = (join(system.root, f"{folder}{MESON}") for folder in ("", "test/", "tests/"))
        return any(_MESON_TEST.search(manifests.text(file) or "") for file in files)
    if system.kind is SystemKind.CMAKE:
        return _TESTING.search(manifests.text(join(system.root, CMAKE)) or "") is not None
    return not c_facts(manifests, Place(system, system.root)).traits.isdisjoint(("make-test", "make-check"))
