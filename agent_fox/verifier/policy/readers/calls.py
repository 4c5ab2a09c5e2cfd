"""Calls as values, the same for every language: `expect(x).toBe(3)`, `self.assertEqual(a, b)`, `assert_eq!(a, b)`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from agent_fox.verifier.policy.expressions import Tokens, split_arguments
from agent_fox.verifier.policy.readers.trees import Node, children, field, first, is_a, line_of, text_of, tokens
from agent_fox.verifier.policy.tables import kinds, roles
from agent_fox.verifier.policy.values import kept

LONGEST_SHOWN = 200  # characters


class Argument:
    """What a call is given. name: where it is given by name. called: what a function given here comes to."""

    def __init__(self, node: Node | None, made_of: Tokens = ()) -> None:
        self.node = node
        self.name = text_of(node).partition("=")[0] if is_a(node, "keyword") else ""
        self._made_of = made_of

    @kept
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

    @kept
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
        """The bodies of the functions that are given along the chain, or that is called where it stands: as in
        `(function () { … })()`, and in `(function () { … }).call(this)`.
        """
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
