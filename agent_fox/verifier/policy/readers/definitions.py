"""The functions of a file and what stands around them; and which of them are tests in Go, Java, C and C++."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Container, Iterator
from typing import NamedTuple

from agent_fox.core.regex import regex
from agent_fox.verifier.policy.readers.calls import LONGEST_SHOWN, Call, word_of
from agent_fox.verifier.policy.readers.conditions import constant_of
from agent_fox.verifier.policy.readers.demands import Demands
from agent_fox.verifier.policy.readers.steps import EVERYWHERE, Place, Steps, placed
from agent_fox.verifier.policy.readers.trees import Node, children, field, first, is_a, line_of, text_of, tokens, walk
from agent_fox.verifier.policy.reading import Assertion, Function, Patch, Reading, Rows, Skip, Step, Strength, Use
from agent_fox.verifier.policy.tables import is_off, kinds, says, words_of

_GO_TEST = regex(r"(?:Test|Example|Fuzz)(?:[^a-z]|$)")
_CELL = regex(r'"(?:[^"\\]|\\.)*"|(?<=[\s{,(])-?\d[\w.]*')
_MACRO = regex(r"[A-Z][A-Z0-9_]*")


class Mark(NamedTuple):
    """A decorator, an annotation or an attribute, with the last name that it goes by."""

    name: str
    text: str
    node: Node

    @staticmethod
    def of(node: Node) -> Mark:
        text = text_of(node)
        name = text.lstrip("@#![").partition("(")[0].partition("]")[0].replace("::", ".").rpartition(".")[2]
        return Mark(name.strip(), text, node)


Marks = tuple[Mark, ...]


class Around(NamedTuple):
    """What holds in a scope. is_case: of a class found whatever its name. wraps: tables of tests, the outer first."""

    names: tuple[str, ...] = ()
    skips: tuple[Skip, ...] = ()
    is_collecting: bool = True
    is_case: bool = False
    is_focused: bool = False
    wraps: tuple[Rows, ...] = ()


class Definitions(Steps):
    """Reads the functions of a file in one language; what tests are there is for a language to say."""

    def __init__(self, root: Node, *, is_test_file: bool) -> None:
        self.root = root
        self.is_test_file = is_test_file
        self.replaced: tuple[Patch, ...] = ()

    def reading(self) -> Reading:
        functions = tuple(self.functions(self.root, Around(is_collecting=self.is_test_file)))
        return Reading(functions, defined=frozenset(each.leaf for each in functions if not each.is_test))

    def functions(self, scope: Node | None, around: Around) -> Iterator[Function]:
        above: list[Node] = []
        for node in self.items(scope):
            if node.type == "attribute_item":
                above.append(node)
                continue
            is_scope, body, given, above = node.type in kinds("scopes"), field(node, "body"), above, []
            if not is_scope and node.type not in kinds("definitions"):
                yield from self.functions(body, around) if node.type == "impl_item" else self.others(node, around)
            elif name := text_of(field(node, "name")):
                own = field(node, "decorator_list") or first(node, "modifiers")
                marks = tuple(map(Mark.of, given or children(own)))
                skips = (*around.skips, *self.skips(marks))
                inside = around._replace(names=(*around.names, name), skips=skips)
                if is_scope:
                    yield from self.functions(body, self.inside(node, marks, inside))
                else:
                    yield self.function(node, marks, inside)
                    yield from self.functions(body, Around(inside.names, is_collecting=False))

    items = staticmethod(children)

    def inside(self, node: Node, marks: Marks, around: Around) -> Around:
        """What holds within a class or module. around: with its name and marks."""
        return around

    def is_test(self, node: Node, marks: Marks, name: str) -> bool:
        """Whether a runner takes a function for a test, where it looks for any."""
        raise NotImplementedError

    def others(self, node: Node, around: Around) -> Iterator[Function]:
        yield from ()

    def function(self, node: Node, marks: Marks, around: Around) -> Function:
        body, name = field(node, "body"), around.names[-1]
        steps: tuple[Step, ...] = (*_expected_errors(marks), *self.steps(body))
        for rows in self.tables(marks):
            steps = (rows._replace(steps=steps),)
        return Function(
            name="::".join(around.names),
            line=line_of(node),
            is_test=around.is_collecting and self.is_test(node, marks, name),
            parameters=self.parameters(node),
            steps=steps,
            skips=(*around.skips, *self.early_ends(body)),
            patches=self.patches(node),
            shape=self.shape(body),
        )

    def stand_ins(self, node: Node) -> Iterator[tuple[str, tuple[str, ...]]]:
        """What one call or assignment replaces: modules, or what names are asked of, and the names."""
        yield from ()

    def patches_by(self, node: Node) -> Iterator[Patch]:
        for module, names in self.stand_ins(node):
            yield Patch(module, names, line_of(node), text_of(node)[:LONGEST_SHOWN])

    def patches(self, node: Node) -> tuple[Patch, ...]:
        """What is replaced within the lines of a function, its decorators included."""
        start, end = line_of(first(field(node, "decorator_list")) or node), node.end_point[0] + 1
        return tuple(each for each in self.replaced if start <= each.line <= end)

    def tables(self, marks: Marks) -> Iterator[Rows]:
        """The tables for each row of which a test runs once."""
        yield from ()

    def parameters(self, node: Node) -> tuple[str, ...]:
        names: list[Node] = []
        for each in children(field(node, "parameters")):
            pattern = field(each, "pattern")
            names += [pattern] if pattern is not None else [part for part in children(each) if is_a(part, "identifier")]
        return tuple(map(text_of, names))

    def skips(self, marks: Marks) -> Iterator[Skip]:
        for mark in marks:
            is_conditional = mark.name in words_of(self.language, "skipping_where")
            if is_conditional or mark.name in words_of(self.language, "skipping") or is_off(self.language, mark.text):
                is_usual = self.language != "python" or says("python", "machine", mark.text) or mark.name == "flaky"
                yield Skip(mark.text, line_of(mark.node), is_conditional and is_usual)


def _expected_errors(marks: Marks) -> Iterator[Assertion]:
    """Of `@Test(expected = Full.class)` and of `#[should_panic(expected = "full")]`."""
    for mark in marks:
        if mark.name == "Test" and "expected" in mark.text:
            error = (mark.text.partition("expected")[2].strip(" =)"),)
            yield Assertion(("test",), "raises", Strength.PARTIAL, line_of(mark.node), error)
        elif mark.name == "should_panic":
            message = re.search(r'expected\s*=\s*("(?:[^"\\]|\\.)*")', mark.text)
            strength, detail = (Strength.PARTIAL, (message[1],)) if message else (Strength.LOOSE, ())
            yield Assertion(("panics",), "panics", strength, line_of(mark.node), detail=detail)


class GoDefinitions(Definitions):
    """The rules of `go test`; a method is a test of a suite."""

    language = "go"

    def is_test(self, node: Node, marks: Marks, name: str) -> bool:
        return _GO_TEST.match(name) is not None and (node.type != "method_declaration" or name.startswith("Test"))


class JavaDefinitions(Definitions):
    """JUnit and TestNG methods, with the rules by which JUnit passes over some without a word."""

    language = "java"

    def reading(self) -> Reading:
        calls = walk(self.root, "method_invocation")
        self.replaced = tuple(patch for call in calls for patch in self.patches_by(call))
        return super().reading()

    def stand_ins(self, node: Node) -> Iterator[tuple[str, tuple[str, ...]]]:
        """`when(cart.total()).thenReturn(…)` replaces `total`."""
        for argument in children(field(node, "arguments")) if word_of(node) in ("when", "doReturn") else ():
            if is_a(argument, "method_invocation") and (owner := field(argument, "object")) is not None:
                yield text_of(owner), (word_of(argument),)

    def inside(self, node: Node, marks: Marks, around: Around) -> Around:
        """JUnit finds no test of a class inside another that is private, or an inner one that is not `@Nested`."""
        is_inner = node.type == "class_declaration" and not _is_said(node, "static")
        is_nested = any(mark.name == "Nested" for mark in marks)
        is_passed_over = len(around.names) > 1 and (_is_said(node, "private") or (is_inner and not is_nested))
        return around._replace(is_collecting=around.is_collecting and not is_passed_over)

    def is_test(self, node: Node, marks: Marks, name: str) -> bool:
        """A private or static method is none, whatever it is marked with, nor is one that returns something."""
        marked = {mark.name for mark in marks}
        is_old = name.startswith("test") and text_of(node).lstrip().startswith("public void") and not marks
        is_void = is_a(returned := field(node, "type"), "void_type") or returned is None
        is_marked = not marked.isdisjoint(words_of("java", "tests"))
        is_seen = not _is_said(node, "private", "static")
        return is_seen and (is_void or marked.isdisjoint(words_of("java", "void"))) and (is_old or is_marked)

    def tables(self, marks: Marks) -> Iterator[Rows]:
        """One for each table that stands in an annotation; what a cell holds takes no name's place."""
        for text in (mark.text.partition("(")[2] for mark in marks if mark.name in ("CsvSource", "ValueSource")):
            lines = text.split('"""')[1].splitlines() if '"""' in text else []
            cells = [line.strip() for line in lines if line.strip()] or _CELL.findall(text)
            yield Rows(("row",), tuple(((cell,),) for cell in cells))


