"""Reads Java with tree-sitter: JUnit and TestNG methods."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from agent_fox.core.regex import regex
from agent_fox.core.values import dataclass
from agent_fox.verifier.policy.expressions import Tokens, joined
from agent_fox.verifier.policy.readers.java_assertions import arguments_of, assertions_of_call
from agent_fox.verifier.policy.readers.trees import children, field, is_a, line_of, parsed, text_of, tokens, walk
from agent_fox.verifier.policy.readers.words import words_of
from agent_fox.verifier.policy.reading import (
    Assertion,
    Bind,
    Check,
    Function,
    Patch,
    Reading,
    Rows,
    Skip,
    Step,
    Strength,
    Use,
)

if TYPE_CHECKING:
    from tree_sitter import Node

    from agent_fox.verifier.policy.values import Language

_SKIP_MARKS = ("Disabled", "Ignore")
_CONDITIONAL_MARKS = ("DisabledOn", "EnabledOn", "DisabledIf", "EnabledIf")


_ASSUMES = regex(r"(?:\w+\.)*(?:assume(?:True|False|That|NotNull|NoException|ingThat)|abort)\(")
_CELL = regex(r'"(?:[^"\\]|\\.)*"|(?<=[\s{,(])-?\d[\w.]*')
_TABLES = ("CsvSource", "ValueSource")


@dataclass(frozen=True, slots=True)
class _Around:
    names: tuple[str, ...] = ()
    skips: tuple[Skip, ...] = ()
    is_out_of_reach: bool = False


def read(text: str, is_test_file: bool, language: Language) -> Reading:
    """Raises Unreadable for what the grammar does not take."""
    root = parsed(text, language)
    functions = tuple(_members(root, _Around(), is_test_file))
    return Reading(functions=functions, defined=frozenset(function.leaf for function in functions))


def _members(node: Node | None, around: _Around, is_test_file: bool) -> Iterator[Function]:
    for child in children(node):
        name = field(child, "name")
        if child.type in ("class_declaration", "record_declaration", "interface_declaration") and name is not None:
            is_out = around.is_out_of_reach or (bool(around.names) and _is_passed_over(child))
            inside = _Around((*around.names, text_of(name)), (*around.skips, *_skips(child)), is_out)
            yield from _members(field(child, "body"), inside, is_test_file)
        elif child.type == "method_declaration" and name is not None:
            yield _method(child, text_of(name), around, is_test_file)


def _marks(node: Node) -> list[tuple[str, str, int]]:
    """Annotations: name, whole text, line."""
    named = [(field(mark, "name"), mark) for mark in children(_modifiers(node))]
    return [
        (text_of(name).rpartition(".")[2], text_of(mark), line_of(mark)) for name, mark in named if name is not None
    ]


def _modifiers(node: Node) -> Node | None:
    return next((child for child in children(node) if child.type == "modifiers"), None)


def _skips(node: Node) -> Iterator[Skip]:
    for name, text, line in _marks(node):
        if name in _SKIP_MARKS or name.startswith(_CONDITIONAL_MARKS) or (name == "Test" and "enabled = false" in text):
            yield Skip(text, line, name.startswith(_CONDITIONAL_MARKS))


def _method(node: Node, name: str, around: _Around, is_test_file: bool) -> Function:
    marks = _marks(node)
    body = field(node, "body")
    is_test = any(mark in words_of("java", "tests") for mark, _, _ in marks) or (
        name.startswith("test") and text_of(node).lstrip().startswith("public void") and not marks
    )
    expects = [_expected_error(text, line) for mark, text, line in marks if mark == "Test" and "expected" in text]
    given = [field(each, "name") for each in children(field(node, "parameters"))]
    return Function(
        name="::".join((*around.names, name)),
        line=line_of(node),
        is_test=is_test and is_test_file and not around.is_out_of_reach and not _is_out_of_reach(node),
        parameters=tuple(text_of(each) for each in given if each is not None),
        steps=_with_rows(node, (*expects, *_block(body, (), False))),
        skips=(*around.skips, *_skips(node), *_early_ends(body)),
        patches=tuple(_patches(body)),
        shape=joined(tokens(body)),
        said="",
    )


def _with_rows(node: Node, steps: tuple[Step, ...]) -> tuple[Step, ...]:
    """The steps once for each row of a table that stands in an annotation; what a cell holds takes no name's place."""
    cells = [cell for mark, text, _ in _marks(node) if mark in _TABLES for cell in _cells(text.partition("(")[2])]
    return (Rows(("row",), tuple(((cell,),) for cell in cells), steps),) if cells else steps


def _cells(text: str) -> list[str]:
    """The rows of a table: strings, numbers, or the lines of a text block."""
    if '"""' in text:
        return [line.strip() for line in text.split('"""')[1].splitlines() if line.strip()]
    return _CELL.findall(text)


def _is_out_of_reach(node: Node) -> bool:
    """Whether JUnit passes a method over without a word: a private or static one, whatever it is marked with, and a
    test that returns something.
    """
    returned = field(node, "type")
    is_void = (
        returned is None
        or text_of(returned) == "void"
        or not any(mark in words_of("java", "void") for mark, _, _ in _marks(node))
    )
    return not is_void or not _words(node).isdisjoint(("private", "static"))


