"""What can be broken of a Python expression; nothing of statements."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

from agent_fox.core.regex import regex
from agent_fox.core.values import dataclass
from agent_fox.verifier.mutants.python_text import Function, PythonText, first_line, is_format, last_line, own_nodes
from agent_fox.verifier.mutants.sites import Kind, Piece, Site

_TURNED = {
    "==": "!=", "!=": "==", "<": ">=", ">=": "<", ">": "<=", "<=": ">", "in": "not in", "not in": "in",
    "is": "is not", "is not": "is", "and": "or", "or": "and",
}  # fmt: skip
_OPERATOR = regex(r"not\s+in|is\s+not|[=!<>]=|[<>]|\b(?:is|in|and|or)\b")
COMPARING = frozenset({"__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__"})
_ENCODING = regex(r"utf[-_]?(?:8|16|32)(?:[-_]\w+)?|ascii|latin[-_]?1|iso-?8859-\d+|cp125\d", re.IGNORECASE)
_MANNERS = frozenset({"encoding", "errors", "end", "newline", "compare", "eq", "cmp"})
"""Named arguments that say in which manner something is done; of data classes, what their objects equal."""
_NAMING = frozenset({"TypeVar", "NewType", "ParamSpec", "TypeVarTuple", "cast"})
_LONGEST = 40


@dataclass(frozen=True, slots=True)
class Scope:
    """What stands around a node. `path`: names of functions and classes; `is_body`: in no function; `only_error`: what
    raises the error that the function always comes to.
    """

    path: tuple[str, ...] = ()
    owner: str = ""
    owner_line: int = 0
    is_body: bool = True
    only_error: ast.stmt | None = None


def helper_name(text: str) -> str:
    """A name that the text does not have."""
    name = "_perturbed"
    while name in text:
        name += "_"
    return name


class Expressions:
    """Finds the sites of expressions. What a method yields stands in the node that it is given."""

    def __init__(self, text: str) -> None:
        self.text = PythonText(text)
        self.helper = helper_name(text)

    def expression(self, node: ast.AST, scope: Scope) -> Iterator[Site]:
        match node:
            case ast.Constant():
                yield from self._constant(node, scope)
            case ast.Compare(left=ast.Name("__name__")):
                pass
            case ast.Compare(left=left, comparators=others):
                for pair in pairwise([left, *others]):
                    yield self._turned(node, pair, scope)
                yield from self._parts(node, scope)
            case ast.BoolOp(values=values):
                yield self._turned(node, values, scope)
                yield from self._parts(node, scope)
            case ast.UnaryOp(ast.Not()):
                yield self._not(node, scope)
                yield from self._parts(node, scope)
            case ast.Lambda():
                yield from self.defaults(node.args, scope)
                inner = self.inside(node, "<lambda>", scope)
                yield from self.value(node, "<lambda>", inner)
                yield from self.expression(node.body, inner)
            case ast.Call(func=function, args=arguments, keywords=keywords):
                rest = arguments[1:] if last_name(function) in _NAMING else arguments
                parts = [keyword.value for keyword in keywords if keyword.arg not in _MANNERS]
                yield from (site for part in (function, *rest, *parts) for site in self.expression(part, scope))
            case ast.Subscript(value=value) if last_name(value) == "Literal":
                pass
            case ast.MatchMapping():
                yield from (site for part in node.patterns for site in self.expression(part, scope))
            case _ if is_format(node):
                yield from self._format(node, scope)
            case _:
                yield from self._parts(node, scope)

    def _parts(self, node: ast.AST, scope: Scope) -> Iterator[Site]:
        for part in ast.iter_child_nodes(node):
            yield from self.expression(part, scope)

    def inside(self, node: Function | ast.Lambda, name: str, scope: Scope) -> Scope:
        path = (*scope.path, name)
        return Scope(path, ".".join(path), first_line(node), is_body=False)

    def defaults(self, arguments: ast.arguments, scope: Scope) -> Iterator[Site]:
        given = [*arguments.defaults, *(each for each in arguments.kw_defaults if each is not None)]
        yield from (site for part in given for site in self.expression(part, replace(scope, is_body=False)))

    def value(self, node: Function | ast.Lambda, name: str, scope: Scope) -> Iterator[Site]:
        """The one site of all that a function returns and yields. `name`: what it is called by, also a lambda.

        `scope`: that of its body.
        """
        both = [each.arg for each in [*node.args.posonlyargs, *node.args.args][:2]]
        given = [value for value in returned(node) if not _is_nothing(value)]
        if not given or name == "__await__" or (name in COMPARING and len(both) < 2):
            return
        pair = f", {both[0]}, {both[1]}, {name!r}" if name in COMPARING else ""
        pieces = [piece for value in given for piece in self.perturbing(value, pair)]
        what = f"the value that {scope.owner} returns is changed"
        yield Site(
            Kind.VALUE, given[0].lineno, last_line(given[-1]), scope.owner, scope.owner_line, tuple(pieces), what
        )

    def perturbing(self, node: ast.expr, pair: str = "", how: str = "") -> list[Piece]:
        start, end = self.text.span(node)
        return [(start, start, f"{self.helper}{how}(("), (end, end, f"){pair})")]

    def _constant(self, node: ast.Constant, scope: Scope) -> Iterator[Site]:
        start, end = self.text.span(node)
        written = self.text.part(start, end)
        kind = Kind.BODY if scope.is_body else Kind.CONSTANT
        match node.value:
            case bool() | int() | float() | complex() as value:
                becomes = _number(value)
                if becomes is not None:
                    yield self.site(kind, node, scope, [(start, end, becomes)], f"`{written}` becomes `{becomes}`")
            case str() as value if _ENCODING.fullmatch(value):
                pass
            case str() | bytes():
                yield self._letter(node, scope)
            case _:
                pass

    def _letter(self, node: ast.expr, scope: Scope) -> Site:
        """A letter more before the quotes with which a text ends, also one of several parts."""
        start, end = self.text.span(node)
        quotes = 3 if self.text.part(start, end).endswith(('"""', "'''")) else 1
        at = end - quotes
        kind = Kind.BODY if scope.is_body else Kind.CONSTANT
        return self.site(kind, node, scope, [(at, at, "x")], f"`{self.source_of(node)}` has a letter more")

    def _format(self, node: ast.expr, scope: Scope) -> Iterator[Site]:
        """What stands in braces, without what says how it is shown, and the text around."""
        for part in getattr(node, "values", ()):
            value = getattr(part, "value", None)
            if isinstance(value, ast.expr) and self.text.is_exact(value):
                yield from self.expression(value, scope)
        yield self._letter(node, scope)

    def _turned(self, node: ast.expr, operands: Sequence[ast.expr], scope: Scope) -> Site:
        """The operators between these operands turned round."""
        pieces = []
        for left, right in pairwise(operands):
            behind, before = self.text.span(left)[1], self.text.span(right)[0]
            match = _OPERATOR.search(self.text.gap(behind, before))
            assert match is not None
            operator = " ".join(match[0].split())
            pieces.append((behind + match.start(), behind + match.end(), _TURNED[operator]))
        return self.site(Kind.COMPARISON, node, scope, pieces, f"`{operator}` becomes `{_TURNED[operator]}`")

    def _not(self, node: ast.expr, scope: Scope) -> Site:
        start, end = self.text.span(node)
        pieces = [(start, start + len("not"), "("), (end, end, ")")]
        return self.site(Kind.COMPARISON, node, scope, pieces, f"`{self.source_of(node)}` without its `not`")

    def site(self, kind: Kind, node: ast.expr | ast.stmt, scope: Scope, pieces: Sequence[Piece], what: str) -> Site:
        return Site(kind, first_line(node), last_line(node), scope.owner, scope.owner_line, tuple(pieces), what)

    def source_of(self, node: ast.expr | ast.stmt) -> str:
        text = " ".join(self.text.part(*self.text.span(node)).split())
        return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."


