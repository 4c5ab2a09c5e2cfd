"""Tests in JavaScript and TypeScript: blocks of jest, vitest, mocha, uvu, `node --test`, and the stand-ins in them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from agent_fox.core.values import dataclass
from agent_fox.verifier.policy.expressions import joined
from agent_fox.verifier.policy.readers.calls import LONGEST_SHOWN, Call
from agent_fox.verifier.policy.readers.conditions import constant_of
from agent_fox.verifier.policy.readers.patches import patch_of, patches_in
from agent_fox.verifier.policy.readers.steps import Steps
from agent_fox.verifier.policy.readers.tables import Table, bindings, names_in, table, table_of_loop
from agent_fox.verifier.policy.readers.trees import children, field, first, is_a, line_of, text_of, tokens, walk
from agent_fox.verifier.policy.readers.words import kinds, roles, says, words_of
from agent_fox.verifier.policy.reading import Function, Reading, Rows, Skip

if TYPE_CHECKING:
    from tree_sitter import Node


@dataclass(frozen=True, slots=True)
class _Around:
    """What holds for all tests in a block. wraps: the tables that make tests of one, from outside to inside."""

    names: tuple[str, ...] = ()
    skips: tuple[Skip, ...] = ()
    is_focused: bool = False
    wraps: tuple[Table, ...] = ()

    def skipping(self, *skips: Skip) -> _Around:
        return replace(self, skips=(*self.skips, *skips))


@dataclass(frozen=True, slots=True)
class _Block:
    """A call of `it`, `describe` and so on: what it is called by, and what it is given."""

    word: str
    modifiers: tuple[str, ...]
    arguments: tuple[Node, ...]
    rows: Node | None
    line: int

    @property
    def is_test(self) -> bool:
        return self.word in words_of("javascript", "tests")

    @property
    def callback(self) -> Node | None:
        return next((each for each in reversed(self.arguments) if each.type in kinds("functions")), None)


class JavaScriptDefinitions:
    """The rules of runners that are told of tests by calls."""

    def __init__(self, language: str, root: Node, *, is_test_file: bool) -> None:
        self._root = root
        self._is_test_file = is_test_file
        self._steps = Steps(language)

    def reading(self) -> Reading:
        imports = tuple(_imports(self._root))
        helpers = (each for name, value in _offered(self._root) for each in self._helper(name, value))
        known, outside = dict(imports), _outside_of_tests(self._root)
        patches = (patch for node in outside for patch in patch_of(node, "javascript", known or None))
        return Reading(
            functions=(*self._statements(children(self._root), _Around()), *helpers, *self._hooks()),
            imports=imports,
            patches=tuple(patches),
            defined=frozenset(name for name, _ in _offered(self._root)),
        )

    def _statements(self, nodes: Iterable[Node], around: _Around) -> Iterator[Function]:
        for node in nodes:
            call = _call_in(node)
            block = block_of(call) if call is not None else None
            if block is not None:
                yield from self._of_block(block, around)
                continue
            if roles().get(node.type) == "loop":
                yield from self._looped(node, around)
            elif node.type in ("if_statement", "statement_block", "else_clause"):
                yield from self._statements(children(node), _with_condition(node, around))
            elif call is not None:
                yield from (each for body in Call(call).bodies() for each in self._statements(children(body), around))
            around = _after(node, around)

    def _looped(self, node: Node, around: _Around) -> Iterator[Function]:
        """Tests that a loop makes, once for each row of its table."""
        rows = table_of_loop(node)
        if rows is not None and not rows[1]:
            around = around.skipping(Skip("a loop over nothing", line_of(node)))
        elif rows is not None:
            around = replace(around, wraps=(*around.wraps, rows))
        yield from self._statements(children(field(node, "body")), around)

    def _of_block(self, block: _Block, around: _Around) -> Iterator[Function]:
        title = text_of(block.arguments[0]).strip("'\"`") if block.arguments else ""
        rows, body = _rows(block), field(block.callback, "body")
        inside = _Around(
            (*around.names, title),
            (*around.skips, *_skips(block)),
            around.is_focused or "only" in block.modifiers or block.word in ("fit", "fdescribe", "ftest"),
            around.wraps if rows is None else (*around.wraps, rows),
        )
        if not block.is_test:
            yield from self._statements(children(body), inside)
        elif block.callback is not None or "todo" in block.modifiers:
            yield self._test(block, title, body, inside)

    def _test(self, block: _Block, title: str, body: Node | None, inside: _Around) -> Function:
        steps = self._steps.of(body)
        for names, rows in reversed(inside.wraps):
            steps = (Rows(names, rows, steps),)
        return Function(
            name="::".join(inside.names),
            line=block.line,
            is_test=self._is_test_file,
            steps=steps,
            skips=(*inside.skips, *self._steps.early_ends(body)),
            patches=tuple(patches_in(body, "javascript")),
            is_focused=inside.is_focused,
            shape=joined(tokens(body)),
            said=title,
        )

    def _hooks(self) -> Iterator[Function]:
        """What runs before or after each test, or all of them."""
        for node in walk(self._root):
            name = text_of(field(node, "function")) if node.type == "call_expression" else ""
            for body in Call(node).bodies() if name in words_of("javascript", "setting_up") else ():
                skips = tuple(self._steps.early_ends(body))
                yield Function(name, line_of(node), False, skips=skips, is_hook=True, is_for_all=True)

    def _helper(self, name: str, function: Node) -> Iterator[Function]:
        """A function of the file, which tests may call to assert."""
        body = field(function, "body")
        if is_a(function, *kinds("functions")) and body is not None:
            given = (text_of(field(each, "pattern") or each) for each in children(field(function, "parameters")))
            shape = joined(tokens(body))
            yield Function(name, line_of(function), False, tuple(given), self._steps.of(body), shape=shape)


def _imports(root: Node) -> Iterator[tuple[str, str]]:
    for node in walk(root):
        if node.type == "import_statement":
            module = text_of(field(node, "source")).strip("'\"")
            yield from ((text_of(inner), module) for inner in walk(node) if inner.type == "identifier")
        elif is_a(node, "variable_declarator") and is_a(value := field(node, "value"), "call_expression"):
            module = text_of(field(value, "arguments")).strip("()'\"")
            pattern = field(node, "name") if "require(" in text_of(node)[:400] else None
            yield from ((name, module) for name in (names_in(pattern) if pattern is not None else ()))


def _offered(root: Node) -> Iterator[tuple[str, Node]]:
    """What a file declares at its top, by name."""
    for node in children(root):
        inner = children(node)[-1] if node.type == "export_statement" and children(node) else node
        name = field(inner, "name")
        if name is not None:
            yield text_of(name), inner
        for part in children(inner):
            if part.type == "variable_declarator" and (named := field(part, "name")) is not None:
                yield text_of(named), field(part, "value") or part


def block_of(node: Node) -> _Block | None:
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
    return _Block(words[0], tuple(words[1:]), tuple(children(field(node, "arguments"))), rows, line_of(node))


def _makes_tests(word: str) -> bool:
    return word in words_of("javascript", "tests") or word in words_of("javascript", "blocks")


def _declared(callee: Node, call: Node) -> Node | None:
    """What a name of the file stands for, as `maybe` of `const maybe = condition ? describe : describe.skip`, or `Cart`
    of `const Cart = suite("cart")`, where it or its `skip` and `only` is called as a block is.
    """
    name, _, modifier = text_of(callee).partition(".")
    if modifier not in ("", "skip", "only") or _makes_tests(name) or not Call(call).bodies():
        return None
    top = call
    while top.parent is not None:
        top = top.parent
    value = next(
        (value for node in children(top) for pattern, value in bindings(node) if text_of(pattern) == name), None
    )
    is_chosen = not modifier and is_a(value, "ternary_expression", "member_expression")
    return value if is_chosen or is_a(value, "call_expression") else None


def _chosen_callee(callee: Node) -> Node | None:
    """`describe` of `(condition ? describe : describe.skip)("…", fn)`, which runs only where the condition holds."""
    inner = first(callee) if callee.type == "parenthesized_expression" else callee
    if not is_a(inner, "ternary_expression"):
        return None
    sides = [side for side in (field(inner, "consequence"), field(inner, "alternative")) if side is not None]
    return min(sides, key=lambda side: len(text_of(side)), default=None)


def _call_in(node: Node) -> Node | None:
    inner = first(node) if node.type == "expression_statement" else None
    while is_a(inner, "await_expression", "unary_expression", "parenthesized_expression") and children(inner):
        inner = children(inner)[-1]
    return inner if is_a(inner, "call_expression") else None


def _with_condition(node: Node, around: _Around) -> _Around:
    """Tests below a condition run only where it holds."""
    condition = field(node, "condition") if node.type == "if_statement" else None
    if condition is None:
        return around
    text = "if (false)" if constant_of(tokens(condition)) is False else f"if {text_of(condition)}"[:LONGEST_SHOWN]
    return around.skipping(Skip(text, line_of(node), says("javascript", "machine", text)))


def _after(node: Node, around: _Around) -> _Around:
    """Tests behind a `return` are never made, behind `if (…) return` only where its condition does not hold."""
    if node.type == "return_statement":
        return around.skipping(Skip("return", line_of(node)))
    then = field(node, "consequence") if node.type == "if_statement" else None
    ends = is_a(then, "return_statement") or first(then, "return_statement") is not None
    return _with_condition(node, around) if ends else around


def _skips(block: _Block) -> Iterator[Skip]:
    skipping = [word for word in block.modifiers if word in words_of("javascript", "skipping")]
    skipping += [block.word] if block.word.startswith("x") else []
    options = next((text_of(each) for each in block.arguments if each.type == "object"), "")
    skipping += ["skip"] if says("javascript", "skip_options", options) else []
    for word in skipping:
        is_usual = re.search(r"platform|version|arch|os\.", text_of(block.rows)) is not None
        yield Skip(f"{block.word}.{word}", block.line, word in ("skipIf", "runIf") and is_usual)


def _rows(block: _Block) -> Table | None:
    """The names and literal rows of `it.each`."""
    listed = first(block.rows) if "each" in block.modifiers else None
    parameters = field(block.callback, "parameters") or field(block.callback, "parameter")
    if listed is None or parameters is None:
        return None
    return table(listed, tuple(names_in(parameters)))


def _outside_of_tests(root: Node) -> Iterator[Node]:
    """Nodes that hold for the whole file: those outside of `it`, hooks such as beforeEach included."""
    waiting = [root]
    while waiting:
        node = waiting.pop()
        block = block_of(node) if node.type == "call_expression" else None
        if block is None or not block.is_test:
            yield node
            waiting.extend(children(node))
