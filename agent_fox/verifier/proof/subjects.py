"""What a requirement names as code, whether its tests have to do with it, and whose tools they use. Runs nothing.

A test may be able to fail, and be about something else. That is seen only where a requirement says between backticks
what it is about, and nothing of that name is there, or runs, or is named by the tests: whatever hints at it counts.
Source of the rule: `docs/proof.md`, "About something else".
"""

from __future__ import annotations

import ast
import builtins
import importlib.util
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import field
from functools import cache
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from agent_fox.core.regex import regex
from agent_fox.core.values import dataclass
from agent_fox.verifier.proof.lab import WHOLE

if TYPE_CHECKING:
    from agent_fox.verifier.mutants.sites import Site
    from agent_fox.verifier.proof.lab import Executed

_SPAN = regex(r"`([^`\n]+)`")
_NAME = regex(r"(?:[A-Za-z_$][\w$]*(?:\.|::|#|->))*([A-Za-z_$][\w$]*)(?:\(.*\))?[!?]?")
_PART = regex(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_LEAST = 3
_LEAST_OF_PART = 4
_LONGEST_ENDING = 4
_LANGUAGES = regex(
    r"none|null|nil|undefined|true|false|self|this|int|integer|str|string|float|double|bool|boolean|bytes|list"
    r"|dict|map|set|tuple|array|object|void|never|error|exception|result|option|some|async|await|return|raise|throw|throws"
)
"""Words of languages: they name nothing of a project."""

_MATCHERS = {"unittest.mock": "ANY", "mock": "ANY", "dirty_equals": ""}
"""Modules of tests, and what they have that equals everything; empty: all that they have."""


@dataclass(frozen=True, slots=True)
class Ran:
    """A file of the product that tests execute: its text, what can be broken in it, and where the functions begin."""

    text: str
    sites: Sequence[Site]
    starts: frozenset[int] = field(default_factory=frozenset)

    def defines(self, name: str) -> bool:
        """Whether a function of this name, in which something can be broken, stands there."""
        return any(plain(site.owner.rpartition(".")[2]) == name for site in self.sites)

    def runs(self, name: str) -> bool:
        """Whether a function of this name, or one that names it, was executed, or may have been."""
        if WHOLE in self.starts:
            return name in plain(self.text)
        ends: dict[tuple[int, int], int] = {}
        for site in self.sites:
            start, stop = site.owner_range or (site.owner_line, 0)
            if start in self.starts and site.owner:
                if plain(site.owner.rpartition(".")[2]) == name:
                    return True
                ends[start, stop] = max(ends.get((start, stop), 0), site.end_line)
        lines, units = self.text.splitlines(), self.text.encode("utf-16-le")
        texts = (
            units[2 * start : 2 * stop].decode("utf-16-le", "replace") if stop else "\n".join(lines[start - 1 : last])
            for (start, stop), last in ends.items()
        )
        return any(name in plain(text) for text in texts)


@dataclass(frozen=True, slots=True)
class Sight:
    """What tests have to do with: texts in which a mention is enough, in letters and digits, and files that run."""

    texts: Sequence[str]
    files: Sequence[Ran]

    def meets(self, span: str) -> bool:
        """Of a name with a capital, such as that of a component, half of its parts are enough."""
        for name in _wanted(span):
            parts = _PART.findall(name) if name[:1].isupper() else []
            parts = [part for part in parts if len(part) >= _LEAST_OF_PART] or [name]
            if 2 * sum(self.has(plain(part)) for part in parts) >= len(parts):
                return True
        return False

    def has(self, name: str) -> bool:
        if any(name in text for text in self.texts):
            return True
        if any(file.defines(name) for file in self.files):
            return any(file.runs(name) for file in self.files)
        return any(name in plain(file.text) for file in self.files)


def subjects(requirement: str) -> tuple[str, ...]:
    """Names of code between backticks, as they are written: of `Cart.total()` that is the whole. Words of languages and
    names of two letters are none.
    """
    spans = (span.strip() for span in _SPAN.findall(requirement))
    return tuple(dict.fromkeys(span for span in spans if any(_wanted(span))))


def unmet(requirement: str, sight: Sight) -> str:
    """What the requirement names, where its tests have to do with none of it; empty where they have, or it names
    nothing.
    """
    names = subjects(requirement)
    return "" if not names or any(map(sight.meets, names)) else ", ".join(f"`{name}`" for name in names)


class Aims:
    """What tests are about, for the requirements of one verification, whose files are each read once.

    `text_of`: a file's text, `sites_of`: what can be broken in it. `code`, `changed`: the files of code, and those that
    were changed since the base commit.
    """

    def __init__(
        self, text_of: Callable[[str], str | None], sites_of: Callable[[str], Sequence[Site]], code: frozenset[str],
        changed: frozenset[str],
    ) -> None:  # fmt: skip
        self._text = cache(lambda path: text_of(path) or "")
        self._plain = cache(lambda path: plain(f"{path}\n{self._text(path)}"))
        self._matcher = cache(lambda path: matcher(self._text(path)))
        self._stars = cache(lambda path: Stars.of(self._text(path)))
        self._offered = cache(lambda path: offered(self._text(path)))
        self._sites, self._code, self._changed = sites_of, code, changed

    def why_not(
        self, requirement: str, tests: frozenset[str], opened: frozenset[str], executed: frozenset[Executed]
    ) -> str:
        """Why tests that can fail show nothing of a requirement; empty where nothing speaks against it. `tests`: their
        files; `executed`: what they execute of the product, where that was seen.
        """
        missing = unmet(requirement, Sight([self._plain(test) for test in tests], ()))
        ran = {file for file, _ in executed}
        if missing:
            mentioning = opened - self._code if ran else opened | self._code
            files = sorted(ran | (self._changed & self._code)) if ran else ()
            starts = {file: frozenset(start for path, start in executed if path == file) for file in files}
            product = [Ran(self._text(file), self._sites(file), starts[file]) for file in files]
            missing = unmet(requirement, Sight([self._plain(path) for path in mentioning], product))
        if missing:
            return f"the requirement names {missing}, which its tests neither name nor run"
        ours = sorted(path for path in (ran or self._code) & self._changed if path.endswith(".py"))
        meant = frozenset(map(plain, subjects(requirement)))
        for test in sorted(tests):
            for name, path in self._stars(test).replaced(ours, self._offered, meant):
                return f"`{name}` in {test} is not the known one: {path} puts its own there"
        return next(
            (f"{path} answers with {each}, which equals whatever a test expects" for path in ours
             if (each := self._matcher(path))), "",
        )  # fmt: skip


def _wanted(span: str) -> Iterator[str]:
    """The last name of a span; where that may be the ending of a file's name, the one before as well."""
    match = _NAME.fullmatch(span)
    names = [match[1]] if match else []
    if match and "." in span and len(match[1]) <= _LONGEST_ENDING:
        names.append(PurePosixPath(span).stem.rpartition(".")[2])
    yield from (name for name in names if len(plain(name)) >= _LEAST and not _LANGUAGES.fullmatch(name.lower()))


def plain(text: str) -> str:
    """Letters and digits alone, in lower case: `list_users`, `listUsers` and `list users` are the same."""
    return re.sub(r"[\W_]+", "", text.lower())


@dataclass(frozen=True, slots=True)
class Stars:
    """What a file of tests takes from modules by `import *`. `modules`: each, with the names that the file uses and had
    before from the language or a library. `standard`: what it takes by name from modules of the standard library.
    """

    modules: tuple[tuple[str, frozenset[str]], ...] = ()
    standard: tuple[tuple[str, str], ...] = ()

    @staticmethod
    def of(text: str) -> Stars:
        """Nothing where the text cannot be parsed."""
        tree, modules, standard = parsed(text), [], []
        used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
        known = {*vars(builtins)}
        for node in tree.body:
            if isinstance(node, ast.ImportFrom) and node.names[0].name == "*":
                modules.append(((node.module or "?").replace(".", "/"), frozenset(used & known)))
            elif isinstance(node, ast.Import | ast.ImportFrom):
                known |= {*names_of(node)}
                names = [(node.module, each.name) for each in node.names] if isinstance(node, ast.ImportFrom) else []
                standard += [(module or "", name) for module, name in names if module in sys.stdlib_module_names]
        return Stars(tuple(modules), tuple(standard))

    def replaced(
        self, product: Iterable[str], offered_by: Callable[[str], frozenset[str]], meant: frozenset[str]
    ) -> Iterator[tuple[str, str]]:
        """Names that files of the product put their own for, but those that are `meant`."""
        for module, known in self.modules:
            ends = f"/{module}.py", f"/{module}/__init__.py"
            for path in (path for path in product if f"/{path}".endswith(ends)):
                yield from ((name, path) for name in sorted(known & offered_by(path)) if plain(name) not in meant)
        ours = {path.removeprefix("src/"): path for path in product}
        for module, name in self.standard:
            there = ours.get(f"{module}.py") or ours.get(f"{module}/__init__.py")
            if there and name in offered_by(there) and name in standard_names(module) and plain(module) not in meant:
                yield name, there


@cache
def standard_names(module: str) -> frozenset[str]:
    """What a module of the standard library has, as far as its text says so."""
    spec = importlib.util.find_spec(module)
    try:
        return offered(Path(spec.origin).read_text("utf-8")) if spec and spec.origin else frozenset()
    except (OSError, ValueError):
        return frozenset()


def matcher(text: str) -> str:
    """What a file of the product has from a library of tests that equals everything; empty where nothing."""
    if not any(module.rpartition(".")[2] in text for module in _MATCHERS):
        return ""
    tree = parsed(text)
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module in _MATCHERS:
            name = _MATCHERS[node.module]
            if not name or name in {each.name for each in node.names}:
                return f"{node.module}.{name}".rstrip(".")
        elif isinstance(node, ast.Attribute) and node.attr == "ANY" and "mock" in ast.unparse(node.value):
            return f"{ast.unparse(node.value)}.ANY"
    return ""


def parsed(text: str) -> ast.Module:
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return ast.Module([], [])


def offered(text: str) -> frozenset[str]:
    """The names that `import *` takes from a module: those of `__all__`, or all at its top without an underscore."""
    at_top, listed = set(), None
    for node in parsed(text).body:
        names = {*names_of(node)}
        if "__all__" in names and isinstance(node, ast.Assign) and isinstance(node.value, ast.List | ast.Tuple):
            listed = {each.value for each in node.value.elts if isinstance(each, ast.Constant)}
        at_top |= names
    return frozenset(at_top & listed if listed is not None else (n for n in at_top if not n.startswith("_")))


def names_of(node: ast.stmt) -> Iterator[str]:
    """The names that a statement at the top of a module gives something to."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        yield node.name
    elif isinstance(node, ast.Import | ast.ImportFrom):
        yield from (each.asname or each.name.partition(".")[0] for each in node.names)
    else:
        yield from (
            each.id for each in ast.walk(node) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)
        )
