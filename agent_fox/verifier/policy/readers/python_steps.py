"""The body of a Python function as steps: what is bound, asserted, called, repeated, and what is out of reach."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from agent_fox.core.values import dataclass
from agent_fox.verifier.policy.readers.python_assertions import (
    BROAD_ERRORS,
    is_raises,
    last_name,
    of_call,
    of_custom,
    of_expression,
    of_raises,
    written,
)
from agent_fox.verifier.policy.reading import Assertion, Bind, Check, Rows, Skip, Step, Strength, Use

if TYPE_CHECKING:
    from agent_fox.verifier.policy.expressions import Tokens

MOST_ROWS = 500

_END = ast.Return | ast.Raise | ast.Continue | ast.Break
_PLATFORM = ("platform", "version_info", "sys.version", "os.name", "which(", "find_spec", "HAS_", "importorskip")


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a statement stands: under which conditions, and whether what it asserts can make the test fail."""

    guard: Tokens = ()
    is_idle: bool = False


def steps_of(body: list[ast.stmt]) -> tuple[Step, ...]:
    """The steps of a function's body. A name that an inner function sets has no value of its own."""
    shared = {
        name for each in body for inner in ast.walk(each) if isinstance(inner, ast.Nonlocal) for name in inner.names
    }
    steps = _block(body, _Place())
    return tuple(step for step in steps if not (isinstance(step, Bind) and step.name in shared))


def _block(body: Iterable[ast.stmt], place: _Place) -> Iterator[Step]:
    for statement in body:
        yield from _statement(statement, place)
        if isinstance(statement, _END):
            place = replace(place, is_idle=True)


def _statement(node: ast.stmt, place: _Place) -> Iterator[Step]:
    match node:
        case ast.Assert():
            yield from _checks(of_expression(node.test, node.lineno), place)
        case ast.Expr(value=ast.Call() as call):
            yield from _call(call, place)
        case ast.Expr(value=ast.Await(value=ast.Call() as call)):
            yield from _call(call, place)
        case ast.Assign(targets=[ast.Name(id=name)], value=value):
            yield Bind(name, written(value))
        case ast.Assign(targets=[ast.Tuple(elts=parts)], value=value) if not isinstance(value, ast.Tuple):
            for at, part in enumerate(parts):
                if isinstance(part, ast.Name):
                    yield Bind(part.id, (*written(value), "[", str(at), "]"))
        case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
            yield Bind(name, written(value))
        case ast.AugAssign(target=ast.Name(id=name)):
            yield from (Bind(name, (name,)), Bind(name, (name,)))
        case ast.If():
            yield from _block(node.body, _under(node.test, place))
            yield from _block(node.orelse, _under(ast.UnaryOp(ast.Not(), node.test), place))
        case ast.For() | ast.AsyncFor():
            yield from _loop(node, place)
        case ast.While():
            yield from _block(node.body, _under(node.test, place))
        case ast.With() | ast.AsyncWith():
            yield from _context(node, place)
        case ast.Try() | ast.TryStar():
            yield from _attempt(node, place)
        case ast.Match():
            for case in node.cases:
                yield from _block(case.body, place)
        case _:
            return


def _checks(found: Iterable[Assertion], place: _Place) -> Iterator[Check]:
    for assertion in found:
        strength = Strength.NONE if place.is_idle else assertion.strength
        yield Check(replace(assertion, guard=(*place.guard, *assertion.guard), strength=strength))


def _call(node: ast.Call, place: _Place) -> Iterator[Step]:
    name = last_name(node.func)
    known = tuple(of_call(node))
    if known:
        yield from _checks(known, place)
    elif name and not place.is_idle:
        given = tuple(map(written, node.args))
        named = tuple((word.arg or "**", "=", *written(word.value)) for word in node.keywords)
        yield Use(name, (*given, *named), node.lineno, place.guard, of_custom(node))


def constant_of(node: ast.expr) -> bool | None:
    """Whether a condition is settled by its text: `False`, `0`, `not True`, `TYPE_CHECKING`."""
    match node:
        case ast.Constant(value=value):
            return bool(value)
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            inner = constant_of(operand)
            return None if inner is None else not inner
        case ast.Name(id="TYPE_CHECKING") | ast.Attribute(attr="TYPE_CHECKING"):
            return False
        case ast.BoolOp(op=ast.And(), values=values) if any(constant_of(value) is False for value in values):
            return False
    return None


def _under(condition: ast.expr, place: _Place) -> _Place:
    settled = constant_of(condition)
    if settled is None:
        return replace(place, guard=(*place.guard, "if", *written(condition)))
    return place if settled else replace(place, is_idle=True)


def _loop(node: ast.For | ast.AsyncFor, place: _Place) -> Iterator[Step]:
    rows = rows_of(node.iter, _names(node.target))
    inner = tuple(_block(node.body, place))
    if rows is None:
        yield from inner
    elif rows:
        yield Rows(_names(node.target), rows, inner)
    else:
        yield from _block(node.body, replace(place, is_idle=True))


