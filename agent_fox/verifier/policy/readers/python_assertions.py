"""What an assertion in Python demands, from its syntax: bare asserts, unittest's methods, pytest's contexts."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

from agent_fox.verifier.policy.expressions import Tokens, joined, number_of, tokens_of
from agent_fox.verifier.policy.readers.words import demands, words_of
from agent_fox.verifier.policy.reading import Assertion, Strength, settled

BROAD_ERRORS = frozenset({"Exception", "BaseException"})
_ANY_TEXT = frozenset({"", ".*", ".+", ".", "(.*)", "[\\s\\S]*", "\\w*", ".*?"})
ASSERTING_PREFIXES = ("assert", "check_", "verify", "expect", "ensure", "should")

_TURNED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "equal": "equal", "same": "same"}


def written(node: ast.AST) -> Tokens:
    return tokens_of(ast.unparse(node))


def last_name(node: ast.expr) -> str:
    """`raises` of `pytest.raises`; empty where the callee has no name."""
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def of_expression(node: ast.expr, line: int) -> Iterator[Assertion]:
    """The demands of `assert node`: a conjunction is several."""
    match node:
        case ast.BoolOp(op=ast.And()):
            for part in node.values:
                yield from of_expression(part, line)
        case ast.BoolOp():
            yield _disjunction(node, line)
        case ast.Compare():
            yield from _comparison(node, line)
        case ast.UnaryOp(op=ast.Not()):
            yield _negation(node.operand, line)
        case ast.Constant(value=value) if not value:
            yield Assertion(written(node), "fails", Strength.EXACT, line)
        case ast.Tuple(elts=[_, *_]) | ast.Constant() | ast.JoinedStr() | ast.Lambda():
            yield Assertion(written(node), "truthy", Strength.NONE, line)
        case _:
            yield settled(_truth(node, line))


def _disjunction(node: ast.BoolOp, line: int) -> Assertion:
    parts = [demand for part in node.values for demand in of_expression(part, line)]
    strength = min(Strength.PARTIAL, *(demand.strength for demand in parts))
    return Assertion(written(node), "one of", strength, line)


def _negation(operand: ast.expr, line: int) -> Assertion:
    if isinstance(operand, ast.Constant):
        return Assertion(written(operand), "falsy", Strength.NONE, line)
    return settled(Assertion(written(operand), "falsy", Strength.PARTIAL, line))


def _truth(node: ast.expr, line: int) -> Assertion:
    is_predicate = isinstance(node, ast.Call) and last_name(node.func) in words_of("python", "predicates")
    if isinstance(node, ast.Call) and last_name(node.func) == "isinstance" and len(node.args) == 2:
        return Assertion(written(node.args[0]), "isinstance", Strength.PARTIAL, line, written(node.args[1]))
    if isinstance(node, ast.Call) and last_name(node.func) in ("isclose", "allclose") and len(node.args) > 1:
        return _close(node.args[0], ast.Call(node.func, node.args[1:], node.keywords), line)
    return Assertion(written(node), "truthy", Strength.PARTIAL if is_predicate else Strength.LOOSE, line)


def _comparison(node: ast.Compare, line: int) -> Iterator[Assertion]:
    sides = [node.left, *node.comparators]
    for left, operator, right in zip(sides, node.ops, sides[1:], strict=False):
        name, strength = demands("python", "comparisons")[type(operator).__name__]
        yield _compared(left, name, strength, right, line)


def _compared(left: ast.expr, name: str, strength: Strength, right: ast.expr, line: int) -> Assertion:
    left = left.value if isinstance(left, ast.NamedExpr) else left
    if isinstance(left, ast.Constant) and not isinstance(right, ast.Constant) and name in _TURNED:
        left, right, name = right, left, _TURNED[name]
    if isinstance(right, ast.Constant) and (right.value is None or isinstance(right.value, bool)):
        return settled(_constant(left, name, strength, right, line))
    approximate = next((side for side in (right, left) if is_approximate(side)), None)
    if isinstance(approximate, ast.Call):
        other = left if approximate is right else right
        return _close(other, approximate, line)
    return settled(Assertion(written(left), name, strength, line, written(right)))


def _constant(left: ast.expr, name: str, strength: Strength, right: ast.Constant, line: int) -> Assertion:
    is_negated = name.startswith("not")
    if right.value is None and name in ("equal", "same"):
        return Assertion(written(left), "is none", Strength.EXACT, line)
    if right.value is None and is_negated:
        return Assertion(written(left), "is something", Strength.LOOSE, line)
    if name in ("equal", "same", "not equal", "not same"):
        is_true = bool(right.value) is not is_negated
        return next(of_expression(left, line)) if is_true else _negation(left, line)
    return Assertion(written(left), name, strength, line, written(right))


def is_approximate(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and last_name(node.func) == "approx" and bool(node.args)


def _close(subject: ast.expr, approximate: ast.Call, line: int) -> Assertion:
    expected = written(approximate.args[0])
    given = {word.arg: number_of(written(word.value)) for word in approximate.keywords}
    if last_name(approximate.func) == "approx":
        named = zip(("rel", "abs"), approximate.args[1:], strict=False)
        given |= {word: number_of(written(argument)) for word, argument in named}
    absolute = next((given[word] for word in ("abs", "abs_tol", "atol") if word in given), None)
    relative = next((given[word] for word in ("rel", "rel_tol", "rtol") if word in given), None)
    if relative is not None:
        absolute = max(absolute or 0.0, relative * abs(number_of(expected) or 1.0))
    return settled(Assertion(written(subject), "close", Strength.EXACT, line, expected, tolerance=absolute))


def of_call(node: ast.Call) -> Iterator[Assertion]:
    """The demands of a call that is a statement; none where it is no assertion that is known."""
    name, line = last_name(node.func), node.lineno
    if name in ("assertTrue", "assert_") and node.args:
        yield from of_expression(node.args[0], line)
    elif name == "assertFalse" and node.args:
        yield _negation(node.args[0], line)
    elif name in demands("python", "methods") and node.args:
        yield _of_method(node, name)
    elif name in _ARRAYS and len(node.args) > 1:
        yield _of_arrays(node)
    elif name in demands("python", "mocks") and isinstance(node.func, ast.Attribute):
        arguments = tuple(token for argument in node.args for token in (*written(argument), ","))
        yield Assertion(written(node.func.value), name, demands("python", "mocks")[name][1], line, arguments)
    elif name in words_of("python", "raisers") and len(node.args) > (2 if name.endswith("Regex") else 1):
        yield of_raises(node, tuple(token for argument in node.args[1:] for token in written(argument)))
    elif name in ("fail", "xfail") and "pytest" not in written(node.func):
        yield Assertion(("fail",), "fails", Strength.EXACT, line)


def _of_method(node: ast.Call, name: str) -> Assertion:
    operator, strength = demands("python", "methods")[name]
    if len(node.args) < 2:
        return settled(Assertion(written(node.args[0]), operator, strength, node.lineno))
    if operator in ("equal", "same", "not equal", "<", "<=", ">", ">="):
        return _compared(node.args[0], operator, strength, node.args[1], node.lineno)
    subject, expected = written(node.args[0]), written(node.args[1])
    return settled(Assertion(subject, operator, strength, node.lineno, expected, tolerance=_delta(node, name)))


_ARRAYS = ("assert_allclose", "assert_almost_equal", "assert_array_almost_equal", "assert_approx_equal")


def _of_arrays(node: ast.Call) -> Assertion:
    """numpy's comparisons: close by a relative and an absolute tolerance, by decimals, or by significant digits."""
    name, expected = last_name(node.func), written(node.args[1])
    given = {word.arg: number_of(written(word.value)) for word in node.keywords}
    named = ("rtol", "atol") if name == "assert_allclose" else ("decimal",)
    named = ("significant",) if name == "assert_approx_equal" else named
    given |= {word: number_of(written(argument)) for word, argument in zip(named, node.args[2:], strict=False)}
    size = abs(number_of(expected) or 1.0)
    digits, significant = given.get("decimal"), given.get("significant")
    tolerance = max((given.get("rtol") or 1e-7) * size, given.get("atol") or 0.0)
    if name != "assert_allclose":
        tolerance = 1.5 * 10.0 ** -(6.0 if digits is None else digits)
    if name == "assert_approx_equal":
        tolerance = size * 10.0 ** -((7.0 if significant is None else significant) - 1)
    return settled(
        Assertion(written(node.args[0]), "close", Strength.EXACT, node.lineno, expected, tolerance=tolerance)
    )


