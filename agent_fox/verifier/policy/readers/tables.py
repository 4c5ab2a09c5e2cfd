"""Tables that loops and parametrized tests go through: the names, and the literal rows that they get."""

from __future__ import annotations

from collections.abc import Iterator

from agent_fox.core.regex import regex
from agent_fox.verifier.policy.readers.trees import Node, children, field, first, is_a, text_of, tokens
from agent_fox.verifier.policy.reading import Rows
from agent_fox.verifier.policy.tables import kinds, roles

MOST_ROWS = 500
_OFF = regex(r"marks=.*(?:skip|xfail)")


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
        values = [value for pattern, value in bindings_in(scope) if text_of(pattern) == text_of(name)]
        if values:
            return values[0] if len(values) == 1 else None
        scope = scope.parent
    return None


def bindings_in(scope: Node) -> Iterator[tuple[Node, Node]]:
    return (pair for each in children(scope) for pair in bindings(each))


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
    if not is_a(node, "expression_list"):
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
