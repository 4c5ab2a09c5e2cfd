"""The body of a JavaScript function as steps: what is bound, asserted, called, repeated, what is out of reach. And
the stand-ins that tests put in the place of code: module mocks, spies with an answer, assignments."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from agent_fox.verifier.policy.readers.javascript_assertions import assertion_of_call
from agent_fox.verifier.policy.readers.trees import children, field, is_a, line_of, text_of, tokens, walk
from agent_fox.verifier.policy.reading import Bind, Check, Patch, Rows, Skip, Step, Strength, Use

if TYPE_CHECKING:
    from tree_sitter import Node

    from agent_fox.verifier.policy.expressions import Tokens

FUNCTIONS = ("arrow_function", "function_expression", "function_declaration", "method_definition", "function")
LOOPS = ("for_in_statement", "for_statement", "while_statement", "do_statement")
MOST_ROWS = 500


def steps_of(body: Node | None, guard: Tokens, is_idle: bool = False) -> Iterator[Step]:
    if not is_a(body, "statement_block"):
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
                if is_fixed and value is not None and is_a(name, "identifier"):
                    yield Bind(text_of(name), tokens(value))
        case "expression_statement" | "return_statement":
            for inner in children(node):
                yield from _expression(inner, guard, is_idle)
        case "if_statement":
            yield from _branches(node, guard, is_idle)
        case "try_statement":
            yield from _attempt(node, guard, is_idle)
        case kind if kind in LOOPS:
            yield from _loop(node, guard, is_idle)
        case "statement_block":
            yield from steps_of(node, guard, is_idle)
        case _:
            return


def _loop(node: Node, guard: Tokens, is_idle: bool) -> Iterator[Step]:
    table, body = rows_of_loop(node), field(node, "body")
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
                value = field(declarator, "value")
                if value is not None and text_of(field(declarator, "name")) == text_of(node):
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
    yield from steps_of(field(node, "consequence"), (*guard, "if", *condition), is_idle or is_never)
    for part in children(field(node, "alternative")):
        yield from _step(part, (*guard, "else", *condition), is_idle)


def _attempt(node: Node, guard: Tokens, is_idle: bool) -> Iterator[Step]:
    handler = field(node, "handler")
    caught = text_of(handler) if handler is not None else "throw"
    is_swallowed = not any(word in caught for word in ("throw", "expect", "assert", "fail", "done("))
    yield from steps_of(field(node, "body"), guard, is_idle or is_swallowed)
    yield from steps_of(field(node, "finalizer"), guard, is_idle)
    yield from steps_of(field(handler, "body"), guard, is_idle)


def _expression(node: Node | None, guard: Tokens, is_idle: bool) -> Iterator[Step]:
    if is_a(node, "await_expression") and children(node):
        node = children(node)[0]
    if not is_a(node, "call_expression"):
        return
    assertion = assertion_of_call(node)
    if assertion is not None:
        yield Check(replace(assertion, guard=guard, strength=Strength.NONE if is_idle else assertion.strength))
    elif is_a(callee := field(node, "function"), "identifier"):
        yield Use(text_of(callee), tuple(map(tokens, children(field(node, "arguments")))), line_of(node), guard)
    elif (body := callback_of(node)) is not None:
        yield from steps_of(body, guard, is_idle)


def callback_of(call: Node) -> Node | None:
    """The body of a function given to a call such as `cases.forEach(…)`, or of `(function () { … })()` itself."""
    callee = field(call, "function")
    if is_a(callee, "member_expression"):  # (function () { … }).call(this)
        callee = field(callee, "object")
    if is_a(callee, "parenthesized_expression") and children(callee):
        callee = children(callee)[0]
    if is_a(callee, *FUNCTIONS):
        return field(callee, "body")
    return field(next((each for each in children(field(call, "arguments")) if each.type in FUNCTIONS), None), "body")


def _is_skip(text: str, body: Node) -> bool:
    """Whether a test says of itself that it does not count, by what it was given: `t.skip()`, or `skip()` of
    `({ skip }) => …`.
    """
    called = re.match(r"(?:await\s+)?(?:([\w$]+)\.)?skip\(", text)
    if called is None:
        return False
    given = field(body.parent, "parameters") or field(body.parent, "parameter")
    words = re.findall(r"[\w$]+", text_of(given))
    return (called[1] or "skip") in (*words, "this", "t", "ctx", "context", "test", "it")


def early_ends(body: Node | None) -> Iterator[Skip]:
    """Ways by which a test ends before its checks: returns and skips, at the top or under a condition."""
    statements = children(body) if is_a(body, "statement_block") else []
    for place, node in enumerate(statements):
        if node.type == "return_statement" and place < len(statements) - 1:
            yield Skip("return", line_of(node))
        text = text_of(node)
        if node.type == "expression_statement" and body is not None and _is_skip(text, body):
            yield Skip(text, line_of(node))
        if node.type == "if_statement" and place < len(statements) - 1:
            inner = field(node, "consequence")
            ends = (
                each
                for each in (inner, *children(inner))
                if is_a(each, "return_statement") or ".skip(" in text_of(each)
            )
            if end := next(ends, None):
                condition = text_of(field(node, "condition") or node)
                word = "return" if end.type == "return_statement" else "skip"
                yield Skip(f"if {condition} {word}", line_of(node), "platform" in condition)


_MOCKERS = frozenset(
    f"{tool}.{word}" for tool in ("jest", "vi", "mock") for word in ("mock", "doMock", "unstable_mockModule", "module")
)
_ANSWERS = (
    *("mockReturn", "mockImpl", "mockResolved", "mockRejected", "returns", "callsFake", "resolves", "callFake", "and."),
)


def patches_of(node: Node, imports: Mapping[str, str]) -> Iterator[Patch]:
    """What one node replaces."""
    if node.type == "call_expression":
        yield from _of_call(node)
    elif node.type == "assignment_expression":
        yield from _of_assignment(node, imports)


def _of_call(node: Node) -> Iterator[Patch]:
    word, given = text_of(field(node, "function")), children(field(node, "arguments"))
    if word in _MOCKERS and given:
        yield Patch(text_of(given[0]).strip("'\"`"), _replaced_keys(given), line_of(node), text_of(node)[:200])
    elif word.rpartition(".")[2] in ("spyOn", "stub", "replace") and len(given) > 1 and _answers(node, word):
        name = text_of(given[1]).strip("'\"`")
        yield Patch(text_of(given[0]), (name,), line_of(node), text_of(node)[:200])


def _answers(node: Node, word: str) -> bool:
    """Whether a spy also answers; one that only watches replaces nothing."""
    if not word.endswith("spyOn"):
        return True
    return any(answer in text_of(node.parent)[len(text_of(node)) :] for answer in _ANSWERS)


def _replaced_keys(given: list[Node]) -> tuple[str, ...]:
    """What a factory replaces where it keeps the rest; nothing named means everything."""
    if len(given) < 2 or not any(
        word in text_of(given[1]) for word in ("requireActual", "importActual", "importOriginal")
    ):
        return ()
    keys = (field(pair, "key") for pair in walk(given[1]) if pair.type == "pair")
    return tuple(text_of(key) for key in keys if key is not None) or ("",)


def _of_assignment(node: Node, imports: Mapping[str, str]) -> Iterator[Patch]:
    left, right = field(node, "left"), field(node, "right")
    is_stub = text_of(right).startswith(("jest.fn", "vi.fn", "sinon."))
    owner, name = text_of(field(left, "object")), text_of(field(left, "property"))
    is_of_member = is_a(left, "member_expression") and (owner in imports or not imports)
    if is_of_member and (is_stub or is_a(right, "arrow_function", "function_expression")):
        yield Patch(owner, (name,), line_of(node), text_of(node)[:200])