def _delta(node: ast.Call, name: str) -> float | None:
    if name != "assertAlmostEqual":
        return None
    given = {word.arg: number_of(written(word.value)) for word in node.keywords}
    places = given.get("places")
    return given.get("delta") if places is None else 0.5 * 10.0**-places


def is_raises(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and last_name(node.func) in words_of("python", "raisers")


def of_raises(node: ast.Call, subject: Tokens) -> Assertion:
    """`raises(KeyError, match=...)` about `subject`: exact with a message, partial with a class of errors."""
    name = last_name(node.func)
    error = written(node.args[0]) if node.args else ("Exception",)
    message = next((written(word.value) for word in node.keywords if word.arg == "match"), ())
    if name.endswith("Regex") and len(node.args) > 1:
        message = written(node.args[1])
    if joined(message).strip("rR'\"^$") in _ANY_TEXT:
        message = ()
    strength = Strength.LOOSE if BROAD_ERRORS & set(error) and not message else Strength.PARTIAL
    return Assertion(subject, "raises", strength, node.lineno, error, message)


def of_custom(node: ast.Call) -> Assertion | None:
    """A call of something that asserts by its name, defined elsewhere: taken for exact, by its name and arguments."""
    name = last_name(node.func)
    if not name.startswith(ASSERTING_PREFIXES) or not node.args:
        return None
    first, *others = (written(argument) for argument in node.args)
    expected = tuple(token for other in others for token in other)
    return replace(Assertion(first, name, Strength.EXACT, node.lineno, expected))
