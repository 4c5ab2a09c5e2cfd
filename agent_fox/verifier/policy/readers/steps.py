"""The body of a function as steps: what is bound, asserted, called, repeated; and how a test ends before its checks."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from typing import NamedTuple

from agent_fox.verifier.policy.expressions import Tokens, flat
from agent_fox.verifier.policy.readers.calls import Call, bindings, table_of_loop, word_of
from agent_fox.verifier.policy.readers.conditions import Conditions, constant_of, is_part
from agent_fox.verifier.policy.readers.demands import Demands
from agent_fox.verifier.policy.readers.trees import Node, children, field, first, is_a, line_of, text_of, tokens, walk
from agent_fox.verifier.policy.reading import Assertion, Bind, Skip, Step, Strength, Use
from agent_fox.verifier.policy.tables import kinds, roles, says, words_of


class Place(NamedTuple):
    """Where a statement stands: under which conditions, and whether what it asserts can make the test fail."""

    guard: Tokens = ()
    is_idle: bool = False

    def under(self, word: str, condition: Tokens) -> Place:
        """The place within a branch: `if`, or `else`."""
        settled = constant_of(condition)
        if settled is None:
            return self._replace(guard=(*self.guard, word, *condition))
        return self if settled is (word == "if") else self._replace(is_idle=True)


EVERYWHERE = Place()


def statements_of(body: Node | None) -> list[Node]:
    """The statements of a block, or the one that stands for it; of Rust's the expressions that they are."""
    inner = children(body) if body is not None and roles().get(body.type) == "block" else [body] if body else []
    if len(inner) == 1 and inner[0].type == "statement_list":
        return children(inner[0])
    wrapped = ((each, first(each) if each.type == "expression_statement" else None) for each in inner)
    return [expression if is_a(expression, *kinds("statements")) else each for each, expression in wrapped]


def call_in(statement: Node | None) -> Node | None:
    while statement is not None and roles().get(statement.type) == "inner" and statement.type not in kinds("ends"):
        statement = first(statement)
    return statement if statement is not None and roles().get(statement.type) == "call" else None


def is_never(branch: Node) -> bool:
    return constant_of(tokens(field(branch, "condition"))) is False


