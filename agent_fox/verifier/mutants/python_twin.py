"""The false twin of a Python test: the test itself with a false assertion at its end."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence

from agent_fox.verifier.mutants.python_text import (
    Function,
    PythonText,
    first_line,
    has_yield,
    is_docstring,
    is_text,
    last_line,
    own_nodes,
    parsed,
)
from agent_fox.verifier.mutants.sites import Unreadable

_NAME = "_twin_ended"
_BLOCKS = (ast.If, ast.Try, ast.With, ast.For, ast.While)


Named = tuple[tuple[str, ...], str]
"""A test by its classes, from outside to inside, and its function."""


def twin(text: str, classes: tuple[str, ...], function: str, mark: str) -> str | None:
    """The text in which the test of this name, in these classes from outside to inside, ends with `assert False, mark`.

    A method may stand in a base class of the same text. None for what is not there, for a generator, and for a text
    that cannot be parsed.
    """
    made, done = twins(text, [(classes, function)], mark)
    return made if done else None


def twins(text: str, tests: Iterable[Named], mark: str) -> tuple[str, frozenset[Named]]:
    """The text in which each of these tests ends so, and which do. It is parsed twice, however many they are.
    Where they spoil it together, each is tried by itself."""
    try:
        source = PythonText(text)
        functions = {each: _function_in(source.module.body, each[0], each[1].partition("[")[0]) for each in tests}
        ends = {each: node for each, node in functions.items() if node is not None and not has_yield(node.body)}
        made = _ended(source, list({id(node): node for node in ends.values()}.values()), mark)
    except (Unreadable, RecursionError):
        return text, frozenset()
    if _is_python(made):
        return made, frozenset(ends)
    done: set[Named] = set()
    for each in ends if len(ends) > 1 else ():
        text, ended = twins(text, [each], mark)
        done |= ended
    return text, frozenset(done)


def _is_python(text: str) -> bool:
    try:
        parsed(text.removeprefix("\ufeff"))
    except (SyntaxError, RecursionError):
        return False
    return True


def _function_in(body: Sequence[ast.stmt], classes: tuple[str, ...], function: str) -> Function | None:
    """The definition that counts at run time: the last one of its name."""
    if not classes:
        named = [node for node in _defined(body) if isinstance(node, Function) and node.name == function]
        return named[-1] if named else None
    around = _class(body, classes[0])
    tried = {classes[0]}
    while around is not None:
        around_it = _function_in(around.body, classes[1:], function)
        names = [base.id for base in around.bases if isinstance(base, ast.Name) and base.id not in tried]
        if around_it is not None or not names:
            return around_it
        tried.add(names[0])
        around = _class(body, names[0])
    return None


def _class(body: Sequence[ast.stmt], name: str) -> ast.ClassDef | None:
    named = [node for node in _defined(body) if isinstance(node, ast.ClassDef) and node.name == name]
    return named[-1] if named else None


def _defined(body: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    for node in body:
        yield node
        if isinstance(node, _BLOCKS):
            yield from _defined([each for each in ast.iter_child_nodes(node) if isinstance(each, ast.stmt)])
            yield from _defined([each for handler in getattr(node, "handlers", ()) for each in handler.body])


def _ended(source: PythonText, found: Sequence[Function], mark: str) -> str:
    """The text with the assertions, from the last one up, so that the places of those above it stay right."""
    lines = [line.decode() for line in source.lines]
    for each in sorted(found, key=lambda node: node.lineno, reverse=True):
        _end(lines, each, mark, source.newline)
    return source.part(0, source.offset(1, 0)) + "".join(lines)


def _end(lines: list[str], found: Function, mark: str, end: str) -> None:
    """Puts the assertion into the lines. What is returned early leads to it through `finally`; an error stays what it
    is."""
    body = found.body[1:] if is_docstring(found.body[0]) and len(found.body) > 1 else found.body
    first, last = first_line(body[0]) - 1, last_line(body[-1]) - 1
    is_on_own_line = not lines[first].encode()[: body[0].col_offset].strip()
    if not is_on_own_line:
        start = body[0].col_offset
        head, rest = lines[first].encode()[:start].decode(), lines[first].encode()[start:].decode()
        margin = _margin(lines[found.lineno - 1]) + " "
        lines[first : first + 1] = [head.rstrip() + end, margin + rest]
        first, last = first + 1, last + 1
    else:
        margin = _margin(lines[first])
    number = first + 1 - (not is_on_own_line)
    lines[first : last + 1] = _guarded(lines[first : last + 1], body, margin, mark, end, number)


def _guarded(
    lines: Sequence[str], body: Sequence[ast.stmt], margin: str, mark: str, end: str, number: int
) -> list[str]:
    """The lines of a body (the first one has this number in the tree) with what is to stand around them."""
    closed = [*lines[:-1], lines[-1].rstrip("\r\n") + end]
    false = f"assert False, {mark!r}{end}"
    if not any(isinstance(node, ast.Return) for node in own_nodes(body)):
        return [*closed, margin + false]
    texts = [node for part in body for node in ast.walk(part) if is_text(node)]
    fixed = {line for node in texts for line in range(node.lineno + 1, last_line(node) + 1)}
    deeper = [
        margin + " " + line.removeprefix(margin) if at not in fixed and line.startswith(margin) else line
        for at, line in enumerate(closed, number)
    ]
    return [
        f"{margin}{_NAME} = True{end}",
        f"{margin}try:{end}",
        *deeper,
        f"{margin}except BaseException:{end}",
        f"{margin} {_NAME} = False{end}",
        f"{margin} raise{end}",
        f"{margin}finally:{end}",
        f"{margin} if {_NAME}: {false}",
    ]


def _margin(line: str) -> str:
    return line[: len(line) - len(line.lstrip(" \t\f"))]
