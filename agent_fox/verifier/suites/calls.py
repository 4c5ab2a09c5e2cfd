"""Which tool a command line calls, through whatever wrappers. Options of the tools are elsewhere; runs nothing."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from pathlib import Path, PurePath

from agent_fox.core.json_text import json_object
from agent_fox.core.regex import regex
from agent_fox.core.values import dataclass
from agent_fox.system.files import content_in
from agent_fox.verifier.projects.scripts import JEST_WRAPPERS

_ASSIGNMENT = regex(r"^[A-Za-z_]\w*=")
_PYTHON = regex(r"^(?:python|pypy)[\d.]*$")
_VERSION = regex(r"(?<=.)@[\w.^~-]+$")
_PYTHON_RUNNERS = frozenset({"uv", "poetry", "pdm", "pipenv", "hatch", "rye", "pixi"})
_PACKAGE_MANAGERS = frozenset({"npm", "pnpm", "yarn", "bun"})
_EXECUTORS = frozenset({"npx", "bunx", "pnpx"})
_WITH_VALUE = frozenset(
    {"--extra", "--with", "--group", "--python", "--package", "--directory", "--project", "--env-file", "--index"}
    | {"-p", "-C", "-X", "-W", "-n", "-k", "-s", "-u", "--prefix", "--filter", "--rcfile", "--source", "--chdir"}
)
_NAMES = {
    "py.test": "pytest",
    "mvn": "maven",
    "mvnw": "maven",
    "mvnd": "maven",
    "gradlew": "gradle",
    "gmake": "make",
    "typescript": "tsc",
}
_TOOLS = frozenset(
    {"pytest", "unittest", "go", "cargo", "maven", "gradle", "make", "ninja", "cmake", "ctest", "gcc", "g++", "cc"}
    | {
        "c++",
        "clang",
        "clang++",
        "javac",
        "rustc",
        "jest",
        "vitest",
        "mocha",
        "eslint",
        "prettier",
        "tsc",
        "mypy",
        "pyright",
    }
    | {"ruff", "black", "flake8", "isort", "compileall", "gofmt", "golangci-lint", "rustfmt", "prove", "bats"}
)
_SCRIPTS = {"t": "test", "tst": "test", "test": "test"}
_SEGMENTS = regex(r"\s*(?:&&|;)\s*")


@dataclass(frozen=True, slots=True)
class Call:
    """A call of a tool, under the word that its parser goes by. `at` is where the tool's name ends in `argv`.

    `variables` are set for it. `script` is the last command of the package manager's script that `argv` runs, where it
    runs one: arguments at the end of `argv` reach it.
    """

    tool: str
    argv: tuple[str, ...]
    at: int
    variables: Mapping[str, str] = field(default_factory=dict)
    script: str = ""

    @property
    def end(self) -> int:
        """Where options of the tool may still be added: before a double dash, or at the end."""
        rest = self.argv[self.at :]
        return self.at + rest.index("--") if "--" in rest else len(self.argv)

    def with_options(self, *options: str) -> Call:
        """The same call with options right behind the tool's name."""
        return replace(self, argv=(*self.argv[: self.at + 1], *options, *self.argv[self.at + 1 :]))

    def with_more(self, *options: str) -> Call:
        """The same call with options behind all others; a script of npm gets them behind a double dash."""
        if not self.script:
            return replace(self, argv=(*self.argv[: self.end], *options, *self.argv[self.end :]))
        needs_dash = PurePath(self.argv[self.at]).name == "npm" and "--" not in self.argv
        return replace(self, argv=(*self.argv, *(("--",) if needs_dash else ()), *options))

    def without(self, *flags: str, valued: Sequence[str] = (), words: Sequence[tuple[str, str]] = ()) -> Call:
        """The same call without options of the tool: flags, those with a value, and those with this value alone.

        What a script of npm says stays.
        """
        kept, left = list(self.argv[: self.at + 1]), list(self.argv[self.at + 1 :])
        while left:
            word = left.pop(0)
            name, is_set, value = word.partition("=")
            following = value if is_set else next(iter(left), "")
            if word == "--":
                left, kept = [], [*kept, word, *left]
            elif name in valued or (name, following) in words:
                left = left if is_set else left[1:]
            elif word not in flags:
                kept.append(word)
        return replace(self, argv=tuple(kept))


def call_of(argv: tuple[str, ...], workspace: Path | None = None) -> Call | None:
    """The tool that `argv` calls; None for an unknown one. A script is looked up in the workspace's manifest."""
    at = 0
    while at < len(argv):
        name = tool_name(argv[at])
        step = _step(name)
        if step is None:
            return _named(name, argv, at, workspace)
        at = step(argv, at)
    return None


