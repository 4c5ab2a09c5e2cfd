"""What can be broken of a Python text, by its syntax tree. See `sites.py` for the words, `python_twin.py` for twins.

The helper that perturbs values (`data/perturb.py.txt`, for Python 3.8 and later) stands in the broken text on one line.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from importlib.resources import files

from agent_fox.core.regex import regex
from agent_fox.verifier.mutants import sites as shared
from agent_fox.verifier.mutants.python_expressions import (
    COMPARING,
    Expressions,
    Scope,
    attributes,
    helper_name,
    last_name,
    returned,
    stored,
)
from agent_fox.verifier.mutants.python_text import (
    Function,
    PythonText,
    first_line,
    has_yield,
    is_docstring,
    last_line,
    own_nodes,
    without_docstring,
)
from agent_fox.verifier.mutants.python_twin import twin
from agent_fox.verifier.mutants.sites import Helper, Kind, Piece, Site, Unreadable

__all__ = ["broken", "sites", "twin"]

_DECLARED = frozenset({"__all__", "__slots__", "__match_args__"})
_PLAIN_BASES = frozenset({"object", "ABC", "Protocol", "Generic", "NamedTuple", "TypedDict", "BaseException"})
_ERROR = regex(r".*(?:Error|Exception|Warning|Interrupt|Exit|StopIteration)")
_LOGGER = regex(r"_*(?:log|logger|logging)", re.IGNORECASE)
_LOGGING = frozenset({"debug", "info", "warning", "warn", "error", "exception", "critical", "log"})
_UNWRITTEN = "NotImplementedError"
_COMMA = regex(rb"\s*,")


def sites(text: str) -> tuple[Site, ...]:
    """All sites, in the order of the text. Raises Unreadable for what this interpreter's `ast` cannot parse."""
    try:
        all_sites = list(_Reader(text).found())
    except RecursionError as error:
        raise Unreadable(str(error)) from error
    return tuple(sorted(all_sites, key=lambda site: site.pieces[0][:2]))


def broken(text: str, chosen: Iterable[Site]) -> str:
    """The text with the chosen sites broken at once; of two that overlap the outer one. Raises Unreadable.

    Its lines are those of the text, but for one more at the start where a file begins with a definition, no docstring,
    import or comment, and a value is perturbed.
    """
    chosen, name = tuple(chosen), helper_name(text)
    if not any(name in becomes for site in chosen for _, _, becomes in site.pieces):
        return shared.broken(text, chosen)
    at, before, behind = PythonText(text).helper_place()
    code = f"exec({_template().replace('NAME', name)!r})"
    return shared.broken(text, chosen, Helper(name, f"{before}{code}{behind}", at))


@lru_cache(maxsize=1)
def _template() -> str:
    return files("agent_fox.verifier.mutants").joinpath("data/perturb.py.txt").read_text("utf-8")


_ASKED = frozenset({"__contains__", "__instancecheck__", "__subclasscheck__"})


