"""The false twin of a Python test: the test itself with a false assertion at its end. And what a trial is held against
where something may stand between an assertion and the runner: one assertion turned round, and code said otherwise.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache

from agent_fox.core.regex import regex
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
    without_docstring,
)
from agent_fox.verifier.mutants.sites import Kind, Piece, Site, Unreadable, broken

_NAME = "_twin_ended"
_IDLE = "__name__; "
"""Does nothing, and is compiled to something."""
_SHELTERS = (ast.With, ast.AsyncWith, ast.Try, ast.TryStar)
_NOT_TURNED = regex(r"(?i)(?:.*raises.*|.*warns.*|fail|AssertionError)").fullmatch
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


def turned(text: str, lines: Iterable[int], mark: str) -> tuple[str, frozenset[int]]:
    """The text in which what is asserted on these lines, from 1, is turned round: where it holds it fails, and says
    `mark`. And the lines on which that could be done.
    """
    try:
        source = PythonText(text)
    except Unreadable:
        return text, frozenset()
    wanted, pieces, done = {*lines}, [], set[int]()
    for node in ast.walk(source.module):
        if isinstance(node, ast.Assert | ast.Expr) and (mine := wanted & {*range(node.lineno, last_line(node) + 1)}):
            pieces += _turned(source, node, mark)
            done |= mine
    made = _put(text, pieces)
    return (made, frozenset(done)) if _is_python(made) else (text, frozenset())


def _turned(source: PythonText, node: ast.Assert | ast.Expr, mark: str) -> list[Piece]:
    """On the lines on which it stands. What only calls something asserts that it ends without an error."""
    end = source.span(node)[1]
    if isinstance(node, ast.Expr):
        return [(end, end, f"; raise AssertionError({mark!r})")]
    first, last = source.span(node.test)
    if node.msg is None:
        message = [(last, end, f"){source.part(last, end)}, {mark!r}")]
    else:
        empty = source.newline * (last_line(node.msg) - node.msg.lineno)
        message = [(last, last, ")"), (*source.span(node.msg), f"({mark!r}{empty})")]
    return [(first, first, "not ("), *message]


def is_sheltered(text: str, line: int) -> bool:
    """Whether a line stands in the block of a `with` or `try`, which may keep an error to itself."""
    return any(line in block for block in shelters(text))


@lru_cache(maxsize=8)
def shelters(text: str) -> tuple[range, ...]:
    """The lines of each such block, asked for once a test and read once a file."""
    try:
        module = PythonText(text).module
    except Unreadable:
        return ()
    blocks = (node.body for node in ast.walk(module) if isinstance(node, _SHELTERS))
    return tuple(range(first_line(body[0]), last_line(body[-1]) + 1) for body in blocks)


def is_passed_by(text: str, line: int) -> bool:
    """Whether a test may end without coming to a line: under a condition, in a loop over what something gives, or
    behind a `return`.
    """
    return any(line in lines for lines in passed_by(text))


@lru_cache(maxsize=8)
def passed_by(text: str) -> tuple[range, ...]:
    try:
        module = PythonText(text).module
    except Unreadable:
        return ()
    lines = []
    for node in ast.walk(module):
        asked = node.iter if isinstance(node, ast.For | ast.AsyncFor) else None
        if isinstance(node, ast.For | ast.AsyncFor | ast.If | ast.While) and (
            asked is None or any(isinstance(part, ast.Call) for part in ast.walk(asked))
        ):
            lines.append(range(first_line(node.body[0]), last_line(node) + 1))
        elif isinstance(node, Function):
            ends = [inner.lineno for inner in own_nodes(node.body) if isinstance(inner, ast.Return)]
            lines += [range(min(ends) + 1, last_line(node) + 1)] if ends else []
    return tuple(lines)


def asserted(text: str, through: Iterable[int] = ()) -> frozenset[int]:
    """The lines on which something is asserted, by a statement or by a call whose name says so, but for what is called
    on the lines `through`, which asserts elsewhere. Empty where something may be asserted in other ways, by an expected
    error or by what fails at once.
    """
    try:
        nodes = [*ast.walk(PythonText(text).module)]
    except Unreadable:
        return frozenset()
    if any(_NOT_TURNED(getattr(node, "attr", getattr(node, "id", ""))) for node in nodes):
        return frozenset()
    calls = ((node.lineno, node.value) for node in nodes if isinstance(node, ast.Expr))
    called = [(line, ast.unparse(call.func)) for line, call in calls if isinstance(call, ast.Call)]
    elsewhere = {name for line, name in called if line in {*through}}
    by_name = {line for line, name in called if "assert" in name.lower() and name not in elsewhere}
    return frozenset(by_name | {node.lineno for node in nodes if isinstance(node, ast.Assert)})


def restated(text: str) -> str:
    """The text with something in each function that does nothing: what looks at code sees it, what runs it does not."""
    try:
        source = PythonText(text)
    except Unreadable:
        return text
    places = set()
    for function in (node for node in ast.walk(source.module) if isinstance(node, Function)):
        inside = (node for node in own_nodes(without_docstring(function.body)) if isinstance(node, ast.stmt))
        simple = (node for node in inside if not hasattr(node, "body") and not isinstance(node, ast.Match))
        places |= {source.span(node)[0] for node in [*simple][:1]}
    return _put(text, [(place, place, _IDLE) for place in places]) + source.newline


def _put(text: str, pieces: Iterable[Piece]) -> str:
    return broken(text, [Site(Kind.STATEMENT, 0, 0, "", 0, (piece,), "") for piece in pieces])


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