def tool_name(word: str) -> str:
    """The tool's word: `./mvnw`, `mvn.cmd` and `maven` are the same."""
    plain = _VERSION.sub("", PurePath(word.replace("\\", "/")).name).removesuffix(".exe").removesuffix(".cmd")
    return _NAMES.get(plain, plain)


def _step(name: str) -> Callable[[tuple[str, ...], int], int] | None:
    """How to get over a wrapper, None if `name` is not one."""
    if name in ("env", "time", "nice", "nohup", "stdbuf", "xvfb-run", "timeout"):
        return _over_prefix
    if name in _PYTHON_RUNNERS:
        return _over_run
    if _PYTHON.match(name) or name == "coverage":
        return _over_module
    return _over_options if name in _EXECUTORS else None


def _over_prefix(argv: tuple[str, ...], at: int) -> int:
    after = _over_options(argv, at)
    if tool_name(argv[at]) == "timeout":
        after += 1
    while after < len(argv) and _ASSIGNMENT.match(argv[after]):
        after += 1
    return after


def _over_run(argv: tuple[str, ...], at: int) -> int:
    return _over_options(argv, argv.index("run", at)) if "run" in argv[at:] else len(argv)


def _over_module(argv: tuple[str, ...], at: int) -> int:
    """To the module of `python -m`; a script is no tool that is known."""
    return argv.index("-m", at) + 1 if "-m" in argv[at:] and _is_module(argv, at) else len(argv)


def _is_module(argv: tuple[str, ...], at: int) -> bool:
    """Whether only options stand before `-m`, so that it is the interpreter's."""
    where, first = argv.index("-m", at), at + 1
    if tool_name(argv[at]) == "coverage":
        first += 1
    while first < where:
        if not argv[first].startswith("-"):
            return False
        first += 2 if argv[first] in _WITH_VALUE else 1
    return True


def _over_options(argv: tuple[str, ...], at: int) -> int:
    at += 1
    while at < len(argv) and argv[at].startswith("-"):
        at += 2 if argv[at] in _WITH_VALUE else 1
    return at


def _named(name: str, argv: tuple[str, ...], at: int, workspace: Path | None) -> Call | None:
    if name in _PACKAGE_MANAGERS:
        return _managed(argv, at, workspace)
    if name == "node":
        return Call("node-test" if "--test" in argv[at:] else "node", argv, at)
    if argv[at + 1 : at + 2] == (JEST_WRAPPERS.get(name),):
        return Call("jest", argv, at + 1)
    return Call(name, argv, at) if name in _TOOLS else None


def _managed(argv: tuple[str, ...], at: int, workspace: Path | None) -> Call | None:
    """`npm test`, `pnpm run check`, `yarn jest`, `npm exec -- vitest`."""
    verb_at = _over_options(argv, at)
    verb = argv[verb_at] if verb_at < len(argv) else ""
    if verb in ("exec", "dlx", "x"):
        return call_of_rest(argv, _over_options(argv, verb_at), workspace)
    if verb in ("run", "run-script"):
        name_at = _over_options(argv, verb_at)
        return _script(argv[name_at] if name_at < len(argv) else "", argv, at, workspace)
    if verb in _SCRIPTS:
        return _script(_SCRIPTS[verb], argv, at, workspace)
    inner = call_of_rest(argv, verb_at, workspace) if argv[at] != "npm" else None
    return inner or Call("npm", argv, at)


def call_of_rest(argv: tuple[str, ...], start: int, workspace: Path | None) -> Call | None:
    inner = call_of(argv[start:], workspace)
    return replace(inner, argv=argv, at=inner.at + start) if inner else None


def _script(name: str, argv: tuple[str, ...], at: int, workspace: Path | None) -> Call:
    """A script whose last command is a known tool counts as a call of that tool."""
    text = _script_text(workspace, name) if workspace else ""
    last = _SEGMENTS.split(text)[-1].strip()
    inner = call_of(_split(last)) if last and not re.search(r"[|<>&`]|\$\(", last) else None
    if inner is None or inner.script:
        return Call("npm", argv, at)
    return Call(inner.tool, argv, at, script=last)


def _split(text: str) -> tuple[str, ...]:
    try:
        words = shlex.split(text)
    except ValueError:
        return ()
    return tuple(words[next((n for n, word in enumerate(words) if not _ASSIGNMENT.match(word)), len(words)) :])


def _script_text(workspace: Path, name: str) -> str:
    manifest = json_object(content_in(workspace, "package.json") or b"") or {}
    scripts = manifest.get("scripts")
    text = scripts.get(name) if isinstance(scripts, dict) else None
    return text if isinstance(text, str) else ""
