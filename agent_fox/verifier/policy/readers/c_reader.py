"""Reads C and C++ with tree-sitter: functions that assert, by the words that macros and functions of tests go by.

Macros make most of these files something that no grammar takes whole, so that errors in the tree are passed over.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cache
from typing import TYPE_CHECKING

from agent_fox.core.regex import regex
from agent_fox.verifier.policy.expressions import Tokens, is_literal, joined
from agent_fox.verifier.policy.readers.trees import children, field, is_a, line_of, parsed, text_of, tokens, walk
from agent_fox.verifier.policy.readers.words import demands
from agent_fox.verifier.policy.reading import Assertion, Check, Function, Reading, Skip, Strength, settled

if TYPE_CHECKING:
    from tree_sitter import Node

    from agent_fox.verifier.policy.values import Language

_ASSERTS = regex(r"(?i)\w*(?:assert|expect|check|require|verify|test|fail_unless|fail_if)\w*")
_SKIPS = regex(r"(?i)\w*(?:_skip|_ignore)\w*")
_MACRO = regex(r"[A-Z][A-Z0-9_]*")
_NEVER = frozenset({"0", "(0)", "(false)"})
_COMPARISONS = {"==": ("equal", Strength.EXACT), "!=": ("not equal", Strength.PARTIAL)}
_ORDERS = frozenset({"<", ">", "<=", ">="})


def read(text: str, is_test_file: bool, language: Language) -> Reading:
    """Raises Unreadable for what is nested beyond measure."""
    root = parsed(text, language, is_whole=False)
    definitions = sorted(_definitions(root), key=lambda pair: pair[0].start_byte)
    times = Counter(_name(declared) for declared, _ in definitions)
    return Reading(tuple(_function(declared, body, is_test_file, times) for declared, body in definitions))


def _definitions(root: Node) -> Iterator[tuple[Node, Node]]:
    """What each function is declared as, and its body; `TEST_CASE("adds") { ... }` is a call before a block."""
    for node in walk(root):
        declared, body = field(node, "declarator"), field(node, "body")
        while is_a(declared, "pointer_declarator", "reference_declarator"):
            declared = field(declared, "declarator")
        if node.type == "function_definition" and declared is not None and body is not None:
            yield declared, body
        elif node.type == "compound_statement" and is_a(node.parent, "translation_unit", "declaration_list"):
            head = next(iter(children(node.prev_named_sibling)), None)
            if is_a(head, "call_expression"):
                yield head, node


def _name(declared: Node) -> str:
    return text_of(field(declared, "declarator") or field(declared, "function") or declared)


def _function(declared: Node, body: Node, is_test_file: bool, times: Mapping[str, int]) -> Function:
    """A function; a test where it is `main`, is made by a macro such as TEST, or takes nothing and asserts or says so
    by its name.
    """
    name, given = _name(declared), [text_of(each) for each in children(field(declared, "parameters"))]
    is_macro = _MACRO.fullmatch(name) is not None and "TEST" in name
    steps = tuple(Check(assertion) for assertion in _assertions(body))
    is_plain = given in ([], ["void"]) and (bool(steps) or "test" in name.lower())
    return Function(
        name=joined(text_of(declared).split()) if is_macro or times[name] > 1 else name,
        line=line_of(declared),
        is_test=is_test_file and (is_macro or name == "main" or is_plain),
        steps=steps,
        skips=tuple(_skips(body)),
        shape=joined(tokens(body)),
    )


def _assertions(node: Node | None) -> Iterator[Assertion]:
    for child in children(node):
        if is_a(child, "if_statement", "preproc_if") and text_of(field(child, "condition")) in _NEVER:
            yield from _assertions(field(child, "alternative"))
        elif is_a(child, "call_expression") and _ASSERTS.fullmatch(_called(child)):
            yield _assertion(child)
        else:
            yield from _assertions(child)


def _called(call: Node) -> str:
    return text_of(field(call, "function")).rpartition("::")[2]


def _assertion(call: Node) -> Assertion:
    name, given = _called(call), [tokens(each) for each in children(field(call, "arguments"))]
    line, text = line_of(call), text_of(call)[:200]
    ending = _endings().fullmatch(name)
    subject = given[0] if given else ()
    if len(given) > 1 and is_literal(given[0]):  # `TEST_ASSERT_EQUAL_INT(3, add(1, 2))`
        subject, given = given[1], [given[1], given[0], *given[2:]]
    if ending is not None:
        operator, strength = demands("cpp", "endings")[ending[1].lower()]
        return settled(Assertion(subject, operator or ending[1].lower(), strength, line, _flat(given[1:]), text=text))
    if len(given) > 1:
        return settled(Assertion(subject, name, Strength.EXACT, line, _flat(given[1:]), text=text))
    return settled(_truth(subject, line, text))


@cache
def _endings() -> re.Pattern[str]:
    """A name that ends in a word that says what it demands; the longest word counts."""
    words = "|".join(sorted(demands("cpp", "endings"), key=len, reverse=True))
    return re.compile(rf"(?i)(?:.*_)?({words})(?:_message|_msg)?")


def _flat(given: list[Tokens]) -> Tokens:
    return tuple(token for each in given for token in each)


def _truth(condition: Tokens, line: int, text: str) -> Assertion:
    """What a condition demands: one with a call of many arguments demands a value, as a comparison does."""
    for sign, (operator, strength) in _COMPARISONS.items():
        if condition.count(sign) == 1 and not {"&&", "||"} & set(condition):
            place = condition.index(sign)
            return Assertion(condition[:place], operator, strength, line, condition[place + 1 :], text=text)
    is_compared = not _ORDERS.isdisjoint(condition) or "," in condition or condition[:1] == ("!",)
    return Assertion(condition, "truthy", Strength.PARTIAL if is_compared else Strength.LOOSE, line, text=text)


def _skips(body: Node | None) -> Iterator[Skip]:
    """What ends a test before its last statement, or says that it is not to count."""
    statements = children(body)
    for place, node in enumerate(statements):
        call = next(iter(children(node)), None) if node.type == "expression_statement" else None
        is_over = node.type == "return_statement" and place < len(statements) - 1
        if is_over or (is_a(call, "call_expression") and _SKIPS.fullmatch(_called(call))):
            yield Skip(text_of(node), line_of(node))