class _Reader(Expressions):
    """Finds the sites of one text. What a method yields stands in the node that it is given."""

    def found(self) -> Iterator[Site]:
        return self._block(self.text.module.body, Scope(), set())

    # Statements.

    def _block(self, body: Sequence[ast.stmt], scope: Scope, known: set[str]) -> Iterator[Site]:
        """`known`: the names that are certainly bound before; those that the block binds are added."""
        for node in body:
            yield from self._statement(node, scope, known)
            known |= _binds(node)

    def _statement(self, node: ast.stmt, scope: Scope, known: set[str]) -> Iterator[Site]:
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                yield from self._definition(node, scope)
            case ast.ClassDef():
                yield from self._class(node, scope)
            case ast.If(test=test) if last_name(test) == "TYPE_CHECKING":
                yield from self._block(node.orelse, scope, known)
            case ast.Assert() | ast.Import() | ast.ImportFrom():
                pass
            case _ if type(node).__name__ == "TypeAlias":  # since Python 3.12
                pass
            case ast.Expr(value) if _is_logging(value) or is_docstring(node):
                pass
            case ast.Raise():
                yield from self.raised(node, scope)
                if not (node is scope.only_error and _UNWRITTEN in self.source_of(node)):
                    yield from self._blocks(node, scope, known)
            case ast.Expr(ast.Call() | ast.Await()) | ast.Delete():
                yield from self._left_out(node, scope)
                yield from self._blocks(node, scope, known)
            case ast.Return():
                yield from self._return(node, scope)
                yield from self._blocks(node, scope, known)
            case ast.Assign() | ast.AugAssign() | ast.AnnAssign():
                yield from self._assignment(node, scope, known)
            case _:
                yield from self._blocks(node, scope, known)

    def _assignment(
        self, node: ast.Assign | ast.AugAssign | ast.AnnAssign, scope: Scope, known: set[str]
    ) -> Iterator[Site]:
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        names = stored(targets)
        is_alias = isinstance(node, ast.AnnAssign) and last_name(node.annotation) == "TypeAlias"
        if node.value is None or names & _DECLARED or is_alias:
            return
        if names & COMPARING:
            if isinstance(node.value, ast.Lambda):
                yield from self.value(node.value, names.pop(), self.inside(node.value, "<lambda>", scope))
            return
        given = set() if scope.is_body or isinstance(node, ast.AugAssign) else attributes(targets)
        is_new = scope.path[-1:] == ("__init__",) and not given <= known
        if isinstance(node, ast.AugAssign) or (names <= known and not is_new):
            yield from self._left_out(node, scope, Kind.PROPERTY if given else Kind.STATEMENT)
        within = [site for part in (*targets, node.value) for site in self.expression(part, scope)]
        is_shown = scope.is_body and isinstance(node.value, ast.Name | ast.Attribute | ast.BinOp)
        if not within and (given or is_shown):
            kind, how = (Kind.PROPERTY, ".given") if given else (Kind.BODY, "")
            pieces = self.perturbing(node.value, how=how)
            within = [self.site(kind, node, scope, pieces, f"`{self.source_of(node)}` is changed")]
        yield from within

    def raised(self, node: ast.Raise, scope: Scope) -> Iterator[Site]:
        if node is scope.only_error and _UNWRITTEN in self.source_of(node):
            yield from self._left_out(node, scope, Kind.UNWRITTEN)
            return
        if isinstance(node.exc, ast.Call):
            what = f"what `{self.source_of(node)}` tells is changed"
            yield self.site(Kind.VALUE, node, scope, self.perturbing(node.exc), what)
        if node.exc is not None:
            what = f"another error stands in the place of `{self.source_of(node)}`"
            yield self.site(Kind.OTHER_ERROR, node, scope, self.perturbing(node.exc, how=".another"), what)
        is_only = node is scope.only_error and node.exc is not None
        yield from self._left_out(node, scope, Kind.ONLY_ERROR if is_only else Kind.STATEMENT)

    def _left_out(self, node: ast.stmt, scope: Scope, kind: Kind = Kind.STATEMENT) -> Iterator[Site]:
        if not has_yield([node]):
            start, end = self.text.span(node)
            piece = (start, end, self._nothing(first_line(node), last_line(node)))
            yield self.site(kind, node, scope, [piece], f"`{self.source_of(node)}` is left out")

    def _return(self, node: ast.Return, scope: Scope) -> Iterator[Site]:
        if not has_yield([node]):
            start, end = self.text.span(node)
            piece = (start, end, self._nothing(node.lineno, last_line(node)))
            yield self.site(Kind.EMPTIED, node, scope, [piece], f"`{self.source_of(node)}` is left out")

    def _nothing(self, first: int, last: int, empty: str = "pass") -> str:
        """A statement that does nothing, on as many lines; it may stand before a semicolon."""
        return f"({self.text.newline * (last - first)})" if last > first else empty

    def _class(self, node: ast.ClassDef, scope: Scope) -> Iterator[Site]:
        around = [*node.decorator_list, *node.bases, *(keyword.value for keyword in node.keywords)]
        yield from (site for part in around for site in self.expression(part, scope))
        base = next((base for base in node.bases if not _is_plain(base)), None)
        if base is not None:
            piece = self._without(base, [*node.bases, *node.keywords])
            yield self.site(Kind.BASE, base, scope, [piece], f"{node.name} is no {self.source_of(base)}")
        yield from self._block(node.body, replace(scope, path=(*scope.path, node.name)), set())

    def _without(self, base: ast.expr, arguments: Sequence[ast.expr | ast.keyword]) -> Piece:
        """A base taken away with the comma before or behind it."""
        start, end = self.text.span(base)
        place = arguments.index(base)
        if place + 1 < len(arguments):
            after = arguments[place + 1]
            return start, self.text.offset(after.lineno, after.col_offset), ""
        if place:
            return self.text.offset(*_end(arguments[place - 1])), end, ""
        comma = _COMMA.match(self.text.written, end)
        return start, comma.end() if comma else end, ""

    # Functions.

    def _definition(self, node: Function, scope: Scope) -> Iterator[Site]:
        yield from (site for part in node.decorator_list for site in self.expression(part, scope))
        yield from self.defaults(node.args, self.inside(node, node.name, scope))  # who only looks at them calls nothing
        if node.name == "__hash__" or _contains_everything(node):
            return
        inner = replace(self.inside(node, node.name, scope), only_error=only_error(node))
        yield from self.value(node, node.name, inner)
        if node.name in COMPARING:
            return
        yield from self._emptied(node, inner)
        yield from self._block(node.body, inner, _arguments(node.args))

    def _emptied(self, node: Function, scope: Scope) -> Iterator[Site]:
        body = without_docstring(node.body)
        if all(map(_does_nothing, body)) or (len(body) == 1 and isinstance(body[0], ast.Return)):
            return  # what one `return` leaves is its own site
        first, last = first_line(body[0]), last_line(body[-1])
        becomes = self._nothing(first, last)
        if has_yield(node.body):
            becomes = f"((yield) if 0 else {self._nothing(first, last, '()')})"
        piece = (self.text.span(body[0])[0], self.text.span(body[-1])[1], becomes)
        yield Site(Kind.EMPTIED, first, last, scope.owner, scope.owner_line, (piece,), f"{scope.owner} does nothing")

    def _blocks(self, node: ast.AST, scope: Scope, known: set[str]) -> Iterator[Site]:
        """Of a compound node: its blocks, each with the names bound before it, and all other parts."""
        header = stored(_header(node))
        for _, value in ast.iter_fields(node):
            parts = value if isinstance(value, list) else [value]
            if parts and isinstance(parts[0], ast.stmt):
                yield from self._block(parts, scope, known | header)
                continue
            for part in parts:
                if isinstance(part, ast.ExceptHandler | ast.match_case):
                    yield from self._blocks(part, scope, known)
                elif isinstance(part, ast.AST):
                    yield from self.expression(part, scope)


