"""What a requirement names as code, whether its tests have to do with it, and whose tools they use. Runs nothing.

A test may be able to fail, and be about something else. That is seen only where a requirement says between backticks
what it is about, and nothing of that name is there, or runs, or is named by the tests: whatever hints at it counts.
Source of the rule: `docs/proof.md`, "About something else".
"""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from agent_fox.core.regex import regex
from agent_fox.core.values import dataclass
from agent_fox.verifier.proof.lab import WHOLE

if TYPE_CHECKING:
    from agent_fox.verifier.mutants.sites import Site

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
        return any(_plain(site.owner.rpartition(".")[2]) == name for site in self.sites)

    def runs(self, name: str) -> bool:
        """Whether a function of this name, or one that names it, was executed, or may have been."""
        if WHOLE in self.starts:
            return name in _plain(self.text)
        ends: dict[tuple[int, int], int] = {}
        for site in self.sites:
            start, stop = site.owner_range or (site.owner_line, 0)
            if start in self.starts and site.owner:
                if _plain(site.owner.rpartition(".")[2]) == name:
                    return True
                ends[start, stop] = max(ends.get((start, stop), 0), site.end_line)
        lines, units = self.text.splitlines(), self.text.encode("utf-16-le")
        texts = (
            units[2 * start : 2 * stop].decode("utf-16-le", "replace") if stop else "\n".join(lines[start - 1 : last])
            for (start, stop), last in ends.items()
        )
        return any(name in _plain(text) for text in texts)


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
            if 2 * sum(self.has(_plain(part)) for part in parts) >= len(parts):
                return True
        return False

    def has(self, name: str) -> bool:
        if any(name in text for text in self.texts):
            return True
        if any(file.defines(name) for file in self.files):
            return any(file.runs(name) for file in self.files)
        return any(name in _plain(file.text) for file in self.files)


def subjects(requirement: str) -> tuple[str, ...]:
    """Names of code between backticks, as they are written: of `Cart.total()` that is the whole. Words of languages and
    names of two letters are none.
    """
    spans = (span.strip() for span in _SPAN.findall(requirement))
    return tuple(dict.fromkeys(span for span in spans if any(_wanted(span))))


def unmet(requirement: str, mentioning: Iterable[str], product: Iterable[Ran]) -> str:
    """What the requirement names, where its tests have to do with none of it; empty where they have, or it names
    nothing. `mentioning`: texts in which a mention is enough, such as those of the tests.
    """
    names = subjects(requirement)
    if not names:
        return ""
    sight = Sight([_plain(text) for text in mentioning], list(product))
    return "" if any(map(sight.meets, names)) else ", ".join(f"`{name}`" for name in names)


def _wanted(span: str) -> Iterator[str]:
    """The last name of a span; where that may be the ending of a file's name, the one before as well."""
    match = _NAME.fullmatch(span)
    names = [match[1]] if match else []
    if match and "." in span and len(match[1]) <= _LONGEST_ENDING:
        names.append(PurePosixPath(span).stem.rpartition(".")[2])
    yield from (name for name in names if len(_plain(name)) >= _LEAST and not _LANGUAGES.fullmatch(name.lower()))


def _plain(text: str) -> str:
    """Letters and digits alone, in lower case: `list_users`, `listUsers` and `list users` are the same."""
    return re.sub(r"[\W_]+", "", text.lower())


def replaced_tool(test: str, modules: Mapping[str, str], requirement: str) -> tuple[str, str] | None:
    """A name of Python's or of a library that a test's file uses, and the file of the product that puts its own in its
    place by `from ... import *`. `modules`: texts of the product's files, by path.

    None where there is none, where the requirement is about it, and where the text cannot be parsed.
    """
    tree = _parsed(test)
    used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
    known = {*vars(builtins)}
    meant = {_plain(name) for name in subjects(requirement)}
    for node in tree.body:
        if not isinstance(node, ast.ImportFrom) or node.names[0].name != "*":
            known |= {*_names_of(node)} if isinstance(node, ast.Import | ast.ImportFrom) else set()
            continue
        module = (node.module or "?").replace(".", "/")
        ends = f"/{module}.py", f"/{module}/__init__.py"
        for path in sorted(path for path in modules if f"/{path}".endswith(ends)):
            taken = sorted(name for name in (used & known) & offered(modules[path]) if _plain(name) not in meant)
            if taken:
                return taken[0], path
    return None


def matcher(text: str) -> str:
    """What a file of the product has from a library of tests that equals everything; empty where nothing."""
    if not any(module.rpartition(".")[2] in text for module in _MATCHERS):
        return ""
    tree = _parsed(text)
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module in _MATCHERS:
            name = _MATCHERS[node.module]
            if not name or name in {each.name for each in node.names}:
                return f"{node.module}.{name}".rstrip(".")
        elif isinstance(node, ast.Attribute) and node.attr == "ANY" and "mock" in ast.unparse(node.value):
            return f"{ast.unparse(node.value)}.ANY"
    return ""


def _parsed(text: str) -> ast.Module:
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return ast.Module([], [])


def offered(text: str) -> set[str]:
    """The names that `import *` takes from a module: those of `__all__`, or all at its top without an underscore."""
    at_top, listed = set(), None
    for node in _parsed(text).body:
        names = {*_names_of(node)}
        if "__all__" in names and isinstance(node, ast.Assign) and isinstance(node.value, ast.List | ast.Tuple):
            listed = {each.value for each in node.value.elts if isinstance(each, ast.Constant)}
        at_top |= names
    return at_top & listed if listed is not None else {name for name in at_top if not name.startswith("_")}


def _names_of(node: ast.stmt) -> Iterator[str]:
    """The names that a statement at the top of a module gives something to."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        yield node.name
    elif isinstance(node, ast.Import | ast.ImportFrom):
        yield from (each.asname or each.name.partition(".")[0] for each in node.names)
    else:
        yield from (
            each.id for each in ast.walk(node) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)
        )
