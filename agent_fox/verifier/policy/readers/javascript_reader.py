"""Reads JavaScript and TypeScript with tree-sitter: blocks of jest, vitest, mocha, node --test; their assertions."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from agent_fox.core.values import dataclass
from agent_fox.verifier.policy.expressions import Tokens, joined
from agent_fox.verifier.policy.readers.javascript_steps import (
    FUNCTIONS,
    LOOPS,
    MOST_ROWS,
    callback_of,
    early_ends,
    patches_of,
    rows_of_loop,
    steps_of,
    table_of,
)
from agent_fox.verifier.policy.readers.trees import children, field, is_a, line_of, parsed, text_of, tokens, walk
from agent_fox.verifier.policy.readers.words import words_of
from agent_fox.verifier.policy.reading import Function, Reading, Rows, Skip

if TYPE_CHECKING:
    from tree_sitter import Node

    from agent_fox.verifier.policy.values import Language

_MACHINE = ("process.platform", "process.version", "process.arch", "os.platform")


@dataclass(frozen=True, slots=True)
class _Around:
    names: tuple[str, ...] = ()
    skips: tuple[Skip, ...] = ()
    is_focused: bool = False
    wraps: tuple[tuple[tuple[str, ...], tuple[tuple[Tokens, ...], ...]], ...] = ()


@dataclass(frozen=True, slots=True)
class _Block:
    """A call of `it`, `describe` and so on: what it is called by, and what it is given."""

    word: str
    modifiers: tuple[str, ...]
    arguments: tuple[Node, ...]
    rows: Node | None


def read(text: str, is_test_file: bool, language: Language) -> Reading:
    """Raises Unreadable for what the grammar does not take."""
    root = parsed(text, language)
    imports = tuple(_imports(root))
    functions = tuple(_statements(children(root), _Around(), is_test_file))
    return Reading(
        functions=(*functions, *_helpers(root), *_hooks(root)),
        imports=imports,
        patches=tuple(patch for node in _outside_of_tests(root) for patch in patches_of(node, dict(imports))),
        defined=frozenset(_defined(root)),
    )


def _imports(root: Node) -> Iterator[tuple[str, str]]:
    for node in walk(root):
        if node.type == "import_statement":
            module = text_of(field(node, "source")).strip("'\"")
            for inner in walk(node):
                if inner.type == "identifier":
                    yield text_of(inner), module
        elif is_a(node, "variable_declarator") and is_a(value := field(node, "value"), "call_expression"):
            module = text_of(field(value, "arguments")).strip("()'\"")
            for inner in walk(field(node, "name")) if "require(" in text_of(node)[:400] else ():
                if inner.type in ("identifier", "shorthand_property_identifier_pattern"):
                    yield text_of(inner), module


def _defined(root: Node) -> Iterator[str]:
    for node in children(root):
        inner = children(node)[-1] if node.type == "export_statement" and children(node) else node
        name = field(inner, "name")
        if name is not None:
            yield text_of(name)
        for part in children(inner):
            if part.type == "variable_declarator" and (named := field(part, "name")) is not None:
                yield text_of(named)


def _block_of(node: Node) -> _Block | None:
    """`it("…", fn)`, `it.skip(…)`, `describe.each([…])("…", fn)`."""
    rows, callee = None, field(node, "function")
    if is_a(callee, "call_expression"):
        rows, callee = field(callee, "arguments"), field(callee, "function")
    if callee is None:
        return None
    stands_for = _declared(callee, node)
    is_suite = is_a(stands_for, "call_expression") and text_of(field(stands_for, "function")) == "suite"
    callee = stands_for if stands_for is not None and not is_suite else callee
    chosen = _chosen_callee(callee)
    callee = chosen or callee
    words = text_of(callee).split(".") if callee.type in ("identifier", "member_expression") else [""]
    words = ["test", *words[1:]] if is_suite else words
    if not _makes_tests(words[0]) or not all(word.isidentifier() for word in words):
        return None
    words = [*words, *(["skip"] if chosen is not None else [])]
    return _Block(words[0], tuple(words[1:]), tuple(children(field(node, "arguments"))), rows)


def _makes_tests(word: str) -> bool:
    return word in words_of("javascript", "tests") or word in words_of("javascript", "blocks")


def _declared(callee: Node, call: Node) -> Node | None:
    """What a name of the file stands for, as `maybe` of `const maybe = condition ? describe : describe.skip`, or `Cart`
    of `const Cart = suite("cart")`, where it or its `skip` and `only` is called as a block is.
    """
    name, _, modifier = text_of(callee).partition(".")
    if modifier not in ("", "skip", "only") or _makes_tests(name) or callback_of(call) is None:
        return None
    top = call
    while top.parent is not None:
        top = top.parent
    parts = (part for node in children(top) if node.type.endswith("_declaration") for part in children(node))
    named = (part for part in parts if part.type == "variable_declarator" and text_of(field(part, "name")) == name)
    value = field(next(named, None), "value")
    kinds = ("call_expression",) if modifier else ("ternary_expression", "member_expression", "call_expression")
    return value if is_a(value, *kinds) else None


def _chosen_callee(callee: Node) -> Node | None:
    """`describe` of `(condition ? describe : describe.skip)("…", fn)`, which runs only where the condition holds."""
    inner = children(callee)[0] if callee.type == "parenthesized_expression" and children(callee) else callee
    if inner.type != "ternary_expression":
        return None
    sides = [side for side in (field(inner, "consequence"), field(inner, "alternative")) if side is not None]
    return min(sides, key=lambda side: len(text_of(side)), default=None)


def _statements(nodes: list[Node], around: _Around, is_test_file: bool) -> Iterator[Function]:
    for node in nodes:
        call = _call_in(node)
        block = _block_of(call) if call is not None else None
        if block is None:
            if node.type in LOOPS:
                yield from _looped(node, around, is_test_file)
            elif node.type in ("if_statement", "statement_block", "else_clause"):
                inside = _with_condition(node, around)
                yield from _statements(children(node), inside, is_test_file)
            elif call is not None and (body := callback_of(call)) is not None:
                yield from _statements(children(body), around, is_test_file)
            around = _after(node, around)
            continue
        yield from _of_block(block, node, around, is_test_file)


def _looped(node: Node, around: _Around, is_test_file: bool) -> Iterator[Function]:
    """Tests that a loop makes, once for each row of its table."""
    body, table = field(node, "body"), rows_of_loop(node)
    if table is not None and not table[1]:
        around = replace(around, skips=(*around.skips, Skip("a loop over nothing", line_of(node))))
    elif table is not None:
        around = replace(around, wraps=(*around.wraps, table))
    yield from _statements(children(body), around, is_test_file)


def _call_in(node: Node) -> Node | None:
    if node.type == "expression_statement" and children(node):
        inner = children(node)[0]
        while inner.type in ("await_expression", "unary_expression", "parenthesized_expression") and children(inner):
            inner = children(inner)[-1]
        return inner if inner.type == "call_expression" else None
    return None


def _with_condition(node: Node, around: _Around) -> _Around:
    """Tests below a condition run only where it holds."""
    condition = field(node, "condition") if node.type == "if_statement" else None
    if condition is None:
        return around
    text = text_of(condition)
    is_about_machine = any(word in text for word in _MACHINE)
    skip = Skip("if (false)" if text in ("(false)", "(0)") else f"if {text}"[:200], line_of(node), is_about_machine)
    return replace(around, skips=(*around.skips, skip))


def _after(node: Node, around: _Around) -> _Around:
    """Tests behind a `return` are never made, behind `if (…) return` only where its condition does not hold."""
    if node.type == "return_statement":
        return replace(around, skips=(*around.skips, Skip("return", line_of(node))))
    then = field(node, "consequence") if node.type == "if_statement" else None
    ends = any(is_a(each, "return_statement") for each in (then, *children(then)))
    return _with_condition(node, around) if ends else around


def _of_block(block: _Block, node: Node, around: _Around, is_test_file: bool) -> Iterator[Function]:
    title = text_of(block.arguments[0]).strip("'\"`") if block.arguments else ""
    skips = (*around.skips, *_skips(block, node))
    names = (*around.names, title)
    is_focused = around.is_focused or "only" in block.modifiers or block.word in ("fit", "fdescribe", "ftest")
    callback = next((argument for argument in reversed(block.arguments) if argument.type in FUNCTIONS), None)
    body = field(callback, "body")
    rows = _rows(block, callback)
    wraps = (*around.wraps, rows) if rows is not None else around.wraps
    if block.word in words_of("javascript", "blocks"):
        inside = _Around(names, skips, is_focused, wraps)
        yield from _statements(children(body), inside, is_test_file)
        return
    if callback is None and "todo" not in block.modifiers:
        return
    steps = tuple(steps_of(body, ()))
    for inner_names, inner_rows in reversed(wraps):
        steps = (Rows(inner_names, inner_rows, steps),)
    yield Function(
        name="::".join(names),
        line=line_of(node),
        is_test=is_test_file,
        steps=steps,
        skips=(*skips, *early_ends(body)),
        patches=tuple(patch for inner in walk(body) for patch in patches_of(inner, {})),
        is_focused=is_focused,
        shape=joined(tokens(body)),
        said=title,
    )


def _skips(block: _Block, node: Node) -> Iterator[Skip]:
    skipping = [word for word in block.modifiers if word in words_of("javascript", "skipping")]
    if block.word.startswith("x"):
        skipping.append(block.word)
    options = next((argument for argument in block.arguments if argument.type == "object"), None)
    if options is not None and any(
        word in text_of(options) for word in ("skip: true", "todo: true", "skip: '", 'skip: "')
    ):
        skipping.append("skip")
    for word in skipping:
        yield Skip(f"{block.word}.{word}", line_of(node), word in ("skipIf", "runIf") and _is_about_machine(block))


def _is_about_machine(block: _Block) -> bool:
    """Whether `skipIf(…)` asks about the machine, rather than where the tests run."""
    return block.rows is not None and re.search(r"platform|version|arch|os\.", text_of(block.rows)) is not None


def _rows(block: _Block, callback: Node | None) -> tuple[tuple[str, ...], tuple[tuple[Tokens, ...], ...]] | None:
    """The names and literal rows of `it.each`."""
    if block.rows is None or callback is None or "each" not in block.modifiers or not children(block.rows):
        return None
    table = table_of(children(block.rows)[0])
    parameters = field(callback, "parameters") or field(callback, "parameter")
    if table.type != "array" or parameters is None or len(children(table)) > MOST_ROWS:
        return None
    given = children(parameters) if parameters.type == "formal_parameters" else [parameters]
    if len(given) == 1 and "{" in text_of(given[0]):
        names = tuple(text_of(each) for each in walk(given[0]) if each.type == "shorthand_property_identifier_pattern")
        return names, tuple(_object_row(row, names) for row in children(table))
    names = tuple(_plain(each) for each in given)
    rows = (children(row) if row.type == "array" else [row] for row in children(table))
    return names, tuple(tuple(tokens(cell) for cell in row) for row in rows)


def _plain(parameter: Node) -> str:
    return text_of(field(parameter, "pattern") or parameter)


def _object_row(row: Node, names: tuple[str, ...]) -> tuple[Tokens, ...]:
    pairs = ((field(pair, "key"), field(pair, "value")) for pair in children(row))
    values = {text_of(key): tokens(value) for key, value in pairs if key is not None and value is not None}
    return tuple(values.get(name, (name,)) for name in names)


def _hooks(root: Node) -> Iterator[Function]:
    """What runs before or after each test, or all of them."""
    for node in walk(root):
        name = text_of(field(node, "function")) if node.type == "call_expression" else ""
        if name in words_of("javascript", "setting_up") and (body := callback_of(node)) is not None:
            skips = tuple(early_ends(body))
            yield Function(name, line_of(node), False, skips=skips, is_hook=True, is_for_all=True)


def _helpers(root: Node) -> Iterator[Function]:
    """Functions of the file, which tests may call to assert."""
    for node in children(root):
        inner = children(node)[-1] if node.type == "export_statement" and children(node) else node
        if inner.type == "function_declaration":
            yield from _helper(field(inner, "name"), inner)
        for declarator in (child for child in children(inner) if child.type == "variable_declarator"):
            if is_a(value := field(declarator, "value"), *FUNCTIONS):
                yield from _helper(field(declarator, "name"), value)


def _helper(name: Node | None, function: Node) -> Iterator[Function]:
    body, given = field(function, "body"), tuple(map(_plain, children(field(function, "parameters"))))
    if name is not None and body is not None:
        steps = tuple(steps_of(body, ()))
        yield Function(text_of(name), line_of(function), False, given, steps, shape=joined(tokens(body)))


def _outside_of_tests(root: Node) -> Iterator[Node]:
    """Nodes that hold for the whole file: those outside of `it`, hooks such as beforeEach included."""
    waiting = [root]
    while waiting:
        node = waiting.pop()
        block = _block_of(node) if node.type == "call_expression" else None
        if block is not None and block.word in words_of("javascript", "tests"):
            continue
        yield node
        waiting.extend(children(node))