def only_error(node: Function) -> ast.stmt | None:
    """The `raise` to which a function always comes: there is no way out before it."""
    ends = (ast.Return, ast.Yield, ast.YieldFrom)
    is_last = isinstance(node.body[-1], ast.Raise) and not any(isinstance(each, ends) for each in own_nodes(node.body))
    return node.body[-1] if is_last else None


def _contains_everything(node: Function) -> bool:
    """Like what equals everything: whatever is asked for, a constant is the answer, which stays."""
    return node.name in _ASKED and all(isinstance(value, ast.Constant) for value in returned(node))


def _does_nothing(node: ast.stmt) -> bool:
    match node:
        case ast.Pass() | ast.Assert() | ast.Expr(ast.Constant()) | ast.Return(None | ast.Constant(None)):
            return True
        case ast.Global() | ast.Nonlocal() | ast.Import() | ast.ImportFrom() | ast.AnnAssign(value=None):
            return True
        case _:
            return False


def _binds(node: ast.stmt) -> set[str]:
    """The names that a statement binds whatever happens."""
    match node:
        case ast.Import(names) | ast.ImportFrom(names=names):
            return {(name.asname or name.name).partition(".")[0] for name in names}
        case ast.FunctionDef(name) | ast.AsyncFunctionDef(name) | ast.ClassDef(name):
            return {name}
        case ast.Global(names) | ast.Nonlocal(names):
            return set(names)
        case ast.AnnAssign(value=None):
            return set()
        case ast.Assign() | ast.AugAssign() | ast.AnnAssign():
            return stored([node]) | attributes([node])
        case ast.With() | ast.AsyncWith():
            return stored(node.items).union(*map(_binds, node.body))
        case _:
            return set()


def _header(node: ast.AST) -> list[ast.AST]:
    """What of a loop or `with` binds names before its block."""
    match node:
        case ast.For(target) | ast.AsyncFor(target):
            return [target]
        case ast.With(items) | ast.AsyncWith(items):
            return list(items)
        case _:
            return []


def _arguments(arguments: ast.arguments) -> set[str]:
    return {each.arg for each in ast.walk(arguments) if isinstance(each, ast.arg)}


def _end(node: ast.expr | ast.keyword) -> tuple[int, int]:
    return node.end_lineno or 0, node.end_col_offset or 0


def _is_plain(base: ast.expr) -> bool:
    name = last_name(base)
    return not name or name in _PLAIN_BASES or bool(_ERROR.fullmatch(name))


def _is_logging(node: ast.expr) -> bool:
    match node:
        case ast.Call(func=ast.Attribute(value=logger, attr=method)):
            return method in _LOGGING and bool(_LOGGER.fullmatch(last_name(logger)))
        case _:
            return False