def _is_said(node: Node, *words: str) -> bool:
    """Whether one of these is a modifier of a definition, as `private`."""
    modifiers = first(node, "modifiers")
    return is_a(modifiers, "modifiers") and any(child.type in words for child in modifiers.children)


class NativeDefinitions(Definitions):
    """A test is `main`, made by a macro, or takes nothing and asserts. Errors in the tree, of macros, are passed by."""

    language = "cpp"

    def functions(self, scope: Node | None, around: Around) -> Iterator[Function]:
        definitions = sorted(_definitions_in(scope), key=lambda pair: pair[0].start_byte)
        named = [(_name_of(declared), _parameters_of(declared), declared, body) for declared, body in definitions]
        times = Counter(name for name, *_ in named)
        helpers = {name for name, given, _, body in named if times[name] == 1 and given and any(_checks(body))}
        for name, parameters, declared, body in named:
            is_macro = _MACRO.fullmatch(name) is not None and "TEST" in name
            steps = tuple(_checks(body, helpers))
            is_plain = not parameters and (bool(steps) or "test" in name.lower())
            yield Function(
                name=" ".join(text_of(declared).split()) if is_macro or times[name] > 1 else name,
                line=line_of(declared),
                is_test=self.is_test_file and (is_macro or name == "main" or is_plain),
                parameters=parameters,
                steps=steps,
                skips=tuple(self.early_ends(body)),
                shape=self.shape(body),
            )