def _number(value: bool | int | float | complex) -> str | None:
    """Another number or truth value, as it is written; None where there is no next one."""
    if isinstance(value, bool):
        return str(not value)
    if isinstance(value, complex):
        return f"{value.imag + 1}j"
    if isinstance(value, int):
        return str(value + 1) if value.bit_length() < 1000 else hex(value + 1)
    changed = value + 1 if value + 1 != value else value / 2
    return repr(changed) if changed != value else None


def returned(node: Function | ast.Lambda) -> list[ast.expr]:
    if isinstance(node, ast.Lambda):
        return [node.body]
    ends = (each for each in own_nodes(node.body) if isinstance(each, ast.Return | ast.Yield))
    return sorted((each.value for each in ends if each.value), key=lambda value: (value.lineno, value.col_offset))


def _is_nothing(value: ast.expr) -> bool:
    match value:
        case ast.Constant(None) | ast.Name("NotImplemented"):
            return True
        case _:
            return False


def last_name(node: ast.AST) -> str:
    match node:
        case ast.Name(name) | ast.Attribute(attr=name):
            return name
        case ast.Subscript(value=value):
            return last_name(value)
        case _:
            return ""


def stored(nodes: Sequence[ast.AST]) -> set[str]:
    return {each.id for each in own_nodes(nodes) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)}


def attributes(nodes: Sequence[ast.AST]) -> set[str]:
    """The attributes of names, such as `self.name`, to which something is assigned."""
    given = (each for each in own_nodes(nodes) if isinstance(each, ast.Attribute) and isinstance(each.ctx, ast.Store))
    return {f"{last_name(each.value)}.{each.attr}" for each in given}
