"""Rust's macros that make tests: a `macro_rules!` of the file whose expansion holds `#[test]`, and their tests.

A call is held against the macro's pattern as far as that is names and tokens between them, once or in rows. What the
macro makes is read once, as a function that each of its tests calls. Where either cannot be read, a test stands for
what the call gives it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

from agent_fox.core.regex import regex
from agent_fox.verifier.policy.expressions import Tokens, flat
from agent_fox.verifier.policy.readers.trees import children, field, first, line_of, text_of, tokens, walk
from agent_fox.verifier.policy.reading import Assertion, Function, Step, Strength, Unreadable, Use

if TYPE_CHECKING:
    from tree_sitter import Node

TEST = regex(r"#\[(?:\w+::)*(?:test|rstest|test_case|quickcheck|proptest)\b")


class Maker(NamedTuple):
    """One rule of a macro that makes tests.

    pattern: of one row. separator: the token between rows; empty where there is but one. made: the tests that come of
    a row, with the macro's names as their parameters.
    """

    pattern: tuple[Node, ...]
    separator: str
    made: tuple[Function, ...]

    def rows(self, call: Node) -> Iterator[list[Node]]:
        """The rows of a call, split at the separator; all of it where there is none."""
        given = _inside(first(call, "token_tree"))
        parted = groupby(given, lambda node: bool(self.separator) and text_of(node) == self.separator)
        return (list(row) for is_between, row in parted if not is_between)

    def given(self, row: list[Node]) -> dict[str, Tokens] | None:
        """What one row of a call gives the names of the macro; None where it does not fit."""
        given: dict[str, Tokens] = {}
        left = list(row)
        for node, following in zip(self.pattern, (*self.pattern[1:], None), strict=True):
            if node.type != "token_binding_pattern":
                if not left or text_of(left.pop(0)) != text_of(node):
                    return None
                continue
            end = text_of(following)
            count = next((at for at, each in enumerate(left) if end and text_of(each) == end), len(left))
            given[_name(node)] = flat(tokens(each) for each in left[:count])
            del left[:count]
        return None if left or () in given.values() else given


Makers = Mapping[str, tuple[Maker, ...]]
"""By the name of a macro."""


def makers_in(root: Node, items: Callable[[str], list[Function]]) -> Makers:
    """The macros of a file that make tests. items: reads the tests in a text of Rust; raises Unreadable."""
    return {text_of(field(node, "name")): tuple(_makers(node, items)) for node in walk(root, "macro_definition")}


def functions_of(node: Node, makers: Makers) -> Iterator[Function]:
    """Of a macro what its tests do, for each of them to call; of a call of one its tests, of the first rule that fits
    all its rows, or one for each row where none does; else nothing.
    """
    call = (first(node) or node) if node.type == "expression_statement" else node
    name = text_of(field(call, "macro") or field(call, "name"))
    known = makers.get(name, ()) if call.type in ("macro_definition", "macro_invocation") else ()
    if call.type == "macro_definition":
        made = ((number, each) for number, maker in enumerate(known) for each in maker.made)
        for number, each in made:
            yield each._replace(name=_helper(f"{name}!{number}", each), is_test=False, skips=(), shape=str)
        return
    for number, maker in enumerate(known):
        rows = [(line_of(row[0]), maker.given(row)) for row in maker.rows(call)]
        if maker.made and rows and all(given is not None for _, given in rows):
            for line, given in rows:
                yield from _tests(maker, f"{name}!{number}", given or {}, line)
            return
    for row in known[0].rows(call) if known else ():
        all_given = flat(map(tokens, row))
        check = Assertion((name,), "given", Strength.EXACT, line_of(row[0]), all_given)
        yield Function(all_given[0] if all_given else name, line_of(row[0]), is_test=True, steps=(check,))


def _tests(maker: Maker, calls: str, given: Mapping[str, Tokens], line: int) -> Iterator[Function]:
    """The tests of one row: each calls what all of them do, a helper whose name begins with `calls`.

    What it is given is a demand of its own too, since it may be used where no assertion shows it.
    """
    for function in maker.made:
        parts = function.name.split("::")
        asked = (each for each in given if each not in parts)
        checks = (Assertion((calls, each), "given", Strength.EXACT, line, given[each]) for each in asked)
        arguments = tuple(given[each] for each in function.parameters)
        steps: tuple[Step, ...] = (Use(_helper(calls, function), arguments, line), *checks)
        name, shape = "::".join(given.get(part, (part,))[0] for part in parts), " ".join((calls, *flat(arguments)))
        yield Function(name, line, is_test=True, steps=steps, skips=function.skips, shape=partial(str, shape))


def _helper(calls: str, function: Function) -> str:
    return f"{calls}.{function.name.replace('::', '.')}"


def _makers(definition: Node, items: Callable[[str], list[Function]]) -> Iterator[Maker]:
    for rule in children(definition):
        right = field(rule, "right")
        if right is None or not TEST.search(text_of(right)):
            continue
        pattern, made, separator = _inside(field(rule, "left")), _inside(right), ""
        if pattern and pattern[0].type == "token_repetition_pattern":
            pattern, separator = _repeated(pattern[0])
        if len(made) == 1 and made[0].type == "token_repetition":
            made, _ = _repeated(made[0])
        text = _between(right, made[0].start_byte, made[-1].end_byte) if made else ""
        lines_before = made[0].start_point[0] if made else 0
        try:
            tests = items("\n" * lines_before + text.replace("$", " "))
        except Unreadable:
            tests = []
        names = tuple(_name(node) for node in pattern if node.type == "token_binding_pattern")
        yield Maker(tuple(pattern), separator, tuple(each._replace(parameters=names) for each in tests))


def _inside(tree: Node | None) -> list[Node]:
    """What stands between the brackets, comments left out."""
    return [node for node in tree.children[1:-1] if "comment" not in node.type] if tree is not None else []


def _repeated(node: Node) -> tuple[list[Node], str]:
    """What `$( … ) , *` repeats, and the separator, which may be the last token of what is repeated."""
    parts = [child for child in node.children if "comment" not in child.type]
    end = next(place for place, part in enumerate(parts) if part.type == ")")
    inner, between = parts[2:end], _between(node, parts[end].end_byte, parts[-1].start_byte).strip()
    is_last = not between and inner and inner[-1].type in (",", ";")
    return (inner[:-1], text_of(inner[-1])) if is_last else (inner, between)


def _between(node: Node, start: int, end: int) -> str:
    """What stands in a node between two places of the file; the grammar has no node for some of it."""
    return (node.text or b"")[start - node.start_byte : end - node.start_byte].decode("utf-8", "replace")


def _name(node: Node) -> str:
    return text_of(node.children[0]).removeprefix("$")
