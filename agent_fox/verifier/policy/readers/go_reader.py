"""Reads Go with tree-sitter: Test functions, tables, conditions that end in t.Error or t.Fatal, testify."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from agent_fox.core.regex import regex
from agent_fox.verifier.policy.expressions import Tokens, joined
from agent_fox.verifier.policy.readers.trees import children, field, is_a, line_of, parsed, text_of, tokens, walk
from agent_fox.verifier.policy.readers.words import demands
from agent_fox.verifier.policy.reading import (
    Assertion,
    Bind,
    Check,
    Function,
    Reading,
    Rows,
    Skip,
    Step,
    Strength,
    Use,
    settled,
)

if TYPE_CHECKING:
    from tree_sitter import Node

    from agent_fox.verifier.policy.values import Language

MOST_ROWS = 500

_FAILING = regex(r"\b(?:t|b|f|tb)\.(?:Error|Errorf|Fatal|Fatalf|Fail|FailNow)\(|\bpanic\(")
_SKIPPING = regex(r"^(?:t|b|tb)\.(?:Skip|Skipf|SkipNow)\(")
_TEST = regex(r"(?:Test|Example|Fuzz)(?:[^a-z]|$)")


def read(text: str, is_test_file: bool, language: Language) -> Reading:
    """Raises Unreadable for what the grammar does not take."""
    root = parsed(text, language)
    functions = tuple(_functions(root, is_test_file))
    return Reading(functions=functions, defined=frozenset(function.leaf for function in functions))


def _functions(root: Node, is_test_file: bool) -> Iterator[Function]:
    for node in children(root):
        name, body = field(node, "name"), field(node, "body")
        if node.type not in ("function_declaration", "method_declaration") or name is None or body is None:
            continue
        is_method = node.type == "method_declaration"
        is_test = is_test_file and _TEST.match(text_of(name)) is not None
        yield Function(
            name=text_of(name),
            line=line_of(node),
            is_test=is_test and (not is_method or text_of(name).startswith("Test")),
            parameters=tuple(_parameters(field(node, "parameters"))),
            steps=tuple(_block(body, ())),
            skips=tuple(_skips(body)),
            shape=joined(tokens(body)),
        )


def _parameters(node: Node | None) -> Iterator[str]:
    for declaration in children(node):
        for part in children(declaration):
            if part.type == "identifier":
                yield text_of(part)


def _statements(body: Node | None) -> list[Node]:
    inner = children(body)
    return children(inner[0]) if len(inner) == 1 and inner[0].type == "statement_list" else inner


def _skips(body: Node | None) -> Iterator[Skip]:
    statements = _statements(body)
    for place, node in enumerate(statements):
        text = text_of(node)
        if node.type == "return_statement" and place < len(statements) - 1:
            yield Skip("return", line_of(node))
        if _SKIPPING.match(text):
            yield Skip(text, line_of(node))
        if node.type == "if_statement" and place < len(statements) - 1 and not _FAILING.search(text):
            inner = _statements(field(node, "consequence"))
            ends = (each for each in inner if each.type == "return_statement" or _SKIPPING.match(text_of(each)))
            if end := next(ends, None):
                condition = text_of(field(node, "condition") or node)
                is_usual = any(word in condition for word in ("testing.Short()", "runtime.GOOS", "LookPath", "GOARCH"))
                yield Skip(f"if {condition} {text_of(end)}", line_of(node), is_usual)
        yield from _inner_skips(node)


def _inner_skips(node: Node) -> Iterator[Skip]:
    """Skips in the function given to t.Run."""
    for inner in walk(node):
        if inner.type == "func_literal" and (body := field(inner, "body")) is not None:
            yield from _skips(body)
            return


def _block(body: Node | None, guard: Tokens) -> Iterator[Step]:
    is_over = False
    for node in _statements(body):
        steps = _step(node, guard)
        yield from (_idle(step) for step in steps) if is_over else steps
        is_over = is_over or node.type == "return_statement"


def _idle(step: Step) -> Step:
    return Check(replace(step.assertion, strength=Strength.NONE)) if isinstance(step, Check) else step


def _step(node: Node, guard: Tokens) -> Iterator[Step]:
    match node.type:
        case "short_var_declaration" | "assignment_statement":
            names, values = children(field(node, "left")), children(field(node, "right"))
            if len(names) == len(values) == 1 and names[0].type == "identifier":
                yield Bind(text_of(names[0]), tokens(values[0]))
        case "if_statement":
            yield from _condition(node, guard)
        case "for_statement":
            yield from _loop(node, guard)
        case "expression_statement":
            yield from _call(children(node)[0], guard)
        case "block":
            yield from _block(node, guard)
        case _:
            return


def _condition(node: Node, guard: Tokens) -> Iterator[Step]:
    """`if got != want { t.Errorf(…) }` demands; another condition guards what is in it."""
    consequence, condition = field(node, "consequence"), field(node, "condition")
    if consequence is None:
        return
    fails = any(_FAILING.match(text_of(statement)) for statement in _statements(consequence))
    if fails:
        start = field(node, "initializer")
        yield Check(_demand(tokens(start), tokens(condition), line_of(node), guard))
    else:
        yield from _block(consequence, (*guard, "if", *tokens(condition)))
    if (alternative := field(node, "alternative")) is not None:
        yield from _step(alternative, guard if fails else (*guard, "else", *tokens(condition)))


def _demand(start: Tokens, condition: Tokens, line: int, guard: Tokens) -> Assertion:
    """A failing condition, as what it demands: `got != 25` demands that got equals 25."""
    text = f"if {joined((*start, *condition))} {{ fail }}"
    if condition in (("false",), ("!", "true")):
        return Assertion(condition, "holds", Strength.NONE, line, text=text)
    if condition.count("!=") == 1 and not {"&&", "||"} & set(condition):
        place = condition.index("!=")
        subject, expected = (*start, *condition[:place]), condition[place + 1 :]
        return settled(Assertion(subject, "equal", Strength.EXACT, line, expected, guard=guard, text=text))
    strength = Strength.EXACT if "DeepEqual" in condition or "Is" in condition else Strength.PARTIAL
    if condition[-2:] == ("==", "nil"):
        strength = Strength.LOOSE
    subject = tuple(token for token in (*start, *condition) if token not in ("==", "<", ">", "<=", ">="))
    operator = next((token for token in condition if token in ("==", "<", ">", "<=", ">=")), "holds")
    return Assertion(subject, f"not {operator}", strength, line, guard=guard, text=text)


def _loop(node: Node, guard: Tokens) -> Iterator[Step]:
    body = field(node, "body")
    head = next((child for child in children(node) if child.type == "range_clause"), None)
    if body is None:
        return
    inner = tuple(_block(body, guard))
    right, left = field(head, "right"), children(field(head, "left"))
    rows = tuple(_rows(right, node)) if right is not None else ()
    name = text_of(left[-1]) if left else ""
    if rows and name:
        yield Rows((name,), tuple((row,) for row in rows[:MOST_ROWS]), inner)
    else:
        yield from inner


def _rows(table: Node, loop: Node) -> Iterator[Tokens]:
    """The elements of a table: written in the loop's head, or under its name in the same function."""
    literal: Node | None = table
    if table.type == "identifier" and loop.parent is not None:
        literal = next(
            (rows for child in children(loop.parent) if (rows := _range_of(child, text_of(table))) is not None), None
        )
    body = field(literal, "body") if is_a(literal, "composite_literal") else None
    yield from map(tokens, children(body))


