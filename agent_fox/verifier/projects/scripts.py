"""What the script `test` of a package.json runs: the runner that it calls, itself or through other scripts, and what
builds before it.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import count
from pathlib import PurePosixPath

from agent_fox.core.regex import regex
from agent_fox.core.values import dataclass
from agent_fox.verifier.ground.command_line import CommandRefused, split_command
from agent_fox.verifier.projects.skipping import carries_options, narrows, skipping_arguments

RUNNERS = ("jest", "vitest", "mocha", "ava", "tap", "tape", "uvu", "jasmine", "qunit")
JEST_WRAPPERS = {"craco": "test", "react-scripts": "test"}
"""Programs that bring Jest with settings of their own, and their word for running it; what follows it is Jest's."""
NODE_TEST = "node-test"
_LINKS = regex(r"""(?:[^"'|;&]|"[^"]*"|'[^']*'|(?<!&)&(?!&))+""")
"""Commands of a chain or a pipe: `tsc && jest "a|b" 2>&1 | tee log` holds three."""
_REDIRECTION = regex(r"""("[^"]*"|'[^']*')|(?<!\S)\d?>>?\s*(?:&\d|[^\s"'>|&]+)""")
"""`> out.txt`, `2>&1`; what stands in quotes is the first group."""
EMPTY_SCRIPT = "no test specified"
_PREFIXES = frozenset({"cross-env", "env", "npx", "dotenv", "c8", "nyc"})
_MANAGERS = frozenset({"npm", "pnpm", "yarn"})
_SOME_SCRIPTS = regex(r"/\^([\w:-]+)(?:\.\*)?/")
_OF_PACKAGES = regex(r"-ws|-w|--workspaces?(?:=.*)?|-r|--recursive|--filter(?:=.*)?")
"""Options by which a manager runs the script of other packages."""
_CALLERS = frozenset({"run-s", "run-p", "npm-run-all", "concurrently"})
"""Programs that run several scripts, by their names or `test:*`; the last takes commands, and `npm:NAME`."""
_OF_A_PACKAGE = regex(r"(?:\./)?node_modules/(?:\.bin/)?([\w-]+)(?:/[\w./-]+)?")
_BUILDERS = frozenset(
    {"babel", "bundt", "copyfiles", "cp", "cpx", "cpy", "del", "del-cli", "esbuild", "microbundle", "mkdir", "mkdirp"}
    | {"mv", "ncc", "ncp", "parcel", "pkgroll", "rimraf", "rm", "rollup", "shx", "swc", "tsc", "tsdown", "tshy", "tsup"}
    | {"unbuild", "vite", "webpack"}
)
"""Programs that build, and those that make room for it."""
_PROGRAMS = frozenset({*RUNNERS, *JEST_WRAPPERS, *_PREFIXES, *_MANAGERS, "node", *_BUILDERS})
_DEEPEST = 4  # scripts that call one another
_MOST_COMMANDS = 200  # of a test script, those of the scripts that it calls counted in
_REPORTING = regex(
    r"(?:--test-reporter(?:-destination)?|--reporters?|-R|--reporter-options?|-O|--outputFile(?:\.\w+)?|--json|--tap)(?:=|$)"
)
_SCRIPT_FILE = regex(r".+\.[cm]?js")
_ALL_TESTS = regex(r"(?:.*/)?tests?(?:/index)?\.[cm]?js|.+[.\-_]test\.[cm]?js")
_GLOB = regex(r"[*?\[]")
_BUILDING = frozenset({"parcel", "vite"})
"""Of these those that build only when they are told to."""
_BUILD_FILE = regex(r"(?:.*/)?[\w.-]*(?:build|bundle|compile|generate)[\w.-]*")
_ENDLESS = regex(r"-w|--watch(?:=.*)?|serve|--serve(?:=.*)?|--noEmit")
"""Words by which a builder never ends, or builds nothing."""
_OUTSIDE = regex(r"^/|(?:^|[/=])\.\.(?:/|$)|(?:^|[/=])\.git(?:/|$)")
"""Words that lead out of the package, or into git's own folder."""
_REMOVERS = frozenset({"del", "del-cli", "mv", "rimraf", "rm", "shx"})
_NO_PRODUCT = regex(r"^(?:\./)*(?:node_modules|\.|\*+)?/?$")
"""What no build may remove: the package, all in it, or what is installed."""


