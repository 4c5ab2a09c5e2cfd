"""Rust's macros that make tests: a `macro_rules!` of the file whose expansion holds `#[test]`, and their tests.

A call is held against the macro's pattern as far as that is names and tokens between them, once or in rows. What the
macro makes is read once, as a function that each of its tests calls. Where either cannot be read, a test stands for
what the call gives it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import chain, groupby
from typing import TYPE_CHECKING

from agent_fox.core.regex import regex
from agent_fox.core.values import dataclass
from agent_fox.verifier.policy.expressions import Tokens, joined
from agent_fox.verifier.policy.readers.trees import children, field, is_a, line_of, text_of, tokens, walk
from agent_fox.verifier.policy.reading import (
    Assertion,
    Check,
    Function,
    Step,
    Strength,
    Unreadable,
    Use,
)

if TYPE_CHECKING:
    from tree_sitter import Node

TEST = regex(r"#\[(?:\w+::)*(?:test|rstest|test_case|quickcheck|proptest)\b")
Given = dict[str, Tokens]
"""What a call gives the names of a macro."""


@dataclass(frozen=True, slots=True)
class Maker:
    """One rule of a macro that makes tests.

    pattern: of one row. separator: the token between rows; empty where there is but one. made: the tests that come of
    a row, with the macro's names as their parameters.
    """

    pattern: tuple[Node, ...]
    separator: str
    made: tuple[Function, ...]

    def given(self, row: Sequence[Node]) -> Given | None:
        """What one row of a call gives; None where it does not fit."""
        given: Given = {}
        left = list(row)
        for place, node in enumerate(self.pattern):
            if not _is_name(node):
                if not left or text_of(left.pop(0)) != text_of(node):
                    return None
                continue
            end = text_of(self.pattern[place + 1]) if place + 1 < len(self.pattern) else ""
            count = next((at for at, each in enumerate(left) if end and text_of(each) == end), len(left))
            given[_name(node)] = tuple(chain.from_iterable(map(tokens, left[:count])))
            del left[:count]
        return None if left or () in given.values() else given

    def tests(self, calls: str, given: Given, line: int) -> Iterator[Function]:
        """The tests of one row: each calls what all of them do, a helper whose name begins with `calls`.

        What it is given is a demand of its own too, since it may be used where no assertion shows it.
        """
        for function in self.made:
            parts = function.name.split("::")
            asked = (each for each in given if each not in parts)
            checks = (Check(Assertion((calls, each), "given", Strength.EXACT, line, given[each])) for each in asked)
            arguments = tuple(given[each] for each in function.parameters)
            steps: tuple[Step, ...] = (Use(_helper(calls, function), arguments, line), *checks)
            name = "::".join(given.get(part, (part,))[0] for part in parts)
            shape = joined((calls, *chain.from_iterable(arguments)))
            yield Function(name, line, is_test=True, steps=steps, skips=function.skips, shape=shape)


class Macros:
    """The macros of a file that make tests. items: reads the tests in a text of Rust; raises Unreadable."""

    def __init__(self, root: Node, items: Callable[[str], list[Function]]) -> None:
        definitions = [node for node in walk(root) if node.type == "macro_definition"]
        self._makers = {text_of(field(node, "name")): tuple(_makers(node, items)) for node in definitions}

    def functions(self, node: Node) -> Iterator[Function]:
        """Of a macro what its tests do, for each of them to call; of a call of one its tests; else nothing."""
        if node.type == "macro_definition":
            name = text_of(field(node, "name"))
            for number, maker in enumerate(self._makers[name]):
                for function in maker.made:
                    helper = _helper(f"{name}!{number}", function)
                    yield replace(function, name=helper, is_test=False, skips=(), shape="")
        call = next(iter(children(node)), node) if node.type == "expression_statement" else node
        if call.type == "macro_invocation":
            yield from self.tests(call)

    def tests(self, call: Node) -> Iterator[Function]:
        """The tests of one call: of the first rule that fits all its rows, or one for each row where none does."""
        name = text_of(field(call, "macro"))
        makers = self._makers.get(name, ())
        for number, maker in enumerate(makers):
            rows = [(line_of(row[0]), maker.given(row)) for row in _rows(call, maker.separator)]
            if maker.made and rows and all(given is not None for _, given in rows):
                for line, given in rows:
                    yield from maker.tests(f"{name}!{number}", given or {}, line)
                return
        for row in _rows(call, makers[0].separator) if makers else ():
            given_all = tuple(chain.from_iterable(map(tokens, row)))
            check = Check(Assertion((name,), "given", Strength.EXACT, line_of(row[0]), given_all))
            yield Function(given_all[0] if given_all else name, line_of(row[0]), is_test=True, steps=(check,))


def _makers(definition: Node, items: Callable[[str], list[Function]]) -> Iterator[Maker]:
    for rule in children(definition):
        left, right = field(rule, "left"), field(rule, "right")
        if left is None or right is None or not TEST.search(text_of(right)):
            continue
        pattern, made = _inside(left), _inside(right)
        separator = ""
        if is_a(pattern[0] if pattern else None, "token_repetition_pattern"):
            pattern, separator = _repeated(pattern[0])
        if len(made) == 1 and made[0].type == "token_repetition":
            made, _ = _repeated(made[0])
        text = _between(right, made[0].start_byte, made[-1].end_byte) if made else ""
        lines_before = made[0].start_point[0] if made else 0
        try:
            tests = items("\n" * lines_before + text.replace("$", " "))
        except Unreadable:
            tests = []
        names = tuple(_name(node) for node in pattern if _is_name(node))
        yield Maker(tuple(pattern), separator, tuple(replace(each, parameters=names) for each in tests))


def _rows(call: Node, separator: str) -> Iterator[list[Node]]:
    """The rows of a call, split at the separator; all of it where there is none."""
    tree = next((child for child in children(call) if child.type == "token_tree"), None)
    given = _inside(tree) if tree is not None else []
    parted = groupby(given, lambda node: bool(separator) and text_of(node) == separator)
    return (list(row) for is_between, row in parted if not is_between)


def _inside(tree: Node) -> list[Node]:
    """What stands between the brackets, comments left out."""
    return [node for node in tree.children[1:-1] if "comment" not in node.type]


def _repeated(node: Node) -> tuple[list[Node], str]:
    """What `$( … ) , *` repeats, and the separator, which may be the last token of what is repeated."""
    parts = [child for child in node.children if "comment" not in child.type]
    end = next(place for place, part in enumerate(parts) if part.type == ")")
    inner = parts[2:end]
    between = _between(node, parts[end].end_byte, parts[-1].start_byte).strip()
    if not between and inner and inner[-1].type in (",", ";"):
        return inner[:-1], text_of(inner[-1])
    return inner, between


def _helper(calls: str, function: Function) -> str:
    return f"{calls}.{function.name.replace('::', '.')}"


def _between(node: Node, start: int, end: int) -> str:
    """What stands in a node between two places of the file; the grammar has no node for some of it."""
    return (node.text or b"")[start - node.start_byte : end - node.start_byte].decode("utf-8", "replace")


def _is_name(node: Node) -> bool:
    return node.type == "token_binding_pattern"


def _name(node: Node) -> str:
    return text_of(node.children[0]).removeprefix("$")
