"""What JavaScript projects use: the runner that the script `test` names, with its arguments, and the usual tools."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePosixPath

from agent_fox.core.regex import regex
from agent_fox.core.values import dataclass
from agent_fox.verifier.ground.command_line import CommandRefused, split_command
from agent_fox.verifier.logs.records import Record, record, text
from agent_fox.verifier.projects.detect_javascript import PACKAGE
from agent_fox.verifier.projects.manifests import Manifests, join
from agent_fox.verifier.projects.skipping import carries_options, narrows, skipping_arguments
from agent_fox.verifier.projects.systems import Facts, Place

RUNNERS = ("jest", "vitest", "mocha")
_NODE_TEST = "node-test"
_CHAIN = regex(r"&&|;")
_EMPTY_SCRIPT = "no test specified"
_PREFIXES = frozenset({"cross-env", "npx", "dotenv", "c8", "nyc"})
_DEPENDENCIES = ("devDependencies", "dependencies", "peerDependencies")
_CONFIGURED = {
    "jest": r"jest\.config\.\w+",
    "vitest": r"vitest\.(?:config|workspace)\.\w+",
    "mocha": r"\.mocharc\.\w+",
    "eslint": r"eslint\.config\.\w+|\.eslintrc(?:\.\w+)?",
    "prettier": r"\.prettierrc(?:\.\w+)?|prettier\.config\.\w+",
    "typescript": r"tsconfig\.json",
    "yarn-classic": r"\.yarnrc",
}
_REPORTING = regex(
    r"(?:--test-reporter(?:-destination)?|--reporters?|-R|--reporter-options?|-O|--outputFile(?:\.\w+)?|--json)(?:=|$)"
)
_TEST_FILE = regex(r".+[.\-_]test\.[cm]?js|test-.+\.[cm]?js|test\.[cm]?js")
_GLOB = regex(r"[*?\[]")


@dataclass(frozen=True, slots=True)
class Script:
    """A test script, read: its runner, the runner's options, what it is to test, variables, and what was left aside."""

    runner: str
    options: tuple[str, ...] = ()
    targets: tuple[str, ...] = ()
    variables: tuple[tuple[str, str], ...] = ()
    notes: tuple[str, ...] = ()


def javascript_facts(manifests: Manifests, place: Place) -> Facts:
    folders = list(dict.fromkeys((place.folder, place.system.root)))
    packages = [_package(manifests, folder) for folder in folders]
    traits = {
        trait for folder, package in zip(folders, packages, strict=True) for trait in _tools(manifests, folder, package)
    }
    written = text(record(packages[0].get("scripts")).get("test"))
    script = read_script(written) or _by_use(manifests, place.folder, traits)
    notes = (*script.notes, *_other_script(written, script)) if script else _unread(written)
    traits = (traits - set(RUNNERS)) | ({script.runner} if script else set())
    lists = {"script": script.options if script else (), "targets": script.targets if script else ()}
    variables = dict(script.variables) if script else {}
    return Facts(
        frozenset(traits), lists, variables=variables, notes=(*notes, *_package_notes(place.folder, packages[0]))
    )


def read_script(written: str) -> Script | None:
    """The runner that a test script calls, None where it calls none that is known."""
    links = [link.strip() for link in _CHAIN.split(written) if link.strip()]
    scripts = [script for link in links if (script := _link(link))]
    if not scripts:
        return None
    others = len(links) - 1
    note = (f"the script `test` does more than run {scripts[0].runner}: the rest is not run",) if others else ()
    first = scripts[0]
    return Script(first.runner, first.options, first.targets, first.variables, (*first.notes, *note))


def _link(line: str) -> Script | None:
    """One command of a script."""
    try:
        command = split_command(line)
    except CommandRefused:
        return None
    variables, argv = dict(command.variables), list(command.argv)
    while argv and (PurePosixPath(argv[0]).name in _PREFIXES or re.match(r"\w+=", argv[0])):
        name, is_set, value = argv.pop(0).partition("=")
        variables.update({name: value} if is_set else {})
    if not argv:
        return None
    program, arguments = PurePosixPath(argv[0]).name, argv[1:]
    if program == "node" and "--test" in arguments:
        return _script(_NODE_TEST, "node", [argument for argument in arguments if argument != "--test"], variables)
    if program not in RUNNERS:
        return None
    return _script(program, program, arguments[1:] if arguments[:1] == ["run"] else arguments, variables)


