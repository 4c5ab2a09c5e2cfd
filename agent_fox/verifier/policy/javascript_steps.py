"""The body of a JavaScript function as steps: what is bound, asserted, called, repeated, and what is out of reach."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from agent_fox.verifier.policy.javascript_assertions import assertion_of_call
from agent_fox.verifier.policy.reading import Assertion, Bind, Check, Rows, Skip, Step, Strength, Use
from agent_fox.verifier.policy.trees import children, field, line_of, text_of, tokens, walk

if TYPE_CHECKING:
    from tree_sitter import Node

    from agent_fox.verifier.policy.expressions import Tokens

FUNCTIONS = ("arrow_function", "function_expression", "function_declaration", "method_definition", "function")
LOOPS = ("for_in_statement", "for_statement", "while_statement", "do_statement")
MOST_ROWS = 500


def steps_of(body: Node, guard: Tokens, is_idle: bool = False) -> Iterator[Step]:
    if body.type != "statement_block":
        yield from _expression(body, guard, is_idle)
        return
    for statement in children(body):
        yield from _step(statement, guard, is_idle)
        is_idle = is_idle or statement.type in ("return_statement", "throw_statement")


def _step(node: Node, guard: Tokens, is_idle: bool) -> Iterator[Step]:
    match node.type:
        case "lexical_declaration" | "variable_declaration":
            is_fixed = text_of(node).startswith("const")
            for declarator in children(node):
                name, value = field(declarator, "name"), field(declarator, "value")
                if is_fixed and name is not None and value is not None and name.type == "identifier":
                    yield Bind(text_of(name), tokens(value))
        case "expression_statement" | "return_statement":
            for inner in children(node):
                yield from _expression(inner, guard, is_idle)
        case "if_statement":
            yield from _branches(node, guard, is_idle)
        case "try_statement":
            yield from _attempt(node, guard, is_idle)
        case kind if kind in LOOPS:
            if (body := field(node, "body")) is not None:
                yield from _loop(node, body, guard, is_idle)
        case "statement_block":
            yield from steps_of(node, guard, is_idle)
        case _:
            return


def _loop(node: Node, body: Node, guard: Tokens, is_idle: bool) -> Iterator[Step]:
    table = rows_of_loop(node)
    if table is None:
        yield from steps_of(body, guard, is_idle)
    elif table[1]:
        yield Rows(*table, tuple(steps_of(body, guard, is_idle)))
    else:
        yield from steps_of(body, guard, True)


def rows_of_loop(node: Node) -> tuple[tuple[str, ...], tuple[tuple[Tokens, ...], ...]] | None:
    """The names and literal rows of `for (const [a, b] of TABLE)`; None where no list can be seen."""
    right, left = field(node, "right"), field(node, "left")
    right = table_of(right) if right is not None else None
    if right is None or left is None or right.type != "array":
        return None
    names = tuple(
        text_of(each) for each in walk(left) if each.type in ("identifier", "shorthand_property_identifier_pattern")
    )
    is_wide = left.type in ("array_pattern",)
    rows = tuple(tuple(map(tokens, children(row))) if is_wide else (tokens(row),) for row in children(right))
    return names, rows[:MOST_ROWS]


def table_of(node: Node) -> Node:
    """The list that a name stands for: that of the nearest `const` around it, or the node itself."""
    scope = node.parent if node.type == "identifier" else None
    while scope is not None:
        for statement in scope.named_children:
            inner = (
                children(statement)[-1] if statement.type == "export_statement" and children(statement) else statement
            )
            for declarator in inner.named_children if inner.type == "lexical_declaration" else []:
                name, value = field(declarator, "name"), field(declarator, "value")
                if name is not None and value is not None and text_of(name) == text_of(node):
                    return _bare(value)
        scope = scope.parent
    return _bare(node)


def _bare(node: Node) -> Node:
    """`[1, 2]` of `[1, 2] as const`."""
    inner = children(node)
    return inner[0] if node.type in ("as_expression", "satisfies_expression") and inner else node


def _branches(node: Node, guard: Tokens, is_idle: bool) -> Iterator[Step]:
    condition = tokens(field(node, "condition"))
    is_never = condition in (("false",), ("0",))
    if (inner := field(node, "consequence")) is not None:
        yield from steps_of(inner, (*guard, "if", *condition), is_idle or is_never)
    if (other := field(node, "alternative")) is not None:
        for part in children(other):
            yield from _step(part, (*guard, "else", *condition), is_idle)


def _attempt(node: Node, guard: Tokens, is_idle: bool) -> Iterator[Step]:
    handler = field(node, "handler")
    caught = text_of(handler) if handler is not None else "throw"
    is_swallowed = not any(word in caught for word in ("throw", "expect", "assert", "fail", "done("))
    for part, idle in ((field(node, "body"), is_idle or is_swallowed), (field(node, "finalizer"), is_idle)):
        if part is not None:
            yield from steps_of(part, guard, idle)
    if handler is not None and (body := field(handler, "body")) is not None:
        yield from steps_of(body, guard, is_idle)


def _expression(node: Node, guard: Tokens, is_idle: bool) -> Iterator[Step]:
    if node.type == "await_expression" and children(node):
        node = children(node)[0]
    if node.type != "call_expression":
        return
    assertion = assertion_of_call(node)
    if assertion is not None:
        yield _check(assertion, guard, is_idle)
    elif (callee := field(node, "function")) is not None and callee.type == "identifier":
        arguments = field(node, "arguments")
        given = tuple(map(tokens, children(arguments))) if arguments is not None else ()
        yield Use(text_of(callee), given, line_of(node), guard)
    elif (body := callback_of(node)) is not None:
        yield from steps_of(body, guard, is_idle)


def _check(found: Assertion, guard: Tokens, is_idle: bool) -> Check:
    strength = Strength.NONE if is_idle else found.strength
    return Check(replace(found, guard=guard, strength=strength))


def callback_of(call: Node) -> Node | None:
    """The body of a function given to a call such as `cases.forEach(…)`, or of `(function () { … })()` itself."""
    callee = field(call, "function")
    if callee is not None and callee.type == "member_expression":  # (function () { … }).call(this)
        callee = field(callee, "object")
    if callee is not None and callee.type == "parenthesized_expression" and children(callee):
        callee = children(callee)[0]
    if callee is not None and callee.type in FUNCTIONS:
        return field(callee, "body")
    arguments = field(call, "arguments")
    for argument in children(arguments) if arguments is not None else []:
        if argument.type in FUNCTIONS:
            return field(argument, "body")
    return None


def _is_skip(text: str, body: Node) -> bool:
    """Whether a test says of itself that it does not count, by what it was given: `t.skip()`, or `skip()` of
    `({ skip }) => …`.
    """
    called = re.match(r"(?:await\s+)?(?:([\w$]+)\.)?skip\(", text)
    if called is None:
        return False
    given = (body.parent and (field(body.parent, "parameters") or field(body.parent, "parameter"))) or None
    words = re.findall(r"[\w$]+", text_of(given)) if given is not None else []
    return (called[1] or "skip") in (*words, "this", "t", "ctx", "context", "test", "it")


def early_ends(body: Node) -> Iterator[Skip]:
    statements = children(body) if body.type == "statement_block" else []
    for place, node in enumerate(statements):
        if node.type == "return_statement" and place < len(statements) - 1:
            yield Skip("return", line_of(node))
        text = text_of(node)
        if node.type == "expression_statement" and _is_skip(text, body):
            yield Skip(text, line_of(node))
        if (
            node.type == "if_statement"
            and place < len(statements) - 1
            and (inner := field(node, "consequence")) is not None
        ):
            ends = [
                each
                for each in [inner, *children(inner)]
                if each.type == "return_statement" or ".skip(" in text_of(each)
            ]
            if ends:
                condition = text_of(field(node, "condition") or node)
                word = "return" if ends[0].type == "return_statement" else "skip"
                yield Skip(f"if {condition} {word}", line_of(node), "platform" in condition)