@dataclass(frozen=True, slots=True)
class Script:
    """A test script, read: its runner, the runner's options, what it is to test, and variables.

    before: commands that build what the tests need. notes: what was left aside.
    """

    runner: str
    options: tuple[str, ...] = ()
    targets: tuple[str, ...] = ()
    variables: tuple[tuple[str, str], ...] = ()
    notes: tuple[str, ...] = ()
    before: tuple[tuple[str, ...], ...] = ()


def read_script(written: str, others: Mapping[str, str] | None = None) -> Script | None:
    """The runner that a test script calls, itself or through other scripts; None where it calls none that is known.

    others: the scripts beside it, by name; `pretest` is run before it.
    """
    scripts = others or {}
    lines = [*_all_lines(scripts.get("pretest", ""), scripts), *_all_lines(written, scripts)]
    calls = [(at, script) for at, line in enumerate(lines) if (script := _link(line))]
    if not calls:
        return None
    before = _builds(lines[: calls[0][0]])
    same = [script for _, script in calls if script.runner == calls[0][1].runner]
    script, joined = _widest(same)
    is_part = len(lines) > joined + len(before)
    note = (f"the script `test` does more than run {script.runner}: the rest is not run",) if is_part else ()
    built = (f"before the tests, as the script `test` does: {shown(before)}",) if before else ()
    return replace(script, notes=(*script.notes, *note, *built), before=before)


def _widest(calls: Sequence[Script]) -> tuple[Script, int]:
    """Of several calls of a runner the one that runs all tests, else the first with what those like it run; and how
    many calls this stands for.
    """
    whole = next((script for script in calls if not script.targets), None)
    if whole:
        return whole, 1
    first = calls[0]
    like = [script for script in calls if (script.options, script.variables) == (first.options, first.variables)]
    targets = dict.fromkeys(target for script in like for target in script.targets)
    notes = dict.fromkeys(note for script in like for note in script.notes)
    return replace(first, targets=tuple(targets), notes=tuple(notes)), len(like)


def builds(written: str, scripts: Mapping[str, str]) -> tuple[tuple[str, ...], ...]:
    """The commands of a script that build, those of the scripts that it calls included."""
    return _builds(_all_lines(written, scripts))


def shown(commands: Sequence[Sequence[str]]) -> str:
    return " && ".join(map(shlex.join, commands))


def _all_lines(written: str, scripts: Mapping[str, str]) -> list[str]:
    return list(_lines(written, scripts, 0, count()))


def _builds(lines: Sequence[str]) -> tuple[tuple[str, ...], ...]:
    return tuple(dict.fromkeys(build for line in lines if (build := _build(line))))


def _build(line: str) -> tuple[str, ...] | None:
    """A command that makes files which the tests need; None for every other, and for one that leads outside."""
    variables, argv = _command(line)
    program, rest = (PurePosixPath(argv[0]).name, argv[1:]) if argv else ("", [])
    if argv[:1] and argv[0].startswith("./") and not argv[0].startswith("./node_modules/"):
        program, is_build = argv[0], _BUILD_FILE.fullmatch(argv[0]) is not None
    elif program == "node":
        is_build = bool(rest) and _BUILD_FILE.fullmatch(rest[0]) is not None
    else:
        is_build = program in _BUILDERS and (program not in _BUILDING or rest[:1] == ["build"])
    if not is_build or any(_ENDLESS.fullmatch(word) or _OUTSIDE.search(word) for word in rest):
        return None
    if program in _REMOVERS and any(_NO_PRODUCT.search(word) for word in rest):
        return None
    assigned = [f"{name}={value}" for name, value in variables.items()]
    return (*(["env", *assigned] if assigned else []), program, *rest)


