"""What JavaScript projects use: the runner that the script `test` names, with its arguments, and the usual tools."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from itertools import islice
from pathlib import PurePosixPath

from agent_fox.core.regex import regex
from agent_fox.verifier.logs.streams.records import Record, record, text
from agent_fox.verifier.projects.detect_javascript import PACKAGE
from agent_fox.verifier.projects.manifests import Manifests, join
from agent_fox.verifier.projects.scripts import (
    EMPTY_SCRIPT,
    NODE_TEST,
    RUNNERS,
    Script,
    builds,
    read_script,
    shown,
)
from agent_fox.verifier.projects.systems import Facts, Place

_DEPENDENCIES = ("devDependencies", "dependencies", "peerDependencies")
_CONFIGURED = {
    "jest": r"jest\.config\.\w+",
    "vitest": r"vitest\.(?:config|workspace)\.\w+",
    "mocha": r"\.mocharc\.\w+",
    "ava": r"ava\.config\.\w+",
    "tap": r"\.taprc",
    "jasmine": r"jasmine\.(?:json|m?js)",
    "eslint": r"eslint\.config\.\w+|\.eslintrc(?:\.\w+)?",
    "prettier": r"\.prettierrc(?:\.\w+)?|prettier\.config\.\w+",
    "biome": r"biome\.jsonc?",
    "oxlint": r"\.oxlintrc\.json",
    "typescript": r"tsconfig\.json",
    "yarn-classic": r"\.yarnrc",
}
_TO_PACKAGES = regex(
    r"(?:^|[\s/])(?:turbo|nx|lerna|wsrun)(?=\s|$)|\s(?:-r|--recursive|--filter|--workspaces?|-ws|workspaces?)(?:[\s=]|$)"
)
"""A script by which the packages of a workspace are tested: `turbo run test`, `pnpm -r test`."""
_FOLDER = regex(r"[\w.-]*[\w-][\w.*-]*(?:/[\w.*-]+)*")
_MOST_IGNORED = 200  # lines of a .gitignore
_TEST_FILE = regex(r".+[.\-_]test\.[cm]?js|test-.+\.[cm]?js|test\.[cm]?js")


def javascript_facts(manifests: Manifests, place: Place) -> Facts:
    folders = list(dict.fromkeys((place.folder, place.system.root)))
    packages = [_package(manifests, folder) for folder in folders]
    traits = {
        trait for folder, package in zip(folders, packages, strict=True) for trait in _tools(manifests, folder, package)
    }
    scripts = _scripts(packages[0])
    written = scripts.get("test", "")
    ignored = tuple(_ignored(manifests, folders))
    script = _with_build(read_script(written, scripts), scripts, ignored)
    if script is None and not (_hands_on(place, packages[-1]) and (not place.is_module or not written)):
        script = _by_use(manifests, place.folder, traits, by_wrapper=written != "" and EMPTY_SCRIPT not in written)
    notes = (*script.notes, *_other_script(written, scripts, script)) if script else _unread(written)
    traits = (traits - set(RUNNERS)) | ({script.runner} if script else set())
    return Facts(
        frozenset(traits),
        {"script": script.options if script else (), "targets": script.targets if script else ()},
        variables=dict(script.variables) if script else {},
        notes=(*notes, *_package_notes(place.folder, packages[0])),
        products=ignored if script and script.before else (),
        before=script.before if script else (),
        missing=_unbuilt(script, ignored) if script else "",
        guess=next(_other_script(written, scripts, script), "") if script else "",
    )


def _scripts(package: Record) -> dict[str, str]:
    return {name: text(line) for name, line in record(package.get("scripts")).items()}


def _hands_on(place: Place, root: Record) -> bool:
    """Whether the root of a workspace has each package run its own tests: those without a script have none."""
    scripts = _scripts(root)
    written = scripts.get("test", "")
    return bool(place.system.modules and _TO_PACKAGES.search(written)) and read_script(written, scripts) is None


def _with_build(script: Script | None, scripts: Mapping[str, str], ignored: Sequence[str]) -> Script | None:
    """With what the script `build` runs where the tests are products, and nothing builds them."""
    if script is None or not _unbuilt(script, ignored) or "build" not in scripts:
        return script
    before = builds("npm run build", scripts)
    note = f"before the tests, as the script `build` does: {shown(before)}"
    return replace(script, before=before, notes=(*script.notes, note)) if before else script


def _unbuilt(script: Script, ignored: Sequence[str]) -> str:
    """Why tests that are run may be those of an older source; empty where they are source, or are built first."""
    made = next((each for each in script.targets if any(_is_below(each, folder) for folder in ignored)), "")
    if not made or script.before:
        return ""
    return f"the tests ({made}) are made from source by a build that the script `test` does not call, and may be old"


def _is_below(path: str, folder: str) -> bool:
    parts, pattern = PurePosixPath(path).parts, PurePosixPath(folder).parts
    return len(parts) > len(pattern) > 0 and all(map(fnmatchcase, parts, pattern))


def _ignored(manifests: Manifests, folders: Iterable[str]) -> Iterator[str]:
    """The folders that .gitignore names: builds write there."""
    for folder in folders:
        lines = (manifests.text(join(folder, ".gitignore")) or "").splitlines()
        names = (line.strip().strip("/") for line in islice(lines, _MOST_IGNORED))
        yield from (f"{join(folder, name)}/" for name in names if _FOLDER.fullmatch(name) and name != "node_modules")


def _by_use(manifests: Manifests, folder: str, traits: set[str], *, by_wrapper: bool) -> Script | None:
    """The runner that is installed or configured, or Node's own where test files have its names.

    by_wrapper: a program that is not known is to start it. Vitest fails for each file without tests that its pattern
    finds, unless it is told not to, as such programs do; how many tests there are is counted here.
    """
    installed = next((name for name in RUNNERS if name in traits), None)
    if installed:
        return Script(installed, ("--passWithNoTests",) if by_wrapper and installed == "vitest" else ())
    names = [*manifests.names(folder), *manifests.names(join(folder, "test")), *manifests.names(join(folder, "tests"))]
    return Script(NODE_TEST) if any(_TEST_FILE.fullmatch(name) for name in names) else None


def _package(manifests: Manifests, folder: str) -> Record:
    path = join(folder, PACKAGE)
    return (manifests.json(path) or {}) if manifests.is_file(path) else {}


def _tools(manifests: Manifests, folder: str, package: Record) -> Iterator[str]:
    declared = {name for key in _DEPENDENCIES for name in record(package.get(key))}
    names = manifests.names(folder)
    tools = (*RUNNERS, "eslint", "xo", "oxlint", "standard", "prettier")
    yield from (tool for tool in tools if tool in declared or tool in package)
    yield from ("biome" for name in declared if name == "@biomejs/biome")
    yield from (tool for tool, rule in _CONFIGURED.items() if any(re.fullmatch(rule, name) for name in names))
    if "yarn.lock" in names and "# yarn lockfile v1" in (manifests.text(join(folder, "yarn.lock")) or "")[:300]:
        yield "yarn-classic"


def _other_script(written: str, scripts: Mapping[str, str], script: Script) -> Iterator[str]:
    if written and EMPTY_SCRIPT not in written and read_script(written, scripts) is None:
        yield f"the script `test` ({_cut(written)}) calls no runner that is known; {script.runner} is run instead"


def _unread(written: str) -> tuple[str, ...]:
    if not written or EMPTY_SCRIPT in written:
        return ()
    return (f"the script `test` ({_cut(written)}) calls no runner that is known ({', '.join(RUNNERS)}, node --test)",)


def _package_notes(folder: str, package: Record) -> Iterator[str]:
    jest = record(package.get("jest"))
    for key in ("testPathIgnorePatterns", "testMatch", "testRegex", "passWithNoTests", "modulePathIgnorePatterns"):
        if jest.get(key):
            yield f"{join(folder, PACKAGE)} limits what jest runs: {key} = {_cut(str(jest[key]))}"


def _cut(written: str) -> str:
    return " ".join(written.split())[:120]