def _script(runner: str, program: str, arguments: list[str], variables: dict[str, str]) -> Script:
    skipped = set(skipping_arguments((program, *arguments)))
    options: list[str] = []
    targets: list[str] = []
    notes = [f"the script `test` says {each}, which is left aside: it may leave tests out" for each in sorted(skipped)]
    kept = (each for each in arguments if each not in skipped)
    for each in kept:
        if _REPORTING.match(each):
            notes.append(f"the script `test` says {each}, which is left aside: the verifier has a report of its own")
            if "=" not in each and each != "--json":
                next(kept, None)
        elif narrows(each):
            notes.append(f"the script `test` says {each}, which is left aside: it selects tests by name")
            if "=" not in each:
                next(kept, None)
        elif each.startswith("-") or (options and options[-1] in _VALUED and not _GLOB.search(each)):
            options.append(each)
        else:
            targets.append(each)
    carriers = [name for name, value in variables.items() if carries_options(name, value)]
    notes += [f"the script `test` sets {name}, which is left aside: it may leave tests out" for name in carriers]
    plain = tuple((name, value) for name, value in variables.items() if name not in carriers)
    return Script(runner, tuple(options), tuple(targets), plain, tuple(notes))


_VALUED = frozenset(
    {
        "-r", "--require", "--import", "--loader", "--experimental-loader", "-c", "--config", "--env", "--environment",
        "--rootDir", "--root", "--roots", "--timeout", "-t", "--ui", "-u", "--extension", "--file", "--setupFiles",
        "--maxWorkers", "-w", "--testTimeout", "--transform", "--preset", "--testEnvironment", "--pool", "--opts",
        "--package", "--node-option", "-n", "--slow", "-s", "--jobs", "-j", "--test-concurrency", "--conditions", "-C",
    }
)  # fmt: skip


def _by_use(manifests: Manifests, folder: str, traits: set[str]) -> Script | None:
    """The runner that is installed or configured, or Node's own where test files have its names."""
    installed = next((name for name in RUNNERS if name in traits), None)
    if installed:
        return Script(installed)
    names = [*manifests.names(folder), *manifests.names(join(folder, "test")), *manifests.names(join(folder, "tests"))]
    return Script(_NODE_TEST) if any(_TEST_FILE.fullmatch(name) for name in names) else None


def _package(manifests: Manifests, folder: str) -> Record:
    path = join(folder, PACKAGE)
    return (manifests.json(path) or {}) if manifests.is_file(path) else {}


def _tools(manifests: Manifests, folder: str, package: Record) -> Iterator[str]:
    declared = {name for key in _DEPENDENCIES for name in record(package.get(key))}
    names = manifests.names(folder)
    yield from (tool for tool in (*RUNNERS, "eslint", "prettier") if tool in declared or tool in package)
    yield from (tool for tool, rule in _CONFIGURED.items() if any(re.fullmatch(rule, name) for name in names))
    if "yarn.lock" in names and "# yarn lockfile v1" in (manifests.text(join(folder, "yarn.lock")) or "")[:300]:
        yield "yarn-classic"


def _other_script(written: str, script: Script) -> Iterator[str]:
    if written and _EMPTY_SCRIPT not in written and read_script(written) is None:
        yield f"the script `test` ({_shown(written)}) calls no runner that is known; {script.runner} is run instead"


def _unread(written: str) -> tuple[str, ...]:
    if not written or _EMPTY_SCRIPT in written:
        return ()
    return (f"the script `test` ({_shown(written)}) calls no runner that is known (jest, vitest, mocha, node --test)",)


def _package_notes(folder: str, package: Record) -> Iterator[str]:
    jest = record(package.get("jest"))
    for key in ("testPathIgnorePatterns", "testMatch", "testRegex", "passWithNoTests", "modulePathIgnorePatterns"):
        if jest.get(key):
            yield f"{join(folder, PACKAGE)} limits what jest runs: {key} = {_shown(str(jest[key]))}"


def _shown(written: str) -> str:
    return " ".join(written.split())[:120]
