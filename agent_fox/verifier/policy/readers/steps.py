"""The body of a function as steps: what is bound, asserted, called, repeated, and what is out of reach. And the ways by
which a test ends before its checks."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from agent_fox.core.values import dataclass
from agent_fox.verifier.policy.expressions import joined
from agent_fox.verifier.policy.readers.calls import Call, word_of
from agent_fox.verifier.policy.readers.conditions import Conditions, constant_of
from agent_fox.verifier.policy.readers.demands import custom, demands_of, is_failing, is_raising, raised
from agent_fox.verifier.policy.readers.tables import bindings, table_of_loop
from agent_fox.verifier.policy.readers.trees import children, field, first, is_a, line_of, text_of, tokens, walk
from agent_fox.verifier.policy.readers.words import kinds, roles, says, words_of
from agent_fox.verifier.policy.reading import Assertion, Bind, Check, Rows, Skip, Step, Strength, Use

if TYPE_CHECKING:
    from tree_sitter import Node

    from agent_fox.verifier.policy.expressions import Tokens


_OF_RUST = ("return_expression", "if_expression", "for_expression", "while_expression", "loop_expression")


@dataclass(frozen=True, slots=True)
class Place:
    """Where a statement stands: under which conditions, and whether what it asserts can make the test fail."""

    guard: Tokens = ()
    is_idle: bool = False

    def under(self, word: str, condition: Tokens) -> Place:
        """The place within a branch: `if`, or `else`."""
        settled = constant_of(condition)
        if settled is None:
            return replace(self, guard=(*self.guard, word, *condition))
        return self if settled is (word == "if") else replace(self, is_idle=True)


_EVERYWHERE = Place()


def statements_of(body: Node | None) -> list[Node]:
    """The statements of a block, or the one that stands for it."""
    inner = children(body) if body is not None and roles().get(body.type) == "block" else [body] if body else []
    return children(inner[0]) if len(inner) == 1 and inner[0].type == "statement_list" else inner


def _inner(statement: Node) -> Node | None:
    """The expression that a statement of Rust is, or the statement."""
    is_rust = (
        statement.type == "expression_statement" and statement.child_count and statement.children[0].type in _OF_RUST
    )
    return statement.children[0] if is_rust else statement


def call_in(statement: Node | None) -> Node | None:
    """The call that a statement is, awaited or not."""
    while statement is not None and roles().get(statement.type) == "inner" and statement.type not in kinds("ends"):
        statement = first(statement)
    return statement if statement is not None and roles().get(statement.type) == "call" else None


class Steps:
    """Reads the bodies of functions of one language."""

    def __init__(self, language: str) -> None:
        self._language = language

    def of(self, body: Node | None) -> tuple[Step, ...]:
        return tuple(self._step(body, _EVERYWHERE))

    def _step(self, node: Node | None, place: Place) -> Iterator[Step]:
        role = roles().get(node.type) if node is not None else None
        if node is None or role is None:
            return
        if role in _BY_ROLE:
            yield from _BY_ROLE[role](self, node, place)
        elif role in ("inner", "part", "handler"):
            for each in children(node):
                yield from self._step(each, place)

    def _assertion(self, node: Node, place: Place) -> Iterator[Step]:
        yield from _checks(Conditions(self._language, line_of(node)).holds(tokens(field(node, "test"))), place)

    def _block(self, block: Node, place: Place) -> Iterator[Step]:
        for statement in statements_of(block):
            yield from self._step(statement, place)
            if is_a(_inner(statement), *kinds("ends")):
                place = replace(place, is_idle=True)

    def _binding(self, node: Node, place: Place) -> Iterator[Step]:
        """What a statement binds, and what it asserts to get there; in JavaScript only `const` binds for good."""
        if self._language == "javascript" and not text_of(node).startswith("const"):
            return
        for pattern, value in bindings(node):
            name = text_of(pattern)
            if node.type == "AugAssign":
                yield from (Bind(name, (name,)), Bind(name, (name,)))
            elif pattern.type != "Tuple":
                yield Bind(name, tokens(value))
            elif value.type != "Tuple":
                parts = ((at, part) for at, part in enumerate(children(pattern)) if part.type == "Name")
                yield from (Bind(text_of(part), (*tokens(value), "[", str(at), "]")) for at, part in parts)
            if (called := call_in(value)) is not None:
                yield from self._call(called, place, is_bound=True)

    def _branch(self, node: Node, place: Place) -> Iterator[Step]:
        """In Go, `if got != want { t.Errorf(…) }` demands; another condition guards what is in it."""
        condition, then = tokens(field(node, "condition")), field(node, "consequence")
        otherwise = place.under("else", condition)
        if self._language == "go" and any(self.fails(each) for each in statements_of(then)):
            start = tokens(field(node, "initializer"))
            text = f"if {joined((*start, *condition))} {{ fail }}"
            yield from _checks([Conditions("go", line_of(node), said=text).failing(start, condition)], place)
            otherwise = place
        else:
            yield from self._step(then, place.under("if", condition))
        yield from self._step(field(node, "alternative"), otherwise)

    def fails(self, statement: Node) -> bool:
        call = call_in(statement)
        return call is not None and is_failing(Call(call), self._language)

    def _loop(self, node: Node, place: Place) -> Iterator[Step]:
        table, body = table_of_loop(node), field(node, "body")
        if table is not None and table[1]:
            yield Rows(*table, tuple(self._step(body, place)))
        else:
            yield from self._step(body, place if table is None else replace(place, is_idle=True))

    def _attempt(self, node: Node, place: Place) -> Iterator[Step]:
        parts = [each for each in children(node) if roles().get(each.type) in ("block", "part", "handler")]
        is_swallowed = any(self._swallows(each) for each in parts if roles()[each.type] == "handler")
        yield from self._step(parts[0], replace(place, is_idle=True) if is_swallowed else place)
        for part in parts[1:]:
            yield from self._step(part, place)

    def _swallows(self, handler: Node) -> bool:
        """Whether a handler keeps the error of an assertion to itself."""
        text = text_of(handler)
        head = text.partition("{")[0].partition("\n")[0]
        is_broad = self._language == "javascript" or head == "except:" or says(self._language, "broad", head)
        return is_broad and not says(self._language, "failing", text)

    def _context(self, node: Node, place: Place) -> Iterator[Step]:
        inside, body = place, field(node, "body")
        for item in (each for each in children(node) if is_a(each, "withitem")):
            context = first(item)
            call = Call(context) if is_a(context, "Call") else None
            if call is not None and is_raising(call, self._language):
                subject = tuple(token for each in children(body) for token in (*tokens(each), ";"))
                yield from _checks([raised(call, self._language, subject[:-1])], place)
            elif call is not None and call.word == "suppress" and says(self._language, "broad", call.text):
                inside = replace(place, is_idle=True)
        yield from self._step(body, inside)

    def _call(self, node: Node, place: Place, *, is_bound: bool = False) -> Iterator[Step]:
        """What a call demands, or what the functions that it is given do; another may be one that asserts.

        is_bound: what it returns is kept, so that it is no helper that asserts.
        """
        call = Call(node)
        bodies = call.bodies() if self._language in ("java", "javascript", "go") else []
        if self._is_of_failure(call, bodies):
            yield from self._within(bodies, replace(place, is_idle=True))
            return
        demanded = demands_of(call, self._language)
        yield from _checks(demanded, place)
        is_known = bool(demanded) or is_bound
        yield from (each for each in self._within(bodies, place) if not is_known or isinstance(each, Check))
        is_asked = call.is_plain or not (bodies or self._language in ("javascript", "rust"))
        if not is_known and call.word and not place.is_idle and is_asked:
            named = tuple((name, "=", *value) for name, value in call.named.items())
            given = (*(each.tokens for each in call.given), *named)
            yield Use(call.word, given, call.line, place.guard, custom(call, self._language))

    def _within(self, bodies: list[Node], place: Place) -> Iterator[Step]:
        for body in bodies:
            yield from self._step(body, place)

    def _is_of_failure(self, call: Call, bodies: list[Node]) -> bool:
        """Whether what `assertThrows` executes is to fail by an assertion within."""
        is_expected = call.word.startswith("assertThrows") and len(call.given) > 1
        if not is_expected or "".join(call.given[0].tokens) not in words_of(self._language, "of_assertions"):
            return False
        return any(isinstance(each, Check) for each in self._within(bodies, _EVERYWHERE))

    def early_ends(self, body: Node | None, *, is_early: bool = False) -> Iterator[Skip]:
        """Ways by which a test ends before its checks: skips and returns, at the top or under a condition.

        is_early: the body stands before other statements, so that its end is no end of the test.
        """
        statements = statements_of(body)
        for place, node in enumerate(statements):
            inner = _inner(node)
            role = roles().get(inner.type) if inner is not None else None
            is_before = is_early or place < len(statements) - 1
            if is_before and is_a(inner, *kinds("returns")):
                yield Skip("return", line_of(node))
            elif self._skips(node, body):
                text = text_of(node)
                yield Skip(text, line_of(node), says(self._language, "machine", text))
            elif role == "branch" and is_a(inner, "if_statement", "if_expression", "If") and self._language != "cpp":
                yield from self._in_branch(inner, is_before)
            elif role == "attempt" and is_before and self._language == "python":
                yield from _caught_and_left(inner)
            if self._language == "go":
                literal = next((each for each in walk(node) if each.type == "func_literal"), None)
                yield from self.early_ends(field(literal, "body"))

    def _in_branch(self, node: Node | None, is_early: bool) -> Iterator[Skip]:
        condition, then = field(node, "condition"), field(node, "consequence")
        if node is None or constant_of(tokens(condition)) is False or any(map(self.fails, statements_of(then))):
            return
        for skip in self.early_ends(then, is_early=is_early):
            text = text_of(condition)
            line = line_of(node) if skip.text == "return" else skip.line
            yield Skip(f"if {text}: {skip.text}", line, says(self._language, "machine", text))

    def _skips(self, statement: Node, body: Node | None) -> bool:
        """Whether a test says of itself that it does not count."""
        if statement.type == "Raise":
            return "SkipTest" in text_of(statement)
        node = call_in(statement if statement.type != "Assign" else field(statement, "value"))
        if node is None:
            return statement.type == "Expr" and is_a(first(statement), "Yield")
        word = word_of(node)
        if self._language == "cpp":
            return "_skip" in word.lower() or "_ignore" in word.lower()
        is_skip = word in words_of(self._language, "skip_calls")
        return is_skip and (self._language != "javascript" or _is_of_test(Call(node), body))


_BY_ROLE: Mapping[str, Callable[[Steps, Node, Place], Iterator[Step]]] = {
    "block": Steps._block,
    "bound": Steps._binding,
    "assertion": Steps._assertion,
    "branch": Steps._branch,
    "loop": Steps._loop,
    "attempt": Steps._attempt,
    "context": Steps._context,
    "call": Steps._call,
}


def _caught_and_left(attempt: Node | None) -> Iterator[Skip]:
    """Errors after which a test just ends."""
    for handler in (each for each in children(attempt) if roles().get(each.type) == "handler"):
        if first(field(handler, "body"), *kinds("returns")) is not None:
            head = text_of(handler).partition("\n")[0].partition("{")[0].strip()
            yield Skip(f"{head} return", line_of(handler))


def _is_of_test(call: Call, body: Node | None) -> bool:
    """Whether `skip` is asked of what a test was given: `t.skip()`, or `skip()` of `({ skip }) => …`."""
    function = body.parent if body is not None else None
    given = re.findall(r"[\w$]+", text_of(field(function, "parameters") or field(function, "parameter")))
    return len(call.links) < 3 and call.links[0].word in (*given, "this", "t", "ctx", "context", "test", "it")


def _checks(demanded: Iterable[Assertion], place: Place) -> Iterator[Check]:
    for assertion in demanded:
        if place == _EVERYWHERE:
            yield Check(assertion)
            continue
        strength = Strength.NONE if place.is_idle else assertion.strength
        yield Check(replace(assertion, guard=(*place.guard, *assertion.guard), strength=strength))
