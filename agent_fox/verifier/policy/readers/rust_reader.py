"""Reads Rust with tree-sitter: functions under #[test], assert macros, #[ignore], #[should_panic]."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from agent_fox.verifier.policy.expressions import Tokens, joined, split_arguments
from agent_fox.verifier.policy.readers.rust_macros import TEST, Macros
from agent_fox.verifier.policy.readers.trees import children, field, is_a, line_of, parsed, text_of, tokens
from agent_fox.verifier.policy.reading import (
    Assertion,
    Bind,
    Check,
    Function,
    Reading,
    Skip,
    Step,
    Strength,
    Use,
    settled,
)

if TYPE_CHECKING:
    from tree_sitter import Node

    from agent_fox.verifier.policy.values import Language

_ORDERS = ("<", ">", "<=", ">=")


def read(text: str, is_test_file: bool, language: Language) -> Reading:
    """Raises Unreadable for what the grammar does not take."""

    def made(text: str) -> list[Function]:
        return [function for function in _items(parsed(text, language), (), ()) if function.is_test]

    root = parsed(text, language)
    functions = tuple(_items(root, (), (), Macros(root, made)))
    return Reading(
        functions=functions, defined=frozenset(function.leaf for function in functions if not function.is_test)
    )


def _items(
    node: Node, names: tuple[str, ...], skips: tuple[Skip, ...], macros: Macros | None = None
) -> Iterator[Function]:
    marks: list[Node] = []
    for child in children(node):
        if child.type == "attribute_item":
            marks.append(child)
            continue
        name, body = field(child, "name"), field(child, "body")
        if child.type == "mod_item" and name is not None and body is not None:
            inside = (*skips, *(Skip(text_of(mark), line_of(mark)) for mark in marks if _is_off(mark)))
            yield from _items(body, (*names, text_of(name)), inside, macros)
        elif child.type == "function_item" and name is not None and body is not None:
            yield _function(child, (*names, text_of(name)), marks, skips)
        elif child.type == "impl_item" and body is not None:
            yield from _items(body, names, skips, macros)
        elif macros is not None:
            for made in macros.functions(child):
                own = (*skips, *made.skips) if made.is_test else ()
                yield replace(made, name="::".join((*names, made.name)), skips=own)
        marks = []


def _is_off(mark: Node) -> bool:
    text = text_of(mark)
    is_narrowed = text.startswith("#[cfg(") and "feature" in text
    return is_narrowed or text.startswith(("#[ignore", "#[cfg(any())", "#[cfg(not(test))", "#[cfg(FALSE)"))


def _function(node: Node, names: tuple[str, ...], marks: list[Node], skips: tuple[Skip, ...]) -> Function:
    body = field(node, "body")
    texts = [text_of(mark) for mark in marks]
    given = [field(each, "pattern") for each in children(field(node, "parameters"))]
    panics = [_panic(text, line_of(mark)) for text, mark in zip(texts, marks, strict=True) if "should_panic" in text]
    own = (Skip(text_of(mark), line_of(mark)) for mark in marks if _is_off(mark) or "ignore" in text_of(mark))
    return Function(
        name="::".join(names),
        line=line_of(node),
        is_test=any(TEST.match(text) for text in texts),
        parameters=tuple(text_of(each) for each in given if each is not None),
        steps=(*panics, *_block(body, (), False)),
        skips=(*skips, *own, *_early_ends(body)),
        shape=joined(tokens(body)),
    )


def _panic(text: str, line: int) -> Check:
    message = re.search(r'expected\s*=\s*("(?:[^"\\]|\\.)*")', text)
    strength = Strength.PARTIAL if message else Strength.LOOSE
    return Check(Assertion(("panics",), "panics", strength, line, detail=(message[1],) if message else ()))


def _early_ends(body: Node | None) -> Iterator[Skip]:
    statements = children(body)
    for place, node in enumerate(statements):
        text = text_of(node)
        if text.startswith("return") and place < len(statements) - 1:
            yield Skip("return", line_of(node))
        if text.startswith("if ") and re.search(r"\{\s*return\b[^;]*;?\s*\}$", text) and place < len(statements) - 1:
            yield Skip(text, line_of(node), "target_os" in text)


def _block(node: Node | None, guard: Tokens, is_idle: bool) -> Iterator[Step]:
    for statement in children(node):
        yield from _step(statement, guard, is_idle)
        is_idle = is_idle or text_of(statement).startswith("return")


def _step(node: Node, guard: Tokens, is_idle: bool) -> Iterator[Step]:
    match node.type:
        case "let_declaration":
            value = field(node, "value")
            if value is not None and is_a(name := field(node, "pattern"), "identifier"):
                yield Bind(text_of(name), tokens(value))
        case "expression_statement":
            yield from _step(children(node)[0], guard, is_idle)
        case "macro_invocation":
            yield from _macro(node, guard, is_idle)
        case "if_expression":
            condition = tokens(field(node, "condition"))
            is_never = condition == ("false",)
            yield from _block(field(node, "consequence"), (*guard, "if", *condition), is_idle or is_never)
        case "for_expression" | "while_expression" | "loop_expression":
            yield from _block(field(node, "body"), guard, is_idle)
        case "block" | "unsafe_block":
            yield from _block(node, guard, is_idle)
        case "call_expression":
            name_of = text_of(field(node, "function")).rpartition("::")[2]
            yield Use(name_of, tuple(map(tokens, children(field(node, "arguments")))), line_of(node), guard)
        case _:
            return


def _macro(node: Node, guard: Tokens, is_idle: bool) -> Iterator[Step]:
    name = text_of(field(node, "macro") or node).rpartition("::")[2]
    tree = next((child for child in children(node) if child.type == "token_tree"), None)
    given = split_arguments(_inside(tree)) if tree is not None else ()
    if not name.removeprefix("debug_").startswith(("assert", "prop_assert", "panic", "unreachable")) or not given:
        return
    assertion = _assertion(name.removeprefix("debug_").removeprefix("prop_"), given, node)
    yield Check(replace(assertion, guard=guard, strength=Strength.NONE if is_idle else assertion.strength))


def _inside(tree: Node) -> Tokens:
    flat = tokens(tree)
    return flat[1:-1] if flat[:1] in (("(",), ("[",), ("{",)) and flat[-1:] in ((")",), ("]",), ("}",)) else flat


def _assertion(name: str, given: tuple[Tokens, ...], node: Node) -> Assertion:
    line, text = line_of(node), text_of(node)[:200]
    if name in ("assert_eq", "assert_ne") and len(given) > 1:
        operator, strength = ("equal", Strength.EXACT) if name == "assert_eq" else ("not equal", Strength.PARTIAL)
        return settled(Assertion(given[0], operator, strength, line, given[1], text=text))
    if name == "assert":
        return settled(_truth(given[0], line, text))
    return Assertion(
        given[0], name, Strength.EXACT, line, tuple(token for each in given[1:] for token in each), text=text
    )


def _matches(condition: Tokens, line: int, text: str) -> Assertion:
    """`matches!(x, Err(Kind::Empty))` demands as much as equality, unless the pattern leaves something open."""
    parts = split_arguments(condition[condition.index("(") + 1 : -1])
    if len(parts) != 2:
        return Assertion(condition, "matches", Strength.PARTIAL, line, text=text)
    is_open = bool({"_", "..", ".", "|", "if", "..."} & set(parts[1]))
    return Assertion(parts[0], "equal", Strength.PARTIAL if is_open else Strength.EXACT, line, parts[1], text=text)


def _truth(condition: Tokens, line: int, text: str) -> Assertion:
    for operator, name, strength in (("==", "equal", Strength.EXACT), ("!=", "not equal", Strength.PARTIAL)):
        if condition.count(operator) == 1 and not {"&&", "||"} & set(condition):
            place = condition.index(operator)
            return Assertion(condition[:place], name, strength, line, condition[place + 1 :], text=text)
    if condition[:2] == ("matches", "!") or condition[:1] == ("matches!",):
        return _matches(condition, line, text)
    order = next((token for token in condition if token in _ORDERS), None)
    if order is not None:
        place = condition.index(order)
        return Assertion(condition[:place], order, Strength.PARTIAL, line, condition[place + 1 :], text=text)
    strength = Strength.PARTIAL if condition[:1] == ("!",) else Strength.LOOSE
    return Assertion(condition, "truthy", strength, line, text=text)
