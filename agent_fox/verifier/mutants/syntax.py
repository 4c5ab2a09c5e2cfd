"""What readers of syntax trees share to find sites: the tree, where a node stands, pieces of text, a free name."""

from __future__ import annotations

from dataclasses import field as default
from typing import TYPE_CHECKING

from agent_fox.core.values import dataclass
from agent_fox.verifier.mutants.sites import Kind, Piece, Site, Unreadable
from agent_fox.verifier.policy.readers.trees import children, field, line_of, parsed, text_of
from agent_fox.verifier.policy.reading import Unreadable as Unparsed

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tree_sitter import Node

    from agent_fox.verifier.policy.values import Language

LONGEST_SHOWN = 50
FLIPPED = {
    "===": "!==",
    "!==": "===",
    "==": "!=",
    "!=": "==",
    "<": ">=",
    ">=": "<",
    ">": "<=",
    "<=": ">",
    "&&": "||",
    "||": "&&",
}


def tree(text: str, language: Language) -> Node:
    """Raises Unreadable for a text that the grammar does not take."""
    try:
        return parsed(text, language)
    except Unparsed as error:
        raise Unreadable(str(error)) from error


@dataclass(frozen=True, slots=True)
class Place:
    """Where a node stands. path: the names around it; owner: the innermost function, "" outside of any."""

    path: tuple[str, ...] = ()
    owner: str = ""
    owner_line: int = 0
    owner_range: tuple[int, int] | None = None

    def inside(self, name: str) -> Place:
        """The place within a class, module or object of that name, which belongs to no function."""
        return Place((*self.path, name) if name else self.path)

    @property
    def kind(self) -> Kind:
        """What a constant here is."""
        return Kind.CONSTANT if self.owner else Kind.BODY


@dataclass(slots=True)
class Found:
    """The sites of one text, as they are found."""

    text: str
    sites: list[Site] = default(default_factory=list)

    def add(self, kind: Kind, node: Node, place: Place, pieces: Iterable[Piece], what: str) -> None:
        site = Site(
            kind=kind,
            line=line_of(node),
            end_line=node.end_point[0] + 1,
            owner=place.owner,
            owner_line=place.owner_line,
            pieces=tuple(pieces),
            what=what,
            owner_range=place.owner_range,
        )
        self.sites.append(site)

    def in_order(self) -> tuple[Site, ...]:
        return tuple(sorted(self.sites, key=lambda site: site.pieces[0][:2]))

    def function(self, node: Node, place: Place, name: str, start: int | None = None) -> Place:
        """The place within a function. start: the byte where the runtime takes it to start, if not the node's own."""
        path = (*place.path, name)
        span = (self.units(node.start_byte if start is None else start), self.units(node.end_byte))
        return Place(path, ".".join(path), line_of(node), span)

    def units(self, byte: int) -> int:
        """The offset in UTF-16 code units of one in bytes."""
        if self.text.isascii():
            return byte
        return len(self.text.encode()[:byte].decode().encode("utf-16-le")) // 2


def instead(node: Node, text: str) -> Piece:
    """The node is replaced, by as many lines as it has."""
    return node.start_byte, node.end_byte, text + "\n" * (node.end_point[0] - node.start_point[0])


def around(node: Node, before: str, after: str) -> tuple[Piece, Piece]:
    return (node.start_byte, node.start_byte, before), (node.end_byte, node.end_byte, after)


def emptied(body: Node, kept: Node | None = None) -> list[Piece]:
    """The statements of a block are left out, but for the one that is kept."""
    statements = children(body)
    at = statements.index(kept) if kept is not None else len(statements)
    runs = [run for run in (statements[:at], statements[at + 1 :]) if run]
    return [
        (run[0].start_byte, run[-1].end_byte, "\n" * (run[-1].end_point[0] - run[0].start_point[0])) for run in runs
    ]


def shown(node: Node) -> str:
    """The node's text for people: one line, in backquotes."""
    text = " ".join(text_of(node).split())
    return f"`{text if len(text) <= LONGEST_SHOWN else text[:LONGEST_SHOWN] + '…'}`"


def one_more(digits: str) -> str | None:
    """A decimal number plus one, written as it was; None where it is no plain number."""
    whole, dot, rest = digits.replace("_", "").partition(".")
    if not whole.isascii() or not whole.isdigit() or (len(whole) > 1 and whole[0] == "0"):
        return None
    if dot and not (rest.isascii() and rest.isdigit()):
        return None
    return f"{int(whole) + 1}{dot}{rest}"


def named(node: Node, name: str) -> str:
    """The text of a field; empty where there is none."""
    child = field(node, name)
    return text_of(child) if child is not None else ""


def plain(node: Node) -> Node:
    """What stands in brackets."""
    while node.type == "parenthesized_expression" and children(node):
        node = children(node)[0]
    return node


def put(text: str, pieces: Iterable[Piece]) -> str:
    """The text with these pieces put in, which are apart."""
    made = text.encode()
    for start, end, becomes in sorted(pieces, reverse=True):
        made = made[:start] + becomes.encode() + made[end:]
    return made.decode()


def free_name(text: str, name: str) -> str:
    """The name, made longer until the text does not have it."""
    while name in text:
        name += "_"
    return name