def _names(target: ast.expr) -> tuple[str, ...]:
    parts = target.elts if isinstance(target, ast.Tuple | ast.List) else [target]
    return tuple(last_name(part) for part in parts)


def rows_of(node: ast.expr, names: tuple[str, ...]) -> tuple[tuple[Tokens, ...], ...] | None:
    """The rows of a literal list for these names; None where it is no literal list, or too long a one."""
    if not isinstance(node, ast.List | ast.Tuple | ast.Set) or len(node.elts) > MOST_ROWS:
        return None
    return tuple(_row(element, len(names)) for element in node.elts if not _is_passed_over(element))


def _is_passed_over(element: ast.expr) -> bool:
    """Whether a row is marked so that it never counts."""
    words = element.keywords if isinstance(element, ast.Call) and last_name(element.func) == "param" else []
    marks = " ".join(ast.unparse(word.value) for word in words if word.arg == "marks")
    return re.search(r"\b(?:skip|xfail)\b", marks) is not None


def _row(element: ast.expr, width: int) -> tuple[Tokens, ...]:
    if isinstance(element, ast.Call) and last_name(element.func) == "param":
        return tuple(map(written, element.args))
    if width > 1 and isinstance(element, ast.Tuple | ast.List):
        return tuple(map(written, element.elts))
    return (written(element),)


def _context(node: ast.With | ast.AsyncWith, place: _Place) -> Iterator[Step]:
    contexts = [item.context_expr for item in node.items]
    inside = place
    for context in contexts:
        if isinstance(context, ast.Call) and is_raises(context):
            subject = tuple(token for statement in node.body for token in (*written(statement), ";"))
            yield from _checks((of_raises(context, subject[:-1]),), place)
        if isinstance(context, ast.Call) and last_name(context.func) == "suppress" and _catches(context.args):
            inside = replace(place, is_idle=True)
    yield from _block(node.body, inside)


def _attempt(node: ast.Try | ast.TryStar, place: _Place) -> Iterator[Step]:
    is_swallowed = any(_swallows(handler) for handler in node.handlers)
    yield from _block(node.body, replace(place, is_idle=place.is_idle or is_swallowed))
    for handler in node.handlers:
        yield from _block(handler.body, place)
    yield from _block(node.orelse, place)
    yield from _block(node.finalbody, place)


def _swallows(handler: ast.ExceptHandler) -> bool:
    types = [handler.type] if handler.type is not None else []
    is_broad = handler.type is None or _catches(types)
    fails = any(isinstance(inner, ast.Raise | ast.Assert) for inner in ast.walk(handler)) or any(
        isinstance(inner, ast.Call) and last_name(inner.func) in ("fail", "exit") for inner in ast.walk(handler)
    )
    return is_broad and not fails


def _catches(types: Iterable[ast.expr]) -> bool:
    flat = [part for each in types for part in (each.elts if isinstance(each, ast.Tuple) else [each])]
    return any(last_name(part) in (*BROAD_ERRORS, "AssertionError") for part in flat)


def skips_in(body: list[ast.stmt]) -> Iterator[Skip]:
    """Ways by which a test ends before its checks: skips, early returns, at the top or under a condition."""
    for place, statement in enumerate(body):
        if isinstance(statement, ast.Return) and place < len(body) - 1:
            yield Skip("return", statement.lineno)
        if isinstance(statement, ast.If):
            inner = [] if constant_of(statement.test) is False else statement.body
            has_return = any(isinstance(step, ast.Return) for step in inner) and place < len(body) - 1
            for each in (*skips_in(inner), *([Skip("return", statement.lineno)] if has_return else [])):
                condition = ast.unparse(statement.test)
                yield Skip(f"if {condition}: {each.text}", each.line, is_about_machine(condition))
        elif isinstance(statement, ast.Try) and place < len(body) - 1:
            yield from _caught_and_left(statement)
        elif (skip := _skip_call(statement)) is not None:
            yield skip


def _caught_and_left(statement: ast.Try) -> Iterator[Skip]:
    """Errors after which a test just ends."""
    for handler in statement.handlers:
        if any(isinstance(each, ast.Return) for each in handler.body):
            yield Skip(f"except {ast.unparse(handler.type) if handler.type else ''}: return", handler.lineno)


def _skip_call(statement: ast.stmt) -> Skip | None:
    match statement:
        case ast.Expr(value=ast.Call() as call) | ast.Assign(value=ast.Call() as call):
            if last_name(call.func) in ("skip", "skipTest", "xfail", "importorskip", "exit", "_exit"):
                text = ast.unparse(call)
                return Skip(text, statement.lineno, is_about_machine(text))
        case ast.Expr(value=ast.Yield()):
            return Skip("yield", statement.lineno)
        case ast.Raise(exc=ast.expr() as error) if "SkipTest" in ast.unparse(error):
            return Skip(ast.unparse(statement), statement.lineno)
    return None


def is_about_machine(text: str) -> bool:
    """Whether a condition asks about the machine, rather than about the code."""
    return any(word in text for word in _PLATFORM)
