"""What JavaScript projects use: the runner that the script `test` names, with its arguments, and the usual tools."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping
from itertools import count
from pathlib import PurePosixPath

from agent_fox.core.regex import regex
from agent_fox.core.values import dataclass
from agent_fox.verifier.ground.command_line import CommandRefused, split_command
from agent_fox.verifier.logs.streams.records import Record, record, text
from agent_fox.verifier.projects.detect_javascript import PACKAGE
from agent_fox.verifier.projects.manifests import Manifests, join
from agent_fox.verifier.projects.skipping import carries_options, narrows, skipping_arguments
from agent_fox.verifier.projects.systems import Facts, Place

RUNNERS = ("jest", "vitest", "mocha", "ava", "tap", "tape", "uvu")
_NODE_TEST = "node-test"
_CHAIN = regex(r"&&|;")
_EMPTY_SCRIPT = "no test specified"
_PREFIXES = frozenset({"cross-env", "npx", "dotenv", "c8", "nyc"})
_MANAGERS = frozenset({"npm", "pnpm", "yarn"})
_SOME_SCRIPTS = regex(r"/\^([\w:-]+)(?:\.\*)?/")
_DEEPEST = 4  # scripts that call one another
_MOST_COMMANDS = 200  # of a test script, those of the scripts that it calls counted in
_DEPENDENCIES = ("devDependencies", "dependencies", "peerDependencies")
_CONFIGURED = {
    "jest": r"jest\.config\.\w+",
    "vitest": r"vitest\.(?:config|workspace)\.\w+",
    "mocha": r"\.mocharc\.\w+",
    "ava": r"ava\.config\.\w+",
    "tap": r"\.taprc",
    "eslint": r"eslint\.config\.\w+|\.eslintrc(?:\.\w+)?",
    "prettier": r"\.prettierrc(?:\.\w+)?|prettier\.config\.\w+",
    "typescript": r"tsconfig\.json",
    "yarn-classic": r"\.yarnrc",
}
_REPORTING = regex(
    r"(?:--test-reporter(?:-destination)?|--reporters?|-R|--reporter-options?|-O|--outputFile(?:\.\w+)?|--json|--tap)(?:=|$)"
)
_TEST_FILE = regex(r".+[.\-_]test\.[cm]?js|test-.+\.[cm]?js|test\.[cm]?js")
_SCRIPT_FILE = regex(r".+\.[cm]?js")
_ALL_TESTS = regex(r"(?:.*/)?tests?(?:/index)?\.[cm]?js|.+[.\-_]test\.[cm]?js")
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
    scripts = {name: text(line) for name, line in record(packages[0].get("scripts")).items()}
    written = scripts.get("test", "")
    script = read_script(written, scripts) or _by_use(manifests, place.folder, traits)
    notes = (*script.notes, *_other_script(written, scripts, script)) if script else _unread(written)
    traits = (traits - set(RUNNERS)) | ({script.runner} if script else set())
    lists = {"script": script.options if script else (), "targets": script.targets if script else ()}
    variables = dict(script.variables) if script else {}
    return Facts(
        frozenset(traits), lists, variables=variables, notes=(*notes, *_package_notes(place.folder, packages[0]))
    )


def read_script(written: str, others: Mapping[str, str] | None = None) -> Script | None:
    """The runner that a test script calls, itself or through other scripts; None where it calls none that is known."""
    lines = list(_lines(written, others or {}, 0, count()))
    scripts = [script for line in lines if (script := _link(line))]
    if not scripts:
        return None
    note = (f"the script `test` does more than run {scripts[0].runner}: the rest is not run",) if len(lines) > 1 else ()
    first = scripts[0]
    return Script(first.runner, first.options, first.targets, first.variables, (*first.notes, *note))


def _lines(written: str, others: Mapping[str, str], depth: int, taken: Iterator[int]) -> Iterator[str]:
    """The commands of a script, in order; in the place of `npm run NAME -- MORE` and `pnpm run "/^NAME/"` those of the
    scripts that it calls.
    """
    for line in (link.strip() for link in _CHAIN.split(written) if link.strip()):
        if next(taken) >= _MOST_COMMANDS:
            return
        _, argv = _command(line)
        is_call = len(argv) > 1 and argv[0] in _MANAGERS and depth < _DEEPEST
        name, *given = (argv[2:] if argv[1] in ("run", "run-script") else argv[1:]) or [""] if is_call else [""]
        some = _SOME_SCRIPTS.fullmatch(name)
        called = [script for other, script in others.items() if some and other.startswith(some[1])]
        if is_call and name in others:
            called = [f"{others[name]} {shlex.join(given[1:] if given[:1] == ['--'] else given)}".strip()]
        for script in called:
            yield from _lines(script, others, depth + 1, taken)
        if not called:
            yield line


def _command(line: str) -> tuple[dict[str, str], list[str]]:
    """The variables and words of one command, without what only measures it or sets its variables."""
    try:
        command = split_command(line)
    except CommandRefused:
        return {}, []
    variables, argv = dict(command.variables), list(command.argv)
    while argv and PurePosixPath(argv[0]).name in _PREFIXES:
        argv = argv[1:]
        while argv and PurePosixPath(argv[0]).name not in (*RUNNERS, *_PREFIXES, *_MANAGERS, "node"):
            name, is_set, value = argv.pop(0).partition("=")
            variables.update({name: value} if is_set and name.isidentifier() else {})
    return variables, argv


def _link(line: str) -> Script | None:
    """One command of a script."""
    variables, argv = _command(line)
    if argv and argv[0] in _MANAGERS:  # `pnpm vitest run`, `yarn run vitest`, `npm exec vitest`
        argv = argv[2:] if argv[1:2] in (["exec"], ["run"]) else argv[1:]
    if not argv:
        return None
    program, arguments = PurePosixPath(argv[0]).name, argv[1:]
    file = next((each for each in arguments if _SCRIPT_FILE.fullmatch(each)), "")
    if program == "node" and ("--test" in arguments or _ALL_TESTS.fullmatch(file)):
        return _script(_NODE_TEST, "node", [argument for argument in arguments if argument != "--test"], variables)
    if program not in RUNNERS:
        return None
    return _script(program, program, arguments[1:] if arguments[:1] == ["run"] else arguments, variables)


def _script(runner: str, program: str, arguments: list[str], variables: dict[str, str]) -> Script:
    skipped = set(skipping_arguments((program, *arguments)))
    options: list[str] = []
    targets: list[str] = []
    notes = [f"the script `test` says {each}, which is left aside: it may leave tests out" for each in sorted(skipped)]
    kept = iter(arguments)
    for each in kept:
        if each in skipped:
            if each in _LEAVES_OUT:
                next(kept, None)
        elif _REPORTING.match(each):
            notes.append(f"the script `test` says {each}, which is left aside: the verifier has a report of its own")
            if "=" not in each and each not in ("--json", "--tap"):
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


_LEAVES_OUT = frozenset({"--ignore", "--exclude", "--ignore-pattern", "--match", "-m"})
"""Of the options that are left aside, those whose value is the next word."""
_VALUED = frozenset(
    {
        "-r", "--require", "--import", "--loader", "--experimental-loader", "-c", "--config", "--env", "--environment",
        "--rootDir", "--root", "--roots", "--timeout", "-t", "--ui", "-u", "--extension", "--file", "--setupFiles",
        "--maxWorkers", "-w", "--testTimeout", "--transform", "--preset", "--testEnvironment", "--pool", "--opts",
        "--package", "--node-option", "-n", "--slow", "-s", "--jobs", "-j", "--test-concurrency", "--conditions", "-C",
        "--ignore", "-i",
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


def _other_script(written: str, scripts: Mapping[str, str], script: Script) -> Iterator[str]:
    if written and _EMPTY_SCRIPT not in written and read_script(written, scripts) is None:
        yield f"the script `test` ({_shown(written)}) calls no runner that is known; {script.runner} is run instead"


def _unread(written: str) -> tuple[str, ...]:
    if not written or _EMPTY_SCRIPT in written:
        return ()
    return (f"the script `test` ({_shown(written)}) calls no runner that is known ({', '.join(RUNNERS)}, node --test)",)


def _package_notes(folder: str, package: Record) -> Iterator[str]:
    jest = record(package.get("jest"))
    for key in ("testPathIgnorePatterns", "testMatch", "testRegex", "passWithNoTests", "modulePathIgnorePatterns"):
        if jest.get(key):
            yield f"{join(folder, PACKAGE)} limits what jest runs: {key} = {_shown(str(jest[key]))}"


def _shown(written: str) -> str:
    return " ".join(written.split())[:120]
