"""Tests in Go, Java, Rust, and in C and C++: which functions runners find, and what stands with them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from agent_fox.core.regex import regex
from agent_fox.verifier.policy.expressions import joined
from agent_fox.verifier.policy.readers.calls import Call
from agent_fox.verifier.policy.readers.conditions import constant_of
from agent_fox.verifier.policy.readers.definitions import Around, Definitions, Marks, words_around
from agent_fox.verifier.policy.readers.demands import demands_of
from agent_fox.verifier.policy.readers.rust_macros import TEST, Makers, functions_of, makers_in
from agent_fox.verifier.policy.readers.trees import children, field, first, is_a, line_of, parsed, text_of, tokens, walk
from agent_fox.verifier.policy.readers.words import words_of
from agent_fox.verifier.policy.reading import Check, Function, Reading, Skip
from agent_fox.verifier.policy.values import Language

if TYPE_CHECKING:
    from tree_sitter import Node

    from agent_fox.verifier.policy.readers.tables import Table

_GO_TEST = regex(r"(?:Test|Example|Fuzz)(?:[^a-z]|$)")
_CELL = regex(r'"(?:[^"\\]|\\.)*"|(?<=[\s{,(])-?\d[\w.]*')
_OFF = ("#[ignore", "#[cfg(any())", "#[cfg(not(test))", "#[cfg(FALSE)")
_MACRO = regex(r"[A-Z][A-Z0-9_]*")


class GoDefinitions(Definitions):
    """The rules of `go test`; a method is a test of a suite."""

    def is_test(self, node: Node, name: str, marks: Marks) -> bool:
        return _GO_TEST.match(name) is not None and (node.type != "method_declaration" or name.startswith("Test"))

    def parameters(self, node: Node) -> tuple[str, ...]:
        declared = children(field(node, "parameters"))
        return tuple(text_of(part) for each in declared for part in children(each) if part.type == "identifier")


class JavaDefinitions(Definitions):
    """JUnit and TestNG methods, with the rules by which JUnit passes over some without a word."""

    def inside(self, node: Node, name: str, marks: Marks, around: Around) -> Around:
        """JUnit finds no test of a class inside another that is private, or an inner one that is not `@Nested`."""
        words = words_around(node)
        is_inner = node.type == "class_declaration" and "static" not in words
        is_nested = any(mark.name == "Nested" for mark in marks)
        is_passed_over = bool(around.names) and ("private" in words or (is_inner and not is_nested))
        inside = super().inside(node, name, marks, around)
        return replace(inside, is_collecting=around.is_collecting and not is_passed_over)

    def is_test(self, node: Node, name: str, marks: Marks) -> bool:
        """A private or static method is none, whatever it is marked with, nor is one that returns something."""
        names = {mark.name for mark in marks}
        is_old = name.startswith("test") and text_of(node).lstrip().startswith("public void") and not marks
        is_void = is_a(returned := field(node, "type"), "void_type") or returned is None
        is_seen = words_around(node).isdisjoint(("private", "static"))
        is_marked = not names.isdisjoint(words_of("java", "tests"))
        return is_seen and (is_void or names.isdisjoint(words_of("java", "void"))) and (is_old or is_marked)

    def tables(self, node: Node, marks: Marks) -> Iterator[Table]:
        """One for each table that stands in an annotation; what a cell holds takes no name's place."""
        for text in (mark.text.partition("(")[2] for mark in marks if mark.name in ("CsvSource", "ValueSource")):
            lines = text.split('"""')[1].splitlines() if '"""' in text else []
            cells = [line.strip() for line in lines if line.strip()] or _CELL.findall(text)
            yield ("row",), tuple(((cell,),) for cell in cells)

    def skips(self, marks: Marks) -> Iterator[Skip]:
        yield from super().skips(marks)
        off = (mark for mark in marks if mark.name == "Test" and "enabled = false" in mark.text)
        yield from (Skip(mark.text, mark.line) for mark in off)


