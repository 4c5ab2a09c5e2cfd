"""Tests in Rust. A `macro_rules!` of the file whose expansion holds `#[test]` is carried out as text: a call is held
against its pattern as far as that is names and tokens, once or in rows; else a test stands for what the call gives."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import groupby
from typing import NamedTuple

from agent_fox.core.regex import regex
from agent_fox.verifier.policy.expressions import flat, tokens_of
from agent_fox.verifier.policy.readers.definitions import Around, Definitions, Marks
from agent_fox.verifier.policy.readers.trees import Node, children, field, first, line_of, parsed, text_of, tokens, walk
from agent_fox.verifier.policy.reading import Assertion, Function, Reading, Strength, Unreadable
from agent_fox.verifier.policy.values import Language

_TEST = regex(r"#\[(?:\w+::)*(?:test|rstest|test_case|quickcheck|proptest)\b")


class _Maker(NamedTuple):
    """One rule of a macro. pattern: of one row. separator: the token between rows; empty where there is none. made:
    what comes of a row, in the lines where it is written.
    """

    pattern: list[Node]
    separator: str
    made: str

    def rows(self, left: list[Node]) -> Iterator[tuple[int, dict[str, str] | None]]:
        """What each row of a call gives the names of the macro, with its line; None for one that does not fit."""
        while left:
            line, given = line_of(left[0]), dict[str, str]()
            for node, end in zip(self.pattern, (*map(text_of, self.pattern[1:]), self.separator), strict=True):
                is_name = node.type == "token_binding_pattern"
                ends = (at for at, each in enumerate(left) if end and text_of(each) == end)
                count = next(ends, len(left)) if is_name else 1
                taken, left = _span(left[:count]), left[count:]
                if not taken or (not is_name and taken != text_of(node)):
                    yield line, None
                    return
                given |= {text_of(node.children[0])[1:]: taken} if is_name else {}
            yield line, given
            left = left[1:] if left and text_of(left[0]) == self.separator else left

    def text(self, given: Mapping[str, str]) -> str:
        return re.sub(r"\$(\w*)", lambda found: given.get(found[1], f" {found[1]}"), self.made)


def _makers(definition: Node) -> Iterator[_Maker]:
    for rule in children(definition):
        right = field(rule, "right")
        if right is not None and _TEST.search(text_of(right)):
            (pattern, separator), (made, _) = _repeated(field(rule, "left")), _repeated(right)
            yield _Maker(pattern, separator, "\n" * (made[0].start_point[0] if made else 0) + _span(made))


def _tests_of(call: Node, makers: list[_Maker]) -> Iterator[Function]:
    """The tests that a call makes: of the first rule that fits all its rows, or one for each row where none does. What
    a row gives is a demand of its own too, since it may be used where no assertion shows it.
    """
    name, given = text_of(field(call, "macro")), _inside(first(call, "token_tree"))
    for number, maker in enumerate(makers):
        rows = list(maker.rows(given)) if maker.pattern else [(line_of(call), None if given else {})]
        made = [(line, values, _tests_in(maker.text(values))) for line, values in rows if values is not None]
        if rows and len(made) == len(rows) and all(tests for *_, tests in made):
            for line, values, test in ((line, values, each) for line, values, tests in made for each in tests):
                asked = ((key, value) for key, value in values.items() if value not in test.name.split("::"))
                what = (((f"{name}!{number}", key), tokens_of(value)) for key, value in asked)
                checks = (Assertion(key, "given", Strength.EXACT, line, value) for key, value in what)
                yield test._replace(line=line, steps=(*test.steps, *checks))
            return
    separator = makers[0].separator or text_of(next(reversed(makers[0].pattern), None))
    for is_between, row in groupby(given, lambda node: text_of(node) == separator):
        if not is_between:
            nodes = list(row)
            everything, line = flat(map(tokens, nodes)), line_of(nodes[0])
            check = Assertion((name,), "given", Strength.EXACT, line, everything)
            yield Function(everything[0], line, is_test=True, steps=(check,))


def _inside(tree: Node | None) -> list[Node]:
    """What stands between the brackets, comments left out."""
    return [node for node in tree.children[1:-1] if "comment" not in node.type] if tree is not None else []


def _repeated(tree: Node | None) -> tuple[list[Node], str]:
    """What stands between the brackets, or what `$( … ) , *` there repeats, with the separator."""
    inside = _inside(tree)
    if not inside or inside[0].type not in ("token_repetition_pattern", "token_repetition"):
        return inside, ""
    parts = [child for child in inside[0].children if "comment" not in child.type]
    end = next(place for place, part in enumerate(parts) if part.type == ")")
    return parts[2:end], _span(parts[end:])[1:-1].strip()


def _span(nodes: list[Node]) -> str:
    """The text from the first of these nodes to the last; the grammar has no node for some of it."""
    around = nodes[0].parent if nodes else None
    if around is None:
        return ""
    start, end = (place - around.start_byte for place in (nodes[0].start_byte, nodes[-1].end_byte))
    return (around.text or b"")[start:end].decode("utf-8", "replace")


class RustDefinitions(Definitions):
    """Functions under `#[test]`, in any file, and what macros make of them."""

    language = "rust"
    _makers: Mapping[str, list[_Maker]] | None = None

    def reading(self) -> Reading:
        macros = walk(self.root, "macro_definition")
        self._makers = {text_of(field(node, "name")): list(_makers(node)) for node in macros}
        self.is_test_file = True
        return super().reading()

    def is_test(self, node: Node, marks: Marks, name: str) -> bool:
        return any(_TEST.match(mark.text) for mark in marks)

    def others(self, node: Node, around: Around) -> Iterator[Function]:
        """Those that a macro makes, which makes none by another."""
        call = (first(node) or node) if node.type == "expression_statement" else node
        makers = (self._makers or {}).get(text_of(field(call, "macro")))
        for made in _tests_of(call, makers) if makers and around.is_collecting else ():
            yield made._replace(name="::".join((*around.names, made.name)), skips=(*around.skips, *made.skips))


def _tests_in(text: str) -> list[Function]:
    try:
        root = parsed(text, Language.RUST)
    except Unreadable:
        return []
    read = RustDefinitions(root, is_test_file=True).functions(root, Around())
    return [function for function in read if function.is_test]
