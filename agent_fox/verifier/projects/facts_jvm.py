"""What Maven and Gradle projects use, and which of their settings leave tests out."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from agent_fox.core.regex import regex
from agent_fox.verifier.projects.detect_jvm import POM, gradle_scripts, maven_modules, read_pom
from agent_fox.verifier.projects.manifests import Manifests, join
from agent_fox.verifier.projects.systems import Facts, Place

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


def _note(path: str, said: str) -> str:
    return f"{path} leaves tests out or hides failures: {' '.join(said.split())[:120]}"