class RustDefinitions(Definitions):
    """Functions under `#[test]`, in any file, and what macros make of them."""

    _makers: Makers | None = None

    def reading(self) -> Reading:
        self._makers = makers_in(self.root, _tests_in)
        functions = tuple(self.functions(self.root, Around()))
        return Reading(functions, defined=frozenset(each.leaf for each in functions if not each.is_test))

    def is_test(self, node: Node, name: str, marks: Marks) -> bool:
        return any(TEST.match(mark.text) for mark in marks)

    def others(self, node: Node, around: Around) -> Iterator[Function]:
        for made in functions_of(node, self._makers) if self._makers is not None else ():
            own = (*around.skips, *made.skips) if made.is_test else ()
            yield replace(made, name="::".join((*around.names, made.name)), skips=own)

    def skips(self, marks: Marks) -> Iterator[Skip]:
        for mark in marks:
            is_narrowed = mark.text.startswith("#[cfg(") and "feature" in mark.text
            if is_narrowed or mark.text.startswith(_OFF) or "ignore" in mark.text:
                yield Skip(mark.text, mark.line)


def _tests_in(text: str) -> list[Function]:
    root = parsed(text, Language.RUST)
    read = RustDefinitions("rust", root, is_test_file=True).functions(root, Around())
    return [function for function in read if function.is_test]


class NativeDefinitions(Definitions):
    """A function is a test where it is `main`, is made by a macro such as TEST, or takes nothing and asserts.

    Macros make most of these files something that no grammar takes whole, so that errors in the tree are passed over.
    """

    def functions(self, scope: Node | None, around: Around) -> Iterator[Function]:
        definitions = sorted(_definitions_in(scope), key=lambda pair: pair[0].start_byte)
        times = Counter(_name_of(declared) for declared, _ in definitions)
        return (self._function(declared, body, times) for declared, body in definitions)

    def _function(self, declared: Node, body: Node, times: Mapping[str, int]) -> Function:
        name, given = _name_of(declared), [text_of(each) for each in children(field(declared, "parameters"))]
        is_macro = _MACRO.fullmatch(name) is not None and "TEST" in name
        steps = tuple(_checks(body))
        is_plain = given in ([], ["void"]) and (bool(steps) or "test" in name.lower())
        return Function(
            name=joined(text_of(declared).split()) if is_macro or times[name] > 1 else name,
            line=line_of(declared),
            is_test=self.is_test_file and (is_macro or name == "main" or is_plain),
            steps=steps,
            skips=tuple(self.steps.early_ends(body)),
            shape=joined(tokens(body)),
        )


def _definitions_in(root: Node | None) -> Iterator[tuple[Node, Node]]:
    """What each function is declared as, and its body; `TEST_CASE("adds") { ... }` is a call before a block."""
    for node in walk(root):
        declared, body = field(node, "declarator"), field(node, "body")
        while is_a(declared, "pointer_declarator", "reference_declarator"):
            declared = field(declared, "declarator")
        if node.type == "function_definition" and declared is not None and body is not None:
            yield declared, body
        elif node.type == "compound_statement" and is_a(node.parent, "translation_unit", "declaration_list"):
            head = first(node.prev_named_sibling)
            if is_a(head, "call_expression"):
                yield head, node


def _name_of(declared: Node) -> str:
    return text_of(field(declared, "declarator") or field(declared, "function") or declared)


def _checks(node: Node | None) -> Iterator[Check]:
    """What is asserted anywhere in a body: macros hide what is around it."""
    for child in children(node):
        if is_a(child, "if_statement", "preproc_if") and constant_of(tokens(field(child, "condition"))) is False:
            yield from _checks(field(child, "alternative"))
            continue
        demanded = demands_of(Call(child), "cpp") if is_a(child, "call_expression") else ()
        yield from map(Check, demanded)
        if not demanded:
            yield from _checks(child)
