"""What test sources say about themselves: names, docstrings, markers. Read, never imported."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import field
from itertools import takewhile
from pathlib import Path

from agent_fox.core.regex import regex
from agent_fox.core.values import dataclass

LARGEST_SOURCE = 2 * 1024 * 1024  # bytes; a larger file is no test a person wrote

_HUMPS = regex(r"(?<=[a-z])(?=[A-Z0-9])|(?<=[A-Z])(?=\d)|(?<=\d)(?=[A-Z])")
_NUMBER_FIRST = regex(r"^(\d+)_([a-z]+)_(\d.*)$")

_Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, slots=True)
class Source:
    """One test file. `said` maps a test's place (`("TestCart", "test_total")`) to what is written about it.

    What a class says holds for each of its tests. `text` is the whole file, for one that can't be parsed. Of other
    languages than Python, `said` has the comments right above a test, by its name alone.
    """

    path: str
    text: str
    said: dict[tuple[str, ...], str] = field(default_factory=dict)

    def said_of(self, classes: tuple[str, ...], name: str) -> str:
        place = (*classes, name) if self.path.endswith(".py") else (name,)
        return self.said.get(place, "")


class Naming:
    """Finds ids (of requirements, of test specs) in test names and prose. The longer id is meant.

    Ids without a letter, such as `1.1`, are only numbers in prose: `counted_ids` finds them where they are called ids.
    """

    def __init__(self, ids: Iterable[str]) -> None:
        known = sorted({id for id in ids if re.search(r"[A-Za-z]", id)}, key=len, reverse=True)
        self._by_name = {name: id for id in reversed(known) for name in _names_of(id)}
        self._by_text = {id.upper(): id for id in known}
        self._name = _any_of(sorted(self._by_name, key=len, reverse=True), r"(?<![0-9a-z])", r"(?![0-9a-z])")
        self._text = _any_of(self._by_text, r"(?<![\w-])", r"(?![\w-]|\.\w)")

    def in_name(self, name: str) -> frozenset[str]:
        """Ids in a test's name: `test_04_req_1_1_rejects` and `TestReq04_1_1Rejects` name `04-REQ-1.1`."""
        return frozenset(self._by_name[each] for each in self._name(flat(name)))

    def in_text(self, text: str) -> frozenset[str]:
        """Ids in a docstring, a marker or a file."""
        return frozenset(self._by_text[each] for each in self._text(text.upper()))


def read_source(workspace: Path, path: str) -> Source | None:
    """Read a test file below the workspace; None if it is not there, not text, too large or outside."""
    place = (workspace / path).resolve()
    if not place.is_relative_to(workspace.resolve()) or not place.is_file():
        return None
    if place.stat().st_size > LARGEST_SOURCE:
        return None
    text = place.read_text("utf-8", "replace")
    return Source(path, text, _documented(text) if place.suffix == ".py" else comments_above(text, place.suffix))


def _documented(text: str) -> dict[tuple[str, ...], str]:
    try:
        module = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return {}
    texts: dict[tuple[str, ...], str] = {}
    _collect(module.body, (), _marks_of(module.body), text.split("\n"), texts)
    return texts


def _collect(
    body: list[ast.stmt],
    place: tuple[str, ...],
    inherited: str,
    lines: Sequence[str],
    texts: dict[tuple[str, ...], str],
) -> None:
    for node in body:
        if isinstance(node, ast.ClassDef):
            own = f"{inherited}\n{_words_of(node, lines)}\n{_marks_of(node.body)}"
            _collect(node.body, (*place, node.name), own, lines, texts)
        elif isinstance(node, _Function):
            texts[(*place, node.name)] = f"{inherited}\n{_words_of(node, lines)}"


def _words_of(node: _Function | ast.ClassDef, lines: Sequence[str]) -> str:
    marks = "\n".join(_strings(mark) for mark in node.decorator_list)
    return f"{ast.get_docstring(node) or ''}\n{marks}\n{_comment_above(node, lines)}"


def _comment_above(node: _Function | ast.ClassDef, lines: Sequence[str]) -> str:
    """The comment that stands right above a definition, and above its decorators."""
    last = min((node.lineno, *(mark.lineno for mark in node.decorator_list))) - 1
    above = takewhile(lambda line: line.lstrip().startswith("#"), reversed(lines[:last]))
    return "\n".join(reversed([*above]))


def _marks_of(body: list[ast.stmt]) -> str:
    """What `pytestmark = ...` of a module or class says."""
    return "\n".join(
        _strings(node.value)
        for node in body
        if isinstance(node, ast.Assign)
        and any(isinstance(target, ast.Name) and target.id == "pytestmark" for target in node.targets)
    )


def _strings(expression: ast.expr) -> str:
    """The strings given to `pytest.mark.NAME(...)` in an expression; parameters of tests are data."""
    calls = (node for node in ast.walk(expression) if isinstance(node, ast.Call))
    words = (
        node.value
        for call in calls
        if "mark" in ast.unparse(call.func).split(".") and not ast.unparse(call.func).endswith(".parametrize")
        for node in ast.walk(call)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    )
    return "\n".join(words)


def flat(text: str) -> str:
    """A name in small letters, its words apart: `TestReq04_1` is `test_req_04_1`."""
    return re.sub(r"[^0-9a-z]+", "_", _HUMPS.sub("_", text).lower()).strip("_")


def _names_of(id: str) -> tuple[str, ...]:
    """An id as names have it: `04_req_1_1`, and `req_04_1_1` where a name can't begin with a digit."""
    name = flat(id)
    return (name, *((_NUMBER_FIRST.sub(r"\2_\1_\3", name),) if _NUMBER_FIRST.match(name) else ()))


def _any_of(words: Iterable[str], before: str, after: str) -> Callable[[str], list[str]]:
    alternatives = "|".join(re.escape(word) for word in words)
    if not alternatives:
        return lambda text: []
    return re.compile(f"{before}(?:{alternatives}){after}").findall


_JAVASCRIPT = regex(r"""\s*(?:it|test|specify)(?:\.\w+)*\s*\(\s*(['"`])(?P<name>(?:(?!\1).)+)\1""")
_GO = regex(r"func (?P<name>(?:Test|Fuzz|Example)\w*)\(")
_RUST = regex(r"\s*(?:pub )?(?:async )?fn (?P<name>\w+)\s*\(")
_JAVA = regex(
    r"\s*(?:(?:public|protected|private|static|final|open|suspend) )*(?:void|fun)\s+`?(?P<name>[^`(]+?)`?\s*\("
)
_TESTS = {
    **dict.fromkeys((".js", ".jsx", ".mjs", ".cjs", ".ts", ".tsx", ".mts", ".cts"), _JAVASCRIPT),
    ".go": _GO,
    ".rs": _RUST,
    **dict.fromkeys((".java", ".kt", ".groovy"), _JAVA),
}
_ABOVE = regex(r"\s*(?://|/\*|\*|#\[|@)")


def comments_above(text: str, suffix: str) -> dict[tuple[str, ...], str]:
    """Name of a test -> the comments and annotations right above it. A name that stands twice says nothing."""
    pattern = _TESTS.get(suffix)
    if pattern is None:
        return {}
    lines = text.split("\n")
    tests = [(match["name"], at) for at, line in enumerate(lines) if (match := pattern.match(line))]
    times = Counter(name for name, _ in tests)
    return {(name,): comment for name, at in tests if times[name] == 1 and (comment := _above(lines, at))}


def _above(lines: list[str], at: int) -> str:
    first = at
    while first > 0 and _ABOVE.match(lines[first - 1]):
        first -= 1
    return "\n".join(lines[first:at])
