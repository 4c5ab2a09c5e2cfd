"""Calls as values, the same for every language: `expect(x).toBe(3)`, `self.assertEqual(a, b)`, `assert_eq!(a, b)`; and
the tables that loops and parametrized tests go through: names, and the literal rows that they get.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import NamedTuple

from agent_fox.core.regex import regex
from agent_fox.verifier.policy.expressions import Tokens, split_arguments
from agent_fox.verifier.policy.readers.trees import Node, children, field, first, is_a, line_of, text_of, tokens
from agent_fox.verifier.policy.reading import Rows
from agent_fox.verifier.policy.tables import kinds, roles

LONGEST_SHOWN = 200  # characters
MOST_ROWS = 500
_OFF = regex(r"marks=.*(?:skip|xfail)")


class Argument:
    """What a call is given. name: where it is given by name. called: what a function given here comes to."""

    def __init__(self, node: Node | None, made_of: Tokens = ()) -> None:
        self.node = node
        self.name = text_of(node).partition("=")[0] if is_a(node, "keyword") else ""
        self._made_of = made_of

    @cached_property
    def tokens(self) -> Tokens:
        return self._made_of or tokens(field(self.node, "value") if self.name else self.node)

    @property
    def called(self) -> Tokens:
        body = field(self.node, "body") if is_a(self.node, *kinds("functions")) else None
        return tokens(body) if body is not None else self.tokens

    @property
    def is_text(self) -> bool:
        return self.node is not None and "string" in self.node.type


class Link(NamedTuple):
    """One name of a chain. given: None where it is not called. owner: what the name is asked of."""

    word: str
    given: Sequence[Argument] | None
    owner: Node | None = None


class Call:
    """A call, from the root of its chain to its last name."""

    def __init__(self, node: Node) -> None:
        self.node = node
        self.line = line_of(node)
        self.word = word_of(node)

    @cached_property
    def links(self) -> list[Link]:
        links: list[Link] = []
        given: Sequence[Argument] | None = None
        current: Node | None = self.node
        while current is not None:
            role = roles().get(current.type)
            if current.type == "method_invocation":
                owner = field(current, "object")
                links.append(Link(text_of(field(current, "name")), arguments_of(current), owner))
                current = owner
            elif current.type == "macro_invocation":
                links.append(Link(word_of(current), arguments_of(current)))
                break
            elif role == "call":
                given, current = arguments_of(current), field(current, "function")
            elif role == "member":
                parts = children(current)
                owner, name = (parts[0], parts[-1]) if parts else (None, None)  # a tree of C may have errors
                links.append(Link(text_of(name), given, owner))
                given, current = None, owner
            else:
                word = text_of(current).rpartition("::")[2] if given is not None else text_of(current)
                links.append(Link(word, given))
                break
        return links[::-1] or [Link("", given)]

    @property
    def given(self) -> tuple[Argument, ...]:
        return tuple(each for each in self.links[-1].given or () if not each.name)

    @property
    def named(self) -> dict[str, Tokens]:
        return {each.name: each.tokens for each in self.links[-1].given or () if each.name}

    def bodies(self) -> list[Node]:
        """The bodies of the functions given along the chain, or called in place: `(function () { … }).call(this)`."""
        callee = field(self.node, "function")
        callee = field(callee, "object") if is_a(callee, "member_expression") else callee
        in_place = first(callee) if is_a(callee, "parenthesized_expression") else callee
        given = [each.node for link in self.links for each in link.given or ()]
        functions = [each for each in (*given, in_place) if is_a(each, *kinds("functions"))]
        return [body for each in functions if (body := field(each, "body")) is not None]


def word_of(call: Node) -> str:
    """The last name of what is called; empty where it has none."""
    callee = field(call, "function") or field(call, "macro") or field(call, "name")
    is_member = callee is not None and roles().get(callee.type) == "member"
    name = next(reversed(children(callee)), None) if is_member else callee
    return text_of(name).rpartition("::")[2]


def arguments_of(call: Node) -> list[Argument]:
    """The arguments of a call; of a macro the parts between commas."""
    tree = first(call, "token_tree") if call.type == "macro_invocation" else None
    if tree is None:
        return [Argument(each) for each in children(field(call, "arguments"))]
    flat = tokens(tree)
    is_wrapped = flat[:1] in (("(",), ("[",), ("{",)) and flat[-1:] in ((")",), ("]",), ("}",))
    return [Argument(None, part) for part in split_arguments(flat[1:-1] if is_wrapped else flat)]


def table_of_loop(loop: Node) -> Rows | None:
    """The names and rows of `for a, b in TABLE`; None where no list can be seen."""
    head = first(loop, "range_clause") or loop
    left, right = field(head, "left"), field(head, "right")
    if left is None or right is None:
        return None
    names = tuple(names_in(left))
    return table(right, names[-1:] if is_a(left, "expression_list") else names)


def names_in(pattern: Node) -> Iterator[str]:
    """The names that a pattern binds, in order."""
    if pattern.type in kinds("names"):
        yield text_of(pattern).rpartition(".")[2]
    else:
        for each in children(pattern):
            yield from names_in(each)


def table(listed: Node, names: tuple[str, ...]) -> Rows | None:
    """The rows of a literal list, or of a name that stands for one, for these names; without those that never count."""
    rows = _rows(listed)
    if rows is None:
        return None
    marks = ([text_of(each) for each in children(row) if is_a(each, "keyword")] for row in rows)
    kept = [row for row, texts in zip(rows, marks, strict=True) if not any(map(_OFF.match, texts))]
    return Rows(names, tuple(_cells(row, names) for row in kept[:MOST_ROWS]))


def _rows(listed: Node) -> list[Node] | None:
    node, view = _seen_as(listed)
    literal = bare(_declared(node) if node.type in kinds("identifiers") else node)
    if is_a(literal, "Dict"):
        keys, values = children(field(literal, "keys")), children(field(literal, "values"))
        pairs: list[Node] = [*map(_Pair, keys, values)]  # type: ignore[list-item]
        return {"values": values, "items": pairs}.get(view, keys) if len(keys) == len(values) else None
    if literal is None or view or roles().get(literal.type) != "literal":
        return None
    return children(field(literal, "body") if literal.type == "composite_literal" else literal)


def _seen_as(node: Node) -> tuple[Node, str]:
    """`TABLE` of `sorted(TABLE)`, and of `TABLE.items()` with the word."""
    callee, given = field(node, "function"), children(field(node, "arguments"))
    if node.type != "Call" or callee is None:
        return node, ""
    if text_of(callee) in ("sorted", "list", "tuple") and len(given) == 1:
        return _seen_as(given[0])
    owner, word = field(callee, "value"), text_of(callee).rpartition(".")[2]
    return (owner, word) if owner is not None and word in ("items", "values", "keys") else (node, "")


class _Pair:
    """A row of a dictionary."""

    type, child_count = "Tuple", 0

    def __init__(self, key: Node, value: Node) -> None:
        self.named_children = [key, value]


def _declared(name: Node) -> Node | None:
    """The list that a name stands for: that of the nearest statement around it that alone binds it."""
    scope = name.parent
    while scope is not None:
        pairs = (pair for each in children(scope) for pair in bindings(each))
        values = [value for pattern, value in pairs if text_of(pattern) == text_of(name)]
        if values:
            return values[0] if len(values) == 1 else None
        scope = scope.parent
    return None


def bindings(statement: Node) -> Iterator[tuple[Node, Node]]:
    """The names, or tuples of names, that a statement gives a value, one at a time."""
    inner = children(statement)[-1] if statement.type == "export_statement" and children(statement) else statement
    if roles().get(inner.type) != "bound":
        return
    for part in [each for each in children(inner) if each.type == "variable_declarator"] or [inner]:
        names = (field(part, each) for each in ("name", "pattern", "left"))
        name = next((_alone(each) for each in names if each is not None), None)
        value = _alone(field(part, "value") or field(part, "right"))
        if value is not None and is_a(name, *kinds("identifiers"), "Tuple"):
            yield name, value


def _alone(node: Node | None) -> Node | None:
    if not is_a(node, "expression_list", "block"):
        return node
    return first(node) if len(children(node)) == 1 else None


def bare(node: Node | None) -> Node | None:
    """`[1, 2]` of `[1, 2] as const`, and the value of an element."""
    return (first(node) or node) if is_a(node, *kinds("wrappers")) else node


def _cells(row: Node, names: tuple[str, ...]) -> tuple[tuple[str, ...], ...]:
    """The values of a row: those of its parts where it has several for several names."""
    row = bare(row) or row
    if is_a(row, "Call") and text_of(field(row, "function")).rpartition(".")[2] == "param":
        return tuple(tokens(each) for each in children(field(row, "arguments")) if not is_a(each, "keyword"))
    if row.type == "object":
        pairs = ((field(pair, "key"), field(pair, "value")) for pair in children(row))
        values = {text_of(key): tokens(value) for key, value in pairs if key is not None and value is not None}
        if not values.keys().isdisjoint(names):
            return tuple(values.get(name, (name,)) for name in names)
    is_wide = roles().get(row.type) == "literal" and (len(names) > 1 or row.type == "array")
    return tuple(map(tokens, children(row))) if is_wide else (tokens(row),)
