"""The functions of a file and what stands around them: classes, modules, marks. Which are tests, each language says."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from agent_fox.core.values import dataclass
from agent_fox.verifier.policy.expressions import joined
from agent_fox.verifier.policy.readers.patches import patches_in
from agent_fox.verifier.policy.readers.steps import Steps
from agent_fox.verifier.policy.readers.trees import children, field, first, is_a, line_of, text_of, tokens
from agent_fox.verifier.policy.readers.words import kinds, says, words_of
from agent_fox.verifier.policy.reading import Assertion, Check, Function, Patch, Reading, Rows, Skip, Step, Strength

if TYPE_CHECKING:
    from tree_sitter import Node

    from agent_fox.verifier.policy.readers.tables import Table


@dataclass(frozen=True, slots=True)
class Mark:
    """A decorator, an annotation or an attribute, with the last name that it goes by."""

    name: str
    text: str
    line: int

    @staticmethod
    def of(node: Node) -> Mark:
        text = text_of(node)
        name = text.lstrip("@#![").partition("(")[0].partition("]")[0].replace("::", ".").rpartition(".")[2]
        return Mark(name.strip(), text, line_of(node))


Marks = tuple[Mark, ...]


@dataclass(frozen=True, slots=True)
class Around:
    """What holds for everything in a scope. is_case: it is a class that runners find whatever its name."""

    names: tuple[str, ...] = ()
    skips: tuple[Skip, ...] = ()
    is_collecting: bool = True
    is_case: bool = False


class Definitions:
    """Reads the functions of a file in one language; what tests are there is for a language to say."""

    def __init__(self, language: str, root: Node, *, is_test_file: bool) -> None:
        self.language = language
        self.root = root
        self.is_test_file = is_test_file
        self.steps = Steps(language)

    def reading(self) -> Reading:
        functions = tuple(self.functions(self.root, Around(is_collecting=self.is_test_file)))
        return Reading(functions=functions, defined=frozenset(function.leaf for function in functions))

    def functions(self, scope: Node | None, around: Around) -> Iterator[Function]:
        above: list[Node] = []
        for node in children(scope):
            if node.type == "attribute_item":
                above.append(node)
                continue
            marks = tuple(map(Mark.of, above or _marked(node)))
            above = []
            name = field(node, "name")
            if node.type in kinds("scopes") and name is not None:
                yield from self.functions(field(node, "body"), self.inside(node, text_of(name), marks, around))
            elif node.type in kinds("definitions") and name is not None:
                is_test = around.is_collecting and self.is_test(node, text_of(name), marks)
                yield self.function(node, text_of(name), marks, around, is_test=is_test)
            elif node.type in kinds("around_definitions"):
                yield from self.functions(field(node, "body"), around)
            else:
                yield from self.others(node, around)

    def inside(self, node: Node, name: str, marks: Marks, around: Around) -> Around:
        """What holds within a class or module."""
        return Around((*around.names, name), (*around.skips, *self.skips(marks)), around.is_collecting)

    def is_test(self, node: Node, name: str, marks: Marks) -> bool:
        raise NotImplementedError

    def others(self, node: Node, around: Around) -> Iterator[Function]:
        """The functions in what is neither a scope nor a definition."""
        yield from ()

    def function(self, node: Node, name: str, marks: Marks, around: Around, *, is_test: bool) -> Function:
        body = field(node, "body")
        steps: tuple[Step, ...] = (*_expected_errors(marks), *self.done(node))
        for names, rows in self.tables(node, marks):
            steps = (Rows(names, rows, steps),)
        return Function(
            name="::".join((*around.names, name)),
            line=line_of(node),
            is_test=is_test,
            parameters=self.parameters(node),
            steps=steps,
            skips=(*around.skips, *self.skips(marks), *self.steps.early_ends(body)),
            patches=tuple(self.patches(node)),
            shape=joined(tokens(body)),
        )

    def done(self, node: Node) -> tuple[Step, ...]:
        return self.steps.of(field(node, "body"))

    def patches(self, node: Node) -> Iterator[Patch]:
        return patches_in(node, self.language)

    def tables(self, node: Node, marks: Marks) -> Iterator[Table]:
        """The tables for each row of which a test runs once."""
        yield from ()

    def parameters(self, node: Node) -> tuple[str, ...]:
        given = children(field(node, "parameters"))
        named = (field(each, "name") or field(each, "pattern") for each in given)
        return tuple(text_of(each) for each in named if each is not None)

    def skips(self, marks: Marks) -> Iterator[Skip]:
        """Marks by which a test does not run, or does not count."""
        for mark in marks:
            is_conditional = mark.name in words_of(self.language, "skipping_where")
            if is_conditional or mark.name in words_of(self.language, "skipping"):
                is_usual = self.language != "python" or says("python", "machine", mark.text) or mark.name == "flaky"
                yield Skip(mark.text, mark.line, is_conditional and is_usual)


def _marked(node: Node) -> list[Node]:
    """The decorators of a function or class, or the annotations among its modifiers."""
    return children(field(node, "decorator_list")) or children(first(node, "modifiers"))


def _expected_errors(marks: Marks) -> Iterator[Check]:
    """Of `@Test(expected = Full.class)` and of `#[should_panic(expected = "full")]`."""
    for mark in marks:
        if mark.name == "Test" and "expected" in mark.text:
            error = (mark.text.partition("expected")[2].strip(" =)"),)
            yield Check(Assertion(("test",), "raises", Strength.PARTIAL, mark.line, error))
        elif mark.name == "should_panic":
            message = re.search(r'expected\s*=\s*("(?:[^"\\]|\\.)*")', mark.text)
            strength, detail = (Strength.PARTIAL, (message[1],)) if message else (Strength.LOOSE, ())
            yield Check(Assertion(("panics",), "panics", strength, mark.line, detail=detail))


def words_around(node: Node) -> set[str]:
    """The modifiers of a definition, as `private` and `static`."""
    modifiers = first(node, "modifiers")
    return {text_of(child) for child in modifiers.children} if is_a(modifiers, "modifiers") else set()