def _definitions_in(root: Node | None) -> Iterator[tuple[Node, Node]]:
    """What each function is declared as, and its body; `TEST_CASE("adds") { ... }` is a call before a block."""
    for node in walk(root, "function_definition", "compound_statement"):
        declared, body = field(node, "declarator"), field(node, "body")
        while is_a(declared, "pointer_declarator", "reference_declarator"):
            declared = field(declared, "declarator")
        if declared is not None and body is not None:
            yield declared, body
        elif node.type == "compound_statement" and is_a(node.parent, "translation_unit", "declaration_list"):
            head = first(node.prev_named_sibling)
            if is_a(head, "call_expression"):
                yield head, node


def _name_of(declared: Node) -> str:
    return text_of(field(declared, "declarator") or field(declared, "function") or declared)


def _parameters_of(declared: Node) -> tuple[str, ...]:
    """The names of all parameters of a function, but for a macro's and for those of `main`."""
    given = [each for each in children(field(declared, "parameters")) if is_a(each, "parameter_declaration")]
    names = [min(walk(each, "identifier"), key=lambda name: name.start_byte, default=None) for each in given]
    return tuple(map(text_of, names)) if all(names) and _name_of(declared) != "main" else ()


def _checks(node: Node, helpers: Container[str] = (), place: Place = EVERYWHERE) -> Iterator[Assertion | Use]:
    """What is asserted anywhere in a body, also by helpers, under the conditions of branches and loops."""
    condition = tokens(field(node, "condition")) if is_a(node, "preproc_if", *kinds("guarding")) else ()
    inner, alternative = (field(node, "consequence"), field(node, "body")), field(node, "alternative")
    for child in children(node):
        within = place
        if child == alternative and node.type in kinds("guarding"):
            within = place.under("else", condition)
        elif child in inner and condition:
            within = place.under("if", condition)
        if child == alternative or constant_of(condition) is not False:
            call = Call(child) if is_a(child, "call_expression") else None
            if call is not None and call.word in helpers:
                yield Use(call.word, tuple(each.tokens for each in call.given), call.line, within.guard)
                continue
            demanded = Demands(call, "cpp").all() if call is not None else ()
            yield from placed(demanded, within) if demanded else _checks(child, helpers, within)