def _lines(written: str, others: Mapping[str, str], depth: int, taken: Iterator[int]) -> Iterator[str]:
    """The commands of a script, in order; in the place of a call of other scripts (`npm run NAME -- MORE`,
    `pnpm run "/^NAME/"`, `run-s NAME:*`) those of these.
    """
    for line in (link.strip() for link in _LINKS.findall(_REDIRECTION.sub(r"\1", written)) if link.strip()):
        if next(taken) >= _MOST_COMMANDS:
            return
        _, argv = _command(line)
        called = _called(argv, others) if len(argv) > 1 and depth < _DEEPEST else []
        for script in called:
            yield from _lines(script, others, depth + 1, taken)
        if not called:
            yield line


def _called(argv: list[str], others: Mapping[str, str]) -> list[str]:
    """The scripts that this command runs, as they are written."""
    if argv[0] in _CALLERS:
        words = [word.removeprefix("npm:") for word in argv[1:] if not word.startswith("-")]
        named = [others[name] for word in words for name in others if _is_named(word, name)]
        return [*named, *(word for word in words if " " in word and argv[0] == "concurrently")]
    if argv[0] not in _MANAGERS or any(_OF_PACKAGES.fullmatch(word) for word in argv):
        return []
    name, *given = (argv[2:] if argv[1] in ("run", "run-script") else argv[1:]) or [""]
    if name in others:
        at = given.index("--") if "--" in given else len(given)
        own = [word for word in given[:at] if argv[0] != "npm" or not word.startswith("-")]  # others are npm's options
        before = [others[f"pre{name}"]] if f"pre{name}" in others else []
        return [*before, f"{others[name]} {shlex.join([*own, *given[at + 1 :]])}".strip()]
    some = _SOME_SCRIPTS.fullmatch(name)
    return [script for other, script in others.items() if some and other.startswith(some[1])]


def _is_named(pattern: str, name: str) -> bool:
    """`test:*` names `test:unit`, and only `test:**` also `test:unit:slow`."""
    parts, named = pattern.split(":"), name.split(":")
    if parts[-1] == "**":
        return len(named) >= len(parts) and named[: len(parts) - 1] == parts[:-1]
    return len(named) == len(parts) and all(part in ("*", word) for part, word in zip(parts, named, strict=True))


def _command(line: str) -> tuple[dict[str, str], list[str]]:
    """The variables and words of one command, without what only measures it or sets its variables."""
    try:
        command = split_command(line)
    except CommandRefused:
        return {}, []
    variables, argv = dict(command.variables), list(command.argv)
    while argv and PurePosixPath(argv[0]).name in _PREFIXES:
        argv = argv[1:]
        while argv and PurePosixPath(argv[0]).name not in _PROGRAMS:
            name, is_set, value = argv.pop(0).partition("=")
            variables.update({name: value} if is_set and name.isidentifier() else {})
    if argv[:1] == ["node"]:
        options, rest = _over_options(argv[1:])
        package = _OF_A_PACKAGE.fullmatch(rest[0]) if rest else None
        if package and package[1] in RUNNERS:
            argv = [package[1], *rest[1:]]
            variables.update({"NODE_OPTIONS": " ".join(options)} if options else {})
    elif argv[:1] == ["tsx"] and "--test" in argv:
        argv = ["node", "--import", *argv]
    return variables, argv


def _over_options(words: list[str]) -> tuple[list[str], list[str]]:
    """What stands before the first word that is neither an option of Node's nor its value, and the rest."""
    at = 0
    while at < len(words) and words[at].startswith("-"):
        at += 2 if words[at] in _VALUED else 1
    return words[:at], words[at:]


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
        return _script(NODE_TEST, "node", [argument for argument in arguments if argument != "--test"], variables)
    if arguments and JEST_WRAPPERS.get(program) == arguments[0]:
        return _script(program, "jest", arguments[1:], variables)
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
        elif narrows(each) and (runner, each) != ("mocha", "-t"):  # there it is a time limit
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