def _is_passed_over(node: Node) -> bool:
    """Whether JUnit finds no test of a class inside another: a private one, or an inner one that is not `@Nested`."""
    words = _words(node)
    is_inner = node.type == "class_declaration" and "static" not in words
    return "private" in words or (is_inner and not any(mark == "Nested" for mark, _, _ in _marks(node)))


def _words(node: Node) -> set[str]:
    modifiers = _modifiers(node)
    return {text_of(child) for child in modifiers.children} if modifiers is not None else set()


def _expected_error(text: str, line: int) -> Check:
    error = text.partition("expected")[2].strip(" =)")
    return Check(Assertion(("test",), "throws", Strength.PARTIAL, line, (error,)))


def _early_ends(body: Node | None) -> Iterator[Skip]:
    statements = children(body)
    for place, node in enumerate(statements):
        text = text_of(node)
        if node.type == "return_statement" and place < len(statements) - 1:
            yield Skip("return", line_of(node))
        if _ASSUMES.match(text):
            yield Skip(text, line_of(node), "os.name" in text or "OS." in text)
        if node.type == "if_statement" and place < len(statements) - 1 and text.rstrip("}; \n").endswith("return"):
            yield Skip(text, line_of(node), "os.name" in text)


def _block(node: Node | None, guard: Tokens, is_idle: bool) -> Iterator[Step]:
    for statement in children(node):
        yield from _step(statement, guard, is_idle)
        is_idle = is_idle or statement.type in ("return_statement", "throw_statement")


def _step(node: Node | None, guard: Tokens, is_idle: bool) -> Iterator[Step]:
    if node is None:
        return
    match node.type:
        case "local_variable_declaration":
            for declarator in children(node):
                name, value = field(declarator, "name"), field(declarator, "value")
                if name is not None and value is not None:
                    yield Bind(text_of(name), tokens(value))
                    yield from (each for each in _call(value, guard, is_idle) if isinstance(each, Check))
        case "expression_statement":
            yield from _call(children(node)[0], guard, is_idle)
        case "if_statement":
            condition = tokens(field(node, "condition"))
            is_never = condition == ("false",)
            yield from _step(field(node, "consequence"), (*guard, "if", *condition), is_idle or is_never)
            yield from _step(field(node, "alternative"), (*guard, "else", *condition), is_idle)
        case "try_statement" | "try_with_resources_statement":
            yield from _attempt(node, guard, is_idle)
        case "for_statement" | "enhanced_for_statement" | "while_statement":
            yield from _step(field(node, "body"), guard, is_idle)
        case "block":
            yield from _block(node, guard, is_idle)
        case _:
            return


def _attempt(node: Node, guard: Tokens, is_idle: bool) -> Iterator[Step]:
    catches = [each for each in children(node) if each.type == "catch_clause"]
    is_swallowed = any(_swallows(each) for each in catches)
    yield from _step(field(node, "body"), guard, is_idle or is_swallowed)
    for each in (inner for clause in catches for inner in children(clause) if inner.type == "block"):
        yield from _block(each, guard, is_idle)


def _swallows(clause: Node) -> bool:
    head = text_of(clause).partition("{")[0]
    is_broad = any(name in head for name in ("Throwable", "AssertionError", "Error "))
    return is_broad and not any(word in text_of(clause) for word in ("throw ", "fail(", "assert"))


def _call(node: Node, guard: Tokens, is_idle: bool) -> Iterator[Step]:
    if node.type == "assignment_expression":
        left = field(node, "left")
        if is_a(left, "identifier"):
            yield Bind(text_of(left), tokens(field(node, "right")))
    if node.type != "method_invocation":
        return
    if text_of(field(node, "name") or node) == "assertAll":
        for argument in arguments_of(node):
            yield from _executable(argument, guard, is_idle)
        return
    if (expected := _expected_failure(node)) is not None:
        yield from _executable(expected, guard, True)
        return
    assertions = assertions_of_call(node)
    for each in assertions:
        yield Check(replace(each, guard=guard, strength=Strength.NONE if is_idle else each.strength))
    if assertions:
        return
    if (name := field(node, "name")) is not None:
        yield Use(text_of(name), tuple(map(tokens, arguments_of(node))), line_of(node), guard)


def _expected_failure(node: Node) -> Node | None:
    """What `assertThrows` executes, where the error that it expects may be that of an assertion within."""
    given = arguments_of(node)
    if not text_of(field(node, "name") or node).startswith("assertThrows") or len(given) < 2:
        return None
    has_assertion = any(each.type == "method_invocation" and assertions_of_call(each) for each in walk(given[1]))
    return given[1] if has_assertion and text_of(given[0]) in words_of("java", "of_assertions") else None


def _executable(node: Node, guard: Tokens, is_idle: bool) -> Iterator[Step]:
    body = field(node, "body") if node.type == "lambda_expression" else None
    if body is not None:
        yield from (_block if body.type == "block" else _call)(body, guard, is_idle)


def _patches(body: Node | None) -> Iterator[Patch]:
    """`when(cart.total()).thenReturn(…)` replaces `total`."""
    for node in walk(body):
        if node.type == "method_invocation" and text_of(field(node, "name") or node) in ("when", "doReturn"):
            for argument in arguments_of(node):
                owner, name = field(argument, "object"), field(argument, "name")
                if argument.type == "method_invocation" and owner is not None:
                    yield Patch(text_of(owner), (text_of(name),), line_of(node), text_of(node)[:200])