class Steps:
    language: str

    def steps(self, body: Node | None) -> tuple[Step, ...]:
        return tuple(self._step(body, EVERYWHERE))

    def shape(self, body: Node | None) -> Callable[[], str]:  # made where somebody asks for it
        return cache(lambda: " ".join(tokens(body)))

    def _step(self, node: Node | None, place: Place) -> Iterator[Step]:
        read = _BY_ROLE.get(roles().get(node.type, "")) if node is not None else None
        yield from read(self, node, place) if node is not None and read is not None else ()

    def _each(self, nodes: Iterable[Node], place: Place) -> Iterator[Step]:
        for each in nodes:
            yield from self._step(each, place)

    def _parts(self, node: Node, place: Place) -> Iterator[Step]:
        yield from self._each(children(node), place)

    def _assertion(self, node: Node, place: Place) -> Iterator[Step]:
        yield from placed(Conditions(self.language, line_of(node)).holds(tokens(field(node, "test"))), place)

    def _block(self, block: Node, place: Place) -> Iterator[Step]:
        for statement in statements_of(block):
            yield from self._step(statement, place)
            if statement.type in kinds("ends"):
                place = place._replace(is_idle=True)

    def _binding(self, node: Node, place: Place) -> Iterator[Step]:
        """What a statement binds, and what it asserts to get there; in JavaScript only `const` binds for good."""
        if self.language == "javascript" and not text_of(node).startswith("const"):
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

    def _inner(self, node: Node, place: Place) -> Iterator[Step]:
        """A name that an inner function sets has no value of its own."""
        for each in walk(node, "Nonlocal"):
            names = text_of(each).removeprefix("nonlocal ").split(", ")
            yield from (Bind(name, (name,)) for name in names * 2)

    def _branch(self, node: Node, place: Place) -> Iterator[Step]:
        """In Go, `if got != want { t.Errorf(…) }` demands; another condition guards what is in it."""
        condition, then = tokens(field(node, "condition")), field(node, "consequence")
        otherwise = place.under("else", condition)
        if self.language == "go" and any(map(self.fails, statements_of(then))):
            start = tokens(field(node, "initializer"))
            text = " ".join(("if", *start, *condition, "{ fail }"))
            demanded = Conditions("go", line_of(node)).failing(start, condition)
            yield from placed([demanded._replace(text=text)], place)
            otherwise = place
        else:
            yield from self._step(then, place.under("if", condition))
        yield from self._step(field(node, "alternative"), otherwise)

    def fails(self, statement: Node) -> bool:
        call = call_in(statement)
        return call is not None and Demands(Call(call), self.language).is_failing()

    def _loop(self, node: Node, place: Place) -> Iterator[Step]:
        table, body = table_of_loop(node), field(node, "body")
        if is_part(over := tokens(field(first(node, "range_clause") or node, "right"))):
            place = place._replace(guard=(*place.guard, "for", *over))
        if table is not None and table.rows:
            yield table._replace(steps=tuple(self._step(body, place)))
        else:
            yield from self._step(body, place if table is None else place._replace(is_idle=True))

    def _attempt(self, node: Node, place: Place) -> Iterator[Step]:
        tried, *others = [each for each in children(node) if roles().get(each.type) in ("block", "part", "handler")]
        inside = place
        for handler in (text_of(each) for each in others if roles()[each.type] == "handler"):
            head = handler.partition("{")[0].partition("\n")[0]
            is_broad = self.language == "javascript" or head == "except:" or says(self.language, "broad", head)
            if is_broad and not says(self.language, "failing", handler):  # it keeps an assertion's error to itself
                inside = place._replace(is_idle=True)
        yield from self._step(tried, inside)
        yield from self._each(others, place)

    def _context(self, node: Node, place: Place) -> Iterator[Step]:
        inside, body = place, field(node, "body")
        contexts = [first(each) for each in children(node) if each.type == "withitem"]
        for call in (Call(each) for each in contexts if is_a(each, "Call")):
            demands = Demands(call, self.language)
            if demands.is_raising():
                subject = flat((*tokens(each), ";") for each in children(body))[:-1]
                yield from placed([demands.raised(subject)], place)
            elif call.word == "suppress" and says(self.language, "broad", text_of(call.node)):
                inside = place._replace(is_idle=True)
        yield from self._step(body, inside)

    def _call(self, node: Node, place: Place, *, is_bound: bool = False) -> Iterator[Step]:
        """What a call demands, or functions given to it do. is_bound: its result is kept: no helper that asserts."""
        call = Call(node)
        bodies = call.bodies() if self.language in ("java", "javascript", "go") else []
        is_expected = call.word.startswith("assertThrows") and len(call.given) > 1
        is_failing = is_expected and "".join(call.given[0].tokens) in words_of(self.language, "of_assertions")
        if is_failing and any(isinstance(each, Assertion) for each in self._each(bodies, EVERYWHERE)):
            yield from self._each(bodies, place._replace(is_idle=True))  # what is executed is to fail by them
            return
        demands = Demands(call, self.language)
        demanded = demands.all()
        yield from placed(demanded, place)
        is_known = bool(demanded) or is_bound
        yield from (each for each in self._each(bodies, place) if not is_known or isinstance(each, Assertion))
        is_of_object = len(call.links) > 1 and self.language in ("javascript", "rust")  # such a method is no helper
        if call.word and not (is_known or place.is_idle or is_of_object or (len(call.links) > 1 and bodies)):
            named = tuple((name, "=", *value) for name, value in call.named.items())
            given = (*(each.tokens for each in call.given), *named)
            yield Use(call.word, given, call.line, place.guard, demands.custom())

    def early_ends(self, body: Node | None, *, is_early: bool = False) -> Iterator[Skip]:
        """Skips and returns, also under a condition. is_early: more follows the body: its end is not the test's."""
        statements = statements_of(body)
        for place, node in enumerate(statements):
            is_before = is_early or place < len(statements) - 1
            if is_before and node.type in kinds("returns"):
                yield Skip("return", line_of(node))
            elif self._skips(node, body):
                text = text_of(node)
                yield Skip(text, line_of(node), says(self.language, "machine", text))
            elif node.type in kinds("conditions") and self.language != "cpp":
                text, then = text_of(field(node, "condition")), field(node, "consequence")
                if not is_never(node) and not any(map(self.fails, statements_of(then))):
                    for skip in self.early_ends(then, is_early=is_before):
                        line = line_of(node) if skip.text == "return" else skip.line
                        yield Skip(f"if {text}: {skip.text}", line, says(self.language, "machine", text))
            elif is_before and node.type in ("Try", "TryStar"):
                handlers = [each for each in children(node) if is_a(each, "ExceptHandler")]
                leaving = (each for each in handlers if first(field(each, "body"), *kinds("returns")) is not None)
                yield from (Skip(f"{text_of(each).splitlines()[0]} return", line_of(each)) for each in leaving)
            if self.language == "go" and b"func" in (node.text or b""):
                yield from self.early_ends(field(next(walk(node, "func_literal"), None), "body"))

    def _skips(self, statement: Node, body: Node | None) -> bool:
        """Whether a test says that it does not count; in JavaScript by `t.skip()`, or `skip()` of `({ skip }) => …`."""
        if statement.type == "Raise":
            return "SkipTest" in text_of(statement)
        node = call_in(statement if statement.type != "Assign" else field(statement, "value"))
        if node is None:
            return statement.type == "Expr" and is_a(first(statement), "Yield")
        word = word_of(node)
        if self.language == "cpp":
            return "_skip" in word.lower() or "_ignore" in word.lower()
        if self.language != "javascript" or word not in words_of("javascript", "skip_calls"):
            return word in words_of(self.language, "skip_calls")
        function, links = body.parent if body is not None else None, Call(node).links
        given = re.findall(r"[\w$]+", text_of(field(function, "parameters") or field(function, "parameter")))
        return len(links) < 3 and links[0].word in (*given, "this", "t", "ctx", "context", "test", "it")


_BY_ROLE: Mapping[str, Callable[[Steps, Node, Place], Iterator[Step]]] = {
    **dict.fromkeys(("inner", "part", "handler"), Steps._parts),
    "assertion": Steps._assertion,
    "block": Steps._block,
    "bound": Steps._binding,
    "branch": Steps._branch,
    "loop": Steps._loop,
    "attempt": Steps._attempt,
    "context": Steps._context,
    "call": Steps._call,
    "inner function": Steps._inner,
}


def placed(demanded: Iterable[Assertion], place: Place) -> Iterable[Assertion]:
    if place == EVERYWHERE:
        return demanded
    return [
        each._replace(guard=(*place.guard, *each.guard), strength=Strength.NONE if place.is_idle else each.strength)
        for each in demanded
    ]