def _range_of(node: Node, name: str) -> Node | None:
    is_of_name = node.type == "short_var_declaration" and text_of(field(node, "left")) == name
    return next(iter(children(field(node, "right"))), None) if is_of_name else None


def _call(node: Node, guard: Tokens) -> Iterator[Step]:
    if node.type != "call_expression":
        return
    given = children(field(node, "arguments"))
    owner, _, word = text_of(field(node, "function")).rpartition(".")
    literal = next((each for each in given if each.type == "func_literal"), None)
    if literal is not None and (body := field(literal, "body")) is not None:
        yield from _block(body, guard)
    elif owner in ("assert", "require") and len(given) > 1:
        yield Check(_testify(word, given, line_of(node), guard))
    elif _FAILING.match(text_of(node)):
        yield Check(Assertion(("fail",), "fails", Strength.EXACT, line_of(node), guard=guard, text=text_of(node)[:200]))
    else:
        yield Use(word, tuple(map(tokens, given)), line_of(node), guard)


def _testify(word: str, given: list[Node], line: int, guard: Tokens) -> Assertion:
    operator, strength = demands("go", "testify").get(word, (word, Strength.EXACT))
    is_two_sided = len(given) > 2 and strength is not Strength.LOOSE and word != "False"
    subject = tokens(given[2] if is_two_sided and operator == "equal" else given[1])
    expected = tokens(given[1] if operator == "equal" else given[2]) if is_two_sided else ()
    return settled(Assertion(subject, operator, strength, line, expected, guard=guard))
